//! Why a command failed, and the exit code that says whose turn it is.

use std::io;

use crate::types::hint::{Advice, Hint, Remedy};

/// What a failure means for the caller; decides the exit code and nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command line is wrong: 2.
    Usage,
    /// The same command may succeed later: 3.
    TryAgain,
    /// Refused or failed; the user can fix it: 4.
    User,
    /// Whoever read our output has gone: 0.
    ClosedPipe,
}

impl Kind {
    /// The exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Kind::ClosedPipe => 0,
            Kind::Usage => 2,
            Kind::TryAgain => 3,
            Kind::User => 4,
        }
    }
}

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What it means for the caller.
    pub kind: Kind,
    /// What failed, on what, why.
    pub cause: anyhow::Error,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that the user can fix.
    pub(crate) fn user(cause: impl Into<anyhow::Error>) -> Failure {
        Failure { kind: Kind::User, cause: cause.into(), hints: Vec::new() }
    }

    /// A wrong command line.
    pub(crate) fn usage(problem: impl Into<String>) -> Failure {
        Failure { kind: Kind::Usage, cause: anyhow::Error::msg(problem.into()), hints: Vec::new() }
    }

    /// The same failure with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The causes in one line: `cannot write `x`: no space left`.
    pub(crate) fn message(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for cause in self.cause.chain() {
            let text = cause.to_string();
            if !parts.iter().any(|part| part.contains(&text)) {
                parts.push(text);
            }
        }
        parts.join(": ")
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::ClosedPipe } else { Kind::User };
        let hint = "check where the input comes from and the output goes; what was stored stays stored";
        Failure { kind, cause: error.into(), hints: vec![hint.to_owned()] }
    }
}

impl<E: Hint + std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        let Advice { remedy, hints } = error.advice();
        let kind = match remedy {
            Remedy::Retry => Kind::TryAgain,
            Remedy::CommandLine => Kind::Usage,
            Remedy::Fix => Kind::User,
        };
        Failure { kind, cause: error.into(), hints }
    }
}
