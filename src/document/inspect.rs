//! All problems of a file, in the order of its lines: the work of `check`.
//!
//! Besides what the grammar cannot read, this compares the line scan with what a Markdown viewer
//! (CommonMark, by pulldown-cmark) makes of the same text: where the two see different sections, a
//! person would read another file than the program does.

use std::collections::BTreeMap;

use pulldown_cmark::{Event as ViewerEvent, HeadingLevel, Options, Parser, Tag};

use crate::document::problem::{Kind, Problem};
use crate::document::scan::{self, Block, Event, TextLines, walk};
use crate::document::section::parse_section;
use crate::document::{Document, grammar, line_number};
use crate::memory::{Scope, fold_title};

/// Finds everything wrong with a file; lines count from 1.
pub fn problems(source: &str) -> Vec<Problem> {
    let document = Document::parse(source.to_owned());
    let mut problems = Vec::new();
    let mut line = 1;
    let mut seen: BTreeMap<Scope, BTreeMap<String, usize>> = BTreeMap::new();
    for block in &document.blocks {
        let text = document.text_of(block);
        match &block.heading {
            Some(heading) => {
                let second = seen.contains_key(&heading.scope);
                if second {
                    let kind = Kind::SecondSection(heading.scope.to_string());
                    problems.push(Problem { line, column: 1, kind });
                }
                let titles = seen.entry(heading.scope.clone()).or_default();
                section_problems(text, line, titles, &mut problems);
            }
            None => {
                let first = text.lines().next().unwrap_or("");
                if looks_like_ours(first) {
                    problems.push(Problem { line, column: 1, kind: Kind::BrokenHeading(first.to_owned()) });
                }
            }
        }
        line += text.bytes().filter(|&byte| byte == b'\n').count();
    }
    unclosed(source, &mut problems);
    viewer_differences(source, &mut problems);
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// A heading that a person most likely meant as one of ours.
fn looks_like_ours(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("## ") else { return false };
    ["Location ", "Location:", "NPC ", "Agent "].iter().any(|keyword| rest.starts_with(keyword))
        && (rest.contains(':') || rest.bytes().any(|byte| byte.is_ascii_digit()))
        && grammar::parse_heading(line).is_none()
}

fn section_problems(
    text: &str,
    line: usize,
    titles: &mut BTreeMap<String, usize>,
    problems: &mut Vec<Problem>,
) {
    let parts = parse_section(text);
    problems
        .extend(parts.problems.into_iter().map(|problem| Problem { line: line + problem.line, ..problem }));
    for entry in parts.entries {
        if !entry.memory.is_live() || entry.memory.category.only_grows() {
            continue;
        }
        let at = line + entry.line_number;
        if titles.insert(fold_title(&entry.memory.title), at).is_some() {
            problems.push(Problem { line: at, column: 1, kind: Kind::SameTitle(entry.memory.title) });
        }
    }
}

fn unclosed(source: &str, problems: &mut Vec<Problem>) {
    let Ok(()) = walk(&mut TextLines::new(source.as_bytes()), |event| {
        let Event::Unclosed { opener, .. } = event else { return };
        let offset = usize::try_from(opener).expect("an offset into memory fits");
        let line = source[offset..].lines().next().unwrap_or("");
        let kind = match Block::opened_by(line.as_bytes()) {
            Some(Block::Comment) => Kind::UnclosedComment,
            _ => Kind::UnclosedFence,
        };
        problems.push(Problem { line: line_number(source, offset), column: 1, kind });
    });
}

/// Compares the section boundaries of the scan with the headings that a viewer shows.
fn viewer_differences(source: &str, problems: &mut Vec<Problem>) {
    let mut ours: Vec<usize> = Vec::new();
    let Ok(()) = walk(&mut TextLines::new(source.as_bytes()), |event| {
        let Event::Visible(offset, line) = event else { return };
        if scan::is_section_boundary(scan::first_line_without_bom(offset, line)) {
            ours.push(usize::try_from(offset).expect("an offset into memory fits"));
        }
    });
    let theirs = viewer_headings(source);
    let reported: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    let mut report = |offset: usize, kind: fn(String) -> Kind| {
        let line = line_number(source, offset);
        if !reported.contains(&line) {
            let text = source[offset..].lines().next().unwrap_or("").to_owned();
            problems.push(Problem { line, column: 1, kind: kind(text) });
        }
    };
    for &offset in theirs.iter().filter(|offset| ours.binary_search(offset).is_err()) {
        report(offset, Kind::ViewerSeesHeading);
    }
    for &offset in ours.iter().filter(|offset| theirs.binary_search(offset).is_err()) {
        report(offset, Kind::ViewerMissesHeading);
    }
}

/// Offsets of the lines at which a Markdown viewer shows a level-1 or level-2 heading of the
/// document itself, not of a list or quotation in it. In ascending order.
pub fn viewer_headings(source: &str) -> Vec<usize> {
    let text = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    let skipped = source.len() - text.len();
    let mut depth = 0_usize;
    let mut offsets = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            ViewerEvent::Start(tag) => {
                let level = match tag {
                    Tag::Heading { level, .. } => Some(level),
                    _ => None,
                };
                if depth == 0 && matches!(level, Some(HeadingLevel::H1 | HeadingLevel::H2)) {
                    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                    offsets.push(if line == 0 { 0 } else { line + skipped });
                }
                depth += 1;
            }
            ViewerEvent::End(_) => depth -= 1,
            _ => {}
        }
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(usize, &'static str)> {
        problems(source).iter().map(|problem| (problem.line, problem.kind.name())).collect()
    }

    #[test]
    fn a_clean_file_has_no_problems() {
        let source = "# Location Memories\n\n## Location 1: A\n**Visits:** 1\n\n### Memories\n\n**[NOTE] x**\ny\n\n---\n";
        assert_eq!(found(source), []);
    }

    #[test]
    fn each_problem_has_its_line() {
        let source = "## Location one: A\n## Location 1: A\n**Visits:** many\n**[NOTE] x** y\n**[NOTE] a**\n**[NOTE] A**\n### Tried\n- \n```\n";
        let expected = [
            (1, "broken_heading"),
            (3, "broken_visits"),
            (4, "broken_entry"),
            (6, "same_title"),
            (8, "broken_attempt"),
            (9, "unclosed_fence"),
        ];
        assert_eq!(found(source), expected);
    }

    #[test]
    fn a_viewer_may_see_another_file() {
        assert_eq!(found("## Location 1: A\n\ntext\n---\n"), [(3, "viewer_sees_heading")]);
        assert_eq!(found("<script>\n## Location 1: A\n</script>\n"), [(2, "viewer_misses_heading")]);
        assert_eq!(found("\u{FEFF}## Location 1: A\n"), []);
    }
}
