//! Who wrote an entry, as this machine saw it: an editor, a clone, a pull.

use std::fs;

use super::World;

/// Records a turn that a model judges; answers with the line that is printed.
fn record(world: &World, folder: &str, (turn, title, text): (u64, &str, &str)) -> String {
    let answer = format!(
        r#"{{"should_remember": true, "category": "NOTE", "memory_title": "{title}", "memory_text": "{text}"}}"#
    );
    fs::write(world.at("answer.json"), answer).unwrap();
    fs::write(
        world.at("model.toml"),
        format!("[llm]\nprovider = \"command\"\ncommand = [\"cat\", {:?}]\n", world.at("answer.json")),
    )
    .unwrap();
    let config = world.at("model.toml");
    let (response, number) = (format!("{text} ").repeat(6), turn.to_string());
    world.memories(
        folder,
        &[
            "record",
            "--config",
            config.to_str().unwrap(),
            "--location",
            "7:Mill",
            "--action",
            "look",
            "--turn",
            &number,
            "--response",
            &response,
        ],
    )
}

fn append(world: &World, folder: &str, entry: &str) {
    let path = world.at(folder).join("Memories.md");
    let text = fs::read_to_string(&path).unwrap();
    let (memories, rest) = text.split_once("### Memories\n").unwrap();
    fs::write(path, format!("{memories}### Memories\n\n{entry}\n{rest}")).unwrap();
}

fn commit(world: &World, folder: &str) {
    world.git(folder, &["add", "-A"]);
    world.git(folder, &["commit", "-qm", "memories"]);
}

#[test]
fn what_git_brought_has_no_known_author_and_what_an_editor_wrote_is_a_persons() {
    let world = World::new();
    world.git(".", &["init", "-q", "one"]);
    record(&world, "one", (1, "Wheel", "The wheel turns in the water."));
    commit(&world, "one");
    // Git notes whole seconds, so an edit in the second of the clone cannot be told from the clone.
    let mut clone = world.command("git", ".", &["clone", "-q", "one", "two"]);
    assert!(clone.env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z").status().unwrap().success());
    let said = record(&world, "two", (2, "Wheel", "The wheel stands still in the water."));
    assert!(said.contains("superseded \"Wheel\""), "a clone's memories may be corrected: {said}");
    let text = world.text("two");
    assert!(text.contains("~~The wheel turns in the water.~~"), "the old words stay: {text}");

    // An editor's words are a person's, also after a commit of them.
    append(&world, "two", "**[NOTE] Stone**\nThe stone grinds corn.\n");
    let said = record(&world, "two", (3, "Stone", "The stone grinds bones."));
    assert!(said.contains("\"Stone\", which stays (a person wrote it)"), "{said}");
    append(&world, "two", "**[NOTE] Sack**\nThe sack holds flour.\n");
    commit(&world, "two");
    let said = record(&world, "two", (4, "Sack", "The sack holds sand."));
    assert!(said.contains("\"Sack\", which stays (a person wrote it)"), "{said}");
    commit(&world, "two");

    // An entry that a pull brings has no known author on this machine.
    record(&world, "one", (5, "Miller", "The miller sleeps at noon."));
    commit(&world, "one");
    world.git("two", &["pull", "-q", "--no-edit", "-X", "theirs"]);
    assert!(world.text("two").contains("The miller sleeps at noon."));
    let said = record(&world, "two", (6, "Miller", "The miller works at noon."));
    assert!(said.contains("superseded \"Miller\""), "{said}");
}
