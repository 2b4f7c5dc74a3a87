//! Why a command failed, and the exit code that says whose turn it is.

use std::io;

use crate::chat::digest::DigestError;
use crate::chat::extract::ExtractError;
use crate::chat::inject::InjectError;
use crate::document::DocumentError;
use crate::llm::ModelError;
use crate::recall::RecallError;
use crate::record::turn::TurnError;
use crate::record::{PlaceError, RecordError};
use crate::search::SearchError;
use crate::store::{ErrorKind, StoreError, UpdateError};
use crate::transfer::TransferError;
use crate::types::ScopeError;

/// What a failure means for the caller; decides the exit code and nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
    pub fn exit_code(self) -> u8 {
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
pub struct Failure {
    /// What it means for the caller.
    pub kind: Kind,
    /// What failed, on what, why.
    pub cause: anyhow::Error,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that the user can fix.
    pub fn user(cause: impl Into<anyhow::Error>) -> Failure {
        Failure { kind: Kind::User, cause: cause.into(), hints: Vec::new() }
    }

    /// A wrong command line.
    pub fn usage(problem: impl Into<String>) -> Failure {
        Failure { kind: Kind::Usage, cause: anyhow::Error::msg(problem.into()), hints: Vec::new() }
    }

    /// The same failure with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The causes in one line: `cannot write `x`: no space left`.
    pub fn message(&self) -> String {
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

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let kind = match error.kind() {
            ErrorKind::TryAgain => Kind::TryAgain,
            ErrorKind::UserCanFix => Kind::User,
        };
        let hint = error.hint();
        Failure { kind, cause: error.into(), hints: vec![hint.to_owned()] }
    }
}

impl<E: Into<Failure>> From<UpdateError<E>> for Failure {
    fn from(error: UpdateError<E>) -> Failure {
        match error {
            UpdateError::Store(error) => error.into(),
            UpdateError::Edit(error) => error.into(),
        }
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Failure {
        Failure::user(error).hint("mend the file by hand; `memories check` shows its problems")
    }
}

impl From<DigestError> for Failure {
    fn from(error: DigestError) -> Failure {
        match error {
            DigestError::UnknownPlace(_) => Failure::user(error)
                .hint("`memories list` shows the places; a message says where it was said by `location`"),
            DigestError::Store(error) => error.into(),
            DigestError::Document(error) => error.into(),
        }
    }
}

impl From<ExtractError> for Failure {
    fn from(error: ExtractError) -> Failure {
        match error {
            ExtractError::Store(error) => error.into(),
            ExtractError::Document(error) => error.into(),
        }
    }
}

impl From<InjectError> for Failure {
    fn from(error: InjectError) -> Failure {
        match error {
            InjectError::NotRequest(problem) => {
                let hint =
                    "send a request such as {\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}";
                Failure::user(anyhow::anyhow!("stdin holds no chat request: {problem}")).hint(hint)
            }
            InjectError::Search(error) => error.into(),
        }
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Failure {
        let hint = error.hint();
        Failure::user(error).hint(hint)
    }
}

impl From<ScopeError> for Failure {
    fn from(error: ScopeError) -> Failure {
        let failure = Failure::usage(error.to_string());
        failure.hint("a scope is an id such as `23`, `npc:troll`, `world`, `agent:alex`, `scene`, `dialogue`, or a place's name")
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Failure {
        let hint = error.hint();
        Failure::user(error).hint(hint)
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Failure {
        match error {
            ModelError::Settings { problem, hint } => Failure::user(anyhow::Error::msg(problem)).hint(hint),
            ModelError::Unreachable { .. } => Failure { kind: Kind::TryAgain, ..Failure::user(error) },
            other => Failure::user(other),
        }
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Failure {
        let hints = match &error {
            PlaceError::None => vec!["say where it happened: `--location 64`".to_owned()],
            PlaceError::Unknown { nearest, .. } => {
                let way = "give the engine's id, or `--new-place` for the next free one".to_owned();
                nearest_hint(nearest).into_iter().chain([way]).collect()
            }
            PlaceError::Ambiguous { candidates, .. } => {
                let ids: Vec<String> = candidates.iter().map(u64::to_string).collect();
                vec![format!("give the id, one of {}", ids.join(", "))]
            }
        };
        Failure { hints, ..Failure::user(error) }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        match error {
            RecordError::Store(error) => error.into(),
            RecordError::Document(error) => error.into(),
            RecordError::Place(error) => error.into(),
        }
    }
}

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Failure {
        let hint = match &error {
            RecallError::Store(_) => None,
            RecallError::Read { .. } => Some("try again".to_owned()),
            RecallError::UnknownName { nearest, .. } => Some(
                nearest_hint(nearest).unwrap_or_else(|| "`memories list` shows what there is".to_owned()),
            ),
            RecallError::AmbiguousName { candidates, .. } => {
                let scopes: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                Some(format!("say which one: {}", scopes.join(", ")))
            }
        };
        match error {
            RecallError::Store(error) => error.into(),
            other => Failure { hints: hint.into_iter().collect(), ..Failure::user(other) },
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        match error {
            SearchError::EmptyQuestion => Failure::usage(error.to_string())
                .hint("ask in words, such as `memories query 'where is the key?'`"),
            SearchError::Store(error) => error.into(),
            SearchError::Embed(error) => {
                let kind = if error.passing { Kind::TryAgain } else { Kind::User };
                let hint = error.hint.clone();
                Failure { kind, ..Failure::user(error).hint(hint) }
            }
        }
    }
}

/// `did you mean …`, where there is anything near.
pub fn nearest_hint(nearest: &[String]) -> Option<String> {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}
