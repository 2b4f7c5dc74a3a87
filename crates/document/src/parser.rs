//! Parses one section into its parts.
//!
//! Each part keeps its byte range in the section's text; lines outside of all parts are free text.
//! Lines that cannot be understood stay free text and are reported as a [`Problem`].

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::entry_text::EntryText;
use crate::evidence::{AttemptLine, is_list_item, parse_attempts};
use crate::grammar;
use crate::notes::{Note, notes};
use crate::problem::{Kind, Problem};
use crate::region::{Placed, Region, RegionKind};
use crate::scan::{self, Line};
use crate::strike::is_all_struck;
use crate::types::{Memory, Persistence, Status, fold_action};
use crate::visits::{self, Visits};
use crate::ways::{WayLine, parse_way};

/// The position of an entry, which is read on demand: a section may have a hundred thousand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) status: Status,
    /// From its first line to the end of its last line that is not blank.
    pub(crate) range: Range<usize>,
    /// Its first line with line ending.
    pub(crate) line: Range<usize>,
    /// Number of its first line in the section; the heading is line 0.
    pub(crate) line_number: usize,
}

impl Entry {
    /// The entry; `section` is the text of its section.
    pub(crate) fn of<'a>(&self, section: &'a str) -> EntryText<'a> {
        EntryText::new(&section[self.range.clone()], self.status)
    }

    /// Reads the entry from the text of its section.
    pub(crate) fn read(&self, section: &str) -> Memory {
        self.of(section).read()
    }

    /// The reference line of a superseded entry, with its line ending.
    pub(crate) fn reference_line(&self, section: &str) -> Option<Range<usize>> {
        if self.status != Status::Superseded {
            return None;
        }
        self.read(section).reference?;
        let mut body = scan::line_ranges(section.as_bytes(), self.line.end..self.range.end);
        body.find(|line| !scan::is_blank(section[line.clone()].trim_end_matches('\n')))
    }
}

/// A parsed section.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedSection {
    /// The visits line and its range, with line ending.
    pub(crate) visits: Option<(Visits, Range<usize>)>,
    /// Entries in the order of the file.
    pub(crate) entries: Vec<Entry>,
    /// Lines of ways in the order of the file.
    pub(crate) ways: Vec<Placed<WayLine>>,
    /// Lines of actions that worked in the order of the file.
    pub(crate) worked: Vec<Placed<AttemptLine>>,
    /// Lines of actions that looked in the order of the file.
    pub(crate) seen: Vec<Placed<AttemptLine>>,
    /// Lines of tried actions in the order of the file.
    pub(crate) tried: Vec<Placed<AttemptLine>>,
    /// The section's regions in order; the first is the head.
    pub(crate) regions: Vec<Region>,
    /// Notes of a person outside entries, in the order of the file.
    pub(crate) notes: Vec<Placed<Note>>,
    /// Lines that could not be understood, by their number in the section.
    pub(crate) problems: Vec<Problem>,
}

impl ParsedSection {
    /// The ranges of visits, entries and evidence, in their order.
    pub(crate) fn owned_ranges(&self) -> Vec<Range<usize>> {
        self.owned_with(RegionKind::PARTS.iter().flat_map(|(kind, _)| self.list(*kind)))
    }

    /// The ranges of visits, entries and these lines of evidence, in their order.
    pub(crate) fn owned_with(&self, evidence: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
        let entries = self.entries.iter().map(|entry| entry.range.clone());
        let visits = self.visits.iter().map(|(_, range)| range.clone());
        let mut owned: Vec<Range<usize>> = entries.chain(visits).chain(evidence).collect();
        owned.sort_by_key(|range| range.start);
        owned
    }

    /// The ranges of the lines of evidence that say no more than evidence does.
    pub(crate) fn whole_lines(&self) -> impl Iterator<Item = Range<usize>> {
        let ways = self.ways.iter().filter(|line| line.value.is_whole).map(|line| line.range.clone());
        let attempts = RegionKind::ACTIONS.into_iter().flat_map(|kind| self.attempts(kind));
        ways.chain(attempts.filter(|line| line.value.is_whole).map(|line| line.range.clone()))
    }

    /// The ranges of the lines of one kind of evidence.
    pub(crate) fn list(&self, kind: RegionKind) -> Vec<Range<usize>> {
        fn ranges<T>(lines: &[Placed<T>]) -> Vec<Range<usize>> {
            lines.iter().map(|line| line.range.clone()).collect()
        }
        match kind {
            RegionKind::Ways => ranges(&self.ways),
            kind => ranges(self.attempts(kind)),
        }
    }

    /// The lines of actions of one kind; none for a region that lists no actions.
    pub(crate) fn attempts(&self, kind: RegionKind) -> &[Placed<AttemptLine>] {
        match kind {
            RegionKind::Worked => &self.worked,
            RegionKind::Seen => &self.seen,
            RegionKind::Tried => &self.tried,
            RegionKind::Head | RegionKind::Memories | RegionKind::Ways | RegionKind::Other => &[],
        }
    }
}

