//! `restore`: restores a former state of the file; another `restore` undoes it.

use serde_json::{Value, json};

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_notebook::RESTORE;
use memories_store::{Backup, Store};

/// Restore the state before the last write, or an earlier one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Kept are the last ten states, the last state of each of the last ten episodes,
and one with more than twice the bytes of all that came after it, until the file
has grown again. Of large files fewer stay: at most 100 MB of states, and the
last two. A restore is a write like any other: another `restore` undoes it.

Examples:
  memories restore              the state before the last write
  memories restore --list       list the states, the newest first
  memories restore 41           one of them, by its number
  memories restore --episode 3  the state in which episode 3 ended

With --json: {version, restored, file, changed}, and for --list {version,
backups: [{number, modified, bytes, before, ends_episode}]}: `before` is
{command, episode, text} of the write that followed, or null if it is not known.")]
pub(crate) struct RestoreArgs {
    /// Number of the state, as `--list` shows it
    #[arg(value_name = "N", conflicts_with = "list", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<u64>)]
    number: Option<u64>,
    /// The last state of this episode
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "number"], allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<u64>)]
    episode: Option<u64>,
    /// List the states, and say which write came after each
    #[arg(long)]
    list: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { synonyms: &["undo", "revert", "rollback", "reset"], ..Facts::of(Group::Correct) };

pub fn run(mut cli: Cli<'_>, args: RestoreArgs) -> Result<u8, Failure> {
    let RestoreArgs { number, episode, list } = args;
    let notebook = cli.notebook()?;
    let store = notebook.store();
    let backups = store.backups()?;
    if list {
        return show(cli, &backups);
    }
    let number = match episode {
        Some(episode) => end_of(&backups, episode, notebook.state().episode)?,
        None => chosen(store, &backups, number)?,
    };
    let text = store.read_backup(number)?;
    let (_, written) =
        cli.edit(&notebook, RESTORE, false, |draft| Ok(draft.restore(number, text.clone())?))?;
    let file = store.path().display().to_string();
    let text = if written {
        format!("restored state {number} of {file}\n")
    } else {
        format!("{file} is already in state {number}\n")
    };
    cli.ui.answer(&json!({"restored": number, "file": file, "changed": written}), &text)
}

/// The number of a state; by default, the number of the newest.
fn chosen(store: &Store, backups: &[Backup], number: Option<u64>) -> Result<u64, Failure> {
    let Some(newest) = backups.first() else {
        let failure = Failure::user(format!("there is no former state of `{}`", store.path().display()));
        return Err(failure.hint("every write but the first keeps the former state"));
    };
    let number = number.unwrap_or(newest.number);
    if !backups.iter().any(|backup| backup.number == number) {
        let numbers: Vec<String> = backups.iter().map(|backup| backup.number.to_string()).collect();
        let failure = Failure::user(format!("there is no state {number}"));
        return Err(failure.hint(format!("choose one of {}", numbers.join(", "))));
    }
    Ok(number)
}

/// The number of the state in which an episode ended.
fn end_of(backups: &[Backup], episode: u64, running: u64) -> Result<u64, Failure> {
    if let Some(end) = backups.iter().find(|backup| backup.ends == Some(episode)) {
        return Ok(end.number);
    }
    let mut ended: Vec<u64> = backups.iter().filter_map(|backup| backup.ends).collect();
    ended.dedup();
    ended.reverse();
    let ended: Vec<String> = ended.iter().map(ToString::to_string).collect();
    let failure = if episode == running {
        Failure::user(format!("episode {episode} has not ended"))
    } else {
        Failure::user(format!("no state is kept that ends episode {episode}"))
    };
    Err(failure.hint(if ended.is_empty() {
        "the last state of an episode is kept when something is written in the next one".to_owned()
    } else {
        format!("choose one of {}, or a state of `memories restore --list`", ended.join(", "))
    }))
}

fn show(cli: Cli<'_>, backups: &[Backup]) -> Result<u8, Failure> {
    let modified = |backup: &Backup| {
        let time = jiff::Timestamp::try_from(backup.modified).ok();
        let time = time.and_then(|time| jiff::Timestamp::from_second(time.as_second()).ok());
        time.map(|time| time.to_string()).unwrap_or_default()
    };
    if cli.ui.json {
        let backups = backups.iter().map(|backup| {
            json!({"number": backup.number, "modified": modified(backup), "bytes": backup.size,
                "before": backup.before, "ends_episode": backup.ends})
        });
        return cli.ui.json_answer(&json!({"backups": backups.collect::<Value>()}));
    }
    if backups.is_empty() {
        cli.ui.notice("no former state is kept yet");
    }
    for backup in backups {
        let bytes = counted(backup.size, "byte", "bytes");
        let (modified, told) = (modified(backup), told(backup));
        cli.ui.data(&format!("{:>4}  {modified}  {bytes:>14}{told}\n", backup.number))?;
    }
    Ok(0)
}

/// `  end of episode 2; before record: Ep3, T1: go north`.
fn told(backup: &Backup) -> String {
    let end = backup.ends.map(|episode| format!("end of episode {episode}"));
    let before = backup.before.as_ref().map(|before| match before.text.as_str() {
        "" => format!("before {}", before.command),
        text => format!("before {}: {text}", before.command),
    });
    let told: Vec<String> = end.into_iter().chain(before).collect();
    if told.is_empty() { String::new() } else { format!("  {}", told.join("; ")) }
}
