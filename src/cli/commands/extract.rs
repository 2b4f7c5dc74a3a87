//! `extract`: extracts memories from the latest replies of a conversation.

use std::path::PathBuf;

use serde_json::json;

use strum::VariantNames as _;

use crate::cli::commands::common::counted;
use crate::cli::commands::conversation_args::{given_id, no_conversation, read_conversation};
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::viewer_args::WitnessArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_importance_scale};
use memories_chat::api_format::ApiFormat;
use memories_chat::extract::aspects::tool_schema;
use memories_chat::extract::{ExtractInput, ExtractOutcome, ExtractReport, Extractor, read_input};
use memories_chat::{ChatSettings, Conversation, ExtractMode};
use memories_document::types::ImportanceScale;
use memories_document::types::hint::Remedy;
use memories_llm::{Choice, ModelError};
use memories_notebook::add::AddOutcome;

/// Extract what is worth remembering from a chat's latest replies
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A reply is read from stdin, as text, as messages, or as a chat server's answer;
or --conversation names the file of the whole conversation. Replies that are
short, merely polite, or repeat what was injected are skipped. From the others
the model extracts up to four memories; without a model, simple rules do.

Modes: every_turn; periodic, after each 5 replies of a conversation (--every);
on_save, only with --save; llm_triggered, only when the model called the tool
that --tool-schema prints.

Examples:
  memories chat extract --id chat-7 < answer.json
  memories chat extract --conversation chat-7.jsonl --save --scope npc:troll
  echo 'Kira has decided to sell the ship to Marcus at dawn.' |
      memories chat extract --mode every_turn
  memories chat extract --tool-schema --shape anthropic

With --json: {version, conversation, outcome, turn_count, due_in, memories:
[{outcome, scope, name, category, title, text, …, superseded, raised_to,
contested: [{title, reason}]}], model, warnings}; outcome is stored, nothing,
waiting, full or failed, of a memory stored, revised, contested (beside an entry
that only a person may change) or duplicate.")]
pub(crate) struct ExtractArgs {
    /// The file of the whole conversation, instead of stdin
    #[arg(long, value_name = "FILE")]
    conversation: Option<PathBuf>,
    /// The conversation's id [default: the file's name without its ending, else `chat`]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Scope of new memories [default: the place of the last message, else `world`]
    #[arg(long, value_name = "SCOPE", allow_negative_numbers = true)]
    scope: Option<String>,
    /// When to extract: every_turn, periodic, on_save or llm_triggered [default: periodic]
    #[arg(long, value_name = "MODE", value_parser = str::parse::<ExtractMode>)]
    mode: Option<ExtractMode>,
    /// Number of replies between two extractions, in the mode periodic [default: 5]
    #[arg(long, value_name = "N", value_parser = parse_count::<u64>)]
    every: Option<u64>,
    /// The conversation is saved: extract from all new replies, whatever the mode
    #[arg(long)]
    save: bool,
    /// Maximum of memories from this call [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count::<usize>)]
    max: Option<usize>,
    /// Highest importance on the model's scale, such as 10 [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_importance_scale)]
    importance_scale: Option<ImportanceScale>,
    /// Exit with 3 if the model fails
    #[arg(long)]
    strict: bool,
    /// Print the tool by which a model asks for a memory, and do nothing else
    #[arg(long)]
    tool_schema: bool,
    /// The shape of the tool, openai, anthropic or responses
    #[arg(long, value_name = "SHAPE", default_value = "openai", requires = "tool_schema")]
    #[arg(value_parser = str::parse::<ApiFormat>)]
    shape: ApiFormat,
    #[command(flatten)]
    witnesses: WitnessArgs,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("MODE", Candidates::Values(ExtractMode::VARIANTS))], ..Facts::of(Group::Talk) };

