//! The parts of a section and a person's lines in them.
//!
//! A part goes from one heading or thematic break to the next. Its lines are entries, visits, evidence, or a person's;
//! a person's lines are merged part by part, so that none of them slips into an entry's text.

use std::collections::HashMap;
use std::ops::Range;

use similar::{MergeResolution, TextMerge};

use crate::parser::{ParsedSection, holds};
use crate::region::{Region, RegionKind};
use crate::scan::{self, Block};

/// The parts that are one: kind, heading, and number among those of the section with this heading.
pub(super) type PartKey = (RegionKind, String, usize);

/// A part of a section.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) key: PartKey,
    /// Its first line: a heading or a thematic break.
    pub(super) first: Range<usize>,
    /// End of the last line that is not blank.
    pub(super) content_end: usize,
    /// A person's lines in it, each with its line ending.
    pub(super) lines: Vec<Range<usize>>,
    /// Where a person's lines can stand first: below heading and visits.
    pub(super) top: usize,
    /// True if an entry, visits or evidence stands in it.
    pub(super) has_more: bool,
}

/// The parts of a section, given with its heading line.
pub(super) fn parts(text: &str, parsed: &ParsedSection) -> Vec<Part> {
    let owned = parsed.owned_with(parsed.whole_lines());
    let lines = scan::lines(text);
    let mut counts: HashMap<(RegionKind, String), usize> = HashMap::new();
    let part = |region: &Region| {
        let from = lines.partition_point(|line| line.range.start < region.range.start);
        let to = lines.partition_point(|line| line.range.start < region.range.end);
        let first = lines.get(from).map_or(region.range.clone(), |line| line.range.clone());
        let heading = match region.kind {
            RegionKind::Head => String::new(),
            _ => text[first.clone()].trim().to_owned(),
        };
        let number = counts.entry((region.kind, heading.clone())).or_default();
        *number += 1;
        let mine = lines[(from + 1).min(to)..to].iter().map(|line| line.range.clone());
        let mine = mine.filter(|line| {
            !scan::is_blank(text[line.clone()].trim_end_matches('\n')) && !holds(&owned, line.start)
        });
        let visits = parsed.visits.as_ref().map(|(_, range)| range.clone());
        let visits = visits.filter(|visits| region.range.contains(&visits.start));
        let mine: Vec<Range<usize>> = mine.collect();
        let below_visits =
            visits.filter(|visits| mine.first().is_none_or(|first| visits.start < first.start));
        let next = owned.partition_point(|range| range.end <= region.range.start);
        Part {
            key: (region.kind, heading, *number),
            top: below_visits.map_or(first.end, |visits| visits.end),
            first,
            content_end: region.content_end,
            lines: mine,
            has_more: owned.get(next).is_some_and(|range| range.start < region.range.end),
        }
    };
    parsed.regions.iter().map(part).collect()
}

/// A change of a person's lines, by line numbers of OURS and THEIRS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineChange {
    /// Lines of OURS that are removed; an empty range is the line before which `put` stands.
    pub(super) cut: Range<usize>,
    /// Lines of theirs that stand behind these.
    pub(super) put: Vec<usize>,
}

/// The changes of theirs that ours lacks. Where both sides changed the same lines, ours stand before theirs.
pub(super) fn merge_lines(base: &[&str], ours: &[&str], theirs: &[&str]) -> Vec<LineChange> {
    let [base, ours, theirs] = [base, ours, theirs].map(without_endings);
    if theirs == base || theirs == ours {
        return Vec::new();
    }
    // The crate takes a carriage return alone for a line's end, too.
    let joined = |lines: &[&str]| {
        lines.iter().map(|line| format!("{}\n", line.replace('\r', " "))).collect::<String>()
    };
    let (all, one, other) = (joined(&base), joined(&ours), joined(&theirs));
    let merge = TextMerge::from_lines(all.as_str(), one.as_str(), other.as_str());
    let mut changes = Vec::new();
    for region in merge.regions() {
        let (from, cut, put) = (region.base_range(), region.ours_range(), region.theirs_range());
        match region.resolution() {
            MergeResolution::Theirs => changes.push(LineChange { cut, put: put.collect() }),
            MergeResolution::Conflict => {
                let (from, mine, other) = (&base[from], &ours[cut.clone()], &theirs[put.clone()]);
                // Lines that open or close something belong to their neighbours.
                let is_loose = [from, mine, other].concat().iter().all(|line| !is_fence(line));
                let is_gone = |line: &&str| is_loose && from.contains(line) && !other.contains(line);
                let is_new = |line: &str| !is_loose || !from.contains(&line) && !mine.contains(&line);
                for at in cut.clone().filter(|&at| is_gone(&ours[at])) {
                    changes.push(LineChange { cut: at..at + 1, put: Vec::new() });
                }
                let put: Vec<usize> = put.filter(|&at| is_new(theirs[at])).collect();
                changes.push(LineChange { cut: cut.end..cut.end, put });
            }
            _ => {}
        }
    }
    changes.retain(|change| !change.cut.is_empty() || !change.put.is_empty());
    changes
}

fn without_endings<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let bare = |line: &&'a str| {
        line.strip_suffix('\n').map_or(*line, |line| line.strip_suffix('\r').unwrap_or(line))
    };
    lines.iter().map(bare).collect()
}

/// True if a line opens or closes a code fence or a comment.
fn is_fence(line: &str) -> bool {
    Block::opened_by(line.as_bytes()).is_some() || line.contains("-->")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The merged words, with [`merge_lines`]'s changes made as they are meant.
    fn merged(base: &str, ours: &str, theirs: &str) -> String {
        let words =
            |text: &'static str| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<&str>>();
        let leak = |text: &str| words(text.to_owned().leak());
        let (base, mut ours, theirs) = (leak(base), leak(ours), leak(theirs));
        for change in merge_lines(&base, &ours.clone(), &theirs).into_iter().rev() {
            let put: Vec<&str> = change.put.iter().map(|&at| theirs[at]).collect();
            ours.splice(change.cut, put);
        }
        ours.join(" ")
    }

    #[test]
    fn lines_of_both_sides_stay() {
        for (base, ours, theirs, expected) in [
            ("", "x", "y", "x y"),
            ("", "x", "x", "x"),
            ("a b c d", "A b c d", "a b c D", "A b c D"),
            ("a b", "A b", "a B", "A B"),
            ("a b", "A b", "B b", "A B b"),
            ("a b c", "a c", "a b c d", "a c d"),
            ("a", "", "b", "b"),
            ("a", "b", "", "b"),
            ("", "``` x ```", "``` y ```", "``` x ``` ``` y ```"),
        ] {
            assert_eq!(merged(base, ours, theirs), expected, "{base} / {ours} / {theirs}");
        }
    }
}
