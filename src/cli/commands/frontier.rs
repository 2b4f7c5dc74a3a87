//! `frontier`: lists the places with directions that were never tried.

use crate::cli::commands::map_places::{named_or_here, read_file};
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_world::{Descriptions, Graph};

/// List directions that were never tried, the most promising first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Directions are the compass points, up, down, in and out. One that was walked or
refused at a place is not listed there. Places whose description names such a
direction come first, of these the nearest; places that no known way reaches
come last.

Examples:
  memories map frontier 64
  memories map frontier                     from where you are
  memories map frontier 64 -n 100 --json

With --json: {version, from, places: [{id, name, steps, actions, directions,
named}], left_out}; steps and actions are null where no way is known.")]
pub(crate) struct FrontierArgs {
    /// Place to start from [default: where the last turn of this episode ended; before its first turn, where the game begins]
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    from: Option<String>,
    /// Number of places
    #[arg(short = 'n', long, value_name = "N", default_value = "10", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<usize>)]
    number: usize,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("ID", Candidates::Places)], ..Facts::of_question(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: FrontierArgs) -> Result<u8, Failure> {
    let FrontierArgs { from, number, view } = args;
    let snapshot = read_file(&mut cli, view)?;
    let from = named_or_here(&cli, &snapshot, from.as_deref())?;
    let descriptions = Descriptions::read(&cli.store()?, &snapshot);
    let report = Graph::read(&snapshot).frontier(from, number, &descriptions);
    cli.ui.answer(&report.json, &report.text)
}
