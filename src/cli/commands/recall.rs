//! `recall`: prints the most relevant memories of a place within a budget of tokens.

use serde_json::{Value, json};

use strum::VariantNames as _;

use crate::cli::commands::common::hint_at_near_sections;
use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::paint;
use crate::cli::values::{parse_count, parse_number};
use memories_document::Section;
use memories_document::types::model_text::ModelText;
use memories_document::types::{Memory, Scope, ScopeName};
use memories_notebook::{KnownChanges, MemoryObjects, Snapshot};
use memories_recall::brief::{USUAL, newest, render_brief};
use memories_recall::budget::estimate_tokens;
use memories_recall::{Format, Limits, json, owned_sections, parent_sections, recall_newest, render};

/// Print what matters at a place, within a budget of tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories recall 23                    one place, by the engine's id
  memories recall 'Living Room'         by a name that only one place has
  memories recall 23 npc:troll world    several scopes in one budget
  memories recall 23 --all              all live memories
  memories recall 23 npc:troll world --last 3 --brief
                                        the newest of each, a line each
  memories recall dir:.                 the folder you are in, then those above
  memories recall 23 --json

A path after `dir:` starts at the root of the repository; with `.` or `..` in
front, at the working directory. What is known of the folders above follows,
as far as the budget allows.

Notes that a person wrote at a place without the syntax of an entry follow the
memories, as `Notes by hand:`.

A memory with a tag such as `#file:src/x.rs@1f3a2b4c` speaks of a file. Where
that has changed since, the memory says so: `may be stale: src/x.rs changed 3
commits ago`.
With --json it has {stale: [TEXT]}.

Memories that a shown one links to by `See also: [[Location 5 › Title]]` are
shown with it, as far as the budget allows.

With --json: {version, tokens, text, scopes: [{scope, name, visits, episodes,
memories, linked, best_run?, ways: [{action, to, name, count, episode, turn,
after?, sometimes}], worked, seen, tried: [{action, count, episode, turn, reply,
verdict, result}],
not_understood, notes: [{heading, text}], memories_left_out, ways_left_out,
worked_left_out, seen_left_out, tried_left_out, notes_left_out}]}; with --brief
{version, tokens, text, scopes: [{scope, name, memories}]}.")]
pub(crate) struct RecallArgs {
    /// Ids, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or names of places
    #[arg(required = true, value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    /// Maximum of tokens of the whole answer, by an estimate that is rounded up
    #[arg(long, value_name = "N", conflicts_with = "all", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<usize>)]
    max_tokens: Option<usize>,
    /// Show all live memories, without a budget
    #[arg(long)]
    all: bool,
    /// Only the newest N of each scope [with --brief: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number)]
    last: Option<usize>,
    /// A line for each memory, the newest first; no budget but that of --max-tokens
    #[arg(long, conflicts_with_all = ["all", "format"])]
    brief: bool,
    /// `text`, `markdown` or `xml`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = str::parse::<Format>)]
    format: Format,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    pages: true,
    synonyms: &["get", "context", "read"],
    completes: &[("FORMAT", Candidates::Values(Format::VARIANTS))],
    ..Facts::of_question(Group::Turn)
};

pub fn run(mut cli: Cli<'_>, args: RecallArgs) -> Result<u8, Failure> {
    let RecallArgs { scopes, max_tokens, all, last, brief, format, view } = args;
    view.read_for(&mut cli);
    let defaults = cli.settings.limits;
    let budget = max_tokens.or(defaults.max_tokens).filter(|_| !all);
    let limits = Limits { max_tokens: budget, ..defaults };
    let (store, names) = (cli.store()?, cli.scope_names(&scopes)?);
    let snapshot = Snapshot::read(&store)?;
    cli.ui.warnings(&snapshot.warning());
    hint_at_near_sections(cli.ui, &snapshot, names.iter().filter_map(ScopeName::scope));
    if brief {
        let mut sections = owned_sections(&snapshot, &names)?;
        sections.extend(parent_sections(&snapshot, &names));
        return run_brief(cli, &snapshot, sections, last.unwrap_or(USUAL), max_tokens);
    }
    let last = last.unwrap_or(usize::MAX);
    let files = cli.anchored()?;
    let views = recall_newest(&snapshot, &names, &limits, format, last, Some(&*files))?;
    show(cli, &snapshot, &render(&views), |objects| {
        views.iter().map(|view| json::view(objects, view)).collect()
    })
}

fn show(
    cli: Cli<'_>,
    snapshot: &Snapshot,
    text: &ModelText,
    scopes: impl FnOnce(&MemoryObjects<'_>) -> Vec<Value>,
) -> Result<u8, Failure> {
    if cli.ui.json {
        let scopes = scopes(&MemoryObjects::of(snapshot));
        return cli.ui.json_answer(&json::recalled(text, &scopes));
    }
    cli.ui.painted(text, paint::recall)?;
    Ok(0)
}

/// Prints the newest memories of each scope, the same number for each. If they exceed the budget, fewer
/// are shown, but at least one for each scope.
fn run_brief(
    cli: Cli<'_>,
    snapshot: &Snapshot,
    mut sections: Vec<(Scope, Section)>,
    last: usize,
    max_tokens: Option<usize>,
) -> Result<u8, Failure> {
    let (files, mut changes) = (cli.anchored()?, KnownChanges::default());
    let newest = loop {
        let newest = newest_within(&sections, last, max_tokens);
        let shown =
            newest.iter().flat_map(|(scope, _, memories)| memories.iter().map(move |one| (scope, one)));
        if !changes.look(&*files, shown) {
            break newest;
        }
        for (scope, section) in &mut sections {
            section.memories.iter_mut().for_each(|memory| changes.say(scope, memory));
        }
    };
    show(cli, snapshot, &render_brief(&newest), |objects| {
        newest.iter().map(|one| brief_json(objects, one)).collect()
    })
}

/// The newest memories of each section, at most `last`, and fewer where they exceed a budget of tokens.
fn newest_within(
    sections: &[(Scope, Section)],
    last: usize,
    max_tokens: Option<usize>,
) -> Vec<(Scope, String, Vec<Memory>)> {
    let newest_of = |limit: usize| -> Vec<(Scope, String, Vec<Memory>)> {
        let of = |(scope, section): &(Scope, Section)| {
            (scope.clone(), section.name.clone(), newest(section, limit))
        };
        sections.iter().map(of).collect()
    };
    let fits = |limit: &usize| {
        max_tokens.is_none_or(|tokens| estimate_tokens(&render_brief(&newest_of(*limit))) <= tokens)
    };
    let longest = sections.iter().map(|(_, section)| section.memories.len()).max().unwrap_or(0);
    newest_of((1..=longest.min(last)).rev().find(fits).unwrap_or(1))
}

fn brief_json(objects: &MemoryObjects<'_>, (scope, name, memories): &(Scope, String, Vec<Memory>)) -> Value {
    json!({"scope": scope, "name": name, "memories": objects.list((scope, name), memories)})
}
