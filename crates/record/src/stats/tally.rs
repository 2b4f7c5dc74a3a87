//! Counts the journal in one pass, without keeping its lines.
//!
//! Entries enter one by one, oldest first; the journal's part of [`crate::stats::figures::Stats`] leaves.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::effect::Effect;
use crate::stats::figures::{EpisodeFigures, Milestone, ModelFigures, QueueFigures, TurnFigures};
use memories_document::types::instant::Instant;
use memories_document::types::{Outcome, fold_action};
use memories_store::journal::entry::{Entry, MemoryEntry, ModelEntry, PlayedTurn};

/// The counts so far.
#[derive(Debug, Default)]
pub struct Tally {
    pub(super) turns: TurnFigures,
    pub(super) models: Vec<ModelFigures>,
    pub(super) episodes: BTreeMap<u64, EpisodeFigures>,
    /// The first episode in which a memory of a place was written.
    pub(super) known_since: HashMap<u64, u64>,
    /// Places, each with the hash of an action that changed nothing there when it was last tried.
    without_effect: HashSet<(u64, u64)>,
    /// Queued lines by their id: number of the line, and its time.
    waiting: HashMap<String, (u64, String)>,
    lines: u64,
}

/// The effect of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnEffect {
    /// It changed nothing that the game shows.
    pub no_effect: bool,
    /// And neither did the same action at that place when it was last tried.
    pub repeated: bool,
}

impl Tally {
    /// Counts an entry. Returns the effect of its turn, if it has one that was not counted before.
    pub fn count(&mut self, line: &Entry<'_>) -> Option<TurnEffect> {
        let mut effect = None;
        self.lines += 1;
        if let Some(model) = &line.model {
            self.count_model(model);
            if let Some(turn) = &line.turn {
                let episode = self.episodes.entry(turn.episode.unwrap_or(1)).or_default();
                episode.model_calls += model.calls.unwrap_or(0);
                episode.cost += model.cost.unwrap_or(0.0);
            }
        }
        let outcome = line.outcome.as_deref().unwrap_or_default();
        if let Some(turn) = &line.turn {
            self.count_memories(turn.episode.unwrap_or(1), line.memories.iter().flatten());
        }
        if let Some(resolved) = &line.resolves {
            // The turn was counted when it was played; only its outcome is new.
            if self.waiting.remove(&**resolved).is_some() && line.turn.is_some() {
                *self.turns.outcomes.entry(Outcome::Queued.name().to_owned()).or_insert(1) -= 1;
                self.turns.count_outcome(outcome);
            }
        } else if let Some(turn) = &line.turn {
            self.turns.count_outcome(outcome);
            effect = Some(self.count_turn(turn, line));
        }
        if line.is_queued()
            && let Some(id) = line.id.as_deref()
        {
            let time = line.time.as_deref().unwrap_or_default().to_owned();
            self.waiting.entry(id.to_owned()).or_insert((self.lines, time));
        }
        effect
    }

    /// The turns that wait for a model. `now` is the present time, RFC 3339.
    pub(super) fn queue(&self, now: &str) -> QueueFigures {
        let oldest = self.waiting.values().min().map(|(_, time)| time.clone());
        let seconds = |time: &str| Instant::of(time).map(Instant::as_second);
        let age = oldest.as_deref().and_then(seconds).zip(seconds(now)).map(|(then, now)| now - then);
        QueueFigures {
            turns: self.waiting.len() as u64,
            oldest,
            oldest_seconds: age.and_then(|age| u64::try_from(age).ok()),
        }
    }

    fn count_turn(&mut self, turn: &PlayedTurn<'_>, line: &Entry<'_>) -> TurnEffect {
        if let Some(time) = line.time.as_deref() {
            self.turns.since.get_or_insert_with(|| time.to_owned());
            self.turns.until = Some(time.to_owned());
        }
        let judged = line.effect.as_deref().and_then(|effect| effect.parse::<Effect>().ok());
        // Older lines state no effect: what they noted as tried had none.
        let nothing = judged.map_or_else(|| line.has(Outcome::Tried), Effect::had_none);
        let repeated = self.is_repeated(turn, nothing);
        let episode = self.episodes.entry(turn.episode.unwrap_or(1)).or_default();
        episode.turns += 1;
        episode.no_effect += u64::from(nothing);
        episode.repeated_no_effect += u64::from(repeated);
        episode.deaths += u64::from(turn.died == Some(true));
        episode.reach(turn.score_before, turn.score_after);
        self.turns.recorded += 1;
        self.turns.no_effect += u64::from(nothing);
        self.turns.repeated_no_effect += u64::from(repeated);
        TurnEffect { no_effect: nothing, repeated }
    }

