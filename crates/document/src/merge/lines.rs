//! Merges by lines alone, as git does.

use similar::TextMerge;

use crate::conflict::conflicts;
use crate::merge::parts::merge_lines as merge_people;
use crate::merge::result::{Labels, MergeConflict, Merged};

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

/// Merges lines of people. Where both sides changed the same lines, those of OURS stand before those of THEIRS.
pub(super) fn merge_freely(base: &str, ours: &str, theirs: &str) -> String {
    fn split(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').collect()
    }
    let (mut merged, theirs) = (split(ours), split(theirs));
    for change in merge_people(&split(base), &merged.clone(), &theirs).into_iter().rev() {
        let put: Vec<&str> = change.put.iter().map(|&at| theirs[at]).collect();
        merged.splice(change.cut, put);
    }
    merged.concat()
}
