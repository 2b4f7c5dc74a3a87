//! The doors. Each sends some payloads and says what the file must hold afterwards.

use memories::document::stored;
use memories::types::{Category, Memory};
use serde_json::{Value, json};

use super::export::{Expected, Export, Wanted};
use super::payloads::{Payload, Payloads};
use crate::mcp::client::World;
use crate::program::with_input;

type Door = fn(&World, &mut Payloads, &Export) -> Expected;

pub const DOORS: &[(&str, Door)] = &[
    ("import, JSON Lines", |world, payloads, _| import(world, payloads, "jsonl")),
    ("import, JSON", |world, payloads, _| import(world, payloads, "json")),
    ("import, SQLite", |world, payloads, _| import(world, payloads, "sqlite")),
    ("import, Markdown", |world, payloads, _| import(world, payloads, "markdown")),
    ("record", record),
    ("add", add),
    ("extract", extract),
    ("digest", digest),
    ("seed", seed),
    ("MCP", agent),
    ("supersede", supersede),
    ("invalidate", invalidate),
    ("revive", revive),
    ("rename", rename),
    ("consolidate", consolidate),
    ("inject", inject),
];

const SCOPES: [&str; 5] = ["location:23", "location:24", "world", "npc:troll", "agent:alex"];

/// Runs a command, with a model that gives these answers. Exit code 4 is a refusal.
pub fn run(world: &World, arguments: &[&str], stdin: &str, answers: &[Value]) -> String {
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    world.write("answers.jsonl", &lines);
    world.write("settings.toml", "[llm]\nprovider = \"replay\"\nreplay = \"answers.jsonl\"\n");
    let mut command = world.program();
    command.args(["--config", "settings.toml"]).args(arguments);
    let output = with_input(&mut command, stdin);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{arguments:?}: {said}\n{stdin}");
    String::from_utf8(output.stdout).unwrap()
}

/// A memory of payloads; the word of its text identifies it.
fn memory(payloads: &mut Payloads) -> (Memory, String) {
    let Payload { word, text } = payloads.next(600);
    let mut memory = Memory::new(Category::note(), payloads.next(70).text, text);
    memory.context = Some(payloads.next(120).text);
    (memory, word)
}

