//! `review`: lists memories that wait for a person's decision, and carries the decision out.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::json;

use crate::cli::commands::common::at_turn;
use crate::cli::commands::correct::target;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_document::grammar::Heading;
use memories_document::types::frame::{indented, one_line};
use memories_document::types::{Memory, MemoryObject, Scope, same_title};
use memories_notebook::authority::Authority;
use memories_notebook::correct::{Corrected, Correction};
use memories_notebook::doubt::{Doubt, contested_titles, doubt_of};
use memories_notebook::{MemoryObjects, Snapshot};

/// List memories that wait for your decision, and decide
#[derive(Debug, clap::Args)]
#[command(mut_arg("writer", |writer| writer.help("Who asks: a named writer sees the list, and cannot decide")))]
#[command(after_help = "\
Listed are memories that contest others, memories of a model that nothing in
their turn bears out (`#unsupported`), and tentative ones. What is accepted
becomes active, and what it contests is struck. What is rejected is struck.
Nothing is removed; `memories restore` undoes it.

Examples:
  memories review                 all of them
  memories review 23              those of one place
  memories review 23 'Take sword (2)' --accept
  memories review 23 'Take sword (2)' --reject

With --json: {version, waiting: [{doubt, memory, contested}]}, where `doubt` is
contests, unsupported or tentative, and `contested` are the entries that it
contests; for a decision {version, changed, results: [{outcome, scope, title}]}.")]
pub(crate) struct ReviewArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE")]
    scope: Option<String>,
    /// The exact title of the memory on which you decide
    #[arg(value_name = "TITLE", requires = "decision")]
    title: Option<String>,
    /// Believe it, and strike what it contests
    #[arg(long, group = "decision", requires = "title")]
    accept: bool,
    /// Strike it
    #[arg(long, group = "decision", requires = "title")]
    reject: bool,
    /// Line of the entry, if several entries share the title
    #[arg(long, value_name = "N", requires = "title")]
    line: Option<usize>,
    /// Show what would be done; change nothing
    #[arg(long, requires = "title")]
    dry_run: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

/// A memory that waits for a decision.
#[derive(Serialize)]
struct Waiting {
    doubt: Doubt,
    memory: MemoryObject,
    contested: Vec<MemoryObject>,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("TITLE", Candidates::Titles)], ..Facts::of(Group::Correct) };

pub fn run(mut cli: Cli<'_>, args: ReviewArgs) -> Result<u8, Failure> {
    let ReviewArgs { scope, title, accept, reject: _, line, dry_run, writer } = args;
    writer.override_settings(&mut cli);
    let store = cli.store()?;
    let scope = scope.map(|name| cli.scope(&name)).transpose()?;
    match (scope, title) {
        (Some(scope), Some(title)) => {
            let target = target(&scope, &title, line);
            let decision = if accept { Correction::Accept(target) } else { Correction::Reject(target) };
            decide(cli, decision, dry_run)
        }
        (scope, _) => list(cli, &Snapshot::read(&store)?, scope.as_ref()),
    }
}

fn decide(mut cli: Cli<'_>, decision: Correction, dry_run: bool) -> Result<u8, Failure> {
    let notebook = cli.notebook()?;
    let (results, _) = cli.edit(&notebook, "review", dry_run, |draft| {
        draft.correct::<Failure>(std::slice::from_ref(&decision), Authority::Command)
    })?;
    let would = if dry_run { "would be " } else { "" };
    let line = |done: &Corrected| format!("{would}{} \"{}\" in {}\n", done.outcome, done.title, done.scope);
    let text: String = results.iter().map(line).collect();
    cli.ui.answer(&json!({"changed": !dry_run, "results": results}), &text)
}

fn list(cli: Cli<'_>, snapshot: &Snapshot, wanted: Option<&Scope>) -> Result<u8, Failure> {
    let objects = MemoryObjects::of(snapshot);
    let mut known = HashSet::new();
    let mut waiting = Vec::new();
    let mut text = String::new();
    for Heading { scope, name } in snapshot.headings() {
        if wanted.is_some_and(|wanted| wanted != scope) || !known.insert(scope.clone()) {
            continue;
        }
        let section = snapshot.section(scope);
        for memory in section.live() {
            let Some(doubt) = doubt_of(memory) else { continue };
            let titles = contested_titles(scope, memory);
            let is_contested = |other: &&Memory| titles.iter().any(|title| same_title(title, &other.title));
            let contested: Vec<&Memory> = section.live().filter(is_contested).collect();
            text.push_str(&shown(&scope.label(name), doubt, memory, &contested));
            let object = |memory: &Memory| objects.object(scope, name, memory);
            let contested = contested.into_iter().map(object).collect();
            waiting.push(Waiting { doubt, memory: object(memory), contested });
        }
    }
    if waiting.is_empty() {
        text.push_str("Nothing waits for a decision.\n");
    } else if !cli.ui.json {
        cli.ui.notice("decide with `memories review SCOPE TITLE --accept` or `--reject`");
    }
    cli.ui.answer(&json!({"waiting": waiting}), &text)
}

/// A memory with what it contests. No line of a text stands at the margin.
fn shown(place: &str, doubt: Doubt, memory: &Memory, contested: &[&Memory]) -> String {
    let entry = |memory: &Memory, indent: &str| {
        let (title, text) = (one_line(&memory.title), indented(&memory.text, &format!("{indent}  ")));
        format!("{indent}[{}] {title}\n{}\n", memory.category, text.trim_end())
    };
    let doubt: &str = doubt.into();
    let mut out = format!("{} ({doubt})\n{}", one_line(&at_turn(place, memory)), entry(memory, "  "));
    for other in contested {
        out.push_str("  It contests:\n");
        out.push_str(&entry(other, "    "));
    }
    out + "\n"
}
