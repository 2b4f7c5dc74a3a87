//! A remote copy in an object store: S3, Google Cloud Storage or Azure Blob Storage.
//!
//! Requests go through the crate `object_store`. A write bears its condition as a header: `If-Match` or
//! `If-None-Match: *` for S3 and Azure, `x-goog-if-generation-match` for Google.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::runtime::Runtime;

use crate::credentials::{Variables, open_store};
use crate::error::SyncError;
use crate::failure::error_of;
use crate::remote::{Fetched, Item, Put, Remote, Version, file_of, machine_of};
use crate::url::RemoteUrl;

/// Largest copy that is fetched, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Machines that a copy has at most.
const MAX_MACHINES: usize = 10_000;

/// An object of a bucket.
pub(super) struct ObjectRemote {
    url: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    runtime: Runtime,
}

impl ObjectRemote {
    pub(super) fn open(url: &RemoteUrl, variables: &Variables) -> Result<ObjectRemote, SyncError> {
        let shown = url.to_string();
        let settings = |problem: String| SyncError::Settings { url: shown.clone(), problem };
        let RemoteUrl::Object { cloud, bucket, key } = url else { return Err(SyncError::NoUrl) };
        let store = open_store(&shown, *cloud, bucket, variables)?;
        let path = Path::parse(key).map_err(|error| settings(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| settings(error.to_string()))?;
        Ok(ObjectRemote { url: shown, store, path, runtime })
    }

    fn error(&self, error: &Error) -> SyncError {
        error_of(&self.url, error)
    }

    /// The answer to a request; `None` where there is nothing.
    fn unless_missing<T>(&self, answer: Result<T, Error>) -> Result<Option<T>, SyncError> {
        match answer.map_err(|error| self.error(&error)) {
            Err(SyncError::Nothing { .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    fn path_of(&self, item: Item<'_>) -> Path {
        match item {
            Item::Text => self.path.clone(),
            Item::Machine(name) => self.machines_path().join(file_of(name)),
        }
    }

    /// The folder of the states of machines.
    fn machines_path(&self) -> Path {
        Path::from(format!("{}.machines", self.path))
    }
}

impl fmt::Display for ObjectRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Remote for ObjectRemote {
    fn fetch(&self, item: Item<'_>, known: Option<&Version>) -> Result<Fetched, SyncError> {
        let if_none_match = known.and_then(|known| known.e_tag.clone());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let got = match self.runtime.block_on(self.store.get_opts(&self.path_of(item), options)) {
            Err(Error::NotModified { .. }) => return Ok(Fetched::Unchanged),
            got => self.unless_missing(got)?,
        };
        let Some(got) = got else { return Ok(Fetched::Missing) };
        let size = got.meta.size;
        if size > MAX_BYTES {
            return Err(SyncError::TooLarge { url: self.url.clone(), bytes: size });
        }
        let version = Version { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        match self.runtime.block_on(got.bytes()) {
            Ok(bytes) if bytes.len() as u64 == size => Ok(Fetched::Copy(bytes.to_vec(), version)),
            _ => Err(SyncError::Unreachable {
                url: self.url.clone(),
                problem: "its answer was cut short".to_owned(),
            }),
        }
    }

    fn put(&self, item: Item<'_>, text: &str, old: Option<&Version>) -> Result<Put, SyncError> {
        let update = |old: &Version| UpdateVersion { e_tag: old.e_tag.clone(), version: old.version.clone() };
        let mode = old.map_or(PutMode::Create, |old| PutMode::Update(update(old)));
        let kind = if item == Item::Text { "text/markdown; charset=utf-8" } else { "application/json" };
        let attributes = Attributes::from_iter([(Attribute::ContentType, kind)]);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let payload = PutPayload::from(text.as_bytes().to_vec());
        match self.runtime.block_on(self.store.put_opts(&self.path_of(item), payload, options)) {
            Ok(put) => Ok(Put::Done(Version { e_tag: put.e_tag, version: put.version })),
            Err(error) if is_lost(&error) => Ok(Put::Lost),
            // The object or its bucket was removed since the fetch.
            Err(error @ Error::NotFound { .. }) => match (item, old, self.error(&error)) {
                (Item::Machine(_), Some(_), SyncError::Nothing { .. }) => Ok(Put::Lost),
                (Item::Text, Some(_), SyncError::Nothing { url }) => Err(SyncError::Vanished { url }),
                (_, None, SyncError::Nothing { url }) => Err(SyncError::NoBucket { url }),
                (_, _, error) => Err(error),
            },
            Err(error) => Err(self.error(&error)),
        }
    }

    fn machines(&self) -> Result<BTreeMap<String, Version>, SyncError> {
        let folder = self.machines_path();
        let listed = self.store.list(Some(&folder)).take(MAX_MACHINES).try_collect::<Vec<_>>();
        let listed = self.unless_missing(self.runtime.block_on(listed))?.unwrap_or_default();
        let named = listed.into_iter().filter_map(|meta| {
            let name = machine_of(meta.location.filename()?)?.to_owned();
            Some((name, Version { e_tag: meta.e_tag, version: meta.version }))
        });
        Ok(named.collect())
    }
}

/// True if a write was refused because its condition is not met.
fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Precondition { .. } | Error::AlreadyExists { .. })
}
