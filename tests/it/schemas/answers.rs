//! Every JSON answer that the golden cases and the guide show is valid, and one with a field more or less is refused.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use super::{PARTS, commands, documents, short};
use crate::golden;
use crate::program::memories;
use crate::root;

/// Where the schemas pretend to be; nothing is fetched.
const BASE: &str = "https://memories.invalid/";

/// Objects of answers that may hold anything: the caller's request.
const OPEN: [&str; 1] = ["/request"];

/// An answer, the schema that it must keep to, and where it stands.
struct Answer {
    schema: String,
    value: Value,
    at: String,
}

/// Validators of all schemas.
fn validators() -> BTreeMap<String, Validator> {
    let documents = documents();
    let mut registry = Registry::new();
    for (name, schema) in &documents {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        registry = registry.add(format!("{BASE}{name}.json"), schema.clone()).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let validator = |name: &String| {
        let schema = json!({"$ref": format!("{BASE}{name}.json")});
        jsonschema::options().with_registry(&registry).build(&schema).unwrap()
    };
    documents.keys().map(|name| (name.clone(), validator(name))).collect()
}

/// The JSON values that a text is made of.
fn values(text: &str, at: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.map(|value| value.unwrap_or_else(|error| panic!("{at}: {error}: {text}"))).collect()
}

/// The schema of the command that a line calls, if its answer is JSON.
fn json_command(words: &[String], commands: &BTreeSet<String>) -> Option<String> {
    let asks = |flag: &str| words.iter().any(|word| word == flag);
    if !asks("--json") || ["--help", "-h", "--tool-schema"].into_iter().any(asks) {
        return None;
    }
    if asks("fmt") || asks("check") && asks("--format") {
        return Some("fmt".to_owned());
    }
    if asks("consolidate") && asks("--grown") {
        return Some("consolidate-grown".to_owned());
    }
    // `map path`, or by its former name `path`, before `map`.
    let names = commands.iter().map(|command| short(command));
    let mut names: Vec<String> = names.filter(|name| words.contains(name)).collect();
    names.sort_by_key(|name| name == "map");
    names.into_iter().next()
}

/// The parts of a stream of a golden case, one for each command line that printed something.
fn parts<'a>(lines: &[&'a str], stream: &'a str) -> Vec<(&'a str, &'a str)> {
    if let [line] = lines {
        return vec![(line, stream)];
    }
    let starts: Vec<usize> = stream.match_indices("$ memories ").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([stream.len()]);
    let mut parts = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let (line, output) = stream[*start..end].split_once('\n').unwrap();
        parts.push((line.strip_prefix("$ memories ").unwrap(), output));
    }
    parts
}

/// The JSON of all golden cases: answers on stdout, errors on stderr.
fn golden_answers() -> Vec<Answer> {
    let commands = commands();
    let mut answers = Vec::new();
    for (path, case) in golden::cases() {
        let at = path.display().to_string();
        let lines: Vec<&str> = case.commands.iter().map(String::as_str).collect();
        let codes = case.seen.exit;
        for (line, output) in parts(&lines, &case.seen.stdout) {
            let Some(command) = json_command(&golden::split(line), &commands) else { continue };
            let of_command = |value| Answer { schema: command.clone(), value, at: at.clone() };
            answers.extend(values(output, &at).into_iter().map(of_command));
        }
        for (line, output) in parts(&lines, &case.seen.stderr) {
            if !golden::split(line).iter().any(|word| word == "--json") {
                continue;
            }
            for error in output.lines().filter(|line| line.starts_with('{')) {
                let value: Value = serde_json::from_str(error).unwrap();
                let code = value["code"].to_string();
                assert!(codes.contains(&code), "{at}: exit codes {codes:?} of {value}");
                answers.push(Answer { schema: "error".to_owned(), value, at: at.clone() });
            }
        }
    }
    answers
}

