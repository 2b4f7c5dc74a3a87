//! The built-in rules, judged by what they leave behind.
//!
//! A small caller keeps the memories of each place in a map, asks the rules about real turns, and
//! measures what a person and an agent would find: size, coverage, and whether an action that
//! failed before is named when it is tried again.

#![expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]

#[path = "offline/rules.rs"]
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use memories::llm::offline::{MAX_TEXT_CHARS, MAX_TITLE_CHARS, Offline};
use memories::llm::{Model, Question};
use memories::memory::{fold_action, fold_title};
use serde_json::{Value, json};

/// What one memory costs beside its title and text.
const FIELD_BYTES: usize = 40;
/// How much an episode may add, beside the list of tries.
const MAX_EPISODE_BYTES: usize = 4500;

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

/// A caller as the contract describes it, without a file.
#[derive(Default)]
struct Caller {
    names: BTreeMap<i64, String>,
    sections: BTreeMap<i64, Vec<Value>>,
    tried: BTreeMap<i64, Vec<(String, u64, String)>>,
    failed: BTreeSet<(i64, String)>,
    repeats: usize,
    warned: usize,
    unwarned: Vec<String>,
}

impl Caller {
    fn play(&mut self, path: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns").join(path);
        let text = std::fs::read_to_string(path).expect("the fixture is there");
        for line in text.lines() {
            let mut turn: Value = serde_json::from_str(line).expect("a turn is JSON");
            turn["world_changed"] = turn["valid"].clone();
            self.count_repeat(&turn);
            self.record(&turn);
        }
    }

    fn count_repeat(&mut self, turn: &Value) {
        let place = id(&turn["location_before"]);
        let action = fold_action(turn["action"].as_str().expect("an action"));
        let key = (place, action.clone());
        if self.failed.contains(&key) {
            self.repeats += 1;
            let tried = self.tried.get(&place).is_some_and(|list| list.iter().any(|one| one.0 == action));
            let named = |memory: &Value, key: &str| {
                fold_action(memory[key].as_str().unwrap_or_default()).contains(&action)
            };
            let told = self.sections.get(&place).is_some_and(|memories| {
                !action.is_empty() && memories.iter().any(|m| named(m, "title") || named(m, "text"))
            });
            if tried || told {
                self.warned += 1;
            } else {
                self.unwarned.push(format!("{place} {action}"));
            }
        }
        if matches!(turn["outcome"].as_str(), Some("refused" | "parse_error")) {
            self.failed.insert(key);
        }
    }

    fn record(&mut self, turn: &Value) {
        let (before, after) = (id(&turn["location_before"]), id(&turn["location_after"]));
        let same_things = sorted(&turn["inventory_before"]) == sorted(&turn["inventory_after"]);
        let changed_nothing = turn["score_before"] == turn["score_after"]
            && before == after
            && same_things
            && turn["died"] != json!(true);
        let mut triggers = Vec::new();
        if turn["score_before"] != turn["score_after"] {
            triggers.push("score");
        }
        if before != after {
            triggers.push("location");
        }
        if !same_things {
            triggers.push("inventory");
        }
        if turn["died"] == json!(true) {
            triggers.push("death");
        }
        if !self.sections.contains_key(&after) {
            triggers.push("first_visit");
        }
        if turn["response"].as_str().is_some_and(|reply| reply.chars().count() > 100) {
            triggers.push("response");
        }
        if triggers.is_empty() && turn["world_changed"] == json!(true) {
            triggers.push("world_changed");
        }
        for place in ["location_before", "location_after"] {
            self.sections.entry(id(&turn[place])).or_default();
            self.names
                .entry(id(&turn[place]))
                .or_insert_with(|| turn[place]["name"].as_str().unwrap_or_default().to_owned());
        }
        let repeated = self.keep_try(turn, before, changed_nothing);
        if triggers.is_empty() || repeated {
            return;
        }
        let mut facts = json!({"turn": turn, "triggers": triggers, "memories": self.sections[&before]});
        if before != after {
            facts["memories_after"] = json!(self.sections[&after]);
        }
        let answer = ask(&facts);
        check_shape(&answer);
        assert_eq!(answer, ask(&facts), "the rules are deterministic");
        self.store(&answer, turn, if answer["place"] == json!("after") { after } else { before });
    }

