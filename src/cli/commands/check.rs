//! `check`: what is wrong with the file, line by line, and how to mend it.

use serde_json::json;

use crate::cli::Cli;
use crate::cli::commands::counted;
use crate::cli::failure::Failure;
use crate::document::inspect::problems;
use crate::document::problem::Severity;

/// Report what cannot be read as it was meant, with line numbers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit code 0: clean; 1: there are problems.

Examples:
  memories check
  memories check --json

With --json: {version, file, problems: [{line, column, severity, kind, message,
hint}]}.")]
pub struct CheckArgs {}

pub(in crate::cli) fn run(cli: Cli<'_>, args: CheckArgs) -> Result<u8, Failure> {
    let CheckArgs {} = args;
    let store = cli.store()?;
    let path = store.path().display().to_string();
    let Some(text) = store.read()? else {
        let failure = Failure::user(anyhow::anyhow!("there is no `{path}`"));
        return Err(failure.hint("`memories init` makes one, and so does the first `memories record`"));
    };
    let found = problems(&text);
    if cli.ui.json {
        let list: Vec<serde_json::Value> = found
            .iter()
            .map(|problem| {
                json!({
                    "line": problem.line, "column": problem.column, "severity": problem.kind.severity(),
                    "kind": problem.kind.name(), "message": problem.kind.to_string(), "hint": problem.kind.hint(),
                })
            })
            .collect();
        cli.ui.json_line(&json!({"version": 1, "file": path, "problems": list}))?;
        return Ok(u8::from(!found.is_empty()));
    }
    for problem in &found {
        let severity = match problem.kind.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (line, column) = (problem.line, problem.column);
        cli.ui.data(&format!("{path}:{line}:{column}: {severity}: {}\n", problem.kind))?;
        cli.ui.data(&format!("    hint: {}\n", problem.kind.hint()))?;
    }
    match found.len() {
        0 => cli.ui.notice(&format!("{path} is clean")),
        count => cli.ui.notice(&counted(count as u64, "problem", "problems")),
    }
    Ok(u8::from(!found.is_empty()))
}
