//! `adopt`: states the author of entries.

use serde_json::json;

use crate::cli::commands::common::{counted, no_section};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::types::{Author, Outcome, Scope};

/// Say who wrote entries: you, and no model strikes them, or a model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A model or an agent may supersede an entry unless you wrote it on this machine,
or it is core or pinned. Nobody knows who wrote the entries of a clone or of a
file from elsewhere. The memory file stays as it is: who wrote what stands
beside it, on this machine. `memories mark --pin` protects an entry everywhere.

Examples:
  memories adopt --all                     all entries are yours
  memories adopt 23 64                     those of two places
  memories adopt 23 --title 'Take sword'   one of them
  memories adopt --all --author model      a model may correct all of them

With --json: {version, changed, author, adopted: [{scope, title}]}.")]
pub(crate) struct AdoptArgs {
    /// Ids, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or names of known places
    #[arg(value_name = "SCOPE", required_unless_present = "all")]
    scopes: Vec<String>,
    /// All entries of the file
    #[arg(long, conflicts_with_all = ["scopes", "title"])]
    all: bool,
    /// Only the entry with this exact title
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Author of the entries: `person` or `model`
    #[arg(long, value_name = "WHO", default_value = "person", value_parser = parse_author)]
    author: Author,
    /// Show what would be done; change nothing
    #[arg(long)]
    dry_run: bool,
}

fn parse_author(text: &str) -> Result<Author, String> {
    match text.parse() {
        Ok(author @ (Author::Person | Author::Model)) => Ok(author),
        _ => Err("use `person` or `model`".to_owned()),
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Correct);

pub fn run(mut cli: Cli<'_>, args: AdoptArgs) -> Result<u8, Failure> {
    let AdoptArgs { scopes, all, title, author, dry_run } = args;
    let notebook = cli.notebook()?;
    let named = scopes.iter().map(|name| cli.scope(name)).collect::<Result<Vec<Scope>, Failure>>()?;
    let (adopted, _) = cli.edit(&notebook, "adopt", dry_run, |draft| {
        let known = draft.files.scopes();
        if let Some(unknown) = named.iter().find(|scope| !known.contains(scope)) {
            return Err(no_section(unknown, known.iter()));
        }
        let scopes = if all { known } else { named.clone() };
        let mut adopted = Vec::new();
        for scope in scopes {
            let found = title.as_deref().is_none_or(|title| !draft.files.find(&scope, title).is_empty());
            if !found {
                let failure = Failure::user(format!("no live memory of {scope} has that title"));
                return Err(failure.hint(format!("titles are exact; `memories show {scope}` shows them")));
            }
            let titles = draft.adopt(&scope, title.as_deref(), author);
            adopted.extend(titles.into_iter().map(|title| (scope.clone(), title)));
        }
        if !adopted.is_empty() {
            draft.note_intake(Outcome::Adopted, format!("{} for a {author}", adopted.len()));
        }
        Ok(adopted)
    })?;
    let count = counted(adopted.len() as u64, "memory", "memories");
    let are = if adopted.len() == 1 { "is" } else { "are" };
    let text = if adopted.is_empty() {
        format!("all of them are a {author}'s already\n")
    } else if dry_run {
        format!("{count} would be a {author}'s\n")
    } else {
        format!("{count} {are} now a {author}'s\n")
    };
    let object = |(scope, title): &(Scope, String)| json!({"scope": scope, "title": title});
    let adopted: Vec<_> = adopted.iter().map(object).collect();
    let changed = !dry_run && !adopted.is_empty();
    cli.ui.answer(&json!({"changed": changed, "author": author, "adopted": adopted}), &text)
}