/// The JSON that the guide and README show.
fn guide_answers() -> Vec<Answer> {
    let commands = commands();
    let chapters = fs::read_dir(root().join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut answers = Vec::new();
    for page in chapters.chain([root().join("README.md")]) {
        let (mut schema, at) = (None, page.display().to_string());
        for line in fs::read_to_string(&page).unwrap().lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                let last = command.rsplit_once("memories ").map_or("", |(_, arguments)| arguments);
                schema = json_command(&golden::split(last), &commands);
            } else if let (Some(schema), true) = (&schema, line.starts_with('{')) {
                let value = serde_json::from_str(line).unwrap();
                answers.push(Answer { schema: schema.clone(), value, at: at.clone() });
            }
        }
    }
    answers
}

/// Answers that no case shows, because they are long or change with the machine.
fn other_answers() -> Vec<Answer> {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = Vec::new();
    for line in [&["completions", "bash"][..], &["man"], &["man", "pages"]] {
        let output = memories(folder.path(), line).args(["--json", "--color", "always"]).output().unwrap();
        let value = serde_json::from_slice(&output.stdout).unwrap();
        answers.push(Answer { schema: line[0].to_owned(), value, at: line.join(" ") });
    }
    fs::write(folder.path().join("Memories.md"), "## World\n").unwrap();
    let output = memories(folder.path(), &["edit", "world", "--json", "--color", "always"])
        .env("EDITOR", "true")
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap();
    answers.push(Answer { schema: "edit".to_owned(), value, at: "edit world".to_owned() });
    #[cfg(feature = "proxy")]
    answers.push(server_answer(
        folder.path(),
        &[
            "proxy",
            "--json",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            "http://127.0.0.1:9",
            "--provider",
            "offline",
        ],
    ));
    #[cfg(feature = "page")]
    {
        answers.push(server_answer(folder.path(), &["serve", "--json", "--edit", "--listen", "127.0.0.1:0"]));
        let output = memories(folder.path(), &["report", "--json"]).output().unwrap();
        let value = serde_json::from_slice(&output.stdout).unwrap();
        answers.push(Answer { schema: "report".to_owned(), value, at: "report".to_owned() });
    }
    #[cfg(feature = "mcp")]
    answers.push(server_answer(folder.path(), &["mcp", "--json", "--http", "127.0.0.1:0"]));
    answers
}

