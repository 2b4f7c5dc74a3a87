//! Evidence of a turn, independent of the judge's decision: ways, worked actions, seen actions and tries.
//!
//! The effect of the turn decides where its action is listed: see [`crate::effect`].

use crate::changes::Changes;
use crate::context::TurnContext;
use crate::death::is_of_the_direction;
use crate::effect::{Earlier, Effect, is_of_another};
use crate::places::Place;
use crate::replies::{answer, is_refusal};
use crate::turn::Turn;
use memories_document::evidence::is_same_reply;
use memories_document::text::{stored_line, stored_reply};
use memories_document::types::direction::Direction;
use memories_document::types::text::cut_at_sentence;
use memories_document::types::{Attempt, Scope, TryResult, Way, asks_for_status, is_same_action};
use memories_document::{Document, DocumentError, RegionKind, Section};

/// Longest text that is kept of what a look showed, in characters.
pub(super) const SEEN_CHARS: usize = 40;

/// Brings the inventories to their stored form. Where the caller gave only inventory or score after the action, those
/// before it are taken from the turn before.
pub(super) fn complete(turn: &mut Turn, earlier: Option<&Turn>) {
    for items in [&mut turn.inventory_before, &mut turn.inventory_after].into_iter().flatten() {
        *items = items.iter().map(|item| stored_line(item)).filter(|item| !item.is_empty()).collect();
    }
    if turn.inventory_after.is_some() && turn.inventory_before.is_none() {
        turn.inventory_before = earlier.and_then(|earlier| earlier.inventory_after.clone());
    }
    if turn.score_after.is_some() && turn.score_before.is_none() {
        turn.score_before = earlier.and_then(|earlier| earlier.score_after);
    }
}

/// The last try of an action in a section, if it never worked since.
pub(super) fn earlier_try<'a>(section: &'a Section, action: &str) -> Option<&'a Attempt> {
    section.tried.iter().find(|tried| is_same_action(&tried.action, action))
}

/// Evidence about the action of a turn at the place of a section.
pub(super) fn earlier<'a>(
    document: &Document,
    here: &'a Section,
    turn: &Turn,
    changes: Changes,
    episode: u64,
) -> Earlier<'a> {
    let attempt = earlier_try(here, &turn.action);
    let leads_nowhere = changes == Changes::default() && Direction::of(&turn.action).is_some();
    Earlier { attempt, is_wall: leads_nowhere && is_wall(document, attempt, turn, episode) }
}

/// Places at which a reply refused directions before it counts as the game's reply for "no way there".
const PLACES_WITH_WALLS: usize = 2;

/// True if a direction that leads nowhere was refused in the same words in another episode, or if the same words
/// refused directions at several places. An obstacle that two episodes did not change is a wall, and so is one at
/// several places.
fn is_wall(document: &Document, attempt: Option<&Attempt>, turn: &Turn, episode: u64) -> bool {
    let present = turn.witnesses();
    let is_refused = |tried: &Attempt| {
        tried.witnesses.cover(&present)
            && matches!(tried.result, TryResult::Blocked | TryResult::Vain)
            && is_same_reply(tried, &answer(&turn.response))
    };
    let is_known =
        |tried: &Attempt| tried.result.is_vain() || tried.episode.is_some_and(|then| then != episode);
    if attempt.is_some_and(|tried| is_refused(tried) && is_known(tried)) {
        return true;
    }
    let reply = stored_reply(&answer(&turn.response));
    if reply.is_empty() {
        return false;
    }
    let is_direction = |tried: &&Attempt| Direction::of(&tried.action).is_some() && is_refused(tried);
    let places = document.sections_with(reply);
    let with_walls = places.filter(|(_, section)| section.tried.iter().any(|tried| is_direction(&tried)));
    with_walls.take(PLACES_WITH_WALLS).count() == PLACES_WITH_WALLS
}

/// A turn whose evidence is to be written.
pub(super) struct TurnEvidence<'a> {
    pub(super) document: &'a mut Document,
    pub(super) context: &'a TurnContext,
    /// The effect of the turn.
    pub(super) effect: Effect,
    pub(super) before: &'a Place,
    pub(super) after: &'a Place,
    /// Actions of one kind that are kept of a place.
    pub(super) limit: usize,
}

