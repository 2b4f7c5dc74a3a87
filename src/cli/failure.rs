//! The failure of a command: kind, cause, hints. The kind decides the exit code.

use std::io;
use std::path::Path;

use memories_document::types::hint::{Advice, Hint, Remedy, hint_of_limit, with_causes};

/// The kind of a failure, by its remedy. Nothing else decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The command line is wrong: 2.
    Usage,
    /// The same command may succeed later: 3.
    TryAgain,
    /// Refused or failed; the user can fix it: 4.
    User,
    /// The reader of the output has closed the pipe: 0.
    ClosedPipe,
}

impl FailureKind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            FailureKind::ClosedPipe => 0,
            FailureKind::Usage => Remedy::CommandLine.exit_code(),
            FailureKind::TryAgain => Remedy::Retry.exit_code(),
            FailureKind::User => Remedy::Fix.exit_code(),
        }
    }
}

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: FailureKind,
    /// The error with its chain of causes.
    pub cause: anyhow::Error,
    /// Next steps for the user, in order of usefulness.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that the user can fix.
    pub(crate) fn user(problem: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::User, ..Failure::usage(problem) }
    }

    /// A failure that the user can fix, with the error that caused it.
    pub(crate) fn caused(problem: impl Into<String>, error: impl Into<anyhow::Error>) -> Failure {
        let error = error.into();
        let hint = error.downcast_ref().and_then(hint_of_limit);
        let hints = hint.into_iter().map(str::to_owned).collect();
        Failure { kind: FailureKind::User, cause: error.context(problem.into()), hints }
    }

    /// A wrong command line.
    pub(crate) fn usage(problem: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Usage, cause: anyhow::Error::msg(problem.into()), hints: Vec::new() }
    }

    /// The failure with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
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
        let kind = match remedy {
            Remedy::Retry => FailureKind::TryAgain,
            Remedy::CommandLine => FailureKind::Usage,
            Remedy::Fix => FailureKind::User,
        };
        let cause = anyhow::Error::from(error);
        let is_closed_pipe =
            cause.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe);
        Failure { kind: if is_closed_pipe { FailureKind::ClosedPipe } else { kind }, cause, hints }
    }
}
