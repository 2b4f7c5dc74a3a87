//! Turns whose model call failed, or that only the built-in rules judged, are offered to a model again.
//!
//! The journal's lines enter; each turn that waits leaves as an answer of a model, written in one
//! step together with the line that resolves it. Visits and tries were written when it was played.
//! Two retries at once do no turn twice: whoever comes second finds it resolved, under the lock.

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};
use strum::VariantArray;

use crate::document::DocumentError;
use crate::notebook::files::Files;
use crate::record::context::{ModelOutcome, PlaceMemories, TurnContext};
use crate::record::triggers::{Changes, Trigger};
use crate::record::turn::Turn;
use crate::record::{Judge, Outcome, RecordError, Recorder, Report, journal_line, outcome, places};
use crate::store::{Change, Sidecar, Store, StoreError};
use crate::types::{OFFLINE_TAG, Provenance, Span, same_title};

/// Which turns wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those whose model call failed.
    Queued,
    /// Those that the built-in rules made a memory of.
    Offline,
}

/// A turn that waits for a model.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// Name of its line in the journal.
    pub id: String,
    /// When it was recorded.
    pub time: String,
    /// Episode and number, for reports.
    pub label: String,
    line: Value,
    history: Vec<Value>,
}

/// What became of an offer.
#[derive(Debug, Clone, PartialEq)]
pub enum Offer {
    /// The model answered, and this was done.
    Done(Box<Report>),
    /// The model failed again; the turn still waits.
    Failed(String),
    /// Another process resolved it meanwhile.
    Gone,
}

/// The turns that wait, in the order in which they were played.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn waiting(store: &Store, wanted: Wanted, window: usize) -> Result<Vec<Waiting>, StoreError> {
    let mut found: Vec<Waiting> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut resolved: HashSet<String> = HashSet::new();
    let mut history: VecDeque<Value> = VecDeque::new();
    for line in store.sidecar().journal_lines()? {
        let line = line?;
        if let Some(id) = line["resolves"].as_str() {
            resolved.insert(id.to_owned());
        }
        if is_wanted(&line, wanted)
            && let (Some(id), true) = (line["id"].as_str(), line["turn"].is_object())
            && seen.insert(id.to_owned())
        {
            let same_episode = |before: &&Value| before["turn"]["episode"] == line["turn"]["episode"];
            found.push(Waiting {
                id: id.to_owned(),
                time: line["time"].as_str().unwrap_or_default().to_owned(),
                label: format!("Ep{} T{}", line["turn"]["episode"], line["turn"]["turn"]),
                history: history.iter().filter(same_episode).cloned().collect(),
                line: line.clone(),
            });
        }
        if line["turn"].is_object() {
            history.push_back(line);
            if history.len() > window {
                history.pop_front();
            }
        }
    }
    found.retain(|waiting| !resolved.contains(&waiting.id));
    Ok(found)
}

fn is_wanted(line: &Value, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Queued => line["outcome"] == <&str>::from(Outcome::Queued),
        Wanted::Offline => {
            let made = line["memories"].as_array().is_some_and(|memories| !memories.is_empty());
            line["model"]["name"] == OFFLINE_TAG && made
        }
    }
}

