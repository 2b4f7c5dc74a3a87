//! What a tool says: an answer as text and as values, or why it did nothing and what to do next.

use serde_json::{Value, json};

use crate::document::DocumentError;
use crate::llm::ModelError;
use crate::notebook::correct::CorrectionError;
use crate::recall::RecallError;
use crate::record::turn::TurnError;
use crate::record::{PlaceError, RecordError};
use crate::search::SearchError;
use crate::store::{StoreError, UpdateError};
use crate::types::{Memory, Scope, ScopeError, Status};

/// What a tool has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// For the model that reads it.
    pub text: String,
    /// The same as an object, as the tool's output schema has it.
    pub data: Value,
    /// What may not be as wished; told to the model below the text, and to the client as log.
    pub warnings: Vec<String>,
}

impl Answer {
    /// An answer without warnings.
    pub fn new(text: impl Into<String>, data: Value) -> Answer {
        Answer { text: text.into(), data, warnings: Vec::new() }
    }
}

/// Why a tool did nothing, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What failed, on what, why.
    pub problem: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(problem: impl Into<String>) -> Refusal {
        Refusal { problem: problem.into(), hints: Vec::new() }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hints.push(hint.into());
        self
    }

    /// What the model reads: the problem, and each hint on a line of its own.
    pub fn text(&self) -> String {
        let hints: String = self.hints.iter().map(|hint| format!("\nhint: {hint}")).collect();
        format!("{}{hints}", self.problem)
    }

    /// An error with its causes in one line.
    fn of(error: &dyn std::error::Error) -> Refusal {
        let mut problem = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !problem.contains(&text) {
                problem.push_str(&format!(": {text}"));
            }
            source = cause.source();
        }
        Refusal::new(problem)
    }
}

/// `did you mean …`, where there is anything near; else something else that helps.
pub fn did_you_mean(nearest: &[String], otherwise: &str) -> String {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { otherwise.to_owned() } else { format!("did you mean {}?", quoted.join(" or ")) }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        let hint = error.hint();
        Refusal::of(&error).hint(hint)
    }
}

impl From<DocumentError> for Refusal {
    fn from(error: DocumentError) -> Refusal {
        Refusal::of(&error).hint("a person must mend the file; `memories check` shows its problems")
    }
}

impl From<UpdateError<Refusal>> for Refusal {
    fn from(error: UpdateError<Refusal>) -> Refusal {
        match error {
            UpdateError::Store(error) => error.into(),
            UpdateError::Edit(refusal) => refusal,
        }
    }
}

impl From<ScopeError> for Refusal {
    fn from(error: ScopeError) -> Refusal {
        Refusal::of(&error).hint(
            "a scope is an id such as `23`, `npc:troll`, `agent:alex`, `world`, `scene`, `dialogue`, or a place's name",
        )
    }
}

impl From<RecallError> for Refusal {
    fn from(error: RecallError) -> Refusal {
        let hint = match &error {
            RecallError::Store(_) => None,
            RecallError::Read { .. } => Some("try again".to_owned()),
            RecallError::UnknownName { nearest, .. } => {
                Some(did_you_mean(nearest, "give the place's id, or search all places with `query_memories`"))
            }
            RecallError::AmbiguousName { candidates, .. } => {
                let scopes: Vec<String> = candidates.iter().map(|scope| format!("`{scope}`")).collect();
                Some(format!("say which one: {}", scopes.join(", ")))
            }
        };
        match (error, hint) {
            (RecallError::Store(error), _) => error.into(),
            (other, hint) => Refusal { hints: hint.into_iter().collect(), ..Refusal::of(&other) },
        }
    }
}

