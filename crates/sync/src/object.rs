//! A remote copy in an object store: S3, Google Cloud Storage or Azure Blob Storage.
//!
//! Requests go through the crate `object_store`. A write bears its condition as a header: `If-Match` or
//! `If-None-Match: *` for S3 and Azure, `x-goog-if-generation-match` for Google.

use std::fmt;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion,
};
use tokio::runtime::Runtime;

use crate::credentials::{Opened, Variables, open_store};
use crate::error::SyncError;
use crate::failure::error_of;
use crate::remote::{Copy, Fetched, Put, Remote, Version};
use crate::url::RemoteUrl;

/// Largest copy that is fetched, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Name of the metadata with the ids of the last pushes. Azure allows letters, digits and `_` alone, and some servers and
/// proxies drop headers with `_`.
const PUSHES: &str = "memoriespushes";

/// The metadata of the object by which conditions are proven.
const PROOF: &str = "proof";

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
        let Opened { store, key } = open_store(url, variables)?;
        let path = Path::parse(key).map_err(|error| settings(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| settings(error.to_string()))?;
        Ok(ObjectRemote { url: shown, store, path, runtime })
    }

    fn put_at(&self, path: &Path, text: &str, mode: PutMode, pushes: &str) -> Result<Version, Error> {
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::ContentType, "text/markdown; charset=utf-8".into());
        if !pushes.is_empty() {
            attributes.insert(Attribute::Metadata(PUSHES.into()), pushes.to_owned().into());
        }
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let payload = PutPayload::from(text.as_bytes().to_vec());
        let put = self.runtime.block_on(self.store.put_opts(path, payload, options))?;
        Ok(Version { e_tag: put.e_tag, version: put.version })
    }

    fn error(&self, error: &Error) -> SyncError {
        error_of(&self.url, error)
    }

    /// Writes that must be refused, and metadata that must come back, on an object of its own. The number of requests.
    fn prove_at(&self, path: &Path) -> Result<u64, SyncError> {
        let unconditional = |what| SyncError::Unconditional { url: self.url.clone(), what };
        let failed = |error: Error| self.error(&error);
        let first = self.put_at(path, "1", PutMode::Create, PROOF).map_err(failed)?;
        let got = self.runtime.block_on(self.store.get(path)).map_err(failed)?;
        if pushes_of(&got.attributes) != [PROOF] {
            return Err(SyncError::NoMetadata { url: self.url.clone() });
        }
        match self.put_at(path, "2", PutMode::Create, "") {
            Ok(_) => return Err(unconditional("a second creation")),
            Err(error) if is_lost(&error) => {}
            Err(error) => return Err(self.error(&error)),
        }
        self.put_at(path, "3", PutMode::Update(update(&first)), "").map_err(failed)?;
        match self.put_at(path, "4", PutMode::Update(update(&first)), "") {
            Ok(_) => Err(unconditional("a write over a stale version")),
            Err(error) if is_lost(&error) => Ok(5),
            Err(error) => Err(self.error(&error)),
        }
    }
}

impl fmt::Display for ObjectRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Remote for ObjectRemote {
    fn fetch(&self, known: Option<&Version>) -> Result<Fetched, SyncError> {
        let if_none_match = known.and_then(|known| known.e_tag.clone());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let got = match self.runtime.block_on(self.store.get_opts(&self.path, options)) {
            Ok(got) => got,
            Err(Error::NotModified { .. }) => return Ok(Fetched::Unchanged),
            Err(error) => {
                return match self.error(&error) {
                    SyncError::Nothing { .. } => Ok(Fetched::Missing),
                    error => Err(error),
                };
            }
        };
        let size = got.meta.size;
        if size > MAX_BYTES {
            return Err(SyncError::TooLarge { url: self.url.clone(), bytes: size });
        }
        let version = Version { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        let pushes = pushes_of(&got.attributes);
        match self.runtime.block_on(got.bytes()) {
            Ok(bytes) if bytes.len() as u64 == size => {
                Ok(Fetched::Copy(Copy { bytes: bytes.to_vec(), version, pushes }))
            }
            _ => Err(SyncError::Unreachable {
                url: self.url.clone(),
                problem: "its answer was cut short".to_owned(),
            }),
        }
    }

    fn put(&self, text: &str, old: Option<&Version>, pushes: &[String]) -> Result<Put, SyncError> {
        let mode = old.map_or(PutMode::Create, |old| PutMode::Update(update(old)));
        match self.put_at(&self.path, text, mode, &pushes.join(",")) {
            Ok(version) => Ok(Put::Done(version)),
            Err(error) if is_lost(&error) => Ok(Put::Lost),
            // The copy is gone since it was fetched, or its bucket is.
            Err(error @ Error::NotFound { .. }) => match (old, self.error(&error)) {
                (Some(_), SyncError::Nothing { url }) => Err(SyncError::Vanished { url }),
                (None, SyncError::Nothing { url }) => Err(SyncError::NoBucket { url }),
                (_, error) => Err(error),
            },
            Err(error) => Err(self.error(&error)),
        }
    }

    fn prove(&self, id: &str) -> Result<u64, SyncError> {
        let path =
            Path::parse(format!("{}.probe-{id}", self.path)).map_err(|error| self.error(&error.into()))?;
        let proven = self.prove_at(&path);
        // Where it was not made, or may not be removed, nothing is lost by that.
        let _ = self.runtime.block_on(self.store.delete(&path));
        proven.map(|requests| requests + 1)
    }
}

/// The ids of the last pushes into an object.
fn pushes_of(attributes: &Attributes) -> Vec<String> {
    let pushes = attributes.get(&Attribute::Metadata(PUSHES.into()));
    pushes.map_or_else(Vec::new, |pushes| pushes.split(',').map(str::to_owned).collect())
}

fn update(version: &Version) -> UpdateVersion {
    UpdateVersion { e_tag: version.e_tag.clone(), version: version.version.clone() }
}

/// True if a write was refused because its condition is not met.
fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Precondition { .. } | Error::AlreadyExists { .. })
}
