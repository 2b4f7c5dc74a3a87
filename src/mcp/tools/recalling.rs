//! The group `recalling`: past episodes, facts, interactions and similar situations.

use serde_json::json;

use crate::mcp::access::{Character, is_article};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::parameter::ArgumentType::{Integer, Text};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::places::{found, relevance_note};
use crate::mcp::tools::schema;
use crate::mcp::tools::tool::{Call, Effect, Tool};
use crate::mcp::tools::who::{is_initial, known};
use crate::search::Hit;
use crate::search::filter::{Filter, MemoryKind};
use crate::types::{Scope, Status};

/// Upper limit of memories in an answer.
const LIMIT: usize = 10;

/// Factor of the confidence in a tentative fact; a confirmed one has 1.
const TENTATIVE_FACTOR: f32 = 0.6;

const QUERY: Parameter =
    Parameter::new("query", Text).required("say what you want to recall, such as `the troll`");
const TIME_RANGE: Parameter =
    Parameter::new("time_range", Text).about("turns `3-8`, `3-`, `Ep2` or `Ep2 3-8`");
const IMPORTANCE_THRESHOLD: Parameter = Parameter::new("importance_threshold", Integer).about("1-1000");
const TOPIC: Parameter = Parameter::new("topic", Text).required("name the topic, such as `the trap door`");
const CHARACTER: Parameter = Parameter::new("character", Text).required("say with whom");
const CONTEXT: Parameter = Parameter::new("context", Text).required("describe the situation in a sentence");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "recall_episodes",
        about: "Search past events, in order of time.",
        effect: Effect::Reads,
        parameters: &[QUERY, TIME_RANGE, IMPORTANCE_THRESHOLD],
        answer: schema::memories,
        run: recall_episodes,
    },
    Tool {
        name: "recall_facts",
        about: "Facts about a topic, each with a confidence from 0 to 1.",
        effect: Effect::Reads,
        parameters: &[TOPIC],
        answer: schema::memories,
        run: recall_facts,
    },
    Tool {
        name: "recall_interactions",
        about: "Your history with a character, in order of time.",
        effect: Effect::Reads,
        parameters: &[CHARACTER],
        answer: schema::memories,
        run: recall_interactions,
    },
    Tool {
        name: "check_similar_situations",
        about: "Memories of situations like this one. Call before deciding.",
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
        (fields.episode, fields.turns.map(|turns| (turns.first, turns.last)))
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
    let character = known(call.memories, &name)?;
    let called = character.called().to_owned();
    let mut scopes = vec![Scope::Npc(character.id.clone()), Scope::Dialogue, Scope::World];
    scopes.extend(call.memories.setup.agent.clone().map(Scope::Agent));
    let filter = Filter { scopes, ..Filter::default() };
    let tag = format!("about:{}", character.id);
    let names = names_of(&character);
    let is_named = |text: &str| names.iter().any(|name| has_words(text, name));
    let concerns = |Hit { scope, memory, .. }: &Hit| {
        matches!(scope, Scope::Npc(id) if *id == character.id)
            || memory.provenance.tags.iter().any(|own| own.to_lowercase() == tag)
            || is_named(&memory.title)
            || is_named(&memory.text)
    };
    let question = format!("what happened between me and {called}?");
    let mut hits = call.memories.search(call.watcher, &question, &filter, usize::MAX, true)?;
    hits.hits.retain(concerns);
    hits.hits.truncate(LIMIT);
    by_time(&mut hits.hits);
    let mut answer = found(&question, &hits, relevance_note);
    if hits.hits.is_empty() {
        answer.text = format!("Nothing has passed between you and {called} yet.\n");
    }
    Ok(answer)
}

/// The words by which a text names a character: its id, also with spaces for hyphens, and its whole name
/// without an article before it.
fn names_of(character: &Character) -> Vec<Vec<String>> {
    let mut name = words(&character.name);
    if name.first().is_some_and(|word| is_article(word)) {
        name.remove(0);
    }
    let mut names = vec![words(&character.id), words(&character.id.replace(['-', '_'], " ")), name];
    names.retain(|name| !name.is_empty());
    names
}

/// True if the words stand in the text, one after the other.
fn has_words(text: &str, name: &[String]) -> bool {
    words(text).windows(name.len()).any(|words| words == name)
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
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

    #[test]
    fn a_character_is_named_by_id_or_whole_name() {
        let named = |id: &str, name: &str, text: &str| {
            let character =
                Character { id: id.to_owned(), name: name.to_owned(), scope: Scope::Npc(id.to_owned()) };
            names_of(&character).iter().any(|name| has_words(text, name))
        };
        assert!(named("jordan", "Jordan", "Jordan said: hello") && named("jordan", "", "with jordan."));
        assert!(!named("jordan", "Jordan", "Jordanian food"));
        assert!(
            named("troll", "The Troll", "A troll's axe") && !named("troll", "The Troll", "The dam opened")
        );
        assert!(
            named("old-man", "Old Man", "An old man sits.") && !named("old-man", "Old Man", "An old ship")
        );
        assert!(named("m", "The Old Man", "an old man") && !named("m", "The", "the end"));
    }
}
