//! Merges the versions of one entry.
//!
//! The base's version, where there is one, and those of both sides enter; an [`Outcome`] leaves. Lines that only one
//! side changed keep their bytes.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::entry_text::EntryText;
use crate::grammar;
use crate::link::Link;
use crate::merge::values::{Three, set};
use crate::run::Run;
use crate::splice::{comments, render_entry};
use crate::text::{Fences, TITLE_CHARS};
use crate::types::instant::{Instant, compare};
use crate::types::text::{fold_case, fold_spaces};
use crate::types::{Memory, Persistence, Provenance, Reference, Span, Status, fold_title};

/// An entry as one text has it.
#[derive(Debug)]
pub(super) struct Version<'a> {
    text: EntryText<'a>,
    memory: OnceCell<Memory>,
}

impl<'a> Version<'a> {
    pub(super) fn new(text: EntryText<'a>) -> Version<'a> {
        Version { text, memory: OnceCell::new() }
    }

    /// Its lines, from the first to the last that is not blank.
    pub(super) fn raw(&self) -> &'a str {
        self.text.text()
    }

    /// The memory, read at the first call.
    pub(super) fn memory(&self) -> &Memory {
        self.memory.get_or_init(|| self.text.read())
    }

    pub(super) fn is_live(&self) -> bool {
        self.text.is_live()
    }

    /// True if both have the same lines, whatever their line endings.
    pub(super) fn is_same(&self, other: &Version<'_>) -> bool {
        same_lines(self.raw(), other.raw())
    }
}

/// True if two texts have the same lines, whatever their line endings.
pub(super) fn same_lines(one: &str, other: &str) -> bool {
    one.trim_end() == other.trim_end() || one.lines().eq(other.lines())
}

/// True if two texts are the same but for case and surplus space.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    one == other || fold_case(&fold_spaces(one)) == fold_case(&fold_spaces(other))
}

/// True if two titles are the same, or one is the other with a number.
pub(super) fn is_same_title(one: &str, other: &str) -> bool {
    let (one, other) = (fold_title(one), fold_title(other));
    one == other
        || (stem(&one) == stem(&other)
            && (without_number(&one).is_some() || without_number(&other).is_some()))
}

/// A title in its folded form, without its number and as far as a title with a number goes.
pub(super) fn stem(title: &str) -> String {
    let folded = fold_title(title);
    let stem = without_number(&folded).unwrap_or(&folded);
    stem.chars().take(TITLE_CHARS - 9).collect()
}

/// A title without the number that tells it from another one; `None` where it has none.
fn without_number(title: &str) -> Option<&str> {
    let (stem, number) = title.strip_suffix(')')?.rsplit_once(" (")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(stem)
}

/// When a memory was learned: episode, last turn, last message, and the instant of its date with its text.
type Origin<'a> = (Option<u64>, Option<u64>, Option<u64>, Option<Instant>, Option<&'a str>);

/// When a memory was learned: later ones have greater values.
pub(super) fn origin(memory: &Memory) -> Origin<'_> {
    let Provenance { episode, turns, messages, date, .. } = &memory.provenance;
    let last = |span: Option<Span>| span.map(|span| span.last);
    let date = date.as_deref();
    (*episode, last(*turns), last(*messages), date.and_then(Instant::of), date)
}

/// The links of a memory that contests those to which they lead; `None` where it contests nothing.
pub(super) fn contested(memory: &Memory) -> Option<Vec<String>> {
    let mut links: Vec<String> = links_of(memory.see_also.as_deref().filter(|_| memory.contests())?);
    links.sort_unstable();
    Some(links)
}

/// True if two memories may be one: where writers are named, both contest the same entries. Else the words of a writer
/// who contests nothing would become tentative.
pub(super) fn agree(one: &Memory, other: &Memory) -> bool {
    let writers =
        |memory: &Memory| memory.writers().into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
    let (by_one, by_other) = (writers(one), writers(other));
    let (one, other) = (contested(one), contested(other));
    // Merging entries of the same writers confirms nothing that a writer did not confirm itself.
    one == other
        || one.is_some() == other.is_some() && by_one == by_other
        || by_one.is_empty() && by_other.is_empty()
}

