//! Edits of the lists of evidence in a section: lines are replaced, removed and added.

use std::collections::HashSet;
use std::ops::Range;

use crate::evidence::{AttemptLine, line_key, write_attempts};
use crate::parser::{ParsedSection, is_continuation};
use crate::region::{Placed, RegionKind};
use crate::scan;
use crate::splice::{Style, insert_block, place_of, splice_all};
use crate::types::{Attempt, Scope};

/// Edits of one list of a section.
#[derive(Debug, Default)]
pub(crate) struct ListEdit {
    /// Lines in the order of the file, each with its new text; `None` removes it.
    pub(crate) changes: Vec<(Range<usize>, Option<String>)>,
    /// New lines, behind the last one.
    pub(crate) new: Vec<String>,
}

impl ListEdit {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.new.is_empty()
    }
}

/// Edits a list; `None` where nothing changes. A heading that is left without lines goes with them.
pub(crate) fn edit_list(
    text: &str,
    parsed: &ParsedSection,
    kind: RegionKind,
    edit: &ListEdit,
    style: Style,
) -> Option<String> {
    if edit.is_empty() {
        return None;
    }
    let new: String = edit.new.iter().map(|line| format!("{line}\n")).collect();
    let line = |line: &Option<String>| line.as_ref().map_or(String::new(), |line| format!("{line}\n"));
    let mut changes: Vec<(Range<usize>, String)> =
        edit.changes.iter().map(|(range, new)| (range.clone(), line(new))).collect();
    match parsed.list(kind).last() {
        Some(last) if !new.is_empty() => {
            let end = item_end(text, last.end);
            let gap = if text[..end].ends_with('\n') { "" } else { "\n" };
            changes.push((end..end, format!("{gap}{new}")));
        }
        _ if !new.is_empty() => return Some(begin_list(text, parsed, kind, &new, style)),
        _ => remove_bare_headings(text, parsed, kind, &mut changes),
    }
    Some(splice_all(text, &changes, style))
}

/// The end of the item of a list whose first line ends there: indented lines belong to it.
fn item_end(text: &str, line_end: usize) -> usize {
    let more = text[line_end..].split_inclusive('\n').take_while(|line| is_continuation(line));
    line_end + more.map(str::len).sum::<usize>()
}

/// Adds the first lines of a list, under its heading.
fn begin_list(text: &str, parsed: &ParsedSection, kind: RegionKind, new: &str, style: Style) -> String {
    if let Some(region) = parsed.regions.iter().find(|region| region.kind == kind) {
        // Behind an entry in this region the line would be part of the entry's text.
        let mut starts = parsed.entries.iter().map(|entry| entry.range.start);
        let entry = starts.find(|start| region.range.contains(start));
        return insert_block(text, entry.unwrap_or(region.content_end), new, style);
    }
    insert_block(text, place_of(parsed, kind), &format!("{}\n\n{new}", kind.heading()), style)
}

/// Where each line of a region is removed and nothing else stands in it, its heading goes too.
fn remove_bare_headings(
    text: &str,
    parsed: &ParsedSection,
    kind: RegionKind,
    changes: &mut Vec<(Range<usize>, String)>,
) {
    for region in parsed.regions.iter().filter(|region| region.kind == kind) {
        let heading =
            text[region.range.clone()].find('\n').map_or(region.range.end, |at| region.range.start + at);
        let mut rest = heading..region.range.end;
        let mut is_bare = true;
        for (line, new) in changes.iter().filter(|(line, _)| region.range.contains(&line.start)) {
            is_bare &= new.is_empty() && text[rest.start..line.start].lines().all(scan::is_blank);
            rest.start = line.end;
        }
        if is_bare && rest.start > heading && text[rest].lines().all(scan::is_blank) {
            changes.retain(|(line, _)| !region.range.contains(&line.start));
            let at = changes.partition_point(|(line, _)| line.start < region.range.start);
            changes.insert(at, (region.range.clone(), String::new()));
        }
    }
}

/// Lines of actions of one kind in all sections of a scope, open for changes.
pub(crate) struct AttemptLists<'a> {
    scope: &'a Scope,
    /// By section.
    sections: Vec<Vec<OpenLine>>,
    /// Actions that share no line with another one.
    new: Vec<Attempt>,
}

/// A line, and the actions that it shall have.
struct OpenLine {
    range: Range<usize>,
    line: AttemptLine,
    changed: bool,
}

