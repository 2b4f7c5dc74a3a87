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
    let own = env::current_exe().map_err(|error| Failure::caused("cannot find this program", error))?;
    let is_own = |path: &Path| fs::canonicalize(path).ok() == fs::canonicalize(&own).ok();
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    // Behind a relative folder, a repository could bring a program of that name.
    let safe = search_path().into_iter().take_while(|folder| folder.is_absolute());
    let found = safe.map(|folder| folder.join(&name)).find(|path| path.is_file());
    if found.is_some_and(|found| is_own(&found)) {
        return Ok(PROGRAM.to_owned());
    }
    own.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::user("the path of this program is not UTF-8")
            .hint("put the program into a folder of your PATH")
    })
}

/// The folders in which a shell looks for programs.
pub(crate) fn search_path() -> Vec<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect()
}
