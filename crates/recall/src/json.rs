//! Answers of `recall` and `tried` as values: for `--json`, and for programs that ask by MCP.

use serde_json::{Value, json};

use crate::budget::estimate_tokens;
use crate::{Evidence, Linked, View};
use memories_document::types::model_text::ModelText;
use memories_document::types::{Memory, MemoryObject, Scope};
use memories_document::{Note, Section};
use memories_notebook::MemoryObjects;

/// The answer of `recall`: its text, and the parts of each scope.
pub fn recalled(text: &ModelText, scopes: &[Value]) -> Value {
    json!({"tokens": estimate_tokens(text), "text": text, "scopes": scopes})
}

/// The part of a scope in the answer of `recall`.
pub fn view(objects: &MemoryObjects<'_>, view: &View) -> Value {
    let memories = view.memories.iter().map(|piece| objects.object(&view.scope, &view.name, &piece.value));
    let linked = view.linked.iter().map(|piece| &piece.value);
    let linked = linked.map(|Linked { scope, name, memory }| objects.object(scope, name, memory));
    let notes: Vec<&Note> = view.notes.iter().map(|piece| &piece.value).collect();
    let mut value = json!({
        "scope": view.scope, "name": view.name, "visits": view.visits, "episodes": view.episodes,
        "memories": memories.collect::<Vec<_>>(), "linked": linked.collect::<Vec<_>>(),
        "ways": view.actions.ways, "worked": view.actions.worked, "seen": view.actions.seen, "tried": view.actions.tried,
        "not_understood": view.actions.not_understood,
        "notes": notes, "memories_left_out": view.memories_left_out, "ways_left_out": view.ways_left_out,
        "worked_left_out": view.worked_left_out, "seen_left_out": view.seen_left_out, "tried_left_out": view.tried_left_out,
        "notes_left_out": view.notes_left_out,
    });
    if let Some(next) = &view.actions.best_run {
        value["best_run"] = json!(next);
    }
    value
}

/// The answer of `tried` about an action at a place.
pub fn tried(objects: &MemoryObjects<'_>, scope: &Scope, section: &Section, evidence: &Evidence) -> Value {
    let is_named = |memory: &&Memory| memory.is_live() && evidence.memories.contains(&memory.title);
    let named = section.memories.iter().filter(is_named);
    let memories: Vec<MemoryObject> =
        named.map(|memory| objects.object(scope, &section.name, memory)).collect();
    evidence.to_json(scope, &memories)
}
