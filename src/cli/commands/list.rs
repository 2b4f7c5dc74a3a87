//! `list`: lists all sections, one per line.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::{Document, PlaceNames};
use crate::notebook::Snapshot;
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

pub fn run(cli: Cli<'_>, ListArgs {}: ListArgs) -> Result<u8, Failure> {
    let store = cli.store()?;
    let document = Document::parse(Snapshot::read(&store)?.text().to_owned());
    let names = PlaceNames::of(document.headings());
    let sections = document.sections();
    if cli.ui.json {
        let sections = sections.iter().map(|(scope, section)| {
            let live = section.live().count();
            json!({
                "scope": scope, "name": section.name, "visits": section.visits, "episodes": section.episodes,
                "memories": live, "superseded": section.memories.len() - live, "tried": section.tried.len(),
            })
        });
        let file = store.path().display().to_string();
        return cli.ui.json_answer(&json!({"file": file, "sections": sections.collect::<Vec<_>>()}));
    }
    if sections.is_empty() {
        cli.ui.notice("no memories recorded yet");
    }
    let width = sections.iter().map(|(scope, _)| scope.to_string().len()).max().unwrap_or(0);
    for (scope, section) in &sections {
        let memories = counted(section.live().count(), "memory", "memories");
        let tries = counted(section.tried.len(), "try", "tries");
        let visits = counted(section.visits, "visit", "visits");
        let visits = if matches!(scope, Scope::Location(_)) { format!(", {visits}") } else { String::new() };
        let line = format!("{:<width$}  {memories}, {tries}{visits}", scope.to_string());
        let name = match section.name.as_str() {
            "" => String::new(),
            name => format!("  {}", names.label(scope, name)),
        };
        cli.ui.data(&format!("{line}{name}\n"))?;
    }
    Ok(0)
}
