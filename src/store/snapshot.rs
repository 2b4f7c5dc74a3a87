//! A file as it was read, and a check whether it has changed since.
//!
//! A path enters; the text leaves, with the metadata that show whether an editor, which takes no lock,
//! has saved the file since. The file stays open as long as the snapshot lives, so that its inode
//! cannot be reused.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use super::error::StoreError;
use super::platform;

/// A file that was read, with its metadata; `None` if it was missing.
pub(super) struct Snapshot {
    opened: Option<(File, Metadata)>,
}

impl Snapshot {
    /// Reads the whole file; no text where there is no file.
    pub(super) fn take(path: &Path) -> Result<(Option<String>, Snapshot), StoreError> {
        let snapshot = Snapshot::open(path)?;
        Ok((snapshot.read(path)?, snapshot))
    }

    /// Opens the file and reads only its metadata: so a change while it is read is noticed, too.
    pub(super) fn open(path: &Path) -> Result<Snapshot, StoreError> {
        let Some(file) = open(path)? else { return Ok(Snapshot { opened: None }) };
        let metadata = file.metadata().map_err(StoreError::read(path))?;
        Ok(Snapshot { opened: Some((file, metadata)) })
    }

    /// The whole text; `None` where there is no file. To be called once.
    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, StoreError> {
        let Some((mut file, metadata)) = self.opened.as_ref().map(|(file, metadata)| (file, metadata)) else {
            return Ok(None);
        };
        read_text(&mut file, metadata, path).map(Some)
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
        let present = match fs::symlink_metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => {
                return Err(StoreError::Read { path: path.to_owned(), source });
            }
        };
        Ok(self.metadata().map(stamp) == present.as_ref().map(stamp))
    }

    /// True if the file held this text. Reads it again, but only where the sizes agree.
    pub(super) fn holds(&self, text: &str, path: &Path) -> Result<bool, StoreError> {
        let Some((file, metadata)) = &self.opened else {
            return Ok(false);
        };
        if metadata.len() != text.len() as u64 {
            return Ok(false);
        }
        let mut file = file;
        file.seek(SeekFrom::Start(0)).map_err(StoreError::read(path))?;
        Ok(read_bytes(&mut file, metadata, path)? == text.as_bytes())
    }
}

/// Opens a file for reading; `None` where there is none.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Read { path: path.to_owned(), source }),
    }
}

/// Reads a whole file of text; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, StoreError> {
    let Some(mut file) = open(path)? else {
        return Ok(None);
    };
    let metadata = file.metadata().map_err(StoreError::read(path))?;
    read_text(&mut file, &metadata, path).map(Some)
}

type Stamp = (Option<(u64, u64)>, u64, Option<SystemTime>);

fn stamp(metadata: &Metadata) -> Stamp {
    (platform::identity(metadata), metadata.len(), metadata.modified().ok())
}

fn read_text(file: &mut impl Read, metadata: &Metadata, path: &Path) -> Result<String, StoreError> {
    String::from_utf8(read_bytes(file, metadata, path)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..offset]);
        StoreError::NotUtf8 {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            offset,
        }
    })
}

fn read_bytes(file: &mut impl Read, metadata: &Metadata, path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes).map_err(StoreError::read(path))?;
    Ok(bytes)
}
