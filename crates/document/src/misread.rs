//! Lines of a file that are not read as they were meant, and their mends.
//!
//! A document enters; problems by line leave, and an edit for each line that can mean only one thing.
//! A line within the text of an entry is mended only where a program would have escaped it: so nothing
//! that a game or a model said becomes an entry.

use std::ops::Range;

use crate::evidence;
use crate::fields::parse_fields;
use crate::grammar::{self, Heading};
use crate::near::{self, Near};
use crate::near_entry;
use crate::parser::{Entry, ParsedSection, Region, RegionKind};
use crate::problem::{Kind, Nearest, Problem, column};
use crate::scan::{self, Line, LineNumbers};
use crate::text::is_escaped_in_text;
use crate::tree::{Block, Document};
use crate::types::{Memory, Provenance, Scope, Status};
use crate::visits;
use crate::ways::is_evidence_line;

/// Problems of lines that are misread, and what `--fix` makes of them.
#[derive(Debug, Default)]
pub(crate) struct Misread {
    pub(crate) problems: Vec<Problem>,
    /// Ranges of the file without a line ending at their end, and what belongs there.
    pub(crate) mends: Vec<(Range<usize>, String)>,
}

/// A heading to be mended, if no other section has its scope.
struct Claim {
    scope: Scope,
    /// Index of its problem and of its mend.
    problem: usize,
    mend: usize,
}

/// Finds what is misread.
pub(crate) fn misread(document: &Document) -> Misread {
    misread_in(document, 0..document.blocks().len())
}

/// The same in some blocks of the document, by their numbers.
pub(crate) fn misread_in(document: &Document, blocks: impl Iterator<Item = usize>) -> Misread {
    let source = document.source();
    let numbers = LineNumbers::of(source);
    let (mut found, mut claims) = (Misread::default(), Vec::new());
    for at in blocks {
        let block = &document.blocks()[at];
        let above = at.checked_sub(1).map(|above| &document.blocks()[above]);
        let above = above.filter(|above| above.heading.is_some()).map(|above| above.parsed(source));
        let Some(start) = block.source_start() else { continue };
        let text = block.text(source);
        let (lines, parsed) = (scan::lines(text), block.parsed(source));
        let first = numbers.line(start);
        let (found, claims) = (&mut found, &mut claims);
        Reader { block, text, lines, parsed, start, first, above, found, claims }.read();
    }
    drop_rivals(document, &mut found, &claims);
    found
}

/// Takes back the mends of headings whose scope has another section: which of them is meant, nobody knows.
fn drop_rivals(document: &Document, found: &mut Misread, claims: &[Claim]) {
    let is_taken = |claim: &&Claim| {
        document.headings().any(|heading| heading.scope == claim.scope)
            || claims.iter().filter(|other| other.scope == claim.scope).count() > 1
    };
    for claim in claims.iter().filter(is_taken) {
        if let Some(nearest) = &mut found.problems[claim.problem].nearest {
            nearest.mended = false;
        }
        found.mends[claim.mend] = (0..0, String::new());
    }
    found.mends.retain(|(range, _)| !range.is_empty());
}

/// Reads one block.
struct Reader<'a> {
    block: &'a Block,
    text: &'a str,
    lines: Vec<Line>,
    parsed: &'a ParsedSection,
    /// Offset of the block, and number of its first line.
    start: usize,
    first: usize,
    /// The section directly above.
    above: Option<&'a ParsedSection>,
    found: &'a mut Misread,
    claims: &'a mut Vec<Claim>,
}

