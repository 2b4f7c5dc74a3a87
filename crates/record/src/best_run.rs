//! The best run of a game: the actions of an episode that earned its points.
//!
//! The turns of an episode enter; its run leaves, without actions that earned nothing. A better run replaces the
//! present one. Later episodes update it: a gain that is made again is counted, and one that is denied is marked.

use std::cmp::Reverse;

use crate::changes::score_change;
use crate::context::TurnContext;
use crate::effect::{Effect, is_idle};
use crate::places::{Place, RecordError};
use crate::turn::Turn;
use memories_document::run::{BEST_RUN, Earned, Gain, Run};
use memories_document::types::{
    Category, Memory, Moment, Scope, Span, Witnesses, fold_action, is_same_action, is_witness_tag,
};
use memories_document::{Document, DocumentError};
use memories_notebook::files::Files;
use memories_notebook::replace_own;
use memories_store::journal::{EarlierTurn, Journal};

/// Longest reply that only says that time passes, in characters.
const TIME_PASSES: usize = 40;

/// A turn of an episode, as far as a run needs it.
#[derive(Debug, Clone)]
struct Played {
    turn: Turn,
    number: u64,
    effect: Effect,
    before: Place,
    after: Place,
}

/// The run of an episode so far, and how good it is.
#[derive(Debug, Clone, Default)]
struct Earnings {
    run: Run,
    worth: Worth,
    turns: Option<Span>,
    /// Those who know all of its turns.
    witnesses: Witnesses,
}

/// How good a run is: its score, a victory, the furthest goal that it reached, and how few turns it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    score: Option<i64>,
    won: bool,
    goal: Option<usize>,
    turns: Option<Reverse<u64>>,
}

impl Worth {
    fn of(run: &Run, goals: &[u64], score: Option<i64>, turns: Option<Span>) -> Worth {
        let turns = turns.map(|turns| Reverse(turns.last.saturating_sub(turns.first)));
        Worth { score, won: run.has_won(), goal: furthest(run, goals), turns }
    }
}

/// The best run of a game, while a turn of an episode may change it.
pub(super) struct BestRun<'a> {
    pub(super) episode: u64,
    /// The number of the turn.
    pub(super) number: u64,
    /// Ids of places that are goals, the furthest last.
    pub(super) goals: &'a [u64],
}

/// Makes the run of an episode the best one, up to its last turn. The sentence about it; `None` where no turn of the
/// episode is known.
///
/// # Errors
///
/// When the journal cannot be read, or the file cannot take the edit.
pub fn mark(files: &mut Files, journal: &Journal, episode: u64) -> Result<Option<String>, RecordError> {
    let turns = journal.turns_of_episode(episode)?.unwrap_or_default();
    let turns: Vec<Played> = turns.iter().filter_map(Played::of).collect();
    let Some(last) = turns.last() else { return Ok(None) };
    let marked = BestRun { episode, number: last.number, goals: &[] };
    let details = marked.write(files, &Earnings::to_the_end(&turns, last), None)?;
    Ok(Some(format!("The run of episode {episode} is the best one now{details}.")))
}

