//! The report on a recorded turn, for the caller and for the journal.

use serde::Serialize;
use serde_json::{Value, json};

use crate::context::{ModelOutcome, TurnContext};
use crate::effect::Effect;
use crate::places::Place;
use crate::triggers::Trigger;
use crate::turn::{Turn, TurnLocation};
use memories_document::text::stored_line;
use memories_document::types::{Attempt, Outcome};
use memories_llm::ModelUse;
use memories_notebook::add::{AddOutcome, AddReport};
use memories_notebook::rewind::Rewound;
use memories_store::journal::entry::{Entry, MemoryEntry, ModelEntry};
use memories_store::journal::text::Text;

/// The one that judged a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The built-in rules.
    Rules,
    /// A language model, whether it gave an answer or not.
    Model,
    /// Nobody yet: the turn waits for `retry`.
    Later,
    /// Nobody: no trigger fired, or the turn repeats another one.
    #[default]
    None,
}

/// The report on a turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RecordReport {
    /// The outcome of the turn as a whole.
    pub outcome: Outcome,
    /// Episode of the turn.
    pub episode: u64,
    /// Number of the turn.
    pub turn: u64,
    /// Where the action was taken.
    pub place: Place,
    /// The effect of the turn; `None` where it was recorded before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Visits of that place, this one included.
    pub visits: u64,
    /// The triggers that fired.
    pub triggers: Vec<Trigger>,
    /// The outcome of each memory.
    pub memories: Vec<AddReport>,
    /// Titles of memories that were invalidated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalidated: Vec<String>,
    /// The action, if it was noted as tried.
    #[serde(rename = "attempt", skip_serializing_if = "Option::is_none")]
    pub tried: Option<Attempt>,
    /// The turn waits for `retry`, whatever else was done with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// The model's reasons.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The one that judged the turn.
    pub judge: JudgedBy,
    /// The model that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
    /// Ephemeral memories of the earlier episode, which this turn ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral_ended: Option<u64>,
    /// A sentence about the best run of the game, if this turn changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_run: Option<String>,
    /// The turns that were set aside before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewound: Option<Rewound>,
    /// Everything that was dropped, changed or could not be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RecordReport {
    /// The outcome in one line: `stored "Take lamp" in location:23 (triggers: score, inventory)`.
    pub fn one_line(&self) -> String {
        let place = self.place.scope().label(&self.place.name);
        let mut parts: Vec<String> = Vec::new();
        for applied in &self.memories {
            let (title, scope) = (applied.title(), &applied.entry.scope);
            let what = match applied.outcome {
                AddOutcome::Stored => format!("stored \"{title}\" in {scope}{}", applied.beside()),
                AddOutcome::Revised => format!("revised \"{title}\" in {scope}{}", applied.beside()),
                AddOutcome::Contested => format!("stored \"{title}\" in {scope} as tentative"),
                AddOutcome::Confirmed => {
                    format!("confirmed \"{title}\" in {scope}{}", applied.writers())
                }
                AddOutcome::Duplicate => format!("duplicate of \"{title}\" in {scope}{}", applied.raised()),
            };
            parts.push(applied.contesting() + &what);
            parts.extend(applied.superseded.iter().map(|title| format!("superseded \"{title}\"")));
        }
        parts.extend(self.invalidated.iter().map(|title| format!("invalidated \"{title}\"")));
        match (self.outcome, &self.tried) {
            (Outcome::Tried, Some(tried)) => {
                let times = if tried.count == 1 { "time" } else { "times" };
                let unknown = if tried.result.is_unknown() { ", effect unknown" } else { "" };
                parts.push(format!("tried \"{}\" {} {times} at {place}{unknown}", tried.action, tried.count));
            }
            (Outcome::RecordedBefore, _) => {
                parts.push(format!("recorded before as Ep{} T{} at {place}", self.episode, self.turn));
            }
            (Outcome::Queued, _) => parts.insert(0, format!("queued turn {} at {place}", self.turn)),
            (Outcome::Declined | Outcome::NotSignificant, _) if parts.is_empty() => {
                parts.push(format!("{} at {place}", self.outcome));
            }
            _ if self.queued => parts.push(format!("queued turn {} for the model", self.turn)),
            _ => {}
        }
        parts.extend(self.best_run.clone());
        parts.extend(self.rewound.as_ref().map(|rewound| format!("set aside {}", rewound.sentence())));
        let triggers: Vec<&str> = self.triggers.iter().map(|trigger| trigger.into()).collect();
        let triggers =
            if triggers.is_empty() { String::new() } else { format!(" (triggers: {})", triggers.join(", ")) };
        // Names of places and actions are the game's words, and may have several lines.
        stored_line(&format!("{}{triggers}", parts.join(", ")))
    }

    /// The report on a turn that was recorded before, as it was sent or as the journal has it.
    pub(super) fn recorded_before(turn: &Turn) -> RecordReport {
        RecordReport {
            outcome: Outcome::RecordedBefore,
            episode: turn.episode.unwrap_or_default(),
            turn: turn.turn.unwrap_or_default(),
            place: turn.begins_at().map(TurnLocation::place).unwrap_or_default(),
            ..RecordReport::default()
        }
    }

    /// The report on a turn before anything is done with it.
    pub(super) fn of(context: &TurnContext, place: Place) -> RecordReport {
        RecordReport {
            episode: context.episode,
            turn: context.number,
            place,
            triggers: context.triggers.clone(),
            ..RecordReport::default()
        }
    }
}

