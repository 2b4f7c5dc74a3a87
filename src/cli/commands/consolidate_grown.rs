//! `consolidate --grown`, and what happens of it without asking: scopes that grew, within a budget of requests.

use std::path::Path;

use serde_json::{Value, json};

use crate::ask::consolidate::{
    AppliedPlan, Candidates, FEWEST, ProposedPlan, apply_plan, candidates, note, propose,
};
use crate::ask::grown::{decision_of, grown, lasting};
use crate::ask::plan::Plan;
use crate::cli::commands::common::counted;
use crate::cli::commands::consolidate_plan::{
    MIN_PLAN_TOKENS, ONLY_SHOWN, given_in, read_plan_file, render, unusable, warn_of_refused,
};
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::types::hint::Remedy;
use memories_document::types::{Author, MemoryObject, Moment, Scope, ScopeName};
use memories_notebook::Notebook;
use memories_notebook::authority::{Authority, protection};
use memories_notebook::files::Files;
use memories_notebook::same::{Same, join_same, same_in};
use memories_store::journal::Journal;

/// The model that is asked, and the requests that are left.
pub(super) struct Asked {
    pub(super) model: ModelArgs,
    pub(super) left: u32,
}

/// What is done to one scope.
struct Part {
    scope: Scope,
    /// The memories that a model may be asked about, as they are without those that say the same.
    found: Candidates,
    objects: Vec<MemoryObject>,
    same: Vec<Same>,
    given: Option<ProposedPlan>,
}

/// A part with its outcome.
struct Done {
    part: Part,
    applied: AppliedPlan,
    changed: bool,
}

/// Shows or carries out the plans for all scopes that grew.
pub(super) fn run(
    mut cli: Cli<'_>,
    plan: Option<&Path>,
    apply: bool,
    mut asked: Asked,
) -> Result<u8, Failure> {
    let notebook = cli.notebook()?;
    let given = plan.map(|file| read_plans(&mut cli, &notebook, file)).transpose()?;
    let is_given = given.is_some();
    let (done, waiting) = match given {
        Some(parts) => {
            let parts = parts.into_iter();
            (parts.map(|part| carry_out(&mut cli, &notebook, part, apply)).collect::<Result<_, _>>()?, 0)
        }
        None => consolidate(&mut cli, &notebook, &mut asked, apply)?,
    };
    let is_refused = is_given && apply && done.iter().all(|one| one.applied.decisions.is_empty());
    show(&mut cli, &done, Rest { waiting, calls: asked.left }, apply)?;
    Ok(if is_refused && !done.is_empty() { Remedy::Fix.exit_code() } else { 0 })
}

/// Consolidates the scopes that grew, one after the other. The second value is the number of scopes for which no request
/// was left.
fn consolidate(
    cli: &mut Cli<'_>,
    notebook: &Notebook,
    asked: &mut Asked,
    apply: bool,
) -> Result<(Vec<Done>, usize), Failure> {
    let files = notebook.read()?;
    let (mut done, mut waiting) = (Vec::new(), 0);
    for scope in grown(&files, &Journal::of(notebook.store()))? {
        let same = same_in(&files, &scope);
        let mut part = part_of(&files, scope, same)?;
        if part.found.memories.len() >= FEWEST {
            waiting += usize::from(asked.left == 0);
            part.given = ask(cli, asked, &part)?;
        }
        if part.given.is_some() || !part.same.is_empty() {
            done.push(carry_out(cli, notebook, part, apply)?);
        }
    }
    Ok((done, waiting))
}

