//! Problems of the files beside the memory file, for `check`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use memories_document::types::hint::with_causes;
use memories_store::journal::Journal;
use memories_store::journal::damage::Damage;
use memories_store::{Store, StoreError};

/// A problem of a file beside the memory file, or of the memory file beside its former states.
pub(crate) struct BesideProblem {
    file: PathBuf,
    /// Line in that file, from 1.
    line: usize,
    kind: &'static str,
    message: String,
    hint: &'static str,
}

/// All problems of the files beside a memory file.
pub(crate) fn problems_beside(store: &Store) -> Vec<BesideProblem> {
    if let Err(refused) = store.sidecar().check() {
        return vec![BesideProblem::of(store.folder(), "refused", &refused)];
    }
    // Where this is not possible, the next writer does it.
    let _ = store.without_waiting().complete_last_change();
    let outweighed = store.outweighed();
    let mut found: Vec<BesideProblem> =
        outweighed.iter().map(|lost| BesideProblem::of(store.path(), "outweighed", lost)).collect();
    for damage in store.sidecar().damage() {
        let message = damage.to_string();
        found.push(BesideProblem { message, ..BesideProblem::of(&damage.path, damage.name, &damage.error) });
    }
    match Journal::of(store).damage() {
        Ok(damage) => found.extend(BesideProblem::of_journal(&damage)),
        Err(error) => found.push(BesideProblem::of(store.folder(), "journal", &error)),
    }
    found
}

impl BesideProblem {
    fn of(file: &Path, kind: &'static str, error: &StoreError) -> BesideProblem {
        BesideProblem {
            file: file.to_owned(),
            line: 1,
            kind,
            message: with_causes(error),
            hint: error.hint(),
        }
    }

    fn of_journal(damage: &Damage) -> Option<BesideProblem> {
        let (file, line) = damage.first.clone()?;
        let message = format!("the journal is damaged from here: {}", damage.text()?);
        let hint = "mend these lines, or delete them; record lost turns again";
        Some(BesideProblem { file, line, kind: "journal", message, hint })
    }

    /// The problem as text, like those of lines of the memory file.
    pub(crate) fn text(&self) -> String {
        let BesideProblem { file, line, kind: _, message, hint } = self;
        format!("{}:{line}:1: warning: {message}\n    hint: {hint}\n", file.display())
    }

    pub(crate) fn json(&self) -> Value {
        let BesideProblem { file, line, kind, message, hint } = self;
        json!({
            "file": file.display().to_string(), "line": line, "column": 1, "severity": "warning", "kind": kind,
            "message": message, "hint": hint, "nearest": null, "mended_by_fix": false,
        })
    }
}
