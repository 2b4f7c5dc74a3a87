//! The difference that edits make, without anything of a person's own text.
//!
//! Insertions and removals enter as they are done; lines with `+` and `-` leave. Of a line that is not ours as a whole,
//! the other part is shown as `…`, since it may hold a key or a password.

use std::ops::Range;

use serde_json::Value;

/// Stands for the rest of a line.
const REST: &str = "…";

/// The insertions and removals that an edit made in a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Difference {
    inserted: Vec<Part>,
    removed: Vec<Part>,
}

/// An entry that was inserted or removed.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    entry: String,
    value: Value,
    /// Bytes of the text as it is now; empty where something was removed.
    range: Range<usize>,
    /// The text that was removed.
    core: String,
}

impl Difference {
    /// Notes an insertion of `length` bytes at `at`.
    pub(super) fn insert(&mut self, entry: String, value: &Value, at: usize, length: usize) {
        for part in self.inserted.iter_mut().chain(&mut self.removed) {
            if at <= part.range.start {
                part.range = part.range.start + length..part.range.end + length;
            } else if at < part.range.end {
                part.range.end += length;
            }
        }
        let value = value.clone();
        self.inserted.push(Part { entry, value, range: at..at + length, core: String::new() });
    }

    /// Notes a removal. Nothing was inserted before.
    pub(super) fn remove(&mut self, entry: String, value: &Value, core: String, before: &str, after: &str) {
        let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
        let length = before.len().saturating_sub(after.len());
        for part in &mut self.removed {
            let start = part.range.start;
            let start = if start > same { start.saturating_sub(length).max(same) } else { start };
            part.range = start..start;
        }
        self.removed.push(Part { entry, value: value.clone(), range: same..same, core });
    }

    /// The lines, each part behind its line number in the new text. Parts that were taken out and put in again are
    /// left out.
    pub(super) fn lines(&self, text: &str) -> String {
        let is_in = |part: &Part, parts: &[Part]| {
            parts.iter().any(|other| (&other.entry, &other.value) == (&part.entry, &part.value))
        };
        let mut hunks: Vec<(usize, String)> = Vec::new();
        for part in self.removed.iter().filter(|part| !is_in(part, &self.inserted)) {
            let lines = part.core.lines().map(|line| format!("-{line}\n"));
            hunks.push((line_number(text, part.range.start), lines.collect()));
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let new = self.inserted.iter().filter(|part| !is_in(part, &self.removed));
        let mut new: Vec<_> = new.map(|part| part.range.clone()).collect();
        new.sort_by_key(|range| (range.start, range.end));
        for range in new {
            match ranges.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => ranges.push(range),
            }
        }
        hunks.extend(ranges.into_iter().map(|range| inserted_lines(text, range)));
        hunks.sort_by_key(|(line, _)| *line);
        hunks.iter().map(|(line, lines)| format!("@@ line {line} @@\n{lines}")).collect()
    }
}

/// The lines of a range, and the number of the first.
fn inserted_lines(text: &str, range: Range<usize>) -> (usize, String) {
    let head = text[..range.start].rsplit('\n').next().unwrap_or_default();
    let tail = text[range.end..].split('\n').next().unwrap_or_default();
    let rest = |part: &str| if part.trim().is_empty() { part.trim_end().to_owned() } else { REST.to_owned() };
    let head = if head.trim().is_empty() { head.to_owned() } else { rest(head) };
    let shown = [&head, &text[range.clone()], &rest(tail)].concat();
    let mut number = line_number(text, range.start);
    let mut lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let is_foreign = |line: &str| line.trim() == REST || line.is_empty();
    while lines.len() > 1 && is_foreign(lines[0]) {
        lines.remove(0);
        number += 1;
    }
    while lines.len() > 1 && lines.last().is_some_and(|line| is_foreign(line)) {
        lines.pop();
    }
    (number, lines.iter().map(|line| format!("+{line}\n")).collect())
}

fn line_number(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