/// The outcome of the turn as a whole: the first in the order of [`Outcome`] of all its parts.
pub(super) fn outcome(report: &RecordReport, judged: &ModelOutcome) -> Outcome {
    let outcomes = report.memories.iter().map(|applied| Outcome::from(applied.outcome));
    let model = match judged {
        ModelOutcome::Failed(_) | ModelOutcome::PutOff => Some(Outcome::Queued),
        ModelOutcome::Answered(..) if !report.invalidated.is_empty() => Some(Outcome::Revised),
        ModelOutcome::Answered(..) => Some(Outcome::Declined),
        ModelOutcome::NotAsked => None,
    };
    let rest = if report.tried.is_some() { Outcome::Tried } else { Outcome::NotSignificant };
    outcomes.chain(model).min().unwrap_or(rest)
}

/// The turn's journal entry, with the whole turn, so that it can be offered to a model again.
pub(super) fn entry<'a>(context: &TurnContext, report: &'a RecordReport) -> Entry<'a, Value> {
    let mut turn = json!(context.turn);
    if let Value::Object(fields) = &mut turn {
        fields.retain(|_, value| !value.is_null());
    }
    turn["episode"] = json!(context.episode);
    turn["turn"] = json!(context.number);
    turn["location_before"] = json!(report.place);
    if context.turn.location_after.is_some() {
        turn["location_after"] = json!(context.after);
    }
    let outcome = if report.queued { Outcome::Queued } else { report.outcome };
    let texts = |texts: &'a [String]| (!texts.is_empty()).then(|| texts.iter().map(Text::from).collect());
    Entry {
        outcome: Some(outcome.into()),
        effect: report.effect.map(|effect| <&str>::from(effect).into()),
        turn: Some(turn),
        triggers: Some(report.triggers.iter().map(|trigger| <&str>::from(*trigger).into()).collect()),
        memories: Some(report.memories.iter().map(MemoryEntry::from).collect()),
        invalidated: texts(&report.invalidated),
        reasoning: Some((&report.reasoning).into()).filter(|why: &Text<'_>| !why.is_empty()),
        model: report.model.as_ref().map(model_entry),
        warnings: texts(&report.warnings),
        visits: Some(report.visits),
        ..Entry::default()
    }
}

/// The journal's record of a model that was asked.
pub fn model_entry(model: &ModelUse) -> ModelEntry<'_> {
    let ModelUse { name, usage, error, answer } = model;
    ModelEntry {
        name: Some(name.into()),
        calls: Some(u64::from(usage.calls)),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost: usage.cost,
        error: error.as_ref().map(Text::from),
        answer: answer.as_ref().map(Text::from),
    }
}
