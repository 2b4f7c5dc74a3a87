//! Merges the sections of one scope.

use std::collections::HashMap;
use std::ops::Range;

use crate::document::grammar;
use crate::document::merge::entries::{Entries, Item};
use crate::document::merge::entry::Version;
use crate::document::merge::evidence::{key_of_way, merge_attempts, merge_carried, merge_visits, merge_ways};
use crate::document::merge::parts::{Part, PartKey, merge_lines, parts};
use crate::document::merge::result::Labels;
use crate::document::merge::values::Three;
use crate::document::parser::{ParsedSection, RegionKind, parse_section};
use crate::document::section::Section;
use crate::document::splice::{self, Style, framed};
use crate::document::tree::Document;
use crate::types::{Scope, Way, fold_action};

/// The sections of one scope in the three texts.
pub(super) struct Sections<'a> {
    pub(super) scope: &'a Scope,
    pub(super) base: &'a [&'a str],
    pub(super) ours: &'a [&'a str],
    pub(super) theirs: &'a [&'a str],
}

/// The sections of a scope as they are meant, to be compared with what is read back.
pub(super) struct Meant {
    pub(super) scope: Scope,
    /// The lines of each entry that is not in conflict.
    pub(super) entries: Vec<String>,
    /// The number of conflicts.
    pub(super) conflicts: usize,
    /// A name that was not taken over, and the one that stays.
    pub(super) names: Option<[String; 2]>,
}

/// One section of a scope, parsed.
struct Body<'a> {
    text: &'a str,
    parsed: ParsedSection,
    parts: Vec<Part>,
}

impl<'a> Body<'a> {
    fn of(text: &'a str) -> Body<'a> {
        let parsed = parse_section(text);
        Body { text, parts: parts(text, &parsed), parsed }
    }

    fn name(&self) -> String {
        self.text
            .lines()
            .next()
            .and_then(grammar::parse_heading)
            .map_or(String::new(), |heading| heading.name)
    }

    fn lines(&self, part: &Part) -> Vec<&'a str> {
        part.lines.iter().map(|line| &self.text[line.clone()]).collect()
    }

    fn part(&self, key: &PartKey) -> Option<&Part> {
        self.parts.iter().find(|part| part.key == *key)
    }

    /// The key of the part in which an entry stands.
    fn home(&self, entry: usize) -> &PartKey {
        let start = self.parsed.entries[entry].range.start;
        let next = self.parts.partition_point(|part| part.first.start <= start);
        &self.parts[next - 1].key
    }
}

/// Merges the sections of a scope, which stand in these blocks; `None` where they cannot be told apart.
pub(super) fn merge_scope(
    merged: &mut Document,
    blocks: &[usize],
    sections: &Sections<'_>,
    labels: Labels<'_>,
) -> Option<Meant> {
    let is_like = |texts: &[&str]| texts.is_empty() || texts.len() == sections.ours.len();
    if !is_like(sections.base) || !is_like(sections.theirs) || blocks.len() != sections.ours.len() {
        return None;
    }
    let [base, ours, theirs] = [sections.base, sections.ours, sections.theirs]
        .map(|texts| texts.iter().map(|text| Body::of(text)).collect::<Vec<_>>());
    let style = merged.style();
    let versions = [&base, &ours, &theirs].map(|bodies| versions(bodies));
    let entries = Entries { base: &versions[0], ours: &versions[1], theirs: &versions[2] };
    let items = entries.merge(labels, style.fences);
    let mut names = None;
    let (mut of_ours, mut of_theirs) = (0, 0);
    for (at, &block) in blocks.iter().enumerate() {
        let section = SectionMerge { base: base.get(at), ours: &ours[at], theirs: theirs.get(at), style };
        let their_entries = section.theirs.map_or(0, |body| body.parsed.entries.len());
        let edits = section.edits(&items, of_ours, of_theirs..of_theirs + their_entries);
        let text = apply(section.ours.text, edits.splices);
        let text = match edits.added.is_empty() {
            true => text,
            false => splice::add_lines_of_entries(&text, &parse_section(&text), &edits.added, style),
        };
        names = names.or(section.clashing_names());
        let name = section.new_name();
        if text != section.ours.text {
            merged.replace(block, text);
        }
        if let Some(name) = name {
            merged.set_heading(block, sections.scope, &name);
        }
        of_ours += section.ours.parsed.entries.len();
        of_theirs += their_entries;
    }
    merge_evidence(merged, blocks, [&base, &ours, &theirs]);
    let conflicts = items.iter().filter(|item| item.conflict.is_some()).count();
    let entries = items.into_iter().filter(|item| item.conflict.is_none()).map(|item| item.lines).collect();
    Some(Meant { scope: sections.scope.clone(), entries, conflicts, names })
}

/// The entries of a scope's sections, in their order.
fn versions<'a>(bodies: &[Body<'a>]) -> Vec<Version<'a>> {
    let of_body = |body: &Body<'a>| -> Vec<Version<'a>> {
        let entries = body.parsed.entries.iter();
        entries.map(|entry| Version::new(&body.text[entry.range.clone()], entry.status)).collect()
    };
    bodies.iter().flat_map(of_body).collect()
}

