//! `digest`: summarizes a conversation since its last digest into memories.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::commands::conversation_args::read_conversation;
use crate::cli::commands::memory_args::bare_tag;
use crate::cli::commands::model_args::{ModelArgs, no_model};
use crate::cli::commands::viewer_args::WitnessArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_chat::digest::{DigestReport, Digester, Occasion, PresentCharacter};
use memories_document::types::frame::{INDENT, indented, one_line};
use memories_document::types::hint::Remedy;
use memories_document::types::{MemoryObject, Scope, is_id};
use memories_llm::ModelError;
use memories_notebook::Snapshot;
use memories_store::Store;

/// Summarize what happened in a conversation since the last digest
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A conversation is JSON Lines of messages (role, content; optional: name,
timestamp, location, npcs_mentioned, turn), a JSON array of them, or a request
or answer of a chat server. Its id is the file's name, unless --id gives one.

--exit summarizes what was said at a place since its last digest, and for each
character of --present that is mentioned there, what happened with it. --event
summarizes all that was said since the last event. Each entry holds the range of
messages that it covers (`M12-41`), and the next digest continues behind it:
nothing is summarized twice, and if the model fails twice, nothing is written or
lost.

Examples:
  memories chat digest --conversation chat-7.jsonl --exit 23 \\
      --present troll,thief
  memories chat digest --conversation chat-7.jsonl --exit 'Living Room' \\
      --present 'troll=The Troll'
  memories chat digest --conversation chat-7.jsonl --exit Forest --new-place
  memories chat digest --conversation chat-7.jsonl --event quest_completed \\
      --related quest_id=find-lamp
  memories recall 23 npc:troll world --last 3 --brief

An event may have any name. Common ones are objective_completed,
quest_completed, act_progressed, location_cleared and encounter_completed.

With --json: {version, conversation, outcome, cursor, memories: [{outcome,
scope, name, category, title, text, messages: {first, last}, …}], failed:
[{scope, messages, problem}], model, warnings}; outcome is stored, nothing_new
or failed.")]
pub(crate) struct DigestArgs {
    /// The conversation's file; `-` is stdin and needs --id
    #[arg(long, value_name = "FILE")]
    conversation: PathBuf,
    /// The conversation's id [default: the file's name without its ending]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The place that was left: its id, or a name that only one place has
    #[arg(long, value_name = "PLACE", required_unless_present = "event", conflicts_with = "event")]
    #[arg(allow_negative_numbers = true)]
    exit: Option<String>,
    /// Let a name or text id that no place has get the next free id
    #[arg(long, conflicts_with = "event")]
    new_place: bool,
    /// Characters who were present, by id or as ID=NAME; repeatable, or with commas
    #[arg(long, value_name = "ID", requires = "exit", value_delimiter = ',', value_parser = parse_present)]
    present: Vec<PresentCharacter>,
    /// An event of the whole story, such as `quest_completed`
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    event: Option<String>,
    /// An id that belongs to the event, such as quest_id=find-lamp; repeatable
    #[arg(long, value_name = "NAME=ID", requires = "event", value_parser = parse_related)]
    related: Vec<(String, String)>,
    /// A tag for the event's entry; repeatable
    #[arg(long = "tag", value_name = "TAG", requires = "event")]
    tags: Vec<String>,
    /// Exit with 3 if the model fails
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    witnesses: WitnessArgs,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
}

fn parse_present(text: &str) -> Result<PresentCharacter, String> {
    let (id, name) = text.split_once('=').unwrap_or((text, ""));
    let id = id.trim().trim_start_matches("npc:").to_lowercase();
    if !is_id(&id) {
        return Err(format!("`{id}` is not an id: use lower-case letters, digits, `_` and `-`"));
    }
    Ok(PresentCharacter { id, name: name.trim().to_owned() })
}

fn parse_kind(text: &str) -> Result<String, String> {
    let kind = Some(text.trim().to_lowercase()).filter(|kind| is_id(kind));
    kind.ok_or_else(|| format!("`{text}` is not an event: write it like `quest_completed`"))
}

fn parse_related(text: &str) -> Result<(String, String), String> {
    let wrong = || format!("`{text}` is not a name and an id: write it like `quest_id=find-lamp`");
    let (name, id) = text.split_once('=').ok_or_else(wrong)?;
    let (name, id) = (name.trim(), id.trim());
    if is_id(name) && !id.is_empty() { Ok((name.to_owned(), id.to_owned())) } else { Err(wrong()) }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Talk);

