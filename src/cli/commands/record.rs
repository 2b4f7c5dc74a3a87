//! `record`: records one turn of the game, or many.

mod many;

use std::path::PathBuf;

use serde_json::json;

use crate::cli::commands::common::{NEW_PLACE, RETRY, counted, items};
use crate::cli::commands::map_file::read_map;
use crate::cli::commands::memory_args::episode_number;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_importance, parse_importance_scale, parse_integer, parse_line};
use memories_document::types::hint::Remedy;
use memories_document::types::{
    Category, DEFAULT_IMPORTANCE, ImportanceScale, character_id, importance_of_program,
};
use memories_notebook::Snapshot;
use memories_record::turn::{Remember, Turn, TurnLocation};
use memories_record::{Judge, RecordError, RecordReport, Recorder};

/// Record a turn: the game's facts decide when a model is asked
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
  memories record --turns turns.jsonl --again
  memories record --turns turns.jsonl --from 120
  game | memories record --turns -         each line as it comes
  memories record --turns turns.jsonl --map rooms.json
  memories record --turns turns.jsonl --later
  memories record --turns turns.jsonl --rewind      a game with saves
  memories retry --follow                  beside it, as turns come

Answer: one line, or with --json {version, outcome, episode, turn, place,
visits, triggers, memories, invalidated, attempt, queued, reasoning, model,
ephemeral_ended, rewound, warnings}. Outcomes: stored, revised, contested
(stored as tentative beside an entry that only a person may change), duplicate,
declined, tried, not_significant, queued (the model failed, or --later; the turn
waits for `retry`), and recorded_before (a turn with that `id` is in the
journal; nothing is changed). With `queued` true, the turn waits whatever else
was done. With --turns and --json: {version, file, turn_count, outcomes, failed:
[{line, error}], place_count, memory_count, tried_count}, and stopped_after:
LINE if it was stopped. A line that is refused leaves the others alone; the exit
code is then 4. Ctrl-C, SIGTERM and SIGHUP end the command after the turn in
hand: it names the line to go on from, and the exit code is 3. Lines that wait
are written in groups of up to 64, and nothing is said of a turn before its
group is on disk. A turn whose episode, number, action and reply, or whose `id`,
the journal has is not recorded again: after an interruption, run the same
command again. A turn without both is known by its line in FILE; on stdin it is
new.")]
pub(crate) struct RecordArgs {
    /// Read many turns from a file, one JSON object a line; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["action", "response"])]
    turns: Option<PathBuf>,
    /// Begin at this line of FILE
    #[arg(long, value_name = "LINE", requires = "turns", value_parser = parse_line)]
    #[arg(allow_negative_numbers = true)]
    from: Option<usize>,
    /// The player's action
    #[arg(long, value_name = "TEXT", requires = "response", requires = "location")]
    action: Option<String>,
    /// The game's response
    #[arg(long, value_name = "TEXT", requires = "action")]
    response: Option<String>,
    /// The place: an id, `id:name`, or a name that only one place has
    #[arg(long, requires = "action", value_name = "PLACE", allow_negative_numbers = true)]
    location: Option<String>,
    /// The place after the action, if it changed
    #[arg(long, requires = "action", value_name = "PLACE", allow_negative_numbers = true)]
    location_after: Option<String>,
    /// Score before
    #[arg(long, requires = "action", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_integer)]
    score_before: Option<i64>,
    /// Score after
    #[arg(long, requires = "action", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_integer)]
    score_after: Option<i64>,
    /// Move counter before
    #[arg(long, requires = "action", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_integer)]
    moves_before: Option<i64>,
    /// Move counter after
    #[arg(long, requires = "action", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_integer)]
    moves_after: Option<i64>,
    /// Inventory before, separated by commas
    #[arg(long, requires = "action", value_name = "ITEMS", value_delimiter = ',')]
    inventory_before: Option<Vec<String>>,
    /// Inventory after, separated by commas
    #[arg(long, requires = "action", value_name = "ITEMS", value_delimiter = ',')]
    inventory_after: Option<Vec<String>>,
    /// The player died
    #[arg(long, requires = "action")]
    died: bool,
    /// The game is won
    #[arg(long, requires = "action")]
    won: bool,
    /// The game's world changed, although no other fact shows it; `=false`: it did not
    #[arg(long, requires = "action", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    world_changed: Option<bool>,
    /// Characters who know what is remembered of the turn, and nobody else; repeatable, or with commas
    #[arg(long, requires = "action", value_name = "ID", value_delimiter = ',', value_parser = character_id)]
    present: Vec<String>,
    /// The player's reason for the action
    #[arg(long, requires = "action", value_name = "TEXT")]
    reasoning: Option<String>,
    /// Episode: a number, or a label such as `ep_003` [default: the running one]
    #[arg(long, requires = "action", value_name = "EPISODE")]
    episode: Option<String>,
    /// Number of the turn [default: one more than the last]
    #[arg(long, requires = "action", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<u64>)]
    turn: Option<u64>,
    /// Your own id of the turn, by which it is recorded once
    #[arg(long, value_name = "ID", requires = "action", allow_negative_numbers = true)]
    id: Option<String>,
    /// Record again what was recorded before
    #[arg(long)]
    again: bool,
    /// First set aside what was recorded of the episode from this number on; with --turns, for each
    /// turn that is new
    #[arg(long)]
    rewind: bool,
    /// Store this text unchanged, without a model
    #[arg(long, requires = "action", value_name = "TEXT")]
    remember: Option<String>,
    /// Importance of that text, 1 to 1000 or on your scale [default: 500]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "remember")]
    #[arg(value_parser = parse_importance)]
    remember_importance: Option<f64>,
    /// Highest importance on your scale, such as 10 [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_importance_scale)]
    importance_scale: Option<ImportanceScale>,
    /// Category of that text [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "remember")]
    remember_category: Option<Category>,
    /// Time of the turn: a date or RFC 3339 [default: now]
    #[arg(long, requires = "action", value_name = "TIME")]
    timestamp: Option<String>,
    /// Warn of places whose ids are not in this file, as `check --map` does
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Give a place that has only a name the next free id
    #[arg(long)]
    new_place: bool,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Exit with 3 when the model fails; the turn is written and queued all the same
    #[arg(long)]
    strict: bool,
    /// Ask no model now: write visits and tried actions, queue the rest for `retry`
    #[arg(long, conflicts_with_all = ["strict", "provider", "model"])]
    later: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Turn);

