//! `stats`: shows figures about the memories and the play.

use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use memories_record::stats::read::read;
use memories_record::stats::report::render;

/// Show figures about the memories and the play
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The figures mean:
  no effect   turns after which score, place, inventory and life were the
              same, and the caller did not say that the world changed
  repeated    turns of `no effect` whose action had no effect at that place when
              it was last tried there, in any episode; as a share of all turns
  stored      memories that were new in the episode
  revised     memories that got a new text in it
  in file     entries of the file that were last written in it
  known       of the places visited in an episode, the share with a memory of
              that episode or an earlier one
  recall      tokens, by estimate, of each place as `recall` prints it now;
              of more than 10,000 places, of an even choice
  turns to    turns of an episode until its score was first that high
  journal     lines of the journal that are damaged; `memories check` says where

Memories and places come from the file. Turns come from the journal, which drops
the oldest when it grows large. A turn that `retry` settled counts with the
outcome of the retry.

Examples:
  memories stats
  memories stats --json

JSON, null where nothing is known:
  {version, file, total_memories, avg_importance, locations_covered,
   top_location: {scope, name, memory_count}, by_category, by_status,
   by_persistence, contested: [{scope, title, by}], tried_count,
   coverage: {visited, with_memories, share},
   recall_tokens: {place_count, p50, max},
   play: {recorded, since, until, no_effect, repeated_no_effect,
     repeated_share, outcomes},
   queue: {turn_count, oldest, oldest_seconds},
   journal: {unreadable, mended, lost_turns},
   models: [{name, questions, failed, calls, input_tokens, output_tokens,
     cost}],
   memories_without_episode,
   by_episode: [{episode, memory_count, memories_total, stored, revised,
     coverage, turn_count, no_effect, repeated_no_effect, repeated_share,
     deaths, best_score, milestones: [{score, turn}], model_calls, cost}]}")]
pub(crate) struct StatsArgs {}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { pages: true, synonyms: &["status", "info", "count"], ..Facts::of_question(Group::Look) };

pub fn run(cli: Cli<'_>, StatsArgs {}: StatsArgs) -> Result<u8, Failure> {
    let store = cli.store()?;
    let file = store.path().display().to_string();
    let read = read(&store, file, &cli.settings.limits, &cli.settings.now, |_| {})?;
    cli.ui.warnings(&read.warnings);
    let figures = read.stats;
    if cli.ui.json {
        cli.ui.json_line(&figures)?;
    } else {
        cli.ui.painted(&render(&figures), paint::stats)?;
    }
    Ok(0)
}
