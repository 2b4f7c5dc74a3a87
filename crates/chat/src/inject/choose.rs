//! Chooses the memories to inject.
//!
//! Candidates that a search found enter; memories as they are injected leave: ranked by importance ×
//! recency × similarity, without duplicates, as many as the tokens allow.

use crate::inject::block::{InjectedMemory, render};
use crate::settings::ChatSettings;
use memories_document::types::instant::{Instant, age_in_words};
use memories_document::types::{Memory, Scope, fold_title};
use memories_notebook::duplicates::says_the_same;
use memories_recall::budget::{cut_at_sentence, estimate_tokens};

/// Half-life of the recency factor in days. The factor falls from 1 towards 0.5.
const HALF_LIFE_DAYS: f64 = 30.0;

/// Half-life in episodes, for a memory without a date.
const HALF_LIFE_EPISODES: f64 = 5.0;

/// Shortest beginning of a memory that is worth injecting, in characters.
const LEAST_CHARS: usize = 30;

/// A memory that may be injected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// Its section.
    pub scope: Scope,
    /// The name of that place or character; may be empty.
    pub name: String,
    /// The same as people read it.
    pub place: String,
    /// The memory, read in full.
    pub memory: Memory,
    /// Its similarity to the conversation, from 0 to 1.
    pub similarity: f32,
}

impl Candidate {
    /// True if both are the same entry.
    pub(crate) fn is_same_entry(&self, other: &Candidate) -> bool {
        self.scope == other.scope && self.memory == other.memory
    }
}

/// Ranks candidates and chooses among them.
pub fn choose(mut candidates: Vec<Candidate>, settings: &ChatSettings, now: &str) -> Vec<InjectedMemory> {
    let newest = candidates.iter().filter_map(|candidate| candidate.memory.provenance.episode).max();
    let score = |candidate: &Candidate| {
        let importance = f64::from(candidate.memory.importance()) / 1000.0;
        importance * recency(&candidate.memory, newest, now) * f64::from(candidate.similarity)
    };
    candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let mut memories: Vec<InjectedMemory> = Vec::new();
    for candidate in &candidates {
        if memories.len() >= settings.max_injected {
            break;
        }
        if memories.iter().any(|other| says_the_same(&other.memory.text, &candidate.memory.text)) {
            continue;
        }
        if let Some(memory) = fitted(&memories, as_injected(candidate, now), settings) {
            memories.push(memory);
        }
    }
    memories
}

/// The memory as it fits after the others: whole; the first one truncated where it is too long alone.
fn fitted(
    others: &[InjectedMemory],
    memory: InjectedMemory,
    settings: &ChatSettings,
) -> Option<InjectedMemory> {
    let fits = |memory: &InjectedMemory| {
        let all: Vec<InjectedMemory> = others.iter().cloned().chain([memory.clone()]).collect();
        estimate_tokens(&render(&all, &settings.style)) <= settings.max_tokens
    };
    if fits(&memory) {
        return Some(memory);
    }
    if !others.is_empty() {
        return None;
    }
    let with = |text: &str| InjectedMemory { summary: text.to_owned(), ..memory.clone() };
    let summary = cut_at_sentence(&memory.summary, |text| fits(&with(text)))?;
    (summary.chars().count() >= LEAST_CHARS).then(|| with(&summary))
}

/// Days from the date of a memory to now, which is RFC 3339; `None` where it has no date.
pub(super) fn days_since(memory: &Memory, now: &str) -> Option<f64> {
    let date = memory.provenance.date.as_deref().and_then(Instant::of)?;
    Some(Instant::of(now)?.days_since(date))
}

/// From 0.5 for an old memory to 1; by date, else by episode, else 1.
fn recency(memory: &Memory, newest: Option<u64>, now: &str) -> f64 {
    let fields = &memory.provenance;
    let half_lives = match days_since(memory, now) {
        Some(days) => days / HALF_LIFE_DAYS,
        None => {
            let age = newest.unwrap_or(0).saturating_sub(fields.episode.or(newest).unwrap_or(0));
            age as f64 / HALF_LIFE_EPISODES
        }
    };
    0.5 + 0.5 * 0.5_f64.powf(half_lives)
}

fn as_injected(candidate: &Candidate, now: &str) -> InjectedMemory {
    let Candidate { scope, name, place, memory, similarity: _ } = candidate;
    let fields = &memory.provenance;
    let age = match (days_since(memory, now), fields.episode) {
        (Some(days), _) => age_in_words(days),
        (None, Some(episode)) => format!("episode {episode}"),
        (None, None) => "undated".to_owned(),
    };
    InjectedMemory {
        scope: scope.clone(),
        name: name.clone(),
        memory: memory.clone(),
        category: memory.category.to_string(),
        importance: ((memory.importance() + 50) / 100).clamp(1, 10),
        age,
        summary: summary(memory),
        context: memory.context.clone().unwrap_or_else(|| origin(scope, place, memory)),
    }
}

