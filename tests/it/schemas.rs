//! The JSON Schemas of `docs/schema`: every command has one, and help names no field that none has. With the feature
//! `checks`, a library holds the answers against them.

#[cfg(feature = "checks")]
mod answers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::program::memories;
use crate::root;

/// Schemas that are parts of others.
const PARTS: [&str; 2] = ["common", "memory"];

/// Schemas that are of no command.
const OTHERS: [&str; 4] = ["consolidate-grown", "error", "fmt", "turn"];

/// The schemas by name.
fn documents() -> BTreeMap<String, Value> {
    let files = fs::read_dir(root().join("docs/schema")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        })
        .collect()
}

/// All commands of the program, such as `recall` and `map path`.
pub(crate) fn commands() -> BTreeSet<String> {
    let output = memories(root(), &["help", "all"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let (list, _) = list.split_once("\nOptions:").unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    // A name takes the first column, of 12 characters.
    names.map(|line| line[..13].trim_end().to_owned()).collect()
}

/// The last word of a command's name, by which its schema and the folder of its cases are called.
pub(crate) fn short(command: &str) -> String {
    command.rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn every_command_has_a_schema_and_every_schema_is_listed() {
    let names: BTreeSet<String> = documents().into_keys().collect();
    let known = PARTS.into_iter().chain(OTHERS).map(str::to_owned);
    assert_eq!(names, commands().iter().map(|name| short(name)).chain(known).collect());
    let readme = fs::read_to_string(root().join("docs/schema/README.md")).unwrap();
    for name in PARTS.into_iter().chain(OTHERS) {
        assert!(readme.contains(&format!("({name}.json)")), "README.md does not list `{name}.json`");
    }
}

/// The names of properties and the values of lists in a schema.
fn names_in(schema: &Value, names: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        names.extend(properties.keys().cloned());
    }
    let values = schema["enum"].as_array().into_iter().flatten();
    names.extend(values.filter_map(|value| value.as_str().map(str::to_owned)));
    let parts = schema.as_object().into_iter().flat_map(|object| object.values());
    parts.chain(schema.as_array().into_iter().flatten()).for_each(|part| names_in(part, names));
}

/// The words of the text between its first pair of braces.
fn words_in_braces(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let end = text.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == '}' && depth == 0
    });
    let words = text[..end.unwrap_or(text.len())]
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '_');
    words.filter(|word| word.len() > 1 && !word.starts_with(|c: char| c.is_ascii_digit()))
}

#[test]
fn help_names_no_field_that_an_answer_lacks() {
    let mut names = BTreeSet::new();
    documents().values().for_each(|schema| names_in(schema, &mut names));
    let mut described = 0;
    for command in commands() {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = memories(root(), &words).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for (at, _) in help.match_indices("{version") {
            let unknown: Vec<&str> =
                words_in_braces(&help[at..]).filter(|word| !names.contains(*word)).collect();
            assert!(unknown.is_empty(), "`{command} --help` names {unknown:?}");
            described += 1;
        }
    }
    assert!(described > 35, "{described} answers are described");
}
