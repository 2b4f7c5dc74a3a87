//! Finds the entries of a file without parsing them.
//!
//! A search looks at a hundred thousand entries to show five. An outline of 110,000 entries (62 MB)
//! takes 35 ms, a full parse 200 to 300 ms. A property below holds that the entries are those that
//! `parser::parse_section` finds.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::grammar::{self, Heading};
use crate::scan::{self, Event, is_blank, walk};
use crate::strike::is_all_struck;
use crate::types::Status;

/// The sections and entries of a file, in its order.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// Sections whose heading names a scope.
    pub sections: Vec<SectionSpan>,
    /// Entries of these sections.
    pub entries: Vec<EntrySpan>,
}

/// Position of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSpan {
    /// Its scope and name.
    pub heading: Heading,
    /// From its heading line to the next section's.
    pub range: Range<usize>,
}

/// Position of an entry, and what its first line shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySpan {
    /// Index of its section in [`Outline::sections`].
    pub section: u32,
    /// From its first line to the end of its last line that is not blank.
    pub range: Range<usize>,
    /// Active, tentative or superseded.
    pub status: Status,
    /// The episode, if it is the first field.
    pub episode: Option<u64>,
}

/// Finds all entries.
pub fn outline(text: &str) -> Outline {
    let mut reader = Reader {
        text,
        outline: Outline::default(),
        in_scope: false,
        open: None,
        content_end: 0,
        brackets: HashMap::default(),
    };
    walk(text.as_bytes(), |event| match event {
        Event::Visible(offset, line) => reader.read_visible(offset as usize, line.len()),
        Event::Hidden(offset, line) => {
            if !is_blank(line) {
                reader.content_end = offset as usize + line.len();
            }
        }
        Event::Unclosed { resume, .. } => {
            // The opening line is text; the lines behind it are scanned again.
            let end = usize::try_from(resume).map_or(text.len(), |resume| resume.min(text.len()));
            reader.content_end = text[..end].trim_end_matches('\n').len();
        }
    });
    reader.close();
    reader.close_section(text.len());
    reader.outline
}

struct Reader<'a> {
    text: &'a str,
    outline: Outline,
    /// True if the current section names a scope.
    in_scope: bool,
    /// The current entry, without its end.
    open: Option<(usize, Status, Option<u64>)>,
    /// End of the last line that was not blank, without its line ending.
    content_end: usize,
    /// Statuses of the brackets read so far: few are different, and reading one is slow.
    brackets: HashMap<&'a str, Option<Status>, FixedState>,
}

impl<'a> Reader<'a> {
    #[inline]
    fn read_visible(&mut self, start: usize, length: usize) {
        let text = self.text;
        let whole = &text.as_bytes()[start..start + length];
        let line = scan::first_line_without_bom(start as u64, whole);
        if matches!(line.first(), Some(b'#' | b' ' | b'-' | b'*' | b'_')) {
            let start = start + whole.len() - line.len();
            self.read_special(start, &text[start..start + line.len()]);
        }
        if !is_blank(line) {
            self.content_end = start + length;
        }
    }

    fn read_special(&mut self, start: usize, line: &'a str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if scan::is_section_boundary(line.as_bytes()) {
            self.close();
            self.close_section(start);
            if let Some(heading) = grammar::parse_heading(line) {
                self.in_scope = true;
                self.outline.sections.push(SectionSpan { heading, range: start..start });
            }
            return;
        }
        let indented_heading = scan::unindent(line.as_bytes()).and_then(scan::heading_level).is_some();
        if indented_heading || scan::is_thematic_break(line) {
            return self.close();
        }
        if !self.in_scope {
            return;
        }
        if let Some(entry) = grammar::split_entry(line) {
            let bracket = self.brackets.entry(entry.bracket);
            let status = *bracket.or_insert_with(|| entry.read_bracket().map(|(_, _, status)| status));
            if let Some(status) = status {
                self.close();
                self.open = Some((start, status, entry.first_field_as_episode()));
            }
        }
    }

    fn close(&mut self) {
        let Some((start, status, episode)) = self.open.take() else { return };
        let end = match self.text.as_bytes().get(self.content_end) {
            Some(b'\n') => self.content_end + 1,
            _ => self.content_end,
        };
        let is_struck = status != Status::Superseded && is_struck_entry(&self.text[start..end]);
        let status = if is_struck { Status::Superseded } else { status };
        let section = u32::try_from(self.outline.sections.len() - 1).expect("fewer sections than bytes");
        self.outline.entries.push(EntrySpan { section, range: start..end, status, episode });
    }

    fn close_section(&mut self, end: usize) {
        if std::mem::take(&mut self.in_scope) {
            self.outline.sections.last_mut().expect("a scope has a section").range.end = end;
        }
    }
}

