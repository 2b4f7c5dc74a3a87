//! `episode`: which episode is running.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::Document;
use crate::store::Change;
use crate::types::Scope;

/// Start the next episode, or show the running one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  memories episode start      before each new game; prints the number
  memories episode start 7    with a number of your own, or a label such as `ep_007`
  memories episode show

With --json: {version, episode, ephemeral_ended}.",
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

pub fn run(cli: Cli<'_>, args: EpisodeArgs) -> Result<u8, Failure> {
    let EpisodeArgs { action } = args;
    let store = cli.store()?;
    let (episode, ended) = match action {
        EpisodeAction::Show => {
            let (state, warning) = store.sidecar().state();
            if let Some(warning) = warning {
                cli.ui.warning(&warning.to_string());
            }
            (state.episode, 0)
        }
        EpisodeAction::Start { episode } => {
            let wanted = episode.as_deref().map(episode_number).transpose()?;
            let update = store.update(|_, sidecar| {
                let (mut state, _) = sidecar.state_for_writers()?;
                // A folder without state has not started its first episode yet: that one is running.
                state.episode = wanted.unwrap_or_else(|| state.episode.saturating_add(1));
                let started = (state.episode, count_live(sidecar.session()?));
                let line = json!({
                    "version": 1, "id": cli.settings.fresh_id(), "time": cli.settings.now,
                    "outcome": "episode_started", "command": "episode", "episode": state.episode,
                    "ephemeral_ended": started.1, "session": sidecar.session()?,
                });
                let change = Change::unchanged(started).with_state(state).with_journal_line(line);
                Ok::<_, Failure>(if started.1 > 0 { change.with_session(String::new()) } else { change })
            })?;
            for warning in &update.warnings {
                cli.ui.warning(&warning.to_string());
            }
            update.value
        }
    };
    if cli.ui.json {
        cli.ui.json_line(&json!({"version": 1, "episode": episode, "ephemeral_ended": ended}))?;
    } else {
        cli.ui.data(&format!("{episode}\n"))?;
        if ended > 0 {
            let memories = counted(ended as u64, "ephemeral memory", "ephemeral memories");
            cli.ui.notice(&format!("{memories} ended with the episode before"));
        }
    }
    Ok(0)
}

/// How many live memories a session holds.
fn count_live(session: Option<String>) -> usize {
    let document = Document::parse(session.unwrap_or_default());
    let mut scopes: Vec<Scope> = document.headings().map(|heading| heading.scope.clone()).collect();
    scopes.sort();
    scopes.dedup();
    scopes.iter().filter_map(|scope| document.section(scope)).map(|section| section.live().count()).sum()
}
