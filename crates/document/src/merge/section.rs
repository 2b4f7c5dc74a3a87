//! Merges one section: its entries where they stand, and a person's lines part by part.

use std::collections::HashMap;
use std::ops::Range;

use crate::grammar::heading_of;
use crate::merge::entries::Item;
use crate::merge::entry::same_lines;
use crate::merge::evidence::merge_visits;
use crate::merge::parts::{LineChange, Part, PartKey, merge_lines, parts};
use crate::merge::values::Three;
use crate::parser::{ParsedSection, parse_section};
use crate::region::RegionKind;
use crate::splice::{self, Style, framed};

/// A section of one of the three texts, parsed.
pub(super) struct Body<'a> {
    pub(super) text: &'a str,
    pub(super) parsed: ParsedSection,
    parts: Vec<Part>,
    numbers: HashMap<PartKey, usize>,
}

impl<'a> Body<'a> {
    pub(super) fn of(text: &'a str) -> Body<'a> {
        let parsed = parse_section(text);
        let parts = parts(text, &parsed);
        let numbers = parts.iter().enumerate().map(|(at, part)| (part.key.clone(), at)).collect();
        Body { text, parsed, parts, numbers }
    }

    fn name(&self) -> String {
        heading_of(self.text).map_or(String::new(), |heading| heading.name)
    }

    fn part(&self, key: &PartKey) -> Option<&Part> {
        self.numbers.get(key).map(|&at| &self.parts[at])
    }

    /// A person's lines in a part; `None` where it has no such part.
    fn lines(&self, key: &PartKey) -> Option<Vec<&'a str>> {
        Some(self.part(key)?.lines.iter().map(|line| &self.text[line.clone()]).collect())
    }

    /// The key of the part in which an entry stands.
    fn home(&self, entry: usize) -> &PartKey {
        let start = self.parsed.entries[entry].range.start;
        let next = self.parts.partition_point(|part| part.first.start <= start);
        &self.parts[next - 1].key
    }
}

/// One section in the three texts.
pub(super) struct SectionMerge<'a> {
    pub(super) base: Option<&'a Body<'a>>,
    pub(super) ours: &'a Body<'a>,
    pub(super) theirs: Option<&'a Body<'a>>,
    pub(super) style: Style,
}

/// The changes of one section of OURS.
#[derive(Default)]
pub(super) struct Edits {
    /// Ranges of the text with their new lines.
    splices: Vec<(Range<usize>, String)>,
    /// Lines of entries that come behind its last one.
    added: String,
}

impl Edits {
    /// The section with these changes.
    pub(super) fn apply(self, text: &str, style: Style) -> String {
        let text = apply(text, self.splices);
        if self.added.is_empty() {
            text
        } else {
            splice::add_lines_of_entries(&text, &parse_section(&text), &self.added, style)
        }
    }
}

