//! `restore`: restores a former state of the file; another `restore` undoes it.

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use crate::store::Backup;

/// Restore the state before the last write, or an earlier one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The last ten states are kept, and one with more than twice the bytes of all that
came after it until the file has grown again. Large states are kept as
differences from the next one. A restore is a write like any other: another
`restore` undoes it.

Examples:
  memories restore           the state before the last write
  memories restore --list    list the states, the newest first
  memories restore 41        one of them, by its number

With --json: {version, restored, file, changed}, and for --list {version,
backups: [{number, modified, bytes}]}.")]
pub(crate) struct RestoreArgs {
    /// Number of the state, as `--list` shows it
    #[arg(value_name = "N", conflicts_with = "list", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<u64>)]
    number: Option<u64>,
    /// List the states
    #[arg(long)]
    list: bool,
}

pub fn run(mut cli: Cli<'_>, args: RestoreArgs) -> Result<u8, Failure> {
    let RestoreArgs { number, list } = args;
    let notebook = cli.notebook()?;
    let store = notebook.store();
    let backups = store.backups()?;
    if list {
        return show(cli, &backups);
    }
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
    let text = store.read_backup(number)?;
    let (_, written) = cli.edit(&notebook, "restore", false, |draft| {
        draft.restore(number, text.clone());
        Ok(())
    })?;
    let file = store.path().display().to_string();
    let text = match written {
        true => format!("restored state {number} of {file}\n"),
        false => format!("{file} is already in state {number}\n"),
    };
    cli.ui.answer(&json!({"restored": number, "file": file, "changed": written}), &text)
}

fn show(cli: Cli<'_>, backups: &[Backup]) -> Result<u8, Failure> {
    let modified = |backup: &Backup| {
        let time = jiff::Timestamp::try_from(backup.modified).ok();
        let time = time.and_then(|time| jiff::Timestamp::from_second(time.as_second()).ok());
        time.map(|time| time.to_string()).unwrap_or_default()
    };
    if cli.ui.json {
        let backups = backups.iter().map(
            |backup| json!({"number": backup.number, "modified": modified(backup), "bytes": backup.size}),
        );
        return cli.ui.json_answer(&json!({"backups": backups.collect::<Vec<_>>()}));
    }
    if backups.is_empty() {
        cli.ui.notice("no former state is kept yet");
    }
    for backup in backups {
        let bytes = counted(backup.size, "byte", "bytes");
        cli.ui.data(&format!("{:>4}  {}  {bytes}\n", backup.number, modified(backup)))?;
    }
    Ok(0)
}
