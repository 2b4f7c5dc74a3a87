//! The memories of a place, tidied: a model proposes, guards judge, one write does it.
//!
//! The flow: [`candidates`] of the place → [`propose`] asks the model, without a lock → [`settle`] on the
//! files as they are when they are written. A part that does not fit, or no longer fits, is refused with
//! the reason and the others are done. Nothing leaves the file: what is dropped is struck with the reason,
//! what is merged or superseded is struck with the title that took its place.

use serde::Serialize;
use serde_json::{Value, json};

use crate::ask::guard::{Checked, Step, check};
use crate::ask::plan::{Action, Decision, Plan, Refused, SCHEMA_NAME, SYSTEM, Seen, read_plan, schema};
use crate::ask::{Matter, TEXT_CHARS, garbled, masked, shown};
use crate::llm::{Model, ModelError, ModelUse};
use crate::notebook::add::strike;
use crate::notebook::correct::{Corrected, correct};
use crate::notebook::files::Files;
use crate::redact;
use crate::types::{Cause, Memory, Moment, Persistence, Reference, Scope};

/// With fewer memories a place has nothing to tidy.
pub const FEWEST: usize = 5;

/// Most memories that a model is shown at once.
const MOST: usize = 40;

/// What may be consolidated at a place.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// The name of the place.
    pub name: String,
    /// Live, lasting memories in the order of the file.
    pub memories: Vec<Memory>,
    /// What is kept without asking, and why.
    pub kept: Vec<String>,
}

/// What may be consolidated: what lives, lasts, has a title of its own, holds nothing that looks like a
/// secret, and is short enough to be read whole. Of too many, the least important.
pub fn candidates(files: &Files, scope: &Scope) -> Candidates {
    let section = files.section(scope);
    let mut found = Candidates { name: section.name.clone(), ..Candidates::default() };
    for memory in section.live().filter(|memory| memory.persistence != Persistence::Ephemeral) {
        let is_secret = |text: &str| redact::mask(text).is_some();
        if memory.category.only_grows() {
            continue;
        }
        if files.find(scope, &memory.title).len() > 1 {
            found.kept.push(format!("`{}` is kept: several memories bear its title", memory.title));
        } else if is_secret(&memory.title) || is_secret(&memory.text) {
            let title = masked(&memory.title);
            found.kept.push(format!("`{title}` is kept and not shown: it holds what looks like a secret"));
        } else if memory.text.chars().count() > TEXT_CHARS {
            found.kept.push(format!("`{}` is kept: it is too long to be merged", memory.title));
        } else {
            found.memories.push(memory.clone());
        }
    }
    found.kept.dedup();
    if found.memories.len() > MOST {
        let mut ranked: Vec<(usize, u16)> =
            found.memories.iter().map(Memory::importance).enumerate().collect();
        ranked.sort_by_key(|&(at, importance)| (importance, at));
        let chosen: Vec<usize> = ranked.iter().take(MOST).map(|&(at, _)| at).collect();
        let more = found.memories.len() - MOST;
        found.kept.push(format!("the {more} most important memories are kept: {MOST} are looked at at once"));
        let mut at = 0..;
        found.memories.retain(|_| at.next().is_some_and(|at| chosen.contains(&at)));
    }
    found
}

/// What a model proposes.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// Who made it.
    pub model: ModelUse,
    /// What of it could not be understood.
    pub warnings: Vec<String>,
}

/// Lets the model propose what to do.
///
/// # Errors
///
/// See [`ModelError`]; an answer without a plan is [`ModelError::Garbled`].
pub fn propose(model: &dyn Model, scope: &Scope, candidates: &Candidates) -> Result<Proposal, ModelError> {
    let memories = candidates.memories.iter().enumerate().map(|(at, memory)| shown(at + 1, memory));
    let matter = Matter {
        system: SYSTEM,
        schema_name: SCHEMA_NAME,
        schema: schema(),
        block: "MEMORIES",
        data: json!({
            "scope": scope, "name": masked(&candidates.name), "memories": memories.collect::<Vec<_>>(),
        }),
    };
    let (said, model) = matter.ask(model)?;
    let mut warnings = Vec::new();
    match read_plan(&said, &mut warnings) {
        Ok(plan) => Ok(Proposal { plan, model, warnings }),
        Err(problem) => Err(garbled(&model, problem)),
    }
}

/// What of a plan is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Settled {
    /// The parts that are done, with the exact titles and what is written.
    pub decisions: Vec<Decision>,
    /// What becomes of each memory.
    pub results: Vec<Corrected>,
    /// The parts that are not done, and why.
    pub refused: Vec<Refused>,
    /// How many of the memories stay as they are.
    pub kept: usize,
}

/// Carries out the sound parts of a plan. `seen` are the memories as they were when it was made, `at` is
/// the moment for reference lines.
pub fn settle(files: &mut Files, scope: &Scope, plan: &Plan, seen: &[Seen], at: &Moment) -> Settled {
    let Checked { sound, refused } = check(files, scope, plan, seen);
    let mut settled = Settled { refused, ..Settled::default() };
    for (decision, step) in sound {
        // A part that fails halfway must leave no half behind.
        let mut tried = files.clone();
        match take(&mut tried, scope, &step, at) {
            Ok(results) => {
                *files = tried;
                settled.results.extend(results);
                settled.decisions.push(decision);
            }
            Err(why) => settled.refused.push(Refused { decision, why }),
        }
    }
    let struck: usize = settled.decisions.iter().map(|decision| decision.titles.len()).sum();
    settled.kept = seen.len().saturating_sub(struck);
    settled
}

fn take(files: &mut Files, scope: &Scope, step: &Step, at: &Moment) -> Result<Vec<Corrected>, String> {
    match step {
        Step::Correct(correction) => correct(files, correction, at).map_err(|error| error.to_string()),
        Step::Yield { olds, by } => {
            let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(by.clone()) };
            let (mut results, mut warnings) = (Vec::new(), Vec::new());
            for title in olds {
                let struck = strike(files, scope, title, &reference, &mut warnings);
                let struck = struck.map_err(|error| error.to_string())?;
                let title = struck.ok_or_else(|| warnings.join("; "))?;
                results.push(Corrected { outcome: "superseded", scope: scope.clone(), title, memory: None });
            }
            Ok(results)
        }
    }
}

/// The journal's line: what was done and why, whose idea it was, and what was not done.
pub fn journal_line(
    settled: &Settled,
    scope: &Scope,
    reasoning: &str,
    model: Option<&ModelUse>,
    (now, id): (&str, &str),
) -> Value {
    let reasons = settled.decisions.iter().filter(|decision| !decision.reason.is_empty()).map(|decision| {
        let about = match decision.action {
            Action::Merge => &decision.title,
            _ => &decision.titles[0],
        };
        format!("\"{about}\": {}", decision.reason)
    });
    let why: Vec<String> =
        [reasoning.to_owned()].into_iter().filter(|why| !why.is_empty()).chain(reasons).collect();
    let mut line = json!({
        "version": 1, "id": id, "time": now, "outcome": "consolidated", "command": "consolidate",
        "scope": scope, "corrected": settled.results, "decisions": settled.decisions,
        "reasoning": why.join("; "),
    });
    if !settled.refused.is_empty() {
        line["refused"] = json!(settled.refused);
    }
    if let Some(model) = model {
        line["model"] = json!(model);
    }
    line
}
