//! The record of the text inserted into each file, so that it can be removed exactly.
//!
//! It is a file of the person's own folder, and not needed: without it, entries are known by their values, and tables
//! that become empty stay.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SetupError;
use super::piece::Piece;
use memories_store::{change_private, read_bounded};

/// Name of the file.
const FILE_NAME: &str = "setup.json";

/// Largest size in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// The record of one configuration file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The file and the folders that were made for it, the innermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
    #[serde(default)]
    pub pieces: Vec<Piece>,
}

/// The records of all files, by path.
type Records = BTreeMap<String, Written>;

/// The record of a file; an empty one where nothing was written.
///
/// # Errors
///
/// When the record cannot be read.
pub(super) fn read(folder: &Path, path: &Path) -> Result<Written, SetupError> {
    let file = folder.join(FILE_NAME);
    let bytes = match read_bounded(&file, MAX_SIZE) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Written::default()),
        read => read.map_err(|error| damaged(&file, &error.to_string()))?,
    };
    Ok(parse(&file, &bytes)?.remove(&key(path)).unwrap_or_default())
}

/// Replaces the record of a file; an empty one is left out.
///
/// # Errors
///
/// When the record cannot be written.
pub(super) fn write(folder: &Path, path: &Path, written: &Written) -> Result<(), SetupError> {
    let file = folder.join(FILE_NAME);
    let mut failed = None;
    change_private(&file, MAX_SIZE, |bytes| {
        let mut records = match parse(&file, &bytes) {
            Ok(records) => records,
            Err(error) => {
                failed = Some(error);
                return None;
            }
        };
        if *written == Written::default() {
            records.remove(&key(path))
        } else {
            records.insert(key(path), written.clone())
        };
        let mut text = serde_json::to_vec_pretty(&records).unwrap_or_default();
        text.push(b'\n');
        (text != bytes).then_some(text)
    })?;
    failed.map_or(Ok(()), Err)
}

fn key(path: &Path) -> String {
    path.display().to_string()
}

fn parse(file: &Path, bytes: &[u8]) -> Result<Records, SetupError> {
    if bytes.is_empty() {
        return Ok(Records::new());
    }
    serde_json::from_slice(bytes).map_err(|error| damaged(file, &error.to_string()))
}

fn damaged(file: &Path, reason: &str) -> SetupError {
    SetupError::DamagedRecord { path: file.to_owned(), reason: reason.to_owned() }
}
