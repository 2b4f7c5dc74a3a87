//! `check --format`, formerly `fmt`: writes the lines of the grammar in their canonical form.

use serde_json::{Value, json};

use crate::cli::commands::common::{counted, read_existing};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::format::{Formatted, LineChange, format};
use memories_document::types::Outcome;

/// Write headings, entries and evidence in their canonical form
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Write nothing; exit with 1 if lines would change, and list them
    #[arg(long)]
    pub(super) check: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Correct);

pub fn run(mut cli: Cli<'_>, args: FmtArgs) -> Result<u8, Failure> {
    let FmtArgs { check } = args;
    let notebook = cli.notebook()?;
    let path = notebook.store().path().display().to_string();
    let mut changes = format(&read_existing(notebook.store())?).changes;
    // Refuses a file with conflicts, also where no line would change.
    notebook.read_without_sidecar()?;
    let mut written = false;
    if !check && !changes.is_empty() {
        (changes, written) = cli.edit(&notebook, "check", false, |draft| {
            let Formatted { text, changes } = format(&draft.text()?);
            draft.rewrite(Outcome::Formatted, text, changes.len());
            Ok(changes)
        })?;
    }
    if cli.ui.json {
        let lines: Value = changes.iter().map(line_json).collect();
        cli.ui.json_answer(&json!({"file": path, "written": written, "lines": lines}))?;
    } else if check {
        for change in &changes {
            cli.ui.data(&format!("{path}:{}: {}\n", change.line, described(change)))?;
        }
    } else if written {
        cli.ui.data(&format!("formatted {path}: {}\n", counted(changes.len(), "line", "lines")))?;
    }
    if changes.is_empty() {
        cli.ui.notice(&format!("{path} is in canonical form"));
    } else if check && !cli.ui.json {
        cli.ui.hint("`memories check --format` writes these lines");
    }
    Ok(u8::from(check && !changes.is_empty()))
}

/// A change as an object of JSON answers.
pub(super) fn line_json(change: &LineChange) -> Value {
    json!({"line": change.line, "before": change.before, "after": change.after})
}

/// A description of a change for people.
pub(super) fn described(change: &LineChange) -> String {
    match &change.before {
        None => match change.after.as_deref().unwrap_or_default().trim() {
            "" => "a blank line belongs before this line".to_owned(),
            line => format!("`{line}` is put before this line"),
        },
        Some(before) => {
            let before = before.replace('\n', "\\n");
            match &change.after {
                Some(after) => format!("`{before}` is written `{after}`"),
                None => format!("`{before}` joins another line"),
            }
        }
    }
}
