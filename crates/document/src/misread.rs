//! Lines of a file that are not read as they were meant, and their mends.
//!
//! A document enters; problems by line leave, each with its mend where the line can mean only one thing.
//! A line within the text of an entry is mended only where a program would have escaped it: so nothing
//! that a game or a model said becomes an entry.

use std::ops::Range;

use crate::evidence;
use crate::fields::parse_fields;
use crate::grammar::{self, Heading};
use crate::near::{self, Near};
use crate::near_entry;
use crate::parser::{Entry, ParsedSection};
use crate::problem::{Kind, Nearest, Problem, column};
use crate::region::{Region, RegionKind};
use crate::scan::{self, Line};
use crate::text::is_escaped_in_text;
use crate::tree::{Block, Document};
use crate::types::{Memory, Provenance, Scope, Status, is_misnamed, may_name_witnesses};
use crate::visits;
use crate::ways::{is_evidence_line, parse_way};

/// Finds what is misread.
pub(crate) fn misread(document: &Document) -> Vec<Problem> {
    misread_in(document, 0..document.blocks().len())
}

/// The same in some blocks of the document, by their numbers.
pub(crate) fn misread_in(document: &Document, blocks: impl Iterator<Item = usize>) -> Vec<Problem> {
    let source = document.source();
    let (mut counted, mut first) = (0, 1);
    let (mut problems, mut claims) = (Vec::new(), Vec::new());
    for at in blocks {
        let block = &document.blocks()[at];
        let above = at.checked_sub(1).map(|above| &document.blocks()[above]);
        let above = above.filter(|above| above.heading.is_some()).map(|above| above.parsed(source));
        let Some(start) = block.source_start() else { continue };
        let text = block.text(source);
        let (lines, parsed) = (scan::lines(text), block.parsed(source));
        // The blocks come in the order of the file.
        first += memchr::memchr_iter(b'\n', &source.as_bytes()[counted..start]).count();
        counted = start;
        let (problems, claims) = (&mut problems, &mut claims);
        Reader { block, text, lines, parsed, start, first, above, problems, claims }.read();
    }
    // Where a scope has another section, nobody knows which of them is meant.
    for (scope, at) in &claims {
        let is_taken = document.headings().any(|heading| heading.scope == *scope)
            || claims.iter().filter(|(other, _)| other == scope).count() > 1;
        if let Some(nearest) = problems[*at].nearest.as_mut().filter(|_| is_taken) {
            nearest.mend = None;
        }
    }
    problems
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
    problems: &'a mut Vec<Problem>,
    /// The scopes of headings to be mended, each with the index of its problem.
    claims: &'a mut Vec<(Scope, usize)>,
}

/// Fields of one entry that are looked at.
const FIELDS: usize = 50;