impl Reader<'_> {
    fn read(mut self) {
        let mut is_ours = self.block.heading.is_some();
        let first_entry = self.parsed.entries.first().map_or(0, |entry| entry.line_number);
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            let content = line.text(self.text);
            if line.hidden || (at == 0 && self.block.heading.is_some() && !scan::has_lone_return(content)) {
                continue;
            }
            if self.lone_return(at, content) {
                continue;
            }
            if self.heading(at, content) || self.part(at, content) {
                is_ours |= at <= first_entry;
            } else if self.block.heading.is_some() {
                self.line(at, content);
            } else if content.starts_with('#') && near_entry::entry(content).is_some() {
                let kind = Kind::BrokenEntry(content.to_owned());
                self.found.problems.push(Problem::of_line(self.first + at, content, kind));
            }
        }
        if self.block.heading.is_some() {
            for entry in &self.parsed.entries {
                self.entry(entry);
            }
        } else if !is_ours {
            self.lost_entries();
        }
    }

    /// Reports the first line of a block that holds a carriage return, which ends no line.
    fn lone_return(&mut self, at: usize, content: &str) -> bool {
        let is_one = content.starts_with('#') && scan::has_lone_return(content);
        if is_one {
            let column = column(content, content.find('\r').unwrap_or(0));
            self.found.problems.push(Problem::new(self.first + at, column, Kind::LoneReturn));
        }
        is_one
    }

    /// The entry in whose text a line stands, and its region.
    fn place_of(&self, at: usize) -> (Option<&Entry>, &Region) {
        let offset = self.lines[at].range.start;
        let next = self.parsed.entries.partition_point(|entry| entry.range.end <= offset);
        let entry = self.parsed.entries.get(next).filter(|entry| entry.range.start <= offset);
        let next = self.parsed.regions.partition_point(|region| region.range.start <= offset);
        (entry, &self.parsed.regions[next.max(1) - 1])
    }

    /// True if a mend cannot make anything of a text that a program wrote.
    fn is_a_persons(&self, at: usize, content: &str) -> bool {
        self.place_of(at).0.is_none() || is_escaped_in_text(content)
    }

    /// True if an entry at a line would take lines of evidence below it for its text, which goes on to the next entry
    /// or the end of the region.
    fn takes_evidence(&self, at: usize) -> bool {
        let (entry, region) = self.place_of(at);
        if entry.is_some() || !region.kind.is_evidence() {
            return false;
        }
        let offset = self.lines[at].range.start;
        let next = self.parsed.entries.partition_point(|entry| entry.range.start <= offset);
        let next = self.parsed.entries.get(next).map_or(region.range.end, |entry| entry.range.start);
        let end = next.min(region.range.end);
        let mut text = self.lines[at + 1..].iter().take_while(|line| line.range.start < end);
        text.any(|line| !line.hidden && evidence::is_list_item(line.text(self.text)))
    }

    /// Reports an entry with its nearest right form, and mends it where that is certain and takes no evidence.
    fn report_entry(&mut self, at: usize, lines: usize, near: Near, kind: Kind) {
        let certain = near.certain && !self.takes_evidence(at);
        self.report(at, lines, Near { certain, ..near }, kind);
    }

    /// Reports a line with its nearest right form, and mends it where that is certain.
    fn report(&mut self, at: usize, lines: usize, near: Near, kind: Kind) {
        let content = self.lines[at].text(self.text);
        let number = self.first + at;
        let Some(form) = near.form else {
            return self.found.problems.push(Problem::of_line(number, content, kind));
        };
        let mended = near.certain && form != content;
        self.found.problems.push(Problem::near(
            number,
            content,
            Nearest { line: form.clone(), mended },
            kind,
        ));
        if mended {
            self.mend(at, lines, form);
        }
    }

    /// Replaces lines by one.
    fn mend(&mut self, at: usize, lines: usize, form: String) {
        let last = &self.lines[at + lines - 1];
        let end = last.range.start + last.text(self.text).len();
        self.found.mends.push((self.start + self.lines[at].range.start..self.start + end, form));
    }

    fn heading(&mut self, at: usize, content: &str) -> bool {
        let Some(near) = near::heading(content) else { return false };
        let leads_a_section = self.leads_a_section(at);
        let is_work = |heading: &Heading| matches!(heading.scope, Scope::Folder(_) | Scope::Topic(_));
        // People write headings such as `## Topic of the day` about anything.
        if near.form.as_ref().is_some_and(is_work) && !leads_a_section {
            return false;
        }
        let certain = near.certain && self.is_a_persons(at, content) && leads_a_section;
        let form = near.form.as_ref().map(|heading| grammar::write_heading(&heading.scope, &heading.name));
        let readable = form.as_deref().and_then(grammar::parse_heading) == near.form;
        let certain = certain && readable;
        let (problem, mend) = (self.found.problems.len(), self.found.mends.len());
        self.report(at, 1, Near { form, certain }, Kind::BrokenHeading(content.to_owned()));
        if let Some(heading) = near.form.filter(|_| self.found.mends.len() > mend) {
            self.claims.push(Claim { scope: heading.scope, problem, mend });
        }
        true
    }

    /// True if the lines below a heading, up to the next one, are lines of a section of this format.
    fn leads_a_section(&self, at: usize) -> bool {
        let visible =
            self.lines[at + 1..].iter().filter(|line| !line.hidden).map(|line| line.text(self.text));
        let below = visible.take_while(|line| near::heading(line).is_none());
        below.into_iter().any(|line| {
            grammar::looks_like_entry(line)
                || near_entry::entry(line).is_some_and(|near| near.certain)
                || visits::looks_like_visits(line)
                || RegionKind::begun_by(line) != RegionKind::Other
        })
    }

    /// `### Tryed`, and `## Memories` or `## Tried`, which end the section.
    fn part(&mut self, at: usize, content: &str) -> bool {
        let Some(part) = near::part(content) else { return false };
        let (is_tried, ends_section) = (part == "### Tried", at == 0);
        let section = if ends_section { self.above } else { Some(self.parsed) };
        let Some(section) = section.filter(|_| ends_section || is_tried) else { return false };
        if !ends_section && self.block.heading.is_none() {
            return false;
        }
        let kind = if is_tried { RegionKind::Tried } else { RegionKind::Memories };
        let first =
            self.lines[at + 1..].iter().map(|line| line.text(self.text)).find(|line| !scan::is_blank(line));
        let holds = first.is_some_and(|line| {
            if is_tried {
                line.contains('`')
                    && (evidence::parse_attempts(line).is_some() || near::attempt(line).is_some())
            } else {
                grammar::parse_entry(line).is_some()
            }
        });
        if ends_section && !holds {
            return false;
        }
        let certain = holds && section.regions.iter().all(|region| region.kind != kind);
        let near = Near { form: Some(part.to_owned()), certain };
        self.report(at, 1, near, Kind::BrokenHeading(content.to_owned()));
        true
    }

    /// Any other line of a section.
    fn line(&mut self, at: usize, content: &str) {
        let parsed = self.parsed;
        let mut known = parsed.problems.iter().filter(|problem| problem.line == at).peekable();
        let is_read = known.peek().is_none();
        for problem in known {
            let kind = problem.kind.clone();
            match &kind {
                Kind::BrokenEntry(_) => self.broken_entry(at, content, kind),
                Kind::BrokenAttempt(_) => {
                    let form = near::attempt(content);
                    self.report(at, 1, Near { certain: form.is_some(), form }, kind);
                }
                Kind::BrokenVisits(_) => self.visits(at, content, kind),
                _ => {
                    let line = self.first + at;
                    self.found.problems.push(Problem { line, ..problem.clone() });
                }
            }
        }
        let is_entry = parsed.entries.binary_search_by_key(&at, |entry| entry.line_number).is_ok();
        if !is_read || is_entry {
            return;
        }
        let (entry, region) = self.place_of(at);
        let (in_entry, is_tried) = (entry.is_some(), region.kind.is_evidence());
        if in_entry && !is_tried && is_escaped_in_text(content) && is_evidence_line(content) {
            let kind = Kind::EvidenceInText(content.to_owned());
            return self.found.problems.push(Problem::new(self.first + at, 1, kind));
        }
        let is_list = near_entry::is_listed(content);
        // An indented line of a text is code, unless it can be read as an entry.
        let is_code = in_entry && content.starts_with([' ', '\t']);
        let is_meant = |near: &Near| (near.form.is_some() || !is_code) && (!is_list || !is_tried);
        if let Some(near) = near_entry::entry(content).filter(is_meant) {
            // A text may hold a list of such lines, which a program once wrote as it was.
            let certain = near.certain && self.is_a_persons(at, content) && !(is_list && in_entry);
            return self.report_entry(at, 1, Near { certain, ..near }, Kind::BrokenEntry(content.to_owned()));
        }
        let has_visits = parsed.visits.as_ref().is_some_and(|(_, range)| *range == self.lines[at].range);
        if region.kind == RegionKind::Head && !in_entry && !has_visits && near::visits(content).is_some() {
            self.visits(at, content, Kind::BrokenVisits(content.to_owned()));
        }
    }

    fn visits(&mut self, at: usize, content: &str, kind: Kind) {
        let near = near::visits(content).unwrap_or(Near { form: None, certain: false });
        let certain = near.certain && self.parsed.visits.is_none();
        self.report(at, 1, Near { certain, ..near }, kind);
    }

    /// A line that begins as an entry: its end may stand in the next lines.
    fn broken_entry(&mut self, at: usize, content: &str, kind: Kind) {
        let mut joined = content.trim_end().to_owned();
        for more in 1..=2 {
            let Some(next) = self.lines.get(at + more).filter(|line| !line.hidden) else { break };
            let next = next.text(self.text).trim();
            let is_entry = grammar::looks_like_entry(next) || near_entry::entry(next).is_some();
            if next.is_empty() || next.starts_with('#') || is_entry {
                break;
            }
            joined = format!("{joined} {next}");
            if grammar::parse_entry(&joined).is_some() {
                return self.report_entry(at, 1 + more, Near { form: Some(joined), certain: true }, kind);
            }
        }
        let near = near_entry::entry(content).unwrap_or(Near { form: None, certain: false });
        self.report_entry(at, 1, near, kind);
    }

    /// An entry that is read, but not all of it as it was meant.
    fn entry(&mut self, entry: &Entry) {
        let at = entry.line_number;
        let content = self.lines[at].text(self.text);
        let Some(memory) = &grammar::parse_entry(content) else { return };
        let mut line = content.to_owned();
        let mut problems: Vec<(usize, Kind, bool)> = Vec::new();
        if let Some(Near { form: Some(form), certain }) = near_entry::bracket(memory) {
            let old = content.get(3..content.find(']').unwrap_or(3)).unwrap_or("");
            if certain {
                line = line.replacen(&format!("[{old}]"), &format!("[{form}]"), 1);
            }
            let kind = Kind::NearCategory { category: memory.category.to_string(), nearest: form };
            problems.push((4, kind, certain));
        }
        for field in &memory.provenance.other {
            let near = near_entry::fields(field);
            if near.is_some() || field.contains(char::is_numeric) {
                let near = near.unwrap_or(Near { form: None, certain: false });
                let (mended, certain) = with_field(&line, field, &near);
                line = mended;
                let offset = content.rfind(field.as_str()).unwrap_or(0);
                problems.push((column(content, offset), Kind::BrokenField(field.clone()), certain));
            }
        }
        if let Some(importance) = memory.provenance.importance.filter(|importance| *importance <= 10) {
            let at = content.rfind("mportance").map_or(0, |at| at.saturating_sub(1));
            problems.push((column(content, at), Kind::LowImportance(importance), false));
        }
        let mut lines = 1;
        if let Some(fields) = self.wrapped_fields(entry, memory) {
            (line, lines) =
                (format!("{} *({})*", line.trim_end(), fields.trim_matches(['*', '_', '(', ')'])), 2);
            problems.push((1, Kind::WrappedFields(fields.to_owned()), true));
        }
        if memory.is_live() && entry.status == Status::Superseded {
            let status =
                grammar::parse_entry(&line).map(|memory| Memory { status: Status::Superseded, ..memory });
            line = status.map_or(line, |memory| grammar::write_entry(&memory));
            problems.push((1, Kind::StruckLive(memory.title.clone()), true));
        }
        let mend = line != content;
        if mend {
            self.mend(at, lines, line.clone());
        }
        for (column, kind, mended) in problems {
            let nearest = (mended && mend).then(|| Nearest { line: line.clone(), mended: true });
            self.found.problems.push(Problem { line: self.first + at, column, kind, nearest });
        }
        let is_list = |line: &Line| evidence::is_list_item(line.text(self.text));
        let of_text = self.lines[at + 1..].iter().take_while(|line| line.range.start < entry.range.end);
        if self.place_of(at).1.kind.is_evidence() && of_text.into_iter().any(is_list) {
            let kind = Kind::EntryAmongTries(content.to_owned());
            self.found.problems.push(Problem::new(self.first + at, 1, kind));
        }
    }

    /// The fields of an entry that stand alone in the line below it.
    fn wrapped_fields(&self, entry: &Entry, memory: &Memory) -> Option<&str> {
        let next = self.lines.get(entry.line_number + 1).filter(|line| !line.hidden)?;
        let content = next.text(self.text).trim();
        let bare = memory.provenance == Provenance::default();
        (bare && next.range.start < entry.range.end && near_entry::is_wrapped_fields(content))
            .then_some(content)
    }

    /// Entries below a heading that is not ours, or above all headings.
    fn lost_entries(&mut self) {
        let Some(first) = self.parsed.entries.first() else { return };
        let heading = self.lines[0].text(self.text);
        let at = if scan::heading_level(heading.as_bytes()) == Some(2) { 0 } else { first.line_number };
        let heading = self.lines[at].text(self.text).to_owned();
        let kind = Kind::LostEntries { heading, count: self.parsed.entries.len() };
        self.found.problems.push(Problem::new(self.first + at, 1, kind));
    }
}

/// An entry line with a field in its right form, where that says all that the field says.
fn with_field(line: &str, field: &str, near: &Near) -> (String, bool) {
    let kept = || (line.to_owned(), false);
    let (Some(form), Some(at)) = (&near.form, line.rfind(field)) else { return kept() };
    let mended = format!("{}{form}{}", &line[..at], &line[at + field.len()..]);
    let before = grammar::parse_entry(line).map(|memory| memory.provenance.other.len());
    let after = grammar::parse_entry(&mended).map(|memory| memory.provenance.other.len());
    let all = parse_fields(form).other.is_empty() && before.is_some_and(|count| after == Some(count - 1));
    if near.certain && all { (mended, true) } else { kept() }
}
