//! `add`: a memory that the caller worded.

use serde_json::{Value, json};

use crate::cli::Cli;
use crate::cli::args::{parse_count, parse_importance};
use crate::cli::commands::{parse_scopes, scope_label};
use crate::cli::failure::Failure;
use crate::document::fields::is_date;
use crate::document::{Document, stored};
use crate::memory::{Category, Memory, Moment, Persistence, Scope, ScopeName, Span, Status, same_title};
use crate::recall::{RecallError, read_scopes};
use crate::record::apply::{Fate, store_memory};
use crate::record::turn::{clamp_importance, parse_episode};
use crate::store::{Change, Store};

/// Add a memory that you worded yourself
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --text, a JSON object is read from stdin, with the flags' names as fields.

Examples:
  memories add 23 --text 'Dark without a lamp.'
  memories add 23 --category DANGER --title 'Trap door shuts' \\
      --text 'It shuts behind you and is barred from above.' --core
  memories add npc:troll --name 'The Troll' --importance 900 \\
      --text 'Accepts gifts and attacks all the same.'
  memories add world --category EVENT --title 'The dam opened' \\
      --text 'The reservoir is empty.' --episode 2 --turn 81
  echo '{\"text\": \"Dark without a lamp.\", \"importance\": 700}' | memories add 24