impl Reader<'_> {
    fn read(mut self) {
        let in_section = self.block.heading.is_some();
        let mut is_ours = in_section;
        let first_entry = self.parsed.entries.first().map_or(0, |entry| entry.line_number);
        for at in 0..self.lines.len() {
            let content = self.lines[at].text(self.text);
            let has_return = scan::has_lone_return(content);
            if self.lines[at].hidden || (at == 0 && in_section && !has_return) {
                continue;
            }
            if content.starts_with('#') && has_return {
                let column = column(content, content.find('\r').unwrap_or(0));
                self.tell(at, column, Kind::LoneReturn);
            } else if self.heading(at, content) || self.part(at, content) {
                is_ours |= at <= first_entry;
            } else if in_section {
                self.line(at, content);
            } else if content.starts_with('#') && near_entry::entry(content).is_some() {
                self.report(at, 1, None, Kind::BrokenEntry);
            }
        }
        if in_section {
            self.parsed.entries.iter().for_each(|entry| self.entry(entry));
        } else if !is_ours {
            self.lost_entries();
        }
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

    /// Reports a problem at a column of a line.
    fn tell(&mut self, at: usize, column: usize, kind: Kind) {
        self.problems.push(Problem::new(self.first + at, column, kind));
    }

    /// Reports an entry with its nearest right form, and mends it where that is certain and takes no evidence.
    fn report_entry(&mut self, at: usize, lines: usize, near: Option<Near>) {
        let near = near.map(|near| near.only_if(!self.takes_evidence(at)));
        self.report(at, lines, near, Kind::BrokenEntry);
    }

    /// Reports a line with its nearest right form, which replaces it and lines below it where that is certain.
    fn report(&mut self, at: usize, lines: usize, near: Option<Near>, kind: fn(String) -> Kind) {
        let content = self.lines[at].text(self.text);
        let (number, kind) = (self.first + at, kind(content.to_owned()));
        self.problems.push(match near {
            Some(Near { form: Some(line), certain }) => {
                let mend = (certain && line != content).then(|| self.range_of(at, lines));
                Problem::near(number, content, Nearest { line, mend }, kind)
            }
            _ => Problem::of_line(number, content, kind),
        });
    }

    /// The range of lines in the file, without the line ending of the last.
    fn range_of(&self, at: usize, lines: usize) -> Range<usize> {
        let last = &self.lines[at + lines - 1];
        let end = last.range.start + last.text(self.text).len();
        self.start + self.lines[at].range.start..self.start + end
    }

    fn heading(&mut self, at: usize, content: &str) -> bool {
        let Some(near) = near::heading(content) else { return false };
        let leads_a_section = self.leads_a_section(at);
        let is_work = |heading: &Heading| matches!(heading.scope, Scope::Folder(_) | Scope::Topic(_));
        // People write headings such as `## Topic of the day` about anything.
        if near.form.as_ref().is_some_and(is_work) && !leads_a_section {
            return false;
        }
        let form = near.form.as_ref().map(|heading| grammar::write_heading(&heading.scope, &heading.name));
        let is_readable = form.as_deref().and_then(grammar::parse_heading) == near.form;
        let certain = near.certain && is_readable && leads_a_section && self.is_a_persons(at, content);
        self.report(at, 1, Some(Near { form, certain }), Kind::BrokenHeading);
        let problem = self.problems.len() - 1;
        let is_mended = self.problems[problem].is_mended_by_fix();
        self.claims.extend(near.form.filter(|_| is_mended).map(|heading| (heading.scope, problem)));
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
        let (is_tried, ends_section) = (part == RegionKind::Tried, at == 0);
        let own = Some(self.parsed).filter(|_| is_tried && self.block.heading.is_some());
        let section = if ends_section { self.above } else { own };
        let Some(section) = section else { return false };
        let mut below = self.lines[at + 1..].iter().map(|line| line.text(self.text));
        let is_attempt =
            |line: &str| evidence::parse_attempts(line).is_some() || near::attempt(line).is_some();
        let is_part = |line: &str| {
            if is_tried {
                line.contains('`') && is_attempt(line)
            } else {
                grammar::parse_entry(line).is_some()
            }
        };
        let holds = below.find(|line| !scan::is_blank(line)).is_some_and(is_part);
        if ends_section && !holds {
            return false;
        }
        let certain = holds && section.regions.iter().all(|region| region.kind != part);
        self.report(at, 1, Some(Near::of(part.heading().to_owned(), certain)), Kind::BrokenHeading);
        true
    }

    /// Any other line of a section.
    fn line(&mut self, at: usize, content: &str) {
        let parsed = self.parsed;
        let mut is_read = true;
        for problem in parsed.problems.iter().filter(|problem| problem.line == at) {
            is_read = false;
            match problem.kind {
                Kind::BrokenEntry(_) => self.broken_entry(at, content),
                Kind::BrokenAttempt(_) => self.report(at, 1, near::attempt(content), Kind::BrokenAttempt),
                Kind::BrokenVisits(_) => self.visits(at, near::visits(content)),
                _ => self.problems.push(Problem { line: self.first + at, ..problem.clone() }),
            }
        }
        let is_entry = parsed.entries.binary_search_by_key(&at, |entry| entry.line_number).is_ok();
        if !is_read || is_entry {
            return;
        }
        let (entry, region) = self.place_of(at);
        let (in_entry, is_tried, is_head) =
            (entry.is_some(), region.kind.is_evidence(), region.kind == RegionKind::Head);
        if in_entry && !is_tried && is_escaped_in_text(content) && is_evidence_line(content) {
            return self.tell(at, 1, Kind::EvidenceInText(content.to_owned()));
        }
        if is_tried && let Some(tag) = misnamed_witness(content) {
            return self.tell(at, 1, Kind::BrokenWitness(tag));
        }
        let is_list = near_entry::is_listed(content);
        // An indented line of a text is code, unless it can be read as an entry.
        let is_code = in_entry && content.starts_with([' ', '\t']);
        let is_meant = |near: &Near| (near.form.is_some() || !is_code) && (!is_list || !is_tried);
        if let Some(near) = near_entry::entry(content).filter(is_meant) {
            // A text may hold a list of such lines, which a program once wrote as it was.
            let is_sure = self.is_a_persons(at, content) && !(is_list && in_entry);
            return self.report_entry(at, 1, Some(near.only_if(is_sure)));
        }
        let has_visits = parsed.visits.as_ref().is_some_and(|(_, range)| *range == self.lines[at].range);
        if is_head
            && !in_entry
            && !has_visits
            && let Some(near) = near::visits(content)
        {
            self.visits(at, Some(near));
        }
    }

    fn visits(&mut self, at: usize, near: Option<Near>) {
        let near = near.map(|near| near.only_if(self.parsed.visits.is_none()));
        self.report(at, 1, near, Kind::BrokenVisits);
    }

    /// A line that begins as an entry: its end may stand in the next lines.
    fn broken_entry(&mut self, at: usize, content: &str) {
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
                return self.report_entry(at, 1 + more, Some(Near::of(joined, true)));
            }
        }
        self.report_entry(at, 1, near_entry::entry(content));
    }

    /// An entry that is read, but not all of it as it was meant.
    fn entry(&mut self, entry: &Entry) {
        let at = entry.line_number;
        let content = self.lines[at].text(self.text);
        let Some(memory) = &grammar::parse_entry(content) else { return };
        let (mut line, mut lines) = (content.to_owned(), 1);
        let mut slips: Vec<(usize, Kind, bool)> = Vec::new();
        if let Some(Near { form: Some(nearest), certain }) = near_entry::bracket(memory) {
            if certain {
                let old = content.get(3..content.find(']').unwrap_or(3)).unwrap_or("");
                line = line.replacen(&format!("[{old}]"), &format!("[{nearest}]"), 1);
            }
            let kind = Kind::NearCategory { category: memory.category.to_string(), nearest };
            slips.push((4, kind, certain));
        }
        for field in memory.provenance.other.iter().take(FIELDS) {
            let near = near_entry::fields(field);
            if near.is_some() || field.contains(char::is_numeric) {
                let mended = near.and_then(|near| with_field(&line, field, near));
                let column = column(content, content.rfind(field.as_str()).unwrap_or(0));
                slips.push((column, Kind::BrokenField(field.clone()), mended.is_some()));
                line = mended.unwrap_or(line);
            }
        }
        let fields = &memory.provenance;
        let misnamed = fields.tags.iter().chain(&fields.other).find(|field| is_misnamed(field));
        if let Some(tag) = misnamed {
            slips.push((1, Kind::BrokenWitness(tag.clone()), false));
        }
        if let Some(importance) = memory.provenance.importance.filter(|importance| *importance <= 10) {
            let offset = content.rfind("mportance").map_or(0, |at| at.saturating_sub(1));
            slips.push((column(content, offset), Kind::LowImportance(importance), false));
        }
        if let Some(fields) = self.wrapped_fields(entry, memory) {
            line = format!("{} *({})*", line.trim_end(), fields.trim_matches(['*', '_', '(', ')']));
            lines = 2;
            slips.push((1, Kind::WrappedFields(fields.to_owned()), true));
        }
        if memory.is_live() && entry.status == Status::Superseded {
            if let Some(memory) = grammar::parse_entry(&line) {
                line = grammar::write_entry(&Memory { status: Status::Superseded, ..memory });
            }
            slips.push((1, Kind::StruckLive(memory.title.clone()), true));
        }
        let mend = (line != content).then(|| self.range_of(at, lines));
        for (column, kind, is_certain) in slips {
            let nearest = mend.as_ref().filter(|_| is_certain);
            let nearest = nearest.map(|range| Nearest { line: line.clone(), mend: Some(range.clone()) });
            self.problems.push(Problem { line: self.first + at, column, kind, nearest });
        }
        let mut text = self.lines[at + 1..].iter().take_while(|line| line.range.start < entry.range.end);
        let has_list = text.any(|line| evidence::is_list_item(line.text(self.text)));
        if self.place_of(at).1.kind.is_evidence() && has_list {
            self.tell(at, 1, Kind::EntryAmongTries(content.to_owned()));
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
        self.tell(at, 1, kind);
    }
}