pub fn run(mut cli: Cli<'_>, args: RecordArgs) -> Result<u8, Failure> {
    cli.settings.record.new_place = args.new_place;
    cli.settings.record.again = args.again;
    cli.settings.record.rewind = args.rewind && args.turns.is_some();
    let scale = args.importance_scale.unwrap_or(cli.settings.record.importance_scale);
    cli.settings.record.importance_scale = scale;
    let map = args.map.as_ref().or(cli.settings.map.as_ref());
    cli.settings.record.map = map.map(|map| read_map(map)).transpose()?;
    args.writer.clone().override_settings(&mut cli);
    if args.strict {
        args.model.forbid_untrusted(&cli)?;
    }
    let notebook = cli.notebook()?;
    let memories_llm::Choice { model, notice } = if args.later {
        memories_llm::Choice { model: None, notice: None }
    } else {
        args.model.clone().choose(&mut cli)?
    };
    let settings = cli.settings.record.clone();
    let judge = if args.later { Judge::Later } else { Judge::of(model.as_deref()) };
    let recorder = Recorder { notebook: &notebook, judge, settings: &settings };
    let strict = args.strict;
    if let Some(file) = &args.turns {
        let from = args.from.unwrap_or(1);
        return many::record_many(cli, &recorder, &many::Request { file, from, strict, notice });
    }
    let rewind = args.rewind;
    let mut turn = match args.action {
        Some(_) => turn_from_flags(args, scale)?,
        None => turn_from_stdin(&mut cli, scale)?,
    };
    turn.rewind |= rewind;
    if turn.rewind && turn.turn.is_none() {
        let failure = Failure::usage("`--rewind` needs the number of the turn");
        return Err(failure.hint("give it with `--turn N`, or `turn` in JSON"));
    }
    let report = recorder.record(turn).map_err(refused)?;
    if report.model.is_some() {
        cli.ui.notices(&notice);
    }
    show_report(&mut cli, &report)?;
    // The turn is recorded: a file that cannot be read now is no failure of the command.
    let warning = match Snapshot::read(notebook.store()) {
        Ok(snapshot) => snapshot.warning(),
        Err(error) => Some(error.to_string()),
    };
    cli.ui.warnings(&warning);
    Ok(exit_code(&report, strict))
}

