//! `list`: lists all sections, one per line.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::section_order::{Order, arranged};
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
  memories list --by name
  memories list --json

Places stand in the order of their first visit; those of which it is not known
follow, by the earliest mark of what they hold.

With --json: {version, file, order, sections: [{scope, name, visits, episodes,
first_visit: {episode, turn}, memories, superseded, ways, worked, tried}]}, in the
order that `order` names; `first_visit` is null where it is not known.")]
pub(crate) struct ListArgs {
    /// Order of the places: `visit`, `id` or `name`
    #[arg(long = "by", value_name = "ORDER", default_value = "visit", value_parser = str::parse::<Order>)]
    order: Order,
}

pub fn run(cli: Cli<'_>, args: ListArgs) -> Result<u8, Failure> {
    let ListArgs { order } = args;
    let store = cli.store()?;
    let document = Document::parse(Snapshot::read(&store)?.text().to_owned());
    let names = PlaceNames::of(document.headings());
    let sections = arranged(&document, order);
    if cli.ui.json {
        let sections = sections.iter().map(|(scope, section)| {
            let live = section.live().count();
            json!({
                "scope": scope, "name": section.name, "visits": section.visits, "episodes": section.episodes,
                "first_visit": section.first_visit, "memories": live,
                "superseded": section.memories.len() - live, "ways": section.ways.len(),
                "worked": section.worked.len(), "tried": section.tried.len(),
            })
        });
        let file = store.path().display().to_string();
        return cli
            .ui
            .json_answer(&json!({"file": file, "order": order, "sections": sections.collect::<Vec<_>>()}));
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