impl BestRun<'_> {
    /// Keeps the run of the episode where this turn makes it the best, else what the turn teaches of the best one. The
    /// sentence about what was done.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read, or the file cannot take the edit.
    pub(super) fn keep(
        &self,
        files: &mut Files,
        journal: &Journal,
        context: &TurnContext,
        effect: Effect,
    ) -> Result<Option<String>, RecordError> {
        let now = Played::now(context, effect);
        let has_earned = now.earned(self.goals).is_some();
        if !has_earned && !effect.is_denied() {
            // Most turns teach nothing of a run, which need not be read for them.
            return Ok(None);
        }
        let old = files.live_with_title(&Scope::Game, BEST_RUN);
        let known = old.as_ref().and_then(|old| Some((Run::of(old)?, old)));
        if !has_earned {
            if let Some((run, old)) = known {
                self.mark_failed(files, old, run, &now)?;
            }
            return Ok(None);
        }
        // A journal that does not reach back to the beginning of the episode does not tell the run.
        let Some(earlier) = journal.turns_of_episode(self.episode)? else { return Ok(None) };
        let mut turns: Vec<Played> = earlier.iter().filter_map(Played::of).collect();
        turns.push(now);
        let earned = Earnings::of(&turns, self.goals);
        match known {
            Some((run, old)) if earned.worth <= self.worth_of(old, &run) => {
                if old.provenance.episode != Some(self.episode) {
                    self.learn(files, old, run, &earned)?;
                }
                Ok(None)
            }
            known => {
                let known = known.as_ref().map(|(run, old)| (run, *old));
                let details = self.write(files, &earned, known)?;
                Ok(Some(format!("this is the best run so far{details}")))
            }
        }
    }

    /// Writes the run into the file. Its score, and what became of the one before, to follow a sentence.
    fn write(
        &self,
        files: &mut Files,
        earned: &Earnings,
        known: Option<(&Run, &Memory)>,
    ) -> Result<String, DocumentError> {
        let mut run = earned.run.clone();
        let last = run.gains.len().saturating_sub(1);
        let is_again = known.is_some_and(|(_, old)| old.provenance.episode != Some(self.episode));
        for (at, gain) in run.gains.iter_mut().enumerate() {
            let same = known.and_then(|(run, _)| run.gains.iter().find(|other| is_same_gain(other, gain)));
            // The gains before were counted when they were made.
            gain.count = same.map_or(1, |same| same.count.saturating_add(u64::from(is_again && at == last)));
        }
        let score = earned.worth.score.map_or(String::new(), |score| format!(", with a score of {score}"));
        let mut memory = Memory::new(Category::procedure(), BEST_RUN, run.write());
        memory.provenance.episode = Some(self.episode);
        memory.provenance.turns = earned.turns;
        memory.provenance.score = earned.worth.score;
        memory.provenance.tags = earned.witnesses.tags();
        let at = self.moment();
        let was_changed = replace_own(files, &Scope::Game, memory, &at)?;
        let struck = if was_changed { "; the one that a person had changed is struck" } else { "" };
        Ok(format!("{score}{struck}"))
    }

    /// How good the run in the file is.
    fn worth_of(&self, memory: &Memory, run: &Run) -> Worth {
        Worth::of(run, self.goals, memory.provenance.score, memory.provenance.turns)
    }

    fn moment(&self) -> Moment {
        Moment { episode: Some(self.episode), turn: Some(self.number), ..Moment::default() }
    }

    /// Counts a gain that was made again in this episode. One that is marked as failed gets the actions by which it was
    /// made now.
    fn learn(
        &self,
        files: &mut Files,
        old: &Memory,
        mut run: Run,
        earned: &Earnings,
    ) -> Result<(), DocumentError> {
        let Some(made) = earned.run.gains.last() else { return Ok(()) };
        let mut old = old.clone();
        let is_meant = |gain: &&mut Gain| gain.at.id == made.at.id && gain.earned == made.earned;
        if let Some(gain) = run.gains.iter_mut().find(|gain| is_same_gain(gain, made)) {
            gain.count = gain.count.saturating_add(1);
            gain.failed = None;
        } else if let Some(gain) = run.gains.iter_mut().filter(is_meant).find(|gain| gain.failed.is_some()) {
            (gain.steps, gain.failed, gain.count) = (made.steps.clone(), None, 1);
            let witnesses = old.provenance.witnesses().and(earned.witnesses.clone());
            old.provenance.tags.retain(|tag| !is_witness_tag(tag));
            old.provenance.tags.extend(witnesses.tags());
        } else {
            return Ok(());
        }
        self.rewrite(files, &old, &run)
    }

    /// Marks the gain whose last action was denied at its place.
    fn mark_failed(
        &self,
        files: &mut Files,
        old: &Memory,
        mut run: Run,
        now: &Played,
    ) -> Result<(), DocumentError> {
        let episode = self.episode;
        if old.provenance.episode == Some(episode) {
            return Ok(());
        }
        let is_last = |gain: &&mut Gain| {
            let last = gain.steps.last().is_some_and(|last| is_same_action(last, &now.turn.action));
            last && gain.at.id == now.before.id && gain.failed.is_none()
        };
        match run.gains.iter_mut().find(is_last) {
            Some(gain) => gain.failed = Some(episode),
            None => return Ok(()),
        }
        self.rewrite(files, old, &run)
    }

    /// Writes what was learned of a run; one that a person changed stays as it is.
    fn rewrite(&self, files: &mut Files, old: &Memory, run: &Run) -> Result<(), DocumentError> {
        if !files.is_by_rules(&Scope::Game, old) {
            return Ok(());
        }
        replace_own(files, &Scope::Game, Memory { text: run.write(), ..old.clone() }, &self.moment())
            .map(drop)
    }
}

/// The ids of places that the settings name, by ids or names. What names no place yet is none of them.
pub(super) fn goals(document: &Document, named: &[String]) -> Vec<u64> {
    let id = |named: &String| {
        let called =
            document.headings().find(|heading| heading.is_called(named)).map(|heading| &heading.scope);
        match (named.parse(), called) {
            (Ok(id), _) => Some(id),
            (_, Some(Scope::Location(id))) => Some(*id),
            _ => None,
        }
    };
    named.iter().filter_map(id).collect()
}

impl Played {
    /// A turn that was judged.
    fn now(context: &TurnContext, effect: Effect) -> Played {
        let TurnContext { turn, number, before, after, .. } = context;
        let (before, after) = (before.clone(), after.clone());
        Played { turn: turn.clone(), number: *number, effect, before, after }
    }

    fn of(earlier: &EarlierTurn) -> Option<Played> {
        let place = |field: &str| {
            let place = &earlier.turn[field];
            let name = place["name"].as_str().unwrap_or_default().to_owned();
            Some(Place { id: place["id"].as_u64()?, name })
        };
        let before = place("location_before").or_else(|| place("location_after"))?;
        Some(Played {
            turn: Turn::from_value(&earlier.turn).ok()?,
            number: earlier.number?,
            effect: earlier.effect.parse().unwrap_or_default(),
            after: place("location_after").unwrap_or_else(|| before.clone()),
            before,
        })
    }

