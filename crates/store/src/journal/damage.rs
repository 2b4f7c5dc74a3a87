//! Damaged lines of a journal, and the facts that can still be read from them.
//!
//! Lines enter as they are read, each with its place; entries leave. A line is damaged if it is no entry, or if it is
//! one only because invalid bytes were replaced.

use std::path::PathBuf;

use serde::Deserialize;

use crate::journal::Journal;
use crate::journal::entry::{Entry, PlayedTurn};
use crate::{LogLine, StoreError};

/// Lines looked at by a command that reads only the end of the journal.
const LAST_LINES: usize = 5;

/// The damage of the lines that were read.
#[derive(Debug, Clone, Default)]
pub struct Damage {
    /// Lines that are no entries.
    pub unreadable: u64,
    /// Lines that were read without the bytes that are damaged.
    pub mended: u64,
    /// File and line of the first of them.
    pub first: Option<(PathBuf, usize)>,
    /// Turns that waited for a model, of damaged lines that no later line resolves.
    waiting: Vec<LostTurn>,
    /// The ids of turns that damaged lines resolve.
    pub resolved: Vec<String>,
}

/// A turn that waited, as far as its line can still be read.
#[derive(Debug, Clone)]
struct LostTurn {
    id: Option<String>,
    action: Option<String>,
}

impl Damage {
    /// The entry of a line; `None` where the line is none.
    pub fn read<'a, T: Deserialize<'a>>(&mut self, line: &LogLine<'a>) -> Option<Entry<'a, T>> {
        let entry = Entry::<T>::parse(line.text);
        if let Some(resolved) = entry.as_ref().and_then(|entry| entry.resolves.as_deref()) {
            self.resolve(resolved);
        }
        if entry.is_none() {
            if line.text.trim().is_empty() {
                return None;
            }
            self.unreadable += 1;
            self.tell(line.text);
        } else if line.is_mended {
            self.mended += 1;
        } else {
            return entry;
        }
        self.first.get_or_insert_with(|| (line.file.to_owned(), line.number));
        entry
    }

    /// Reads what a line still says of the queue.
    fn tell(&mut self, text: &str) {
        if text.contains("\"outcome\":\"queued\"") {
            let [id, action] = ["id", "action"].map(|name| field(text, name).map(str::to_owned));
            self.waiting.push(LostTurn { id, action });
        }
        if let Some(resolved) = field(text, "resolves") {
            self.resolve(resolved);
            self.resolved.push(resolved.to_owned());
        }
    }

    fn resolve(&mut self, id: &str) {
        self.waiting.retain(|lost| lost.id.as_deref() != Some(id));
    }

    /// Turns that waited for a model and are lost.
    pub fn lost_turns(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// True if no line is damaged.
    pub(crate) fn is_none(&self) -> bool {
        self.first.is_none()
    }

    /// The damage in words, without the place; `None` where there is none.
    pub fn text(&self) -> Option<String> {
        let lines = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 line {one}")),
            count => Some(format!("{count} lines {many}")),
        };
        let said = [
            lines(self.unreadable, "cannot be read", "cannot be read"),
            lines(self.mended, "is read without its damaged bytes", "are read without their damaged bytes"),
        ];
        let actions: Vec<String> =
            self.waiting.iter().filter_map(|lost| Some(format!("`{}`", lost.action.as_ref()?))).collect();
        let lost = match self.waiting.len() {
            0 => String::new(),
            1 => format!("; a turn that waited for a model is lost: {}", actions.concat()),
            count => format!("; {count} turns that waited for a model are lost: {}", actions.join(", ")),
        };
        let said = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
        Some(said + lost.trim_end_matches(": ")).filter(|_| !self.is_none())
    }

    /// A warning with the place of the first damaged line; `None` where there is none.
    pub fn warning(&self) -> Option<String> {
        let (file, line) = self.first.as_ref()?;
        Some(format!("`{}`, line {line}: the journal is damaged: {}", file.display(), self.text()?))
    }
}

impl Journal {
    /// The damage of all lines.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn damage(&self) -> Result<Damage, StoreError> {
        let mut damage = Damage::default();
        self.visit_lines(|line| {
            damage.read::<PlayedTurn<'_>>(&line);
        })?;
        Ok(damage)
    }

    /// A warning where one of the last lines cannot be read.
    pub fn damaged_end(&self) -> Option<String> {
        let last = self.tail(LAST_LINES, |_| true).ok()?;
        let warning = "the end of the journal is damaged: `memories check` says where, and what is lost";
        last.iter().any(|line| is_unreadable(line)).then(|| warning.to_owned())
    }
}

/// True if a line is no entry.
pub fn is_unreadable(line: &str) -> bool {
    !line.trim().is_empty() && Entry::<PlayedTurn<'_>>::parse(line).is_none()
}

/// The text behind a name, up to the next quote.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.split_once(&format!("\"{name}\":\""))?;
    value.split('"').next().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play the disk that flips a bit")]

    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::journal::upkeep;
    use crate::{LineLog, Sidecar};

    fn damage(lines: &[&str]) -> Damage {
        let mut damage = Damage::default();
        for (at, text) in lines.iter().enumerate() {
            let line = LogLine { text, file: Path::new("journal.jsonl"), number: at + 1, is_mended: false };
            damage.read::<Value>(&line);
        }
        damage
    }

    #[test]
    fn a_lost_turn_is_told_unless_it_is_resolved() {
        let queued = r#"{"id":"7","outcome":"queued","turn":{"action":"open door","response":"It"s open."}}"#;
        let lost = damage(&["{}", "", queued, "{\"id\""]);
        assert_eq!((lost.unreadable, lost.lost_turns()), (2, 1));
        assert_eq!(
            lost.warning().unwrap(),
            "`journal.jsonl`, line 3: the journal is damaged: 2 lines cannot be read; a turn that waited for a model \
             is lost: `open door`"
        );
        for resolved in [r#"{"resolves":"7"}"#, r#"{"id":"8,"resolves":"7"}"#] {
            assert_eq!(damage(&[queued, resolved]).lost_turns(), 0, "{resolved}");
        }
        assert!(damage(&["{}", ""]).warning().is_none());
    }

    #[test]
    fn whatever_bit_of_a_queued_line_flips_the_turn_waits_or_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::of(&folder.path().join("Memories.md"));
        let journal = Journal::on(LineLog::new(&sidecar, "journal", ".jsonl", upkeep()));
        let line = concat!(
            r#"{"version":1,"id":"7","time":"2026-01-31","outcome":"queued","#,
            r#""turn":{"action":"go in","response":"\"No!\" \u00e9"}}"#
        );
        sidecar.create().unwrap();
        let path = sidecar.folder().join("journal.jsonl");
        let outcome = line.find("\"outcome\"").unwrap()..line.find(",\"turn\"").unwrap();
        let (mut mended, mut missed) = (0, 0);
        for (at, bit) in (0..line.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = line.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            let damage = journal.damage().unwrap();
            // A line feed makes two lines of one, of which the first may be the queued one.
            let waits = journal.queued().unwrap().len();
            (mended, missed) = (mended + damage.mended, missed + damage.lost_turns());
            let is_told = waits == 1 || damage.lost_turns() == 1 || damage.unreadable > 0;
            assert!(is_told || outcome.contains(&at), "bit {bit} of byte {at}");
        }
        assert!(mended > 50 && missed > 100, "{mended} mended, {missed} missed");
    }
}
