//! The built-in rules on single turns. `tests/it/replay.rs` judges their results for whole games.

mod rules;

use memories::record::rules::{MAX_TEXT_CHARS, MAX_TITLE_CHARS, judge};
use memories::record::triggers::{Changes, Trigger};
use memories::record::turn::Turn;
use memories::record::{Place, PlaceMemories, Surroundings, TurnContext};
use memories::types::{Category, Memory, Status};
use serde_json::{Value, json};

/// The decision of the rules about a turn; both as JSON.
fn ask(facts: &Value) -> Value {
    let proposal = judge(&context(facts));
    let (memory, side) = match &proposal.memory {
        Some((memory, side)) => (Some(memory), format!("{side:?}").to_lowercase()),
        None => (None, "before".to_owned()),
    };
    let empty = Memory::new(Category::note(), "", "");
    let said = memory.unwrap_or(&empty);
    json!({
        "should_remember": memory.is_some(),
        "category": said.category,
        "memory_title": said.title,
        "memory_text": said.text,
        "reasoning": proposal.reasoning,
        "place": side,
        "persistence": said.persistence,
        "status": said.status,
        "importance": said.importance(),
        "supersedes": proposal.supersedes,
        "invalidates": proposal.invalidates,
        "invalidation_reason": proposal.invalidation_reason,
    })
}

/// A turn from JSON; missing fields and fields of another type stay empty.
fn context(facts: &Value) -> TurnContext {
    let played = &facts["turn"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = |value: &Value| value.as_array().map(|items| items.iter().map(text).collect::<Vec<_>>());
    let place = |value: &Value| {
        let id = value["id"].as_i64().unwrap_or_default() as u64;
        value.is_object().then(|| Place { id, name: text(&value["name"]) })
    };
    let mut turn = Turn::new(text(&played["action"]), text(&played["response"]), None);
    (turn.score_before, turn.score_after) = (played["score_before"].as_i64(), played["score_after"].as_i64());
    (turn.inventory_before, turn.inventory_after) =
        (items(&played["inventory_before"]), items(&played["inventory_after"]));
    turn.died = played["died"] == true;
    turn.world_changed = played["world_changed"].as_bool();
    let (before, after) = (place(&played["location_before"]), place(&played["location_after"]));
    let before = before.or(after.clone()).unwrap_or(Place { id: 1, name: String::new() });
    let after = after.unwrap_or_else(|| before.clone());
    let first_visit = facts["triggers"].as_array().is_some_and(|names| names.contains(&json!("first_visit")));
    TurnContext {
        changes: Changes::of(&turn, before.id != after.id),
        turn,
        episode: played["episode"].as_u64().unwrap_or(1),
        number: 1,
        before,
        after,
        triggers: if first_visit { vec![Trigger::FirstVisit] } else { Vec::new() },
        repeat: false,
        memories: PlaceMemories {
            before: memories(&facts["memories"]),
            after: memories(&facts["memories_after"]),
            rule_notes_before: memories(&facts["memories"]),
            rule_notes_after: memories(&facts["memories_after"]),
        },
        history: Vec::new(),
        surroundings: Surroundings::default(),
    }
}

fn memories(list: &Value) -> Vec<Memory> {
    let read = |value: &Value| {
        let text = |name: &str| value[name].as_str().unwrap_or_default();
        let mut memory = Memory::new(Category::note(), text("title"), text("text"));
        memory.status = if text("status") == "tentative" { Status::Tentative } else { Status::Active };
        memory.provenance.episode = value["episode"].as_u64();
        memory
    };
    list.as_array().into_iter().flatten().map(read).collect()
}

fn check_shape(answer: &Value) {
    let text = |key: &str| answer[key].as_str().expect("a text").to_owned();
    assert!(["SUCCESS", "FAILURE", "DISCOVERY", "DANGER", "NOTE"].contains(&text("category").as_str()));
    assert!(["before", "after"].contains(&text("place").as_str()));
    assert!(["permanent", "core"].contains(&text("persistence").as_str()));
    assert!(["active", "tentative"].contains(&text("status").as_str()));
    assert!((1..=1000).contains(&answer["importance"].as_i64().expect("a number")));
    assert!(text("memory_title").chars().count() <= MAX_TITLE_CHARS, "{answer}");
    assert!(text("memory_text").chars().count() <= MAX_TEXT_CHARS, "{answer}");
    assert!(!text("memory_title").contains('\n') && !text("memory_text").contains('\n'), "{answer}");
    assert!(!text("reasoning").is_empty() && text("reasoning").len() <= 100);
    if answer["should_remember"] == json!(true) {
        assert!(!text("memory_title").is_empty() && !text("memory_text").is_empty(), "{answer}");
    }
}
