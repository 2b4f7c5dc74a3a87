//! Files that the program can make again, such as pages of the manual.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::error::StoreError;

/// Writes such a file whole, in the place of one that may be there; makes its folder.
///
/// # Errors
///
/// When it cannot be written; what was there is there still.
pub fn write_generated(path: &Path, text: &str) -> Result<(), StoreError> {
    let failed = |source| StoreError::Write { action: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&temporary);
        failed(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_the_place_of_another_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("man1/memories.1");
        write_generated(&path, "old").unwrap();
        write_generated(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memories.1");
        fs::create_dir(&path).unwrap();
        assert!(write_generated(&path, "new").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
