//! Finds all problems of a file: the work of `check`.
//!
//! Reports, in the order of lines, what the grammar cannot read, and what a person or another program
//! would read differently: headings (`commonmark`), references (`references`) and double-encoded
//! characters (`double_encoding`).

use std::collections::{BTreeMap, BTreeSet};

use crate::commonmark::viewer_differences;
use crate::conflict::{Conflicts, conflicts};
use crate::deceptive::{Titles, unseen_characters};
use crate::double_encoding::encoded_twice;
use crate::grammar;
use crate::link::Link;
use crate::misread::{misread, misread_in};
use crate::parser::Entry;
use crate::problem::{Kind, Problem, column};
use crate::references::{Node, PlacedLink, References};
use crate::region::RegionKind;
use crate::scan::{self, BYTE_ORDER_MARK, Event, LineNumbers, walk};
use crate::tree::{Block, Document};
use crate::types::{Anchor, Memory, SAME_TITLE_TAG, Scope, is_anchor_tag};
use crate::version::newer_format;
use crate::{near, near_entry, twins};

pub use crate::commonmark::viewer_headings;

/// An entry and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The scope of its section.
    pub scope: Scope,
    /// The parsed entry.
    pub memory: Memory,
    /// Its line, from 1.
    pub line: usize,
}

