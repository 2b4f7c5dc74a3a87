//! `merge --octopus`: a merge strategy of git for more than two heads.
//!
//! Git's own octopus merges files without asking their drivers. This one merges one head after the other as a merge of
//! two does, and puts the last tree into index and work tree. Git makes the commit.

use std::path::Path;
use std::process::Stdio;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::git::{GitError, first_line, git, line, run as run_git};

/// Exit code by which a strategy says that it cannot merge, and has changed nothing.
const CANNOT: u8 = 2;

/// Merges the commits that git names: `BASES -- HEAD REMOTES`.
pub(crate) fn run(cli: &mut Cli<'_>, commits: &str) -> Result<u8, Failure> {
    let words: Vec<&str> = commits.split_whitespace().skip_while(|word| *word != "--").skip(1).collect();
    let Some((head, remotes)) = words.split_first().filter(|(_, remotes)| !remotes.is_empty()) else {
        return Err(Failure::usage("`--octopus` needs `BASES -- HEAD REMOTES`")
            .hint("git calls it; merge with `git merge BRANCH BRANCH`"));
    };
    match fold(head, remotes) {
        Ok(()) => Ok(0),
        Err(error) => {
            cli.ui.error(&match error {
                GitError::Missing(error) => format!("cannot run `git`: {error}"),
                GitError::Refused { message, .. } => {
                    format!("these branches do not merge at once: {message}")
                }
            });
            cli.ui.hint("merge them one after the other");
            Ok(CANNOT)
        }
    }
}

/// Merges each head into the one before, without touching index and work tree until all are merged.
fn fold(head: &str, remotes: &[&str]) -> Result<(), GitError> {
    let here = Path::new(".");
    let mut merged =
        line(here, &["rev-parse", "--verify", "--end-of-options", &format!("{head}^{{commit}}")])?;
    let mut tree = String::new();
    for remote in remotes {
        let remote =
            line(here, &["rev-parse", "--verify", "--end-of-options", &format!("{remote}^{{commit}}")])?;
        let mut merge = git(here, &["merge-tree", "--write-tree", "--no-messages", &merged, &remote]);
        // Notices of the driver are for the person who merges.
        merge.stderr(Stdio::inherit());
        tree = first_line(merge).map_err(|error| conflict_with(&remote, error))?;
        // Nobody sees these commits: they give the next merge its base. So they need nobody's name.
        let by = ["-c", "user.name=memories", "-c", "user.email=memories@localhost"];
        let commit = ["commit-tree", &tree, "-p", &merged, "-p", &remote, "-m", "merged for an octopus"];
        merged = line(here, &[&by[..], &commit[..]].concat())?;
    }
    run_git(git(here, &["read-tree", "-u", "-m", head, &tree])).map(drop)
}

/// The error of a merge, in which git's exit code 1 is a conflict.
fn conflict_with(remote: &str, error: GitError) -> GitError {
    match error {
        GitError::Refused { code: 1, .. } => {
            GitError::Refused { code: 1, message: format!("{remote} is in conflict with those before it") }
        }
        error => error,
    }
}
