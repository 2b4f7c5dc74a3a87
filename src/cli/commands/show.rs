//! `show`: prints a whole section of the file, or all of them behind a table of contents, with a mark above the
//! notes of a person.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::cli::commands::common::no_section;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use crate::cli::section_order::{Order, arranged};
use memories_document::grammar::write_key;
use memories_document::scan::BYTE_ORDER_MARK;
use memories_document::types::Scope;
use memories_document::types::text::escape;
use memories_document::ways::anchor;
use memories_document::{PlaceNames, Section, mark_notes};
use memories_notebook::{MemoryObjects, Snapshot};

/// Print a whole section, superseded memories too
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories show 23
  memories show 'Living Room' --json
  memories show --all > all.md      all sections, behind a table of contents
  memories show --all --by name

Notes that a person wrote without the syntax of an entry have the comment
`<!-- note by hand -->` above them. With --all places stand in the order of
their first visit, as in `list`.

With --json: {version, scope, name, visits, episodes, first_visit, memories,
ways, worked, seen, tried, notes: [{heading, text}]}; with --all {version,
order, sections: […]}.")]
pub(crate) struct ShowArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, `game`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true, required_unless_present = "all")]
    scope: Option<String>,
    /// Print all sections, behind a table of contents
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// Order of the places with --all: `visit`, `id` or `name` [default: visit]
    #[arg(long = "by", value_name = "ORDER", conflicts_with = "scope", value_parser = str::parse::<Order>)]
    order: Option<Order>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { reads: true, pages: true, synonyms: &["cat", "view", "open", "print"], ..Facts::of(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: ShowArgs) -> Result<u8, Failure> {
    let ShowArgs { scope, all: _, order, view } = args;
    view.read_for(&mut cli);
    let Some(scope) = scope else { return show_all(cli, order.unwrap_or_default()) };
    let store = cli.store()?;
    let names = [cli.settings.working_folder.scope_name(&scope)?.existing()];
    let snapshot = Snapshot::read(&store)?;
    cli.ui.warnings(&snapshot.warning());
    let scope = memories_recall::scopes(&snapshot, &names)?.remove(0);
    let texts: Vec<&str> = snapshot.section_texts(&scope).collect();
    if texts.is_empty() {
        return Err(no_section(&scope, snapshot.headings().map(|heading| &heading.scope)));
    }
    if cli.ui.json {
        let section = snapshot.section(&scope);
        return cli.ui.json_answer(&section_json(&MemoryObjects::of(&snapshot), &scope, section));
    }
    for text in texts {
        cli.ui.painted(&whole_lines(text), paint::markdown)?;
    }
    Ok(0)
}

fn show_all(cli: Cli<'_>, order: Order) -> Result<u8, Failure> {
    let snapshot = Snapshot::read(&cli.store()?)?;
    cli.ui.warnings(&snapshot.warning());
    let document = snapshot.document();
    let sections = arranged(document, order, |scope, section| (scope, section));
    if cli.ui.json {
        let objects = MemoryObjects::of(&snapshot);
        let sections: Value =
            sections.iter().map(|(scope, section)| section_json(&objects, scope, section)).collect();
        return cli.ui.json_answer(&json!({"order": order, "sections": sections}));
    }
    if sections.is_empty() {
        cli.ui.notice("no memories recorded yet");
        return Ok(0);
    }
    let names = PlaceNames::of(document.headings());
    let mut contents = "# Contents\n\n".to_owned();
    let mut texts = String::new();
    let mut anchors: HashMap<String, usize> = HashMap::new();
    let mut texts_of: HashMap<&Scope, Vec<&str>> = HashMap::new();
    for (heading, text) in document.placed_texts() {
        texts_of.entry(&heading.scope).or_default().push(text);
    }
    for (scope, section) in &sections {
        for (at, text) in texts_of[scope].iter().enumerate() {
            let heading = text.lines().next().unwrap_or_default().trim_start_matches([BYTE_ORDER_MARK, '#']);
            // A viewer numbers headings that would have the same anchor.
            let mut target = anchor(heading);
            let before = anchors.entry(target.clone()).or_default();
            if *before > 0 {
                target.push_str(&format!("-{before}"));
            }
            *before += 1;
            if at == 0 {
                let name = match section.name.as_str() {
                    "" => write_key(scope),
                    name => names.label(scope, name),
                };
                let label = escape(&name, &['\\', '[', ']', '<', '`', '*', '_']);
                contents.push_str(&format!("- [{label}](#{target})\n"));
            }
            texts.push_str(&whole_lines(text));
            if !texts.ends_with("\n\n") {
                texts.push('\n');
            }
        }
    }
    cli.ui.painted(&format!("{contents}\n{texts}"), paint::markdown)?;
    Ok(0)
}

/// A section's text, ended by a line break.
fn whole_lines(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{}{end}", mark_notes(text.trim_start_matches(BYTE_ORDER_MARK)))
}

fn section_json(objects: &MemoryObjects<'_>, scope: &Scope, section: &Section) -> Value {
    let memories = objects.list((scope, &section.name), &section.memories);
    json!({
        "scope": scope, "name": section.name, "visits": section.visits, "episodes": section.episodes,
        "first_visit": section.first_visit, "memories": memories,
        "ways": section.ways, "worked": section.worked, "seen": section.seen, "tried": section.tried,
        "notes": section.notes,
    })
}
