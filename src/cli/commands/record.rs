//! `record`: one turn of the game, or many, become memory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::context::Cli;
use crate::cli::failure::{Failure, Kind};
use crate::cli::ui::progress_bar;
use crate::cli::values::{parse_count, parse_importance, parse_integer};
use crate::document::Document;
use crate::llm;
use crate::record::turn::{Remember, Spot, Turn, TurnError};
use crate::record::{Judge, RecordError, Recorder, Report};
use crate::store::Store;
use crate::types::{Category, DEFAULT_IMPORTANCE, Scope, clamp_importance};

/// Record a turn: game facts decide when to ask a model, the model what to keep
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --action and --turns, one turn is read from stdin as a JSON object.

Examples:
  memories record --location 64 --action 'take mailbox' --response 'No.'
  memories record --location '23:Living Room' --location-after '34:Kitchen' \\
      --action west --response 'Kitchen. A table stands here.'
  memories record --location 23 --action 'take lamp' --response Taken. \\
      --score-before 0 --score-after 5 --inventory-after 'brass lantern' \\
      --remember 'The lamp lights dark places' --remember-importance 800
  echo '{\"action\": \"look\", \"response\": \"A field.\", \"location\": 64}' |
      memories record
  memories record --turns turns.jsonl

Answer: one line, or with --json {version, outcome, episode, turn, place,
visits, triggers, memories, invalidated, tried, reasoning, model, warnings}.
Outcomes: stored, revised, duplicate, declined, tried, not_significant, and
queued (the model failed; the turn waits for `retry`).
With --turns and --json: {version, file, turns, outcomes, failed: [{line,
error}], places, memories, tried}. A line that is refused leaves the others
alone; the exit code is then 4.")]
pub struct RecordArgs {
    /// Read many turns from a file, one JSON object a line; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["action", "response"])]
    turns: Option<PathBuf>,
    /// What the player did
    #[arg(long, value_name = "TEXT", requires = "response", requires = "location")]
    action: Option<String>,
    /// What the game answered
    #[arg(long, value_name = "TEXT", requires = "action")]
    response: Option<String>,
    /// Where: an id, `id:name`, or a name that one place has
    #[arg(long, value_name = "PLACE", allow_negative_numbers = true)]
    location: Option<String>,
    /// The place that it led to, if another
    #[arg(long, value_name = "PLACE", allow_negative_numbers = true)]
    location_after: Option<String>,
    /// Score before
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_integer)]
    score_before: Option<i64>,
    /// Score after
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_integer)]
    score_after: Option<i64>,
    /// Move counter before
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_integer)]
    moves_before: Option<i64>,
    /// Move counter after
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_integer)]
    moves_after: Option<i64>,
    /// What was carried before, separated by commas
    #[arg(long, value_name = "ITEMS", value_delimiter = ',')]
    inventory_before: Option<Vec<String>>,
    /// What was carried after, separated by commas
    #[arg(long, value_name = "ITEMS", value_delimiter = ',')]
    inventory_after: Option<Vec<String>>,
    /// The player died
    #[arg(long)]
    died: bool,
    /// The game's world changed, although no other fact shows it
    #[arg(long)]
    world_changed: bool,
    /// Why the player did it
    #[arg(long, value_name = "TEXT")]
    reasoning: Option<String>,
    /// Episode: a number, or a label such as `ep_003` [default: the running one]
    #[arg(long, value_name = "EPISODE")]
    episode: Option<String>,
    /// Number of the turn [default: one more than the last]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    turn: Option<u64>,
    /// Store this text as worded, without a model
    #[arg(long, value_name = "TEXT")]
    remember: Option<String>,
    /// How important it is, 1 to 1000 [default: 500]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "remember")]
    #[arg(value_parser = parse_importance)]
    remember_importance: Option<f64>,
    /// What kind of memory it is [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "remember")]
    remember_category: Option<Category>,
    /// When it was played: a date or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    timestamp: Option<String>,
    /// Give a place that has only a name the next free id
    #[arg(long)]
    new_place: bool,
    #[command(flatten)]
    model: ModelArgs,
    /// Exit with 3 when the model fails; the turn is written and queued all the same
    #[arg(long)]
    strict: bool,
}

pub fn run(mut cli: Cli<'_>, args: RecordArgs) -> Result<u8, Failure> {
    cli.settings.record.new_place = args.new_place;
    let notebook = cli.notebook()?;
    let llm::Choice { model, notice } = args.model.clone().choose(&mut cli)?;
    let settings = cli.settings.record.clone();
    let recorder = Recorder { notebook: &notebook, judge: Judge::of(model.as_deref()), settings: &settings };
    let strict = args.strict;
    if let Some(file) = &args.turns {
        let text = cli.read_file(file, "--turns takes a file with one JSON object a line")?;
        announce(&mut cli, notice.as_deref());
        return record_many(cli, &recorder, &text, strict);
    }
    let turn = match args.action {
        Some(_) => turn_from_flags(args)?,
        None => turn_from_stdin(&mut cli)?,
    };
    let report = recorder.record(turn)?;
    if report.model.is_some() {
        announce(&mut cli, notice.as_deref());
    }
    tell(&mut cli, &report)?;
    Ok(exit_code(&report, strict))
}