/// A scope with the memories that a model may change, once those that say the same are joined.
fn part_of(files: &Files, scope: Scope, same: Vec<Same>) -> Result<Part, Failure> {
    let mut joined = files.clone();
    join_same(&mut joined, &scope, &same, &Moment::default())?;
    let mut found = candidates(&joined, &scope);
    // Nobody has seen what a model will propose, so it proposes nothing about what is protected from it.
    found.memories.retain(|memory| protection(&joined, &scope, memory, None, Authority::MODEL).is_none());
    let author = |memory| files.authorship.author_of(&scope, memory);
    let object = |memory| MemoryObject::of(&scope, &found.name, memory, author(memory));
    let objects = found.memories.iter().map(object).collect();
    Ok(Part { scope, found, objects, same, given: None })
}

/// Asks a model about a scope, if a request is left. A failure is a warning.
fn ask(cli: &mut Cli<'_>, asked: &mut Asked, part: &Part) -> Result<Option<ProposedPlan>, Failure> {
    if asked.left == 0 {
        return Ok(None);
    }
    let config = &mut cli.settings.llm;
    config.max_output_tokens = config.max_output_tokens.max(MIN_PLAN_TOKENS);
    config.limits.max_requests = asked.left;
    let Some(model) = asked.model.clone().choose(cli)?.model else { return Ok(None) };
    let answer = propose(&*model, &part.scope, &part.found);
    asked.left = asked.left.saturating_sub(model.calls_made().max(1));
    if let Err(error) = &answer {
        cli.ui.warning(&format!("no plan for {}: {error}", part.scope.label(&part.found.name)));
        // It would fail again.
        asked.left = 0;
    }
    Ok(answer.ok())
}

/// Joins what says the same and carries out the sound parts of the plan, in one write.
fn carry_out(cli: &mut Cli<'_>, notebook: &Notebook, part: Part, apply: bool) -> Result<Done, Failure> {
    let nothing = Plan::default();
    let (applied, changed) = cli.edit(notebook, "consolidate", !apply, |draft| {
        draft.by(Author::Model);
        let at = draft.moment()?;
        let joined = join_same(&mut draft.files, &part.scope, &part.same, &at)?;
        let (plan, seen) =
            part.given.as_ref().map_or((&nothing, &[][..]), |given| (&given.plan, &given.seen));
        let mut applied = apply_plan(&mut draft.files, &part.scope, plan, seen, &at);
        let is_joined = |same: &&Same| joined.iter().any(|result| result.title == same.title);
        applied.decisions.splice(0..0, part.same.iter().filter(is_joined).map(decision_of));
        applied.results.splice(0..0, joined);
        let model = part.given.as_ref().and_then(|given| given.model.as_ref());
        if !applied.decisions.is_empty() || model.is_some() {
            let kept = model.map(|_| lasting(&draft.files, &part.scope));
            note(draft, &applied, &part.scope, &plan.reasoning, model, kept);
        }
        Ok(applied)
    })?;
    Ok(Done { part, applied, changed })
}

/// Reads the plans that `--json` printed.
fn read_plans(cli: &mut Cli<'_>, notebook: &Notebook, file: &Path) -> Result<Vec<Part>, Failure> {
    const HINT: &str = "`memories consolidate --grown --json` prints a plan";
    let value = read_plan_file(cli, file, HINT)?;
    let wrong = |problem: String| unusable(file, problem, HINT);
    let scopes = value["scopes"].as_array().ok_or_else(|| wrong("it has no list of `scopes`".to_owned()))?;
    let files = notebook.read()?;
    let mut parts = Vec::new();
    for value in scopes {
        let scope = value["scope"].as_str().and_then(|scope| match scope.parse() {
            Ok(ScopeName::Scope(scope)) => Some(scope),
            _ => None,
        });
        let scope = scope.ok_or_else(|| wrong("a part of it names no scope".to_owned()))?;
        let same: Vec<Same> = match &value["same"] {
            Value::Null => Vec::new(),
            same => serde_json::from_value(same.clone()).map_err(|error| wrong(error.to_string()))?,
        };
        let mut part = part_of(&files, scope, same)?;
        if value["plan"].is_object() {
            part.given = Some(given_in(value, &part.scope, &part.found).map_err(wrong)?);
        }
        parts.push(part);
    }
    Ok(parts)
}

