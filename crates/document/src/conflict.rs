//! Unresolved conflicts that a git merge left in a file.
//!
//! A text enters; the lines of its conflicts leave, and the same text without the lines in conflict, for
//! readers. Line numbers stay as they are: each line that is left out becomes a blank one. A marker stands
//! at the start of a line, outside code fences and comments. A file without markers costs three searches.

use std::iter;
use std::ops::Range;

use memchr::memmem;

use crate::grammar;
use crate::scan::{
    self, CONFLICT_BASE, CONFLICT_CLOSE, CONFLICT_OPEN, Event, LineScan, is_conflict_marker, line_end,
    line_ranges,
};
use crate::types::Scope;

const MIDDLE: &[u8] = b"=======";

/// The conflicts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    /// Line of each conflict's first marker, from 1; there is at least one.
    pub lines: Vec<usize>,
    /// The text without the lines in conflict, and without lines whose section or entry begins there.
    pub rest: String,
}

/// Finds the conflicts of a text; `None` where there are none.
pub fn conflicts(text: &str) -> Option<Conflicts> {
    let found = find(text, &closers(text.as_bytes())?);
    let mut lines = Vec::with_capacity(found.len());
    let mut rest = String::with_capacity(text.len());
    let (mut number, mut copied) = (1, 0);
    for Conflict { range, heading, kept_from } in found {
        rest.push_str(&text[copied..range.start]);
        number += newlines(&text[copied..range.start]);
        lines.push(number);
        let length = newlines(&text[range.start..kept_from]);
        if let Some(heading) = &heading {
            rest.push_str(heading);
            rest.push('\n');
        }
        rest.extend(iter::repeat_n('\n', length.saturating_sub(usize::from(heading.is_some()))));
        number += length;
        copied = kept_from;
    }
    rest.push_str(&text[copied..]);
    (!lines.is_empty()).then_some(Conflicts { lines, rest })
}

/// A conflict, in whole lines.
struct Conflict {
    range: Range<usize>,
    /// The heading under which the text goes on, where one was in conflict.
    heading: Option<String>,
    /// Where the first line stands that belongs to no entry in conflict.
    kept_from: usize,
}

/// Each line that opens a conflict, with the end of the line that closes it; `None` where no line of the
/// text is a marker.
fn closers(text: &[u8]) -> Option<Vec<(usize, usize)>> {
    let at_line_start = |&at: &usize| at == 0 || text[at - 1] == b'\n' || text[..at] == *b"\xEF\xBB\xBF";
    let lines_with = |mark| memmem::find_iter(text, mark).filter(at_line_start);
    let mut markers: Vec<(usize, bool)> = lines_with(CONFLICT_OPEN).map(|at| (at, true)).collect();
    markers.extend(lines_with(CONFLICT_CLOSE).map(|at| (at, false)));
    if markers.is_empty() && lines_with(CONFLICT_BASE).next().is_none() {
        return None;
    }
    markers.sort_unstable();
    let (mut open, mut pairs) = (Vec::new(), Vec::new());
    for (at, opens) in markers {
        if opens {
            open.push(at)
        } else {
            pairs.extend(open.pop().map(|opener| (opener, line_end(text, at))))
        }
    }
    pairs.sort_unstable();
    Some(pairs)
}

