//! Merges by lines alone, as git does.

use similar::TextMerge;

use crate::document::conflict::conflicts;
use crate::document::merge::{Labels, MergeConflict, Merged};

/// Merges two sides by lines, with markers where they clash.
pub(super) fn merge_lines(base: &str, ours: &str, theirs: &str, labels: Labels<'_>) -> Merged {
    let mut merge = TextMerge::from_lines(base, ours, theirs);
    let text = merge.labels(labels.base, labels.ours, labels.theirs).to_string();
    let lines = if merge.is_conflicted() { conflicts(&text).map(|found| found.lines) } else { None };
    let conflict = |line| MergeConflict { entry: None, line };
    Merged {
        conflicts: lines.unwrap_or_default().into_iter().map(conflict).collect(),
        text,
        notices: Vec::new(),
    }
}