pub fn run(mut cli: Cli<'_>, args: ExtractArgs) -> Result<u8, Failure> {
    let ExtractArgs {
        conversation,
        id,
        scope,
        mode,
        every,
        save,
        max,
        importance_scale,
        strict,
        tool_schema: tool,
        shape,
        witnesses,
        writer,
        model,
    } = args;
    writer.override_settings(&mut cli);
    let scale = importance_scale.unwrap_or(cli.settings.chat.importance_scale);
    if tool {
        cli.ui.json_line(&tool_schema(shape, scale))?;
        return Ok(0);
    }
    let whole = conversation.is_some();
    let conversation = match conversation {
        Some(file) => read_conversation(&mut cli, &file, id)?,
        None => read_reply(&mut cli, id)?,
    };
    if !cli.settings.chat.use_memory {
        cli.ui.detail("memory is switched off for conversations (`useMemory = false`)");
        return Ok(0);
    }
    if strict {
        model.forbid_untrusted(&cli)?;
    }
    let notebook = cli.notebook()?;
    let scope = scope.map(|scope| cli.scope(&scope)).transpose()?;
    let mut settings = ChatSettings { importance_scale: scale, ..cli.settings.chat.clone() };
    settings.mode = mode.unwrap_or(settings.mode);
    settings.every = every.unwrap_or(settings.every);
    settings.max_extracted = max.unwrap_or(settings.max_extracted);
    let Choice { model, notice } = model.choose(&mut cli)?;
    let extractor = Extractor { notebook: &notebook, model: model.as_deref(), settings: &settings };
    let mut tags = Vec::new();
    witnesses.tag(&mut tags);
    let defaults = ExtractInput::of(&conversation);
    let input = ExtractInput { whole, saving: save, scope: scope.as_ref(), tags: &tags, ..defaults };
    let mut report = extractor.extract(input)?;
    cli.ui.notices(notice.iter().filter(|_| report.model.is_some()));
    cli.ui.warnings(&report.warnings);
    if let Some(error) = report.failure.take() {
        tell_failure(&mut cli, error)?;
    }
    show_report(&mut cli, &conversation.id, &report)?;
    let failed = strict && report.outcome == ExtractOutcome::Failed;
    Ok(if failed { Remedy::Retry.exit_code() } else { 0 })
}

/// Warns that a model failed; settings with which none can work are an error.
fn tell_failure(cli: &mut Cli<'_>, error: ModelError) -> Result<(), Failure> {
    let instead = "nothing is written, and these turns are looked at the next time";
    if matches!(error, ModelError::Settings { .. }) {
        return Err(Failure::from(error).hint(instead));
    }
    cli.ui.warning(&format!("{error}: {instead}"));
    Ok(())
}

/// Reads the reply on stdin.
fn read_reply(cli: &mut Cli<'_>, id: Option<String>) -> Result<Conversation, Failure> {
    if cli.ui.stdin_is_terminal() {
        return Err(
            Failure::usage("no reply on stdin").hint("send one, or name a file with `--conversation`")
        );
    }
    let text = cli.read_input("a reply or messages, or name a file with `--conversation`")?;
    let id = given_id(id).unwrap_or_else(|| "chat".to_owned());
    read_input(&id, &text).map_err(|problem| no_conversation("stdin", problem))
}

fn show_report(cli: &mut Cli<'_>, conversation: &str, report: &ExtractReport) -> Result<u8, Failure> {
    if cli.ui.json {
        return cli.ui.json_answer(&json!({
            "conversation": conversation, "outcome": report.outcome, "turn_count": report.turns,
            "due_in": report.due_in, "memories": report.memories, "model": report.model,
            "warnings": report.warnings,
        }));
    }
    for applied in &report.memories {
        let (did, more) = match applied.outcome {
            AddOutcome::Duplicate if applied.stays.is_some() => {
                ("not stored, it is there already:", applied.raised())
            }
            AddOutcome::Duplicate => ("merged with", applied.raised()),
            AddOutcome::Confirmed => ("confirmed", applied.writers()),
            AddOutcome::Stored | AddOutcome::Revised | AddOutcome::Contested => {
                ("stored", format!("\n  {}", applied.text()))
            }
        };
        cli.ui.data(&format!("{did} \"{}\" in {}{more}\n", applied.title(), applied.entry.scope))?;
    }
    let line = match (report.outcome, report.due_in) {
        (ExtractOutcome::Stored | ExtractOutcome::Failed | ExtractOutcome::Full, _) => return Ok(0),
        (ExtractOutcome::Nothing, _) => "nothing worth remembering\n".to_owned(),
        (ExtractOutcome::Waiting, Some(turns)) => {
            let replies = counted(turns, "more reply", "more replies");
            format!("waiting: memories are extracted after {replies} of {conversation}\n")
        }
        (ExtractOutcome::Waiting, None) => format!("nothing to do for {conversation}\n"),
    };
    cli.ui.data(&line)?;
    Ok(0)
}
