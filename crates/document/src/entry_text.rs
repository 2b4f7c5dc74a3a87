//! An entry that is read only as far as it is needed.
//!
//! A place may have a hundred thousand entries, of which a recall shows five. [`EntryText`] compares titles, and its
//! first line alone, read by [`HeadReader`], says how an entry counts and ranks. [`EntryText::read`] reads it whole.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use memchr::memmem::Finder;

use crate::comment_end;
use crate::field::Field;
use crate::fields::{percent_decode, split_fields};
use crate::grammar::{self, EntryParts, split_entry};
use crate::scan;
use crate::strike::is_all_struck;
use crate::text::{CONTEXT, ReadText, SEE_ALSO, read_text, read_title};
use crate::types::instant::Instant;
use crate::types::{
    CONTESTED_TAG, Category, DEFAULT_IMPORTANCE, Memory, Persistence, Span, Status, fold_title, writer_of,
};

/// Find lines of an entry that are no part of its text: first those with links.
static FINDERS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| [SEE_ALSO, CONTEXT, "<!--"].map(Finder::new));

/// An entry as it stands in a file.
#[derive(Debug, Clone, Copy)]
pub struct EntryText<'a> {
    /// From its first line to its last one that is not blank.
    text: &'a str,
    status: Status,
    /// True for an entry of the session, which does not say so.
    is_ephemeral: bool,
}

impl<'a> EntryText<'a> {
    /// An entry of the memory file; its text begins with the first line.
    pub fn new(text: &'a str, status: Status) -> EntryText<'a> {
        EntryText { text, status, is_ephemeral: false }
    }

    /// The entry as it stands in a session.
    pub fn ephemeral(self) -> EntryText<'a> {
        EntryText { is_ephemeral: true, ..self }
    }

    /// All its lines.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The lines below the first.
    pub fn body(&self) -> &'a str {
        self.text.split_once('\n').map_or("", |(_, body)| body)
    }

    /// True unless superseded or invalidated.
    pub fn is_live(&self) -> bool {
        self.status != Status::Superseded
    }

    /// False if it has no line with links.
    pub fn may_link(&self) -> bool {
        FINDERS[0].find(self.text.as_bytes()).is_some()
    }

    /// As [`Memory::is_confirmed_by`], by a look at its first line alone.
    pub fn is_confirmed_by(&self, least: usize) -> bool {
        if least <= 1 {
            return true;
        }
        let mut writers: Vec<String> = Vec::new();
        for (_, field) in split_fields(&comment_end::read(self.parts().fields)) {
            let Field::Tag(tag) = field else { continue };
            let tag = percent_decode(tag);
            if writer_of(&tag).is_some() && !writers.contains(&tag) {
                writers.push(tag);
            }
        }
        writers.is_empty() || writers.len() >= least
    }

    /// Its title.
    pub fn title(&self) -> String {
        read_title(self.parts().title)
    }

    /// True if some of its lines may be no part of its text.
    pub fn may_hide_lines(&self) -> bool {
        FINDERS.iter().any(|finder| finder.find(self.text.as_bytes()).is_some())
    }

    /// True if its title is this one, see [`fold_title`].
    pub fn has_title(&self, folded: &str) -> bool {
        let written = self.parts().title.trim();
        if written.is_ascii() && !written.contains('\\') {
            return written.eq_ignore_ascii_case(folded);
        }
        fold_title(&read_title(written)) == folded
    }

    /// Reads all of it.
    pub fn read(&self) -> Memory {
        let memory = parse_entry(self.text).expect("it begins with the first line of an entry");
        if self.is_ephemeral { Memory { persistence: Persistence::Ephemeral, ..memory } } else { memory }
    }

    /// The parts of its first line.
    pub fn parts(&self) -> EntryParts<'a> {
        let line = self.text.split_once('\n').map_or(self.text, |(line, _)| line);
        let parts = split_entry(line.strip_suffix('\r').unwrap_or(line));
        parts.expect("it begins with the first line of an entry")
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// Entries that this thread read whole, for tests.
    #[doc(hidden)]
    pub static ENTRIES_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Parses an entry, given its lines alone; `None` if the first is not the first line of an entry.
pub(super) fn parse_entry(text: &str) -> Option<Memory> {
    #[cfg(debug_assertions)]
    ENTRIES_READ.with(|read| read.set(read.get() + 1));
    let lines = scan::lines(text);
    let (first, mut body) = lines.split_first().filter(|(first, _)| !first.hidden)?;
    let mut memory = grammar::parse_entry(first.text(text))?;
    if memory.is_live() && is_all_struck(body.iter().map(|line| (line.text(text), line.hidden))) {
        memory.status = Status::Superseded;
    }
    if !memory.is_live() {
        let blank = body.iter().take_while(|line| scan::is_blank(line.text(text))).count();
        let line = body.get(blank).filter(|line| !line.hidden);
        memory.reference = line.and_then(|line| grammar::parse_reference(line.text(text)));
        if memory.reference.is_some() {
            body = &body[blank + 1..];
        }
    }
    let lines = body.iter().map(|line| (line.text(text), line.hidden));
    let ReadText { text, context, see_also } = read_text(lines, !memory.is_live());
    Some(Memory { text, context, see_also, ..memory })
}

