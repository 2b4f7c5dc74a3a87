//! `episode`: starts the next episode, shows the running one, or sets the end of one aside.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::consolidate_grown;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_document::text::stored_line;
use memories_notebook::Notebook;
use memories_notebook::rewind::{REWIND, RewoundMemory, RewoundTurn};
use memories_record::best_run::mark;

/// Start the next episode, show the running one, or go back in it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  memories episode start      before each new game; prints the number
  memories episode start 7    with your own number, or a label such as `ep_007`
  memories episode show
  memories episode best       what this episode did is the best run from now on
  memories episode rewind --turn 41            a save was restored: set aside
                                               what followed turn 41
  memories episode rewind --turn 41 --dry-run  show what that would be

With --json: {version, episode, ephemeral_ended}, and for rewind {version,
episode, after, turns: [{turn, action, location}], memories: [{scope, title}],
changed}.",
    arg_required_else_help = false
)]
pub(crate) struct EpisodeArgs {
    #[command(subcommand)]
    action: EpisodeAction,
}

#[derive(Debug, clap::Subcommand)]
enum EpisodeAction {
    /// Start the next episode
    Start {
        /// Its number, or a label with one run of digits [default: the next; 1 for the first game]
        #[arg(value_name = "EPISODE", allow_negative_numbers = true)]
        episode: Option<String>,
    },
    /// Show the running episode
    Show,
    /// Make what the running episode did so far the best run, whatever its score
    Best,
    /// Set aside what was recorded after a turn: a save was restored, or a reply made anew
    Rewind(RewindArgs),
}

#[derive(Debug, clap::Args)]
struct RewindArgs {
    /// The last turn that stays; 0: none
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    turn: u64,
    /// Episode: a number, or a label such as `ep_003` [default: the running one]
    #[arg(long, value_name = "EPISODE", allow_negative_numbers = true)]
    episode: Option<String>,
    /// Show what would be set aside, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Turn);

pub fn run(mut cli: Cli<'_>, args: EpisodeArgs) -> Result<u8, Failure> {
    let EpisodeArgs { action } = args;
    let notebook = cli.notebook()?;
    let is_start = matches!(action, EpisodeAction::Start { .. });
    let mut told = None;
    let (episode, ended) = match action {
        EpisodeAction::Rewind(args) => return rewind(cli, args),
        EpisodeAction::Show => (notebook.state().episode, 0),
        EpisodeAction::Best => {
            let (episode, sentence) = mark_best(&mut cli, &notebook)?;
            told = Some(sentence);
            (episode, 0)
        }
        EpisodeAction::Start { episode } => {
            let wanted = episode.as_deref().map(episode_number).transpose()?;
            cli.edit(&notebook, "episode", false, |draft| Ok(draft.start_episode(wanted)?))?.0
        }
    };
    let text = told.unwrap_or_else(|| episode.to_string());
    cli.ui.answer(&json!({"episode": episode, "ephemeral_ended": ended}), &format!("{text}\n"))?;
    if is_start {
        consolidate_grown::without_asking(&mut cli);
    }
    if ended > 0 && !cli.ui.json {
        let memories = counted(ended, "ephemeral memory", "ephemeral memories");
        cli.ui.notice(&format!("removed {memories} of the previous episode"));
    }
    Ok(0)
}

/// Sets aside what was recorded after a turn.
fn rewind(mut cli: Cli<'_>, args: RewindArgs) -> Result<u8, Failure> {
    let RewindArgs { turn, episode, dry_run, writer } = args;
    writer.override_settings(&mut cli);
    let notebook = cli.notebook()?;
    let episode = episode.as_deref().map(episode_number).transpose()?;
    let (rewound, _) = cli.edit(&notebook, REWIND, dry_run, |draft| {
        let episode = episode.map_or_else(|| draft.state().map(|state| state.episode), Ok)?;
        Ok(draft.rewind(episode, turn)?)
    })?;
    let mut answer = json!(rewound);
    answer["changed"] = json!(!dry_run);
    let did = if dry_run { "would set aside" } else { "set aside" };
    let mut text = format!("{did} {}\n", rewound.sentence());
    for RewoundTurn { turn, action, .. } in &rewound.turns {
        text += &format!("  T{turn} {}\n", stored_line(action));
    }
    for RewoundMemory { scope, title } in &rewound.memories {
        text += &format!("  \"{title}\" in {scope}\n");
    }
    cli.ui.answer(&answer, &text)?;
    if !dry_run {
        cli.ui.notice("`memories restore` brings them back");
    }
    Ok(0)
}

/// Marks the run of the running episode as the best one. The number of the episode, and a sentence about its run.
fn mark_best(cli: &mut Cli<'_>, notebook: &Notebook) -> Result<(u64, String), Failure> {
    let (marked, _) = cli.edit(notebook, "episode", false, |draft| {
        let episode = draft.state()?.episode;
        let (files, journal) = draft.files_and_journal();
        Ok(mark(files, journal, episode)?.map(|sentence| (episode, sentence)))
    })?;
    marked.ok_or_else(|| {
        Failure::user("no turn of the running episode is known")
            .hint("record its turns first: `memories record`")
    })
}