/// One section in the three texts.
struct SectionMerge<'a> {
    base: Option<&'a Body<'a>>,
    ours: &'a Body<'a>,
    theirs: Option<&'a Body<'a>>,
    style: Style,
}

/// The changes of one section of ours.
#[derive(Default)]
struct Edits {
    /// Ranges of the text with their new lines.
    splices: Vec<(Range<usize>, String)>,
    /// Lines of entries that come behind its last one.
    added: String,
}

impl SectionMerge<'_> {
    /// The changes of entries and of a person's lines. `first` is the number of its first entry among those of its scope,
    /// `theirs` are the numbers of the entries that theirs has in this section.
    fn edits(&self, items: &[Item], first: usize, theirs: Range<usize>) -> Edits {
        let mut edits = Edits::default();
        let of_ours: HashMap<usize, &Item> =
            items.iter().filter_map(|item| Some((item.ours?, item))).collect();
        for (at, entry) in self.ours.parsed.entries.iter().enumerate() {
            let old = &self.ours.text[entry.range.clone()];
            match of_ours.get(&(first + at)) {
                Some(item) if old.lines().eq(item.lines.lines()) => {}
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
                    edits.added.push_str(&format!("{gap}{}\n", item.lines.replace("\r\n", "\n")));
                }
            }
        }
        self.edit_parts(&by_part, &mut edits);
        edits
    }

    fn edit_parts(&self, by_part: &HashMap<&PartKey, Vec<&Item>>, edits: &mut Edits) {
        for part in &self.ours.parts {
            let base = self.base.and_then(|body| body.part(&part.key).map(|part| body.lines(part)));
            let theirs = self.theirs.and_then(|body| body.part(&part.key).map(|part| body.lines(part)));
            let ours = self.ours.lines(part);
            let is_missing = self.theirs.is_some() && theirs.is_none();
            let was_removed = base.is_some() && is_missing && part.key.0 == RegionKind::Other;
            let changes = merge_lines(&base.unwrap_or_default(), &ours, &theirs.unwrap_or_default());
            let cut: usize = changes.iter().map(|change| change.cut.len()).sum();
            let is_empty = cut == ours.len() && changes.iter().all(|change| change.put.is_empty());
            if was_removed && is_empty && !part.has_more && !by_part.contains_key(&part.key) {
                edits.splices.push((part.first.start..part.content_end.max(part.first.end), String::new()));
                continue;
            }
            for change in changes {
                self.change_lines(part, change.cut, &change.put, edits);
            }
            if let Some(items) = by_part.get(&part.key) {
                let at = part.content_end;
                edits.splices.push((at..at, framed(self.ours.text, at, &lines_of(items), self.style)));
            }
        }
        self.add_parts(by_part, edits);
    }

    /// Cuts lines of ours, and puts lines of theirs there.
    fn change_lines(&self, part: &Part, cut: Range<usize>, put: &[usize], edits: &mut Edits) {
        let text = self.ours.text;
        let lines = &part.lines[cut.clone()];
        let start = match (lines.first(), cut.start.checked_sub(1)) {
            (Some(line), _) => line.start,
            (None, Some(before)) => part.lines[before].end,
            (None, None) => part.top,
        };
        let put = self.their_lines(part, put);
        let mut gaps = lines.iter().map(|line| (line.clone(), String::new())).collect::<Vec<_>>();
        if put.is_empty() {
            // A paragraph goes with the blank lines behind it.
            if let Some((last, _)) = gaps.last_mut()
                && splice::ends_with_blank_line(&text[..start])
            {
                last.end += splice::blank_length(&text[last.end..]);
            }
        }
        edits.splices.append(&mut gaps);
        if put.is_empty() {
            return;
        }
        let is_joined = !lines.is_empty() || cut.start > 0;
        let new = match is_joined {
            // Within a paragraph, lines stand where theirs had them.
            true => {
                let gap = if text[..start].ends_with('\n') { "" } else { self.style.line_ending };
                format!("{gap}{}", self.style.convert(&put))
            }
            false => framed(text, start, &put, self.style),
        };
        edits.splices.push((start..start, new));
    }

    /// Lines of a part of theirs, with the blank lines between them and, where lines follow, before and behind them.
    fn their_lines(&self, part: &Part, put: &[usize]) -> String {
        let Some(theirs) = self.theirs else { return String::new() };
        let Some(lines) = theirs.part(&part.key).map(|part| &part.lines) else { return String::new() };
        let mut out = String::new();
        let is_blank_before = |at: usize| splice::ends_with_blank_line(&theirs.text[..lines[at].start]);
        for (number, &at) in put.iter().enumerate() {
            if is_blank_before(at) && (number > 0 || at > 0) {
                out.push('\n');
            }
            out.push_str(theirs.text[lines[at].clone()].trim_end_matches(['\n', '\r']));
            out.push('\n');
        }
        let is_followed =
            put.last().is_some_and(|&at| splice::blank_length(&theirs.text[lines[at].end..]) > 0);
        if is_followed && put.last().is_some_and(|&at| at + 1 < lines.len()) {
            out.push('\n');
        }
        out
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
            let lines = theirs.lines(part);
            let before = self.base.and_then(|base| base.part(&part.key).map(|part| base.lines(part)));
            let items = by_part.get(&part.key).map_or("".to_owned(), |items| lines_of(items));
            let is_new = before.as_ref().is_none_or(|before| *before != lines) || !items.is_empty();
            let is_ours = part.key.0 != RegionKind::Other && lines.is_empty();
            if !is_new || is_ours {
                continue;
            }
            let all: Vec<usize> = (0..lines.len()).collect();
            let heading = theirs.text[part.first.clone()].trim_end();
            let lines = self.their_lines(part, &all);
            let text: Vec<&str> = [heading, lines.trim_end(), items.trim_end()]
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect();
            let text = format!("{}\n", text.join("\n\n"));
            edits.splices.push((behind..behind, framed(self.ours.text, behind, &text, self.style)));
        }
    }

    /// The name that theirs gave the section and ours did not.
    fn new_name(&self) -> Option<String> {
        let (ours, theirs) = (self.ours.name(), self.theirs?.name());
        let base = self.base.map_or(String::new(), Body::name);
        (ours == base && theirs != base && !theirs.is_empty()).then_some(theirs)
    }

    /// The names that both sides gave it, where they differ: the one that stays, and the other.
    fn clashing_names(&self) -> Option<[String; 2]> {
        let (ours, theirs) = (self.ours.name(), self.theirs?.name());
        let base = self.base.map_or(String::new(), Body::name);
        (ours != base && theirs != base && ours != theirs && !theirs.is_empty() && !ours.is_empty())
            .then_some([ours, theirs])
    }
}