    fn keep_try(&mut self, turn: &Value, place: i64, changed_nothing: bool) -> bool {
        let action = fold_action(turn["action"].as_str().unwrap_or_default());
        let reply = turn["response"].as_str().unwrap_or_default().to_owned();
        let list = self.tried.entry(place).or_default();
        let known = list.iter().position(|one| one.0 == action);
        if !changed_nothing || turn["world_changed"] == json!(true) {
            list.retain(|one| one.0 != action);
            return false;
        }
        let (count, repeated) = match known {
            Some(index) => {
                let old = list.remove(index);
                (old.1 + 1, old.2 == reply)
            }
            None => (1, false),
        };
        list.push((action, count, reply));
        if list.len() > 40 {
            let least = list.iter().map(|one| one.1).min().unwrap_or_default();
            let index = list.iter().position(|one| one.1 == least).unwrap_or_default();
            list.remove(index);
        }
        repeated
    }

    fn store(&mut self, answer: &Value, turn: &Value, place: i64) {
        if answer["should_remember"] != json!(true) {
            return;
        }
        let memory = json!({
            "title": answer["memory_title"], "text": answer["memory_text"],
            "category": answer["category"], "status": answer["status"],
            "importance": answer["importance"], "turn": turn["turn"], "episode": turn["episode"],
        });
        let title = |memory: &Value| fold_title(memory["title"].as_str().unwrap_or_default());
        let section = self.sections.entry(place).or_default();
        match section.iter().position(|known| title(known) == title(&memory)) {
            Some(index) => section[index] = memory,
            None if section.iter().any(|known| is_twin(known, &memory)) => {}
            None => section.push(memory),
        }
    }

    fn bytes(&self) -> usize {
        let size = |memory: &Value| {
            let length = |key: &str| memory[key].as_str().unwrap_or_default().len();
            length("title") + length("text") + FIELD_BYTES
        };
        self.sections.values().flatten().map(size).sum()
    }

    fn coverage(&self) -> f64 {
        let covered = self.sections.values().filter(|memories| !memories.is_empty()).count();
        covered as f64 / self.sections.len() as f64
    }

    fn print(&self) -> String {
        let mut text = String::new();
        for (place, memories) in &self.sections {
            text.push_str(&format!("\n## Location {place}: {}\n", self.names[place]));
            for memory in memories {
                let field = |key: &str| memory[key].as_str().unwrap_or_default().to_owned();
                let status = if field("status") == "tentative" { " - TENTATIVE" } else { "" };
                text.push_str(&format!(
                    "**[{}{status}] {}** *(Ep{}, T{}, importance {})*\n{}\n",
                    field("category"),
                    field("title"),
                    memory["episode"],
                    memory["turn"],
                    memory["importance"],
                    field("text"),
                ));
            }
        }
        text
    }
}

/// Nearly the same text under another title: not stored twice.
fn is_twin(known: &Value, memory: &Value) -> bool {
    let text = |memory: &Value| memory["text"].as_str().unwrap_or_default().to_lowercase();
    similar::TextDiff::from_chars(text(known), text(memory)).ratio() >= 0.9
}

fn id(place: &Value) -> i64 {
    place["id"].as_i64().expect("a place has an id")
}

fn sorted(list: &Value) -> Vec<String> {
    let mut names: Vec<String> = serde_json::from_value(list.clone()).expect("an inventory is a list");
    names.sort();
    names
}

// Run with SHOW_MEMORIES=1 and --nocapture to read what an agent would find after each episode.
#[test]
fn five_episodes_stay_small_and_cover_the_map() {
    let mut caller = Caller::default();
    for episode in 1..=5 {
        let before = caller.bytes();
        caller.play(&format!("zork1_ep{episode}.jsonl"));
        let grown = caller.bytes() - before;
        let coverage = caller.coverage();
        println!(
            "episode {episode}: {grown} bytes, {} memories, {:.1} % of {} places",
            caller.sections.values().map(Vec::len).sum::<usize>(),
            coverage * 100.0,
            caller.sections.len(),
        );
        if std::env::var_os("SHOW_MEMORIES").is_some() {
            println!("==== after episode {episode} ====\n{}", caller.print());
        }
        assert!(grown <= MAX_EPISODE_BYTES, "episode {episode} added {grown} bytes");
        if episode >= 3 {
            assert!(coverage >= 0.8, "only {coverage} of the places have a memory");
        }
    }
    println!("repeats {} warned {} missing {:?}", caller.repeats, caller.warned, caller.unwarned);
    assert!(caller.warned * 100 >= caller.repeats * 95, "{} of {}", caller.warned, caller.repeats);
}

#[test]
fn odd_input_leaves_a_small_sensible_memory() {
    let mut caller = Caller::default();
    caller.play("zork1_edge.jsonl");
    println!("{}", caller.print());
    assert!(caller.bytes() <= MAX_EPISODE_BYTES);
    let canyon = &caller.sections[&22];
    let deaths: Vec<&Value> = canyon.iter().filter(|memory| memory["category"] == json!("DANGER")).collect();
    assert_eq!(deaths.len(), 1, "the same death twice is one memory");
}