    fn count_memories<'a>(&mut self, number: u64, memories: impl Iterator<Item = &'a MemoryEntry<'a>>) {
        for memory in memories {
            let episode = self.episodes.entry(number).or_default();
            if memory.has(Outcome::Stored) {
                episode.stored += 1;
            } else if memory.has(Outcome::Revised) {
                episode.revised += 1;
            } else {
                continue;
            }
            let scope = memory.scope.as_deref().unwrap_or_default();
            if let Some(place) = scope.strip_prefix("location:").and_then(|id| id.parse().ok()) {
                let since = self.known_since.entry(place).or_insert(number);
                *since = number.min(*since);
            }
        }
    }

    /// True if the turn changes nothing, as the same action at the same place did when it was last
    /// tried.
    fn is_repeated(&mut self, turn: &PlayedTurn<'_>, nothing: bool) -> bool {
        let Some(place) = turn.place() else { return false };
        let action = fold_action(turn.action.as_deref().unwrap_or_default());
        if action.is_empty() {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        action.hash(&mut hasher);
        let key = (place, hasher.finish());
        if nothing {
            !self.without_effect.insert(key)
        } else {
            self.without_effect.remove(&key);
            false
        }
    }

    fn count_model(&mut self, model: &ModelEntry<'_>) {
        let name = model.name.as_deref().unwrap_or_default();
        let known = self.models.iter().position(|figures| figures.name == name);
        let at = known.unwrap_or_else(|| {
            self.models.push(ModelFigures { name: name.to_owned(), ..ModelFigures::default() });
            self.models.len() - 1
        });
        let figures = &mut self.models[at];
        figures.questions += 1;
        figures.failed += u64::from(model.error.is_some());
        figures.calls += model.calls.unwrap_or(0);
        figures.input_tokens += model.input_tokens.unwrap_or(0);
        figures.output_tokens += model.output_tokens.unwrap_or(0);
        figures.cost += model.cost.unwrap_or(0.0);
    }
}

impl TurnFigures {
    fn count_outcome(&mut self, outcome: &str) {
        *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
    }
}