fn wanted(scope: &str, memory: &Memory, word: String) -> Wanted {
    let Memory { title, text, context, .. } = stored(memory);
    Wanted { scope: scope.to_owned(), word, title: Some(title), text: Some(text), context, core: false }
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// A file of somebody else, in one of the formats.
fn import(world: &World, payloads: &mut Payloads, format: &str) -> Expected {
    let mut expected = Expected::default();
    let mut values = Vec::new();
    let place = format!("location:{}", 1000 + payloads.made);
    let name = payloads.next(70).text;
    let action = payloads.next(70).text;
    values.push(json!({"scope": place, "name": name, "visits": 1, "episodes": [1],
        "tried": [{"action": action, "count": 1, "reply": payloads.next(90).text}]}));
    // Names of places are trimmed first.
    expected.names.insert(place.clone(), name.trim().to_owned());
    expected.actions.push(action);
    for scope in [place.as_str()].into_iter().chain(SCOPES.into_iter().cycle().take(2 * payloads.batch)) {
        let (memory, word) = memory(payloads);
        values.push(json!({"scope": scope, "category": "NOTE", "title": memory.title, "text": memory.text,
            "context": memory.context}));
        expected.entries.push(wanted(scope, &memory, word));
    }
    let arguments = ["import", "-", "--format", format];
    match format {
        "jsonl" => run(world, &arguments, &lines(&values), &[]),
        "json" => run(world, &arguments, &json!(values).to_string(), &[]),
        _ => {
            let theirs = World::new("");
            run(&theirs, &["import", "-", "--format", "jsonl"], &lines(&values), &[]);
            let path = world.path().join("theirs");
            let path = path.to_str().unwrap();
            run(&theirs, &["export", path, "--format", format, "--force"], "", &[]);
            run(world, &["import", path, "--format", format], "", &[])
        }
    };
    expected
}

/// Turns of a game that is hostile, judged by a model that believes it, with a player who notes down all of it.
fn record(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let mut expected = Expected::default();
    const REPLY: &str =
        "You see nothing special about this place, and nobody answers when you call into the dark hall.";
    let (mut turns, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..payloads.batch {
        let (action, reply, kept) = (payloads.next(70), payloads.next(500), payloads.next(300));
        let (title, said) = (payloads.next(60), payloads.next(300));
        let place = 1000 + payloads.made;
        let name = payloads.next(70).text;
        turns.push(json!({"episode": 1, "turn": payloads.made, "action": action.text,
            "response": format!("{REPLY} {} {}", reply.word, reply.text),
            "location_before": {"id": 23}, "location_after": {"id": place, "name": name}, "remember": kept.text}));
        let text = format!("{} {}", reply.word, said.text.trim_end());
        // Later turns are shown earlier ones, so the answer to the last turn must be looked for first.
        answers.insert(
            0,
            json!({"when": reply.word, "answer": {"should_remember": true, "category": "NOTE",
            "memory_title": title.text, "memory_text": text}}),
        );
        // Values of programs are trimmed first.
        expected.names.insert(format!("location:{place}"), name.trim().to_owned());
        expected.actions.push(action.text);
        for (word, text) in [(kept.word, kept.text), (said.word, text)] {
            let wanted = wanted("location:23", &Memory::new(Category::note(), "", text), word);
            expected.entries.push(Wanted { title: None, context: None, ..wanted });
        }
    }
    world.write("turns.jsonl", &lines(&turns));
    run(world, &["record", "--turns", "turns.jsonl"], "", &answers);
    expected
}

fn add(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let mut expected = Expected::default();
    for scope in ["23", "world"] {
        let (memory, word) = memory(payloads);
        let value = json!({"title": memory.title, "text": memory.text, "context": memory.context});
        run(world, &["add", scope], &value.to_string(), &[]);
        let scope = if scope == "23" { "location:23" } else { scope };
        expected.entries.push(wanted(scope, &memory, word));
    }
    expected
}

/// A conversation that a model takes memories from.
fn extract(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let mut expected = Expected::default();
    let mut found = Vec::new();
    for _ in 0..4 {
        let (summary, context) = (payloads.next(250), payloads.next(120));
        found.push(json!({"category": "FACT", "summary": summary.text, "context": context.text}));
        expected.entries.push(Wanted { scope: "world".to_owned(), word: summary.word, ..Wanted::default() });
    }
    let (id, said) = (payloads.next(60).text, payloads.next(300).text);
    let reply = json!({"role": "assistant", "content": format!("The captain of the watch walks the wall at night. {said}")});
    let id = id_argument(&id);
    let arguments = ["extract", &id, "--mode", "every_turn", "--scope", "world"];
    run(world, &arguments, &format!("{reply}\n"), &[json!({"answer": {"memories": found}})]);
    expected
}

/// The id of a conversation as an argument, which cannot hold a NUL.
fn id_argument(id: &str) -> String {
    format!("--id={}", id.replace('\0', " "))
}

fn digest(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let (id, name, summary) = (payloads.next(60).text, payloads.next(60).text, payloads.next(250));
    let messages = [json!({"role": "user", "name": name, "content": payloads.next(300).text})];
    // The word comes first, because the fourth sentence is cut off.
    let answer = json!({"answer": {"summary": format!("{} {}", summary.word, summary.text)}});
    run(
        world,
        &["digest", "--conversation", "-", &id_argument(&id), "--event", "story"],
        &lines(&messages),
        &[answer],
    );
    let wanted = Wanted { scope: "world".to_owned(), word: summary.word, ..Wanted::default() };
    Expected { entries: vec![wanted], ..Expected::default() }
}

fn seed(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let id = format!("a{}", payloads.made);
    let (name, background, traits) = (payloads.next(60), payloads.next(300), payloads.next(300));
    let agent = json!({"id": id, "name": name.text, "background": background.text, "traits": traits.text});
    world.write("seed.json", &json!({"agents": [agent]}).to_string());
    run(world, &["seed", "seed.json"], "", &[]);
    let scope = format!("agent:{id}");
    // Values of a seed are trimmed first.
    let (words, name) = ([name.word, background.word, traits.word], name.text.trim().to_owned());
    let entries = words.map(|word| Wanted { scope: scope.clone(), word, core: true, ..Wanted::default() });
    Expected { entries: entries.into(), names: [(scope, name)].into(), ..Expected::default() }
}

/// An agent that forms memories.
fn agent(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let mut expected = Expected::default();
    let mut client = world.serve(&["--agent", "alex"]);
    for scope in SCOPES.into_iter().cycle().take(2 * payloads.batch) {
        let (mut memory, word) = memory(payloads);
        memory.context = None;
        // Arguments are trimmed first.
        (memory.title, memory.text) = (memory.title.trim().to_owned(), memory.text.trim().to_owned());
        client.call("form_memory", json!({"scope": scope, "title": memory.title, "content": memory.text}));
        expected.entries.push(wanted(scope, &memory, word));
    }
    expected
}

/// The newest live entry of the kitchen: its title and text.
fn newest(before: &Export) -> (String, String) {
    let entry = before.live("location:23").expect("a live entry");
    let text = |key: &str| entry[key].as_str().unwrap().to_owned();
    (text("title"), text("text"))
}

fn supersede(world: &World, payloads: &mut Payloads, before: &Export) -> Expected {
    let (title, _) = newest(before);
    let (memory, word) = memory(payloads);
    let value = json!([{"scope": "location:23", "titles": [title], "title": memory.title, "text": memory.text,
        "context": memory.context}]);
    run(world, &["supersede"], &value.to_string(), &[]);
    let struck = Some(("location:23".to_owned(), title, None));
    Expected { entries: vec![wanted("location:23", &memory, word)], struck, ..Expected::default() }
}

fn invalidate(world: &World, payloads: &mut Payloads, before: &Export) -> Expected {
    let (title, _) = newest(before);
    let reason = payloads.next(200).text;
    let value = json!([{"scope": "location:23", "titles": [title], "reason": reason}]);
    run(world, &["invalidate"], &value.to_string(), &[]);
    world.write("struck", &title);
    Expected { struck: Some(("location:23".to_owned(), title, Some(reason))), ..Expected::default() }
}

fn revive(world: &World, _: &mut Payloads, _: &Export) -> Expected {
    let title = std::fs::read_to_string(world.path().join("struck")).unwrap();
    let value = json!([{"scope": "location:23", "title": title, "status": "active"}]);
    run(world, &["mark"], &value.to_string(), &[]);
    Expected { struck: Some(("location:23".to_owned(), title, None)), ..Expected::default() }
}

fn rename(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let name = payloads.next(70).text;
    let value = json!([{"scope": "location:24", "name": name}]);
    run(world, &["rename"], &value.to_string(), &[]);
    Expected { names: [("location:24".to_owned(), name)].into(), ..Expected::default() }
}

/// A plan that drops an entry for a hostile reason.
fn consolidate(world: &World, payloads: &mut Payloads, before: &Export) -> Expected {
    let (title, _) = newest(before);
    let plan = json!({"reasoning": payloads.next(200).text, "decisions": [
        {"action": "drop", "titles": [title], "reason": payloads.next(150).text}]});
    run(world, &["consolidate", "23", "--plan", "-", "--apply"], &plan.to_string(), &[]);
    Expected { struck: Some(("location:23".to_owned(), title, None)), ..Expected::default() }
}

/// Nothing is written here. A request with memories in it is still a request, and inserting twice is inserting once.
fn inject(world: &World, payloads: &mut Payloads, _: &Export) -> Expected {
    let asked = payloads.next(200).text;
    let request = json!({"messages": [{"role": "system", "content": "Be kind."},
        {"role": "user", "content": format!("What stays as it is in the kitchen? {asked}")}]});
    let once = run(world, &["inject"], &request.to_string(), &[]);
    let inserted: Value = serde_json::from_str(&once).unwrap();
    assert_eq!(inserted["messages"].as_array().unwrap().len(), 2, "{once}");
    assert_eq!(run(world, &["inject"], &once, &[]), once);
    Expected::default()
}
