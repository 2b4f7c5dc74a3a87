//! Compares the sections of the line scan with the headings that a Markdown viewer shows.
//!
//! Where the two differ, a person reads another file than the program does.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::problem::{Kind, Problem};
use crate::scan::LineNumbers;

/// Reports differences between the section boundaries of the scan, as ascending offsets, and the
/// headings that a viewer shows. Skips lines with a reported problem.
pub(crate) fn viewer_differences(
    source: &str,
    ours: &[usize],
    numbers: &LineNumbers,
    problems: &mut Vec<Problem>,
) {
    let theirs = viewer_headings(source);
    let reported: BTreeSet<usize> = problems.iter().map(|problem| problem.line).collect();
    let mut report = |offset: usize, kind: fn(String) -> Kind| {
        let line = numbers.line(offset);
        if !reported.contains(&line) {
            let text = source[offset..].lines().next().unwrap_or("").to_owned();
            problems.push(Problem::new(line, 1, kind(text)));
        }
    };
    for &offset in theirs.iter().filter(|offset| ours.binary_search(offset).is_err()) {
        report(offset, Kind::ViewerSeesHeading);
    }
    for &offset in ours.iter().filter(|offset| theirs.binary_search(offset).is_err()) {
        report(offset, Kind::ViewerMissesHeading);
    }
}

/// Offsets of the lines that a Markdown viewer shows as level-1 or level-2 headings, in ascending order.
/// Headings inside a list or quotation do not count.
pub fn viewer_headings(source: &str) -> Vec<usize> {
    let text = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    let skipped = source.len() - text.len();
    let mut depth = 0_usize;
    let mut offsets = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let is_heading =
                    matches!(tag, Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. });
                if depth == 0 && is_heading {
                    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                    offsets.push(if line == 0 { 0 } else { line + skipped });
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_a_byte_order_mark() {
        assert_eq!(viewer_headings("# T\n\n## A\n\n> ## B\n"), [0, 5]);
        assert_eq!(viewer_headings("\u{FEFF}# T\n\n## A\n"), [0, 8]);
    }
}