pub fn run(mut cli: Cli<'_>, args: DigestArgs) -> Result<u8, Failure> {
    let DigestArgs {
        conversation,
        id,
        exit,
        new_place,
        present,
        event,
        related,
        tags,
        strict,
        witnesses,
        writer,
        model,
    } = args;
    writer.override_settings(&mut cli);
    let conversation = read_conversation(&mut cli, &conversation, id)?;
    let notebook = cli.notebook()?;
    let occasion = match (exit, event) {
        (Some(place), _) => exit_of(&cli, &place, new_place, present)?,
        (None, event) => {
            let tags = tags.iter().map(|tag| bare_tag(tag)).filter(|tag| !tag.is_empty()).collect();
            Occasion::Event { kind: event.unwrap_or_default(), related, tags }
        }
    };
    let instead =
        "nothing is written, and the next digest begins at the same message; `memories add` needs no model";
    let Some(model) = model.choose(&mut cli)?.model else { return Err(no_model(instead)) };
    let mut tags = Vec::new();
    witnesses.tag(&mut tags);
    let digester = Digester { notebook: &notebook, model: &*model, tags: &tags };
    let mut report = digester.digest(&conversation, &occasion)?;
    cli.ui.warnings(&report.warnings);
    let is_settings = |error: &ModelError| matches!(error, ModelError::Settings { .. });
    if let Some(at) = report.failed.iter().position(|failed| is_settings(&failed.error)) {
        return Err(Failure::from(report.failed.remove(at).error).hint(instead));
    }
    for failed in &report.failed {
        let messages = failed.messages.marked('M');
        cli.ui.warning(&format!(
            "{}: {messages} not summarized, nothing is written: {}",
            failed.scope, failed.error
        ));
    }
    show_report(&mut cli, notebook.store(), &conversation.id, &occasion, &report)?;
    Ok(if strict && !report.failed.is_empty() { Remedy::Retry.exit_code() } else { 0 })
}

/// The occasion of leaving a place.
fn exit_of(
    cli: &Cli<'_>,
    name: &str,
    new_place: bool,
    present: Vec<PresentCharacter>,
) -> Result<Occasion, Failure> {
    match cli.scope_or_new(name, new_place)? {
        (Some(Scope::Location(id)), _) => Ok(Occasion::Exit(id, present)),
        (None, called) => Ok(Occasion::ExitNew(called, present)),
        (Some(other), _) => Err(Failure::usage(format!("{other} is not a place"))
            .hint("`--exit` takes a place's id or name; what happens to the whole story is an `--event`")),
    }
}

fn show_report(
    cli: &mut Cli<'_>,
    store: &Store,
    conversation: &str,
    occasion: &Occasion,
    report: &DigestReport,
) -> Result<u8, Failure> {
    if cli.ui.json {
        let outcome = match (report.written.is_empty(), report.failed.is_empty()) {
            (false, _) => "stored",
            (true, true) => "nothing_new",
            (true, false) => "failed",
        };
        let failed = report.failed.iter().map(|failed| {
            json!({"scope": failed.scope, "messages": failed.messages, "problem": failed.error.to_string()})
        });
        return cli.ui.json_answer(&json!({
            "conversation": conversation, "outcome": outcome, "cursor": report.cursor,
            "memories": report.written, "failed": failed.collect::<Value>(), "model": report.model,
            "warnings": report.warnings,
        }));
    }
    for written in &report.written {
        let MemoryObject { scope, name, memory, .. } = &written.entry;
        let range = memory.provenance.messages.map(|messages| format!(" {}", messages.marked('M')));
        let range = range.unwrap_or_default();
        let place = one_line(&scope.label(name)).into_owned();
        let text = indented(&memory.text, INDENT);
        cli.ui.data(&format!("stored [{}]{range} in {place}\n{text}", memory.category))?;
    }
    if report.written.is_empty() && report.failed.is_empty() {
        let label =
            |scope: Scope| Ok::<_, Failure>(scope.label(&Snapshot::read(store)?.section(&scope).name));
        let place = match occasion {
            Occasion::Exit(id, _) => label(Scope::Location(*id))?,
            Occasion::ExitNew(name, _) => name.clone(),
            Occasion::Event { .. } => label(Scope::World)?,
        };
        let since = match report.cursor {
            0 => String::new(),
            last => format!(" since M{last}"),
        };
        cli.ui.data(&format!("nothing new in {conversation} for {place}{since}\n"))?;
    }
    Ok(0)
}
