//! A prompt about stored memories: instructions, and data behind a fence that it cannot close.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::llm::fence::fenced;
use crate::llm::{Model, ModelError, ModelUse, Question};
use crate::redact::redacted;
use crate::search::named::number_mark;
use crate::types::text::truncate;
use crate::types::{Memory, Persistence, Status};

/// Memories that a model is shown.
pub(super) const MAX_MEMORIES: usize = 40;

/// Longest text of one memory in a prompt, in characters.
pub(super) const TEXT_CHARS: usize = 1200;

/// A question to a model, with its data and the schema of the answer.
pub(crate) struct Prompt<'a> {
    /// The role and the task of the model.
    pub(crate) system: &'a str,
    /// The name of the answer's schema.
    pub(crate) schema_name: &'a str,
    /// The answer's schema.
    pub(crate) schema: Value,
    /// The name of the data block, as the instructions use it.
    pub(crate) block: &'a str,
    /// The data, without secrets.
    pub(crate) data: Value,
}

impl Prompt<'_> {
    /// The text of the answer, and what it cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`].
    pub(crate) fn ask(&self, model: &dyn Model) -> Result<(String, ModelUse), ModelError> {
        let answer = model.ask(&Question {
            system: self.system,
            examples: &[],
            prompt: &fenced(self.block, &self.data),
            schema_name: self.schema_name,
            schema: &self.schema,
        })?;
        // Afterwards, because a provider may learn only by asking which model it has.
        let used = ModelUse::answered(model.name(), &answer);
        Ok((answer.text, used))
    }

    /// The answer as `read` understands it, and what it cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; an answer that `read` rejects is [`ModelError::Unusable`].
    pub(crate) fn ask_and_read<T>(
        &self,
        model: &dyn Model,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<(T, ModelUse), ModelError> {
        let (text, used) = self.ask(model)?;
        match read(&text) {
            Ok(answer) => Ok((answer, used)),
            Err(problem) => Err(ModelError::Unusable { used: Box::new(used), problem }),
        }
    }
}

/// The first `limit` items in the order of `key`, arranged as they were before. Of equal ones, the first
/// are taken.
pub(super) fn first_by<T, K: Ord>(items: Vec<T>, limit: usize, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut ranked: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    ranked.sort_by_key(|(_, item)| key(item));
    ranked.truncate(limit);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, item)| item).collect()
}

/// The order of memories to show: live ones first, then core and DANGER, then by importance, then the newest.
pub(super) fn weight(memory: &Memory) -> impl Ord + use<> {
    let first = memory.persistence == Persistence::Core || memory.category.is_danger();
    let when = (memory.provenance.episode, memory.provenance.turns.map(|turns| turns.last));
    Reverse((memory.is_live(), first, memory.importance(), when))
}

/// A memory as a prompt shows it.
pub(super) fn memory_json(number: usize, memory: &Memory) -> Value {
    let fields = &memory.provenance;
    let mut value = json!({
        "number": number_mark(number),
        "category": memory.category,
        "title": redacted(&memory.title),
        "text": truncate(redacted(&memory.text).trim(), TEXT_CHARS),
        "importance": memory.importance(),
    });
    if let Some(episode) = fields.episode {
        value["episode"] = json!(episode);
    }
    if let Some(turns) = fields.turns {
        value["turn"] = json!(turns.first);
    }
    if memory.persistence != Persistence::Permanent {
        value["persistence"] = json!(memory.persistence);
    }
    if memory.status != Status::Active {
        value["status"] = json!(memory.status);
    }
    value
}