fn announce(cli: &mut Cli<'_>, notice: Option<&str>) {
    if let Some(notice) = notice {
        cli.ui.notice(notice);
    }
}

fn exit_code(report: &Report, strict: bool) -> u8 {
    let failed = report.model.as_ref().is_some_and(|model| model.error.is_some());
    if failed && strict { Kind::TryAgain.exit_code() } else { 0 }
}

fn turn_from_stdin(cli: &mut Cli<'_>) -> Result<Turn, Failure> {
    if cli.ui.stdin_is_terminal() {
        let failure = Failure::usage("no turn given");
        return Err(
            failure.hint("use --action, --response and --location, --turns FILE, or send JSON on stdin")
        );
    }
    Ok(Turn::from_json(&cli.read_input("a turn")?)?)
}

fn turn_from_flags(args: RecordArgs) -> Result<Turn, Failure> {
    let items = |list: Option<Vec<String>>| {
        list.map(|items| {
            items
                .iter()
                .map(|item| item.trim().to_owned())
                .filter(|item| !item.is_empty())
                .collect::<Vec<_>>()
        })
    };
    let episode = args.episode.as_deref().map(episode_number).transpose()?;
    if let Some(time) = args.timestamp.as_deref().filter(|time| !crate::document::fields::is_date(time)) {
        let failure = Failure::usage(format!("`{time}` is not a time"));
        return Err(failure.hint("write a date such as 2026-01-31 or a time such as 2026-01-31T10:40:00Z"));
    }
    let remember = args.remember.filter(|text| !text.trim().is_empty()).map(|text| Remember {
        text,
        importance: args.remember_importance.map_or(DEFAULT_IMPORTANCE, clamp_importance),
        category: args.remember_category.unwrap_or_else(Category::note),
    });
    Ok(Turn {
        episode,
        turn: args.turn,
        action: args.action.unwrap_or_default(),
        response: args.response.unwrap_or_default(),
        location_before: args.location.as_deref().map(parse_spot).transpose()?,
        location_after: args.location_after.as_deref().map(parse_spot).transpose()?,
        score_before: args.score_before,
        score_after: args.score_after,
        moves_before: args.moves_before,
        moves_after: args.moves_after,
        inventory_before: items(args.inventory_before),
        inventory_after: items(args.inventory_after),
        died: args.died,
        world_changed: args.world_changed.then_some(true),
        reasoning: args.reasoning,
        remember,
        timestamp: args.timestamp,
    })
}

/// A place on the command line: `64`, `64:West of House`, or a name.
fn parse_spot(text: &str) -> Result<Spot, Failure> {
    let (id, name) = match text.split_once(':') {
        Some((id, name)) => (id, Some(name.trim().to_owned())),
        None => (text, None),
    };
    let id = id.trim();
    if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
        let id = id.parse().map_err(|_| Failure::usage(format!("`{id}` is too large for an id")))?;
        return Ok(Spot { id: Some(id), name: name.filter(|name| !name.is_empty()) });
    }
    let number = text.trim().trim_start_matches('-');
    if text.trim().is_empty() || number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let failure = Failure::usage(format!("`{text}` is not a place"));
        return Err(failure.hint("give the engine's id (0 or more), `id:name`, or a name that one place has"));
    }
    Ok(Spot { id: None, name: Some(text.trim().to_owned()) })
}

fn tell(cli: &mut Cli<'_>, report: &Report) -> Result<(), Failure> {
    for warning in &report.warnings {
        cli.ui.warning(warning);
    }
    if let Some(error) = report.model.as_ref().and_then(|model| model.error.as_ref()) {
        cli.ui.warning(&format!("{error}; the turn is queued"));
    }
    if cli.ui.json {
        let mut value = json!({"version": 1});
        if let (Some(value), serde_json::Value::Object(report)) = (value.as_object_mut(), json!(report)) {
            value.extend(report);
        }
        cli.ui.json_line(&value)?;
    } else {
        cli.ui.data(&format!("{}\n", report.one_line()))?;
    }
    if !report.reasoning.is_empty() {
        cli.ui.detail(&format!("why: {}", report.reasoning));
    }
    Ok(())
}

/// Most warnings that are shown after many turns.
const MOST_WARNINGS: usize = 10;

/// What came of many turns.
#[derive(Default)]
struct Tally {
    outcomes: BTreeMap<&'static str, u64>,
    failed_lines: Vec<(usize, String)>,
    warnings: Vec<String>,
    model_errors: BTreeMap<String, u64>,
}

