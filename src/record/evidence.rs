//! Evidence of a turn, whatever the judge decides: what was carried, ways, what worked, and what was tried.
//!
//! The state of the game before and after decides. A caller who does not say whether the world changed is only
//! believed to have failed by a refusal, a direction that leads nowhere, or the same reply twice in an episode:
//! an action that succeeds again in one episode is answered otherwise the second time.

use crate::document::evidence::{FINAL_REPLY, is_same_reply, line_key};
use crate::document::text::{stored_line, stored_reply};
use crate::document::{Document, DocumentError, Section};
use crate::record::context::TurnContext;
use crate::record::places::Place;
use crate::record::refusal::{is_idle, is_not_understood, refuses};
use crate::record::rules::sentences::tells_death;
use crate::record::turn::Turn;
use crate::types::direction::Direction;
use crate::types::{Attempt, Carried, CarriedChange, Scope, Way, carried_at, fold_action, gained_since};

/// Brings the inventories to their stored form. Where the caller gave only inventory or score after the action, those
/// before it are taken from the turn before.
pub(super) fn complete(turn: &mut Turn, earlier: Option<&Turn>, carried: Option<&Carried>) {
    for items in [&mut turn.inventory_before, &mut turn.inventory_after].into_iter().flatten() {
        *items = items.iter().map(|item| stored_line(item)).filter(|item| !item.is_empty()).collect();
    }
    if turn.inventory_after.is_some() && turn.inventory_before.is_none() {
        let before = earlier.and_then(|earlier| earlier.inventory_after.clone());
        turn.inventory_before = before.or_else(|| carried.map(Carried::now));
    }
    if turn.score_after.is_some() && turn.score_before.is_none() {
        turn.score_before = earlier.and_then(|earlier| earlier.score_after);
    }
}

/// A turn whose evidence is to be written.
pub(super) struct TurnEvidence<'a> {
    pub(super) document: &'a mut Document,
    pub(super) context: &'a TurnContext,
    pub(super) before: &'a Place,
    pub(super) after: &'a Place,
    /// Tried actions that are kept of a place.
    pub(super) limit: usize,
}

