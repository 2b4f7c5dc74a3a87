//! The lines that a rewind has set aside.
//!
//! Lines of a journal enter; it is said which of them count no longer. A line `rewound` names lines that it sets aside, a
//! line `restored` those that count again. Of several lines about one the last decides. Nothing is removed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use memories_document::types::Outcome;

/// Bytes of a line in which its outcome stands, if it is about other lines.
const HEAD: usize = 200;

/// Lines by their ids, each with the hashes by which its turn is recorded once, as hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineSet(pub(super) BTreeMap<String, String>);

impl LineSet {
    /// Adds a line with the hashes of its turn.
    pub(super) fn add(&mut self, id: &str, numbers: &[u64]) {
        self.0.insert(id.to_owned(), numbers.iter().map(|number| format!("{number:016x}")).collect());
    }

    /// The set, unless it is empty.
    pub fn unless_empty(self) -> Option<LineSet> {
        (!self.0.is_empty()).then_some(self)
    }

    /// The ids.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The hashes of its turns.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let digits = self.0.values().flat_map(|numbers| numbers.as_bytes().chunks(16));
        digits.filter_map(|digits| u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())
    }
}

/// The lines that a line is about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Moved {
    /// They count no longer.
    pub(super) set_aside: LineSet,
    /// They count again.
    pub(super) brought_back: LineSet,
}

impl Moved {
    /// The lines that a line is about; `None` for most lines, of which only the beginning is read.
    pub(super) fn by(line: &str) -> Option<Moved> {
        returns_to_former_state(line).then(|| serde_json::from_str(line).ok()).flatten()
    }

    /// The ids, each with its hashes and whether it counts from then on.
    pub(super) fn all(self) -> impl Iterator<Item = (String, String, bool)> {
        let aside = self.set_aside.0.into_iter().map(|(id, numbers)| (id, numbers, false));
        aside.chain(self.brought_back.0.into_iter().map(|(id, numbers)| (id, numbers, true)))
    }
}

/// True for the line of a command that put a former state in place of the file.
pub fn returns_to_former_state(line: &str) -> bool {
    [Outcome::Rewound, Outcome::Restored].iter().any(|outcome| has_outcome(line, *outcome))
}

/// True if that is the outcome of the line of a command. Only the beginning is read.
pub fn has_outcome(line: &str, outcome: Outcome) -> bool {
    let head = &line.as_bytes()[..line.len().min(HEAD)];
    memmem::find(head, format!("\"outcome\":\"{}\"", outcome.name()).as_bytes()).is_some()
}

/// True if a line says of others that they count no longer, or again.
pub fn moves_lines(line: &str) -> bool {
    Moved::by(line).is_some_and(|moved| moved.all().next().is_some())
}

/// The id of a line; `None` where it has none.
pub fn id_of(line: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
    }
    serde_json::from_str::<Line<'_>>(line).ok()?.id
}

/// The lines that are set aside.
#[derive(Debug, Clone, Default)]
pub struct Aside {
    /// Whether a line that was set aside once counts.
    counts: HashMap<String, bool>,
}

impl Aside {
    /// True if the line with this id is set aside.
    pub fn has(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.counts.get(id) == Some(&false))
    }

    /// Reads a line that is younger than all lines before.
    pub(super) fn read_on(&mut self, line: &str) {
        let moved = Moved::by(line).into_iter().flat_map(Moved::all);
        self.counts.extend(moved.map(|(id, _, counts)| (id, counts)));
    }

    /// Reads a line that is older than all lines before. True if it is set aside.
    pub(super) fn skips(&mut self, line: &str) -> bool {
        for (id, _, counts) in Moved::by(line).into_iter().flat_map(Moved::all) {
            self.counts.entry(id).or_insert(counts);
        }
        !self.counts.is_empty() && self.has(id_of(line).as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 4] = [
        r#"{"id":"1","outcome":"tried","turn":{}}"#,
        r#"{"id":"2","outcome":"rewound","set_aside":{"1":"000000000000000a000000000000000b"}}"#,
        r#"{"id":"3","outcome":"restored","state":7,"brought_back":{"1":"000000000000000a"}}"#,
        r#"{"id":"4","outcome":"restored","state":8,"set_aside":{"1":"000000000000000a"}}"#,
    ];

    #[test]
    fn the_last_line_about_a_line_decides_from_both_ends() {
        for (lines, is_aside) in [(1, false), (2, true), (3, false), (4, true)] {
            let (mut forwards, mut backwards) = (Aside::default(), Aside::default());
            LINES[..lines].iter().for_each(|line| forwards.read_on(line));
            let mut skipped = None;
            for line in LINES[..lines].iter().rev() {
                skipped = Some(backwards.skips(line));
            }
            assert_eq!((forwards.has(Some("1")), skipped), (is_aside, Some(is_aside)), "{lines}");
        }
    }

    #[test]
    fn the_words_of_a_turn_set_nothing_aside() {
        let said = r#"{"id":"5","outcome":"tried","turn":{"action":"\"outcome\":\"rewound\"","set_aside":{"1":""}}}"#;
        assert!(Moved::by(said).is_none() && !moves_lines(said));
        assert_eq!(LINES.map(moves_lines), [false, true, true, true]);
        let numbers: Vec<u64> = Moved::by(LINES[1]).unwrap().set_aside.numbers().collect();
        assert_eq!(numbers, [10, 11]);
    }
}
