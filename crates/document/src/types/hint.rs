//! Hints: the next step for the reader of an error. The command line and the MCP server show the same hints.

use std::error::Error;
use std::io;
use std::iter::successors;

/// The hint for a file of a newer format.
pub const NEWER_FORMAT: &str = "install the newest `memories`; until then the file can be read, not written";

/// How to resolve a conflict that a merge left in a file.
pub const RESOLVE: &str = "keep what is true of both sides and remove the lines with the markers";

/// The same, where the program may do it: git still has the versions of both sides.
pub const MERGE_OR_RESOLVE: &str = "`memories merge --resolve` merges what git left, by what it means; or keep what is true of both sides and remove the lines with the markers";

/// The change after which the same call can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// None: the same call may succeed later.
    Retry,
    /// The command line or the arguments of the call.
    CommandLine,
    /// Anything else: the input, the file, the disk, the settings.
    Fix,
}

impl Remedy {
    /// The exit code of a command that needs this; answers of MCP state the same number.
    pub fn exit_code(self) -> u8 {
        match self {
            Remedy::CommandLine => 2,
            Remedy::Retry => 3,
            Remedy::Fix => 4,
        }
    }
}

/// The advice that comes with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The kind of change that is needed; decides the exit code of the command line.
    pub remedy: Remedy,
    /// The next steps, in lower case without a full stop.
    pub hints: Vec<String>,
}

impl Advice {
    /// Wait, then try again.
    pub fn retry(hint: impl Into<String>) -> Advice {
        Advice { remedy: Remedy::Retry, hints: vec![hint.into()] }
    }

    /// Word the call differently.
    pub fn command_line(hint: impl Into<String>) -> Advice {
        Advice { remedy: Remedy::CommandLine, hints: vec![hint.into()] }
    }

    /// Change something else first.
    pub fn fix(hint: impl Into<String>) -> Advice {
        Advice { remedy: Remedy::Fix, hints: vec![hint.into()] }
    }
}

/// An error and its causes on one line: `cannot write `x`: no space left`.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in successors(Some(error), |&error| error.source()) {
        let text = cause.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// An error that tells its reader what to do next.
pub trait Hint {
    /// The advice for this error.
    fn advice(&self) -> Advice;
}

/// The input or the output of a command failed.
impl Hint for io::Error {
    fn advice(&self) -> Advice {
        let hint = "check the input and output of the command; what was stored is kept";
        Advice::fix(hint_of_limit(self).unwrap_or(hint))
    }
}

/// The hint for an error that says that a limit of the process or of the system is too low; `None` for any other.
pub fn hint_of_limit(error: &io::Error) -> Option<&'static str> {
    if error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_some() {
        return Some("allow larger files, for example with `ulimit -f unlimited`");
    }
    let is_out_of_files = cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE));
    is_out_of_files
        .then_some("allow more open files, for example with `ulimit -n 256`, or close some programs")
}

/// Numbers of errors that are the same on all Unix systems: the system, or the process, has too many open files.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

/// An error that all callers treat alike: its text, and the advice for its reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Refused {
    /// The failure in one sentence: what was tried, on which thing, and why it failed.
    pub problem: String,
    /// The next steps.
    pub advice: Advice,
}

impl Refused {
    /// An error that its reader can mend.
    pub fn fix(problem: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused { problem: problem.into(), advice: Advice::fix(hint) }
    }
}

impl Hint for Refused {
    fn advice(&self) -> Advice {
        self.advice.clone()
    }
}