/// The conflicts of a text, in its order.
fn find(text: &str, closers: &[(usize, usize)]) -> Vec<Conflict> {
    let bytes = text.as_bytes();
    let mut found: Vec<Conflict> = Vec::new();
    let mut scan = LineScan::default();
    // Behind the last line that is hidden or in conflict.
    let (mut position, mut behind) = (0, 0);
    let mut is_inside_entry = false;
    loop {
        while position < bytes.len() {
            let end = line_end(bytes, position);
            let line = bytes[position..end].strip_suffix(b"\n").unwrap_or(&bytes[position..end]);
            let event = scan.read(position as u64, line);
            let bare = scan::first_line_without_bom(position as u64, line);
            let is_hidden = matches!(event, Event::Hidden(..));
            if is_hidden || !is_conflict_marker(bare) {
                is_inside_entry = false;
                position = end;
                behind = if is_hidden { end } else { behind };
                continue;
            }
            let start = position + line.len() - bare.len();
            let range = match closers.binary_search_by_key(&start, |(opener, _)| *opener) {
                Ok(at) => start..closers[at].1,
                Err(_) if bare.starts_with(CONFLICT_OPEN) => start..section_end(bytes, end),
                Err(_) => second_side(bytes, behind, start)..end,
            };
            let (heading, has_structure) = structure(text, range.clone());
            is_inside_entry |= has_structure;
            let kept_from = if is_inside_entry { entry_end(bytes, range.end) } else { range.end };
            (position, behind) = (kept_from, kept_from);
            found.push(Conflict { range, heading, kept_from });
        }
        match scan.end() {
            Some((_, Some(resume))) => {
                position = usize::try_from(resume).expect("an offset into memory fits");
                behind = position;
            }
            _ => return found,
        }
    }
}

/// Start of the lines that end at a marker whose opening one was removed: the first line `=======` of the
/// same section, else the marker itself.
fn second_side(text: &[u8], from: usize, marker: usize) -> usize {
    let mut start = marker;
    for line in line_ranges(text, from..marker) {
        let content = &text[line.clone()];
        if scan::is_section_boundary(content) {
            start = marker;
        } else if start == marker && is_middle(content) {
            start = line.start;
        }
    }
    start
}

/// The heading that replaces those in a conflict: that of their section where both sides are in the
/// same, else one of no section. Also true if an entry or a part of a section begins in the conflict.
fn structure(text: &str, range: Range<usize>) -> (Option<String>, bool) {
    let (mut scopes, mut has_heading, mut has_structure) = (Vec::new(), false, false);
    for side in sides(text.as_bytes(), range) {
        let side = &text[side];
        let mut scope = None;
        for line in scan::lines(side).iter().filter(|line| !line.hidden) {
            let line = line.text(side);
            has_structure |= is_structure(line.as_bytes());
            if scan::is_section_boundary(line.as_bytes()) {
                has_heading = true;
                scope = grammar::parse_heading(line.trim_end()).map(|heading| heading.scope);
            }
        }
        scopes.push(scope);
    }
    let scope: Option<Scope> =
        scopes[0].clone().filter(|scope| scopes.iter().all(|side| side.as_ref() == Some(scope)));
    let heading = scope.map_or_else(|| "#".to_owned(), |scope| grammar::write_heading(&scope, ""));
    (has_heading.then_some(heading), has_structure)
}

/// The sides of a conflict, without the lines between them; at least one.
fn sides(text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    let mut sides = Vec::new();
    let mut start = range.start;
    for line in line_ranges(text, range.clone()) {
        let content = &text[line.clone()];
        if is_middle(content) || content.starts_with(CONFLICT_BASE) {
            sides.push(start..line.start);
            start = line.end;
        }
    }
    sides.push(start..range.end);
    sides
}

/// True if a line begins an entry or a part of a section.
fn is_structure(line: &[u8]) -> bool {
    line.first() == Some(&b'#')
        || line.starts_with(b"**[")
        || std::str::from_utf8(line).is_ok_and(|line| scan::is_thematic_break(line.trim_end()))
}

fn is_middle(line: &[u8]) -> bool {
    line.trim_ascii_end() == MIDDLE
}

/// Start of the next section; the end of the text where there is none.
fn section_end(text: &[u8], from: usize) -> usize {
    let mut all = line_ranges(text, from..text.len());
    all.find(|line| scan::is_section_boundary(&text[line.clone()])).map_or(text.len(), |line| line.start)
}