impl<'a> AttemptLists<'a> {
    /// Opens the lines of the sections of a scope.
    pub(crate) fn of<'s>(
        scope: &'a Scope,
        sections: impl Iterator<Item = &'s [Placed<AttemptLine>]>,
    ) -> AttemptLists<'a> {
        let open = |line: &Placed<AttemptLine>| OpenLine {
            range: line.range.clone(),
            line: line.value.clone(),
            changed: false,
        };
        AttemptLists {
            scope,
            sections: sections.map(|lines| lines.iter().map(open).collect()).collect(),
            new: Vec::new(),
        }
    }

    /// The number of actions.
    pub(crate) fn len(&self) -> usize {
        let listed = self.sections.iter().flatten().map(|open| open.line.attempts.len());
        listed.sum::<usize>() + self.new.len()
    }

    /// Gives the action of a key another count where it stands.
    pub(crate) fn set_count(&mut self, key: &str, count: u64) {
        for open in self.sections.iter_mut().flatten().filter(|open| open.line.is_whole) {
            for old in open.line.attempts.iter_mut() {
                if old.key(self.scope) == key && old.count != count {
                    (old.count, open.changed) = (count, true);
                }
            }
        }
    }

    /// Writes an action, in place of the same one with the same witnesses. Lines that say more than their actions stay as
    /// they are.
    pub(crate) fn put(&mut self, attempt: &Attempt) {
        let scope = self.scope;
        let action = attempt.key(scope);
        let key = line_key(attempt);
        let is_listed = |open: &OpenLine| open.line.attempts.iter().any(|old| old.key(scope) == action);
        let first = |open: &OpenLine| open.line.attempts.first().is_some_and(|first| line_key(first) == key);
        let fits = |open: &OpenLine| open.line.is_whole && first(open);
        let lines = || self.sections.iter().flatten();
        let place = lines().position(|open| fits(open) && is_listed(open)).or_else(|| lines().position(fits));
        self.remove_but(|old| old.key(scope) == action, place);
        // The latest stands last, so most marks need no episode.
        match place.and_then(|place| self.sections.iter_mut().flatten().nth(place)) {
            Some(open) => {
                open.line.attempts.retain(|old| old.key(scope) != action);
                open.line.attempts.push(attempt.clone());
                open.changed = true;
            }
            None => self.new.push(attempt.clone()),
        }
    }

    /// Removes actions; `false` where no line that the program may change lists one.
    pub(crate) fn remove(&mut self, is_gone: impl Fn(&Attempt) -> bool) -> bool {
        self.remove_but(is_gone, None)
    }

    /// Removes actions from all lines but one.
    fn remove_but(&mut self, is_gone: impl Fn(&Attempt) -> bool, spared: Option<usize>) -> bool {
        self.new.retain(|new| !is_gone(new));
        let mut removed = false;
        for (at, open) in self.sections.iter_mut().flatten().enumerate() {
            if Some(at) == spared || !open.line.is_whole {
                continue;
            }
            let before = open.line.attempts.len();
            open.line.attempts.retain(|attempt| !is_gone(attempt));
            open.changed |= open.line.attempts.len() < before;
            removed |= open.line.attempts.len() < before;
        }
        removed
    }

    /// Removes the least repeated, then the oldest, until `limit` stay; the action `spared` stays.
    pub(crate) fn cut(&mut self, limit: usize, spared: &Attempt) {
        let scope = self.scope;
        let key = |attempt: &Attempt| attempt.key(scope);
        let spared = spared.key(scope);
        let surplus = self.len().saturating_sub(limit.max(1));
        if surplus == 0 {
            return;
        }
        let ours = self.sections.iter().flatten().filter(|open| open.line.is_whole);
        let others = ours.flat_map(|open| &open.line.attempts);
        let mut others: Vec<&Attempt> = others.filter(|attempt| key(attempt) != spared).collect();
        others.sort_by_key(|attempt| (attempt.count, attempt.episode, attempt.turn));
        let least: HashSet<String> = others.iter().take(surplus).map(|least| key(least)).collect();
        self.remove(|attempt| least.contains(&key(attempt)));
    }

    /// The edits of each section; new lines go into the first. `worked` tells which actions have worked here.
    pub(crate) fn into_edits(self, worked: impl Fn(&str) -> bool) -> Vec<ListEdit> {
        let mut edits: Vec<ListEdit> = Vec::with_capacity(self.sections.len());
        for lines in self.sections {
            let changed = lines.into_iter().filter(|open| open.changed);
            let change = |open: OpenLine| {
                (open.range, write_attempts(&open.line.attempts, &worked).into_iter().next())
            };
            edits.push(ListEdit { changes: changed.map(change).collect(), new: Vec::new() });
        }
        if let Some(first) = edits.first_mut() {
            first.new = write_attempts(&self.new, &worked);
        }
        edits
    }
}
