//! A version of a file: its text, and a check whether the path still leads to it.
//!
//! A path enters; the text leaves, with the metadata that show whether an editor, which takes no lock,
//! has saved the file since. The file stays open as long as its version lives, so that its inode
//! cannot be reused.

use std::fs::{self, File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use super::error::{StoreError, unless_missing};
use super::platform;

/// A file as it was opened, with its metadata; `None` if it was missing.
pub(super) struct FileVersion {
    opened: Option<(File, Metadata)>,
}

impl FileVersion {
    /// Reads the whole file; no text where there is no file.
    pub(super) fn take(path: &Path) -> Result<(Option<String>, FileVersion), StoreError> {
        let version = FileVersion::open(path)?;
        Ok((version.read(path)?, version))
    }

    /// Opens the file and reads only its metadata: so a change while it is read is noticed, too.
    pub(super) fn open(path: &Path) -> Result<FileVersion, StoreError> {
        let Some(file) = open(path)? else { return Ok(FileVersion { opened: None }) };
        let metadata = file.metadata().map_err(StoreError::read(path))?;
        Ok(FileVersion { opened: Some((file, metadata)) })
    }

    /// The whole text; `None` where there is no file. To be called once.
    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, StoreError> {
        let Some((file, metadata)) = &self.opened else { return Ok(None) };
        let bytes = read_bytes(file, metadata, path)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..offset]);
            StoreError::NotUtf8 {
                path: path.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
                offset,
            }
        })?;
        Ok(Some(text))
    }

    /// The open file; `None` where it was missing.
    pub(super) fn file(&self) -> Option<&File> {
        self.opened.as_ref().map(|(file, _)| file)
    }

    /// The metadata of the file when it was read; `None` where it was missing.
    pub(super) fn metadata(&self) -> Option<&Metadata> {
        self.opened.as_ref().map(|(_, metadata)| metadata)
    }

    /// True if the path still leads to the file as it was read: same inode, size and time.
    pub(super) fn is_current(&self, path: &Path) -> Result<bool, StoreError> {
        let present = unless_missing(fs::symlink_metadata(path)).map_err(StoreError::read(path))?;
        Ok(self.metadata().map(stamp) == present.as_ref().map(stamp))
    }

    /// True if the file held this text. Reads it again, but only where the sizes agree.
    pub(super) fn holds(&self, text: &str, path: &Path) -> Result<bool, StoreError> {
        let Some((mut file, metadata)) = self.opened.as_ref().map(|(file, metadata)| (file, metadata)) else {
            return Ok(false);
        };
        if metadata.len() != text.len() as u64 {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(0)).map_err(StoreError::read(path))?;
        Ok(read_bytes(file, metadata, path)? == text.as_bytes())
    }
}

/// Opens a file for reading; `None` where there is none.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    unless_missing(File::open(path)).map_err(StoreError::read(path))
}

/// Reads a whole file of text; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, StoreError> {
    Ok(FileVersion::take(path)?.0)
}

type Stamp = (Option<(u64, u64)>, u64, Option<SystemTime>);

fn stamp(metadata: &Metadata) -> Stamp {
    (platform::identity(metadata), metadata.len(), metadata.modified().ok())
}

fn read_bytes(mut file: &File, metadata: &Metadata, path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes).map_err(StoreError::read(path))?;
    Ok(bytes)
}
