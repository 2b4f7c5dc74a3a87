//! The memory file as git has it: its texts, and the times of its commits.
//!
//! A store enters. Git runs in the file's folder, so it finds the repository. Of merges only the side that was checked
//! out counts: what another branch had before did not stand here.

use std::path::Path;
use std::process::Command;

use crate::cli::git::{GitError, git, line, run};
use memories_document::types::instant::Instant;
use memories_store::Store;

/// A commit.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    /// Its name: a hash.
    pub name: String,
    /// When it was made.
    pub time: Instant,
}

/// A memory file that git may have.
pub(crate) struct GitFile<'a> {
    store: &'a Store,
}

impl GitFile<'_> {
    /// The file of a store.
    pub(crate) fn of(store: &Store) -> GitFile<'_> {
        GitFile { store }
    }

    fn folder(&self) -> &Path {
        self.store.real_path().parent().unwrap_or(Path::new("/"))
    }

    /// The bytes of the file at a revision.
    ///
    /// # Errors
    ///
    /// See [`GitError`].
    pub(crate) fn bytes(&self, revision: &str) -> Result<Vec<u8>, GitError> {
        let name = self.store.real_path().file_name().unwrap_or_default().to_string_lossy();
        let mut show = git(self.folder(), &["show", "--no-ext-diff", "--no-textconv", "--end-of-options"]);
        show.arg(format!("{revision}:./{name}"));
        run(show)
    }

    /// The commit that a revision names.
    ///
    /// # Errors
    ///
    /// See [`GitError`].
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<Commit>, GitError> {
        let mut list = self.list(&["--max-count=1"]);
        list.args(["--end-of-options", &format!("{revision}^{{commit}}"), "--"]);
        Ok(commits(list)?.pop())
    }

    /// The commits that changed the file, the newest first; `limits` are those of `git rev-list`.
    ///
    /// # Errors
    ///
    /// See [`GitError`].
    pub(crate) fn commits(&self, limits: &[&str]) -> Result<Vec<Commit>, GitError> {
        let mut list = self.list(limits);
        list.args(["HEAD", "--"]).arg(self.store.real_path().file_name().unwrap_or_default());
        commits(list)
    }

    /// How far back git has the file, in words.
    pub(crate) fn reach(&self) -> String {
        let oldest = match self.commits(&[]) {
            Ok(mut commits) => commits.pop(),
            Err(GitError::Missing(_)) => return "git cannot be asked: install it".to_owned(),
            Err(error) if error.is_outside() => return "the file is not in a git repository".to_owned(),
            Err(error) => match error.of_other_owner() {
                Some(message) => return format!("git refuses the repository: {message}"),
                None => None,
            },
        };
        let Some(Commit { time, .. }) = oldest else { return "git has no commit of the file".to_owned() };
        let is_shallow = line(self.folder(), &["rev-parse", "--is-shallow-repository"]);
        let more = match is_shallow.as_deref() {
            Ok("true") => "; this clone is shallow: `git fetch --unshallow` brings older commits",
            _ => "",
        };
        format!("git has the file since {time}{more}")
    }

    fn list(&self, limits: &[&str]) -> Command {
        let mut list =
            git(self.folder(), &["--literal-pathspecs", "rev-list", "--first-parent", "--timestamp"]);
        list.args(limits);
        list
    }
}

/// The commits that `git rev-list --timestamp` prints: `SECONDS NAME`.
fn commits(list: Command) -> Result<Vec<Commit>, GitError> {
    let output = run(list)?;
    let output = String::from_utf8_lossy(&output);
    let commit = |line: &str| {
        let (time, name) = line.split_once(' ')?;
        Some(Commit { name: name.to_owned(), time: Instant::of_second(time.parse().ok()?)? })
    };
    Ok(output.lines().filter_map(commit).collect())
}
