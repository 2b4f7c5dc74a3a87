//! `list`: lists all sections, one per line.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::{Document, Section};
use crate::types::Scope;

/// List all places and other scopes with what they hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories list
  memories list --json

With --json: {version, file, sections: [{scope, name, visits, episodes,
memories, superseded, tried}]}.")]
pub(crate) struct ListArgs {}

pub fn run(cli: Cli<'_>, args: ListArgs) -> Result<u8, Failure> {
    let ListArgs {} = args;
    let store = cli.store()?;
    let document = Document::parse(store.read()?.unwrap_or_default());
    let mut scopes: Vec<Scope> = Vec::new();
    for heading in document.headings() {
        if !scopes.contains(&heading.scope) {
            scopes.push(heading.scope.clone());
        }
    }
    let sections: Vec<(Scope, Section)> = scopes
        .into_iter()
        .map(|scope| {
            let section = document.section(&scope).unwrap_or_default();
            (scope, section)
        })
        .collect();
    if cli.ui.json {
        let list: Vec<serde_json::Value> = sections
            .iter()
            .map(|(scope, section)| {
                let live = section.live().count();
                json!({
                    "scope": scope, "name": section.name, "visits": section.visits, "episodes": section.episodes,
                    "memories": live, "superseded": section.memories.len() - live, "tried": section.tried.len(),
                })
            })
            .collect();
        let file = store.path().display().to_string();
        cli.ui.json_line(&json!({"version": 1, "file": file, "sections": list}))?;
        return Ok(0);
    }
    if sections.is_empty() {
        cli.ui.notice("no memories recorded yet");
    }
    let width = sections.iter().map(|(scope, _)| scope.to_string().len()).max().unwrap_or(0);
    for (scope, section) in &sections {
        let memories = counted(section.live().count() as u64, "memory", "memories");
        let tries = counted(section.tried.len() as u64, "try", "tries");
        let visits = counted(section.visits, "visit", "visits");
        let visits = if matches!(scope, Scope::Location(_)) { format!(", {visits}") } else { String::new() };
        let line = format!("{:<width$}  {memories}, {tries}{visits}", scope.to_string());
        let name = if section.name.is_empty() { String::new() } else { format!("  {}", section.name) };
        cli.ui.data(&format!("{line}{name}\n"))?;
    }
    Ok(0)
}