impl TurnEvidence<'_> {
    /// Writes the evidence; the action, if it was noted as tried.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub(super) fn write(mut self) -> Result<Option<Attempt>, DocumentError> {
        let game = self.document.section_without_memories(&Scope::Game).unwrap_or_default();
        let carried = self.write_carried(&game)?;
        let action = stored_line(&self.context.turn.action);
        if action.is_empty() {
            return Ok(None);
        }
        let here = self.document.section_without_memories(&self.before.scope()).unwrap_or_default();
        if self.context.turn.died || tells_death(&self.context.turn.response) {
            self.write_deadly(&here, action)?;
            return Ok(None);
        }
        if !self.context.changes.nothing() {
            self.forget(&game, &action);
            let tried = here.tried.iter().find(|tried| is_same(&tried.action, &action));
            match self.before.id == self.after.id {
                true => self.write_worked(&here, action)?,
                false => self.write_way(&here, tried, &carried, &game, action)?,
            }
            self.document.remove_attempt(&self.before.scope(), &self.context.turn.action);
            return Ok(None);
        }
        if is_not_understood(&self.context.turn.response) {
            self.document.remove_attempt(&self.before.scope(), &action);
            let earlier = game.tried.iter().find(|tried| is_same(&tried.action, &action));
            let attempt = self.attempt(earlier, action, false);
            self.document.put_attempt(&Scope::Game, "", &attempt, self.limit)?;
            return Ok(Some(attempt));
        }
        if is_idle(&action) {
            return Ok(None);
        }
        self.forget(&game, &action);
        let earlier = here.tried.iter().find(|tried| is_same(&tried.action, &action));
        let failed = self.has_failed(earlier, &action);
        let attempt = self.attempt(earlier, action, !failed);
        self.document.put_attempt(&self.before.scope(), &self.before.name, &attempt, self.limit)?;
        Ok(Some(attempt))
    }

    /// The game understands the action after all.
    fn forget(&mut self, game: &Section, action: &str) {
        if game.tried.iter().any(|tried| is_same(&tried.action, action)) {
            self.document.remove_attempt(&Scope::Game, action);
        }
    }

    /// Notes what came and went. The answer is what was carried when the turn began.
    fn write_carried(&mut self, game: &Section) -> Result<Vec<String>, DocumentError> {
        let TurnContext { turn, episode, number, .. } = self.context;
        let known = game.carried.iter().find(|carried| carried.episode == *episode);
        let mut line = known.cloned().unwrap_or(Carried { episode: *episode, changes: Vec::new() });
        if let Some(before) = &turn.inventory_before {
            add_change(&mut line, number.saturating_sub(1), before);
        }
        let carried = line.now();
        if let Some(after) = &turn.inventory_after {
            add_change(&mut line, *number, after);
        }
        if known.map_or(!line.changes.is_empty(), |known| *known != line) {
            self.document.put_carried(&line)?;
        }
        Ok(carried)
    }

    /// Notes a direction in which the player died. Death is no way, and whether any other action killed nobody knows.
    fn write_deadly(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        if Direction::of(&action).is_none() {
            return Ok(());
        }
        let earlier = here.tried.iter().find(|tried| is_same(&tried.action, &action));
        let attempt = Attempt { deadly: true, ..self.attempt(earlier, action, false) };
        self.document.put_attempt(&self.before.scope(), &self.before.name, &attempt, self.limit)
    }

    fn write_worked(&mut self, here: &Section, action: String) -> Result<(), DocumentError> {
        let earlier = here.worked.iter().find(|worked| is_same(&worked.action, &action));
        let worked = self.attempt(earlier, action, false);
        self.document.put_worked(&self.before.scope(), &self.before.name, &worked, self.limit)
    }

    fn write_way(
        &mut self,
        here: &Section,
        tried: Option<&Attempt>,
        carried: &[String],
        game: &Section,
        action: String,
    ) -> Result<(), DocumentError> {
        let TurnContext { episode, number, .. } = self.context;
        let known = here.ways.iter().find(|way| way.to == self.after.id && is_same(&way.action, &action));
        let mut refused_without: Vec<String> =
            known.map(|way| way.refused_without.clone()).unwrap_or_default();
        // It led there without these, too.
        refused_without.retain(|item| gained_since(std::slice::from_ref(item), carried).is_empty());
        if let Some(tried) = tried.filter(|_| refused_without.is_empty()) {
            refused_without = self.lacking(here, tried, carried, game);
        }
        let leads_elsewhere = |way: &Way| way.to != self.after.id && is_same(&way.action, &action);
        let is_marked = here.ways.iter().any(leads_elsewhere);
        let way = Way {
            action: known.map_or(action, |way| way.action.clone()),
            to: self.after.id,
            name: self.after.name.clone(),
            count: known.map_or(0, |way| way.count).saturating_add(1),
            episode: is_marked.then_some(*episode),
            turn: is_marked.then_some(*number),
            refused_without,
        };
        self.document.put_way(&self.before.scope(), &self.before.name, &way)
    }

    /// The items that are carried and were not when an action was refused. None where nobody knows: its line has no
    /// mark, one that several actions share, or that of turn 0.
    fn lacking(&self, here: &Section, tried: &Attempt, carried: &[String], game: &Section) -> Vec<String> {
        let key = line_key(tried);
        let shared = here.tried.iter().filter(|other| line_key(other) == key).count() >= FINAL_REPLY;
        let (Some(episode), Some(turn)) = (tried.episode, tried.turn) else { return Vec::new() };
        if tried.effect_unknown || shared {
            return Vec::new();
        }
        let then = carried_at(&game.carried, episode, turn);
        then.map(|then| gained_since(carried, &then)).unwrap_or_default()
    }

    /// True if an action that changed nothing has failed; else its effect is unknown.
    fn has_failed(&self, earlier: Option<&Attempt>, action: &str) -> bool {
        let TurnContext { turn, episode, .. } = self.context;
        if turn.world_changed == Some(false) {
            return true;
        }
        let refused = refuses(&turn.response);
        let was_unknown = earlier.is_some_and(|earlier| earlier.effect_unknown);
        let same = earlier.filter(|earlier| is_same_reply(earlier, &turn.response));
        let again = same.is_some_and(|same| !was_unknown || same.episode == Some(*episode) || refused);
        again || (turn.has_pairs() && !was_unknown && (refused || Direction::of(action).is_some()))
    }

    /// The action with its count and the moment and reply of this turn.
    fn attempt(&self, earlier: Option<&Attempt>, action: String, effect_unknown: bool) -> Attempt {
        Attempt {
            count: earlier.map_or(0, |earlier| earlier.count).saturating_add(1),
            action: earlier.map_or(action, |earlier| earlier.action.clone()),
            episode: Some(self.context.episode),
            turn: Some(self.context.number),
            reply: stored_reply(&self.context.turn.response),
            effect_unknown,
            deadly: false,
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    fold_action(one) == fold_action(other)
}

/// Adds what came and went by a turn, if what is carried then is not what the line says.
fn add_change(line: &mut Carried, turn: u64, items: &[String]) {
    let now = line.now();
    let (gained, lost) = (gained_since(items, &now), gained_since(&now, items));
    if !gained.is_empty() || !lost.is_empty() {
        line.changes.push(CarriedChange { turn, gained, lost });
    }
}
