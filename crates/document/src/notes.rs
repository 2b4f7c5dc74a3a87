//! Notes: a person's text in a section, without the syntax of an entry.
//!
//! The lines of a parsed section enter; the paragraphs and bullets leave that stand outside of entries,
//! visits, tried actions and comments. No program writes or changes them.

use std::ops::Range;

use serde::Serialize;

use crate::region::{Placed, Region, RegionKind};
use crate::scan::{self, Line};
use crate::text::{mark_comments, unescape_line};
use crate::visits;

/// A note that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The heading of the person's own under which it stands; may be empty.
    pub heading: String,
    /// Its lines.
    pub text: String,
}

/// Finds the notes of a section, given its lines and regions, and the ranges of what is no note.
pub(super) fn notes(
    text: &str,
    lines: &[Line],
    regions: &[Region],
    owned: &[Range<usize>],
) -> Vec<Placed<Note>> {
    let (mut owned, mut regions) = (owned.iter().peekable(), regions.iter().peekable());
    let mut finder = Finder { text, heading: String::new(), open: Vec::new(), found: Vec::new() };
    let mut has_notes = true;
    let contents = lines.iter().map(|line| (line.text(text), line.hidden));
    for (line, (content, hidden, comment)) in lines.iter().zip(mark_comments(contents)) {
        let start = line.range.start;
        if let Some(region) = regions.next_if(|region| region.range.start == start) {
            finder.close();
            let is_own = region.kind == RegionKind::Other && !region.after_break;
            finder.heading =
                if is_own { content.trim().trim_matches('#').trim().to_owned() } else { String::new() };
            has_notes = region.kind != RegionKind::Tried;
            continue;
        }
        while owned.next_if(|range| range.end <= start).is_some() {}
        let is_ours = !has_notes || owned.peek().is_some_and(|range| range.start <= start);
        if is_ours || comment || !hidden && (scan::is_blank(content) || visits::looks_like_visits(content)) {
            finder.close();
        } else {
            finder.open.push(line);
        }
    }
    finder.close();
    finder.found
}

struct Finder<'a> {
    text: &'a str,
    heading: String,
    /// The lines of the current note.
    open: Vec<&'a Line>,
    found: Vec<Placed<Note>>,
}

impl Finder<'_> {
    /// Ends the current note. One without words, or struck out by its author, is none.
    fn close(&mut self) {
        let lines = std::mem::take(&mut self.open);
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        let content = |line: &&Line| {
            if line.hidden {
                line.text(self.text).to_owned()
            } else {
                unescape_line(line.text(self.text).into()).into_owned()
            }
        };
        let text = without_comments(&lines.iter().map(content).collect::<Vec<_>>().join("\n"));
        let words = text.trim_start_matches(['-', '*', '+', '>', ' ', '\t']).trim_end();
        let is_struck = words.len() > 4 && words.starts_with("~~") && words.ends_with("~~");
        if words.chars().any(char::is_alphanumeric) && !is_struck {
            let value = Note { heading: self.heading.clone(), text: text.trim_end().to_owned() };
            self.found.push(Placed { value, range: first.range.start..last.range.end });
        }
    }
}

/// A text without the comments within its lines.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, behind)) = comment.split_once("-->") else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use crate::{Section, mark_notes};

    fn found(section: &str) -> Vec<(String, String)> {
        let notes = Section::read([section]).notes;
        notes.into_iter().map(|note| (note.heading, note.text)).collect()
    }

    fn texts(section: &str) -> Vec<String> {
        found(section).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn what_is_not_ours_is_a_note() {
        let section = "## Location 1: A\n**Visits:** 2\n\nA paragraph\nof two lines.\n\n- a bullet\n- another\n\n### Memories\n\n\
            **The dam opened**\n\n**[NOTE] a**\nits text\n\n- of it, too\n\n### My theory\n\nIt sleeps.\n\n---\n\nlast\n";
        let expected = [
            ("", "A paragraph\nof two lines."),
            ("", "- a bullet\n- another"),
            ("", "**The dam opened**"),
            ("My theory", "It sleeps."),
            ("", "last"),
        ];
        let expected = expected.map(|(heading, text)| (heading.to_owned(), text.to_owned()));
        assert_eq!(found(section), expected);
    }

    #[test]
    fn comments_tries_and_visits_are_none() {
        let section = "## Location 1: A\n**Visits:** many\n<!-- a\n\nb -->\n- <!-- c -->\n\nd <!-- e --> f\n\n~~struck~~\n\n***\n### Tried\n\nwords\n- `x`: y\n";
        assert_eq!(texts(section), ["d  f"]);
    }

    #[test]
    fn a_fence_is_one_note_and_crlf_is_no_part_of_it() {
        assert_eq!(texts("## World\r\n```\r\na\r\n\r\nb\r\n```\r\nc\r\n"), ["```\na\n\nb\n```\nc"]);
    }

    #[test]
    fn a_mark_stands_above_each_note() {
        let section = "## World\n\na\nb\n\n**[NOTE] c**\nd\n";
        assert_eq!(mark_notes(section), "## World\n\n<!-- note by hand -->\na\nb\n\n**[NOTE] c**\nd\n");
        assert_eq!(texts(&mark_notes(section)), ["a\nb"]);
    }
}
