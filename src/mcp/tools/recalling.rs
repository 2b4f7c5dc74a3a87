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
use crate::search::Hit;
use crate::search::filter::{Filter, MemoryKind};
use crate::types::instant::Instant;
use crate::types::{Memory, Scope, Status, fold_title};

/// Upper limit of memories in an answer.
const LIMIT: usize = 10;

/// Factor of the confidence in a tentative fact; a confirmed one has 1.
const TENTATIVE_FACTOR: f32 = 0.6;

const QUERY: Parameter = Parameter::new("query", Text, "events to look for, in words")
    .required("say what you want to recall, such as `the troll`");
const TIME_RANGE: Parameter =
    Parameter::new("time_range", Text, "only these turns or this episode: `3-8`, `3-`, `Ep2` or `Ep2 3-8`");
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
        answer: schema::memories,
        run: recall_episodes,
    },
    Tool {
        name: "recall_facts",
        title: "Recall facts",
        about: "Facts without events and dialogue, each with a confidence from 0 to 1. Use before you rely on one.",
        effect: Effect::Reads,
        parameters: &[TOPIC],
        answer: schema::memories,
        run: recall_facts,
    },
    Tool {
        name: "recall_interactions",
        title: "Recall interactions",
        about: "All that passed between you and a character, in order of time. Use when you meet them again.",
        effect: Effect::Reads,
        parameters: &[CHARACTER],
        answer: schema::memories,
        run: recall_interactions,
    },
    Tool {
        name: "check_similar_situations",
        title: "Check similar situations",
        about: "How situations like this one went. Use before a risky decision.",
        effect: Effect::Reads,
        parameters: &[CONTEXT],
        answer: schema::memories,
        run: check_similar_situations,
    },
];

/// Sorts by time; memories without a time come first.
fn by_time(hits: &mut [Hit]) {
    hits.sort_by_key(|hit| {
        let fields = &hit.memory.provenance;
        let date = fields.date.as_deref().and_then(Instant::of);
        (fields.episode, fields.turns.map(|turns| (turns.first, turns.last)), date)
    });
}

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
    let timed = |hit: &Hit| hit.memory.provenance.episode.is_some() || hit.memory.provenance.turns.is_some();
    let earned = |hit: &Hit| timed(hit) && !is_initial(&hit.scope, &hit.memory);
    let mut hits = call.memories.search_for(call.watcher, &query, &filter, LIMIT, earned)?;
    by_time(&mut hits.hits);
    Ok(found(&query, &hits, relevance_note))
}

/// A range of turns, an episode, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TurnRange {
    episode: Option<u64>,
    first: Option<u64>,
    last: Option<u64>,
}

/// Reads `3-8`, `3-`, `-8`, `5`, `T3-8`, `Ep2` or `Ep2 T3-8`.
fn parse_range(text: &str) -> Result<TurnRange, Refusal> {
    let wrong = || {
        Refusal::new(format!("`{text}` is not a time range"))
            .hint("write turns `3-8`, `3-` or `-8`, an episode `Ep2`, or both `Ep2 3-8`")
    };
    let number = |part: &str| match part.trim().trim_start_matches(['T', 't']) {
        "" => Ok(None),
        digits => digits.parse().map(Some).map_err(|_| wrong()),
    };
    let mut range = TurnRange::default();
    for part in text.split([' ', ',']).filter(|part| !part.is_empty()) {
        match part.to_lowercase().strip_prefix("ep") {
            Some(episode) => range.episode = Some(episode.parse().map_err(|_| wrong())?),
            None => {
                let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
                (range.first, range.last) = (number(first)?, number(last)?);
            }
        }
    }
    if range == TurnRange::default() || range.first.zip(range.last).is_some_and(|(first, last)| first > last)
    {
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
    by_time(&mut hits.hits);
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
        let range = |episode, first, last| Ok(TurnRange { episode, first, last });
        assert_eq!(parse_range("3-8"), range(None, Some(3), Some(8)));
        assert_eq!(parse_range("T3 "), range(None, Some(3), Some(3)));
        assert_eq!(parse_range("3-"), range(None, Some(3), None));
        assert_eq!(parse_range("Ep2 t3–8"), range(Some(2), Some(3), Some(8)));
        assert_eq!(parse_range("ep2"), range(Some(2), None, None));
        for wrong in ["8-3", "yesterday", "-", "Ep"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
    }
}