impl SectionMerge<'_> {
    /// The changes of entries and of a person's lines. `first` is the number of its first entry among those of its
    /// scope, `theirs` are the numbers of the entries that theirs has in this section.
    pub(super) fn edits(&self, items: &[Item], first: usize, theirs: Range<usize>) -> Edits {
        let mut edits = Edits::default();
        self.edit_visits(&mut edits);
        let of_ours: HashMap<usize, &Item> =
            items.iter().filter_map(|item| Some((item.ours?, item))).collect();
        for (at, entry) in self.ours.parsed.entries.iter().enumerate() {
            let old = &self.ours.text[entry.range.clone()];
            match of_ours.get(&(first + at)) {
                Some(item) if same_lines(old, &item.lines) => {}
                Some(item) => {
                    edits
                        .splices
                        .push((entry.range.clone(), self.style.convert(&format!("{}\n", item.lines))));
                }
                None => {
                    let end = entry.range.end;
                    let blank = splice::blank_length(&self.ours.text[end..]);
                    edits.splices.push((entry.range.start..end + blank, String::new()));
                }
            }
        }
        let mut by_part: HashMap<&PartKey, Vec<&Item>> = HashMap::new();
        for item in items.iter().filter(|item| item.ours.is_none()) {
            let Some(at) = item.theirs.filter(|at| theirs.contains(at)) else { continue };
            let Some(body) = self.theirs else { continue };
            let key = body.home(at - theirs.start);
            match key.0 {
                RegionKind::Other => by_part.entry(key).or_default().push(item),
                _ => {
                    let gap = if edits.added.is_empty() { "" } else { "\n" };
                    edits.added.push_str(&format!("{gap}{}\n", item.lines));
                }
            }
        }
        self.edit_parts(&by_part, &mut edits);
        edits
    }

    fn edit_visits(&self, edits: &mut Edits) {
        let visits = |body: Option<&Body<'_>>| {
            let visits = body.and_then(|body| body.parsed.visits.as_ref());
            visits.map(|(visits, _)| visits.clone()).unwrap_or_default()
        };
        let [base, ours, theirs] = [self.base, Some(self.ours), self.theirs].map(visits);
        let merged = merge_visits(&Three { base: &base, ours: &ours, theirs: &theirs });
        if merged != ours && theirs != base {
            let (range, line) = splice::visits_change(self.ours.text, &self.ours.parsed, &merged);
            edits.splices.push((range, self.style.convert(&line)));
        }
    }

    /// The changes of a person's lines, and of entries below a person's headings.
    fn edit_parts(&self, by_part: &HashMap<&PartKey, Vec<&Item>>, edits: &mut Edits) {
        for part in &self.ours.parts {
            let base = self.base.and_then(|body| body.lines(&part.key));
            let theirs = self.theirs.and_then(|body| body.lines(&part.key));
            let ours = self.ours.lines(&part.key).unwrap_or_default();
            let is_missing = self.theirs.is_some() && theirs.is_none();
            let was_removed = base.is_some() && is_missing && part.key.0 == RegionKind::Other;
            let changes = merge_lines(&base.unwrap_or_default(), &ours, &theirs.unwrap_or_default());
            let cut: usize = changes.iter().map(|change| change.cut.len()).sum();
            let is_empty = cut == ours.len() && changes.iter().all(|change| change.put.is_empty());
            if was_removed && is_empty && !part.has_more && !by_part.contains_key(&part.key) {
                edits.splices.push((part.first.start..part.content_end.max(part.first.end), String::new()));
                continue;
            }
            for change in &changes {
                self.change_lines(part, change, edits);
            }
            if let Some(items) = by_part.get(&part.key) {
                let at = part.content_end;
                edits.splices.push((at..at, framed(self.ours.text, at, &lines_of(items), self.style)));
            }
        }
        self.add_parts(by_part, edits);
    }

    /// Replaces lines of OURS by lines of THEIRS.
    fn change_lines(&self, part: &Part, change: &LineChange, edits: &mut Edits) {
        let text = self.ours.text;
        let cut = &part.lines[change.cut.clone()];
        let start = match (cut.first(), change.cut.start.checked_sub(1)) {
            (Some(line), _) => line.start,
            (None, Some(before)) => part.lines[before].end,
            (None, None) => part.top,
        };
        let mut gaps: Vec<Range<usize>> = cut.to_vec();
        if let Some(last) = gaps.last_mut()
            && change.put.is_empty()
            && splice::ends_with_blank_line(&text[..start])
        {
            // A paragraph goes with the blank lines behind it.
            last.end += splice::blank_length(&text[last.end..]);
        }
        let end = gaps.last().map_or(start, |last| last.end);
        edits.splices.extend(gaps.into_iter().map(|gap| (gap, String::new())));
        if let Some(run) = self.theirs.and_then(|theirs| Run::of(theirs, &part.key, &change.put)) {
            edits.splices.push((start..start, run.fitted(&text[..start], &text[end..], self.style)));
        }
    }

    /// Parts of a person that only theirs has: new ones, and those that ours removed and theirs changed.
    fn add_parts(&self, by_part: &HashMap<&PartKey, Vec<&Item>>, edits: &mut Edits) {
        let Some(theirs) = self.theirs else { return };
        let mut behind = 0;
        for part in &theirs.parts {
            if let Some(found) = self.ours.part(&part.key) {
                behind = found.content_end.max(found.first.end);
                continue;
            }
            let items = by_part.get(&part.key).map_or(String::new(), |items| lines_of(items));
            let was_so = self.base.and_then(|base| base.lines(&part.key)) == theirs.lines(&part.key);
            let is_ours = part.key.0 != RegionKind::Other && part.lines.is_empty();
            if is_ours || was_so && items.is_empty() {
                continue;
            }
            let all: Vec<usize> = (0..part.lines.len()).collect();
            let lines = Run::of(theirs, &part.key, &all).map_or(String::new(), |run| run.lines);
            let heading = theirs.text[part.first.clone()].trim_end();
            let mut block = format!("{heading}\n");
            for text in [lines, items].iter().filter(|text| !text.is_empty()) {
                block.push_str(&format!("\n{text}"));
            }
            edits.splices.push((behind..behind, framed(self.ours.text, behind, &block, self.style)));
        }
    }

    /// The name that theirs gave the section and ours did not.
    pub(super) fn new_name(&self) -> Option<String> {
        let (ours, theirs) = (self.ours.name(), self.theirs?.name());
        let base = self.base.map_or(String::new(), Body::name);
        (ours == base && theirs != base && !theirs.is_empty()).then_some(theirs)
    }

    /// The names that both sides gave it, where they differ: the one that stays, and the other.
    pub(super) fn clashing_names(&self) -> Option<[String; 2]> {
        let (ours, theirs) = (self.ours.name(), self.theirs?.name());
        let base = self.base.map_or(String::new(), Body::name);
        (ours != base && theirs != base && ours != theirs && !theirs.is_empty() && !ours.is_empty())
            .then_some([ours, theirs])
    }
}