/// A test of actions: has one worked or led somewhere, as these sections of a scope say?
pub(crate) fn have_worked(sections: &[&ParsedSection]) -> impl Fn(&str) -> bool {
    let worked = LazyCell::new(move || -> HashSet<String> {
        let here = sections.iter().flat_map(|section| &section.worked);
        let here = here.flat_map(|line| &line.value.attempts).map(|attempt| &attempt.action);
        let ways = sections.iter().flat_map(|section| &section.ways).map(|line| &line.value.way.action);
        here.chain(ways).map(|action| fold_action(action)).collect()
    });
    move |action| worked.contains(&fold_action(action))
}

#[cfg(test)]
thread_local! {
    /// Sections that this thread parsed, for tests.
    pub(crate) static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Parses a section, given with its heading line.
pub(crate) fn parse_section(text: &str) -> ParsedSection {
    #[cfg(test)]
    PARSED.with(|parsed| parsed.set(parsed.get() + 1));
    let lines = scan::lines(text);
    let parsed = read_lines(text, &lines, false);
    ParsedSection { notes: notes(text, &lines, &parsed.regions, &parsed.owned_ranges()), ..parsed }
}

/// The entries of a section alone, given with its heading line: evidence, visits and notes are not read.
pub(crate) fn parse_entries(text: &str) -> Vec<Entry> {
    read_lines(text, &scan::lines(text), true).entries
}

fn read_lines(text: &str, lines: &[Line], only_entries: bool) -> ParsedSection {
    let (parsed, brackets) = (ParsedSection::default(), HashMap::default());
    let mut reader = Reader { text, lines, parsed, entry: None, brackets, only_entries };
    reader.open_region(RegionKind::Head, 0, false);
    for at in 1..lines.len() {
        reader.read_line(at);
    }
    reader.close_entry(lines.len());
    reader.close_region(text.len());
    reader.parsed
}

struct Reader<'a> {
    text: &'a str,
    lines: &'a [Line],
    parsed: ParsedSection,
    /// Number of the line at which the current entry starts, and its status.
    entry: Option<(usize, Status)>,
    /// Persistence and status of the brackets read so far: few are different, and reading one is slow.
    brackets: HashMap<&'a str, Option<(Persistence, Status)>, FixedState>,
    /// True if nothing but entries is asked for.
    only_entries: bool,
}

impl<'a> Reader<'a> {
    fn read_line(&mut self, at: usize) {
        let line = &self.lines[at];
        let content = line.text(self.text);
        let is_plain_text = || content.as_bytes().first().is_none_or(u8::is_ascii_alphanumeric);
        if line.hidden || self.entry.is_some() && is_plain_text() {
            return;
        }
        if scan::is_thematic_break(content) {
            return self.open_region(RegionKind::Other, at, true);
        }
        let unindented = scan::unindent(content.as_bytes());
        if let Some(level) = unindented.and_then(scan::heading_level) {
            let kind = RegionKind::begun_by(content);
            if level <= 2 {
                self.problem(at, Kind::IndentedHeading);
            }
            return self.open_region(kind, at, false);
        }
        if let Some((persistence, status)) = self.entry_of(content) {
            self.close_entry(at);
            if persistence == Persistence::Ephemeral {
                self.problem(at, Kind::EphemeralEntry);
            }
            self.entry = Some((at, status));
            return;
        }
        if self.only_entries {
            return;
        }
        if grammar::looks_like_entry(content) {
            self.problem(at, Kind::BrokenEntry(content.to_owned()));
        }
        let region = self.parsed.regions.last().map_or(RegionKind::Head, |region| region.kind);
        if region.is_evidence() && self.entry.is_none() && is_list_item(content) {
            self.read_evidence(region, at);
        } else if self.entry.is_none() && (region == RegionKind::Head || visits::looks_like_visits(content)) {
            self.read_visits(at);
        }
    }

    /// Reads a line that may be the line of visits.
    fn read_visits(&mut self, at: usize) {
        let line = &self.lines[at];
        let content = line.text(self.text);
        match visits::parse_visits(content) {
            Some(visits) if self.parsed.visits.is_none() => {
                if let Some(key) = visits::repeated_key(content) {
                    self.problem(at, Kind::RepeatedKey(key));
                }
                if visits::unread_part(&visits).is_some() {
                    self.problem(at, Kind::BrokenVisits(content.to_owned()));
                }
                self.parsed.visits = Some((visits, line.range.clone()));
            }
            Some(_) => self.problem(at, Kind::SecondVisits),
            None if visits::looks_like_visits(content) => {
                self.problem(at, Kind::BrokenVisits(content.to_owned()));
            }
            None => {}
        }
    }

    /// Persistence and status of the entry whose first line this is.
    fn entry_of(&mut self, content: &'a str) -> Option<(Persistence, Status)> {
        let parts = grammar::split_entry(content)?;
        let read = || parts.read_bracket().map(|(_, persistence, status)| (persistence, status));
        *self.brackets.entry(parts.bracket).or_insert_with(read)
    }