/// What is left for the next time.
struct Rest {
    /// Scopes for which no request was left.
    waiting: usize,
    /// Requests that are left.
    calls: u32,
}

fn show(cli: &mut Cli<'_>, done: &[Done], Rest { waiting, calls }: Rest, apply: bool) -> Result<(), Failure> {
    for one in done {
        cli.ui.warnings(one.part.given.iter().flat_map(|given| &given.warnings));
        warn_of_refused(cli.ui, &one.applied);
    }
    if cli.ui.json {
        let scopes: Vec<Value> = done.iter().map(json_of).collect();
        let changed = done.iter().any(|one| one.changed);
        let answer = json!({"changed": changed, "calls_left": calls, "waiting": waiting, "scopes": scopes});
        return cli.ui.json_answer(&answer).map(drop);
    }
    let mut is_empty = true;
    for Done { part, applied, .. } in done.iter().filter(|one| !one.applied.decisions.is_empty()) {
        is_empty = false;
        let head = if apply { "Consolidated" } else { "Plan for" };
        cli.ui.data(&format!("{head} {}:\n", part.scope.label(&part.found.name)))?;
        for decision in &applied.decisions {
            cli.ui.data(&render(decision))?;
        }
    }
    if is_empty {
        cli.ui.data("Nothing to consolidate in what grew\n")?;
    } else if apply {
        cli.ui.notice("`memories restore` undoes the last write");
    } else {
        cli.ui.notice(ONLY_SHOWN);
    }
    if waiting > 0 {
        let scopes = counted(waiting, "scope waits", "scopes wait");
        cli.ui.notice(&format!("{scopes} for a model: it failed, or no request is left (`--max-calls`)"));
    }
    Ok(())
}

fn json_of(Done { part, applied, .. }: &Done) -> Value {
    let joined = part.same.len().min(applied.decisions.len());
    let decisions =
        applied.decisions.iter().filter(|one| !part.same.iter().any(|same| decision_of(same) == **one));
    let plan = part
        .given
        .as_ref()
        .map(|given| json!({"reasoning": given.plan.reasoning, "decisions": decisions.collect::<Vec<_>>()}));
    json!({
        "scope": part.scope, "name": part.found.name, "memories": part.objects, "same": part.same[..joined],
        "plan": plan, "results": applied.results, "refused": applied.refused,
        "model": part.given.as_ref().and_then(|given| given.model.as_ref()),
        "warnings": part.given.as_ref().map_or(&[][..], |given| &given.warnings),
    })
}

/// Consolidates what grew at the beginning of an episode, where the settings want it. Any failure is one warning.
pub(super) fn without_asking(cli: &mut Cli<'_>) {
    let settings = cli.settings.consolidate;
    if !settings.auto {
        return;
    }
    let mut asked = Asked { model: ModelArgs::default(), left: settings.max_calls };
    let notebook = cli.notebook();
    match notebook.and_then(|notebook| consolidate(cli, &notebook, &mut asked, true)) {
        Err(failure) => cli.ui.warning(&format!("nothing was consolidated: {}", failure.message())),
        Ok((done, _)) => {
            let changed = done.iter().filter(|one| one.changed).count();
            if changed > 0 {
                let scopes = counted(changed, "scope", "scopes");
                cli.ui.notice(&format!("consolidated {scopes}; `memories log` shows how"));
            }
        }
    }
}

/// Joins what says the same in the scopes that grew, where the settings want it. A hook asks no model.
#[cfg(feature = "agents")]
pub(super) fn join_all(cli: &mut Cli<'_>, notebook: &Notebook) {
    if cli.settings.consolidate.auto {
        let mut asked = Asked { model: ModelArgs::default(), left: 0 };
        if let Err(failure) = consolidate(cli, notebook, &mut asked, true) {
            cli.ui.detail(&failure.message());
        }
    }
}
