//! `consolidate`: a model proposes merges for a place; the plan is shown, or applied in one write.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::ask::consolidate::{
    AppliedPlan, Candidates, FEWEST, ProposedPlan, apply_plan, candidates, note, propose,
};
use crate::ask::plan::Plan;
use crate::cli::commands::common::counted;
use crate::cli::commands::consolidate_grown::{self, Asked};
use crate::cli::commands::consolidate_plan::{
    MIN_PLAN_TOKENS, ONLY_SHOWN, given_in, read_plan_file, render, unusable, warn_of_refused,
};
use crate::cli::commands::model_args::{ModelArgs, no_model};
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_document::types::hint::Remedy;
use memories_document::types::{Author, MemoryObject, Scope};

/// Let a model merge memories of a place; shows a plan first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The model proposes to keep, drop, merge or supersede live memories of a place
that has five or more; what it does not mention is kept. Without --apply nothing
is changed, on a terminal and in scripts alike. Every part of the plan is
checked: titles are exact, no memory is named twice, core is never dropped, at
most half of the memories are struck, and a merged text keeps what its sources
say. Parts that fail are listed with the reason; the others are done in one
write. A dropped memory stays in the file, struck out, with the reason.

Examples:
  memories consolidate 23                         show the plan
  memories consolidate 23 --apply                 ask, check and write
  memories consolidate 23 --json >plan.json        keep the plan, to edit it
  memories consolidate 23 --plan plan.json --apply  write exactly that plan
  memories restore                                undo it
  memories consolidate --grown --max-calls 3      show plans for what grew most

With --grown, memories that the rules prove to say the same are joined first,
without a model. With --json it is {version, changed, calls_left, waiting,
scopes: [{scope, …, same: [{title, by}]}]}.

With --json: {version, changed, scope, name, memories, plan: {reasoning,
decisions: [{action, titles, title, text, category, reason}]}, kept_count,
results: [{outcome, scope, title}], refused: [{action, titles, …, why}], model,
warnings}. plan is null if there are too few
memories. --plan takes this object or a bare {decisions}; memories that changed
since are refused. The exit code is 4 if --apply could do nothing of the plan.")]
pub(crate) struct ConsolidateArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true, required_unless_present = "grown")]
    scope: Option<String>,
    /// All scopes that grew since their last consolidation by a model, the largest growth first
    #[arg(long, conflicts_with = "scope")]
    grown: bool,
    /// Most requests to a model with --grown [default: 2, or `[consolidate] max_calls`]
    #[arg(long, value_name = "N", requires = "grown", allow_negative_numbers = true, value_parser = parse_count::<u32>)]
    max_calls: Option<u32>,
    /// Write the parts of the plan that pass all checks
    #[arg(long, visible_alias = "yes", conflicts_with = "dry_run")]
    apply: bool,
    /// Show the plan and change nothing; the default
    #[arg(long)]
    dry_run: bool,
    /// Read the plan from this file and ask no model; `-` is stdin
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Correct);

pub fn run(mut cli: Cli<'_>, args: ConsolidateArgs) -> Result<u8, Failure> {
    let ConsolidateArgs { scope, grown, max_calls, apply, dry_run: _, plan, writer, model } = args;
    writer.override_settings(&mut cli);
    if grown {
        let max_calls = max_calls.unwrap_or(cli.settings.consolidate.max_calls);
        return consolidate_grown::run(cli, plan.as_deref(), apply, Asked { model, left: max_calls });
    }
    let notebook = cli.notebook()?;
    let scope = cli.scope(&scope.unwrap_or_default())?;
    let files = notebook.read()?;
    let candidates = candidates(&files, &scope);
    let objects = |memory| {
        MemoryObject::of(&scope, &candidates.name, memory, files.authorship.author_of(&scope, memory))
    };
    let objects: Vec<MemoryObject> =
        if cli.ui.json { candidates.memories.iter().map(objects).collect() } else { Vec::new() };
    if plan.is_none() && candidates.memories.len() < FEWEST {
        return show_too_few(cli, &scope, &candidates, &objects);
    }
    let given = match plan {
        Some(file) => read_given(&mut cli, &file, &scope, &candidates)?,
        None => ask(&mut cli, model, &scope, &candidates)?,
    };
    cli.ui.warnings(&given.warnings);
    cli.ui.notices(&candidates.kept);
    let (applied, changed) = cli.edit(&notebook, "consolidate", !apply, |draft| {
        draft.by(Author::Model);
        let at = draft.moment()?;
        let applied = apply_plan(&mut draft.files, &scope, &given.plan, &given.seen, &at);
        if !applied.decisions.is_empty() {
            note(draft, &applied, &scope, &given.plan.reasoning, given.model.as_ref(), None);
        }
        Ok(applied)
    })?;
    let done = if changed {
        Done::Changed
    } else if apply {
        Done::Unchanged
    } else {
        Done::Shown
    };
    show_plan(&mut cli, &scope, &candidates.name, &given, &applied, done, &objects)?;
    let all_refused = apply && applied.decisions.is_empty() && !applied.refused.is_empty();
    Ok(if all_refused { Remedy::Fix.exit_code() } else { 0 })
}

