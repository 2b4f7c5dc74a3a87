//! The openers of a way: the actions that changed something at its place, in the same visit, before it was walked.
//!
//! A turn that leaves a place enters, with the knowledge of memory file and journal about it; actions leave. The
//! openers of a way stay until use shows that it is open without them.

use crate::changes::Changes;
use crate::effect::{Effect, is_talk};
use crate::places::Place;
use crate::turn::Turn;
use memories_document::types::{Attempt, Witnesses, fold_action, is_same_action};
use memories_document::{Document, Section};
use memories_store::StoreError;
use memories_store::journal::{EarlierTurn, Journal};

/// Actions that a way keeps of those that opened it.
const MAX_OPENERS: usize = 3;

/// A turn that leaves a place, and what memory file and journal know of it.
pub(super) struct Leaving<'a> {
    pub(super) journal: &'a Journal,
    pub(super) document: &'a Document,
    /// The section of the place that is left.
    pub(super) here: &'a Section,
    pub(super) before: &'a Place,
    pub(super) after: &'a Place,
    pub(super) episode: u64,
    pub(super) action: &'a str,
    /// Those who are present.
    pub(super) present: &'a Witnesses,
}

impl Leaving<'_> {
    /// The actions that opened the way, oldest first.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(super) fn opened_by(&self) -> Result<Vec<String>, StoreError> {
        let is_same = |action: &str| is_same_action(action, self.action);
        let known = self.here.ways.iter().find(|way| way.to == self.after.id && is_same(&way.action));
        let is_now = |done: &Attempt| done.episode == Some(self.episode);
        let was_refused = self.here.tried.iter().any(|tried| is_now(tried) && is_same(&tried.action));
        let mut stay = if was_refused || self.here.worked.iter().any(is_now) {
            self.journal.turns_of_stay(self.episode, self.before.id)?
        } else {
            Vec::new()
        };
        stay.retain(|turn| self.is_known(turn));
        let refused = stay.iter().rposition(|turn| effect(turn).is_denied() && is_same(action_of(turn)));
        stay.drain(..refused.map_or(0, |at| at + 1));
        let mut opened = openers(&stay, opens);
        if refused.is_some() && opened.is_empty() {
            opened = openers(&stay, may_open);
        }
        opened.drain(..opened.len().saturating_sub(MAX_OPENERS));
        let Some(way) = known else { return Ok(opened) };
        // Later in an episode less may be needed than at its beginning.
        let is_precise = refused.is_some() && !opened.is_empty() && self.is_first_arrival();
        if is_precise { Ok(opened) } else { self.still_needed(&way.after) }
    }

    fn is_known(&self, turn: &EarlierTurn) -> bool {
        turn.witnesses().cover(self.present)
    }

    /// True if the episode has not been at the end of the way before.
    fn is_first_arrival(&self) -> bool {
        let end = self.document.section_without_memories(&self.after.scope()).unwrap_or_default();
        !end.episodes.contains(&self.episode)
    }

    /// The known openers of a way, without those that this walk shows to be needless. All are kept if something else
    /// changed at the place in this episode, because it may be an opener in other words, and if the episode was at
    /// the end of the way before, because the way may have been opened from there.
    fn still_needed(&self, known: &[String]) -> Result<Vec<String>, StoreError> {
        let done = self.here.worked.iter().filter(|worked| worked.episode == Some(self.episode));
        let done: Vec<String> = done.map(|worked| fold_action(&worked.action)).collect();
        let needed: Vec<String> =
            known.iter().filter(|action| done.contains(&fold_action(action))).cloned().collect();
        if needed.len() == known.len() || !self.is_first_arrival() {
            return Ok(known.to_vec());
        }
        let Some(mut turns) = self.journal.turns_of_episode(self.episode)? else { return Ok(known.to_vec()) };
        turns.retain(|turn| turn.begins_at() == Some(self.before.id) && self.is_known(turn));
        let is_known = |action: &String| known.iter().any(|other| is_same_action(other, action));
        Ok(if openers(&turns, opens).iter().all(is_known) { needed } else { known.to_vec() })
    }
}

/// The actions of turns that opened something, oldest first.
fn openers(turns: &[EarlierTurn], opens: impl Fn(&EarlierTurn) -> bool) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    for turn in turns.iter().filter(|turn| opens(turn)) {
        let action = action_of(turn);
        actions.retain(|other| !is_same_action(other, action));
        actions.push(action.to_owned());
    }
    actions
}

/// Beginnings of actions that open no way: they take or leave a thing, also where the turn says nothing of what is
/// carried, or change a light, which goes along with the player.
const OPENS_NOTHING: [&str; 8] =
    ["take ", "drop ", "leave ", "light ", "extinguish ", "turn on ", "turn off ", "switch "];

/// True if something moved, opened or appeared in a turn, and nothing was only taken or left.
fn opens(turn: &EarlierTurn) -> bool {
    let folded = fold_action(action_of(turn));
    if OPENS_NOTHING.iter().any(|verb| folded.starts_with(verb)) {
        return false;
    }
    match effect(turn) {
        Effect::Changed | Effect::Revealed => true,
        Effect::Scored => Turn::from_value(&turn.turn).is_ok_and(|turn| !Changes::of(&turn, false).gained),
        Effect::Lost => is_talk(action_of(turn)),
        _ => false,
    }
}

/// True if nobody knows whether something changed in a turn.
fn may_open(turn: &EarlierTurn) -> bool {
    matches!(effect(turn), Effect::Answered | Effect::Unseen | Effect::Unknown)
}

fn effect(turn: &EarlierTurn) -> Effect {
    turn.effect.parse().unwrap_or_default()
}

fn action_of(turn: &EarlierTurn) -> &str {
    turn.turn["action"].as_str().unwrap_or_default().trim()
}
