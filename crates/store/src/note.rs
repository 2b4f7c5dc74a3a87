//! The lines that follow a new memory file, noted in the lock file while the file is replaced.
//!
//! Between the new file and its line in the journal, a kill leaves the file ahead: a turn would be in it that nobody
//! recorded, and would be recorded twice. So the lines are noted before, behind the signature. The next holder of the
//! lock adds them, if the file is the one that the signature names and they are not there already.

use crate::error::StoreError;
use crate::folder::Folder;
use crate::log::add_missing;

/// Ends a note that is whole.
const END: &str = "end\n";

/// A note that a killed holder of the lock left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Each line, with the name of its file.
    lines: Vec<(String, String)>,
}

/// The text of a note about the lines of each log, by the name of its file.
pub(super) fn render<'a>(logs: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = String::new();
    for (name, lines) in logs {
        for line in lines {
            text.extend([name, " ", line, "\n"]);
        }
    }
    text + END
}

impl Note {
    /// Reads a note; `None` where it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Option<Note> {
        let lines = std::str::from_utf8(bytes).ok()?.strip_suffix(END)?.lines();
        Some(Note { lines: lines.map(parse_line).collect::<Option<_>>()? })
    }

    /// Adds the lines that are missing.
    pub(super) fn add_lines(&self, folder: &Folder) -> Result<(), StoreError> {
        let mut rest = &self.lines[..];
        while let [(name, _), ..] = rest {
            let count = rest.iter().take_while(|(other, _)| other == name).count();
            let (lines, others) = rest.split_at(count);
            let lines: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
            add_missing(folder, name, &lines)?;
            rest = others;
        }
        Ok(())
    }
}

/// A line, with the name of its file. No other file has a name of that form, and none is elsewhere.
fn parse_line(text: &str) -> Option<(String, String)> {
    let (name, line) = text.split_once(' ')?;
    let is_log = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.') && !name.starts_with('.');
    is_log.then(|| (name.to_owned(), line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_is_not_whole_is_none() {
        let text = "journal.jsonl {\"id\":\"a b\"}\nwritten 0f model\nend\n";
        let note = Note::parse(text.as_bytes()).unwrap();
        assert_eq!(note.lines[0], ("journal.jsonl".to_owned(), "{\"id\":\"a b\"}".to_owned()));
        assert_eq!(note.lines.len(), 2);
        for cut in 0..text.len() {
            assert_eq!(Note::parse(&text.as_bytes()[..cut]), None, "{cut}");
        }
        for elsewhere in ["../journal.jsonl", "/etc/passwd", ".gitignore", "Memories.md"] {
            let text = text.replace("written", elsewhere);
            assert_eq!(Note::parse(text.as_bytes()), None, "{elsewhere}");
        }
    }
}
