//! `episode`: which episode is running.

use serde_json::json;

use crate::cli::Cli;
use crate::cli::failure::Failure;
use crate::record::turn::parse_episode;
use crate::store::Change;

/// Start the next episode, or show the running one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  memories episode start      before each new game; prints the number
  memories episode start 7    with a number of your own, or a label such as `ep_007`
  memories episode show

With --json: {version, episode}.",
    arg_required_else_help = false
)]
pub struct EpisodeArgs {
    #[command(subcommand)]
    action: EpisodeAction,
}

#[derive(Debug, clap::Subcommand)]
enum EpisodeAction {
    /// Start the next episode
    Start {
        /// Its number, or a label with one run of digits [default: one more than the running one]
        #[arg(value_name = "EPISODE", allow_negative_numbers = true)]
        episode: Option<String>,
    },
    /// Show the running episode
    Show,
}

pub(in crate::cli) fn run(cli: Cli<'_>, args: EpisodeArgs) -> Result<u8, Failure> {
    let EpisodeArgs { action } = args;
    let store = cli.store()?;
    let episode = match action {
        EpisodeAction::Show => {
            let (state, warning) = store.sidecar().state();
            if let Some(warning) = warning {
                cli.ui.warning(&warning.to_string());
            }
            state.episode
        }
        EpisodeAction::Start { episode } => {
            let wanted = match episode {
                None => None,
                Some(label) => Some(parse_episode(&label).ok_or_else(|| {
                    Failure::usage(format!("`{label}` is not an episode"))
                        .hint("give a number, or a label with one run of digits such as `ep_003`")
                })?),
            };
            let update = store.update(|_, sidecar| {
                let (mut state, _) = sidecar.state();
                // A folder without state has not started its first episode yet: that one is running.
                state.episode = wanted.unwrap_or_else(|| state.episode.saturating_add(1));
                let episode = state.episode;
                Ok::<_, Failure>(Change::unchanged(episode).with_state(state))
            })?;
            for warning in &update.warnings {
                cli.ui.warning(&warning.to_string());
            }
            update.value
        }
    };
    if cli.ui.json {
        cli.ui.json_line(&json!({"version": 1, "episode": episode}))?;
    } else {
        cli.ui.data(&format!("{episode}\n"))?;
    }
    Ok(0)
}
