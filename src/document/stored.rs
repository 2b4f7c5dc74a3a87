//! The stored form of a memory.

use crate::document::text::{stored_line, stored_text, stored_title};
use crate::memory::Memory;

/// A memory in its stored form: what writing it and reading it back gives.
pub fn stored(memory: &Memory) -> Memory {
    let one_line = |text: &Option<String>| text.as_deref().map(stored_line).filter(|line| !line.is_empty());
    let mut provenance = memory.provenance.clone();
    provenance.goal = one_line(&provenance.goal);
    provenance.tags.retain(|tag| !tag.is_empty());
    provenance.importance = provenance.importance.map(|importance| importance.clamp(1, 1000));
    let text = stored_text(&memory.text);
    let mut title = stored_title(&memory.title);
    if title.is_empty() {
        title = stored_title(&text.split_whitespace().take(6).collect::<Vec<_>>().join(" "));
    }
    if title.is_empty() {
        title = "Untitled".to_owned();
    }
    Memory {
        category: memory.category.clone(),
        persistence: memory.persistence,
        status: memory.status,
        title,
        text,
        context: one_line(&memory.context),
        see_also: one_line(&memory.see_also),
        provenance,
        reference: memory.reference.clone(),
    }
}
