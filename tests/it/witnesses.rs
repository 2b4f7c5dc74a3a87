//! No command that reads for a character gives away what others witnessed, and no change of the file loses a witness.
//!
//! The property runs 2 worlds, or as many as `PROPTEST_CASES` says.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use crate::program::{memories, with_input};

#[path = "../support/witnessed_world.rs"]
mod witnessed_world;
use witnessed_world::{AGENTS, Play, World, plays, worlds};

/// Stdout and stderr of a command.
fn said(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = with_input(&mut memories(folder, arguments), input);
    assert_ne!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

const REQUEST: &str =
    r#"{"model": "m", "messages": [{"role": "user", "content": "Where is the lamp of the troll?"}]}"#;

fn doors() -> Vec<Vec<&'static str>> {
    let scopes: Vec<&str> = World::scopes().collect();
    let with = |first: &[&'static str], more: &[&'static str]| [first, &*scopes, more].concat();
    let mut doors = vec![
        with(&["recall"], &["--all"]),
        with(&["recall"], &["--json"]),
        with(&["recall"], &["--brief"]),
        with(&["recall"], &["--format", "xml", "--last", "1"]),
        vec!["query", "where is the lamp of the troll?", "-n", "20", "--all"],
        vec!["query", "where is the lamp of the troll?", "-n", "20", "--all", "--json"],
        vec!["query", "Tq0 Lamp"],
        vec!["query", "lamp", "--tag", "witness:mart", "--category", "NOTES"],
        vec!["query", "where is the lamp?", "--answer"],
        vec!["list", "--json"],
        vec!["show", "--all"],
        vec!["show", "--all", "--json"],
        vec!["top", "-n", "20"],
        vec!["top", "--decay", "--json"],
        vec!["goals", "--json"],
        vec!["tried", "1", "take lamp"],
        vec!["tried", "1", "open door", "--json"],
        vec!["summarize", "1"],
        vec!["map"],
        vec!["map", "--json"],
        vec!["map", "near", "1", "--steps", "9"],
        vec!["map", "near", "1", "--json"],
        vec!["map", "near"],
        vec!["map", "frontier", "1", "--json"],
        vec!["map", "frontier"],
        vec!["map", "path", "1", "2"],
        vec!["map", "path", "3", "--json"],
        vec!["route"],
        vec!["route", "--from", ".", "--json"],
        vec!["export", "-"],
        vec!["export", "--format", "json", "-"],
        vec!["export", "--format", "markdown", "-"],
        vec!["chat", "inject", "--min-similarity", "0"],
        vec!["chat", "inject", "--min-similarity", "0", "--json"],
    ];
    doors.extend(scopes.iter().map(|scope| vec!["show", *scope]));
    if cfg!(feature = "full") {
        doors.push(vec!["export", "--format", "world-info", "-"]);
        doors.push(vec!["export", "--format", "agents-md", "-"]);
    }
    doors
}

fn check(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), world.file()).unwrap();
    for agent in AGENTS {
        for door in doors() {
            let arguments = [&*door, &["--as", agent]].concat();
            world.assert_kept(agent, &door.join(" "), &said(folder.path(), &arguments, REQUEST));
        }
    }
    assert_eq!(fs::read_to_string(folder.path().join("Memories.md")).unwrap(), world.file());
}

#[test]
fn no_command_for_a_character_gives_away_what_others_witnessed() {
    proptest!(crate::cases(2), |(world in worlds())| check(&world));
}

fn check_play(play: &Play) {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), &["record", "--turns", "-"], &play.lines());
    let path = folder.path().join("Memories.md");
    let text = fs::read_to_string(&path).unwrap();
    for agent in AGENTS {
        for door in doors() {
            let past = ["--as-of", "1"];
            let past = if ["list", "recall", "map", "route"].contains(&door[0]) { &past[..] } else { &[] };
            let arguments = [&*door, &["--as", agent]].concat();
            play.assert_kept(agent, &door.join(" "), &said(folder.path(), &arguments, REQUEST));
            if !past.is_empty() {
                let arguments = [&*arguments, past].concat();
                play.assert_kept(agent, &door.join(" "), &said(folder.path(), &arguments, REQUEST));
            }
        }
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn no_command_for_a_character_gives_away_what_was_said_in_its_absence() {
    proptest!(crate::cases(2), |(play in plays())| check_play(&play));
}

#[test]
fn no_change_of_the_file_loses_a_witness() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    let entry = "**[NOTE] Key** *(2026-01-30, #witness:marta, #told-by:jordan)*\nThe key is here.\n";
    let base = format!("# Location Memories\n\n## World\n\n### Memories\n\n{entry}\n---\n");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("Memories.md", &base);
    said(folder.path(), &["fmt"], "");
    said(folder.path(), &["check", "--fix"], "");
    assert_eq!(fs::read_to_string(&path).unwrap(), base);
    // Each side tells somebody else.
    write("base", &base);
    write("ours", &base.replace("#witness:marta", "#witness:marta, #witness:alex"));
    write("theirs", &base.replace("#witness:marta", "#witness:marta, #witness:casey"));
    let merged = said(folder.path(), &["merge", "base", "ours", "theirs", "-o", "-"], "");
    for id in ["marta", "alex", "casey"] {
        assert!(merged.contains(&format!("#witness:{id}")), "{merged}");
    }
    let endings = ["jsonl", "json", "md", "db"];
    for ending in &endings[..if cfg!(feature = "sqlite") { 4 } else { 3 }] {
        let copy = file(&format!("copy.{ending}"));
        said(folder.path(), &["export", &copy], "");
        fs::remove_file(&path).unwrap();
        said(folder.path(), &["import", &copy], "");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(entry.lines().next().unwrap()), "{ending}: {text}");
        write("Memories.md", &base);
    }
}
