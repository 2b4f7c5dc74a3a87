//! Errors of reading and writing files, with a hint for each.
//!
//! A message says what failed and on which path, its source says why, the hint says what to do next.
//! None of these errors is a bug of the program.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::attributes::{ACCESS_LIST, GROUP, MODE, OWNER};
use memories_document::types::hint::{Advice, Hint, MERGE_OR_RESOLVE, NEWER_FORMAT, hint_of_limit};
use memories_document::version::{FORMAT, NewerFormat, newer_format};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The path leads to a folder, a pipe, a socket or a device.
    #[error("`{}` is {what}, not a file", path.display())]
    NotAFile {
        /// The path as given.
        path: PathBuf,
        /// Its actual kind, with an article, such as `a folder`.
        what: &'static str,
    },
    /// The folder in which the file stands or would stand does not exist.
    #[error("the folder `{}` does not exist", path.display())]
    NoFolder {
        /// The missing folder.
        path: PathBuf,
    },
    /// Symbolic links that lead back to themselves.
    #[error("the symbolic links of `{}` lead nowhere but to each other", path.display())]
    SymlinkLoop {
        /// The path as given.
        path: PathBuf,
    },
    /// The file is not UTF-8. It is never touched.
    #[error("`{}` is not UTF-8: line {line}, column {column}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Line of the first wrong byte, from 1.
        line: usize,
        /// Column of the first wrong byte in characters, from 1.
        column: usize,
        /// Bytes before the first wrong one.
        offset: usize,
    },
    /// The file has conflicts of a merge that are not resolved. It is not written.
    #[error("`{}`, line {line}: an unresolved git merge conflict", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// Line of the first marker, from 1.
        line: usize,
    },
    /// The file states a newer version of the format. It is not written.
    #[error("`{}`, line {line}: the file has format {version}, and this program knows format {known}", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Line that states the version, from 1.
        line: usize,
        /// The version of the file.
        version: u64,
        /// The version that this program knows.
        known: u64,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written. The memory file is unchanged, unless this is a warning of an update.
    #[error("cannot {action} `{}`", path.display())]
    Write {
        /// The step that failed: `write`, `replace`, `back up`, `set aside`, `sync`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file was replaced, or a file in the folder, but the disk would not confirm it: a power cut may undo the
    /// write.
    #[error("the disk did not confirm what was written to `{}`", path.display())]
    NotConfirmed {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or folder beside the memory file that is not the program's own. Nothing is read from it, and nothing
    /// written.
    #[error("`{}` {problem}", path.display())]
    NotOurs {
        /// The file or folder.
        path: PathBuf,
        /// The reason to refuse it.
        problem: Foreign,
    },
    /// A memory file that was found, not named, is a link to a file elsewhere.
    #[error("`{}` is a link that leads out of its repository, to `{}`", path.display(), target.display())]
    LeadsOutside {
        /// The path that was found.
        path: PathBuf,
        /// The file that it leads to.
        target: PathBuf,
    },
    /// The folder for lock and history cannot be made.
    #[error("cannot make the folder `{}` for lock and history", path.display())]
    Sidecar {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process held the lock for longer than the time limit.
    #[error(
        "`{}` is held by {} for more than {waited:?}",
        path.display(),
        holder.map_or("another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, where the lock file says so.
        holder: Option<u32>,
        /// The time limit.
        waited: Duration,
    },
    /// The lock file cannot be locked at all.
    #[error("cannot lock `{}`: this file system has no locks", path.display())]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An editor saved the file between each of our readings and writings.
    #[error("`{}` was changed by another program during each of {tries} tries", path.display())]
    KeepsChanging {
        /// The file.
        path: PathBuf,
        /// How often we tried.
        tries: u32,
    },
    /// The new file lacks the owner, the mode or an attribute of the old one. Always a warning.
    #[error("`{}` has lost its {}", path.display(), name_of_attribute(name))]
    LostAttribute {
        /// The file.
        path: PathBuf,
        /// The name of the attribute, or `owner`, `group` or `mode`.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The state is not valid; the default is used instead. Always a warning.
    #[error("`{}` is damaged: {reason}", path.display())]
    DamagedState {
        /// The state file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A file had bytes behind its last whole line, which a power cut or a kill left. Always a warning.
    #[error(
        "`{}` ended with {bytes} bytes that are no line, as a power cut leaves them: they were cut off{}",
        path.display(),
        aside.as_ref().map_or(String::new(), |aside| format!(" and put into `{}`", aside.display()))
    )]
    CutEnd {
        /// The file.
        path: PathBuf,
        /// How many bytes.
        bytes: u64,
        /// The file that has them now, unless they were nothing but NUL bytes.
        aside: Option<PathBuf>,
    },
    /// A session that cannot be read was renamed. Always a warning.
    #[error("`{}` is damaged and was set aside as `{}`", path.display(), aside.display())]
    SetAside {
        /// The session file.
        path: PathBuf,
        /// Its new name.
        aside: PathBuf,
    },
    /// A former state has more than twice the bytes of the file and of what came between. Always a warning.
    #[error(
        "state {number} of `{}` has {size} bytes, more than twice what the file has now: if the file vanished or was \
         cut, run `{}`; if not, delete `{}`",
        path.display(), restore_command(path, *number), state.display()
    )]
    Outweighed {
        /// The memory file.
        path: PathBuf,
        /// Number of the state.
        number: u64,
        /// Size of the state in bytes.
        size: u64,
        /// Path of the state.
        state: PathBuf,
    },
    /// There is no backup of that number.
    #[error("there is no backup `{}`", path.display())]
    NoBackup {
        /// Where it would be.
        path: PathBuf,
    },
}

