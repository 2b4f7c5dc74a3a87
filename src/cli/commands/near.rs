//! `near`: lists the places around a place.

use crate::cli::commands::map_places::{named_or_here, read_file};
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_world::Graph;

/// List the places that few steps lead to, nearest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories map near 64
  memories map near 'Living Room' --steps 1
  memories map near                         from where you are
  memories map near 64 --steps 100 --json   all places that can be reached

With --json: {version, from, places: [{id, name, steps, actions}]}.")]
pub(crate) struct NearArgs {
    /// Place to start from [default: where the last turn of this episode ended; before its first turn, where the game begins]
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    from: Option<String>,
    /// Number of steps to look
    #[arg(long, value_name = "N", default_value = "3", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<usize>)]
    steps: usize,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("ID", Candidates::Places)], ..Facts::of_question(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: NearArgs) -> Result<u8, Failure> {
    let NearArgs { from, steps, view } = args;
    let snapshot = read_file(&mut cli, view)?;
    let from = named_or_here(&cli, &snapshot, from.as_deref())?;
    let report = Graph::read(&snapshot).near(from, steps);
    cli.ui.answer(&report.json, &report.text)
}