/// Start of the next entry, part of a section, or conflict; the end of the text where there is none.
fn entry_end(text: &[u8], from: usize) -> usize {
    let ends =
        |line: &Range<usize>| is_structure(&text[line.clone()]) || is_conflict_marker(&text[line.clone()]);
    line_ranges(text, from..text.len()).find(ends).map_or(text.len(), |line| line.start)
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::BYTE_ORDER_MARK as BOM;

    fn rest(text: &str) -> (Vec<usize>, String) {
        let Conflicts { lines, rest } = conflicts(text).unwrap();
        assert_eq!(newlines(&rest), newlines(text), "{rest:?}");
        (lines, rest.split('\n').filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn lines_in_conflict_are_left_out() {
        let text =
            "## World\n**[NOTE] a**\nx\n<<<<<<< HEAD\nours\n||||||| base\nb\n=======\ntheirs\n>>>>>>> b\ny\n";
        assert_eq!(rest(text), (vec![4], "## World|**[NOTE] a**|x|y".to_owned()));
        assert_eq!(rest("\u{FEFF}<<<<<<< a\r\nx\r\n>>>>>>> b\r\ny\r\n").1, "\u{FEFF}|y\r");
        let nested = "a\n<<<<<<< 1\n<<<<<<< 2\nb\n=======\nc\n>>>>>>> 2\n=======\nd\n>>>>>>> 1\ne\n<<<<<<< 3\n>>>>>>> 3\n";
        assert_eq!(rest(nested), (vec![2, 12], "a|e".to_owned()));
    }

    #[test]
    fn what_belongs_to_a_line_in_conflict_is_left_out_too() {
        let entry = "## World\n<<<<<<< a\n**[NOTE] a**\n=======\n**[NOTE] b**\n>>>>>>> b\nits text\n**[NOTE] c**\nd\n";
        assert_eq!(rest(entry).1, "## World|**[NOTE] c**|d");
        let places = "## World\na\n<<<<<<< a\n## Scene\nb\n=======\n## Dialogue\n>>>>>>> b\nc\n# T\nd\n";
        assert_eq!(rest(places).1, "## World|a|#|# T|d");
        let names = "<<<<<<< a\n## Location 1: A\n=======\n## Location 1: B\n>>>>>>> b\n**[NOTE] c**\nd\n";
        assert_eq!(rest(names).1, "## Location 1:|**[NOTE] c**|d");
    }

    #[test]
    fn markers_of_a_conflict_that_is_half_resolved_are_left_out() {
        assert_eq!(rest("a\n<<<<<<< x\nb\n# T\nc\n"), (vec![2], "a|# T|c".to_owned()));
        assert_eq!(rest("a\n=======\nb\n>>>>>>> x\nc\n"), (vec![2], "a|c".to_owned()));
        assert_eq!(rest("a\n||||||| x\nc\n"), (vec![2], "a|c".to_owned()));
    }

    #[test]
    fn other_lines_are_no_conflict() {
        for text in [
            "",
            "Title\n=======\n",
            "x <<<<<<< y\n",
            "<<<<<<<y\n",
            "```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n",
            "<!--\n<<<<<<< a\n-->\n",
            "<<<<<< a\n",
        ] {
            assert_eq!(conflicts(text), None, "{text:?}");
        }
        assert_eq!(rest("```\n<<<<<<< a\n>>>>>>> b\nc\n"), (vec![2], "```|c".to_owned()));
    }

    proptest! {
        #[test]
        fn no_marker_is_left_and_every_line_keeps_its_number(
            lines in prop::collection::vec(prop::sample::select(vec![
                "<<<<<<< a", "=======", ">>>>>>> b", "||||||| c", "## Location 1: A", "## World", "# T", "**[NOTE] a**",
                "text", "```", "<!--", "-->", "---", "", "\u{FEFF}", "- `x`: no", ">>>>>>> b\r",
            ]), 0..24),
        ) {
            let text = lines.join("\n");
            let Some(Conflicts { lines: found, rest }) = conflicts(&text) else { return Ok(()) };
            let bare = |line: &str| line.trim_start_matches(BOM).to_owned();
            let marks = |line: &str| is_conflict_marker(bare(line).as_bytes()) || is_middle(line.as_bytes());
            prop_assert!(found.iter().all(|line| marks(lines[line - 1])));
            prop_assert_eq!(conflicts(&rest), None, "{:?}", rest);
            let same = |(left, line): (&str, &&str)| ["", "#", "## Location 1:", "## World", line.trim()].contains(&bare(left).trim());
            prop_assert!(rest.lines().zip(&lines).all(same), "{:?}", rest);
        }
    }
}
