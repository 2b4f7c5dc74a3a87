//! The built-in rules, asked about single turns. What they leave behind after whole games is judged in
//! `tests/it/replay.rs`.

mod rules;

use memories::llm::offline::{MAX_TEXT_CHARS, MAX_TITLE_CHARS, Offline};
use memories::llm::{Model, Question};
use serde_json::{Value, json};

fn ask(facts: &Value) -> Value {
    let schema = json!({});
    let question = Question { system: "", prompt: "", schema_name: "memory", schema: &schema, facts };
    let answer = Offline.ask(&question).expect("turns are always judged");
    assert_eq!(answer.model, "offline");
    assert_eq!(answer.usage.calls, 0);
    serde_json::from_str(&answer.text).expect("an answer is JSON")
}

fn check_shape(answer: &Value) {
    let fields = answer.as_object().expect("an answer is an object");
    let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    let expected = [
        "should_remember",
        "category",
        "memory_title",
        "memory_text",
        "reasoning",
        "place",
        "persistence",
        "status",
        "importance",
        "supersedes",
        "invalidates",
        "invalidation_reason",
    ];
    assert_eq!(keys, expected);
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