/// The failure of a turn, with the flag that allows an unknown name.
fn refused(error: RecordError) -> Failure {
    let is_unknown = matches!(&error, RecordError::UnknownPlace { .. });
    let failure = Failure::from(error);
    if is_unknown { failure.hint(NEW_PLACE) } else { failure }
}

fn exit_code(report: &RecordReport, strict: bool) -> u8 {
    let failed = report.model.as_ref().is_some_and(|model| model.error.is_some());
    if failed && strict { Remedy::Retry.exit_code() } else { 0 }
}

fn turn_from_stdin(cli: &mut Cli<'_>, scale: ImportanceScale) -> Result<Turn, Failure> {
    if cli.ui.stdin_is_terminal() {
        return Err(Failure::usage("no turn given")
            .hint("use --action, --response and --location, --turns FILE, or send JSON on stdin"));
    }
    let text = cli.read_input("a turn as a JSON object, or use flags; see `--help`")?;
    Ok(Turn::from_json_on(&text, scale)?)
}

fn turn_from_flags(args: RecordArgs, scale: ImportanceScale) -> Result<Turn, Failure> {
    let episode = args.episode.as_deref().map(episode_number).transpose()?;
    if let Some(time) = args.timestamp.as_deref().filter(|time| !memories_document::field::is_date(time)) {
        let failure = Failure::usage(format!("`{time}` is not a time"));
        return Err(failure.hint("write a date such as 2026-01-31 or a time such as 2026-01-31T10:40:00Z"));
    }
    let mut notes = Vec::new();
    let importance = json!(args.remember_importance);
    let remember = args.remember.filter(|text| !text.trim().is_empty()).map(|text| Remember {
        text,
        importance: importance_of_program(&importance, scale, &mut notes).unwrap_or(DEFAULT_IMPORTANCE),
        category: args.remember_category.unwrap_or_else(Category::note),
    });
    Ok(Turn {
        id: args.id,
        episode,
        turn: args.turn,
        action: args.action.unwrap_or_default(),
        response: args.response.unwrap_or_default(),
        location_before: args.location.as_deref().map(parse_location).transpose()?,
        location_after: args.location_after.as_deref().map(parse_location).transpose()?,
        score_before: args.score_before,
        score_after: args.score_after,
        moves_before: args.moves_before,
        moves_after: args.moves_after,
        inventory_before: items(args.inventory_before),
        inventory_after: items(args.inventory_after),
        died: args.died,
        won: args.won,
        world_changed: args.world_changed,
        present: args.present,
        reasoning: args.reasoning,
        rewind: false,
        remember,
        timestamp: args.timestamp,
        notes,
    })
}

/// Parses a place of the command line: `64`, `64:West of House`, or a name.
fn parse_location(text: &str) -> Result<TurnLocation, Failure> {
    let place = TurnLocation::of_text(text, None);
    if place.id.is_some() || place.is_own_id {
        return Ok(place);
    }
    let (id, name) = match text.split_once(':') {
        Some((id, name)) => (id, Some(name.trim().to_owned())),
        None => (text, None),
    };
    let id = id.trim();
    if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
        let id = id.parse().map_err(|_| Failure::usage(format!("`{id}` is too large for an id")))?;
        let name = name.filter(|name| !name.is_empty());
        return Ok(TurnLocation { id: Some(id), name, is_own_id: false });
    }
    let number = text.trim().trim_start_matches('-');
    if text.trim().is_empty() || number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let failure = Failure::usage(format!("`{text}` is not a place"));
        return Err(failure.hint("give the engine's id (0 or more), `id:name`, or a name that one place has"));
    }
    Ok(place)
}

fn show_report(cli: &mut Cli<'_>, report: &RecordReport) -> Result<(), Failure> {
    cli.ui.warnings(&report.warnings);
    if let Some(error) = report.model.as_ref().and_then(|model| model.error.as_ref()) {
        cli.ui.warning(&format!("{error}; the turn is queued"));
        cli.ui.hint(RETRY);
    }
    cli.ui.answer(report, &format!("{}\n", report.one_line()))?;
    if let Some(ended) = report.ephemeral_ended {
        let memories = counted(ended, "ephemeral memory", "ephemeral memories");
        cli.ui.notice(&format!("removed {memories} of the previous episode"));
    }
    if !report.reasoning.is_empty() {
        cli.ui.detail(&format!("why: {}", report.reasoning));
    }
    Ok(())
}
