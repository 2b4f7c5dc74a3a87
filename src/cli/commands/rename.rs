//! `rename`: changes the name of a place or character.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP};
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::grammar::is_same_name;
use memories_document::types::{Moment, ScopeName};
use memories_notebook::correct::Correction;

/// Give a place or character another name; its id stays
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Examples:
  memories rename 32 'Forest, by the tree'

{JSON_HELP}"))]
pub(crate) struct RenameArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "name")]
    scope: Option<String>,
    /// The new name
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Show what would be done; change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { synonyms: &["mv", "move"], ..Facts::of(Group::Correct) };

pub fn run(cli: Cli<'_>, args: RenameArgs) -> Result<u8, Failure> {
    let RenameArgs { scope, name, dry_run, writer } = args;
    if let (Some(Ok(ScopeName::Place(id))), Some(name)) = (scope.as_ref().map(|scope| scope.parse()), &name)
        && !is_same_name(&id, name)
    {
        cli.ui.warning(&format!("`location:{id}` does not find a place called `{name}`"));
    }
    let correction = CorrectionArgs { line: None, dry_run, writer };
    correct::run(cli, CorrectionName::Rename, correction, scope, |scope| {
        Ok((Correction::Rename(scope, name.unwrap_or_default()), Moment::default()))
    })
}
