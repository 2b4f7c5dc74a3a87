//! Code shared by `report` and `serve`: names of a page, its file, and the browser.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use crate::cli::failure::Failure;
use memories_page::is_page;
use memories_store::Store;

/// Bytes by which a page is known.
const BEGINNING: u64 = 256;

/// The name of the memory file, without its folder.
pub(super) fn file_name(store: &Store) -> String {
    store.path().file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// The title of a page: the name of the folder, for most memory files have the same name.
pub(super) fn title_of(store: &Store) -> String {
    let folder = store.real_path().parent().and_then(Path::file_name);
    folder.map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// Refuses a target that is the memory file or belongs to it, and one that is no page, unless forced.
pub(super) fn check_target(store: &Store, output: &Path, force: bool) -> Result<(), Failure> {
    if output.is_dir() {
        let failure = Failure::user(format!("`{}` is a folder", output.display()));
        return Err(failure.hint("name a file in it, such as `world.html`"));
    }
    let target = Store::open(output, Duration::ZERO)?.real_path().to_owned();
    if store.owns(&target) {
        let failure = Failure::user(format!("`{}` is the memory file or belongs to it", output.display()));
        return Err(failure.hint("write the page to another file"));
    }
    let is_replaced = force
        || match beginning(&target) {
            Ok(beginning) => beginning.is_empty() || is_page(&beginning),
            // An unreadable file is reported when writing it fails.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
    if is_replaced {
        Ok(())
    } else {
        Err(Failure::user(format!("`{}` is there, and is no page of `memories`", output.display()))
            .hint("`--force` replaces it"))
    }
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BEGINNING).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file or an address in the person's browser.
pub(super) fn open_in_browser(target: impl AsRef<OsStr>) -> Result<(), Failure> {
    open::that_detached(target).map_err(|error| {
        Failure::caused("cannot open a browser", error).hint("open the page by hand, without `--open`")
    })
}
