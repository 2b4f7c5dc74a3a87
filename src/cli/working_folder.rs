//! Scopes of the command line: a path of a folder may start at the working directory.
//!
//! The text of a scope enters; a scope with a path from the root of the repository leaves. Paths are compared as they
//! are written: no link is followed, and nothing reads whether a folder exists.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::values::is_url;
use memories_document::types::hint::Hint;
use memories_document::types::{FolderError, FolderPath, Scope, ScopeError, ScopeName, is_relative};
use memories_store::without_dots;

/// Where the root of a repository is looked for.
const ROOT_HINT: &str = "the root of the repository is the nearest folder with `.git` at or above the working \
                         directory, else the folder of the memory file";

/// The working directory, and the root of its repository.
#[derive(Debug)]
pub(crate) struct WorkingFolder {
    folder: PathBuf,
    root: PathBuf,
}

impl WorkingFolder {
    /// A folder in a repository, if there is one that counts; without it the memory file stands at the root.
    pub(crate) fn new(folder: &Path, memory_file: &Path, repository: Option<PathBuf>) -> WorkingFolder {
        let is_remote = memory_file.to_str().is_some_and(is_url);
        let root = repository.unwrap_or_else(|| match folder.join(memory_file).parent() {
            Some(parent) if !is_remote => without_dots(parent),
            _ => folder.to_owned(),
        });
        WorkingFolder { folder: folder.to_owned(), root }
    }

    /// The scope of a text of the command line.
    ///
    /// # Errors
    ///
    /// When the text names no scope, or a folder outside of the repository.
    pub(crate) fn scope_name(&self, text: &str) -> Result<ScopeName, Failure> {
        let path = match text.split_once(':') {
            Some((prefix, path)) if prefix.trim().eq_ignore_ascii_case("dir") => path.trim(),
            _ => return Ok(text.parse()?),
        };
        let found = if is_relative(path) {
            self.relative(path)
        } else if is_below_root(path) {
            self.absolute(path)
        } else {
            FolderPath::parse(path)
        };
        let is_outside = matches!(found, Err(FolderError::Outside(_)));
        let found = found.map_err(ScopeError::Folder).map_err(|error| {
            let hints = error.advice().hints;
            let hints = if is_outside { vec![ROOT_HINT.to_owned()] } else { hints };
            hints.into_iter().fold(Failure::usage(error.to_string()), Failure::hint)
        })?;
        Ok(ScopeName::Scope(Scope::Folder(found)))
    }

    /// The folder of a path from the working directory.
    fn relative(&self, path: &str) -> Result<FolderPath, FolderError> {
        let outside = |_| FolderError::Outside(path.to_owned());
        let here = self.folder.strip_prefix(self.root()).map_err(outside)?;
        FolderPath::of_names(here.iter().map(|name| name.as_encoded_bytes()))?.join(path)
    }

    /// The folder of an absolute path.
    fn absolute(&self, path: &str) -> Result<FolderPath, FolderError> {
        let whole = without_dots(Path::new(path));
        let below = whole.strip_prefix(self.root()).ok().and_then(Path::to_str);
        FolderPath::root().join(below.ok_or_else(|| FolderError::Outside(path.to_owned()))?)
    }

    /// The working directory.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The root of the repository.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

/// True for an absolute path other than the root itself, `/`.
fn is_below_root(path: &str) -> bool {
    let is_separator = |c| matches!(c, '/' | '\\');
    path.contains(|c| !is_separator(c)) && (path.starts_with(is_separator) || Path::new(path).is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(folder: &WorkingFolder, text: &str) -> Result<String, String> {
        match folder.scope_name(text) {
            Ok(ScopeName::Scope(scope)) => Ok(scope.to_string()),
            Ok(other) => Err(format!("{other:?}")),
            Err(failure) => Err(failure.message()),
        }
    }

    #[test]
    fn paths_start_at_the_working_directory_or_at_the_root() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        let here = root.join("src").join("a%20b");
        let folder = WorkingFolder::new(&here, Path::new("../x/Memories.md"), Some(root.to_owned()));
        let absolute = |below: &str| format!("dir:{}", root.join(below).display());
        for (text, found) in [
            ("dir:.", "dir:src/a%2520b"),
            (" DIR : ./x#/ ", "dir:src/a%2520b/x%23"),
            ("dir:..\\..", "dir:/"),
            ("dir:../search", "dir:src/search"),
            ("dir:src/search", "dir:src/search"),
            ("dir:/", "dir:/"),
            (&absolute("src/./search"), "dir:src/search"),
            (&absolute("gone"), "dir:gone"),
            ("23", "location:23"),
        ] {
            assert_eq!(scope(&folder, text).as_deref(), Ok(found), "{text}");
        }
        for text in ["dir:../../..", "dir:/etc", "dir:./../../../x"] {
            let path = &text[4..];
            assert_eq!(scope(&folder, text), Err(format!("`{path}` leads out of the repository")));
        }
        assert_eq!(scope(&folder, "dir:"), Err("the path of the folder is empty".to_owned()));
    }

    #[test]
    fn without_git_the_memory_file_stands_at_the_root() {
        let temporary = tempfile::tempdir().unwrap();
        let here = temporary.path().join("src");
        let found = |file: &str| scope(&WorkingFolder::new(&here, Path::new(file), None), "dir:./x");
        assert_eq!(found("Memories.md").as_deref(), Ok("dir:x"));
        assert_eq!(found("../Memories.md").as_deref(), Ok("dir:src/x"));
        assert_eq!(found("s3://bucket/Memories.md").as_deref(), Ok("dir:x"));
        assert!(found("../other/Memories.md").is_err());
    }
}
