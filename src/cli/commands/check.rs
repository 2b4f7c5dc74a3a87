//! `check`: reports problems of the file by line, and fixes those that have one possible fix.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::commands::check_beside::{BesideProblem, problems_beside};
use crate::cli::commands::common::{counted, read_existing};
use crate::cli::commands::fmt::{self, FmtArgs, described, line_json};
use crate::cli::commands::map_file::read_map;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use memories_document::check::{Located, entries, not_on_map, problems};
use memories_document::format::LineChange;
use memories_document::problem::{Kind, Problem, Severity, column};
use memories_document::scan::LineNumbers;
use memories_document::twins;
use memories_document::types::frame::one_line;
use memories_document::types::{Outcome, Scope};
use memories_llm::redact;
use memories_notebook::{Draft, FileState};
use memories_search::similar_pairs::similar_pairs;

/// Report lines that cannot be read as meant, and mend the safe ones
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line that is nearly a heading, an entry, a visits line or a tried action is
reported with the nearest right form. `--fix` writes that form where nothing
else can be meant, and the canonical form, as `--format` does. It joins the
visits lines, lists and sections that a merge by lines left twice, as `merge`
would. What it cannot join without losing a word stays and is reported.

`--format` changes only lines of the grammar, and only in form: order, line
endings and other text stay as they are.

Also reported, and mended by nobody: damaged files in `.memories`, and a former
state that has more than twice the bytes of the file.

Exit code 0: clean; 1: there are problems, or `--format --dry-run` lists lines.

Examples:
  memories check
  memories check --dupes               also memories with similar texts
  memories check --map rooms.json      also places that the game does not have
  memories check --fix --dry-run       show what would be mended
  memories check --format --dry-run    lines that are not in canonical form

A map is a JSON array of ids or of objects with an `id`, an object keyed by ids,
or a text with one id a line.

With --json: {version, file, problems: [{file, line, column, severity, kind,
message, hint, nearest, mended_by_fix}]}, `nearest` being null where no right
form is known; with --fix also {written, fixed: [{line, before, after}]}. With
--format it is {version, file, written, lines: [{line, before, after}]}:
`before` is null if a line is put before that line; `after` is null if the line
joins another one.")]
pub(crate) struct CheckArgs {
    /// Also report memories with similar texts within a section; nothing is merged
    #[arg(long)]
    dupes: bool,
    /// Also report places whose ids are not in this file
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Mend what is safe to mend, then report the rest
    #[arg(long, group = "writes")]
    fix: bool,
    /// Write headings, entries and evidence in their canonical form, and report nothing else
    #[arg(long, group = "writes", conflicts_with_all = ["dupes", "map"])]
    format: bool,
    /// Show what `--fix` or `--format` would write; write nothing
    #[arg(long, requires = "writes")]
    dry_run: bool,
}