/// The lines of entries, with blank lines between them.
fn lines_of(items: &[&Item]) -> String {
    items.iter().map(|item| format!("{}\n", item.lines.replace("\r\n", "\n"))).collect::<Vec<_>>().join("\n")
}

/// A text with ranges replaced; of several changes at one place, the first stands first.
fn apply(text: &str, mut splices: Vec<(Range<usize>, String)>) -> String {
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

/// All but the memories of a scope's sections.
fn evidence(bodies: &[Body<'_>]) -> Section {
    let mut section = Section::default();
    for body in bodies {
        section.append(None, body.parsed.without_entries());
    }
    section
}

fn merge_evidence(merged: &mut Document, blocks: &[usize], bodies: [&Vec<Body<'_>>; 3]) {
    let [base, ours, theirs] = bodies.map(|bodies| evidence(bodies));
    for (at, &block) in blocks.iter().enumerate() {
        let visits = |bodies: &[Body<'_>]| {
            bodies
                .get(at)
                .and_then(|body| body.parsed.visits.as_ref())
                .map(|(visits, _)| visits.clone())
                .unwrap_or_default()
        };
        let [before, mine, other] = bodies.map(|bodies| visits(bodies));
        let new = merge_visits(&Three { base: &before, ours: &mine, theirs: &other });
        if new != mine && !(other == before) {
            merged.set_visits(block, &new);
        }
    }
    let three = Three { base: &base, ours: &ours, theirs: &theirs };
    let ways = merge_ways(&three.of(|section| section.ways.as_slice()));
    if !ways.gone.is_empty() {
        merged.remove_lines(blocks, RegionKind::Ways, |parsed| {
            let gone = parsed.ways.iter().filter(|line| ways.gone.contains(&key_of_way(&line.value.way)));
            gone.filter(|line| line.value.is_whole).map(|line| line.range.clone()).collect()
        });
    }
    let names = |way: &Way| {
        let name = merged
            .headings()
            .find(|heading| heading.scope == Scope::Location(way.to))
            .map(|heading| heading.name.clone());
        Way { name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| way.name.clone()), ..way.clone() }
    };
    let put: Vec<Way> = ways.put.iter().map(names).collect();
    merged.put_ways(blocks, &put);
    let carried = merge_carried(&three.of(|section| section.carried.as_slice()));
    if !carried.gone.is_empty() {
        merged.remove_lines(blocks, RegionKind::Carried, |parsed| {
            let gone = parsed.carried.iter().filter(|line| carried.gone.contains(&line.value.episode));
            gone.map(|line| line.range.clone()).collect()
        });
    }
    merged.put_all_carried(blocks, &carried.put);
    let worked = merge_attempts(&three.of(|section| section.worked.as_slice()));
    let tried = merge_attempts(&three.of(|section| section.tried.as_slice()));
    for (kind, changes) in [(RegionKind::Worked, worked), (RegionKind::Tried, tried)] {
        if !changes.is_empty() {
            merged.edit_attempts(blocks, kind, |lists| {
                changes.gone.iter().for_each(|action| {
                    lists.remove(&fold_action(action));
                });
                changes.put.iter().for_each(|attempt| lists.put(attempt));
            });
        }
    }
}