    /// The gain that the turn made, if it made one.
    fn earned(&self, goals: &[u64]) -> Option<Earned> {
        let has_moved = self.before.id != self.after.id;
        if self.effect == Effect::Won {
            return Some(Earned::Won);
        }
        match score_change(&self.turn) {
            Some(points @ 1..) => Some(Earned::Points(points)),
            _ if has_moved && goals.contains(&self.after.id) => Some(Earned::Reached),
            _ => None,
        }
    }

    /// True if a run needs the action as far as anybody can tell.
    fn is_kept(&self) -> bool {
        let tells_more = || self.turn.response.trim().chars().count() > TIME_PASSES;
        match self.effect {
            Effect::Answered | Effect::Unknown => true,
            Effect::Idle => is_idle(&self.turn.action) && tells_more(),
            effect => effect.is_success(),
        }
    }
}

impl Earnings {
    /// The gains of an episode up to the turn with its highest score.
    fn of(turns: &[Played], goals: &[u64]) -> Earnings {
        let mut best = Earnings::default();
        gains(turns, goals, |run, turn, witnesses| {
            let turns = span(turns, turn);
            let worth = Worth::of(run, goals, turn.turn.score_after, Some(turns));
            if worth > best.worth {
                let (run, witnesses) = (run.clone(), witnesses.clone());
                best = Earnings { run, worth, turns: Some(turns), witnesses };
            }
        });
        best
    }

    /// The gains of an episode, and its actions behind them up to the last turn, which a person marked.
    fn to_the_end(turns: &[Played], last: &Played) -> Earnings {
        let (mut run, steps, mut witnesses) = gains(turns, &[], |_, _, _| {});
        witnesses = steps.iter().map(|step| step.turn.witnesses()).fold(witnesses, Witnesses::and);
        if !steps.is_empty() {
            run.gains.push(gain(Earned::Done, last, &steps));
        }
        let score = run.gains.iter().any(|gain| gain.points() > 0).then_some(last.turn.score_after).flatten();
        let worth = Worth { score, ..Worth::default() };
        Earnings { run, worth, turns: Some(span(turns, last)), witnesses }
    }
}

/// The run of an episode, shown to `gained` after each gain with those who know all of its steps, and what was done since
/// the last one, without detours.
fn gains<'p>(
    turns: &'p [Played],
    goals: &[u64],
    mut gained: impl FnMut(&Run, &Played, &Witnesses),
) -> (Run, Vec<&'p Played>, Witnesses) {
    let mut run = Run { begins_at: turns.first().map(|turn| turn.before.clone()), gains: Vec::new() };
    let mut witnesses = turns.first().map(|turn| turn.turn.witnesses()).unwrap_or_default();
    let mut steps: Vec<&Played> = Vec::new();
    let mut reached: Vec<u64> = Vec::new();
    for turn in turns {
        let is_new = |earned: &Earned| *earned != Earned::Reached || !reached.contains(&turn.after.id);
        if let Some(earned) = turn.earned(goals).filter(is_new) {
            steps.push(turn);
            reached.push(turn.after.id);
            witnesses = steps.iter().map(|step| step.turn.witnesses()).fold(witnesses, Witnesses::and);
            run.gains.push(gain(earned, turn, &std::mem::take(&mut steps)));
            gained(&run, turn, &witnesses);
        } else if turn.is_kept() {
            steps.push(turn);
            cut_detour(&mut steps);
        }
    }
    (run, steps, witnesses)
}

fn gain(earned: Earned, turn: &Played, steps: &[&Played]) -> Gain {
    let steps = steps.iter().map(|step| step.turn.action.trim().to_owned()).collect();
    Gain { earned, at: turn.after.clone(), turn: Some(turn.number), count: 1, failed: None, steps }
}

/// The turns of an episode up to one of them.
fn span(turns: &[Played], last: &Played) -> Span {
    let first = turns.first().map_or(last.number, |first| first.number);
    Span { first: first.min(last.number), last: last.number }
}

/// Takes away the walking by which the last step came back to a place at which the run was since its last other action.
fn cut_detour(steps: &mut Vec<&Played>) {
    let Some(back_at) = steps.last().map(|step| step.after.id) else { return };
    let walked = steps.iter().rev().take_while(|step| step.effect == Effect::Moved).count();
    let start = steps.len() - walked;
    if let Some(at) = steps[start..].iter().position(|step| step.before.id == back_at) {
        steps.truncate(start + at);
    }
}

/// The number of the furthest goal that a run reached.
fn furthest(run: &Run, goals: &[u64]) -> Option<usize> {
    let reached = run.gains.iter().filter(|gain| gain.earned == Earned::Reached);
    reached.filter_map(|gain| goals.iter().position(|goal| *goal == gain.at.id)).max()
}

/// True if two gains are of the same points at the same place by the same last action.
fn is_same_gain(one: &Gain, other: &Gain) -> bool {
    let last = |gain: &Gain| gain.steps.last().map(|last| fold_action(last));
    one.at.id == other.at.id && one.earned == other.earned && last(one) == last(other)
}
