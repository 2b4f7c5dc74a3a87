//! `route`: prints the best run of the game, or the part of it that leads to a goal, as actions.

use crate::cli::commands::map_places::{here, named, read_file};
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_world::route;

/// Print the best run of the game, or what leads to a goal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The best run is the entry `Best run` of the section `Game`: what earned the
points of the best episode so far, in order. Where it does not lead to a goal,
the shortest known way does.

Examples:
  memories route                        the whole best run, a line an action
  memories route lamp                   up to the first action that names it
  memories route Kitchen                up to the first arrival at a place
  memories route +10                    up to the first gain of 10 points
  memories route --from 64              what is left to do in this episode, from
                                        a place
  memories route --from . lamp          the same from where you are, to a goal
  memories route --json | jq -r '.actions[]'

Exit code 0: there is such a run; 1: none is known. With --json: {version,
known, episode?, score?, back, actions, steps: [{action, place?, gain?,
done}]}. A place is {id, name}; `back` leads to the first of the actions.")]
pub(crate) struct RouteArgs {
    /// A place, what is gained, or a word of an action
    #[arg(value_name = "GOAL", allow_negative_numbers = true)]
    goal: Option<String>,
    /// Only what is still to be done, from this place; `.` is where you are
    #[arg(long, value_name = "PLACE", allow_negative_numbers = true)]
    from: Option<String>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of_question(Group::Look);

pub fn run(mut cli: Cli<'_>, args: RouteArgs) -> Result<u8, Failure> {
    let RouteArgs { goal, from, view } = args;
    let snapshot = read_file(&mut cli, view)?;
    let from = match from.as_deref() {
        None => None,
        Some(".") => here(&cli, &snapshot)?,
        Some(place) => Some(named(&snapshot, place)?),
    };
    let report = route(&snapshot, goal.as_deref(), from);
    cli.ui.answer(&report.json, &report.text)?;
    Ok(u8::from(!report.is_known))
}
