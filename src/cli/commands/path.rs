//! `path`: prints the shortest known way to a place; the exit code says whether there is one.

use crate::cli::commands::map_places::{named, named_or_here, read_file};
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_world::Graph;

/// Print the shortest known way to a place, as actions
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
#[command(after_help = "\
A way that needed something, that was refused the last time, or that led
elsewhere at other times says so; where another path has no more actions, it is
taken. A way that led elsewhere the last time is not taken. The actions include
those that opened a way when it was first walked, until they are done in the
running episode.

Examples:
  memories map path 64 187                  from West of House to the Attic
  memories map path 'West of House' Attic   by names that only one place has
  memories map path Attic                   from where you are
  memories map path Attic --json | jq -r '.actions[]'

Exit code 0: there is a path; 1: none is known. With --json: {version, known,
from, to, actions, steps: [{action, from, to, count, episode, turn, after?,
refused_since?: {episode, turn, reply}, sometimes_to?, deadly?}]}. A place is
{id, name}.")]
pub(crate) struct PathArgs {
    /// Place to start from [default: where the last turn of this episode ended; before its first turn, where the game begins]
    #[arg(value_name = "FROM", allow_negative_numbers = true)]
    from: Option<String>,
    /// Where to go
    #[arg(value_name = "TO", allow_negative_numbers = true)]
    to: String,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[("FROM", Candidates::Places), ("TO", Candidates::Places)],
    ..Facts::of_question(Group::Look)
};

pub fn run(mut cli: Cli<'_>, args: PathArgs) -> Result<u8, Failure> {
    let PathArgs { from, to, view } = args;
    let snapshot = read_file(&mut cli, view)?;
    let to = named(&snapshot, &to)?;
    let from = named_or_here(&cli, &snapshot, from.as_deref())?;
    let report = Graph::read(&snapshot).path(from, to);
    cli.ui.answer(&report.json, &report.text)?;
    Ok(u8::from(!report.is_known))
}