/// The line of a server that listens.
#[cfg(feature = "page")]
fn server_answer(folder: &Path, arguments: &[&str]) -> Answer {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let mut child = memories(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let schema = arguments[0].to_owned();
    Answer { value: serde_json::from_str(&line).unwrap(), at: schema.clone(), schema }
}

fn all_answers() -> Vec<Answer> {
    golden_answers().into_iter().chain(guide_answers()).chain(other_answers()).collect()
}

#[cfg(feature = "full")]
#[test]
fn every_answer_keeps_to_the_schema_of_its_command() {
    let validators = validators();
    let answers = all_answers();
    let mut wrong = Vec::new();
    for Answer { schema, value, at } in &answers {
        let Some(validator) = validators.get(schema) else { panic!("{at}: `{schema}` has no schema") };
        for error in validator.iter_errors(value) {
            wrong.push(format!("{at}, {schema}.json, at `{}`: {error}", error.instance_path()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of_guide = guide_answers().len();
    assert!(of_guide >= 3, "the guide shows {of_guide} answers");
    let used: BTreeSet<&str> = answers.iter().map(|answer| answer.schema.as_str()).collect();
    let unused = validators.keys().map(String::as_str).filter(|name| !used.contains(name) && *name != "turn");
    let unused: Vec<&str> = unused.filter(|name| !PARTS.contains(name)).collect();
    let servers = [
        ("mcp", cfg!(feature = "mcp")),
        ("proxy", cfg!(feature = "proxy")),
        ("report", cfg!(feature = "page")),
        ("serve", cfg!(feature = "page")),
    ];
    let missing: Vec<&str> = servers.iter().filter(|(_, built)| !built).map(|(name, _)| *name).collect();
    assert_eq!(unused, missing, "schemas that no answer is validated against");
}

/// Every object in a value, by its path.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(path.to_owned());
            fields.iter().for_each(|(name, value)| objects(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| objects(value, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn a_field_more_is_refused_wherever_it_stands() {
    let validators = validators();
    let tried = RefCell::new(0);
    for Answer { schema, value, at } in all_answers() {
        let mut paths = Vec::new();
        objects(&value, "", &mut paths);
        // Names of files may hold a slash, and so may no field of ours.
        for path in paths.iter().filter(|path| !OPEN.iter().any(|open| path.starts_with(open))) {
            let mut wrong = value.clone();
            let Some(Value::Object(fields)) = wrong.pointer_mut(path) else { continue };
            fields.insert("surprise".to_owned(), json!(true));
            assert!(!validators[&schema].is_valid(&wrong), "{at}: {schema}.json allows more at `{path}`");
            *tried.borrow_mut() += 1;
        }
    }
    assert!(*tried.borrow() > 500, "{} objects", tried.borrow());
}

#[test]
fn a_wrong_answer_is_refused() {
    let validators = validators();
    let memory = json!({
        "scope": "location:5", "name": "", "category": "NOTE", "persistence": "permanent", "status": "active",
        "title": "Lamp", "text": "It is lit.", "importance": 500, "author": "person",
    });
    let top = |memory: &Value| json!({"version": 1, "memories": [memory]});
    assert!(validators["top"].is_valid(&top(&memory)));
    let names: Vec<String> = memory.as_object().unwrap().keys().cloned().collect();
    for name in names {
        let mut without = memory.clone();
        without.as_object_mut().unwrap().remove(&name);
        assert!(!validators["top"].is_valid(&top(&without)), "a memory without `{name}`");
        let mut null = memory.clone();
        null[&name] = Value::Null;
        assert!(!validators["top"].is_valid(&top(&null)), "a memory with `{name}` null");
    }
    for (name, value) in [
        ("content", json!("It is lit.")),
        ("importance", json!(1001)),
        ("episode", json!("1")),
        ("scope", json!("Attic")),
        ("status", json!("ACTIVE")),
        ("turns", json!({"first": 1})),
    ] {
        let mut wrong = memory.clone();
        wrong[name] = value;
        assert!(!validators["top"].is_valid(&top(&wrong)), "{wrong}");
    }
    for answer in [json!({"memories": []}), json!({"version": 2, "memories": []}), json!([])] {
        assert!(!validators["top"].is_valid(&answer), "{answer}");
    }
    let error = json!({"version": 1, "error": "no", "hint": null, "code": 4});
    assert!(validators["error"].is_valid(&error));
    assert!(!validators["error"].is_valid(&json!({"version": 1, "error": "no", "code": 4})));
    assert!(!validators["error"].is_valid(&json!({"version": 1, "error": "no", "hint": null, "code": 0})));
}

#[test]
fn recorded_turns_keep_to_the_schema_and_what_record_refuses_does_not() {
    let validators = validators();
    let turn = &validators["turn"];
    let mut count = 0;
    for file in fs::read_dir(root().join("fixtures/turns")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(&file).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(turn.is_valid(&value), "{}: {line}", file.display());
            count += 1;
        }
    }
    assert!(count > 1000, "{count} turns");
    for wrong in [
        json!({"action": "look", "response": "A field."}),
        json!({"action": "look", "location": 64}),
        json!({"response": "A field.", "location": 64}),
        json!({"action": "look", "response": "A field.", "location": -1}),
        json!({"action": "look", "response": "A field.", "location": 64, "turn": -1}),
        json!({"action": "look", "response": "A field.", "location": 64, "episode": "ep1b2"}),
        json!({"action": "look", "response": "A field.", "location": 64, "died": "yes"}),
        json!({"action": "look", "response": "A field.", "location": 64, "inventory_after": "sword"}),
    ] {
        assert!(!turn.is_valid(&wrong), "{wrong}");
        let folder = tempfile::tempdir().unwrap();
        let mut record = assert_cmd::Command::from_std(memories(folder.path(), &["record"]));
        record.write_stdin(wrong.to_string()).assert().code(4);
    }
    let mut unknown = json!({"action": "look", "response": "A field.", "location": 64});
    assert!(turn.is_valid(&unknown));
    unknown["scoreafter"] = json!(3);
    assert!(!turn.is_valid(&unknown), "a field that `record` warns of");
}
