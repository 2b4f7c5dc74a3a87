//! The group `recalling`: past episodes, facts, interactions and similar situations.

use serde_json::json;

use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::character::Character;
use crate::mcp::parameter::ArgumentType::{Integer, Text};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::searching::{found, is_initial, relevance_note};
use crate::mcp::tools::tool::{Call, Effect, Tool};
use crate::mcp::tools::who::known;
use memories_document::types::instant::{Instant, day};
use memories_document::types::{Memory, Scope, Status, fold_title};
use memories_search::Hit;
use memories_search::filter::{Filter, MemoryKind};

/// Upper limit of memories in an answer.
const LIMIT: usize = 10;

/// Factor of the confidence in a tentative fact; a confirmed one has 1.
const TENTATIVE_FACTOR: f32 = 0.6;

const QUERY: Parameter = Parameter::new("query", Text, "events to look for, in words")
    .required("say what you want to recall, such as `the troll`");
const TIME_RANGE: Parameter = Parameter::new(
    "time_range",
    Text,
    "turns, an episode or days: `3-8`, `3-`, `Ep2`, `Ep2 3-8`, `2026-01-31`",
);
const IMPORTANCE_THRESHOLD: Parameter =
    Parameter::new("importance_threshold", Integer, "leave out what is less important, 1-1000");
const TOPIC: Parameter = Parameter::new("topic", Text, "a thing, rule or place")
    .required("name the topic, such as `the trap door`");
const CHARACTER: Parameter = Parameter::new("character", Text, "name or id").required("say with whom");
const CONTEXT: Parameter = Parameter::new("context", Text, "your situation and plan, in a sentence")
    .required("describe the situation in a sentence");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "recall_episodes",
        title: "Recall episodes",
        about: "Events that match, in order of time. Use when order or time matters.",
        effect: Effect::Reads,
        parameters: &[QUERY, TIME_RANGE, IMPORTANCE_THRESHOLD],
        answer: schema::MEMORIES,
        run: recall_episodes,
    },
    Tool {
        name: "recall_facts",
        title: "Recall facts",
        about: "Facts without events and dialogue, each with a confidence from 0 to 1. Use before you rely on one.",
        effect: Effect::Reads,
        parameters: &[TOPIC],
        answer: schema::MEMORIES,
        run: recall_facts,
    },
    Tool {
        name: "recall_interactions",
        title: "Recall interactions",
        about: "All that passed between you and a character, in order of time. Use when you meet them again.",
        effect: Effect::Reads,
        parameters: &[CHARACTER],
        answer: schema::MEMORIES,
        run: recall_interactions,
    },
    Tool {
        name: "check_similar_situations",
        title: "Check similar situations",
        about: "How situations like this one went. Use before a risky decision.",
        effect: Effect::Reads,
        parameters: &[CONTEXT],
        answer: schema::MEMORIES,
        run: check_similar_situations,
    },
];

fn recall_episodes(call: &Call<'_>) -> Result<Answer, Refusal> {
    let query = call.arguments.required(&QUERY)?;
    let range =
        call.arguments.text(&TIME_RANGE)?.map(|text| parse_range(&text)).transpose()?.unwrap_or_default();
    let filter = Filter {
        episodes: range.episode.into_iter().collect(),
        min_turn: range.first,
        max_turn: range.last,
        min_importance: call.arguments.lowest_importance(&IMPORTANCE_THRESHOLD)?,
        ..Filter::default()
    };
    // Memories without a time are not episodes.
    let is_wanted = |hit: &Hit| is_timed(&hit.memory) && range.has_day(hit.memory.provenance.date.as_deref());
    let earned = |hit: &Hit| is_wanted(hit) && !is_initial(&hit.scope, &hit.memory);
    let mut hits = call.memories.search_for(call.watcher, &query, &filter, LIMIT, earned)?;
    hits.sort_by_time();
    Ok(found(&query, &hits, relevance_note))
}

/// True if a memory happened at some time: it has an episode or a turn, or is of a kind that only grows and has a date.
/// The date of other memories says only when they were written.
fn is_timed(memory: &Memory) -> bool {
    let fields = &memory.provenance;
    let is_dated = memory.category.only_grows() && fields.date.is_some();
    fields.episode.is_some() || fields.turns.is_some() || is_dated
}

/// The time to which a search is limited: an episode, turns or days. What is missing sets no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct TimeRange {
    episode: Option<u64>,
    first: Option<u64>,
    last: Option<u64>,
    /// First and last day in UTC, as `2026-01-31`.
    days: Option<(String, String)>,
}

impl TimeRange {
    /// True if no days are set, or the date is on one of them.
    fn has_day(&self, date: Option<&str>) -> bool {
        let Some((first, last)) = &self.days else { return true };
        date.filter(|date| Instant::of(date).is_some())
            .map(day)
            .is_some_and(|date| (first..=last).contains(&&date))
    }
}

/// Reads `3-8`, `3-`, `-8`, `5`, `T3-8`, `Ep2`, `Ep2 T3-8`, `2026-01-31` or `2026-01-31..2026-02-03`.
fn parse_range(text: &str) -> Result<TimeRange, Refusal> {
    let wrong = || {
        Refusal::new(format!("`{text}` is not a time range"))
            .hint("write turns `3-8`, `3-` or `-8`, an episode `Ep2`, both `Ep2 3-8`, or days `2026-01-31..2026-02-03`")
    };
    let number = |part: &str| match part.trim().trim_start_matches(['T', 't']) {
        "" => Ok(None),
        digits => digits.parse().map(Some).map_err(|_| wrong()),
    };
    let mut range = TimeRange::default();
    for part in text.split([' ', ',']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        if Instant::of(first).is_some() && Instant::of(last).is_some() {
            range.days = Some((day(first), day(last)));
            continue;
        }
        match part.to_lowercase().strip_prefix("ep") {
            Some(episode) => range.episode = Some(episode.parse().map_err(|_| wrong())?),
            None => {
                let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
                (range.first, range.last) = (number(first)?, number(last)?);
            }
        }
    }
    let turns_end_first = range.first.zip(range.last).is_some_and(|(first, last)| first > last);
    let days_end_first = range.days.as_ref().is_some_and(|(first, last)| first > last);
    if range == TimeRange::default() || turns_end_first || days_end_first {
        return Err(wrong());
    }
    Ok(range)
}

