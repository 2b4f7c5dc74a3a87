//! Checks that must hold for any input, over the seeds of the fuzz targets and random changes of them.
//!
//! A quick version of `fuzz/run`, which needs tools of its own and minutes to build.
//! Each check gets 256 cases, or as many as `PROPTEST_CASES` says.

#[path = "../../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The seeds of the fuzzer: invented cases, the fixtures, the examples.
fn seeds(name: &str) -> Vec<String> {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let mut seeds: Vec<String> = files(&format!("fuzz/cases/{name}")).iter().map(read).collect();
    match name {
        "turn" => {
            for turns in
                files("fixtures/turns").iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
            {
                seeds.extend(read(turns).lines().step_by(25).map(str::to_owned));
            }
        }
        "answer" => {}
        _ => seeds.push(read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/Memories.md.example"))),
    }
    seeds
}

/// Fragments with a meaning in one of the formats.
const FRAGMENTS: [&str; 40] = [
    "\n",
    "\r\n",
    "\r",
    "\u{1}",
    "\u{0}",
    "\u{FEFF}",
    "\u{2028}",
    "é",
    "\t",
    " ",
    "#",
    "## ",
    "## Location 1: ",
    "## World",
    "### Memories\n",
    "### Tried\n",
    "---",
    "```",
    "~~~~",
    "<!--",
    "-->",
    "**",
    "**[NOTE] ",
    "]",
    "** *(",
    ")*",
    "*",
    "\\",
    "`",
    "- `",
    "[Superseded at T1 by \"",
    "\"]",
    "~~",
    "{",
    "}",
    "\"",
    "null",
    "1e400",
    "\\u12",
    ",",
];

/// A change of a text: the place, the length that is removed, the text that is inserted.
type Change = (prop::sample::Index, usize, Come);

#[derive(Debug, Clone)]
enum Come {
    Fragment(&'static str),
    Copy(prop::sample::Index, usize),
    Text(String),
}

fn change() -> impl Strategy<Value = Change> {
    let come = prop_oneof![
        4 => prop::sample::select(&FRAGMENTS[..]).prop_map(Come::Fragment),
        2 => (any::<prop::sample::Index>(), 0usize..60).prop_map(|(from, length)| Come::Copy(from, length)),
        1 => "\\PC{0,6}".prop_map(Come::Text),
    ];
    (any::<prop::sample::Index>(), prop_oneof![3 => Just(0usize), 2 => 0usize..4, 1 => 0usize..200], come)
}

fn changed(seed: &str, changes: &[Change]) -> String {
    let mut text: Vec<char> = seed.chars().collect();
    for (at, goes, comes) in changes {
        let at = at.index(text.len() + 1);
        let end = (at + goes).min(text.len());
        let comes: Vec<char> = match comes {
            Come::Fragment(text) => text.chars().collect(),
            Come::Text(text) => text.chars().collect(),
            Come::Copy(from, length) => {
                let from = from.index(text.len() + 1);
                text[from..(from + length).min(text.len())].to_vec()
            }
        };
        text.splice(at..end, comes);
    }
    text.into_iter().collect()
}

#[test]
fn the_seeds_hold() {
    for (name, check) in checks::ALL {
        for seed in seeds(name) {
            check(&seed);
        }
    }
}

fn changed_seeds_hold(name: &str) {
    let (_, check) = checks::ALL.into_iter().find(|(other, _)| *other == name).unwrap();
    let seed = prop::sample::select(seeds(name));
    proptest!(crate::cases(256), |(seed in seed, changes in prop::collection::vec(change(), 1..12))| {
        check(&changed(&seed, &changes));
    });
}

#[test]
fn changed_files_hold() {
    changed_seeds_hold("scan");
}

#[test]
fn changed_entries_hold() {
    changed_seeds_hold("entry");
}

#[test]
fn changed_turns_hold() {
    changed_seeds_hold("turn");
}

#[test]
fn changed_answers_hold() {
    changed_seeds_hold("answer");
}
