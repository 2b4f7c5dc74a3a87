//! The failure of a command: remedy, cause, hints. The remedy decides the exit code.

use std::io;
use std::path::Path;

use memories_document::types::hint::{Advice, Hint, Remedy, hint_of_limit, with_causes};

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The change after which the command can succeed; `None` where the reader of the output has closed the pipe.
    pub remedy: Option<Remedy>,
    /// The error with its chain of causes.
    pub cause: anyhow::Error,
    /// Next steps for the user, in order of usefulness.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that the user can fix.
    pub(crate) fn user(problem: impl Into<String>) -> Failure {
        Failure { remedy: Some(Remedy::Fix), ..Failure::usage(problem) }
    }

    /// A failure that the user can fix, with the error that caused it.
    pub(crate) fn caused(problem: impl Into<String>, error: impl Into<anyhow::Error>) -> Failure {
        let error = error.into();
        let hint = error.downcast_ref().and_then(hint_of_limit);
        let hints = hint.into_iter().map(str::to_owned).collect();
        Failure { remedy: Some(Remedy::Fix), cause: error.context(problem.into()), hints }
    }

    /// A wrong command line.
    pub(crate) fn usage(problem: impl Into<String>) -> Failure {
        let cause = anyhow::Error::msg(problem.into());
        Failure { remedy: Some(Remedy::CommandLine), cause, hints: Vec::new() }
    }

    /// The failure with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The exit code of the command. A closed pipe is no error.
    pub(crate) fn exit_code(&self) -> u8 {
        self.remedy.map_or(0, Remedy::exit_code)
    }

    /// The causes in one line: `cannot write `x`: no space left`.
    pub(crate) fn message(&self) -> String {
        with_causes(self.cause.as_ref())
    }
}

/// The failure of reading a file.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Failure {
    Failure::caused(format!("cannot read `{}`", path.display()), error)
}

impl<E: Hint + std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        let Advice { remedy, hints } = error.advice();
        let cause = anyhow::Error::from(error);
        let is_closed_pipe =
            cause.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe);
        Failure { remedy: (!is_closed_pipe).then_some(remedy), cause, hints }
    }
}