fn ask(
    cli: &mut Cli<'_>,
    model: ModelArgs,
    scope: &Scope,
    found: &Candidates,
) -> Result<ProposedPlan, Failure> {
    let config = &mut cli.settings.llm;
    config.max_output_tokens = config.max_output_tokens.max(MIN_PLAN_TOKENS);
    let instead = "nothing is changed; `memories supersede` and `memories invalidate` need no model";
    let Some(model) = model.choose(cli)?.model else { return Err(no_model(instead)) };
    propose(&*model, scope, found).map_err(|error| Failure::from(error).hint(instead))
}

/// Reads a plan from a file: an object printed by `--json`, or bare decisions about the present memories.
fn read_given(
    cli: &mut Cli<'_>,
    file: &Path,
    scope: &Scope,
    found: &Candidates,
) -> Result<ProposedPlan, Failure> {
    const HINT: &str = "`memories consolidate SCOPE --json` prints a plan";
    let value = read_plan_file(cli, file, HINT)?;
    given_in(&value, scope, found).map_err(|problem| unusable(file, problem, HINT))
}

/// How far a plan was carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// It is only shown.
    Shown,
    /// It was applied, and nothing was left to change.
    Unchanged,
    /// It was applied, and changed memories.
    Changed,
}

fn show_plan(
    cli: &mut Cli<'_>,
    scope: &Scope,
    name: &str,
    given: &ProposedPlan,
    applied: &AppliedPlan,
    done: Done,
    objects: &[MemoryObject],
) -> Result<u8, Failure> {
    warn_of_refused(cli.ui, applied);
    if cli.ui.json {
        let plan = Plan { reasoning: given.plan.reasoning.clone(), decisions: applied.decisions.clone() };
        return cli.ui.json_answer(&json!({
            "changed": done == Done::Changed, "scope": scope, "name": name, "memories": objects,
            "plan": plan, "kept_count": applied.kept, "results": applied.results, "refused": applied.refused,
            "model": given.model, "warnings": given.warnings,
        }));
    }
    let is_applied = done != Done::Shown;
    let place = scope.label(name);
    let memories = counted(given.seen.len(), "memory", "memories");
    if applied.decisions.is_empty() {
        cli.ui.data(&format!("Nothing to consolidate: all {memories} of {place} are kept\n"))?;
    } else {
        let head = if is_applied { "Consolidated" } else { "Plan for" };
        cli.ui.data(&format!("{head} {place}, {memories}:\n"))?;
        for decision in &applied.decisions {
            cli.ui.data(&render(decision))?;
        }
        cli.ui.data(&format!("  keep       {}\n", counted(applied.kept, "memory", "memories")))?;
    }
    if !given.plan.reasoning.is_empty() {
        cli.ui.detail(&format!("why: {}", given.plan.reasoning));
    }
    if is_applied && !applied.decisions.is_empty() {
        cli.ui.notice("`memories restore` undoes it");
    } else if !applied.decisions.is_empty() {
        cli.ui.notice(ONLY_SHOWN);
    }
    Ok(0)
}

fn show_too_few(
    cli: Cli<'_>,
    scope: &Scope,
    found: &Candidates,
    objects: &[MemoryObject],
) -> Result<u8, Failure> {
    cli.ui.notices(&found.kept);
    let count = found.memories.len();
    let json = json!({
        "changed": false, "scope": scope, "name": found.name, "memories": objects, "plan": null,
        "kept_count": count, "results": [], "refused": [], "model": null, "warnings": [],
    });
    let memories = counted(count, "memory", "memories");
    let place = scope.label(&found.name);
    cli.ui.answer(&json, &format!("{memories} of {place}: consolidation needs at least {FEWEST}\n"))
}
