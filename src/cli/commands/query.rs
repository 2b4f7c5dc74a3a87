//! `query`: the memories that are relevant to a question.

mod answer;
mod hits;
mod unknown;

use serde_json::json;

use crate::ask::answer::memories_to_read;
use crate::cli::commands::memory_args::{bare_tag, episode_number};
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::query::hits::{HitObjects, Listing, with_missing_phrase};
use crate::cli::commands::query::unknown::hint_at_unknown;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_number, parse_own_importance, parse_time};
use memories_document::types::{Category, Status};
use memories_notebook::{MemoryObjects, SharedSnapshot};
use memories_search::filter::{Filter, MemoryKind};
use memories_search::{Question, Searcher};

/// Usual number of memories in the order of time.
const HITS_BY_TIME: usize = 20;

/// Search all memories by meaning, offline
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A memory's relevance is a number from 0 to 1. Questions in Chinese, Japanese and
Korean get lower numbers than others. Memories below the floor (`[search]
floor`) are shown only if they have a word of the question: at most three, the
last. `nearest, unsure` marks memories that may have nothing to do with it.
Words in quotation marks must occur in a memory, one after the other; if no
memory has them, their words are searched. Quotation marks of a pasted text mean
nothing: those behind a colon or beside `error`, and several of them.

Examples:
  memories query 'where did I see a key?'
  memories query troll --category danger --episode 3
  memories query 'what hurts the \"brass lantern\"' --scope Cellar
  memories query 'who is Jordan' --agent alex --about jordan
  memories query 'the way out' --explain --json
  memories query 'what happened last week' --now 2026-11-27
  memories query 'the thief' --by-time --min-turn 40
                              what happened with it after turn 40
  memories query 'how do I get past the troll?' --answer

With --answer a model answers in at most two sentences, and names the memories
that the answer is based on; without a model those found are listed. It reads
the best ranked memories, also those below the floor: at most 40, and as many as
`[llm] max_memory_tokens` holds.

With --json: {version, query, memories: [{scope, name, category, title, text, …,
relevance, weak, type, matched, passage}]}, `passage` being the most similar
part of a long text; `cut` is true where `text` is only that, `weak` where the
memory is unsure. `missing_phrase` holds quoted words that no memory has. With
--explain also {explain: {similarity, words, related, meaning,
importance_factor, recency_factor}}. With --answer also {answer, relevant,
model, warnings}, each memory has its number, and those that the answer is based
on are among them; answer is null if the memories hold none, or if no model
answered: then model.error holds the reason (model is null if none is set up).")]
pub(crate) struct QueryArgs {
    /// The question, in words
    #[arg(required = true, value_name = "QUESTION")]
    question: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// The memories that surely match, or else the nearest, in the order of their episodes, turns and dates
    #[arg(long, conflicts_with = "answer")]
    by_time: bool,
    /// Maximum of memories, at least 1 [default: 5, with --by-time 20]
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number)]
    number: Option<usize>,
    /// Maximum of tokens of the whole answer, by an estimate that is rounded up. Long texts are cut to their most
    /// similar passage from 1000 on by default; memories are left out only with this flag
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count::<usize>)]
    max_tokens: Option<usize>,
    /// The time of the question, RFC 3339 or a day: `yesterday` is the day before it [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    now: Option<String>,
    /// Show the parts of each relevance
    #[arg(long)]
    explain: bool,
    /// Let a model answer from the memories
    #[arg(long)]
    answer: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The flags that narrow the search.
#[derive(Debug, clap::Args)]
struct FilterArgs {
    /// Only this place or scope; repeatable
    #[arg(long = "scope", value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    /// Only this category, such as DANGER; repeatable
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<Category>,
    /// Only `place`, `character`, `character_knowledge`, `scene`, `episodic` or `work`; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<MemoryKind>,
    /// Only with this tag; repeatable, then with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories of this agent and the shared scene; repeatable
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
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_own_importance)]
    min_importance: Option<u16>,
    /// Only `active`, `tentative` or, with --all, `superseded`
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// Show superseded memories too, marked as such
    #[arg(long)]
    all: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { pages: true, synonyms: &["search", "find", "grep", "ask"], ..Facts::of_question(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: QueryArgs) -> Result<u8, Failure> {
    let QueryArgs { question, filter, by_time, number, max_tokens, now, explain, answer, model, view } = args;
    view.read_for(&mut cli);
    let store = cli.store()?;
    let filter = filter_of(&cli, filter)?;
    let usual = if by_time { HITS_BY_TIME } else { cli.settings.search_results.max(1) };
    let limit = number.unwrap_or(usual);
    let embedder = cli.embedder()?;
    let searcher = Searcher::new(SharedSnapshot::new(store), cli.settings.search.clone(), embedder);
    let question = question.join(" ");
    let now = now.unwrap_or_else(|| cli.settings.now.clone());
    let asked = Question::new(&question).at(&now);
    // A model reads memories below the floor in any case.
    let asked_here = if answer { asked } else { asked.with_weak() };
    let mut found = searcher.query(asked_here, &filter, limit)?;
    if by_time {
        // In the order of time the unsure ones would not be the last.
        if found.hits.iter().any(|hit| !hit.is_weak) {
            found.hits.retain(|hit| !hit.is_weak);
        }
        found.sort_by_time();
    }
    cli.warn_of_fallback(found.fallback.as_ref());
    if found.hits.is_empty() {
        hint_at_unknown(cli.ui, &*searcher.files().current()?, &filter);
    }
    if answer {
        let hits = memories_to_read(found.hits.len(), |count| searcher.query_all(asked, &filter, count))?;
        let files = searcher.files().current()?;
        return answer::run(cli, model, found, &hits, max_tokens, explain, &files);
    }
    if cli.ui.json {
        let files = searcher.files().current()?;
        let objects = HitObjects { objects: MemoryObjects::of(&files), question: &found.question, explain };
        let memories = objects.list(&mut found.hits, max_tokens);
        let answer = json!({"query": found.question.text, "memories": memories});
        return cli.ui.json_answer(&with_missing_phrase(answer, &found));
    }
    Listing::of(&mut found, max_tokens, explain).show(cli.ui, &found)
}

fn filter_of(cli: &Cli<'_>, args: FilterArgs) -> Result<Filter, Failure> {
    let FilterArgs {
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
    } = args;
    if status == Some(Status::Superseded) && !all {
        let failure = Failure::usage("superseded memories are only shown with `--all`");
        return Err(failure.hint("add `--all` to `--status superseded`"));
    }
    let scopes = cli.existing_scopes(&scopes)?;
    let id = |name: String| {
        let id = name.trim().to_lowercase();
        id.strip_prefix("agent:").or(id.strip_prefix("npc:")).map_or(id.clone(), str::to_owned)
    };
    Ok(Filter {
        scopes,
        categories,
        kinds,
        tags: tags.iter().map(|tag| bare_tag(tag)).collect(),
        agents: agents.into_iter().map(id).collect(),
        about: about.into_iter().map(id).collect(),
        episodes: episodes.iter().map(|episode| episode_number(episode)).collect::<Result<_, _>>()?,
        min_turn,
        max_turn,
        min_importance,
        status,
        superseded: all,
    })
}
