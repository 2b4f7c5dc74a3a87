//! `query`: which memories answer a question, and how sure that is.

mod answer;

use anstyle::Style;
use serde_json::{Value, json};

use crate::cli::commands::common::{at_turn, counted, memory_json, parse_scopes};
use crate::cli::commands::memory_args::episode_number;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_importance};
use crate::document::text::stored_line;
use crate::notebook::SharedSnapshot;
use crate::recall::budget::estimate_tokens;
use crate::recall::read_scopes;
use crate::search::filter::{Filter, MemoryKind};
use crate::search::parsed_query::ParsedQuery;
use crate::search::{Hit, SearchResults, Searcher};
use crate::types::{Category, Persistence, Scope, Status, clamp_importance};

/// Search all memories by meaning, offline
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A memory's relevance is a number from 0 to 1 that means the same from question to
question. Memories below the floor (`[search] floor`) are not shown. Words in
quotation marks must occur in a memory, one after the other.

Examples:
  memories query 'where did I see a key?'
  memories query troll --category danger --episode 3
  memories query 'what hurts the \"brass lantern\"' --scope Cellar --scope npc:troll
  memories query 'who is Jordan' --agent alex --about jordan
  memories query 'the way out' --explain --json
  memories query 'how do I get past the troll?' --answer

With --answer a model answers from the memories found, in at most two sentences,
and names those that the answer is based on; without a model they are listed.

With --json: {version, query, memories: [{content, relevance, turn, scope,
name, title, category, type, status, matched, passage, …}]}, `passage` being the
most similar part of a long text; with --explain also
{explain: {likeness, words, soft, meaning, importance_factor, recency_factor}}.
With --answer also {answer, relevant, model, warnings}, and each memory has its
number; answer is null where the memories do not say and where no model answered,
which model.error then tells (model is null where none is set up).")]
pub(crate) struct QueryArgs {
    /// The question, in words
    #[arg(required = true, value_name = "QUESTION")]
    question: Vec<String>,
    /// Only this place or scope; repeatable
    #[arg(long = "scope", value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    /// Only this category, such as DANGER; repeatable
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<Category>,
    /// Only `place`, `character`, `character_knowledge`, `scene` or `episodic`; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<MemoryKind>,
    /// Only with this tag; repeatable, then with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories of this agent; repeatable
    #[arg(long = "agent", value_name = "ID")]
    agents: Vec<String>,
    /// Only memories about this character; repeatable
    #[arg(long, value_name = "ID")]
    about: Vec<String>,
    /// Only of this episode; repeatable
    #[arg(long = "episode", value_name = "EPISODE")]
    episodes: Vec<String>,
    /// Only of this turn or later
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    min_turn: Option<u64>,
    /// Only of this turn or earlier
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    max_turn: Option<u64>,
    /// Minimum importance, 1 to 1000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_importance)]
    min_importance: Option<f64>,
    /// Only `active`, `tentative` or, with --all, `superseded`
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// Show superseded memories too, marked as such
    #[arg(long)]
    all: bool,
    /// Maximum of memories, at least 1 [default: 5]
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<usize>)]
    number: Option<usize>,
    /// Maximum of tokens of the whole answer, by an estimate that is rounded up
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<usize>)]
    max_tokens: Option<usize>,
    /// Show the parts of each relevance
    #[arg(long)]
    explain: bool,
    /// Let a model answer from the memories found
    #[arg(long)]
    answer: bool,
    #[command(flatten)]
    model: ModelArgs,
}

pub fn run(mut cli: Cli<'_>, args: QueryArgs) -> Result<u8, Failure> {
    let question = args.question.join(" ");
    let (number, max_tokens, explain) = (args.number, args.max_tokens, args.explain);
    let model = args.answer.then(|| args.model.clone());
    let store = cli.store()?;
    let filter = filter_of(&store, args)?;
    let most = number.unwrap_or(cli.settings.search_results).max(1);
    let searcher = Searcher::new(SharedSnapshot::new(store), cli.settings.search.clone(), cli.embedder()?);
    let mut answer = searcher.query(&question, &filter, most)?;
    cli.tell_fallback(answer.fallback.as_ref());
    if let Some(model) = model {
        return answer::run(cli, model, answer, max_tokens, explain);
    }
    if cli.ui.json {
        let memories: Vec<Value> =
            answer.hits.iter().map(|hit| hit_json(hit, &answer.question, explain)).collect();
        let memories = within(memories, max_tokens, |memory| memory.to_string());
        cli.ui.json_line(&json!({"version": 1, "query": answer.question.text, "memories": memories}))?;
        return Ok(0);
    }
    if answer.hits.is_empty() {
        cli.ui.data(nothing_found(&answer))?;
        return Ok(0);
    }
    let hits = std::mem::take(&mut answer.hits);
    let found = hits.len();
    let numbered = hits.into_iter().enumerate().map(|(at, hit)| (at + 1, hit)).collect();
    let shown = within(numbered, max_tokens, |(number, hit)| {
        render(*number, hit, &answer.question, explain, Style::new())
    });
    let mark = cli.ui.mark();
    for (number, hit) in &shown {
        cli.ui.data(&render(*number, hit, &answer.question, explain, mark))?;
    }
    if shown.len() < found {
        let left_out = counted((found - shown.len()) as u64, "more memory", "more memories");
        cli.ui.data(&format!("({left_out} not shown)\n"))?;
    }
    Ok(0)
}

