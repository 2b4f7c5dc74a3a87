//! The state of a repository that commands meet: its commit, its files, and the environment.
//!
//! A line of the log enters; the changes since then leave. Git is not run, and nothing is written.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::work::log::{Event, Line, NamedFile, Run};
use memories_document::types::FolderPath;
use memories_store::{Index, changed_at, without_dots};

/// Tracked files that are looked at.
const MOST_FILES: usize = 5_000;

/// Changes that are named.
const NAMED: usize = 3;

/// Files that are noted of a failure.
const NOTED: usize = 8;

/// Steps of the clock of file systems, in milliseconds: a file may seem older by that much than it is.
const CLOCK_STEP: u64 = 10;

/// A working folder in its repository.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The root of the repository, absolute.
    root: PathBuf,
    /// The working folder, absolute.
    here: PathBuf,
    /// The folder as a scope.
    pub folder: FolderPath,
    /// The memory file, which the program itself changes.
    memory_file: PathBuf,
    /// A hash of the variables on which tools depend, and of the root: another work tree is another environment.
    pub environment: u64,
}

/// Changes since a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Changes in words, the first few.
    pub named: Vec<String>,
    /// How many more there are.
    pub more: usize,
    /// True if a file is among them that the failure names.
    pub is_of_named_file: bool,
}

impl Changes {
    fn add(&mut self, change: String) {
        if self.named.contains(&change) {
        } else if self.named.len() < NAMED {
            self.named.push(change);
        } else {
            self.more += 1;
        }
    }

    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && !self.is_of_named_file
    }
}

impl Surroundings {
    /// The working folder `here`, which is changed by a `cd` first. `None` where that leads out of the repository, or
    /// nobody knows where.
    pub(crate) fn of(
        root: &Path,
        here: &Path,
        cd: Option<&str>,
        memory_file: &Path,
        environment: u64,
    ) -> Option<Surroundings> {
        let cd = cd.unwrap_or(".");
        if cd.starts_with(['~', '-']) || cd.contains(['$', '`', '*', '?']) {
            return None;
        }
        if is_foreign(cd) {
            return None;
        }
        let here = without_dots(&here.join(cd));
        let below = here.strip_prefix(root).ok()?;
        let folder = FolderPath::of_names(below.iter().map(|name| name.as_encoded_bytes())).ok()?;
        Some(Surroundings {
            root: root.to_owned(),
            here,
            folder,
            memory_file: memory_file.to_owned(),
            environment: environment ^ xxh3_64(root.as_os_str().as_encoded_bytes()),
        })
    }

    fn index(&self) -> Option<Index> {
        Index::around(&self.root.join("x"))
    }

    /// The commit that is checked out.
    pub(crate) fn commit(&self) -> Option<String> {
        self.index()?.commit()
    }

    /// The name of a file in the log: from the root where it is below.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        let path = without_dots(&self.here.join(path));
        path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned()
    }

    /// The files among words of a command and its output. A word that is no file counts if it looks like a path.
    pub(crate) fn files<'a>(&self, words: impl Iterator<Item = &'a String>) -> Vec<NamedFile> {
        let (mut there, mut missing): (Vec<NamedFile>, Vec<NamedFile>) = (Vec::new(), Vec::new());
        for word in words {
            let paths = [self.here.join(word), self.root.join(word)];
            let found = paths.iter().find_map(|path| Some((path, fs::metadata(path).ok()?)));
            let file = NamedFile {
                path: self.name_of(found.as_ref().map_or(&paths[0], |(path, _)| path)),
                exists: found.is_some(),
            };
            // A folder changes with each file in it.
            if found.is_some_and(|(_, metadata)| metadata.is_dir())
                || there.contains(&file)
                || missing.contains(&file)
            {
                continue;
            }
            match file.exists {
                true => there.push(file),
                false if word.contains('/') || word.contains('.') => missing.push(file),
                false => {}
            }
            if there.len() >= NOTED {
                break;
            }
        }
        missing.truncate(NOTED);
        there.extend(missing);
        there
    }

    /// Changes since a failure; `later` are the lines of the log behind it.
    pub(crate) fn changes_since(&self, at: u64, run: &Run, later: &[Line]) -> Changes {
        let mut changes = Changes::default();
        self.named_files(at, run, &mut changes);
        let commit = self.commit();
        if commit != run.commit {
            changes.add(match &commit {
                Some(commit) => format!("the commit is {}", commit.get(..10).unwrap_or(commit)),
                None => "there is no commit".to_owned(),
            });
        }
        if self.environment != run.environment {
            changes.add("the environment".to_owned());
        }
        for line in later {
            match &line.event {
                Event::Edited(path) => {
                    changes.is_of_named_file |= run.files.iter().any(|file| file.path == *path);
                    changes.add(path.clone());
                }
                // A command that failed may have changed something first.
                Event::Ran(other) if other.action != run.action && other.may_change => {
                    changes.add(format!("`{}` ran", other.command));
                }
                _ => {}
            }
        }
        if run.command.starts_with("git ") && self.index().is_some_and(|index| is_later(index.metadata(), at))
        {
            changes.add("what git has staged".to_owned());
        }
        self.tracked_files(run.began.unwrap_or(at), &mut changes);
        changes
    }

    fn named_files(&self, at: u64, run: &Run, changes: &mut Changes) {
        for file in &run.files {
            let now = fs::metadata(self.root.join(&file.path)).ok();
            let exists = now.is_some();
            if exists != file.exists || file.exists && is_later(now, at) {
                changes.is_of_named_file = true;
                changes.add(file.path.clone());
            }
        }
    }

    /// Tracked files that were changed since, those below the working folder first.
    fn tracked_files(&self, at: u64, changes: &mut Changes) {
        let mut paths = self.index().map(|index| index.paths()).unwrap_or_default();
        let here = self.here.strip_prefix(&self.root).unwrap_or(Path::new("")).as_os_str().as_encoded_bytes();
        if paths.len() > MOST_FILES {
            paths.sort_by_cached_key(|path| !path.starts_with(here));
        }
        if paths.is_empty() || paths.len() > MOST_FILES {
            changes.add("perhaps other files".to_owned());
        }
        for path in paths.iter().take(MOST_FILES) {
            let Ok(name) = std::str::from_utf8(path) else {
                changes.add("perhaps other files".to_owned());
                continue;
            };
            let path = self.root.join(name);
            // A missing file counts as removed at the time its nearest existing parent folder last changed.
            let metadata = path.ancestors().find_map(|path| fs::symlink_metadata(path).ok());
            if is_later(metadata, at) && path != self.memory_file {
                changes.add(name.to_owned());
            }
        }
    }
}

/// True for a path with a drive, or of a share, on a system that has neither: `C:\src`, `C:/src`, `\\server\share`.
pub fn is_foreign(path: &str) -> bool {
    let is_drive =
        |path: &[u8]| matches!(path, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    !cfg!(windows) && (is_drive(path.as_bytes()) || path.starts_with("\\\\"))
}

/// True if a file was changed after a moment.
fn is_later(file: Option<Metadata>, at: u64) -> bool {
    file.is_some_and(|metadata| changed_at(&metadata) + CLOCK_STEP > at)
}
