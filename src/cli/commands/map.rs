//! `map`: draws all places and the ways between them, and answers questions about them.

use strum::VariantNames as _;

use crate::cli::as_of::AsOfArgs;
use crate::cli::commands::frontier::{self, FrontierArgs};
use crate::cli::commands::map_places::read_file;
use crate::cli::commands::near::{self, NearArgs};
use crate::cli::commands::path::{self, PathArgs};
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_world::{Graph, MapFormat};

/// Draw all places and known ways, or answer a question about them
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
Two ways between the same places that are opposite directions are drawn as one
line. A dashed line led elsewhere the last time.

Examples:
  memories map                          Mermaid, which GitHub shows in Markdown
  memories map --format svg > map.svg   a picture; north is up
  memories map --format dot | dot -Tpdf > map.pdf

With --format json, which is also what --json means: {version, places: [{id,
name}], ways: [{action, from, to, count, episode, turn, after?,
led_elsewhere_since?, refused_since?, sometimes_to?, deadly?}]}."
)]
pub(crate) struct MapArgs {
    #[command(subcommand)]
    question: Option<MapQuestion>,
    #[command(flatten)]
    drawing: DrawArgs,
}

#[derive(Debug, clap::Args)]
struct DrawArgs {
    /// mermaid, dot, json or svg [default: mermaid]
    #[arg(long, value_name = "FORMAT")]
    format: Option<MapFormat>,
    #[command(flatten)]
    view: ViewArgs,
}

#[derive(Debug, clap::Subcommand)]
enum MapQuestion {
    /// Draw all places and known ways, as without a word
    #[command(hide = true)]
    Draw(DrawArgs),
    Path(PathArgs),
    Near(NearArgs),
    Frontier(FrontierArgs),
}

impl MapArgs {
    /// True if it asks for a path, which may not be known.
    pub(crate) fn asks_for_path(&self) -> bool {
        matches!(self.question, Some(MapQuestion::Path(_)))
    }

    /// The moment that it asks about.
    pub(crate) fn as_of(&self) -> &AsOfArgs {
        match &self.question {
            None => &self.drawing.view.as_of,
            Some(MapQuestion::Draw(drawing)) => &drawing.view.as_of,
            Some(MapQuestion::Path(args)) => &args.view.as_of,
            Some(MapQuestion::Near(args)) => &args.view.as_of,
            Some(MapQuestion::Frontier(args)) => &args.view.as_of,
        }
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[("FORMAT", Candidates::Values(MapFormat::VARIANTS))],
    ..Facts::of_question(Group::Look)
};

pub fn run(cli: Cli<'_>, args: MapArgs) -> Result<u8, Failure> {
    match args.question {
        None => draw(cli, args.drawing),
        Some(MapQuestion::Draw(drawing)) => draw(cli, drawing),
        Some(MapQuestion::Path(args)) => path::run(cli, args),
        Some(MapQuestion::Near(args)) => near::run(cli, args),
        Some(MapQuestion::Frontier(args)) => frontier::run(cli, args),
    }
}

fn draw(mut cli: Cli<'_>, drawing: DrawArgs) -> Result<u8, Failure> {
    let DrawArgs { format, view } = drawing;
    let default = if cli.ui.json { MapFormat::Json } else { MapFormat::Mermaid };
    let format = format.unwrap_or(default);
    if cli.ui.json && format != MapFormat::Json {
        return Err(Failure::usage("`--json` is `--format json`, and another format is asked for")
            .hint("leave one of them out"));
    }
    let snapshot = read_file(&mut cli, view)?;
    let graph = Graph::read(&snapshot);
    if graph.is_empty() {
        cli.ui.notice("no places are known yet");
    }
    match format {
        MapFormat::Json => cli.ui.json_answer(&graph.to_json()),
        MapFormat::Mermaid | MapFormat::Dot | MapFormat::Svg => {
            cli.ui.data(&graph.draw(format))?;
            Ok(0)
        }
    }
}
