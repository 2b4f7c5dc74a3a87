//! `goals`: lists the gains of points, with place and action, in order.

use crate::cli::commands::map_places::read_file;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_world::goals;

/// List what gained points, where and by what
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The gains of the best run come first, in its order, then those of other
episodes in the order of the file. Those that the running episode has done are
marked.

Examples:
  memories goals
  memories goals --json | jq -r '.goals[] | select(.done | not) | .action'

With --json: {version, goals: [{gain, place: {id, name}, action, episode?,
turn?, writer?, in_best_run, count?, failed?, done}]}.")]
pub(crate) struct GoalsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of_question(Group::Look);

pub fn run(mut cli: Cli<'_>, args: GoalsArgs) -> Result<u8, Failure> {
    let report = goals(&read_file(&mut cli, args.view)?);
    cli.ui.answer(&report.json, &report.text)
}
