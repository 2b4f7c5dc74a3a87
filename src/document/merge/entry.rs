//! Merges the versions of one entry.
//!
//! The base's version, where there is one, and those of both sides enter; an [`Outcome`] leaves. Lines that only one
//! side changed keep their bytes.

use std::cell::OnceCell;

use crate::document::entry_text::EntryText;
use crate::document::grammar;
use crate::document::link::Link;
use crate::document::merge::values::{Three, set};
use crate::document::scan;
use crate::document::splice::render_entry;
use crate::document::text::{Fences, mark_comments};
use crate::types::text::fold_spaces;
use crate::types::{Memory, Persistence, Provenance, Reference, Span, Status, fold_title};

/// An entry as one text has it.
#[derive(Debug)]
pub(super) struct Version<'a> {
    /// Its lines, from the first to the last that is not blank.
    pub(super) raw: &'a str,
    status: Status,
    memory: OnceCell<Memory>,
}

impl<'a> Version<'a> {
    pub(super) fn new(raw: &'a str, status: Status) -> Version<'a> {
        Version { raw, status, memory: OnceCell::new() }
    }

    /// The memory, read at the first call.
    pub(super) fn memory(&self) -> &Memory {
        self.memory.get_or_init(|| EntryText::new(self.raw, self.status).read())
    }

    pub(super) fn is_live(&self) -> bool {
        self.status != Status::Superseded
    }

    /// True if both have the same lines, whatever their line endings.
    pub(super) fn is_same(&self, other: &Version<'_>) -> bool {
        same_lines(self.raw, other.raw)
    }

    fn body(&self) -> &'a str {
        self.raw.split_once('\n').map_or("", |(_, body)| body)
    }

    fn first_line(&self) -> &'a str {
        self.raw.split_once('\n').map_or(self.raw, |(line, _)| line).trim_end_matches('\r')
    }
}

/// True if two texts have the same lines, whatever their line endings.
pub(super) fn same_lines(one: &str, other: &str) -> bool {
    one.trim_end() == other.trim_end() || one.lines().eq(other.lines())
}

/// True if two texts are the same but for case and surplus space.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    one == other || fold_spaces(one).to_lowercase() == fold_spaces(other).to_lowercase()
}

/// When a memory was learned: later ones have greater values.
pub(super) fn origin(memory: &Memory) -> (Option<u64>, Option<u64>, Option<u64>, Option<&str>) {
    let Provenance { episode, turns, messages, date, .. } = &memory.provenance;
    let last = |span: Option<Span>| span.map(|span| span.last);
    (*episode, last(*turns), last(*messages), date.as_deref())
}

/// One of the two sides of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// The result of merging an entry that both sides have.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The entry as that side has it.
    As(Side),
    /// New lines, each ended by `\n`.
    New(String),
    /// One side superseded it, and the other edited its words: both stay.
    Both,
    /// Both sides edited its words.
    Conflict,
}

/// Merges an entry that both sides have; without a base, both added it.
pub(super) fn merge_entry(
    base: Option<&Version<'_>>,
    ours: &Version<'_>,
    theirs: &Version<'_>,
    fences: Fences,
) -> Outcome {
    if ours.is_same(theirs) || base.is_some_and(|base| theirs.is_same(base)) {
        return Outcome::As(Side::Ours);
    }
    if base.is_some_and(|base| ours.is_same(base)) {
        return Outcome::As(Side::Theirs);
    }
    let Some(base) = base else {
        let merged = merge_added(ours.memory(), theirs.memory());
        return Outcome::New(lines_of(&merged, None, ours, theirs, fences));
    };
    if base.is_live() && ours.is_live() != theirs.is_live() {
        let edited = if ours.is_live() { ours } else { theirs };
        if !same_claim(edited.memory(), base.memory()) {
            return Outcome::Both;
        }
    }
    match merge_memories(base.memory(), ours.memory(), theirs.memory()) {
        Some(merged) => Outcome::New(lines_of(&merged, Some(base), ours, theirs, fences)),
        None => Outcome::Conflict,
    }
}