/// The side that is live although the other one struck the entry: it has a writer whom neither the base nor the other
/// side has.
fn upheld<'a>(base: Option<&Memory>, ours: &'a Memory, theirs: &'a Memory) -> Option<&'a Memory> {
    let (live, struck) = match (ours.is_live(), theirs.is_live()) {
        (true, false) => (ours, theirs),
        (false, true) => (theirs, ours),
        _ => return None,
    };
    let has = |memory: &Memory, writer: &str| memory.writers().contains(&writer);
    let is_new = |writer: &&str| !has(struck, writer) && !base.is_some_and(|base| has(base, writer));
    let was_live = base.is_none_or(Memory::is_live);
    live.writers().iter().any(is_new).then_some(live).filter(|_| was_live)
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
    if let Some(side) = better_run(ours.memory(), theirs.memory()) {
        return Outcome::As(side);
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

/// The side with the better run of the game, if both entries are the best run so far: the higher score, then a victory,
/// then the fewer turns. Of equal runs the one of the earlier episode is taken, so that both sides take the same.
pub(super) fn better_run(ours: &Memory, theirs: &Memory) -> Option<Side> {
    let worth = |memory: &Memory| {
        let run = Run::of(memory)?;
        let Provenance { score, turns, episode, .. } = memory.provenance;
        let length = turns.map(|turns| Reverse(turns.last.saturating_sub(turns.first)));
        Some(((score, run.has_won(), length, Reverse(episode)), run.write()))
    };
    let (one, other) = (worth(ours)?, worth(theirs)?);
    Some(if one >= other { Side::Ours } else { Side::Theirs })
}

/// True if two memories claim the same: what else they have are remarks about them.
fn same_claim(one: &Memory, other: &Memory) -> bool {
    one.category == other.category && same_words(&one.text, &other.text) && one.context == other.context
}

/// Merges what both sides added with the same words: the earlier one, with what the other has besides.
fn merge_added(ours: &Memory, theirs: &Memory) -> Memory {
    let is_numbered = stem(&ours.title) == stem(&theirs.title);
    fn order(memory: &Memory, is_numbered: bool) -> impl Ord + '_ {
        let title = if is_numbered { String::new() } else { fold_title(&memory.title) };
        (origin(memory), title, &memory.text)
    }
    let is_later = order(ours, is_numbered) > order(theirs, is_numbered);
    let (first, other) = if is_later { (theirs, ours) } else { (ours, theirs) };
    let mut merged = first.clone();
    if is_numbered && fold_title(&first.title) != fold_title(&other.title) {
        // One title has a number, which distinguishes it from another entry of its side. A long title is cut to make
        // room for the number.
        let titles = [&first.title, &other.title].into_iter();
        let order = |title: &&String| (without_number(title).is_some(), title.len());
        merged.title = titles.max_by_key(order).expect("two").clone();
    }
    merged.status = strongest([first.status, other.status]);
    merged.persistence = lasting([first.persistence, other.persistence]);
    merged.reference = first.reference.clone().or_else(|| other.reference.clone());
    if let Some(live) = upheld(None, ours, theirs) {
        (merged.status, merged.reference) = (live.status, None);
    }
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
    let text = if same_words(&ours.text, &theirs.text) {
        ours.text.clone()
    } else {
        three.of(|memory| &memory.text).agreed()?
    };
    let upheld = upheld(Some(base), ours, theirs);
    Some(Memory {
        category: three.of(|memory| &memory.category).agreed()?,
        title: three.of(|memory| &memory.title).agreed()?,
        text,
        context: three.of(|memory| &memory.context).agreed()?,
        persistence: three.of(|memory| &memory.persistence).or(|one, other| lasting([*one, *other])),
        status: match upheld {
            Some(live) => live.status,
            None => three.of(|memory| &memory.status).or(|one, other| strongest([*one, *other])),
        },
        reference: match upheld {
            Some(_) => None,
            None => three.of(|memory| &memory.reference).or(later_reference),
        },
        see_also: merge_links(&base.see_also, &ours.see_also, &theirs.see_also),
        provenance: merge_fields(three.of(|memory| &memory.provenance))?,
        stale: Vec::new(),
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
        date: three.of(|fields| &fields.date).or(later_date),
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

/// The later of two dates by their instants.
fn later_date(one: &Option<String>, other: &Option<String>) -> Option<String> {
    if compare(one.as_deref(), other.as_deref()).is_ge() { one.clone() } else { other.clone() }
}

fn later_reference(one: &Option<Reference>, other: &Option<Reference>) -> Option<Reference> {
    let key = |reference: &Option<Reference>| {
        let written = reference.as_ref().map(grammar::write_reference);
        reference.as_ref().map(|Reference { at, .. }| {
            let date = at.date.as_deref().and_then(Instant::of);
            (at.episode, at.turn, at.message, date, written)
        })
    };
    if key(one) >= key(other) { one.clone() } else { other.clone() }
}

/// The links of a line.
fn links_of(line: &str) -> Vec<String> {
    Link::parse_all(line).iter().map(Link::to_string).collect()
}

/// Links are a set; the line of a side that alone changed it stays as it is.
fn merge_links(base: &Option<String>, ours: &Option<String>, theirs: &Option<String>) -> Option<String> {
    let both = |one: &Option<String>, other: &Option<String>| {
        let links = |line: &Option<String>| line.as_deref().map(links_of).unwrap_or_default();
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
    let first = sides
        .iter()
        .find(|side| grammar::parse_entry(side.text.first_line()).as_ref() == Some(&bare(merged)));
    let first = first.map_or_else(|| grammar::write_entry(merged), |side| side.text.first_line().to_owned());
    let rest = |memory: &Memory| {
        let Memory { text, context, see_also, reference, .. } = memory;
        (text.clone(), context.clone(), see_also.clone(), reference.clone(), memory.is_live())
    };
    let is_only_change = |side: &&&Version<'_>, other: &Version<'_>| {
        same_lines(other.text.body(), side.text.body())
            || base.is_some_and(|base| same_lines(other.text.body(), base.text.body()))
    };
    let body = [(ours, theirs), (theirs, ours)]
        .into_iter()
        .find(|(side, other)| rest(side.memory()) == rest(merged) && is_only_change(&side, other));
    match body {
        Some((side, _)) => {
            let body = side.text.body().trim_end().replace("\r\n", "\n");
            if body.is_empty() { format!("{first}\n") } else { format!("{first}\n{body}\n") }
        }
        None => {
            let rendered = render_entry(merged, fences);
            let (_, body) = rendered.split_once('\n').unwrap_or((&rendered, ""));
            let of_base = base.map(|base| comments(base.raw())).unwrap_or_default();
            format!(
                "{first}\n{body}{}",
                set(&of_base, &comments(ours.raw()), &comments(theirs.raw())).concat()
            )
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