    /// Reads a line of a list of evidence.
    fn read_evidence(&mut self, region: RegionKind, at: usize) {
        let line = &self.lines[at];
        let (content, range) = (line.text(self.text), line.range.clone());
        let goes_on = self.lines.get(at + 1).is_some_and(|next| is_continuation(next.text(self.text)));
        let attempts = |content| {
            let line = parse_attempts(content)?;
            Some(AttemptLine { is_whole: line.is_whole && !goes_on, ..line })
        };
        let way = |content| {
            let line = parse_way(content)?;
            Some(WayLine { is_whole: line.is_whole && !goes_on, ..line })
        };
        let parsed = &mut self.parsed;
        let broken = match region {
            RegionKind::Ways => Kind::BrokenWay(content.to_owned()),
            _ => Kind::BrokenAttempt(content.to_owned()),
        };
        let is_read = match region {
            RegionKind::Ways => push(&mut parsed.ways, way(content), range),
            RegionKind::Worked => push(&mut parsed.worked, attempts(content), range),
            RegionKind::Seen => push(&mut parsed.seen, attempts(content), range),
            _ => push(&mut parsed.tried, attempts(content), range),
        };
        if !is_read {
            self.problem(at, broken);
        }
    }

    fn problem(&mut self, line: usize, kind: Kind) {
        self.parsed.problems.push(Problem::of_line(line, self.lines[line].text(self.text), kind));
    }

    fn open_region(&mut self, kind: RegionKind, at: usize, after_break: bool) {
        let start = self.lines.get(at).map_or(0, |line| line.range.start);
        self.close_entry(at);
        self.close_region(start);
        let range = start..start;
        self.parsed.regions.push(Region { kind, range, content_end: start, after_break, bare: true });
    }

    fn close_region(&mut self, end: usize) {
        let Some(region) = self.parsed.regions.last_mut() else { return };
        region.range.end = end;
        region.content_end = content_end(self.text, self.lines, region.range.clone());
        region.bare = !self.text[region.range.start..region.content_end].trim_end().contains('\n');
    }

    /// Reports the line under an entry's title if it looks like a reference but is not read as one.
    fn check_first_line(&mut self, start: usize, end: usize, status: Status) {
        let lines = self.lines[start..end].iter().map(|line| (line.text(self.text), line.hidden));
        let first = lines.enumerate().find(|(_, (line, _))| !scan::is_blank(line));
        if let Some((at, (line, false))) = first
            && looks_like_reference(line)
        {
            let is_live = status != Status::Superseded;
            match grammar::parse_reference(line).is_some() {
                true if is_live => self.problem(start + at, Kind::ReferenceOfLiveEntry(line.to_owned())),
                false if !is_live => self.problem(start + at, Kind::BrokenReference(line.to_owned())),
                _ => {}
            }
        }
    }

    /// Ends the current entry before line `end`.
    fn close_entry(&mut self, end: usize) {
        let Some((first, status)) = self.entry.take() else { return };
        let mut lines = self.lines[first..end].iter().rev();
        let last = lines.find(|line| !scan::is_blank(line.text(self.text))).unwrap_or(&self.lines[first]);
        let range = self.lines[first].range.start..last.range.end;
        self.check_first_line(first + 1, end, status);
        let text = self.lines[first + 1..end].iter().map(|line| (line.text(self.text), line.hidden));
        // An entry whose text a person struck from beginning to end holds no more, whatever its brackets say.
        let is_struck = status != Status::Superseded && is_all_struck(text);
        let status = if is_struck { Status::Superseded } else { status };
        let line = self.lines[first].range.clone();
        self.parsed.entries.push(Entry { status, range, line, line_number: first });
    }
}

/// True if one of these ranges, which are in their order, holds an offset.
pub(crate) fn holds(ranges: &[Range<usize>], offset: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= offset);
    ranges.get(next).is_some_and(|range| range.start <= offset)
}

/// True if a line belongs to the item of a list above it.
pub(crate) fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !scan::is_blank(line)
}

/// Appends a line that was read; `false` for one that could not be.
fn push<T>(lines: &mut Vec<Placed<T>>, value: Option<T>, range: Range<usize>) -> bool {
    let is_read = value.is_some();
    lines.extend(value.map(|value| Placed { value, range }));
    is_read
}

/// True if a line looks like a reference of a superseded entry.
fn looks_like_reference(line: &str) -> bool {
    let line = line.trim_start();
    ["[Superseded", "[Invalidated"].iter().any(|start| line.starts_with(start)) && line.contains(']')
}

/// End of the last line in a range that is not blank; the range's start if all are blank.
fn content_end(text: &str, lines: &[Line], range: Range<usize>) -> usize {
    let first = lines.partition_point(|line| line.range.start < range.start);
    let last = lines.partition_point(|line| line.range.start < range.end);
    let content = lines[first..last].iter().rev().find(|line| !scan::is_blank(line.text(text)));
    content.map_or(range.start, |line| line.range.end)
}