/// True if two memories claim the same: what else they have are remarks about them.
fn same_claim(one: &Memory, other: &Memory) -> bool {
    one.category == other.category && same_words(&one.text, &other.text) && one.context == other.context
}

/// Merges what both sides added with the same words: the earlier one, with what the other has besides.
fn merge_added(ours: &Memory, theirs: &Memory) -> Memory {
    let is_later = (origin(ours), &ours.text) > (origin(theirs), &theirs.text);
    let (first, other) = if is_later { (theirs, ours) } else { (ours, theirs) };
    let mut merged = first.clone();
    if fold_title(&first.title) != fold_title(&other.title) {
        // One of them has a number, which tells it from another entry of that side.
        merged.title =
            [&first.title, &other.title].into_iter().max_by_key(|title| title.len()).expect("two").clone();
    }
    merged.status = strongest([first.status, other.status]);
    merged.persistence = lasting([first.persistence, other.persistence]);
    merged.reference = first.reference.clone().or_else(|| other.reference.clone());
    merged.context = first.context.clone().or_else(|| other.context.clone());
    let none = None;
    merged.see_also = merge_links(&none, &first.see_also, &other.see_also);
    let (one, more) = (&first.provenance, &other.provenance);
    merged.provenance.importance = one.importance.max(more.importance);
    merged.provenance.sources = set(&[], &one.sources, &more.sources);
    merged.provenance.tags = set(&[], &one.tags, &more.tags);
    merged.provenance.other = set(&[], &one.other, &more.other);
    merged
}

/// Merges field by field; `None` where both sides say something else.
fn merge_memories(base: &Memory, ours: &Memory, theirs: &Memory) -> Option<Memory> {
    let three = Three { base, ours, theirs };
    let text = match same_words(&ours.text, &theirs.text) {
        true => ours.text.clone(),
        false => three.of(|memory| &memory.text).agreed()?,
    };
    Some(Memory {
        category: three.of(|memory| &memory.category).agreed()?,
        title: three.of(|memory| &memory.title).agreed()?,
        text,
        context: three.of(|memory| &memory.context).agreed()?,
        persistence: three.of(|memory| &memory.persistence).or(|one, other| lasting([*one, *other])),
        status: three.of(|memory| &memory.status).or(|one, other| strongest([*one, *other])),
        reference: three.of(|memory| &memory.reference).or(later_reference),
        see_also: merge_links(&base.see_also, &ours.see_also, &theirs.see_also),
        provenance: merge_fields(three.of(|memory| &memory.provenance))?,
    })
}

fn merge_fields(three: Three<'_, Provenance>) -> Option<Provenance> {
    let last = |span: &Option<Span>| span.map(|span| (span.last, span.first));
    let later = |one: &Option<_>, other: &Option<_>| if last(one) > last(other) { *one } else { *other };
    Some(Provenance {
        episode: three.of(|fields| &fields.episode).greatest(),
        turns: three.of(|fields| &fields.turns).or(later),
        messages: three.of(|fields| &fields.messages).or(later),
        score_change: three.of(|fields| &fields.score_change).greatest(),
        date: three.of(|fields| &fields.date).greatest(),
        importance: three.of(|fields| &fields.importance).greatest(),
        score: three.of(|fields| &fields.score).greatest(),
        moves: three.of(|fields| &fields.moves).greatest(),
        sources: three.set(|fields| &fields.sources),
        tags: three.set(|fields| &fields.tags),
        other: three.set(|fields| &fields.other),
        goal: three.of(|fields| &fields.goal).agreed()?,
    })
}

/// Superseded counts more than active, and active more than tentative.
fn strongest(statuses: [Status; 2]) -> Status {
    let order = [Status::Superseded, Status::Active, Status::Tentative];
    order.into_iter().find(|status| statuses.contains(status)).unwrap_or_default()
}

