//! The stored form of a memory.

use crate::field::is_date;
use crate::fields::{parse_fields, write_fields};
use crate::text::{stored_line, stored_text, stored_title};
use crate::types::{Cause, Memory, Moment, Provenance, Reference, Span};

/// A memory in its stored form: the result of writing it and reading it back.
pub fn stored(memory: &Memory) -> Memory {
    let one_line = |text: &Option<String>| text.as_deref().map(stored_line).filter(|line| !line.is_empty());
    let mut provenance = memory.provenance.clone();
    provenance.goal = one_line(&provenance.goal);
    provenance.tags.retain(|tag| !tag.is_empty());
    provenance.importance = provenance.importance.map(|importance| importance.clamp(1, 1000));
    // A range that goes down is not read as one.
    for span in [&mut provenance.turns, &mut provenance.messages].into_iter().flatten() {
        *span = Span { first: span.first.min(span.last), last: span.first.max(span.last) };
    }
    let provenance = stored_fields(provenance);
    let text = stored_text(&memory.text);
    let mut title = stored_title(&memory.title);
    if title.is_empty() {
        title = stored_title(&text.split_whitespace().take(6).collect::<Vec<_>>().join(" "));
    }
    if title.is_empty() {
        title = "Untitled".to_owned();
    }
    Memory {
        title,
        text,
        context: one_line(&memory.context),
        see_also: one_line(&memory.see_also),
        provenance,
        // Only a superseded entry has a reference line; elsewhere the line would be text.
        reference: memory.reference.as_ref().filter(|_| !memory.is_live()).map(stored_reference),
        ..memory.clone()
    }
}

/// Fields of free text in the form in which they are read back: `a, b` is two fields, `#x` is a tag.
fn stored_fields(fields: Provenance) -> Provenance {
    if fields.date.is_none() && fields.other.is_empty() && fields.sources.is_empty() {
        return fields;
    }
    parse_fields(&stored_line(&write_fields(&fields)))
}

fn stored_reference(reference: &Reference) -> Reference {
    let date = reference.at.date.clone().filter(|date| is_date(date) && !date.contains('"'));
    let cause = match &reference.cause {
        Cause::SupersededBy(title) => Cause::SupersededBy(stored_line(title)),
        Cause::Invalidated(reason) => Cause::Invalidated(stored_line(reason)),
    };
    Reference { at: Moment { date, ..reference.at.clone() }, cause }
}
