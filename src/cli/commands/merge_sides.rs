//! Helpers that `merge` of three files and `merge --resolve` share: the sides with their names, the merged text, and the
//! conflicts that are left.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::compare::changed_lines;
use memories_document::conflict::conflicts;
use memories_document::merge::{Labels, MergeConflict, Merged, merge};
use memories_document::types::Outcome;
use memories_notebook::Draft;
use memories_store::StoreError;

/// Names of the three texts in markers.
pub(super) struct Names {
    pub(super) ours: Option<String>,
    pub(super) base: Option<String>,
    pub(super) theirs: Option<String>,
}

impl Names {
    /// The labels in the order of git's `merge-file`. An older git leaves `%X` as it stands.
    pub(super) fn of(labels: &[String]) -> Result<Names, Failure> {
        if labels.len() > 3 {
            return Err(Failure::usage("there are three labels at most: of OURS, of BASE, of THEIRS")
                .hint("leave out the others"));
        }
        let label = |at: usize| {
            let label: String = labels.get(at)?.chars().filter(|c| !c.is_control()).collect();
            Some(label)
                .filter(|label| !label.trim().is_empty() && !["%X", "%S", "%Y"].contains(&label.as_str()))
        };
        Ok(Names { ours: label(0), base: label(1), theirs: label(2) })
    }
}

/// The three texts.
pub(super) struct Sides {
    pub(super) base: String,
    pub(super) ours: String,
    pub(super) theirs: String,
}

impl Sides {
    pub(super) fn merge(&self, names: &Names) -> Merged {
        self.merge_into(&self.ours, names)
    }

    /// Merges their side into this text.
    pub(super) fn merge_into(&self, ours: &str, names: &Names) -> Merged {
        let Labels { base, ours: own, theirs } = Labels::default();
        let labels = Labels {
            base: names.base.as_deref().unwrap_or(base),
            ours: names.ours.as_deref().unwrap_or(own),
            theirs: names.theirs.as_deref().unwrap_or(theirs),
        };
        merge(&self.base, ours, &self.theirs, labels)
    }
}

/// The text of one side, without conflicts and of no newer format. Where both sides took over merges of each other, git
/// merges the bases first and may leave markers in that: such an entry counts as one that the base does not have.
pub(super) fn side_text(text: String, shown: PathBuf, side: &str) -> Result<String, Failure> {
    if let Some(error) = StoreError::of_newer_format(&shown, &text) {
        return Err(error.into());
    }
    match conflicts(&text) {
        None => Ok(text),
        Some(found) if side == "base" => Ok(found.rest),
        Some(found) => Err(StoreError::Conflict { path: shown, line: found.lines[0] }.into()),
    }
}

/// Puts a merged text in place of the present one, in the transaction of its file.
pub(super) fn put(draft: &mut Draft<'_>, present: &str, merged: &str) {
    draft.rewrite(Outcome::Merged, merged.to_owned(), changed_lines(present, merged));
}

/// Conflicts as JSON answers have them.
pub(super) fn conflicts_json(conflicts: &[MergeConflict]) -> Value {
    let conflict = |MergeConflict { entry, line }: &MergeConflict| {
        let (scope, title) = entry.as_ref().map(|(scope, title)| (scope, title)).unzip();
        json!({"scope": scope, "title": title, "line": line})
    };
    conflicts.iter().map(conflict).collect()
}

/// Names each conflict with its line.
pub(super) fn warn_of(cli: &mut Cli<'_>, file: &str, conflicts: &[MergeConflict]) {
    for MergeConflict { entry, line } in conflicts {
        cli.ui.warning(&match entry {
            Some((scope, title)) => {
                format!("{file}:{line}: both sides worded `{title}` of {scope} differently")
            }
            None => format!("{file}:{line}: both sides changed these lines"),
        });
    }
}