impl CheckArgs {
    /// True if it writes.
    pub(crate) fn writes(&self) -> bool {
        self.fix || self.format
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    reads: true,
    pages: true,
    synonyms: &["lint", "doctor", "validate", "verify", "format", "tidy"],
    ..Facts::of(Group::Correct)
};

pub fn run(mut cli: Cli<'_>, args: CheckArgs) -> Result<u8, Failure> {
    let CheckArgs { dupes, map, fix, format, dry_run } = args;
    if format {
        return fmt::run(cli, FmtArgs { check: dry_run });
    }
    let notebook = cli.notebook()?;
    let path = notebook.store().path().display().to_string();
    let map = map.map(|map| read_map(&map)).transpose()?;
    let mut text = read_existing(notebook.store())?;
    let mut fixed = Vec::new();
    let mut written = false;
    if fix {
        let mended = twins::fix(&text);
        (text, fixed) = (mended.text, mended.changes);
        if !dry_run && !fixed.is_empty() {
            ((text, fixed), written) = cli.edit(&notebook, "check", false, mend)?;
        }
    }
    let mut found = problems(&text);
    found.extend(secrets_in(&text));
    if let Some(map) = &map {
        found.extend(not_on_map(&text, map));
    }
    if dupes {
        found.extend(duplicates_in(&text));
    }
    found.sort_by_key(|problem| (problem.line, problem.column));
    let beside = problems_beside(notebook.store());
    let exit = u8::from(!found.is_empty() || !beside.is_empty() || (dry_run && !fixed.is_empty()));
    if cli.ui.json {
        let problems = found.iter().map(|problem| problem_json(&path, problem));
        let problems: Value = problems.chain(beside.iter().map(BesideProblem::json)).collect();
        let mut value = json!({"file": path, "problems": problems});
        if fix {
            value["written"] = json!(written);
            value["fixed"] = fixed.iter().map(line_json).collect();
        }
        cli.ui.json_answer(&value)?;
        return Ok(exit);
    }
    for change in fixed.iter().filter(|change| !is_blank(change)) {
        let verb = if dry_run { "would mend" } else { "mended" };
        cli.ui.data(&format!("{path}:{}: {verb}: {}\n", change.line, described(change)))?;
    }
    report(&mut cli, &path, &found, &beside)?;
    hint_at_gone_files(cli, &text)?;
    Ok(exit)
}

/// True if a change only removes a blank line.
fn is_blank(change: &LineChange) -> bool {
    let gone = change.before.as_deref().filter(|_| change.after.is_none());
    gone.is_some_and(|line| line.trim().is_empty())
}

fn report(cli: &mut Cli<'_>, path: &str, found: &[Problem], beside: &[BesideProblem]) -> Result<(), Failure> {
    for problem in found {
        let severity = match problem.kind.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (line, column) = (problem.line, problem.column);
        cli.ui.painted(&format!("{path}:{line}:{column}: {severity}: {}\n", problem.kind), paint::problem)?;
        cli.ui.painted(&format!("    hint: {}\n", problem.hint()), paint::problem)?;
    }
    for problem in beside {
        cli.ui.data(&problem.text())?;
    }
    match found.len() + beside.len() {
        0 => cli.ui.notice(&format!("{path} is clean")),
        count => cli.ui.notice(&counted(count, "problem", "problems")),
    }
    Ok(())
}

/// Names the entries of folders whose files are gone. What they say may still hold.
fn hint_at_gone_files(cli: Cli<'_>, text: &str) -> Result<(), Failure> {
    let files = cli.anchored()?;
    let of_folders = entries(text).into_iter().filter(|entry| matches!(entry.scope, Scope::Folder(_)));
    for Located { memory, line, .. } in of_folders.filter(|entry| entry.memory.is_live()) {
        for anchor in memory.anchors().filter(|anchor| files.state(&anchor.path) == FileState::Gone) {
            let (path, title) = (one_line(&anchor.path), one_line(&memory.title));
            cli.ui.hint(&format!("line {line}: `{path}`, of which \"{title}\" speaks, is gone"));
        }
    }
    Ok(())
}

/// Fixes the file, read again under the lock.
fn mend(draft: &mut Draft<'_>) -> Result<(String, Vec<LineChange>), Failure> {
    let mended = twins::fix(&draft.text()?);
    draft.rewrite(Outcome::Fixed, mended.text.clone(), mended.changes.len());
    Ok((mended.text, mended.changes))
}

fn secrets_in(text: &str) -> Vec<Problem> {
    let found = redact::find(text);
    let numbers = LineNumbers::of(if found.is_empty() { "" } else { text });
    let place = |secret: redact::Secret| {
        let start = text[..secret.range.start].rfind('\n').map_or(0, |at| at + 1);
        let kind = Kind::Secret(secret.kind.to_owned());
        Problem::new(
            numbers.line(secret.range.start),
            column(&text[start..], secret.range.start - start),
            kind,
        )
    };
    found.into_iter().map(place).collect()
}

/// Near-duplicates among the live entries of a section; each is reported with the first that it resembles.
fn duplicates_in(text: &str) -> Vec<Problem> {
    let mut by_scope: BTreeMap<Scope, Vec<Located>> = BTreeMap::new();
    for entry in entries(text) {
        if entry.memory.is_live() && !entry.memory.category.only_grows() {
            by_scope.entry(entry.scope.clone()).or_default().push(entry);
        }
    }
    let mut found = Vec::new();
    for entries in by_scope.values() {
        let texts: Vec<&str> = entries.iter().map(|entry| entry.memory.text.as_str()).collect();
        for (first, second) in similar_pairs(&texts) {
            let (first, second) = (&entries[first], &entries[second]);
            let kind = Kind::LookAlike {
                title: second.memory.title.clone(),
                other: first.memory.title.clone(),
                line: first.line,
            };
            found.push(Problem::new(second.line, 1, kind));
        }
    }
    found
}

pub(crate) fn problem_json(path: &str, problem: &Problem) -> Value {
    json!({
        "file": path, "line": problem.line, "column": problem.column, "severity": problem.kind.severity(),
        "kind": <&str>::from(&problem.kind), "message": problem.kind.to_string(), "hint": problem.hint(),
        "nearest": problem.nearest.as_ref().map(|nearest| &nearest.line),
        "mended_by_fix": problem.is_mended_by_fix(),
    })
}
