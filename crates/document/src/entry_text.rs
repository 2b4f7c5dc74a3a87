//! An entry that is read only as far as it is needed: [`EntryText`] compares titles by its first line alone, and
//! [`EntryText::read`] reads it whole.

use crate::grammar::{self, EntryParts, split_entry};
use crate::scan;
use crate::strike::is_all_struck;
use crate::text::{ReadText, read_text, read_title};
use crate::types::{Memory, Persistence, Status, fold_title};

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

    /// Its title.
    pub fn title(&self) -> String {
        read_title(self.parts().title)
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
        split_entry(self.first_line()).expect("it begins with the first line of an entry")
    }

    /// Its first line, without its line ending.
    pub(super) fn first_line(&self) -> &'a str {
        let line = self.text.split_once('\n').map_or(self.text, |(line, _)| line);
        line.trim_end_matches('\r')
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
            prop_assert_eq!(entry.title(), memory.title.clone());
            for other in [&memory.title, "a", "k x", "K X"] {
                prop_assert_eq!(entry.has_title(&fold_title(other)), fold_title(other) == fold_title(&memory.title));
            }
            prop_assert_eq!(entry.read(), memory);
        }
    }
}
