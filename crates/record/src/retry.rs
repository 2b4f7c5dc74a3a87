//! Offers turns to a model again: those whose model call failed, and those that only the rules judged.
//!
//! The answer of the model is written together with the journal entry that resolves the waiting one. Visits
//! and tries were written when the turn was played. Of two retries at once only one does a turn: the other
//! finds it resolved, under the lock.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;
use strum::VariantArray;

use crate::changes::Changes;
use crate::context::{ModelOutcome, PlaceMemories, TurnContext};
use crate::effect::effect_of;
use crate::evidence::earlier;
use crate::proposal::Named;
use crate::report::{RecordReport, entry, model_entry};
use crate::surroundings::{Seen, Surroundings, Visits};
use crate::triggers::Trigger;
use crate::turn::Turn;
use crate::{Judge, RecordError, Recorder, known_to, places, turns_of};
use memories_document::types::{Memory, OFFLINE_TAG, Outcome, Provenance, Span, same_title};
use memories_llm::ModelUse;
use memories_store::journal::damage::Damage;
use memories_store::journal::entry::{Entry, MemoryEntry};
use memories_store::journal::{EarlierTurn, Journal, ResolvedTurns};
use memories_store::{Store, StoreError};

/// Consecutive failures after which the server counts as down.
pub const MAX_FAILURES: u32 = 2;

/// The turns that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Turns whose model call failed.
    Queued,
    /// Turns of which the built-in rules made a memory.
    Offline,
}

/// A turn that waits for a model.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The id of its line in the journal.
    pub id: String,
    /// The time at which it was recorded.
    pub time: String,
    /// Episode and number, for reports.
    pub label: String,
    turn: Value,
    triggers: Vec<String>,
    /// Titles of the memories that it added.
    stored: Vec<String>,
    history: Vec<Turn>,
    seen: Seen,
}

/// The queue as it was read.
pub struct Queue {
    /// The turns that wait, in the order in which they were played.
    pub turns: Vec<Waiting>,
    /// Turns that another process resolves meanwhile.
    pub resolved: ResolvedTurns,
    /// Lines of the journal that are damaged; turns of them may be lost.
    pub damage: Damage,
}

/// The result of an offer.
#[derive(Debug, Clone, PartialEq)]
pub enum Offer {
    /// The model answered, and its answer is written.
    Done(Box<RecordReport>),
    /// The model failed again; the turn still waits.
    Failed(String),
    /// Another process resolved it meanwhile.
    Gone,
}

/// The model's answer about a waiting turn, not yet written.
pub enum Asked {
    /// It answered.
    Judged(Box<TurnContext>, ModelOutcome),
    /// It failed.
    Failed(Box<ModelUse>),
}

/// The turns that wait.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn waiting(store: &Store, wanted: Wanted, window: usize) -> Result<Queue, StoreError> {
    let journal = Journal::of(store);
    // Where this is not possible, the next writer does it.
    let _ = store.without_waiting().complete_last_change();
    // Before the journal is read, so that no line is missed.
    let watch = journal.watch_queue()?;
    let mut found: Vec<Waiting> = Vec::new();
    let mut visits = Visits::default();
    let mut seen: HashSet<String> = HashSet::new();
    let mut resolved: HashSet<String> = HashSet::new();
    let mut history: VecDeque<EarlierTurn> = VecDeque::new();
    let mut damage = Damage::default();
    let aside = journal.aside()?;
    journal.visit_lines(|line| {
        let entry = damage.read::<Value>(&line).filter(|entry| !aside.has(entry.id.as_deref()));
        let Some(entry) = entry else { return };
        resolved.extend(entry.resolves.as_deref().map(str::to_owned));
        let Some(turn) = EarlierTurn::of(&entry) else { return };
        let (before, after) = places_of(&turn);
        if is_wanted(&entry, wanted)
            && let Some(id) = entry.id.as_deref()
            && seen.insert(id.to_owned())
        {
            let history = turns_of(history.iter().filter(|before| before.episode == turn.episode));
            let seen = visits.seen(before.unwrap_or_default(), after.or(before).unwrap_or_default());
            found.push(Waiting { history, seen, ..Waiting::of(&entry, id) });
        }
        if entry.resolves.is_none() {
            visits.pass(turn.episode, turn.number, before, after);
        }
        history.push_back(turn);
        if history.len() > window {
            history.pop_front();
        }
    })?;
    resolved.extend(damage.resolved.iter().cloned());
    found.retain(|waiting| !resolved.contains(&waiting.id));
    Ok(Queue { turns: found, resolved: watch, damage })
}