fn lasting(persistences: [Persistence; 2]) -> Persistence {
    let order = [Persistence::Core, Persistence::Permanent, Persistence::Ephemeral];
    order.into_iter().find(|persistence| persistences.contains(persistence)).unwrap_or_default()
}

fn later_reference(one: &Option<Reference>, other: &Option<Reference>) -> Option<Reference> {
    let key = |reference: &Option<Reference>| {
        let written = reference.as_ref().map(grammar::write_reference);
        reference.as_ref().map(|reference| (reference.at.episode, reference.at.turn, written))
    };
    if key(one) >= key(other) { one.clone() } else { other.clone() }
}

/// Links are a set; the line of a side that alone changed it stays as it is.
fn merge_links(base: &Option<String>, ours: &Option<String>, theirs: &Option<String>) -> Option<String> {
    let both = |one: &Option<String>, other: &Option<String>| {
        let links = |line: &Option<String>| -> Vec<String> {
            let links = line.as_deref().map(Link::parse_all).unwrap_or_default();
            links.iter().map(Link::to_string).collect()
        };
        let merged = set(&links(base), &links(one), &links(other)).join(", ");
        Some(merged).filter(|line| !line.is_empty())
    };
    Three { base, ours, theirs }.or(both)
}

/// The lines of a merged entry: first line and body each as a side has them, where they say the same.
fn lines_of(
    merged: &Memory,
    base: Option<&Version<'_>>,
    ours: &Version<'_>,
    theirs: &Version<'_>,
    fences: Fences,
) -> String {
    let sides = [ours, theirs];
    let first =
        sides.iter().find(|side| grammar::parse_entry(side.first_line()).as_ref() == Some(&bare(merged)));
    let first = first.map_or_else(|| grammar::write_entry(merged), |side| side.first_line().to_owned());
    let rest = |memory: &Memory| {
        let Memory { text, context, see_also, reference, .. } = memory;
        (text.clone(), context.clone(), see_also.clone(), reference.clone(), memory.is_live())
    };
    let is_only_change = |side: &&&Version<'_>, other: &Version<'_>| {
        same_lines(other.body(), side.body())
            || base.is_some_and(|base| same_lines(other.body(), base.body()))
    };
    let body = [(ours, theirs), (theirs, ours)]
        .into_iter()
        .find(|(side, other)| rest(side.memory()) == rest(merged) && is_only_change(&side, other));
    match body {
        Some((side, _)) => {
            let body = side.body().trim_end().replace("\r\n", "\n");
            if body.is_empty() { format!("{first}\n") } else { format!("{first}\n{body}\n") }
        }
        None => {
            let rendered = render_entry(merged, fences);
            let (_, body) = rendered.split_once('\n').unwrap_or((&rendered, ""));
            let of_base = base.map(|base| comments(base.raw)).unwrap_or_default();
            format!("{first}\n{body}{}", set(&of_base, &comments(ours.raw), &comments(theirs.raw)).concat())
        }
    }
}

/// The memory as its first line says it.
fn bare(memory: &Memory) -> Memory {
    let Memory { category, title, persistence, status, provenance, .. } = memory;
    Memory {
        persistence: *persistence,
        status: *status,
        provenance: provenance.clone(),
        ..Memory::new(category.clone(), title.clone(), "")
    }
}

/// The comments among the lines of an entry, each ended by `\n`.
fn comments(raw: &str) -> Vec<String> {
    let lines = scan::lines(raw);
    let mut comments: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (line, _, is_comment) in mark_comments(lines.iter().map(|line| (line.text(raw), line.hidden))) {
        if is_comment {
            match comments.last_mut().filter(|_| goes_on) {
                Some(comment) => comment.push_str(&format!("{line}\n")),
                None => comments.push(format!("{line}\n")),
            }
        }
        goes_on = is_comment;
    }
    comments
}
