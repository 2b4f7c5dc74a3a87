//! Consolidates the memories of a place: a model proposes a plan, guards check it, one write carries it out.
//!
//! The flow: [`candidates`] of the place → `propose` asks the model, without a lock → [`apply_plan`] edits the
//! files as they are at the time of the write. A decision that does not fit, or no longer fits, is refused
//! with the reason; the others are carried out. Nothing leaves the file: a dropped memory is struck with the
//! reason, a merged or superseded one with the title of its successor.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::ask::guard::{Step, check};
use crate::ask::plan::{
    Action, Decision, MemoryVersion, Plan, Refused, SCHEMA_NAME, SYSTEM, read_plan, schema,
};
use crate::ask::prompt::{TEXT_CHARS, first_by, memory_json};
use memories_document::types::{Cause, Memory, Moment, Outcome, Persistence, Reference, Scope, fold_title};
use memories_llm::prompt::Prompt;
use memories_llm::redact::{redact, redacted};
use memories_llm::{Model, ModelError, ModelUse};
use memories_notebook::Draft;
use memories_notebook::authority::Authority;
use memories_notebook::contest::{contest, protected};
use memories_notebook::correct::{Corrected, correct};
use memories_notebook::files::Files;
use memories_notebook::strike::strike;
use memories_record::report::model_entry;
use memories_store::journal::entry::{Entry, MemoryEntry};

/// Fewest memories of a place that are worth consolidating.
pub(crate) const FEWEST: usize = 5;

/// Memories that a model is shown at once.
const MAX_MEMORIES: usize = 40;

/// Memories of a place that may be consolidated.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// Name of the place.
    pub name: String,
    /// Memories to show, in the order of the file.
    pub memories: Vec<Memory>,
    /// Memories that are kept without asking the model, and why.
    pub kept: Vec<String>,
}

impl Candidates {
    /// The memories as they are now.
    pub(crate) fn seen(&self) -> Vec<MemoryVersion> {
        self.memories.iter().map(MemoryVersion::of).collect()
    }
}

/// Memories that may be consolidated: live, not ephemeral, with a unique title, without anything that
/// looks like a secret, and short enough to be shown whole. If there are too many, the least important
/// ones are taken.
pub fn candidates(files: &Files, scope: &Scope) -> Candidates {
    let section = files.section(scope);
    let mut found = Candidates { name: section.name.clone(), ..Candidates::default() };
    let mut bearers: HashMap<String, usize> = HashMap::new();
    for memory in section.live() {
        *bearers.entry(fold_title(&memory.title)).or_default() += 1;
    }
    for memory in section.live().filter(|memory| memory.persistence != Persistence::Ephemeral) {
        let is_secret = |text: &str| redact(text).is_some();
        if memory.category.only_grows() {
            continue;
        }
        if !memory.provenance.witnesses().is_everybody() {
            found.kept.push(format!("`{}` is kept: it has witnesses", memory.title));
        } else if bearers[&fold_title(&memory.title)] > 1 {
            found.kept.push(format!("`{}` is kept: several memories bear its title", memory.title));
        } else if is_secret(&memory.title) || is_secret(&memory.text) {
            let title = redacted(&memory.title);
            found.kept.push(format!("`{title}` is kept and not shown: it holds what looks like a secret"));
        } else if memory.text.chars().count() > TEXT_CHARS {
            found.kept.push(format!("`{}` is kept: it is too long to be merged", memory.title));
        } else {
            found.memories.push(memory.clone());
        }
    }
    found.kept.dedup();
    if found.memories.len() > MAX_MEMORIES {
        let more = found.memories.len() - MAX_MEMORIES;
        found.kept.push(format!(
            "the {more} most important memories are kept: {MAX_MEMORIES} are looked at at once"
        ));
        found.memories = first_by(found.memories, MAX_MEMORIES, Memory::importance);
    }
    found
}

/// A plan, and the memories as they were when it was made.
#[derive(Debug)]
pub(crate) struct ProposedPlan {
    pub(crate) plan: Plan,
    pub(crate) seen: Vec<MemoryVersion>,
    /// The model that made it; `None` for a plan from a file.
    pub(crate) model: Option<ModelUse>,
    /// Parts of the plan that could not be understood.
    pub(crate) warnings: Vec<String>,
}