fn nothing_found(answer: &SearchResults) -> &'static str {
    match answer.entries {
        0 => "No memories recorded yet.\n",
        _ => "No relevant memories found.\n",
    }
}

fn filter_of(store: &crate::store::Store, args: QueryArgs) -> Result<Filter, Failure> {
    let QueryArgs {
        question: _,
        scopes,
        categories,
        kinds,
        tags,
        agents,
        about,
        episodes,
        min_turn,
        max_turn,
        min_importance,
        status,
        all,
        number: _,
        max_tokens: _,
        explain: _,
        answer: _,
        model: _,
    } = args;
    if status == Some(Status::Superseded) && !all {
        let failure = Failure::usage("superseded memories are only shown with `--all`");
        return Err(failure.hint("add `--all` to `--status superseded`"));
    }
    let scopes: Vec<Scope> = match scopes.is_empty() {
        true => Vec::new(),
        false => read_scopes(store, &parse_scopes(&scopes)?)?.into_iter().map(|(scope, _)| scope).collect(),
    };
    let bare = |tag: String| tag.trim().trim_start_matches('#').to_owned();
    let id = |name: String| {
        let id = name.trim().to_lowercase();
        id.strip_prefix("agent:").or(id.strip_prefix("npc:")).map_or(id.clone(), str::to_owned)
    };
    Ok(Filter {
        scopes,
        categories,
        kinds,
        tags: tags.into_iter().map(bare).collect(),
        agents: agents.into_iter().map(id).collect(),
        about: about.into_iter().map(id).collect(),
        episodes: episodes.iter().map(|episode| episode_number(episode)).collect::<Result<_, _>>()?,
        min_turn,
        max_turn,
        min_importance: min_importance.map(clamp_importance),
        status,
        superseded: all,
        viewer: None,
    })
}

/// As many of the first items as cost no more than that, one at least.
fn within<T>(items: Vec<T>, tokens: Option<usize>, text: impl Fn(&T) -> String) -> Vec<T> {
    let Some(mut left) = tokens else { return items };
    let mut kept = Vec::new();
    for item in items {
        let cost = estimate_tokens(&text(&item));
        if cost > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        kept.push(item);
    }
    kept
}

/// What, where, when, how relevant; words that answer the question in the style of a mark.
fn render(number: usize, hit: &Hit, question: &ParsedQuery, explain: bool, mark: Style) -> String {
    let memory = &hit.memory;
    let title = marked(&memory.title, question, mark);
    let mut out =
        format!("{number}. [{}] {title} ({:.2})\n", at_turn(&hit.scope, &hit.name, memory), hit.relevance);
    let mut about = vec![memory.category.to_string()];
    about.extend(memory.provenance.episode.map(|episode| format!("Ep{episode}")));
    about.push(hit.scope.to_string());
    match memory.persistence {
        Persistence::Core => about.push("core".to_owned()),
        Persistence::Ephemeral => about.push("this episode only".to_owned()),
        Persistence::Permanent => {}
    }
    match memory.status {
        Status::Superseded => about.push("SUPERSEDED".to_owned()),
        Status::Tentative => about.push("tentative".to_owned()),
        Status::Active => {}
    }
    out.push_str(&format!("   {}\n", about.join(", ")));
    for line in memory.text.lines() {
        let line = marked(line, question, mark);
        out.push_str(&format!("   {line}\n"));
    }
    if explain {
        if let Some(passage) = &hit.passage {
            out.push_str(&format!("   most like the question: {}\n", stored_line(passage)));
        }
        let parts = hit.parts;
        out.push_str(&format!(
            "   likeness {:.2} (words {:.2}, soft {:.2}, meaning {:.2}) × importance {:.2} × recency {:.2}\n",
            hit.similarity,
            parts.keywords,
            parts.related_words,
            parts.meaning,
            hit.importance_factor,
            hit.recency_factor
        ));
    }
    out
}

/// A text with the words that answer a question in a style.
fn marked(text: &str, question: &ParsedQuery, style: Style) -> String {
    if style == Style::new() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 32);
    let is_part = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if word > 0 && question.matches_word(&rest[..word]) {
            out.push_str(&format!("{style}{}{style:#}", &rest[..word]));
        } else {
            out.push_str(&rest[..word]);
        }
        let gap = rest[word..].find(is_part).map_or(rest.len(), |gap| word + gap);
        out.push_str(&rest[word..gap]);
        rest = &rest[gap..];
    }
    out
}

fn hit_json(hit: &Hit, question: &ParsedQuery, explain: bool) -> Value {
    let memory = &hit.memory;
    let mut value = memory_json(&hit.scope, memory);
    value["content"] = json!(memory.text);
    if let Some(passage) = &hit.passage {
        value["passage"] = json!(passage);
    }
    value["relevance"] = json!(rounded(hit.relevance));
    value["turn"] = json!(memory.provenance.turns.map(|turns| turns.first));
    value["name"] = json!(hit.name);
    value["type"] = json!(<&str>::from(MemoryKind::of(&hit.scope, memory)));
    value["matched"] = json!(question.matching_words(&format!("{}\n{}", memory.title, memory.text)));
    if explain {
        value["explain"] = json!({
            "likeness": rounded(hit.similarity), "words": rounded(hit.parts.keywords), "soft": rounded(hit.parts.related_words),
            "meaning": rounded(hit.parts.meaning), "importance_factor": rounded(hit.importance_factor),
            "recency_factor": rounded(hit.recency_factor),
        });
    }
    value
}

/// Three digits: more would say more than is known.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}