/// A tag that was meant to name a witness of a line of evidence and names none. Looked for only where some may not see the
/// line.
fn misnamed_witness(line: &str) -> Option<String> {
    if !may_name_witnesses(line) {
        return None;
    }
    let attempts = evidence::parse_attempts(line).map(|line| line.attempts).unwrap_or_default();
    let ways = parse_way(line).map(|line| line.way.witnesses);
    let mut witnesses = attempts.into_iter().map(|attempt| attempt.witnesses).chain(ways);
    let is_kept = witnesses.any(|witnesses| !witnesses.is_everybody());
    let outside_of_code = line.split('`').step_by(2);
    let mut parts = outside_of_code.flat_map(|text| text.split(['*', '(', ')', ',', '#'])).map(str::trim);
    parts.find(|part| is_kept && is_misnamed(part)).map(str::to_owned)
}

/// An entry line with a field in its right form, where that surely says all that the field says.
fn with_field(line: &str, field: &str, near: Near) -> Option<String> {
    let form = near.form.filter(|form| near.certain && parse_fields(form).other.is_empty())?;
    let at = line.rfind(field)?;
    let mended = format!("{}{form}{}", &line[..at], &line[at + field.len()..]);
    let unread = |line: &str| Some(grammar::parse_entry(line)?.provenance.other.len());
    (unread(&mended)? + 1 == unread(line)?).then_some(mended)
}
