//! `episode`: starts the next episode or shows the running one.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;

/// Start the next episode, or show the running one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  memories episode start      before each new game; prints the number
  memories episode start 7    with your own number, or a label such as `ep_007`
  memories episode show

With --json: {version, episode, ephemeral_ended}.",
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
}

pub fn run(mut cli: Cli<'_>, args: EpisodeArgs) -> Result<u8, Failure> {
    let EpisodeArgs { action } = args;
    let notebook = cli.notebook()?;
    let (episode, ended) = match action {
        EpisodeAction::Show => (notebook.state().episode, 0),
        EpisodeAction::Start { episode } => {
            let wanted = episode.as_deref().map(episode_number).transpose()?;
            cli.edit(&notebook, "episode", false, |draft| Ok(draft.start_episode(wanted)?))?.0
        }
    };
    cli.ui.answer(&json!({"episode": episode, "ephemeral_ended": ended}), &format!("{episode}\n"))?;
    if ended > 0 && !cli.ui.json {
        let memories = counted(ended, "ephemeral memory", "ephemeral memories");
        cli.ui.notice(&format!("removed {memories} of the previous episode"));
    }
    Ok(0)
}