/// Lines of a person that go from one text into another.
struct Run {
    /// The lines, each ended by `\n`, with the blank lines between them.
    lines: String,
    has_blank_before: bool,
    has_blank_behind: bool,
}

impl Run {
    /// Lines of a part by their numbers; `None` where there are none.
    fn of(body: &Body<'_>, key: &PartKey, numbers: &[usize]) -> Option<Run> {
        let (all, last) = (&body.part(key)?.lines, *numbers.last()?);
        let has_blank_before = |at: usize| splice::ends_with_blank_line(&body.text[..all[at].start]);
        let mut lines = String::new();
        for &at in numbers {
            let gap = if !lines.is_empty() && has_blank_before(at) { "\n" } else { "" };
            lines.push_str(&format!("{gap}{}\n", body.text[all[at].clone()].trim_end_matches(['\n', '\r'])));
        }
        let behind = &body.text[all[last].end..];
        let has_blank_behind = behind.is_empty() || splice::blank_length(behind) > 0;
        Some(Run { lines, has_blank_before: has_blank_before(numbers[0]), has_blank_behind })
    }

    /// The lines with the blank lines that they need between these texts.
    fn fitted(&self, before: &str, behind: &str, style: Style) -> String {
        let ending = style.line_ending;
        let mut out = String::new();
        if !before.ends_with('\n') && !before.is_empty() {
            out.push_str(ending);
        }
        if self.has_blank_before && !splice::ends_with_blank_line(before) {
            out.push_str(ending);
        }
        out.push_str(&style.convert(&self.lines));
        if self.has_blank_behind && !behind.is_empty() && splice::blank_length(behind) == 0 {
            out.push_str(ending);
        }
        out
    }
}

/// The lines of entries, with blank lines between them.
fn lines_of(items: &[&Item]) -> String {
    items.iter().map(|item| format!("{}\n", item.lines)).collect::<Vec<_>>().join("\n")
}

/// A text with ranges replaced; of several changes at one place, the first stands first. Blank lines that would leave with
/// what stood before them stay behind what is put there.
fn apply(text: &str, mut splices: Vec<(Range<usize>, String)>) -> String {
    let puts: Vec<usize> =
        splices.iter().filter(|(range, _)| range.is_empty()).map(|(range, _)| range.start).collect();
    for (range, _) in splices.iter_mut().filter(|(_, new)| new.is_empty()) {
        let is_before_blanks =
            |at: &&usize| range.start < **at && **at < range.end && text[**at..range.end].trim().is_empty();
        if let Some(at) = puts.iter().find(is_before_blanks) {
            range.end = *at;
        }
    }
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len() + splices.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut done = 0;
    for (range, new) in splices {
        out.push_str(&text[done..range.start.max(done)]);
        out.push_str(&new);
        done = done.max(range.end);
    }
    out.push_str(&text[done..]);
    out
}