/// The places where a turn began and ended. Lines of the journal name them by id.
fn places_of(turn: &EarlierTurn) -> (Option<u64>, Option<u64>) {
    (turn.begins_at(), turn.turn["location_after"]["id"].as_u64())
}

fn is_wanted(entry: &Entry<'_, Value>, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Queued => entry.is_queued(),
        Wanted::Offline => {
            let name = entry.model.as_ref().and_then(|model| model.name.as_deref());
            name == Some(OFFLINE_TAG) && entry.memories.as_ref().is_some_and(|memories| !memories.is_empty())
        }
    }
}

impl Waiting {
    fn of(entry: &Entry<'_, Value>, id: &str) -> Waiting {
        let turn = entry.turn.clone().unwrap_or_default();
        let is_new = |memory: &&MemoryEntry<'_>| memory.has(Outcome::Stored);
        let stored = entry.memories.iter().flatten().filter(is_new);
        Waiting {
            id: id.to_owned(),
            time: entry.time.as_deref().unwrap_or_default().to_owned(),
            label: format!("Ep{} T{}", turn["episode"], turn["turn"]),
            triggers: entry.triggers.iter().flatten().map(|name| name.to_string()).collect(),
            stored: stored.filter_map(|memory| memory.title.as_deref().map(str::to_owned)).collect(),
            history: Vec::new(),
            seen: Seen::default(),
            turn,
        }
    }
}

