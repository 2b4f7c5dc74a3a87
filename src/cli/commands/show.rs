//! `show`: prints a whole section of the file unchanged.

use serde_json::json;

use crate::cli::commands::common::{memory_json, parse_scopes};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::Document;
use crate::recall::read_scopes;

/// Print a whole section, superseded memories too
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories show 23
  memories show 'Living Room' --json

With --json: {version, scope, name, visits, episodes, memories, tried}.")]
pub(crate) struct ShowArgs {
    /// An id, `npc:ID`, `agent:ID`, `world`, `scene`, `dialogue`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
}

pub fn run(cli: Cli<'_>, args: ShowArgs) -> Result<u8, Failure> {
    let ShowArgs { scope } = args;
    let store = cli.store()?;
    let (scope, section) = read_scopes(&store, &parse_scopes(&[scope])?)?.remove(0);
    let document = Document::parse(store.read()?.unwrap_or_default());
    let texts: Vec<&str> = document.section_texts(&scope).collect();
    if texts.is_empty() {
        let failure = Failure::user(anyhow::anyhow!("there is no section of {scope}"));
        return Err(failure.hint("`memories list` shows what there is"));
    }
    if cli.ui.json {
        let memories: Vec<serde_json::Value> =
            section.memories.iter().map(|memory| memory_json(&scope, memory)).collect();
        cli.ui.json_line(&json!({
            "version": 1, "scope": scope, "name": section.name, "visits": section.visits,
            "episodes": section.episodes, "memories": memories, "tried": section.tried,
        }))?;
        return Ok(0);
    }
    for text in texts {
        cli.ui.data(text)?;
        if !text.ends_with('\n') {
            cli.ui.data("\n")?;
        }
    }
    Ok(0)
}