/// A reason to refuse a file or folder beside the memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Foreign {
    /// It is a symbolic link, which might lead to any file.
    #[error("is a symbolic link, which is not followed here")]
    Link,
    /// It belongs to somebody else.
    #[error("belongs to user {owner}, and you are user {caller}")]
    Owner {
        /// User id of the owner.
        owner: u32,
        /// User id of this process.
        caller: u32,
    },
    /// It has this number of names (hard links), so it may be some other file as well.
    #[error("has {0} names (hard links)")]
    Names(u64),
    /// It is a pipe, a socket or a device; the text has an article.
    #[error("is {0}, not a file")]
    Kind(&'static str),
    /// Git tracks it, so others can put into it what they like.
    #[error("is tracked by git, so it may hold what others wrote")]
    Tracked,
}

impl Foreign {
    fn hint(self) -> &'static str {
        match self {
            Foreign::Link => "remove the link: the program makes its own file or folder there",
            Foreign::Owner { .. } => {
                "run the command as that user, or move it away: the program makes a new one"
            }
            Foreign::Names(_) => "move it away: the program makes a new one",
            Foreign::Kind(_) => "move it out of the way",
            Foreign::Tracked => "take it out of git with `git rm -r --cached .memories`, or delete it",
        }
    }
}

/// The command that restores a state of a file, for a shell.
fn restore_command(path: &Path, number: u64) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+~".contains(c);
    match &*path {
        "Memories.md" => format!("memories restore {number}"),
        plain if plain.chars().all(is_plain) => format!("memories -f {plain} restore {number}"),
        other => format!("memories -f '{}' restore {number}", other.replace('\'', r"'\''")),
    }
}

/// The result of a step on a file; `None` where there is no file.
pub(super) fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

impl StoreError {
    /// The refusal of a text of a newer format: a program that does not know it would misread it and so write it wrongly.
    pub fn of_newer_format(path: &Path, text: &str) -> Option<StoreError> {
        let NewerFormat { version, line } = newer_format(text)?;
        Some(StoreError::NewerFormat { path: path.to_owned(), line, version, known: FORMAT })
    }