impl Recorder<'_> {
    /// Offers a waiting turn to the model and writes what it makes of it.
    ///
    /// # Errors
    ///
    /// See [`RecordError`]. A model that fails is no error.
    pub fn retry(&self, waiting: &Waiting, now: &str, id: &str) -> Result<Offer, RecordError> {
        let Some(context) = self.context_of(waiting)? else {
            return Ok(Offer::Failed("the journal's line holds no turn".to_owned()));
        };
        let mut judged = self.judge.judge(&context);
        if let ModelOutcome::Failed(model) = &judged {
            return Ok(Offer::Failed(model.error.clone().unwrap_or_default()));
        }
        if let Judge::Model(_) = self.judge {
            replace_rule_made(&mut judged, &context, &waiting.line);
        }
        let update = self.store.update(|text, sidecar| {
            if is_resolved(sidecar, &waiting.id)? {
                return Ok(Change::unchanged(Offer::Gone));
            }
            let mut files = Files::open(text, sidecar)?;
            let report = self.edit_again(&mut files, &context, &judged, now)?;
            let mut line = journal_line(&context, &report, now, id);
            line["resolves"] = json!(waiting.id);
            line["command"] = json!("retry");
            Ok::<_, RecordError>(files.into_change(Offer::Done(Box::new(report)))?.with_journal_line(line))
        })?;
        Ok(update.value)
    }

    fn context_of(&self, waiting: &Waiting) -> Result<Option<TurnContext>, RecordError> {
        let mut turn = waiting.line["turn"].clone();
        if let Some(fields) = turn.as_object_mut() {
            // What the player wanted kept was kept at once.
            fields.remove("remember");
        }
        let Ok(turn) = Turn::from_value(&turn) else { return Ok(None) };
        let files = Files::open(self.store.read()?, self.store.sidecar())?;
        let (before, after) = places::resolve(&files.lasting, &turn, false)?;
        let noticed = |trigger: &Trigger| {
            let names = waiting.line["triggers"].as_array();
            names.is_some_and(|names| names.iter().any(|name| name == <&str>::from(trigger)))
        };
        let memories = PlaceMemories::of(&files, &before, &after);
        Ok(Some(TurnContext {
            episode: turn.episode.unwrap_or(1),
            number: turn.turn.unwrap_or(1),
            changes: Changes::of(&turn, before.id != after.id),
            triggers: Trigger::VARIANTS.iter().copied().filter(noticed).collect(),
            repeat: false,
            memories,
            history: waiting.history.clone(),
            before,
            after,
            turn,
        }))
    }

    /// What [`Recorder::record`] writes, without visits, tries and what the player wanted kept.
    fn edit_again(
        &self,
        files: &mut Files,
        context: &TurnContext,
        judged: &ModelOutcome,
        now: &str,
    ) -> Result<Report, DocumentError> {
        let mut report = Report::of(context, context.before.clone());
        if let ModelOutcome::Answered(proposal, model) = judged {
            report.model = Some(model.clone());
            self.apply(files, context, proposal, (&context.before, &context.after), &mut report, now)?;
        }
        report.visits = files.section(&context.before.scope()).visits;
        report.outcome = outcome(&report, judged);
        Ok(report)
    }
}

/// The entry that the built-in rules made of this turn alone, the model's own memory takes the place
/// of. What the player wanted kept stays, and so does what other turns had a part in.
fn replace_rule_made(judged: &mut ModelOutcome, context: &TurnContext, line: &Value) {
    let ModelOutcome::Answered(proposal, _) = judged else { return };
    if proposal.memory.is_none() {
        return;
    }
    let stored = |title: &str| {
        let mut memories = line["memories"].as_array().into_iter().flatten();
        memories.any(|memory| memory["outcome"] == "stored" && memory["title"] == title)
    };
    for memory in context.memories.before.iter().chain(&context.memories.after) {
        let Provenance { episode, turns, tags, .. } = &memory.provenance;
        let of_this_turn = (*episode, *turns) == (Some(context.episode), Some(Span::one(context.number)));
        let by_rules = tags.iter().any(|tag| tag == OFFLINE_TAG);
        let named = proposal.supersedes.iter().any(|other| same_title(other, &memory.title));
        if of_this_turn && by_rules && stored(&memory.title) && !named {
            proposal.supersedes.push(memory.title.clone());
        }
    }
}

/// Whether a line of the journal resolves this one. Looked at from the end, for writers wait meanwhile.
fn is_resolved(sidecar: &Sidecar, id: &str) -> Result<bool, StoreError> {
    let mark = format!("\"resolves\":{}", json!(id));
    Ok(!sidecar.journal_tail(1, |line| line.contains(&mark))?.is_empty())
}