/// True if the text of an entry, given with its first line, is struck. Most are not, as the line below the first shows.
fn is_struck_entry(text: &str) -> bool {
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    is_all_struck(body.lines().map(|line| (line, false))) && {
        let lines = scan::lines(text);
        is_all_struck(lines[1..].iter().map(|line| (line.text(text), line.hidden)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check;
    use crate::entry_text::EntryText;
    use crate::tree::Document;

    fn assert_same(text: &str) {
        let found = outline(text);
        let read = |entry: &EntrySpan| {
            let scope = found.sections[entry.section as usize].heading.scope.clone();
            (scope, EntryText::new(&text[entry.range.clone()], entry.status).read())
        };
        let read: Vec<_> = found.entries.iter().map(read).collect();
        let located = check::entries(text);
        let expected: Vec<_> = located.into_iter().map(|entry| (entry.scope, entry.memory)).collect();
        assert_eq!(read, expected, "{text:?}");
        for (entry, (_, memory)) in found.entries.iter().zip(&expected) {
            assert_eq!(entry.status, memory.status);
            assert!(entry.episode.is_none() || entry.episode == memory.provenance.episode, "{text:?}");
        }
        let headings: Vec<Heading> = Document::parse(text.to_owned()).headings().cloned().collect();
        let found_headings: Vec<Heading> =
            found.sections.iter().map(|section| section.heading.clone()).collect();
        assert_eq!(found_headings, headings);
        for scope in headings.iter().map(|heading| &heading.scope) {
            let of_scope = found.sections.iter().filter(|section| section.heading.scope == *scope);
            let texts: Vec<&str> = of_scope.map(|section| &text[section.range.clone()]).collect();
            let document = Document::parse(text.to_owned());
            assert_eq!(texts, document.section_texts(scope).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_entries_of_a_place() {
        assert_same(
            "\u{FEFF}## Location 1: A\r\n\r\n**[NOTE] a** *(Ep3, T1)*\r\nx\r\n\r\n**[NOTE - SUPERSEDED] b**\r\n",
        );
        assert_same("## Location 1: A\n**[NOTE] a**\n```\n**[NOTE] b**\n```\n---\n**[X] c** no\n**[X] d**");
        assert_same("## Location 1: A\n**[NOTE] a**\n```\n\n**[NOTE] b**\n\n## World\n**[NOTE] c**\n<!--\n");
    }

    proptest! {
        #[test]
        fn an_outline_has_the_entries_that_a_parser_finds(
            lines in prop::collection::vec(prop::sample::select(vec![
                "## Location 1: A", "## World", "# T", " ## x", "### Memories", "text", "```", "~~~~", "<!--", "-->",
                "", "  ", "---", "**[NOTE] a** *(Ep1, T2)*", "**[DANGER - CORE] b c**", "**[NOTE] **", "**[] d**",
                "**[NOTE - SUPERSEDED] e** *(T2, Ep1)*", "~~struck~~", "**[X] f** tail", " **[X] g**", "\u{FEFF}",
                "**[X] h** *(Ep7)*\r", "- `take x`: no", "Context: here", "**[NOTE] \\***", "- ~~struck~~",
            ]), 0..24),
        ) {
            assert_same(&lines.join("\n"));
        }
    }
}
