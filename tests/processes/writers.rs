//! Forty writers share one file, and one of them lies through every door: it strikes nothing that others wrote, and each
//! of its lies bears its name and no other.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use memories::document::Document;
use memories::notebook::{Clock, Notebook};
use memories::record::turn::{Turn, TurnLocation};
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Memory, Scope, Status};
use serde_json::json;

use crate::mcp::client::World;
use crate::program::{memories, with_input};
use crate::puppet::Puppet;

/// Facts that two honest writers each have stored.
const FACTS: usize = 20;

const WRITERS: usize = 40;

const LIAR: &str = "mallory";

/// What the liar says instead of a fact; no honest writer ever says it.
const LIE: &str = "LIE";

fn fact(number: usize) -> (String, String) {
    (format!("Fact {number}"), format!("Lever {number} opens gate number {number} of the dam."))
}

fn lie(number: usize) -> String {
    format!("{LIE}: lever {number} floods the place.")
}

fn honest(number: usize) -> String {
    format!("worker-{}", number % (WRITERS - 1))
}

fn run(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    with_input(&mut memories(folder, arguments), stdin)
}

/// Facts that a writer stores by its own wish while it plays: no model is asked.
fn record_facts(folder: &Path, writer: &str, numbers: impl Iterator<Item = usize>) {
    let turns = numbers.map(|number| {
        let (_, text) = fact(number);
        json!({"episode": 1, "action": format!("pull lever {number}"), "response": "Click.", "world_changed": true,
               "location": {"id": 5, "name": "Dam"}, "id": format!("{writer}-{number}"), "remember": text})
        .to_string()
            + "\n"
    });
    let arguments = ["record", "--turns", "-", "--writer", writer, "--provider", "offline"];
    let output = run(folder, &arguments, &turns.collect::<String>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The memories of the place.
fn place(folder: &Path) -> Vec<Memory> {
    let text = fs::read_to_string(folder.join("Memories.md")).unwrap();
    Document::parse(text).section(&Scope::Location(5)).unwrap().memories
}

/// The title under which a fact is stored.
fn title_of(folder: &Path, number: usize) -> String {
    let (_, text) = fact(number);
    let found = place(folder).into_iter().find(|memory| memory.text == text && !memory.writers().is_empty());
    found.expect("the fact is there").title
}

/// The liar tries all commands that change a memory.
fn lie_by_commands(folder: &Path, number: usize) {
    let (title, lie) = (title_of(folder, number), lie(number));
    let json = json!([
        {"command": "supersede", "scope": "5", "titles": [&title], "title": &title, "text": format!("{lie} (2)")},
        {"command": "invalidate", "scope": "5", "titles": [&title], "reason": lie},
    ]);
    for (arguments, stdin) in [
        (vec!["add", "5", &lie, "--title", &title], String::new()),
        (vec!["add", "5", &lie, "--title", "True", "--importance", "1000", "--core"], String::new()),
        (vec!["supersede", "5", &title, "--title", &title, "--text", &lie], String::new()),
        (vec!["supersede", "5", &title, "--title", "Truth", "--text", "Water is wet here."], String::new()),
        (vec!["supersede"], json[0].to_string()),
        (vec!["invalidate"], json[1].to_string()),
        (vec!["invalidate", "5", &title, "--reason", &lie], String::new()),
        (vec!["mark", "5", &title, "--status", "superseded"], String::new()),
        (vec!["mark", "5", &title, "--importance", "1"], String::new()),
        (vec!["mark", "5", &title, "--status", "tentative"], String::new()),
        (vec!["mark", "5", &format!("{title} (2)"), "--status", "active"], String::new()),
        (vec!["forget", "5", &title], String::new()),
        (vec!["add", "5", &lie, "--title", "Signed", "--tag", "by:worker-1"], String::new()),
        (vec!["record", "--turns", "-", "--provider", "offline"], {
            let turn = json!({"episode": 1, "action": "look", "response": "Dam.", "world_changed": true,
                              "location": {"id": 5, "name": "Dam"}, "remember": lie, "remember_importance": 1000});
            format!("{turn}\n")
        }),
    ] {
        let arguments = [arguments, vec!["--writer", LIAR]].concat();
        let output = run(folder, &arguments, &stdin);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 4)), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A model of the liar answers a turn: it supersedes and invalidates all facts.
fn lie_by_model(folder: &Path, titles: &[String]) {
    let store = Store::open(folder.join("Memories.md"), Duration::from_secs(10)).unwrap();
    let notebook = Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z")).with_writer(LIAR.parse().ok());
    let settings = RecordSettings::default();
    for (at, titles) in titles.chunks(3).enumerate() {
        for supersedes in [true, false] {
            let answer = json!({
                "should_remember": supersedes, "category": "DANGER", "memory_title": titles[0],
                "memory_text": format!("{LIE}: the lever {at} floods the place."), "importance": 1000,
                "persistence": "core", "supersedes": if supersedes { titles } else { &[] },
                "invalidates": if supersedes { &[] } else { titles }, "invalidation_reason": LIE,
            });
            let place = TurnLocation { id: Some(5), name: Some("Dam".to_owned()), ..TurnLocation::default() };
            let reply = "The lever floods the place, and you drown. ".repeat(4);
            let turn = Turn { died: true, episode: Some(1), ..Turn::new("pull lever", reply, Some(place)) };
            let model = Puppet::saying(answer);
            let recorder = Recorder { notebook: &notebook, judge: Judge::Model(&model), settings: &settings };
            recorder.record(turn).unwrap();
        }
    }
}

#[test]
fn one_of_forty_writers_lies_about_twenty_facts() {
    let world = World::new("# Location Memories\n");
    let folder = world.path();
    // Two writers say each fact.
    for number in 0..WRITERS - 1 {
        record_facts(folder, &honest(number), (0..FACTS).filter(|at| [*at, at + 1].contains(&number)));
    }
    let titles: Vec<String> = (0..FACTS).map(|number| title_of(folder, number)).collect();
    let confirmed = place(folder).iter().filter(|memory| memory.writers().len() == 2).count();
    assert_eq!(confirmed, FACTS);
    (0..FACTS).for_each(|number| lie_by_commands(folder, number));
    lie_by_model(folder, &titles);
    let mut client = world.serve(&["--writer", LIAR, "--tools", "shaping"]);
    for (number, title) in titles.iter().enumerate() {
        let lie = lie(number);
        client.call("supersede_memory", json!({"title": title, "scope": "5", "content": lie}));
        client.call("invalidate_memory", json!({"title": title, "scope": "5", "reason": lie}));
        client.call("reinforce_memory", json!({"title": title, "scope": "5"}));
    }
    drop(client);
    // Others say what is true, and so does the liar with what it contests; they say the facts again, too.
    for number in 0..5 {
        run(folder, &["add", "5", "Water is wet here.", "--writer", &honest(number)], "");
        record_facts(folder, &honest(30 + number), 0..FACTS);
    }
    let memories = place(folder);
    for (number, title) in titles.iter().enumerate() {
        let (_, text) = fact(number);
        let found: Vec<&Memory> = memories.iter().filter(|memory| memory.text == text).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].is_live() && found[0].writers().len() >= 2, "{:?}", found[0]);
        assert_eq!((&found[0].title, found[0].importance()), (title, 500));
    }
    let (mut lies, mut contests) = (0, 0);
    for lie in memories.iter().filter(|memory| memory.text.contains(LIE)) {
        assert_eq!(lie.writers(), [LIAR], "{lie:?}");
        lies += 1;
        contests += u64::from(lie.contests());
    }
    assert!(lies > FACTS && contests > 0, "{lies} lies, {contests} contests");
    // A writer that says the words of a contest without contesting anything gets an entry of its own.
    let is_true = |memory: &&Memory| memory.text == "Water is wet here." && memory.status == Status::Active;
    let wet = memories.iter().find(is_true).map(Memory::writers).unwrap_or_default();
    assert!(wet.len() == 5 && !wet.contains(&LIAR), "{wet:?}");
    let shown = run(folder, &["recall", "5", "--all"], "").stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("opens gate number 7") && shown.contains(&format!("by {LIAR}")), "{shown}");
}