impl From<RecordError> for Refusal {
    fn from(error: RecordError) -> Refusal {
        match error {
            RecordError::Store(error) => error.into(),
            RecordError::Document(error) => error.into(),
            RecordError::Place(error) => {
                let hint = match &error {
                    PlaceError::None => "say where it happened: `location`".to_owned(),
                    PlaceError::Unknown { nearest, .. } => {
                        did_you_mean(nearest, "give the game's id, or set `new_place` to true")
                    }
                    PlaceError::Ambiguous { candidates, .. } => {
                        let ids: Vec<String> = candidates.iter().map(u64::to_string).collect();
                        format!("give the id, one of {}", ids.join(", "))
                    }
                };
                let unheard = matches!(&error, PlaceError::Unknown { nearest, .. } if !nearest.is_empty());
                let refusal = Refusal::of(&error).hint(hint);
                if unheard { refusal.hint("a new place wants its id, or `new_place` true") } else { refusal }
            }
        }
    }
}

impl From<TurnError> for Refusal {
    fn from(error: TurnError) -> Refusal {
        let hint = error.hint();
        Refusal::of(&error).hint(hint)
    }
}

impl From<SearchError> for Refusal {
    fn from(error: SearchError) -> Refusal {
        match error {
            SearchError::Store(error) => error.into(),
            SearchError::EmptyQuestion => {
                Refusal::of(&error).hint("ask in words, such as `where is the key?`")
            }
            SearchError::Embed(error) => {
                let hint = error.hint.clone();
                Refusal::of(&error).hint(hint)
            }
        }
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Refusal {
        match error {
            ModelError::Settings { problem, hint } => Refusal::new(problem).hint(hint),
            other => Refusal::of(&other).hint("go on without it, or try again later"),
        }
    }
}

impl From<CorrectionError> for Refusal {
    fn from(error: CorrectionError) -> Refusal {
        let hint = match &error {
            CorrectionError::Unknown { nearest, .. } if nearest.is_empty() => {
                "titles are exact: search for the memory and take `scope` and `title` from the answer"
                    .to_owned()
            }
            CorrectionError::Ambiguous { .. } => {
                "a person must tell them apart in the file: `memories check` shows them".to_owned()
            }
            CorrectionError::Empty("reason") => "say why it is wrong: `reason`".to_owned(),
            CorrectionError::TitleInUse { .. } => {
                "choose another `title`, or supersede that memory".to_owned()
            }
            other => other.hint(),
        };
        Refusal::of(&error).hint(hint)
    }
}

/// A memory as answers show it. `relevance` is from 0 to 1.
pub fn memory_value(scope: &Scope, memory: &Memory, relevance: f64) -> Value {
    let mut value = json!({
        "content": memory.text,
        "relevance": (relevance * 1000.0).round() / 1000.0,
        "scope": scope,
        "title": memory.title,
        "category": memory.category,
    });
    let mut put = |name: &str, said: Option<Value>| {
        if let Some(said) = said {
            value[name] = said;
        }
    };
    put("turn", memory.provenance.turns.map(|turns| json!(turns.first)));
    put("episode", memory.provenance.episode.map(|episode| json!(episode)));
    put("status", (memory.status == Status::Tentative).then(|| json!("tentative")));
    value
}

/// A memory as the text of an answer shows it, its lines ended: what, where, when, then what it says.
pub fn memory_text(number: usize, scope: &Scope, name: &str, memory: &Memory, note: &str) -> String {
    let mut about = vec![format!("{scope} {name}").trim_end().to_owned()];
    let fields = &memory.provenance;
    let time = [("Ep", fields.episode), ("T", fields.turns.map(|turns| turns.first))];
    let time = time.map(|(mark, number)| number.map(|number| format!("{mark}{number}")));
    let time = time.into_iter().flatten().collect::<Vec<_>>().join(" ");
    about.extend(Some(time).filter(|time| !time.is_empty()));
    if memory.status == Status::Tentative {
        about.push("tentative".to_owned());
    }
    if !note.is_empty() {
        about.push(note.to_owned());
    }
    let mut out = format!("{number}. [{}] {} ({})\n", memory.category, memory.title, about.join(", "));
    for line in memory.text.lines() {
        out.push_str(&format!("   {line}\n"));
    }
    out
}
