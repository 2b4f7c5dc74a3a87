//! `retry`: offers turns to the model whose call failed or was put off.

mod follow;

use serde_json::{Value, json};

use crate::cli::commands::common::counted;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::ui::progress_bar;
use memories_document::types::hint::Remedy;
use memories_record::retry::{MAX_FAILURES, Offer, Queue, Waiting, Wanted, waiting};
use memories_record::{Judge, Recorder};

/// Offer turns whose model call failed or was put off to the model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Stops when the model fails twice in a row: the other turns stay queued, the exit
code is 3. `memories stats` shows how many turns wait.

With --follow it goes on, and takes turns as `record --later` queues them, until
Ctrl-C or SIGTERM (exit code 0). When the model fails it pauses, up to a minute.
If several processes follow a file, one works and the others stand by.

Examples:
  memories retry
  memories retry --offline    turns that the built-in rules judged: the model's
                              memory replaces theirs
  memories retry --dry-run    which turns wait
  memories retry --follow &   beside a game that records with --later

With --json: {version, waiting_count, done_count, failed_count, outcomes:
[{turn, outcome}]}; with --follow one {version, turn, outcome} a line.")]
pub(crate) struct RetryArgs {
    /// Offer the turns that the built-in rules judged to a model
    #[arg(long)]
    offline: bool,
    /// List the waiting turns and ask no model
    #[arg(long)]
    dry_run: bool,
    /// Keep working, as turns come, until interrupted
    #[arg(short = 'F', long, conflicts_with_all = ["offline", "dry_run"])]
    follow: bool,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Correct);

pub fn run(mut cli: Cli<'_>, args: RetryArgs) -> Result<u8, Failure> {
    let RetryArgs { offline, dry_run, follow, writer, model } = args;
    writer.override_settings(&mut cli);
    let notebook = cli.notebook()?;
    if follow {
        let memories_llm::Choice { model, notice } = model.choose(&mut cli)?;
        cli.ui.notices(&notice);
        return follow::follow(cli, notebook, model);
    }
    let wanted = if offline { Wanted::Offline } else { Wanted::Queued };
    let queue = waiting(notebook.store(), wanted, cli.settings.record.history_window)?;
    cli.ui.warnings(&queue.damage.warning());
    if dry_run {
        return show(cli, &queue.turns);
    }
    let memories_llm::Choice { model, notice } = model.choose(&mut cli)?;
    if offline && model.is_none() {
        let failure = Failure::user("no model is set up");
        return Err(failure.hint("set a key or a host, or choose one with --provider"));
    }
    cli.ui.notices(notice.iter().filter(|_| !queue.turns.is_empty()));
    let settings = cli.settings.record.clone();
    let recorder = Recorder { notebook: &notebook, judge: Judge::of(model.as_deref()), settings: &settings };
    work_off(cli, &recorder, queue)
}

fn work_off(cli: Cli<'_>, recorder: &Recorder<'_>, queue: Queue) -> Result<u8, Failure> {
    let Queue { turns: queue, mut resolved, damage: _ } = queue;
    let bar = progress_bar(cli.ui.shows_progress(), queue.len(), "turns");
    let mut outcomes = Vec::new();
    let (mut done, mut failed, mut in_a_row) = (0, 0, 0);
    for turn in &queue {
        let asked = recorder.ask_again(turn)?;
        match recorder.write_answer(turn, &mut resolved, asked)? {
            Offer::Done(report) => {
                (done, in_a_row) = (done + 1, 0);
                outcomes.push((turn.label.clone(), report.outcome.into()));
                for warning in &report.warnings {
                    cli.ui.warning(&format!("{}: {warning}", turn.label));
                }
            }
            Offer::Gone => outcomes.push((turn.label.clone(), "gone")),
            Offer::Failed(error) => {
                (failed, in_a_row) = (failed + 1, in_a_row + 1);
                cli.ui.warning(&format!("{}: {error}", turn.label));
            }
        }
        bar.inc(1);
        if in_a_row >= MAX_FAILURES {
            break;
        }
    }
    bar.finish_and_clear();
    let waiting = queue.len() - outcomes.len();
    let lines: String = outcomes.iter().map(|(turn, outcome)| format!("{turn}: {outcome}\n")).collect();
    let done_text = counted(done, "turn done", "turns done");
    let text = format!("{lines}{done_text}, {}\n", counted(waiting, "turn waits", "turns wait"));
    let list = outcomes.iter().map(|(turn, outcome)| json!({"turn": turn, "outcome": outcome}));
    let list: Value = list.collect();
    cli.ui.answer(
        &json!({"waiting_count": waiting, "done_count": done, "failed_count": failed, "outcomes": list}),
        &text,
    )?;
    Ok(if failed > 0 { Remedy::Retry.exit_code() } else { 0 })
}

fn show(cli: Cli<'_>, queue: &[Waiting]) -> Result<u8, Failure> {
    let waiting = queue.len();
    let lines = queue.iter().map(|turn| format!("{}: waiting since {}\n", turn.label, turn.time));
    let text = lines.collect::<String>() + &counted(waiting, "turn waits", "turns wait") + "\n";
    let turn_json = |turn: &Waiting| json!({"turn": turn.label, "outcome": "waiting", "time": turn.time});
    let list: Value = queue.iter().map(turn_json).collect();
    cli.ui.answer(
        &json!({"waiting_count": waiting, "done_count": 0, "failed_count": 0, "outcomes": list}),
        &text,
    )
}
