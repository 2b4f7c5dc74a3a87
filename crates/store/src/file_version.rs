//! A version of a file: its text, and a check whether the path still leads to it.
//!
//! A path enters; the text leaves, with the metadata that show whether an editor, which takes no lock,
//! has saved the file since. The file stays open as long as its version lives, so that its inode
//! cannot be reused. Windows does not replace a file that is open, so a writer closes it there once it was read.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::attributes::Model;
use crate::error::{StoreError, unless_missing};
use crate::folder::MAX_SIZE;
use crate::platform;

/// A file as it was opened, with its metadata; `None` if it was missing.
pub struct FileVersion {
    path: PathBuf,
    file: Option<File>,
    metadata: Option<Metadata>,
}

impl FileVersion {
    /// Reads the whole file; no text where there is no file.
    pub(super) fn take(path: &Path) -> Result<(Option<String>, FileVersion), StoreError> {
        let version = FileVersion::open(path)?;
        Ok((version.read()?, version))
    }

    /// Opens the file and reads only its metadata: so a change while it is read is noticed, too.
    pub(super) fn open(path: &Path) -> Result<FileVersion, StoreError> {
        let file = unless_missing(File::open(path)).map_err(StoreError::read(path))?;
        FileVersion::of(path.to_owned(), file)
    }

    /// A file that is not there.
    pub(super) fn missing(path: PathBuf) -> FileVersion {
        FileVersion { path, file: None, metadata: None }
    }

    /// The version of a file that was opened at this path, or was missing.
    pub(super) fn of(path: PathBuf, file: Option<File>) -> Result<FileVersion, StoreError> {
        let metadata = file.as_ref().map(File::metadata).transpose().map_err(StoreError::read(&path))?;
        Ok(FileVersion { path, file, metadata })
    }

    /// The same version of a file that this process may replace.
    pub(super) fn replaceable(self) -> FileVersion {
        let file = self.file.filter(|_| platform::REPLACES_OPEN_FILES);
        FileVersion { file, ..self }
    }

    /// The file as a model for the one that replaces it; `None` where it was missing.
    pub(super) fn model(&self) -> Option<Model<'_>> {
        self.metadata.as_ref().map(|metadata| Model { metadata, file: self.file.as_ref() })
    }

    /// Size in bytes when it was opened; 0 where it was missing.
    pub(super) fn size(&self) -> u64 {
        self.metadata().map_or(0, Metadata::len)
    }

    /// True if this metadata, of any path or open file, describe the file as it was read.
    pub(super) fn is(&self, present: &Metadata) -> bool {
        self.metadata().is_some_and(|metadata| stamp(metadata) == stamp(present))
    }

    /// True if the file, wherever it stands now, is as it was read.
    pub(super) fn is_unchanged(&self) -> bool {
        self.file().is_none_or(|file| file.metadata().is_ok_and(|present| self.is(&present)))
    }

    /// The whole text; `None` where there is no file. To be called once.
    pub fn read(&self) -> Result<Option<String>, StoreError> {
        let (Some(file), Some(metadata)) = (&self.file, &self.metadata) else { return Ok(None) };
        let bytes = read_bytes(file, metadata).map_err(StoreError::read(&self.path))?;
        text_of(bytes, &self.path).map(Some)
    }

    /// The open file; `None` where it was missing.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The metadata of the file when it was read; `None` where it was missing.
    pub(super) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// True if the path still leads to the file as it was read: same inode, size and time.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        let present = unless_missing(fs::symlink_metadata(&self.path));
        let present = present.map_err(StoreError::read(&self.path))?;
        Ok(self.metadata().map(stamp) == present.as_ref().map(stamp))
    }

    /// True if the file held this text. Reads it again, but only where the sizes agree.
    pub(super) fn holds(&self, text: &str) -> Result<bool, StoreError> {
        let Some(metadata) = self.metadata.as_ref().filter(|metadata| metadata.len() == text.len() as u64)
        else {
            return Ok(false);
        };
        let read = || match &self.file {
            Some(file) => (&*file).seek(SeekFrom::Start(0)).and_then(|_| read_bytes(file, metadata)),
            None => File::open(&self.path).and_then(|file| read_bytes(&file, metadata)),
        };
        Ok(read().map_err(StoreError::read(&self.path))? == text.as_bytes())
    }
}

/// A memory file and its session, opened for reading. Both stay open, so that a later file is never taken
/// for one of them.
pub struct OpenFiles {
    /// The memory file.
    pub memories: FileVersion,
    /// The memories that end with the episode.
    pub session: FileVersion,
}

impl OpenFiles {
    /// The memory file; `None` where there is none.
    pub fn file(&self) -> Option<&File> {
        self.memories.file()
    }
}

/// The text of bytes; `path` names them in an error.
///
/// # Errors
///
/// [`StoreError::NotUtf8`].
pub fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String, StoreError> {
    let path = path.to_owned();
    if is_utf16(&bytes) {
        let column = usize::from(bytes[0] != 0) + 1;
        return Err(StoreError::NotUtf8 { path, line: 1, column, offset: column - 1 });
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..offset]);
        StoreError::NotUtf8 {
            path,
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            offset,
        }
    })
}

/// True if a file begins like UTF-16 without a byte order mark, which may be valid UTF-8.
fn is_utf16(start: &[u8]) -> bool {
    let Some(zeros) = start.first_chunk::<4>().map(|bytes| bytes.map(|byte| byte == 0)) else { return false };
    matches!(zeros, [true, false, true, false] | [false, true, false, true])
}

/// Reads a whole file of text; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, StoreError> {
    Ok(FileVersion::take(path)?.0)
}

type Stamp = (Option<(u64, u64)>, u64, Option<SystemTime>);

fn stamp(metadata: &Metadata) -> Stamp {
    (platform::identity(metadata), metadata.len(), metadata.modified().ok())
}

fn read_bytes(mut file: &File, metadata: &Metadata) -> io::Result<Vec<u8>> {
    if metadata.len() > MAX_SIZE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
