//! A prompt about stored memories: instructions, and data behind a fence that it cannot close.

use std::cmp::Reverse;

use serde_json::{Value, json};

use memories_document::types::text::truncate;
use memories_document::types::{Memory, Persistence, Status};
use memories_llm::redact::redacted;
use memories_search::named::number_mark;

/// Memories that a model is shown.
pub(super) const MAX_MEMORIES: usize = 40;

/// Longest text of one memory in a prompt, in characters.
pub(super) const TEXT_CHARS: usize = 1200;

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