    /// True if what is in the file is at fault, so that reading it again helps nobody; false where it could not
    /// be read this time, and may be whole.
    pub fn is_damage(&self) -> bool {
        match self {
            StoreError::NotUtf8 { .. } | StoreError::DamagedState { .. } => true,
            StoreError::Read { source, .. } => source.kind() == io::ErrorKind::IsADirectory,
            _ => false,
        }
    }

    /// True if the file is not to be used at all, whatever else happens to it.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, StoreError::NotOurs { .. } | StoreError::NewerFormat { .. })
    }

    /// The next step for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::NotAFile { .. } => "give the path of a Markdown file, or of one to be created",
            StoreError::NoFolder { .. } => "create the folder, or correct the path",
            StoreError::SymlinkLoop { .. } => "remove one of the links, or give the path of the file itself",
            StoreError::NotUtf8 { .. } => {
                "convert the file to UTF-8, for example with `iconv`; it was left as it is"
            }
            StoreError::Conflict { .. } => MERGE_OR_RESOLVE,
            StoreError::NewerFormat { .. } => NEWER_FORMAT,
            StoreError::Locked { .. } => {
                "try again, wait longer with `--lock-timeout`, or look at what that process does"
            }
            StoreError::NoLocks { .. } => {
                "move the file to a local disk: without locks, writers would overwrite each other"
            }
            StoreError::LostAttribute { name, .. } if name == ACCESS_LIST => {
                "set it again: until then the file is its owner's alone"
            }
            StoreError::LostAttribute { .. } => "set it again if it is needed",
            StoreError::KeepsChanging { .. } => "try again when the other program has finished",
            StoreError::DamagedState { .. } => "set the episode again with `episode start`",
            StoreError::SetAside { .. } => "mend that file, or delete it",
            StoreError::CutEnd { .. } => "nothing is to be done; the history may have a gap there",
            StoreError::NotOurs { problem, .. } => problem.hint(),
            StoreError::LeadsOutside { .. } => "name the file with `-f` if it is meant",
            StoreError::Outweighed { .. } => "bring that state back, or delete it",
            StoreError::NoBackup { .. } => "choose one of the backups that exist",
            StoreError::NotConfirmed { .. } => "check the disk, then whether the file holds what was written",
            StoreError::Read { source, .. }
            | StoreError::Write { source, .. }
            | StoreError::Sidecar { source, .. } => hint_for(source),
        }
    }

    /// For `map_err`: the file at this path cannot be read.
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
        move |source| StoreError::Read { path: path.to_owned(), source }
    }

    /// For `map_err`: this cannot be done to the file at this path.
    pub(super) fn write<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> StoreError + 'a {
        move |source| StoreError::Write { action, path: path.to_owned(), source }
    }
}

impl Hint for StoreError {
    fn advice(&self) -> Advice {
        match self {
            StoreError::Locked { .. } | StoreError::KeepsChanging { .. } => Advice::retry(self.hint()),
            _ => Advice::fix(self.hint()),
        }
    }
}

fn name_of_attribute(name: &str) -> String {
    match name {
        ACCESS_LIST => "access list".to_owned(),
        OWNER | GROUP | MODE => name.to_owned(),
        name => format!("attribute `{name}`"),
    }
}

fn hint_for(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    if let Some(hint) = hint_of_limit(error) {
        return hint;
    }
    match error.kind() {
        Kind::PermissionDenied => "check who may read and write the file and its folder",
        Kind::ReadOnlyFilesystem => "the disk is mounted read-only: copy the file to one that can be written",
        Kind::StorageFull | Kind::QuotaExceeded => {
            "the disk is full: free some space and run the command again"
        }
        Kind::NotADirectory | Kind::AlreadyExists | Kind::IsADirectory => {
            "something else stands in its place: move it out of the way"
        }
        Kind::InvalidFilename => "choose a shorter file name",
        Kind::NotFound => "its folder has gone: create it, or correct the path",
        _ => "check the disk and the rights of the file and its folder",
    }
}
