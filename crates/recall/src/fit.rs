//! The cost of a memory in tokens, and how a memory is shortened to the room that is left.

use crate::budget::{cut_at_sentence, estimate_tokens};
use crate::format::Format;
use crate::render::{self, Group};
use memories_document::types::Memory;
use memories_document::types::instant::Instant;

/// Fewest tokens that an entry is shortened to; with less room it is left out.
pub(super) const MIN_CUT: usize = 24;

/// The memory as it fits into what is left, and its cost: whole, or shortened where it would not even
/// fit alone.
pub(super) fn fit_memory(
    memory: Memory,
    left: usize,
    room: usize,
    format: Format,
    now: Option<Instant>,
) -> Option<(Memory, usize)> {
    let cost = cost_of_memory(&memory, format, now);
    if cost <= left {
        return Some((memory, cost));
    }
    if cost <= room || left < MIN_CUT {
        return None;
    }
    let with = |text: &str| Memory { text: text.to_owned(), ..memory.clone() };
    let fits = |text: &str| cost_of_memory(&with(text), format, now) <= left;
    let text = cut_at_sentence(&memory.text, fits).or_else(|| Some("…".to_owned()).filter(|text| fits(text)));
    let memory = with(&text?);
    let cost = cost_of_memory(&memory, format, now);
    Some((memory, cost))
}

fn cost_of_memory(memory: &Memory, format: Format, now: Option<Instant>) -> usize {
    estimate_tokens(&render::render_memory(memory, format, now))
}

/// The cost of memories together, with the headings of their groups.
pub(super) fn cost_of_memories(memories: &[Memory], format: Format, now: Option<Instant>) -> usize {
    let shown = Group::ALL.iter().filter(|group| memories.iter().any(|memory| Group::of(memory) == **group));
    let headings: usize = shown.map(|group| estimate_tokens(group.heading(format))).sum();
    headings + memories.iter().map(|memory| cost_of_memory(memory, format, now)).sum::<usize>()
}