/// Confidence in a fact from 0 to 1: its relevance, reduced if it is tentative.
fn confidence(hit: &Hit) -> f32 {
    let status = if hit.memory.status == Status::Tentative { TENTATIVE_FACTOR } else { 1.0 };
    hit.relevance * status
}

fn recall_facts(call: &Call<'_>) -> Result<Answer, Refusal> {
    let topic = call.arguments.required(&TOPIC)?;
    // Dialogue and events are not facts.
    let is_fact = |hit: &Hit| !hit.memory.category.only_grows();
    let mut hits = call.memories.search_for(call.watcher, &topic, &Filter::default(), LIMIT, is_fact)?;
    hits.hits.sort_by(|a, b| confidence(b).total_cmp(&confidence(a)));
    let mut answer = found(&topic, &hits, |hit| format!("confidence {:.2}", confidence(hit)));
    for (at, hit) in hits.hits.iter().enumerate() {
        let rounded = (f64::from(confidence(hit)) * 1000.0).round() / 1000.0;
        answer.data["memories"][at]["confidence"] = json!(rounded);
    }
    Ok(answer)
}

fn recall_interactions(call: &Call<'_>) -> Result<Answer, Refusal> {
    let name = call.arguments.required(&CHARACTER)?;
    // Somebody without a section may be named in the memories of others and of places.
    let (character, unknown) = match known(call.memories, &name) {
        Ok(character) => (character, None),
        Err(refusal) => (Character::by_name(&name), Some(refusal)),
    };
    let called = character.called().to_owned();
    let tag = format!("about:{}", character.id);
    let own = call.memories.setup.agent.clone().map(Scope::Agent);
    let is_history = |scope: &Scope| match scope {
        Scope::Agent(_) => own.as_ref() == Some(scope),
        Scope::Scene => false,
        _ => true,
    };
    let is_about = |memory: &Memory| {
        memory.provenance.tags.iter().any(|own| fold_title(own) == tag)
            || character.is_named_in(&memory.title)
            || character.is_named_in(&memory.text)
    };
    let concerns = |Hit { scope, memory, .. }: &Hit| {
        matches!(scope, Scope::Npc(id) if *id == character.id) || is_history(scope) && is_about(memory)
    };
    let question = format!("what happened between me and {called}?");
    let mut hits = call.memories.search(call.watcher, &question, &Filter::default(), usize::MAX, true)?;
    hits.hits.retain(concerns);
    if let Some(refusal) = unknown.filter(|_| hits.hits.is_empty()) {
        return Err(refusal);
    }
    hits.hits.truncate(LIMIT);
    hits.sort_by_time();
    let mut answer = found(&question, &hits, relevance_note);
    if hits.hits.is_empty() {
        answer.text = format!("Nothing has passed between you and {called} yet.\n");
    }
    Ok(answer)
}

fn check_similar_situations(call: &Call<'_>) -> Result<Answer, Refusal> {
    let context = call.arguments.required(&CONTEXT)?;
    let kinds =
        vec![MemoryKind::Place, MemoryKind::Episodic, MemoryKind::Character, MemoryKind::CharacterKnowledge];
    let filter = Filter { kinds, ..Filter::default() };
    let earned = |hit: &Hit| !is_initial(&hit.scope, &hit.memory);
    let hits = call.memories.search_for(call.watcher, &context, &filter, 5, earned)?;
    Ok(found(&context, &hits, relevance_note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ranges() {
        let range = |episode, first, last| Ok(TimeRange { episode, first, last, days: None });
        assert_eq!(parse_range("3-8"), range(None, Some(3), Some(8)));
        assert_eq!(parse_range("T3 "), range(None, Some(3), Some(3)));
        assert_eq!(parse_range("3-"), range(None, Some(3), None));
        assert_eq!(parse_range("Ep2 t3–8"), range(Some(2), Some(3), Some(8)));
        assert_eq!(parse_range("ep2"), range(Some(2), None, None));
        for wrong in ["8-3", "yesterday", "-", "Ep", "2026-01-32", "2026-01-31..2026-01-30"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
        let days = parse_range("Ep2 2026-01-31..2026-02-01").unwrap();
        assert_eq!(days.episode, Some(2));
        for (date, is_inside) in [
            ("2026-01-30", false),
            ("2026-01-31", true),
            ("2026-01-30T23:00:00-05:00", true),
            ("2026-02-01T23:59:59Z", true),
            ("2026-02-02", false),
            ("one day", false),
        ] {
            assert_eq!(days.has_day(Some(date)), is_inside, "{date}");
        }
        assert!(!days.has_day(None) && parse_range("3").unwrap().has_day(None));
    }

    #[test]
    fn the_date_of_what_only_grows_is_its_time() {
        let dated = |category: &str| {
            let mut memory = Memory::new(category.parse().unwrap(), "A", "It was so.");
            assert!(!is_timed(&memory));
            memory.provenance.date = Some("2026-01-31".to_owned());
            is_timed(&memory)
        };
        assert_eq!(["SESSION", "EVENT", "DIALOGUE", "NOTE"].map(dated), [true, true, true, false]);
    }
}
