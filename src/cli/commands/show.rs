//! `show`: prints a whole section of the file, with a mark above the notes of a person.

use serde_json::json;

use crate::cli::commands::common::{memories_json, no_section, parse_scopes};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::mark_notes;
use crate::recall;

/// Print a whole section, superseded memories too
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories show 23
  memories show 'Living Room' --json

What a person wrote without the syntax of an entry has the comment
`<!-- note by hand -->` above it.

With --json: {version, scope, name, visits, episodes, memories, tried,
notes: [{heading, text}]}.")]
pub(crate) struct ShowArgs {
    /// An id, `npc:ID`, `agent:ID`, `world`, `scene`, `dialogue`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
}

pub fn run(cli: Cli<'_>, args: ShowArgs) -> Result<u8, Failure> {
    let ShowArgs { scope } = args;
    let store = cli.store()?;
    let names = parse_scopes(&[scope])?;
    let snapshot = recall::read(&store, &names)?;
    cli.ui.warnings(&snapshot.warning());
    let (scope, section) = recall::sections(&snapshot, &names)?.remove(0);
    let texts: Vec<&str> = snapshot.section_texts(&scope).collect();
    if texts.is_empty() {
        return Err(no_section(&scope));
    }
    if cli.ui.json {
        let memories = memories_json(&scope, &section.memories);
        return cli.ui.json_answer(&json!({
            "scope": scope, "name": section.name, "visits": section.visits,
            "episodes": section.episodes, "memories": memories, "tried": section.tried,
            "notes": section.notes,
        }));
    }
    for text in texts {
        cli.ui.data(&mark_notes(text))?;
        if !text.ends_with('\n') {
            cli.ui.data("\n")?;
        }
    }
    Ok(0)
}
