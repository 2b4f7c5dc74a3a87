//! `log`: shows the entries of the journal.

use std::time::Duration;

use strum::VariantNames as _;

use crate::cli::commands::common::counted;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use crate::cli::values::parse_count;
use memories_document::types::Outcome;
use memories_record::stats::log::{self, LogFilter, parse_outcome};
use memories_store::Follower;
use memories_store::journal::Journal;
use memories_store::journal::aside::Aside;
use memories_store::journal::damage::is_unreadable;
use memories_store::journal::entry::{Entry, PlayedTurn};

/// Interval between two reads of the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Show why each decision was taken, the newest last
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line holds the time, episode and turn, the place, the action, the outcome and
the reason.

Outcomes: stored, revised, duplicate, declined, tried, not_significant, queued;
for corrections superseded, invalidated, marked, forgotten, renamed; and
episode_started, rewound. A turn that was set aside says so. The journal drops
its oldest entries when it grows large.

Examples:
  memories log                             the last 20 entries
  memories log -n 100 --place 'Living Room' --outcome stored
  memories log --episode 3 --json          entries as the journal holds them
  memories log --follow                    new entries too, as they are written

JSON: one object a line, {version, id, time, outcome, turn, triggers, memories,
invalidated, reasoning, model, warnings, visits}; of corrections {version, id,
time, outcome, command, corrected, reasoning}. `aside` is true for what was set
aside.")]
pub(crate) struct LogArgs {
    /// Maximum of entries
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = parse_count::<usize>)]
    lines: usize,
    /// Only what was done at, or written to, this place or other scope
    #[arg(long, value_name = "SCOPE")]
    place: Option<String>,
    /// Only entries with this outcome
    #[arg(long, value_name = "NAME", value_parser = parse_outcome)]
    outcome: Option<Outcome>,
    /// Only this episode: a number, or a label such as `ep_003`
    #[arg(long, value_name = "EPISODE")]
    episode: Option<String>,
    /// Keep printing new entries as they are written, until interrupted
    #[arg(short = 'F', long)]
    follow: bool,
}

impl LogArgs {
    /// True if new entries are printed as they come.
    pub(crate) fn follows(&self) -> bool {
        self.follow
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    asks: true,
    pages: true,
    synonyms: &["history", "journal"],
    completes: &[("NAME", Candidates::Values(Outcome::VARIANTS))],
    ..Facts::of(Group::Look)
};

pub fn run(mut cli: Cli<'_>, args: LogArgs) -> Result<u8, Failure> {
    let LogArgs { lines, place, outcome, episode, follow } = args;
    let store = cli.store()?;
    let filter = LogFilter {
        scope: place.map(|place| cli.scope(&place)).transpose()?,
        outcome,
        episode: episode.as_deref().map(episode_number).transpose()?,
    };
    let mut unreadable = 0_u64;
    let wanted = |line: &str| {
        let entry = Entry::<PlayedTurn<'_>>::parse(line);
        unreadable += u64::from(entry.is_none() && is_unreadable(line));
        entry.is_some_and(|entry| log::passes(&entry, &filter))
    };
    let journal = Journal::of(&store);
    let (last, follower) = journal.follow(lines, wanted)?;
    let aside = journal.aside()?;
    if unreadable > 0 {
        let lines = counted(unreadable, "line", "lines");
        cli.ui.warning(&format!("{lines} of the journal cannot be read; `memories check` says more"));
    }
    if last.is_empty() && !follow && lines > 0 {
        cli.ui.notice("no matching entry in the journal");
    }
    show_entries(&mut cli, &last, &filter, &aside)?;
    if follow { follow_on(cli, follower, &filter) } else { Ok(0) }
}

/// Shows new entries until interrupted or until the pipe is closed.
fn follow_on(mut cli: Cli<'_>, mut follower: Follower, filter: &LogFilter) -> Result<u8, Failure> {
    loop {
        cli.ui.flush()?;
        std::thread::sleep(POLL_INTERVAL);
        show_entries(&mut cli, &follower.poll()?, filter, &Aside::default())?;
    }
}

fn show_entries(
    cli: &mut Cli<'_>,
    lines: &[String],
    filter: &LogFilter,
    aside: &Aside,
) -> Result<(), Failure> {
    for line in lines {
        let entry: Option<Entry<'_>> = Entry::parse(line);
        let Some(entry) = entry.filter(|entry| log::passes(entry, filter)) else { continue };
        if cli.ui.json {
            let line = line.trim_end();
            match line.strip_suffix('}').filter(|_| aside.has(entry.id.as_deref())) {
                Some(line) => cli.ui.json_text(&format!("{line},\"aside\":true}}"))?,
                None => cli.ui.json_text(line)?,
            }
        } else {
            let aside = if aside.has(entry.id.as_deref()) { " (set aside)" } else { "" };
            cli.ui.painted(&format!("{}{aside}\n", log::render(&entry)), paint::log)?
        }
    }
    Ok(())
}
