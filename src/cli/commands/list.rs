//! `list`: lists all sections, one per line.

use serde::Serialize;

use crate::cli::commands::common::counted;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use crate::cli::section_order::{Order, arranged};
use memories_document::types::{Moment, Scope};
use memories_document::{PlaceNames, Section};
use memories_notebook::Snapshot;

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
first_visit: {episode, turn}, memory_count, superseded_count, way_count,
worked_count, tried_count}]}, in the order that `order` names; `first_visit` is
null where it is not known.")]
pub(crate) struct ListArgs {
    /// Order of the places: `visit`, `id` or `name`
    #[arg(long = "by", value_name = "ORDER", default_value = "visit", value_parser = str::parse::<Order>)]
    order: Order,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// A section as it is listed.
#[derive(Debug, Serialize)]
struct Row {
    scope: Scope,
    name: String,
    visits: u64,
    episodes: Box<[u64]>,
    first_visit: Option<Box<Moment>>,
    memory_count: u32,
    superseded_count: u32,
    way_count: u32,
    worked_count: u32,
    tried_count: u32,
}

impl Row {
    fn of(scope: Scope, section: Section) -> Row {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let live = section.live().count();
        let superseded = section.memories.len() - live;
        Row {
            scope,
            name: section.name,
            visits: section.visits,
            episodes: section.episodes.into_boxed_slice(),
            first_visit: section.first_visit.map(Box::new),
            memory_count: count(live),
            superseded_count: count(superseded),
            way_count: count(section.ways.len()),
            worked_count: count(section.worked.len()),
            tried_count: count(section.tried.len()),
        }
    }
}

#[derive(Serialize)]
struct List {
    file: String,
    order: Order,
    sections: Vec<Row>,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { pages: true, synonyms: &["ls", "dir", "places"], ..Facts::of_question(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: ListArgs) -> Result<u8, Failure> {
    let ListArgs { order, view } = args;
    view.read_for(&mut cli);
    let store = cli.store()?;
    let snapshot = Snapshot::read(&store)?;
    let sections = arranged(snapshot.document(), order, Row::of);
    if cli.ui.json {
        let file = store.path().display().to_string();
        return cli.ui.json_answer(&List { file, order, sections });
    }
    if sections.is_empty() {
        cli.ui.notice("no memories recorded yet");
    }
    let names = PlaceNames::of(snapshot.headings());
    let width = sections.iter().map(|row| row.scope.to_string().len()).max().unwrap_or(0);
    for Row { scope, name, visits, memory_count, tried_count, .. } in &sections {
        let memories = counted(*memory_count, "memory", "memories");
        let tries = counted(*tried_count, "try", "tries");
        let visits = counted(*visits, "visit", "visits");
        let visits = if matches!(scope, Scope::Location(_)) { format!(", {visits}") } else { String::new() };
        let line = format!("{:<width$}  {memories}, {tries}{visits}", scope.to_string());
        let name = match name.as_str() {
            "" => String::new(),
            name => format!("  {}", names.label(scope, name)),
        };
        cli.ui.painted(&format!("{line}{name}\n"), paint::list)?;
    }
    Ok(0)
}
