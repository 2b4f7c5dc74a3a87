//! The address of a remote copy: which kind of store, which bucket, which key.

use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::error::SyncError;

/// A kind of object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cloud {
    /// Amazon S3, and what speaks as it does.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
}

impl Cloud {
    fn scheme(self) -> &'static str {
        match self {
            Cloud::S3 => "s3",
            Cloud::Gs => "gs",
            Cloud::Az => "az",
        }
    }
}

/// The address of a remote copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteUrl {
    /// An object of a bucket.
    Object {
        /// The cloud that has it.
        cloud: Cloud,
        /// Its bucket, or its container.
        bucket: String,
        /// Its name in the bucket.
        key: String,
    },
    /// A file in a folder that several machines see.
    File(PathBuf),
}

impl RemoteUrl {
    /// Reads an address. A key that is empty or ends in `/` gets the file name.
    ///
    /// # Errors
    ///
    /// Where the scheme is another one, the bucket is missing, or the address holds a user, a password or a query.
    pub fn parse(text: &str, file_name: &str) -> Result<RemoteUrl, SyncError> {
        // The address may hold a password: the error does not repeat it.
        let (scheme, rest) = text.split_once("://").ok_or(SyncError::NoUrl)?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') || rest.contains(['?', '#']) {
            return Err(SyncError::SecretInUrl);
        }
        let key = match key {
            "" => file_name.to_owned(),
            key if key.ends_with('/') => format!("{key}{file_name}"),
            key => key.to_owned(),
        };
        let cloud = match scheme.to_ascii_lowercase().as_str() {
            "s3" => Cloud::S3,
            "gs" => Cloud::Gs,
            "az" => Cloud::Az,
            "file" if bucket.is_empty() || bucket == "localhost" => {
                let path = percent_decode_str(&key).decode_utf8().map_err(|_| SyncError::NoUrl)?;
                return Ok(RemoteUrl::File(PathBuf::from(format!("/{path}"))));
            }
            "file" => return Err(SyncError::NoUrl),
            _ => return Err(SyncError::Scheme { scheme: scheme.chars().take(20).collect() }),
        };
        if bucket.is_empty() || key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(SyncError::NoUrl);
        }
        Ok(RemoteUrl::Object { cloud, bucket: bucket.to_owned(), key })
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteUrl::Object { cloud, bucket, key } => write!(f, "{}://{bucket}/{key}", cloud.scheme()),
            RemoteUrl::File(path) => write!(f, "file://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_store_bucket_and_key() {
        let shown = |text: &str| RemoteUrl::parse(text, "Memories.md").map(|url| url.to_string()).ok();
        for (text, expected) in [
            ("s3://b/k.md", Some("s3://b/k.md")),
            ("S3://b", Some("s3://b/Memories.md")),
            ("gs://b/games/", Some("gs://b/games/Memories.md")),
            ("az://c/a/b/c", Some("az://c/a/b/c")),
            ("file:///mnt/x%20y/", Some("file:///mnt/x y/Memories.md")),
            ("file://localhost/m.md", Some("file:///m.md")),
            ("file://host/m.md", None),
            ("http://b/k", None),
            ("s3:///k", None),
            ("s3://b/a//k", None),
            ("s3://b/../k", None),
            ("s3://key:secret@b/k", None),
            ("s3://b/k?X-Amz-Signature=1", None),
            ("Memories.md", None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }
}