impl EpisodeFigures {
    fn reach(&mut self, before: Option<i64>, after: Option<i64>) {
        self.best_score = self.best_score.or(before);
        let Some(after) = after.filter(|after| self.best_score.is_none_or(|best| *after > best)) else {
            return;
        };
        // The first known score is not a milestone: the episode started with it.
        if self.best_score.replace(after).is_some() {
            self.milestones.push(Milestone { score: after, turns: self.turns });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tally(lines: &[Value]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            let line = line.to_string();
            if let Some(entry) = Entry::parse(&line) {
                tally.count(&entry);
            }
        }
        tally
    }

    fn turn(episode: u64, place: u64, action: &str, more: Value) -> Value {
        let mut turn = json!({"episode": episode, "turn": 1, "action": action, "response": "No.",
            "location_before": {"id": place, "name": "Somewhere"}, "died": false});
        for (name, value) in more.as_object().unwrap() {
            turn[name] = value.clone();
        }
        let effect = turn.as_object_mut().unwrap().remove("effect").unwrap_or("refused".into());
        json!({"version": 1, "id": "a", "time": "2026-01-31T10:00:00Z", "outcome": "tried", "effect": effect, "turn": turn})
    }

    #[test]
    fn a_repeat_is_in_vain_again_at_the_same_place() {
        let tally = tally(&[
            turn(1, 5, "take rug", json!({})),
            turn(1, 5, "  TAKE   rug", json!({})),
            turn(1, 6, "take rug", json!({})),
            turn(2, 5, "take rug", json!({})),
            turn(2, 5, "take rug", json!({"effect": "changed"})),
            turn(2, 5, "take rug", json!({})),
            turn(2, 5, "", json!({})),
            turn(2, 5, "", json!({})),
        ]);
        let counts = |episode: u64| {
            let episode = &tally.episodes[&episode];
            (episode.turns, episode.no_effect, episode.repeated_no_effect)
        };
        assert_eq!(counts(1), (3, 3, 1));
        assert_eq!(counts(2), (5, 4, 1));
        assert_eq!(tally.turns.repeated_no_effect, 2);
    }

    #[test]
    fn the_effect_counts_and_in_older_lines_the_outcome() {
        let changed =
            |effect: &str| tally(&[turn(1, 5, "wait", json!({"effect": effect}))]).turns.no_effect == 0;
        for (effect, is_change) in [("moved", true), ("died", true), ("unknown", false), ("looked", false)] {
            assert_eq!(changed(effect), is_change, "{effect}");
        }
        let older = |outcome: &str| {
            let mut line = turn(1, 5, "wait", json!({}));
            line.as_object_mut().unwrap().remove("effect");
            line["outcome"] = outcome.into();
            tally(&[line]).turns.no_effect
        };
        assert_eq!((older("tried"), older("stored")), (1, 0));
    }

    #[test]
    fn memories_are_counted_where_they_were_first_written() {
        let mut first = turn(2, 5, "x", json!({}));
        first["memories"] = json!([{"outcome": "stored", "scope": "location:6"}, {"outcome": "duplicate", "scope": "location:5"}]);
        let mut second = turn(3, 5, "x", json!({}));
        second["memories"] =
            json!([{"outcome": "revised", "scope": "location:6"}, {"outcome": "stored", "scope": "world"}]);
        let tally = tally(&[first, second]);
        assert_eq!((tally.episodes[&2].stored, tally.episodes[&2].revised), (1, 0));
        assert_eq!((tally.episodes[&3].stored, tally.episodes[&3].revised), (1, 1));
        assert_eq!(tally.known_since, HashMap::from([(6, 2)]));
    }

    #[test]
    fn milestones_are_new_best_scores() {
        let score =
            |before: i64, after: i64| turn(1, 5, "x", json!({"score_before": before, "score_after": after}));
        let tally = tally(&[score(0, 0), score(0, 5), score(5, 2), score(2, 5), score(5, 15)]);
        let reached: Vec<(i64, u64)> = tally.episodes[&1]
            .milestones
            .iter()
            .map(|milestone| (milestone.score, milestone.turns))
            .collect();
        assert_eq!(reached, [(5, 2), (15, 5)]);
    }

    #[test]
    fn the_queue_and_what_a_retry_settles() {
        let mut first = turn(1, 5, "x", json!({}));
        first["outcome"] = json!("queued");
        first["model"] = json!({"name": "m", "calls": 3, "error": "down"});
        let mut second = first.clone();
        second["id"] = json!("b");
        second["time"] = json!("2026-01-31T10:10:00Z");
        let mut settled = turn(1, 5, "x", json!({}));
        settled["outcome"] = json!("stored");
        settled["resolves"] = json!("a");
        settled["model"] =
            json!({"name": "m", "calls": 1, "input_tokens": 900, "output_tokens": 80, "cost": 0.5});
        let corrected = json!({"version": 1, "outcome": "corrected", "corrected": []});
        let tally = tally(&[first, second, settled, corrected, json!(["no object"]), json!({"turn": 7})]);
        assert_eq!(tally.turns.recorded, 2);
        let outcomes: Vec<(&str, u64)> =
            tally.turns.outcomes.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(outcomes, [("queued", 1), ("stored", 1)]);
        let queue = tally.queue("2026-01-31T10:40:00Z");
        assert_eq!((queue.turns, queue.oldest_seconds), (1, Some(1800)));
        let model = &tally.models[0];
        assert_eq!((model.questions, model.failed, model.calls, model.input_tokens), (3, 2, 7, 900));
        assert!((model.cost - 0.5).abs() < 1e-9);
    }
}