fn record_many(cli: Cli<'_>, recorder: &Recorder<'_>, text: &[u8], strict: bool) -> Result<u8, Failure> {
    let lines: Vec<(usize, &[u8])> = text
        .split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .collect();
    let bar = progress_bar(cli.ui.shows_progress(), lines.len() as u64, "turns");
    let mut tally = Tally::default();
    for (number, line) in &lines {
        let turn = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned());
        let turn = turn.and_then(|line| Turn::from_json(line).map_err(|error: TurnError| error.to_string()));
        let report = match turn {
            Err(problem) => Err(problem),
            Ok(turn) => match recorder.record(turn) {
                Ok(report) => Ok(report),
                // What concerns one turn leaves the others alone; a store that fails concerns all.
                Err(error @ (RecordError::Place(_) | RecordError::Document(_))) => Err(error.to_string()),
                Err(RecordError::Store(error)) => {
                    bar.finish_and_clear();
                    let failure = Failure::from(error);
                    return Err(failure.hint(format!("the turns before line {number} are recorded")));
                }
            },
        };
        match report {
            Err(problem) => tally.failed_lines.push((*number, problem)),
            Ok(report) => {
                *tally.outcomes.entry(report.outcome.into()).or_default() += 1;
                if let Some(error) = report.model.as_ref().and_then(|model| model.error.clone()) {
                    *tally.model_errors.entry(error).or_default() += 1;
                }
                tally
                    .warnings
                    .extend(report.warnings.iter().map(|warning| format!("line {number}: {warning}")));
                cli.ui.detail(&report.one_line());
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    tell_tally(cli, recorder.notebook.store(), lines.len(), &tally)?;
    Ok(match (tally.failed_lines.is_empty(), strict && !tally.model_errors.is_empty()) {
        (false, _) => Kind::User.exit_code(),
        (true, true) => Kind::TryAgain.exit_code(),
        (true, false) => 0,
    })
}

fn tell_tally(cli: Cli<'_>, store: &Store, turns: usize, tally: &Tally) -> Result<(), Failure> {
    let document = Document::parse(store.read()?.unwrap_or_default());
    let mut scopes: Vec<Scope> = document.headings().map(|heading| heading.scope.clone()).collect();
    scopes.dedup();
    let sections: Vec<(Scope, String, usize, usize)> = scopes
        .into_iter()
        .filter_map(|scope| {
            let section = document.section(&scope)?;
            Some((scope, section.name.clone(), section.live().count(), section.tried.len()))
        })
        .collect();
    let places = sections.iter().filter(|(scope, ..)| matches!(scope, Scope::Location(_))).count() as u64;
    let memories = sections.iter().map(|(_, _, memories, _)| *memories as u64).sum::<u64>();
    let tries = sections.iter().map(|(_, _, _, tries)| *tries as u64).sum::<u64>();
    for (line, problem) in &tally.failed_lines {
        cli.ui.error(&format!("line {line}: {problem}"));
    }
    for (error, count) in &tally.model_errors {
        let turns = counted(*count, "turn is", "turns are");
        cli.ui.warning(&format!("{error}; {turns} queued"));
    }
    for warning in tally.warnings.iter().take(MOST_WARNINGS) {
        cli.ui.warning(warning);
    }
    if let Some(more) = tally.warnings.len().checked_sub(MOST_WARNINGS).filter(|more| *more > 0) {
        cli.ui.warning(&format!(
            "{} more like these; the journal has them all",
            counted(more as u64, "warning", "warnings")
        ));
    }
    let path = store.path().display().to_string();
    if cli.ui.json {
        let failed: Vec<serde_json::Value> = tally
            .failed_lines
            .iter()
            .map(|(line, problem)| json!({"line": line, "error": problem}))
            .collect();
        cli.ui.json_line(&json!({
            "version": 1, "file": path, "turns": turns, "outcomes": tally.outcomes, "failed": failed,
            "places": places, "memories": memories, "tried": tries,
        }))?;
        return Ok(());
    }
    let outcomes: Vec<String> =
        tally.outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let recorded = turns - tally.failed_lines.len();
    let outcomes = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    cli.ui.data(&format!(
        "{} recorded{outcomes}\n{path} now knows {}: {}, {}\n",
        counted(recorded as u64, "turn", "turns"),
        counted(places, "place", "places"),
        counted(memories, "memory", "memories"),
        counted(tries, "tried action", "tried actions"),
    ))?;
    if !tally.failed_lines.is_empty() {
        cli.ui.hint("mend these lines and record them alone; the others are recorded");
    }
    if let Some((Scope::Location(id), name, ..)) = sections.iter().max_by_key(|(_, _, memories, _)| *memories)
    {
        let place = if name.is_empty() { "that place" } else { name };
        cli.ui.hint(&format!("try `memories recall {id}` for what is known of {place}"));
    }
    Ok(())
}
