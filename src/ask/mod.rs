//! What asks a model about stored memories: an answer, a summary, a plan to consolidate.
//!
//! Memories enter, and a model; what the model makes of them leaves, checked. It always holds that
//!
//! * memories reach a prompt as data behind a fence, without what looks like a secret;
//! * an answer that names no memory which was shown is not believed;
//! * nothing here locks or writes: [`consolidate::settle`] edits documents, and the caller, who asked
//!   the model before, writes them in one step.

pub mod answer;
pub mod consolidate;
mod grounded;
mod guard;
pub mod plan;
pub mod summary;

pub use grounded::first_sentences;

use serde_json::{Value, json};

use crate::llm::data::fenced;
use crate::llm::{Model, ModelError, ModelUse, Question};
use crate::redact::mask;
use crate::types::text::truncate;
use crate::types::{Memory, Persistence, Status};

/// Longest text of one memory in a prompt, in characters.
const TEXT_CHARS: usize = 1200;

/// What a model is asked: instructions, and data behind a fence.
pub struct Matter<'a> {
    /// Who the model is and what it must do.
    pub system: &'a str,
    /// The name of the answer's schema.
    pub schema_name: &'a str,
    /// The answer's schema.
    pub schema: Value,
    /// What the block of data is called in the instructions.
    pub block: &'a str,
    /// The data, without secrets.
    pub data: Value,
}

impl Matter<'_> {
    /// The model's words, and what they cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`].
    pub fn ask(&self, model: &dyn Model) -> Result<(String, ModelUse), ModelError> {
        let answer = model.ask(&Question {
            system: self.system,
            prompt: &fenced(self.block, &self.data),
            schema_name: self.schema_name,
            schema: &self.schema,
        })?;
        // Afterwards, because a provider may learn only by asking which model it has.
        Ok((answer.text, ModelUse { name: model.name(), usage: answer.usage, error: None }))
    }
}

/// An answer that cannot be used.
fn garbled(model: &ModelUse, problem: String) -> ModelError {
    ModelError::Garbled { at: model.name.clone(), problem }
}

/// A text without what looks like a secret.
pub fn masked(text: &str) -> String {
    mask(text).map_or_else(|| text.to_owned(), |masked| masked.text)
}

/// A memory as a prompt shows it.
fn shown(number: usize, memory: &Memory) -> Value {
    let fields = &memory.provenance;
    let mut value = json!({
        "number": number,
        "category": memory.category,
        "title": masked(&memory.title),
        "text": truncate(masked(&memory.text).trim(), TEXT_CHARS),
        "importance": memory.importance(),
    });
    let mut add = |name: &str, said: Option<Value>| {
        if let Some(said) = said {
            value[name] = said;
        }
    };
    add("episode", fields.episode.map(|episode| json!(episode)));
    add("turn", fields.turns.map(|turns| json!(turns.first)));
    add("persistence", (memory.persistence != Persistence::Permanent).then(|| json!(memory.persistence)));
    add("status", (memory.status != Status::Active).then(|| json!(memory.status)));
    value
}
