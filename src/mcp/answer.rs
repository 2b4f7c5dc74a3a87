//! What a tool says: an answer as text and as values, or why it did nothing and what to do next.

use serde_json::{Value, json};

use crate::types::hint::Hint;
use crate::types::{Memory, Scope, Status};

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
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Answer {
        Answer { text: text.into(), data, warnings: Vec::new() }
    }
}

/// Why a tool did nothing, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What failed, on what, why.
    pub problem: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Refusal {
    /// A refusal without a hint.
    pub(crate) fn new(problem: impl Into<String>) -> Refusal {
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

impl<E: Hint + std::error::Error> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal { hints: error.advice().hints, ..Refusal::of(&error) }
    }
}

/// A memory as answers show it. `relevance` is from 0 to 1.
pub(crate) fn memory_value(scope: &Scope, memory: &Memory, relevance: f64) -> Value {
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
pub(crate) fn memory_text(number: usize, scope: &Scope, name: &str, memory: &Memory, note: &str) -> String {
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
