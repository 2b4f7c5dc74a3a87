//! Runs git with a reduced environment.
//!
//! A folder and arguments enter; the output of git leaves. Variables of git itself are passed on, keys are not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cli::failure::Failure;
use crate::cli::settings::for_programs;

/// A call of git that failed.
#[derive(Debug)]
pub(crate) enum GitError {
    /// Git cannot be started.
    Missing(std::io::Error),
    /// Git ended with an exit code other than 0; the message is the first one, without `fatal: `.
    Refused { code: i32, message: String },
}

impl GitError {
    /// True if the folder is in no repository.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, GitError::Refused { message, .. } if message.starts_with("not a git repository"))
    }

    /// The message of git where it refuses the repository because somebody else owns it.
    pub(crate) fn of_other_owner(&self) -> Option<&str> {
        match self {
            GitError::Refused { message, .. } if message.contains("dubious ownership") => Some(message),
            _ => None,
        }
    }
}

/// Git, to be run in a folder with these arguments.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.env_clear().envs(for_programs(|name| name.starts_with("GIT_")));
    // Its messages are read.
    command.env("LC_ALL", "C.UTF-8").current_dir(folder).args(arguments);
    command
}

/// Git in a repository that nobody here trusts, to be given arguments that start no program of it. It knows no variable
/// of git, and fetches nothing.
pub(crate) fn git_alone(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.env_clear().envs(for_programs(|_| false)).current_dir(root);
    for (name, value) in [
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C.UTF-8"),
    ] {
        command.env(name, value);
    }
    command.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root));
    command.args(["--no-pager", "--literal-pathspecs", "--no-replace-objects", "-c", "core.fsmonitor=false"]);
    command
}

/// Runs git; its output where it ended with 0.
///
/// # Errors
///
/// See [`GitError`].
pub(crate) fn run(mut command: Command) -> Result<Vec<u8>, GitError> {
    output_of(command.output().map_err(GitError::Missing)?)
}

/// Runs git with a text on its stdin.
///
/// # Errors
///
/// See [`GitError`].
pub(crate) fn run_with(mut command: Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitError::Missing)?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input));
    // Where git ends early, its message says more than the broken pipe.
    let output = output_of(child.wait_with_output().map_err(GitError::Missing)?)?;
    written.map(|()| output).map_err(GitError::Missing)
}

/// The first line that git prints.
///
/// # Errors
///
/// See [`GitError`].
pub(crate) fn line(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    first_line(git(folder, arguments))
}

/// Runs a call of git that is ready to run.
///
/// # Errors
///
/// See [`GitError`].
pub(crate) fn first_line(command: Command) -> Result<String, GitError> {
    let output = run(command)?;
    Ok(String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned())
}

/// The root of the work tree around a folder; `hint` says what else can be done where there is none.
///
/// # Errors
///
/// Where there is no git, or no work tree.
pub(crate) fn work_tree(folder: &Path, hint: &str) -> Result<PathBuf, Failure> {
    let root = line(folder, &["rev-parse", "--show-toplevel"]).map_err(|error| {
        let shown = folder.display();
        match &error {
            GitError::Refused { message, .. }
                if error.is_outside() || message.contains("must be run in a work tree") =>
            {
                Failure::user(format!("`{shown}` is not in the work tree of a git repository")).hint(hint)
            }
            _ => failed("find the git repository", &error),
        }
    })?;
    Ok(PathBuf::from(root))
}

/// The failure of a step that git should have done.
pub(crate) fn failed(step: &str, error: &GitError) -> Failure {
    match error {
        GitError::Missing(error) => Failure::user(format!("cannot run `git`: {error}"))
            .hint("install git, and call it once: `git --version`"),
        GitError::Refused { message, .. } => Failure::user(format!("git cannot {step}: {message}"))
            .hint("`git status` shows whether git accepts this folder; check the rights of its `.git`"),
    }
}

/// The output of a call that ended with 0.
fn output_of(Output { status, stdout, stderr }: Output) -> Result<Vec<u8>, GitError> {
    if status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&stderr);
    let message = stderr.lines().next().unwrap_or_default();
    let message = message.trim_start_matches("fatal: ").trim_start_matches("error: ");
    Err(GitError::Refused { code: status.code().unwrap_or(-1), message: message.to_owned() })
}
