//! `inject`: inserts relevant memories into a chat request.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cli::commands::common::counted;
use crate::cli::commands::selection_args::SelectionArgs;
use crate::cli::commands::viewer_args::ViewerArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_chat::ChatSettings;
use memories_chat::api_format::ApiFormat;
use memories_chat::inject::block::{InjectMode, InjectedMemory};
use memories_chat::inject::{Injected, Injector};
use memories_document::types::model_text::ModelText;
use memories_notebook::{MemoryObjects, SharedSnapshot};

/// Insert memories into a chat request, from stdin to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are searched with the user's last message, and with the messages before
it. The ten most similar are ranked by importance, age and similarity; at most
five of them, in at most 500 tokens, are inserted, in OpenAI's or Anthropic's
shape, behind what is marked for caching or cached by the server. All other
bytes stay the same; if nothing is relevant, the whole request does. A block
that was inserted before is replaced.

Examples:
  memories chat inject < request.json | curl -d @- …/v1/chat/completions …
  memories chat inject --scope npc:troll --scope world --min-importance 300
  memories chat inject --between alex,jordan --max-age 30d
  memories chat inject --mode user_prefix --suffix '' \\
      --template '{{memoryType}} ({{age}}): {{summary}}'

With --json: {version, memories: [{scope, name, category, title, text, …, age,
inserted}], request}; `inserted` is the text in the request.")]
pub(crate) struct InjectArgs {
    /// Position of the memories: auto, system_append, context_message or user_prefix
    #[arg(long, value_name = "MODE", value_parser = str::parse::<InjectMode>)]
    mode: Option<InjectMode>,
    /// The shape of the request, openai, anthropic or responses [default: detected]
    #[arg(long, value_name = "SHAPE", value_parser = str::parse::<ApiFormat>)]
    shape: Option<ApiFormat>,
    /// Only memories of this place or scope; repeatable
    #[arg(long = "scope", value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Minimum similarity to the conversation, 0 to 1, on the scale of a neural encoder's
    /// cosine [default: 0.7]
    #[arg(long, value_name = "N", value_parser = parse_fraction)]
    min_similarity: Option<f32>,
    /// Maximum of memories [default: 5]
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count::<usize>)]
    number: Option<usize>,
    /// Maximum of tokens of the whole block, by an estimate that is rounded up [default: 500]
    #[arg(long, value_name = "N", value_parser = parse_count::<usize>)]
    max_tokens: Option<usize>,
    /// The text before the memories
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// The text after the memories
    #[arg(long, value_name = "TEXT")]
    suffix: Option<String>,
    /// The template of a memory, with {{memoryType}}, {{importance}}, {{age}}, {{summary}}, {{sourceContext}}
    #[arg(long, value_name = "TEXT")]
    template: Option<String>,
    #[command(flatten)]
    viewer: ViewerArgs,
}

fn parse_fraction(text: &str) -> Result<f32, String> {
    let number: Option<f32> = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 0 to 1"))
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of_question(Group::Talk);

pub fn run(mut cli: Cli<'_>, args: InjectArgs) -> Result<u8, Failure> {
    args.viewer.clone().read_for(&mut cli);
    let shape = args.shape;
    if cli.ui.stdin_is_terminal() {
        return Err(Failure::usage("no request on stdin").hint("`memories chat inject < request.json`"));
    }
    let request = cli.read_bytes()?;
    let store = cli.store()?;
    let settings = settings_of(&cli, args)?;
    let files = Arc::new(SharedSnapshot::new(store));
    let injected = if cli.settings.chat.use_memory {
        let embedder = cli.embedder()?;
        let injector = Injector::new(Arc::clone(&files), &cli.settings.search, embedder);
        injector.inject(&request, &settings, shape, &cli.settings.now)?
    } else {
        Injected { request, memories: Vec::new(), fallback: None }
    };
    if let Some(problem) = &injected.fallback {
        cli.ui.warning(&format!("{problem}; the embedded model answers instead"));
    }
    if cli.ui.json {
        let text = String::from_utf8_lossy(&injected.request).into_owned();
        let request = RawValue::from_string(text).map_err(|error| Failure::user(error.to_string()))?;
        let snapshot = files.current()?;
        let objects = MemoryObjects::of(&snapshot);
        let memories = injected.memories.iter().map(|memory| object(&objects, memory)).collect();
        return cli.ui.json_answer(&InjectAnswer { memories, request: &request });
    }
    cli.ui.detail(&format!("{} inserted", counted(injected.memories.len(), "memory", "memories")));
    cli.ui.bytes(&injected.request)?;
    Ok(0)
}

#[derive(serde::Serialize)]
struct InjectAnswer<'a> {
    memories: Vec<Value>,
    request: &'a RawValue,
}

/// A memory, its age in words, and its title and text as the block has them, perhaps cut.
fn object(objects: &MemoryObjects<'_>, injected: &InjectedMemory) -> Value {
    let InjectedMemory { scope, name, memory, age, summary, .. } = injected;
    let mut value = json!(objects.object(scope, name, memory));
    value["age"] = json!(age);
    value["inserted"] = json!(ModelText::of(summary));
    value
}

fn settings_of(cli: &Cli<'_>, args: InjectArgs) -> Result<ChatSettings, Failure> {
    let InjectArgs {
        mode,
        shape: _,
        scopes,
        selection,
        min_similarity,
        number,
        max_tokens,
        prefix,
        suffix,
        template,
        viewer: _,
    } = args;
    let mut settings = cli.settings.chat.clone();
    let style = &mut settings.style;
    style.mode = mode.unwrap_or(style.mode);
    style.prefix = prefix.unwrap_or(std::mem::take(&mut style.prefix));
    style.suffix = suffix.unwrap_or(std::mem::take(&mut style.suffix));
    style.template = template.unwrap_or(std::mem::take(&mut style.template));
    settings.max_injected = number.unwrap_or(settings.max_injected);
    settings.max_tokens = max_tokens.unwrap_or(settings.max_tokens);
    settings.threshold = min_similarity.unwrap_or(settings.threshold);
    selection.apply_to(&mut settings);
    if !scopes.is_empty() {
        settings.filter.scopes = cli.existing_scopes(&scopes)?;
    }
    Ok(settings)
}
