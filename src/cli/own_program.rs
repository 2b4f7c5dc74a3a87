//! The name by which other programs start this one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;

/// The name of this program.
const PROGRAM: &str = "memories";

/// `memories` where the search path leads to this very program, else its absolute path.
///
/// # Errors
///
/// When the path is not UTF-8.
pub(crate) fn own_program() -> Result<String, Failure> {
    let own = own_path()?;
    if on_search_path(&own).is_some() { Ok(PROGRAM.to_owned()) } else { text_of(&own) }
}

/// The absolute path of this program, for those whose search path differs from a shell's. Where the search path leads to
/// it, this is the path there, which may be a link that lasts longer than what it leads to.
///
/// # Errors
///
/// When the path is not UTF-8.
pub(crate) fn own_program_path() -> Result<String, Failure> {
    let own = own_path()?;
    text_of(&on_search_path(&own).unwrap_or(own))
}

fn own_path() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| Failure::caused("cannot find this program", error))
}

/// The path by which the search path leads to a program of this name, if that is this very program.
fn on_search_path(own: &Path) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    // Behind a relative folder, a repository could bring a program of that name.
    let safe = search_path().into_iter().take_while(|folder| folder.is_absolute());
    let found = safe.map(|folder| folder.join(&name)).find(|path| path.is_file())?;
    (fs::canonicalize(&found).ok() == fs::canonicalize(own).ok()).then_some(found)
}

fn text_of(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::user("the path of this program is not UTF-8")
            .hint("put the program into a folder of your PATH")
    })
}

/// The folders in which a shell looks for programs.
pub(crate) fn search_path() -> Vec<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect()
}