/// Finds all problems of a file; lines count from 1. What stands in a conflict of a merge is not looked at.
pub fn problems(source: &str) -> Vec<Problem> {
    let Some(Conflicts { lines, rest }) = conflicts(source) else {
        return problems_outside_conflicts(source);
    };
    let mut problems = problems_outside_conflicts(&rest);
    problems.extend(lines.into_iter().map(|line| Problem::new(line, 1, Kind::Conflict)));
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

fn problems_outside_conflicts(source: &str) -> Vec<Problem> {
    let document = Document::parse(source.to_owned());
    let numbers = LineNumbers::of(source);
    let mut problems = Vec::new();
    let mut boundaries = Vec::new();
    let mut titles: BTreeMap<&Scope, Titles> = BTreeMap::new();
    let mut names: BTreeMap<&Scope, &str> = BTreeMap::new();
    let read = |block: &Block| match &block.heading {
        Some(_) => block.parsed(source).entries.iter().map(|entry| entry.read(block.text(source))).collect(),
        None => Vec::new(),
    };
    let memories: Vec<Vec<Memory>> = document.blocks().iter().map(read).collect();
    let mut references = References::default();
    for (block, memories) in document.blocks().iter().zip(&memories) {
        let text = block.text(source);
        let Some(start) = block.source_start() else { continue };
        let line = numbers.line(start);
        if scan::is_section_boundary(text.as_bytes()) {
            let marked = start == BYTE_ORDER_MARK.len_utf8() && source.starts_with(BYTE_ORDER_MARK);
            boundaries.push(if marked { 0 } else { start });
        }
        let Some(heading) = &block.heading else { continue };
        if let Some(first) = names.get(&heading.scope) {
            let is_joined = twins::have_one_name(first, &heading.name);
            let scope = heading.scope.to_string();
            problems.push(Problem::new(line, 1, Kind::SecondSection { scope, is_joined }));
        }
        let name = names.entry(&heading.scope).or_default();
        if name.is_empty() {
            *name = &heading.name;
        }
        let section = Section { text, line, is_folder: matches!(heading.scope, Scope::Folder(_)) };
        let parsed = block.parsed(source);
        let twins = twins::problems(&heading.scope, text, parsed).into_iter();
        problems.extend(twins.map(|problem| Problem { line: line + problem.line, ..problem }));
        let titles = titles.entry(&heading.scope).or_default();
        let entries = || parsed.entries.iter().zip(memories);
        section.check(entries(), titles, &mut problems);
        let nodes = entries().map(|(entry, memory)| section.node(entry, memory));
        references.nodes.entry(&heading.scope).or_default().extend(nodes);
        let links = entries().flat_map(|(entry, memory)| section.links(entry, memory));
        references.links.extend(links.map(|link| (&heading.scope, link)));
    }
    problems.extend(newer_format(source).map(|found| {
        let kind = Kind::NewerFormat(found.version);
        Problem::new(found.line, 1, kind)
    }));
    lost_ways(&document, &numbers, &mut problems);
    problems.extend(misread(&document));
    problems.extend(references.problems());
    if document.is_unclosed() {
        unclosed(source, &numbers, &mut problems);
    }
    viewer_differences(source, &boundaries, &numbers, &mut problems);
    problems.extend(encoded_twice(source, &numbers));
    problems.extend(unseen_characters(source, &numbers));
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// All entries of a file, in its order.
pub fn entries(source: &str) -> Vec<Located> {
    let document = Document::parse(source.to_owned());
    let numbers = LineNumbers::of(source);
    let mut found = Vec::new();
    for block in document.blocks() {
        let (Some(heading), Some(start)) = (&block.heading, block.source_start()) else { continue };
        let first = numbers.line(start);
        found.extend(block.parsed(source).entries.iter().map(|entry| Located {
            scope: heading.scope.clone(),
            memory: entry.read(block.text(source)),
            line: first + entry.line_number,
        }));
    }
    found
}

/// Reports locations whose ids are not among those of a map.
pub fn not_on_map(source: &str, map: &BTreeSet<u64>) -> Vec<Problem> {
    let document = Document::parse(source.to_owned());
    let numbers = LineNumbers::of(source);
    let off_map = |block: &Block| match (&block.heading.as_ref()?.scope, block.source_start()) {
        (Scope::Location(id), Some(start)) if !map.contains(id) => {
            let line = block.text(source);
            let at = line.find(&id.to_string()).unwrap_or(0);
            Some(Problem::new(numbers.line(start), column(line, at), Kind::NotOnMap(*id)))
        }
        _ => None,
    };
    document.blocks().iter().filter_map(off_map).collect()
}

/// The first line of a file that hides a whole section or entry, because it is not read as it was meant:
/// a heading or an entry line that is nearly one, or a heading of nothing above entries. Only the blocks that
/// [`Reading`] holds as suspect are parsed.
pub fn first_error(document: &Document, suspects: &[usize]) -> Option<Problem> {
    let found = misread_in(document, suspects.iter().copied());
    found.into_iter().filter(|problem| problem.kind.hides_memories()).min_by_key(|problem| problem.line)
}

/// A file that is cut into blocks, and what the same scan saw of its lines.
pub struct Reading {
    /// The file.
    pub document: Document,
    /// The blocks in which a line may hide something.
    pub suspects: Vec<usize>,
    /// True if a line looks like a marker of a merge conflict, hidden or not.
    pub has_marker: bool,
}

impl Reading {
    /// Reads a file in one scan.
    pub fn of(source: String) -> Reading {
        let (mut suspects, mut has_marker, mut in_scope) = (Vec::new(), false, false);
        let document = Document::parse_seeing(source, |block, event| {
            let (Event::Visible(offset, line) | Event::Hidden(offset, line)) = event else { return };
            let line = scan::first_line_without_bom(offset, line);
            // Plain text and lines of evidence are most of a file.
            if line.first().is_none_or(u8::is_ascii_alphanumeric) || line.starts_with(b"- `") {
                return;
            }
            has_marker = has_marker || scan::is_conflict_marker(line);
            let is_visible = matches!(event, Event::Visible(..));
            if is_visible && is_suspect_line(line, &mut in_scope) && suspects.last() != Some(&block) {
                suspects.push(block);
            }
        });
        Reading { document, suspects, has_marker }
    }
}

/// The line of the heading of a scope that is misread in one of these blocks.
pub fn misread_heading(document: &Document, suspects: &[usize], scope: &Scope) -> Option<usize> {
    suspects.iter().find_map(|&at| {
        let misread = near::misread_sections(document.block_text(at));
        let (_, line) = misread.into_iter().find(|(other, _)| other == scope)?;
        Some(document.first_line(at) + line - 1)
    })
}

/// True if a line that begins with `#` may be a heading that is not read as it was meant.
fn is_suspect_heading(line: &str) -> bool {
    RegionKind::begun_by(line) == RegionKind::Other
        && grammar::split_heading(line).is_none()
        && (near::heading(line).is_some() || near::part(line).is_some() || near_entry::entry(line).is_some())
}

/// True if a line may hide something. `in_scope` says whether a section of this format is open.
fn is_suspect_line(line: &[u8], in_scope: &mut bool) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let line = line.strip_suffix('\r').unwrap_or(line);
    if grammar::looks_like_entry(line) {
        let entry = grammar::split_entry(line).filter(|_| *in_scope);
        return entry
            .is_none_or(|entry| !near_entry::is_known(entry.bracket) && entry.read_bracket().is_none());
    }
    if line.starts_with('#') {
        if scan::is_section_boundary(line.as_bytes()) {
            *in_scope = grammar::split_heading(line).is_some();
            if *in_scope {
                return scan::has_lone_return(line);
            }
        }
        return scan::has_lone_return(line) || is_suspect_heading(line);
    }
    let may_be_heading = line.trim_start_matches(near::is_space).starts_with('#');
    may_be_heading && is_suspect_heading(line) || near_entry::entry(line).is_some()
}

/// A section to check; `line` is the line of its heading.
struct Section<'a> {
    text: &'a str,
    line: usize,
    is_folder: bool,
}