/// Lets the model propose what to do.
///
/// # Errors
///
/// See [`ModelError`]; an answer without a plan is [`ModelError::Unusable`].
pub(crate) fn propose(
    model: &dyn Model,
    scope: &Scope,
    candidates: &Candidates,
) -> Result<ProposedPlan, ModelError> {
    let memories = (1..).zip(&candidates.memories).map(|(number, memory)| memory_json(number, memory));
    let prompt = Prompt {
        system: SYSTEM,
        schema_name: SCHEMA_NAME,
        schema: schema(),
        block: "MEMORIES",
        data: json!({
            "scope": scope, "name": redacted(&candidates.name), "memories": memories.collect::<Value>(),
        }),
    };
    let mut warnings = Vec::new();
    let (mut plan, model) = prompt.ask_and_read(model, |answer| read_plan(answer, &mut warnings))?;
    let titles: Vec<&str> = candidates.memories.iter().map(|memory| memory.title.as_str()).collect();
    plan.name(&titles, &mut warnings);
    Ok(ProposedPlan { plan, seen: candidates.seen(), model: Some(model), warnings })
}

/// The outcome of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AppliedPlan {
    /// Decisions that are carried out, with the exact titles and texts.
    pub decisions: Vec<Decision>,
    /// The change of each memory.
    pub results: Vec<Corrected>,
    /// Decisions that are not carried out, and why.
    pub refused: Vec<Refused>,
    /// Number of memories that stay as they are.
    pub kept: usize,
}

/// Carries out the sound decisions of a plan. `seen` are the memories as they were when the plan was
/// made, `at` is the moment for reference lines.
pub fn apply_plan(
    files: &mut Files,
    scope: &Scope,
    plan: &Plan,
    seen: &[MemoryVersion],
    at: &Moment,
) -> AppliedPlan {
    let (sound, refused) = check(files, scope, plan, seen);
    let mut applied = AppliedPlan { refused, ..AppliedPlan::default() };
    for (decision, step) in sound {
        // A decision that fails halfway must change nothing.
        let mut tried = files.clone();
        match take(&mut tried, scope, &step, at) {
            Ok(results) => {
                *files = tried;
                applied.results.extend(results);
                applied.decisions.push(decision);
            }
            Err(why) => applied.refused.push(Refused { decision, why }),
        }
    }
    let struck: usize = applied.decisions.iter().map(|decision| decision.titles.len()).sum();
    let contested: usize = applied.results.iter().map(|result| result.contested.len()).sum();
    applied.kept = seen.len().saturating_sub(struck.saturating_sub(contested));
    applied
}

fn take(files: &mut Files, scope: &Scope, step: &Step, at: &Moment) -> Result<Vec<Corrected>, String> {
    match step {
        // The person who applies the plan decides.
        Step::Correct(correction) => {
            correct(files, correction, at, Authority::Command).map_err(|error| error.to_string())
        }
        Step::Yield { olds, by } => {
            let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(by.clone()) };
            let (mut results, mut warnings) = (Vec::new(), Vec::new());
            for title in olds {
                // A named writer strikes no words of others.
                if let Some(one) = protected(files, scope, title, None, Authority::Command) {
                    let reason = format!("\"{by}\" is said to take its place.");
                    let report =
                        contest(files, scope, one, &reason, at).map_err(|error| error.to_string())?;
                    results.extend(Corrected::all_of(&report));
                    continue;
                }
                let struck = strike(files, scope, title, &reference, &mut warnings);
                let title = struck.ok_or_else(|| warnings.join("; "))?;
                results.push(Corrected::of(Outcome::Superseded, scope, &title));
            }
            Ok(results)
        }
    }
}

/// Notes the journal entry: decisions, reasons, refusals, and the model.
pub(crate) fn note(
    draft: &mut Draft<'_>,
    applied: &AppliedPlan,
    scope: &Scope,
    reasoning: &str,
    model: Option<&ModelUse>,
    kept: Option<usize>,
) {
    let reasons = applied.decisions.iter().filter(|decision| !decision.reason.is_empty()).map(|decision| {
        let about = match decision.action {
            Action::Merge => &decision.title,
            _ => &decision.titles[0],
        };
        format!("\"{about}\": {}", decision.reason)
    });
    let why: Vec<String> =
        [reasoning.to_owned()].into_iter().filter(|why| !why.is_empty()).chain(reasons).collect();
    draft.note(Entry::<Value> {
        outcome: Some(Outcome::Consolidated.into()),
        scope: Some(scope.to_string().into()),
        corrected: Some(applied.results.iter().map(MemoryEntry::from).collect()),
        decisions: Some(json!(applied.decisions)),
        reasoning: Some(why.join("; ").into()),
        refused: (!applied.refused.is_empty()).then(|| json!(applied.refused)),
        kept: kept.map(|count| count as u64),
        model: model.map(model_entry),
        ..Entry::default()
    });
}