impl TurnEvidence<'_> {
    /// Writes the evidence; the action, if it was noted as tried.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub(super) fn write(mut self) -> Result<Option<Attempt>, DocumentError> {
        let action = stored_line(&self.context.turn.action);
        if action.is_empty() || self.effect == Effect::Idle || is_of_another(&action) {
            return Ok(None);
        }
        let here = self.known(&self.before.scope());
        let present = self.context.turn.witnesses();
        if !matches!(self.effect, Effect::UnknownWord | Effect::NotUnderstood | Effect::Died) {
            // The game understands the action after all.
            self.document.remove_attempt(&Scope::Game, &action, &present);
        }
        match self.effect {
            Effect::Died => self.write_death(&here, action)?,
            Effect::Looked => self.write_seen(&here, action)?,
            effect if effect.is_success() => {
                if self.before.id == self.after.id {
                    self.write_worked(&here, action)?
                } else {
                    self.write_way(&here, action)?
                }
                self.document.remove_attempt(&self.before.scope(), &self.context.turn.action, &present);
            }
            Effect::UnknownWord => {
                self.document.remove_attempt(&self.before.scope(), &action, &present);
                return self.write_not_understood(action).map(Some);
            }
            effect => {
                let Some(result) = effect.tried() else { return Ok(None) };
                if effect == Effect::NotUnderstood && self.is_understood_nowhere(&action) {
                    self.write_not_understood(action.clone())?;
                }
                return self.write_try(&here, action, result).map(Some);
            }
        }
        Ok(None)
    }

    fn write_try(
        &mut self,
        here: &Section,
        action: String,
        result: TryResult,
    ) -> Result<Attempt, DocumentError> {
        let attempt = self.attempt(earlier_try(here, &action), action, result);
        self.put(RegionKind::Tried, &attempt)?;
        Ok(attempt)
    }

    /// Lists an attempt at the place where it was made.
    fn put(&mut self, list: RegionKind, attempt: &Attempt) -> Result<(), DocumentError> {
        self.document.put_attempt(&self.before.scope(), &self.before.name, list, attempt, self.limit)
    }

    /// Notes for all places that the parser does not understand the action.
    fn write_not_understood(&mut self, action: String) -> Result<Attempt, DocumentError> {
        let game = self.known(&Scope::Game);
        let key = Scope::Game.key_of_action(&action);
        let earlier = game.tried.iter().find(|tried| Scope::Game.key_of_action(&tried.action) == key);
        let attempt = self.attempt(earlier, action, TryResult::Vain);
        self.document.put_attempt(&Scope::Game, "", RegionKind::Tried, &attempt, self.limit)?;
        Ok(attempt)
    }

    /// True if the parser did not understand the action at another place either, and it worked at none. What was not
    /// understood at one place alone may name a thing that is elsewhere.
    fn is_understood_nowhere(&self, action: &str) -> bool {
        let (mut was_tried, present) = (false, self.context.turn.witnesses());
        for (scope, mut section) in self.document.sections_with_action(action) {
            section.keep_known(&scope, |witnesses| witnesses.cover(&present));
            let has_worked =
                section.worked.iter().chain(&section.seen).any(|done| is_same_action(&done.action, action));
            if has_worked || section.ways.iter().any(|way| is_same_action(&way.action, action)) {
                return false;
            }
            let is_meant = |tried: &&Attempt| is_same_action(&tried.action, action) && tried.result.is_vain();
            was_tried |= scope != self.before.scope() && section.tried.iter().any(|tried| is_meant(&tried));
        }
        was_tried
    }

    /// Notes a direction in which the player died. Death is no way, and it is unknown whether another action killed.
    /// A direction that the game refused led nowhere.
    fn write_death(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        if Direction::of(&action).is_none() || is_refusal(&self.context.turn.response) {
            return Ok(());
        }
        let earlier = earlier_try(here, &action);
        let killed_before =
            earlier.is_some_and(|earlier| matches!(earlier.result, TryResult::Deadly | TryResult::Died));
        let is_its_own = killed_before || is_of_the_direction(&self.context.turn.response);
        let result = if is_its_own { TryResult::Deadly } else { TryResult::Died };
        self.write_try(here, action, result).map(drop)
    }

    fn write_worked(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        let earlier = here.worked.iter().find(|worked| is_same_action(&worked.action, &action));
        let worked = self.attempt(earlier, action, TryResult::Vain);
        self.put(RegionKind::Worked, &Attempt { reply: String::new(), ..worked })
    }

    /// Notes what a look showed: at its place, or for all places where it asked for what goes along with the player.
    fn write_seen(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        let game = self.known(&Scope::Game);
        let (scope, name, section) = if asks_for_status(&action) {
            (Scope::Game, "", &game)
        } else {
            (self.before.scope(), self.before.name.as_str(), here)
        };
        let earlier = section.seen.iter().find(|seen| is_same_action(&seen.action, &action));
        let seen = self.attempt(earlier, action, TryResult::Vain);
        let seen = Attempt { reply: cut_at_sentence(&seen.reply, SEEN_CHARS), ..seen };
        self.document.put_attempt(&scope, name, RegionKind::Seen, &seen, self.limit)
    }

    fn write_way(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        let TurnContext { turn, episode, number, opened_by, .. } = self.context;
        let known =
            here.ways.iter().find(|way| way.to == self.after.id && is_same_action(&way.action, &action));
        let leads_elsewhere = |way: &Way| way.to != self.after.id && is_same_action(&way.action, &action);
        let witnesses = turn.witnesses();
        let listed = self.document.section_without_memories(&self.before.scope()).unwrap_or_default();
        let is_marked = !witnesses.is_everybody() || listed.ways.iter().any(leads_elsewhere);
        let way = Way {
            action: known.map_or(action, |way| way.action.clone()),
            to: self.after.id,
            name: self.after.name.clone(),
            count: known.map_or(0, |way| way.count).saturating_add(1),
            episode: is_marked.then_some(*episode),
            turn: is_marked.then_some(*number),
            after: opened_by.clone(),
            witnesses,
        };
        self.document.put_way(&self.before.scope(), &self.before.name, &way)
    }

    /// The action with its count and the moment and reply of this turn.
    fn attempt(&self, earlier: Option<&Attempt>, action: String, result: TryResult) -> Attempt {
        Attempt {
            count: earlier.map_or(0, |earlier| earlier.count).saturating_add(1),
            action: earlier.map_or(action, |earlier| earlier.action.clone()),
            episode: Some(self.context.episode),
            turn: Some(self.context.number),
            reply: stored_reply(&answer(&self.context.turn.response)),
            result,
            witnesses: self.context.turn.witnesses(),
        }
    }

    /// The evidence of a scope that all know who were present.
    fn known(&self, scope: &Scope) -> Section {
        self.document.evidence_known_to(scope, &self.context.turn.witnesses())
    }
}