/// Title and text; only the text where it begins with the title, or the title only says where it comes from.
fn summary(memory: &Memory) -> String {
    let (title, text) = (memory.title.trim_end_matches('…'), memory.text.as_str());
    let head = fold_title(title);
    match (text.is_empty(), memory.category.only_grows() || fold_title(text).starts_with(&head)) {
        (true, _) => memory.title.clone(),
        (false, true) => text.to_owned(),
        (false, false) => format!("{}. {text}", memory.title.trim_end_matches(['.', ':'])),
    }
}

/// `Living Room, episode 1, turn 45`, as far as it is known.
fn origin(scope: &Scope, place: &str, memory: &Memory) -> String {
    let mut parts = Vec::new();
    match scope {
        Scope::World | Scope::Scene | Scope::Dialogue | Scope::Game => {}
        _ => parts.push(place.to_owned()),
    }
    parts.extend(memory.provenance.episode.map(|episode| format!("episode {episode}")));
    parts.extend(memory.provenance.turns.map(|turns| format!("turn {}", turns.first)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::types::Category;

    const NOW: &str = "2026-01-31T10:40:00Z";

    fn candidate(text: &str, importance: u16, similarity: f32) -> Candidate {
        let mut memory = Memory::new(Category::note(), text, text);
        memory.provenance.importance = Some(importance);
        Candidate { scope: Scope::World, name: String::new(), place: String::new(), memory, similarity }
    }

    fn summaries(candidates: Vec<Candidate>, settings: &ChatSettings) -> Vec<String> {
        choose(candidates, settings, NOW).into_iter().map(|memory| memory.summary).collect()
    }

    #[test]
    fn rank_is_importance_by_recency_by_similarity() {
        let mut old = candidate("The old well is dry.", 600, 0.5);
        old.memory.provenance.date = Some("2020-01-01".to_owned());
        let all = vec![
            candidate("A lamp hangs here.", 500, 0.5),
            old,
            candidate("Trolls eat everything.", 400, 0.9),
            candidate("The bridge fell down.", 900, 0.2),
        ];
        let order =
            ["Trolls eat everything.", "A lamp hangs here.", "The bridge fell down.", "The old well is dry."];
        assert_eq!(summaries(all.clone(), &ChatSettings::default()), order);
        let fewer = ChatSettings { max_injected: 2, ..ChatSettings::default() };
        assert_eq!(summaries(all, &fewer), order[..2]);
    }

    #[test]
    fn duplicates_are_held_back_but_not_the_contrary() {
        let all = vec![
            candidate("The northern gate is unguarded at dawn.", 800, 0.5),
            candidate("the northern gate is unguarded at dawn", 700, 0.5),
            candidate("The northern gate is never unguarded at dawn.", 600, 0.5),
            candidate("Marcus lies when he is cornered.", 100, 0.5),
        ];
        let expected = [
            "The northern gate is unguarded at dawn.",
            "The northern gate is never unguarded at dawn.",
            "Marcus lies when he is cornered.",
        ];
        assert_eq!(summaries(all, &ChatSettings::default()), expected);
    }

    #[test]
    fn tokens_are_kept_within_their_limit() {
        let long = "The gate is far away from here. ".repeat(60);
        let all = vec![candidate(&long, 900, 0.9), candidate("A lamp hangs here.", 500, 0.5)];
        for max_tokens in [120, 200, 500] {
            let settings = ChatSettings { max_tokens, ..ChatSettings::default() };
            let chosen = choose(all.clone(), &settings, NOW);
            assert!(!chosen.is_empty());
            assert!(estimate_tokens(&render(&chosen, &settings.style)) <= max_tokens);
        }
        assert!(choose(all, &ChatSettings { max_tokens: 10, ..ChatSettings::default() }, NOW).is_empty());
    }

    #[test]
    fn a_memory_as_it_is_injected() {
        let mut place = candidate("It drops shut behind you.", 940, 0.9);
        place.memory.title = "Trap door".to_owned();
        place.memory.provenance.episode = Some(2);
        place.scope = Scope::Location(24);
        place.place = "Cellar".to_owned();
        let chosen = as_injected(&place, NOW);
        assert_eq!((chosen.importance, chosen.age.as_str()), (9, "episode 2"));
        assert_eq!(chosen.summary, "Trap door. It drops shut behind you.");
        assert_eq!(chosen.context, "Cellar, episode 2");
        let auto = candidate("A lamp hangs here.", 1, 0.9);
        let chosen = as_injected(&auto, NOW);
        assert_eq!(
            (chosen.importance, chosen.summary.as_str(), chosen.context.as_str()),
            (1, "A lamp hangs here.", "")
        );
    }
}