/// The brackets of a first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The category in the heading.
    pub category: Category,
    /// How long it lasts.
    pub persistence: Persistence,
    /// Whether it holds.
    pub status: Status,
}

/// The parts of a first line by which entries are counted and ranked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Category, persistence and status.
    pub kind: Rc<Kind>,
    importance: Option<u16>,
    /// The episode in which it was learned.
    pub episode: Option<u64>,
    /// The turns in which it was learned.
    pub turns: Option<Span>,
    /// The change of the score that it names.
    pub score_change: Option<i64>,
    /// The day or time that it names.
    pub date: Option<Instant>,
    has_contested_tag: bool,
}

impl Head {
    /// True unless superseded or invalidated.
    pub fn is_live(&self) -> bool {
        self.kind.status != Status::Superseded
    }

    /// As [`Memory::importance`].
    pub fn importance(&self) -> u16 {
        self.importance.unwrap_or(DEFAULT_IMPORTANCE)
    }

    /// True if the memory contests another one, and nobody has confirmed it.
    pub fn contests(&self) -> bool {
        self.kind.status == Status::Tentative && self.has_contested_tag
    }
}

/// Reads the first lines of many entries. Few of their brackets are different.
#[derive(Debug, Default)]
pub struct HeadReader<'a> {
    kinds: HashMap<(&'a str, bool, bool), Rc<Kind>, FixedState>,
}

impl<'a> HeadReader<'a> {
    /// Reads the first line of an entry.
    pub fn read(&mut self, entry: &EntryText<'a>) -> Head {
        let parts = entry.parts();
        let key = (parts.bracket, entry.is_ephemeral, entry.is_live());
        let kind = self.kinds.entry(key).or_insert_with(|| {
            let (category, persistence, status) = parts.read_bracket().expect("an entry has a category");
            // The text of an entry may be struck while its brackets call it live.
            let status = if entry.is_live() { status } else { Status::Superseded };
            let persistence = if entry.is_ephemeral { Persistence::Ephemeral } else { persistence };
            Rc::new(Kind { category, persistence, status })
        });
        let mut head = Head {
            kind: Rc::clone(kind),
            importance: None,
            episode: None,
            turns: None,
            score_change: None,
            date: None,
            has_contested_tag: false,
        };
        for (_, field) in split_fields(&comment_end::read(parts.fields)) {
            match field {
                Field::Importance(importance) => head.importance = head.importance.or(Some(importance)),
                Field::Episode(episode) => head.episode = head.episode.or(Some(episode)),
                Field::Turns(turns) => head.turns = head.turns.or(Some(turns)),
                Field::ScoreChange(change) => head.score_change = head.score_change.or(Some(change)),
                Field::Date(date) => head.date = head.date.or_else(|| Instant::of(&date)),
                Field::Tag(tag) => {
                    let is_encoded = || tag.contains('%') && percent_decode(tag) == CONTESTED_TAG;
                    head.has_contested_tag |= tag == CONTESTED_TAG || is_encoded();
                }
                _ => {}
            }
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_first_line_read_alone_says_what_the_entry_says(
            bracket in prop::sample::select(vec!["NOTE", "DANGER - CORE", "X - TENTATIVE", "note - SUPERSEDED"]),
            title in r"[aBé \\*K\u{212A}\]]{1,6}x",
            fields in prop::collection::vec(prop::sample::select(vec![
                "Ep1", "Ep2", "T3-4", "T9", "+5", "-1", "importance 900", "importance 0", "#contested", "#cont%65sted", "#a",
                "#by:a", "#by:b", "#b%79:c", "#by:", "Goal: Ep7, T8", "moves 3", "2026-01-31", "--\\>", "M3", "",
            ]), 0..6),
            is_ephemeral: bool,
        ) {
            let text = format!("**[{bracket}] {title}** *({})*\nSome text.", fields.join(", "));
            let Some(memory) = parse_entry(&text) else { return Ok(()) };
            let entry = EntryText::new(&text, memory.status);
            let entry = if is_ephemeral { entry.ephemeral() } else { entry };
            let memory = if is_ephemeral { Memory { persistence: Persistence::Ephemeral, ..memory } } else { memory };
            let head = HeadReader::default().read(&entry);
            prop_assert_eq!(
                (&head.kind.category, head.kind.persistence, head.kind.status),
                (&memory.category, memory.persistence, memory.status)
            );
            let fields = &memory.provenance;
            let contests = memory.status == Status::Tentative && memory.has_tag(CONTESTED_TAG);
            prop_assert_eq!((head.importance(), head.contests()), (memory.importance(), contests));
            prop_assert_eq!(
                (head.episode, head.turns, head.score_change),
                (fields.episode, fields.turns, fields.score_change)
            );
            for least in 0..4 {
                prop_assert_eq!(entry.is_confirmed_by(least), memory.is_confirmed_by(least));
            }
            prop_assert_eq!(entry.title(), memory.title.clone());
            for other in [&memory.title, "a", "k x", "K X"] {
                prop_assert_eq!(entry.has_title(&fold_title(other)), fold_title(other) == fold_title(&memory.title));
            }
            prop_assert_eq!(entry.read(), memory);
        }
    }
}
