//! Results of tools: an answer as text and JSON, or a refusal with hints.

use serde_json::{Value, json};

use memories_document::nearest;
use memories_document::types::frame::{INDENT, continued, indented, one_line, text_below};
use memories_document::types::hint::{Advice, Hint, Remedy, with_causes};
use memories_document::types::instant::day;
use memories_document::types::{Memory, Scope, Status, did_you_mean, written_by};

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text for the model.
    pub text: String,
    /// The answer as an object that conforms to the tool's output schema.
    pub data: Value,
    /// Warnings, appended to the text and sent to the client as log messages.
    pub warnings: Vec<String>,
    /// The answer of the command line with `--json`, where the client asked for it.
    pub for_programs: Option<Value>,
}

impl Answer {
    /// An answer without warnings.
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Answer {
        Answer { text: text.into(), data, warnings: Vec::new(), for_programs: None }
    }
}

/// A refused call: the reason and hints. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The change after which the call can succeed.
    pub remedy: Remedy,
    /// The reason.
    pub problem: String,
    /// Next steps.
    pub hints: Vec<String>,
}

impl Refusal {
    /// A refusal without a hint.
    pub(crate) fn new(problem: impl Into<String>) -> Refusal {
        Refusal { remedy: Remedy::Fix, problem: problem.into(), hints: Vec::new() }
    }

    /// The refusal of wrong arguments.
    pub(crate) fn arguments(problem: impl Into<String>) -> Refusal {
        Refusal { remedy: Remedy::CommandLine, ..Refusal::new(problem) }
    }

    /// The refusal of a name that nothing has, with similar names, else all.
    pub(crate) fn unknown(what: &str, name: &str, names: &[&str]) -> Refusal {
        let near = nearest(name, names.iter().copied(), 3);
        Refusal::new(format!("there is no {what} `{name}`"))
            .hint(did_you_mean(&near).unwrap_or_else(|| format!("there are {}", names.join(", "))))
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hints.push(hint.into());
        self
    }

    /// The text for the model: the problem, then each hint on a line of its own.
    pub fn text(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("\nhint: {}", continued(hint, INDENT)));
        continued(&self.problem, INDENT) + &hints.collect::<String>()
    }

    /// The refusal for programs, with the fields of the command line's JSON and its exit code.
    pub(crate) fn value(&self) -> Value {
        let hint = Some(self.hints.join("; ")).filter(|hint| !hint.is_empty());
        json!({"error": self.problem, "hint": hint, "code": self.remedy.exit_code()})
    }
}

impl<E: Hint + std::error::Error + 'static> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        let Advice { remedy, hints } = error.advice();
        Refusal { remedy, problem: with_causes(&error), hints }
    }
}

/// A memory in the JSON of an answer. `relevance` is from 0 to 1.
pub(crate) fn memory_value(scope: &Scope, memory: &Memory, relevance: f64) -> Value {
    without_nulls(json!({
        "content": memory.text,
        "relevance": (relevance * 1000.0).round() / 1000.0,
        "scope": scope,
        "title": memory.title,
        "category": memory.category,
        "turn": memory.provenance.turns.map(|turns| turns.first),
        "episode": memory.provenance.episode,
        "status": (memory.status == Status::Tentative).then_some(memory.status),
        "writers": Some(memory.writers()).filter(|writers| !writers.is_empty()),
    }))
}

/// An object without its fields that are `null`.
pub(crate) fn without_nulls(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, field| !field.is_null());
    }
    value
}

/// A memory in the text of an answer: category, title, place and time, then its text indented. A line of dialogue
/// names its speaker, so its time stands for its title.
pub(crate) fn memory_text(number: usize, scope: &Scope, name: &str, memory: &Memory, note: &str) -> String {
    let fields = &memory.provenance;
    let time = [("Ep", fields.episode), ("T", fields.turns.map(|turns| turns.first))];
    let time = time.map(|(mark, number)| number.map(|number| format!("{mark}{number}")));
    let time = time.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let is_spoken = *scope == Scope::Dialogue && fields.tags.iter().any(|tag| tag.starts_with("speaker:"));
    if is_spoken && !time.is_empty() && memory.status != Status::Tentative {
        return format!("{number}. {time} ({note}) {}\n", continued(&memory.text, "   "));
    }
    let mut about = vec![one_line(format!("{scope} {name}").trim_end()).into_owned()];
    let date = fields.date.as_deref().filter(|_| fields.episode.is_none()).map(day);
    about.extend(Some(time).filter(|time| !time.is_empty()).or(date));
    if memory.status == Status::Tentative {
        about.push("tentative".to_owned());
    }
    about.extend(memory.told_by());
    about.extend(written_by(&memory.writers()));
    if !note.is_empty() {
        about.push(note.to_owned());
    }
    let title = one_line(&memory.title);
    let text = indented(&text_below(&memory.title, &memory.text), "   ");
    format!("{number}. [{}] {title} ({})\n{text}", memory.category, about.join(", "))
}
