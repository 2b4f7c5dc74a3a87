//! The built-in rules: on single turns, and by the file that they write of whole games.

mod file;
mod rules;

use memories::record::changes::Changes;
use memories::record::effect::{Earlier, effect_of};
use memories::record::replies::Replies;
use memories::record::rules::{MAX_TEXT_CHARS, MAX_TITLE_CHARS, judge};
use memories::record::triggers::Trigger;
use memories::record::turn::Turn;
use memories::record::{Place, PlaceMemories, Surroundings, TurnContext};
use memories::types::{Category, Memory, Status};
use serde_json::{Value, json};

/// The memories that the rules propose for a turn; both as JSON.
fn ask(facts: &Value) -> Vec<Value> {
    let proposal = judge(&context(facts));
    assert!(!proposal.reasoning.is_empty() && proposal.reasoning.len() <= 100);
    let memories = proposal.memories.iter().map(|proposed| {
        let memory = &proposed.memory;
        json!({
            "category": memory.category,
            "title": memory.title,
            "text": memory.text,
            "side": format!("{:?}", proposed.side),
            "persistence": memory.persistence,
            "status": memory.status,
            "importance": memory.importance(),
            "score_change": memory.provenance.score_change,
        })
    });
    memories.collect()
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
    let mut triggers = Vec::new();
    if facts["first_visit"] == true {
        triggers.push(Trigger::FirstVisit);
    }
    if turn.response.chars().count() > 100 {
        triggers.push(Trigger::Response);
    }
    let history = facts["history"].as_array().into_iter().flatten();
    let changes = Changes::of(&turn, before.id != after.id);
    TurnContext {
        changes,
        effect: effect_of(&turn, changes, &Replies::default(), Earlier::default(), None),
        turn,
        episode: played["episode"].as_u64().unwrap_or(1),
        number: 1,
        before,
        after,
        triggers,
        is_judged: true,
        opened_by: Vec::new(),
        memories: PlaceMemories {
            before: memories(&facts["memories"]),
            after: memories(&facts["memories_after"]),
        },
        history: history.map(|turn| Turn::from_value(turn).expect("a turn")).collect(),
        surroundings: Surroundings::default(),
    }
}

fn memories(list: &Value) -> Vec<Memory> {
    let read = |value: &Value| {
        let text = |name: &str| value[name].as_str().unwrap_or_default();
        let category = Category::new(text("category")).unwrap_or(Category::note());
        let mut memory = Memory::new(category, text("title"), text("text"));
        memory.status = if text("status") == "tentative" { Status::Tentative } else { Status::Active };
        memory.provenance.tags.push("offline".to_owned());
        memory
    };
    list.as_array().into_iter().flatten().map(read).collect()
}

/// Words that no title ends with.
const DANGLING: [&str; 8] = ["a", "an", "the", "and", "or", "of", "to", "with"];

fn check_title(title: &str) {
    assert!(!["Here", "Points", "Deaths"].contains(&title));
    assert!((1..=MAX_TITLE_CHARS).contains(&title.chars().count()) && !title.contains('\n'), "{title}");
    assert!(!title.ends_with(['.', ',', ';', ':', '!', '?', '…', ' ']), "{title}");
}

fn check_shape(memory: &Value) {
    let text = |key: &str| memory[key].as_str().expect("a text").to_owned();
    assert!(["SUCCESS", "FAILURE", "DISCOVERY", "DANGER", "NOTE"].contains(&text("category").as_str()));
    assert_eq!(text("persistence"), "permanent");
    assert!((1..=1000).contains(&memory["importance"].as_i64().expect("a number")));
    check_title(&text("title"));
    assert!((1..=MAX_TEXT_CHARS).contains(&text("text").chars().count()), "{memory}");
    assert!(!text("text").contains('\n'), "{memory}");
}