impl Recorder<'_> {
    /// Offers a waiting turn to the model; without the lock, and nothing is written.
    ///
    /// # Errors
    ///
    /// See [`RecordError`]. A model that fails is no error.
    pub fn ask_again(&self, waiting: &Waiting) -> Result<Asked, RecordError> {
        let Some(context) = self.context_of(waiting)? else {
            let problem = Some("the journal's line holds no turn".to_owned());
            return Ok(Asked::Failed(Box::new(ModelUse { error: problem, ..ModelUse::offline() })));
        };
        let mut judged = self.judge.judge(&context, self.settings.language.as_deref());
        if let ModelOutcome::Failed(model) = &judged {
            return Ok(Asked::Failed(Box::new(model.clone())));
        }
        if let Judge::Model(_) = self.judge {
            replace_rule_made(&mut judged, &context, &waiting.stored);
        }
        Ok(Asked::Judged(Box::new(context), judged))
    }

    /// Writes what the model makes of a waiting turn, unless another process was faster.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn write_answer(
        &self,
        waiting: &Waiting,
        resolved: &mut ResolvedTurns,
        asked: Asked,
    ) -> Result<Offer, RecordError> {
        let (context, judged) = match asked {
            Asked::Judged(context, judged) => (context, judged),
            Asked::Failed(model) => return self.note_failure(&model),
        };
        let done = self.notebook.edit("retry", |draft| {
            if resolved.contains(&waiting.id)? {
                return Ok(Offer::Gone);
            }
            let now = draft.now.clone();
            let running = draft.state()?.episode;
            // No visits, no tries and no memory that the player asked for: these were written when it was played.
            let applying = self.applying(&context, &context.before, &context.after, &now, running);
            let report = RecordReport::of(&context, context.before.clone());
            let report = self.apply_judged(&mut draft.files, &applying, &judged, report)?;
            draft.note(Entry { resolves: Some((&waiting.id).into()), ..entry(&context, &report) });
            Ok::<_, RecordError>(Offer::Done(Box::new(report)))
        })?;
        Ok(done.value)
    }

    /// Notes an unusable answer of a model in the journal. The turn still waits.
    fn note_failure(&self, model: &ModelUse) -> Result<Offer, RecordError> {
        if model.answer.is_some() {
            self.notebook
                .edit("retry", |draft| {
                    let (outcome, model) = (Some(Outcome::Unchanged.into()), Some(model_entry(model)));
                    draft.note(Entry::<Value> { outcome, model, ..Entry::default() });
                    Ok::<_, RecordError>(())
                })
                .map(drop)?;
        }
        Ok(Offer::Failed(model.error.clone().unwrap_or_default()))
    }

    fn context_of(&self, waiting: &Waiting) -> Result<Option<TurnContext>, RecordError> {
        let mut turn = waiting.turn.clone();
        if let Some(fields) = turn.as_object_mut() {
            // The player's own memory was stored when the turn was recorded.
            fields.remove("remember");
        }
        let Ok(turn) = Turn::from_value(&turn) else { return Ok(None) };
        let files = self.notebook.read()?;
        let (before, after) = places::resolve(&files.lasting, &turn, false)?;
        let noticed = |trigger: &Trigger| waiting.triggers.iter().any(|name| name == <&str>::from(*trigger));
        let triggers: Vec<Trigger> = Trigger::VARIANTS.iter().copied().filter(noticed).collect();
        let memories = PlaceMemories::of(&files, &before, &after, &turn);
        let surroundings = Surroundings::of(&files, &before, &turn.witnesses(), waiting.seen.clone());
        let changes = Changes::of(&turn, before.id != after.id);
        let here = files.evidence_known_to(&before.scope(), &turn.witnesses());
        let episode = turn.episode.unwrap_or(1);
        let earlier = earlier(&files.lasting, &here, &turn, changes, episode);
        Ok(Some(TurnContext {
            episode,
            number: turn.turn.unwrap_or(1),
            changes,
            effect: effect_of(&turn, changes, &self.settings.replies, earlier, None),
            is_judged: !triggers.is_empty(),
            triggers,
            opened_by: Vec::new(),
            memories,
            history: known_to(&turn, waiting.history.clone()),
            surroundings,
            before,
            after,
            turn,
        }))
    }
}

/// Lets the model's memory supersede the entry that the built-in rules made of this turn alone: the first, where
/// they made several. Memories that the player asked for stay, and so do entries to which other turns contributed.
fn replace_rule_made(judged: &mut ModelOutcome, context: &TurnContext, stored: &[String]) {
    let ModelOutcome::Answered(proposal, _) = judged else { return };
    if proposal.memories.is_empty() {
        return;
    }
    let is_of_turn = |memory: &Memory| {
        let Provenance { episode, turns, .. } = memory.provenance;
        memory.has_tag(OFFLINE_TAG)
            && (episode, turns) == (Some(context.episode), Some(Span::one(context.number)))
    };
    let of_turn =
        || context.memories.before.iter().chain(&context.memories.after).filter(|memory| is_of_turn(memory));
    let first = stored.iter().find(|title| of_turn().any(|memory| memory.title == **title));
    let mut named = proposal.memories.iter().flat_map(|one| &one.supersedes);
    let title = first.filter(|title| !named.any(|named| same_title(&named.title, title))).cloned();
    if let Some(title) = title {
        proposal.memories[0].supersedes.push(Named { title, side: None, is_guess: false });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_places_of_a_turn_are_those_of_its_line() {
        let places = |turn| places_of(&EarlierTurn { turn, ..EarlierTurn::default() });
        assert_eq!(
            places(json!({"location_before": {"id": 5}, "location_after": {"id": 6}})),
            (Some(5), Some(6))
        );
        assert_eq!(places(json!({"location_before": {"id": 5}})), (Some(5), None));
        assert_eq!(places(json!({"location_after": {"id": 6}})), (Some(6), Some(6)));
        assert_eq!(places(json!({"location_before": {"name": "Hall"}})), (None, None));
    }
}