impl Section<'_> {
    fn check<'e>(
        &self,
        entries: impl Iterator<Item = (&'e Entry, &'e Memory)>,
        titles: &mut Titles,
        problems: &mut Vec<Problem>,
    ) {
        for (entry, memory) in entries {
            let unique = memory.is_live() && !memory.category.only_grows();
            let at = self.line + entry.line_number;
            if let Some(kind) = unique.then(|| titles.add(&memory.title, at)).flatten() {
                problems.push(Problem::of_line(at, &self.text[entry.line.clone()], kind));
            }
            if memory.is_live() && memory.has_tag(SAME_TITLE_TAG) {
                let kind = Kind::MergedTitle(memory.title.clone());
                problems.push(Problem::of_line(at, &self.text[entry.line.clone()], kind));
            }
            let tags = memory.provenance.tags.iter().filter(|_| self.is_folder && memory.is_live());
            let broken = tags.filter(|tag| is_anchor_tag(tag) && Anchor::of_tag(tag).is_none());
            problems.extend(broken.map(|tag| {
                Problem::of_line(at, &self.text[entry.line.clone()], Kind::BrokenAnchor(tag.clone()))
            }));
        }
    }

    /// An entry with the line of its reference in the file; its first line if it has none.
    fn node<'a>(&self, entry: &Entry, memory: &'a Memory) -> Node<'a> {
        let at = entry.reference_line(self.text).map_or(entry.line.start, |range| range.start);
        let line = self.line + entry.line_number + self.text[entry.line.start..at].matches('\n').count();
        Node { memory, line }
    }

    /// The links of an entry's `See also:` line.
    fn links(&self, entry: &Entry, memory: &Memory) -> Vec<PlacedLink> {
        let Some(see_also) = &memory.see_also else { return Vec::new() };
        let text = &self.text[entry.range.clone()];
        let start = text.rfind("See also:").unwrap_or(0);
        let line = self.line + entry.line_number + text[..start].matches('\n').count();
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        // Each is searched behind the one before it, and the characters between them are counted once.
        let (mut at, mut column) = (start, column(&text[line_start..], start - line_start));
        let placed = |link: Link| {
            let found = text[at..].find(&link.to_string()).map_or(at, |found| at + found);
            column += text[at..found].chars().count();
            at = found;
            PlacedLink { link, line, column }
        };
        Link::parse_all(see_also).into_iter().map(placed).collect()
    }
}

/// Ways to a place without a section where another place has the name in the link: most likely a heading got another id.
fn lost_ways(document: &Document, numbers: &LineNumbers, problems: &mut Vec<Problem>) {
    let source = document.source();
    let places = document.headings().filter_map(|heading| match heading.scope {
        Scope::Location(id) => Some((id, heading.name.as_str())),
        _ => None,
    });
    let ids: BTreeSet<u64> = places.clone().map(|(id, _)| id).collect();
    let by_name: BTreeMap<&str, u64> = places.map(|(id, name)| (name, id)).collect();
    for block in document.blocks().iter().filter(|block| block.heading.is_some()) {
        let Some(start) = block.source_start() else { continue };
        for way in &block.parsed(source).ways {
            let to = way.value.way.to;
            let name = &way.value.way.name;
            if let Some(&found) =
                by_name.get(name.as_str()).filter(|_| !ids.contains(&to) && !name.is_empty())
            {
                let kind = Kind::LostWay { to, name: name.clone(), found };
                problems.push(Problem::new(numbers.line(start + way.range.start), 1, kind));
            }
        }
    }
}

fn unclosed(source: &str, numbers: &LineNumbers, problems: &mut Vec<Problem>) {
    walk(source.as_bytes(), |event| {
        let Event::Unclosed { opener, .. } = event else { return };
        let offset = usize::try_from(opener).expect("an offset into memory fits");
        let line = source[offset..].lines().next().unwrap_or("");
        let kind = match scan::Block::opened_by(line.trim_start_matches(BYTE_ORDER_MARK).as_bytes()) {
            Some(scan::Block::Comment) => Kind::UnclosedComment,
            _ => Kind::UnclosedFence,
        };
        problems.push(Problem::new(numbers.line(offset), 1, kind));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(usize, &'static str)> {
        problems(source).iter().map(|problem| (problem.line, <&str>::from(&problem.kind))).collect()
    }

    #[test]
    fn a_clean_file_has_no_problems() {
        let source = "# Location Memories\n\n## Location 1: A\n**Visits:** 1\n\n### Memories\n\n**[NOTE] x**\ny\n\n---\n";
        assert_eq!(found(source), []);
    }

    #[test]
    fn no_line_that_record_writes_makes_a_reader_look_at_the_whole_file() {
        let case = include_str!("../../../fixtures/cli/record/evidence.txtar");
        let (_, written) = case.split_once("-- after/Memories.md --\n").unwrap();
        let headings = RegionKind::PARTS.iter().map(|(_, heading)| *heading);
        for line in headings.chain(written.lines()) {
            let text = format!("## Location 1: A\n\n### Memories\n\n{line}\n");
            assert_eq!(Reading::of(text).suspects, [] as [usize; 0], "{line}");
        }
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