Answer: one line, or with --json {version, outcome, scope, title}.
A text that another entry has already is not stored twice: the outcome is
`duplicate`, with that entry's title.")]
pub struct AddArgs {
    /// An id, `npc:ID`, `agent:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
    /// What is remembered
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// A short title, unique at its place [default: the first words of the text]
    #[arg(long, value_name = "TITLE", requires = "text")]
    title: Option<String>,
    /// Kind of memory: SUCCESS, FAILURE, DISCOVERY, DANGER, NOTE or your own [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "text")]
    category: Option<Category>,
    /// How important it is, 1 to 1000 [default: 500]
    #[arg(long, value_name = "N", requires = "text", allow_negative_numbers = true, value_parser = parse_importance)]
    importance: Option<f64>,
    /// Always show it first
    #[arg(long, requires = "text")]
    core: bool,
    /// Mark it as not yet confirmed
    #[arg(long, requires = "text")]
    tentative: bool,
    /// Episode in which it was learned
    #[arg(long, value_name = "EPISODE", requires = "text")]
    episode: Option<String>,
    /// Turn in which it was learned
    #[arg(long, value_name = "N", requires = "text", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    turn: Option<u64>,
    /// A tag such as `troll` or `about:jordan`; repeatable
    #[arg(long = "tag", value_name = "TAG", requires = "text")]
    tags: Vec<String>,
    /// Where it comes from, in words
    #[arg(long, value_name = "TEXT", requires = "text")]
    context: Option<String>,
    /// Name of a place or character that has no section yet
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(in crate::cli) fn run(mut cli: Cli<'_>, args: AddArgs) -> Result<u8, Failure> {
    let store = cli.store()?;
    let names = parse_scopes(std::slice::from_ref(&args.scope))?;
    let scope = match names.first() {
        Some(ScopeName::Scope(scope)) => scope.clone(),
        _ => find_by_name(&store, &names)?,
    };
    let name = args.name.clone().unwrap_or_default();
    let memory = match args.text {
        Some(_) => memory_from_flags(args)?,
        None if cli.ui.stdin_is_terminal() => {
            return Err(Failure::usage("no text given").hint("use --text, or send a JSON object on stdin"));
        }
        None => memory_from_json(&cli.read_input("a memory")?)?,
    };
    let memory = stored(&memory);
    if memory.text.is_empty() {
        return Err(Failure::user(anyhow::anyhow!("the text is empty")).hint("say what is to be remembered"));
    }
    let mut warnings = Vec::new();
    let update = store.update(|text, _| {
        let mut document = Document::parse(text.unwrap_or_default());
        refuse_title_in_use(&document, &scope, &memory)?;
        warnings.clear();
        let applied =
            store_memory(&mut document, (&scope, &name), &memory, &[], &Moment::default(), &mut warnings)?;
        let line = json!({
            "version": 1, "id": cli.settings.fresh_id(), "time": cli.settings.now, "outcome": applied.outcome,
            "command": "add", "memories": [applied],
        });
        let called = document.section(&scope).map(|section| section.name).unwrap_or_default();
        Ok::<_, Failure>(Change::to(document.into_text()?, (applied, called)).with_journal_line(line))
    })?;
    for warning in warnings.into_iter().chain(update.warnings.iter().map(ToString::to_string)) {
        cli.ui.warning(&warning);
    }
    let (applied, called) = update.value;
    if cli.ui.json {
        cli.ui.json_line(&json!({
            "version": 1, "outcome": applied.outcome, "scope": applied.scope, "title": applied.title,
        }))?;
        return Ok(0);
    }
    let place = scope_label(&scope, &called);
    let what = match applied.outcome {
        Fate::Stored | Fate::Revised => "stored",
        Fate::Duplicate => "duplicate of",
    };
    cli.ui.data(&format!("{what} \"{}\" in {place}\n", applied.title))?;
    Ok(0)
}

/// The scope that a name stands for; a name alone makes no new place.
fn find_by_name(store: &Store, names: &[ScopeName]) -> Result<Scope, Failure> {
    let found = read_scopes(store, names).map_err(|error| {
        let is_new = matches!(error, RecallError::UnknownName { .. });
        let failure = Failure::from(error);
        if is_new { failure.hint("a new place wants its id: `memories add 23 --name NAME`") } else { failure }
    });
    Ok(found?.remove(0).0)
}

/// A title is an address: it is never given twice, unless for the same text.
fn refuse_title_in_use(document: &Document, scope: &Scope, memory: &Memory) -> Result<(), Failure> {
    if memory.category.only_grows() {
        return Ok(());
    }
    let section = document.section(scope).unwrap_or_default();
    let twin = section.live().find(|other| same_title(&other.title, &memory.title));
    match twin.filter(|twin| !crate::record::duplicates::says_the_same(&twin.text, &memory.text)) {
        None => Ok(()),
        Some(twin) => {
            let problem = format!("a memory of {scope} is called `{}` already", twin.title);
            Err(Failure::user(anyhow::Error::msg(problem))
                .hint("choose another title, or edit that entry in the file"))
        }
    }
}

fn memory_from_flags(args: AddArgs) -> Result<Memory, Failure> {
    let category = args.category.unwrap_or_else(Category::note);
    let mut memory = Memory::new(category, args.title.unwrap_or_default(), args.text.unwrap_or_default());
    memory.persistence = if args.core { Persistence::Core } else { Persistence::Permanent };
    memory.status = if args.tentative { Status::Tentative } else { Status::Active };
    memory.context = args.context;
    memory.provenance.importance = args.importance.map(clamp_importance);
    memory.provenance.turns = args.turn.map(Span::one);
    memory.provenance.tags = args.tags.iter().map(|tag| tag.trim_start_matches('#').to_owned()).collect();
    memory.provenance.episode = match args.episode {
        None => None,
        Some(label) => Some(parse_episode(&label).ok_or_else(|| {
            Failure::usage(format!("`{label}` is not an episode"))
                .hint("send the number, or a label with one run of digits such as `ep_003`")
        })?),
    };
    Ok(memory)
}

/// Reads the object that stands for the flags.
fn memory_from_json(text: &str) -> Result<Memory, Failure> {
    let wrong = |problem: String| {
        let hint = "send {\"text\": \"…\", \"title\": \"…\", \"category\": \"NOTE\", \"importance\": 500}";
        Failure::user(anyhow::Error::msg(problem)).hint(hint)
    };
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let Value::Object(object) = &value else { return Err(wrong("a memory is a JSON object".to_owned())) };
    let text_of = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(format!("`{name}` is {other}, expected a text"))),
    };
    let number_of = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(other) => match other.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(format!("`{name}` is {other}, expected a whole number, 0 or more"))),
        },
    };
    let category = match text_of("category")? {
        None => Category::note(),
        Some(name) => name.parse().map_err(wrong)?,
    };
    let title = text_of("title")?.unwrap_or_default();
    let text = text_of("text")?.ok_or_else(|| wrong("`text` is missing".to_owned()))?;
    let mut memory = Memory::new(category, title, text);
    memory.persistence = match text_of("persistence")?.as_deref() {
        None | Some("permanent") => Persistence::Permanent,
        Some("core") => Persistence::Core,
        Some(other) => {
            return Err(wrong(format!("`persistence` is `{other}`, expected `permanent` or `core`")));
        }
    };
    memory.status = match text_of("status")?.as_deref() {
        None | Some("active") => Status::Active,
        Some("tentative") => Status::Tentative,
        Some(other) => return Err(wrong(format!("`status` is `{other}`, expected `active` or `tentative`"))),
    };
    memory.context = text_of("context")?;
    let fields = &mut memory.provenance;
    fields.importance = object.get("importance").and_then(Value::as_f64).map(clamp_importance);
    fields.episode = number_of("episode")?;
    fields.turns = number_of("turn")?.map(Span::one);
    fields.date = text_of("date")?;
    if let Some(date) = fields.date.as_deref().filter(|date| !is_date(date)) {
        return Err(wrong(format!("`date` is `{date}`, expected a date such as 2026-01-31")));
    }
    let tags = object.get("tags").and_then(Value::as_array).cloned().unwrap_or_default();
    fields.tags =
        tags.iter().filter_map(Value::as_str).map(|tag| tag.trim_start_matches('#').to_owned()).collect();
    Ok(memory)
}
