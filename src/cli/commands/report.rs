//! `report`: writes the world as one HTML file.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::as_of::AsOfArgs;
use crate::cli::commands::common::{counted, read_existing};
use crate::cli::commands::page::{check_target, file_name, open_in_browser, title_of};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_page::{PageRequest, StepRange, report};
use memories_store::{Existing, Store, write_file};

/// Write the world as an HTML page with map, time, figures and lists
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page says first how far the play got, what is next and what kills. Then come
the map with the best run on it, a slider over all turns, charts and lists. It
is one file that loads nothing: open it from disk, mail it, or keep it with the
results of a test.

What the file held after each turn comes from the journal and the former states
in `.memories`. Where these do not reach, the page says so.

Examples:
  memories report                       Memories.html, in this folder
  memories report -o world.html --open
  memories report --episode 3
  memories report --since 2.40          from turn 40 of episode 2 on
  memories report --since 2026-01-31 --title 'Zork, last week'
  memories report -o - > world.html

With --json: {version, file, bytes, place_count, memory_count, step_count,
has_gaps}.")]
pub(crate) struct ReportArgs {
    /// The file to write; `-` is stdout [default: the memory file's name with .html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only steps of this episode; what was known before is the first state
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    episode: Option<u64>,
    /// Only steps from an episode, a turn (3.20) or a day (2026-01-31) on
    #[arg(long, value_name = "WHEN", conflicts_with = "episode")]
    since: Option<String>,
    /// The title of the page [default: the folder's name]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
    /// Replace a file that is no such page
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { reads: true, ..Facts::of(Group::Look) };

pub fn run(cli: Cli<'_>, args: ReportArgs) -> Result<u8, Failure> {
    let ReportArgs { output, episode, since, title, open, force, as_of: _ } = args;
    let since = since.map(|since| since.parse().map_err(Failure::usage)).transpose()?;
    let store = &cli.store()?;
    read_existing(store)?;
    // The one that is read may be a copy.
    let named = &Store::open(store.path(), cli.settings.lock_timeout).unwrap_or_else(|_| store.clone());
    let name = file_name(named);
    let output = output.unwrap_or_else(|| Path::new(&name).with_extension("html"));
    let to_stdout = output == Path::new("-");
    if open && to_stdout {
        return Err(Failure::usage("a page on stdout cannot be opened").hint("name a file with `-o`"));
    }
    if !to_stdout {
        check_target(named, &output, force)?;
    }
    let request = PageRequest {
        title: title.unwrap_or_else(|| title_of(named)),
        file: name,
        range: StepRange { episode, since },
        limits: cli.settings.limits,
        now: cli.settings.now.clone(),
    };
    let report = report(store, &request)?;
    cli.ui.warnings(&report.warnings);
    if to_stdout {
        cli.ui.bytes(report.html.as_bytes())?;
        return Ok(0);
    }
    write_file(&output, report.html.as_bytes(), Existing::Replace)?;
    if report.steps == 1 && request.range != StepRange::default() {
        cli.ui.notice("no recorded step is in that range; the page shows what was known before it");
    }
    let (shown, bytes) = (output.display().to_string(), report.html.len());
    if report.has_gaps {
        cli.ui.notice("what the file held is not known for all steps; the page says where");
    }
    let json = json!({
        "file": shown, "bytes": bytes, "place_count": report.places, "memory_count": report.memories,
        "step_count": report.steps, "has_gaps": report.has_gaps,
    });
    let counts = [
        counted(report.places, "place", "places"),
        counted(report.memories, "memory", "memories"),
        counted(report.steps, "step", "steps"),
    ];
    let answer = cli.ui.answer(&json, &format!("wrote {shown}: {}\n", counts.join(", ")))?;
    if open {
        cli.ui.flush()?;
        open_in_browser(&output)?;
    }
    Ok(answer)
}
