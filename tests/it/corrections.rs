//! Corrections through the command line: by exact title, in one step, nothing lost.

use std::fs;
use std::path::Path;

use crate::program::{former_text, memories};
use assert_cmd::Command;
use serde_json::Value;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.ok(&[
            "add",
            "23",
            "--name",
            "Cave",
            "--title",
            "Troll is kind",
            "--text",
            "It took the lunch.",
        ]);
        place.ok(&["add", "23", "--title", "Sword glows", "--text", "It glows blue near danger.", "--core"]);
        place
    }

    fn command(&self) -> Command {
        Command::from_std(memories(self.0.path(), &[]))
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.command().args(args).write_stdin("").assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    }

    fn refused(&self, args: &[&str]) -> String {
        let before = self.text();
        let output = self.command().args(args).write_stdin("").assert().code(4).get_output().stderr.clone();
        assert_eq!(self.text(), before, "{args:?} changed the file");
        String::from_utf8(output).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.0.path().join("Memories.md")).unwrap()
    }

    fn session(&self) -> String {
        let path: &Path = &self.0.path().join(".memories/Memories.md/session.md");
        fs::read_to_string(path).unwrap_or_default()
    }
}

#[test]
fn supersede_strikes_and_stores_in_one_write() {
    let place = Place::new();
    let args = [
        "supersede",
        "Cave",
        "[troll is kind]",
        "--title",
        "Troll attacks",
        "--text",
        "Gifts only delay it.",
    ];
    assert_eq!(
        place.ok(&args),
        "superseded \"Troll is kind\" in location:23\nstored \"Troll attacks\" in location:23\n"
    );
    let text = place.text();
    assert!(text.contains("[Superseded at Ep1 by \"Troll attacks\"]\n~~It took the lunch.~~\n"), "{text}");
    assert!(former_text(place.0.path()).contains("\nIt took the lunch."));
    assert!(!place.ok(&["recall", "23"]).contains("kind"));
}

#[test]
fn a_successor_may_have_the_same_title() {
    let place = Place::new();
    place.ok(&[
        "supersede",
        "23",
        "Sword glows",
        "--title",
        "Sword glows",
        "--text",
        "It glows near trolls.",
    ]);
    let text = place.text();
    assert!(text.contains("**[NOTE - CORE] Sword glows** *(2026-01-31)*\nIt glows near trolls.\n"), "{text}");
    assert!(text.contains("[Superseded at Ep1 by \"Sword glows\"]\n~~"), "{text}");
    assert!(place.ok(&["check"]).is_empty(), "a title that supersedes itself is no circle");
}

#[test]
fn invalidate_takes_several_titles_and_one_reason() {
    let place = Place::new();
    place.ok(&["invalidate", "23", "Troll is kind", "Sword glows", "--reason", "All \"lies\"."]);
    assert_eq!(place.text().matches("[Invalidated at Ep1: \"All \\\"lies\\\".\"]").count(), 2);
    let refused = place.refused(&["invalidate", "23", "Sword glows", "--reason", "again"]);
    assert!(refused.contains("no live memory of location:23 is called `Sword glows`"), "{refused}");
}

#[test]
fn what_is_not_allowed_changes_nothing() {
    let place = Place::new();
    let hint = place.refused(&["forget", "23", "Troll is"]);
    assert!(hint.contains("did you mean `Troll is kind`?"), "{hint}");
    place.refused(&["invalidate", "23", "Troll is kind", "--reason", "  "]);
    place.refused(&["supersede", "23", "Sword glows", "--text", "It hums.", "--title", "Hum", "--ephemeral"]);
    place.refused(&["supersede", "23", "Sword glows", "--text", "New.", "--title", "Troll is kind"]);
    place.refused(&["mark", "23", "Sword glows", "--persistence", "ephemeral"]);
    place.refused(&["mark", "23", "Sword glows"]);
    place.refused(&["rename", "24", "Attic"]);
    place.refused(&["rename", "23", " "]);
}

#[test]
fn mark_strikes_and_revives() {
    let place = Place::new();
    let before = place.text();
    place.ok(&["mark", "23", "Troll is kind", "--status", "superseded"]);
    let reference = "[Invalidated at Ep1: \"marked as superseded\"]";
    let struck = format!(
        "**[NOTE - SUPERSEDED] Troll is kind** *(2026-01-31)*\n{reference}\n~~It took the lunch.~~\n"
    );
    assert!(place.text().contains(&struck));
    place.ok(&["mark", "23", "Troll is kind", "--status", "active"]);
    assert_eq!(place.text(), before);
    place.ok(&["mark", "23", "Troll is kind", "--importance", "9", "--status", "tentative"]);
    assert!(
        place.text().contains("**[NOTE - TENTATIVE] Troll is kind** *(2026-01-31, importance 9)*\nIt took")
    );
}

#[test]
fn forgetting_leaves_the_file_and_stays_in_the_journal() {
    let place = Place::new();
    place.ok(&["forget", "23", "Troll is kind"]);
    assert!(!place.text().contains("lunch"));
    let journal = fs::read_to_string(place.0.path().join(".memories/Memories.md/journal.jsonl")).unwrap();
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!(last["corrected"][0]["memory"]["text"], "It took the lunch.");
    place.ok(&["restore"]);
    assert!(place.text().contains("lunch"));
}

#[test]
fn twins_made_by_hand_are_told_apart_by_line() {
    let place = Place::new();
    let twin = "\n**[NOTE] Sword glows**\nA twin.\n";
    fs::write(
        place.0.path().join("Memories.md"),
        place.text().replacen("\n**[NOTE] Troll", &format!("{twin}\n**[NOTE] Troll"), 1),
    )
    .unwrap();
    let refused = place.refused(&["forget", "23", "Sword glows"]);
    assert!(refused.contains("say which one with `--line`, one of 7, 13"), "{refused}");
    place.ok(&["forget", "23", "Sword glows", "--line", "7"]);
    assert!(!place.text().contains("A twin.") && place.text().contains("glows blue"));
}

#[test]
fn many_corrections_are_all_or_nothing() {
    let place = Place::new();
    let before = place.text();
    let send = |text: &str| place.command().args(["mark", "--json"]).write_stdin(text).output().unwrap();
    let bad = send(
        r#"[{"scope": "23", "title": "Sword glows", "importance": 900}, {"scope": "23", "title": "None", "importance": 1}]"#,
    );
    assert_eq!((bad.status.code(), place.text()), (Some(4), before.clone()));
    let both = send(
        r#"[{"command": "invalidate", "scope": "23", "titles": ["Sword glows"], "reason": "no"},
            {"command": "supersede", "scope": "23", "titles": ["sword glows"], "title": "x", "text": "y"}]"#,
    );
    assert!(String::from_utf8(both.stderr).unwrap().contains("both superseded and invalidated"));
    assert_eq!(place.text(), before);
    let good = send(
        r#"[{"scope": "23", "title": "Sword glows", "importance": 900}, {"command": "rename", "scope": "23", "name": "Troll Cave"},
            {"command": "invalidate", "scope": "23", "titles": ["Troll is kind"], "reason": "It bites."}]"#,
    );
    assert_eq!(good.status.code(), Some(0), "{}", String::from_utf8_lossy(&good.stderr));
    let answer: Value = serde_json::from_slice(&good.stdout).unwrap();
    let outcomes: Vec<&Value> =
        answer["results"].as_array().unwrap().iter().map(|result| &result["outcome"]).collect();
    assert_eq!(outcomes, ["marked", "renamed", "invalidated"]);
    assert!(place.text().contains("## Location 23: Troll Cave"));
}

#[test]
fn a_dry_run_changes_nothing() {
    let place = Place::new();
    let before = place.text();
    assert_eq!(
        place.ok(&["forget", "23", "Sword glows", "--dry-run"]),
        "would be forgotten \"Sword glows\" in location:23\n"
    );
    assert_eq!(place.text(), before);
}

#[test]
fn ephemeral_memories_end_with_their_episode() {
    let place = Place::new();
    let before = place.text();
    place.ok(&["add", "23", "--title", "Door is open", "--text", "I left the door open.", "--ephemeral"]);
    place.ok(&["add", "23", "--title", "Rope lies here", "--text", "I dropped the rope.", "--ephemeral"]);
    assert_eq!(place.text(), before);
    let recalled = place.ok(&["recall", "23"]);
    assert!(
        recalled.contains(
            "\nThis episode only:\n[NOTE] Door is open (2026-01-31, today)\n  I left the door open.\n"
        ),
        "{recalled}"
    );
    place.refused(&["add", "23", "--title", "door is OPEN", "--text", "Something else entirely."]);
    place.ok(&["invalidate", "23", "Rope lies here", "--reason", "It is gone."]);
    assert!(!place.ok(&["recall", "23"]).contains("Rope"));
    place.ok(&["mark", "23", "Door is open", "--persistence", "permanent"]);
    assert!(place.text().contains("**[NOTE] Door is open** *(2026-01-31)*\nI left the door open.\n"));
    place.ok(&["add", "23", "--title", "Lamp is lit", "--text", "The lamp is lit.", "--ephemeral"]);
    let output = place.command().args(["episode", "start"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2\n");
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("removed 1 ephemeral memory"));
    assert!(!place.ok(&["recall", "23"]).contains("Lamp"));
    assert_eq!(place.session(), "");
}

#[test]
fn a_link_joins_what_is_protected_and_ephemeral_and_leaves_the_author() {
    let place = Place::new();
    place.ok(&["add", "23", "--title", "Lamp is on", "--text", "The lamp burns.", "--ephemeral"]);
    let turn = r#"{"turn": 3, "location": 23, "action": "look", "response": "A grating.",
        "remember": "Grating"}"#;
    place.command().arg("record").write_stdin(turn).assert().success();
    let author = |title: &str| {
        let section: Value = serde_json::from_str(&place.ok(&["show", "23", "--json"])).unwrap();
        let mut memories = section["memories"].as_array().unwrap().iter();
        memories.find(|memory| memory["title"] == title).unwrap()["author"].clone()
    };
    assert_eq!((author("Grating"), author("Sword glows")), ("agent".into(), "person".into()));

    let both = "linked \"Grating\" in location:23\nlinked \"Sword glows\" in location:23\n";
    assert_eq!(place.ok(&["link", "23", "Grating", "Sword glows"]), both);
    assert_eq!((author("Grating"), author("Sword glows")), ("agent".into(), "person".into()));
    let one = "linked \"Lamp is on\" in location:23\nunchanged \"Grating\" in location:23: the other one is ephemeral";
    assert!(place.ok(&["link", "23", "Lamp is on", "Grating"]).starts_with(one));
    assert!(place.session().contains("See also: [[Location 23 › Grating]]"), "{}", place.session());
    assert!(place.ok(&["check"]).is_empty());

    // Nothing is written where one of the two is not there.
    let text = place.refused(&["link", "23", "Sword glows", "Nowhere"]);
    assert!(text.contains("no live memory of location:23 is called `Nowhere`"), "{text}");
}

#[test]
fn an_ephemeral_memory_may_be_superseded_by_a_lasting_one() {
    let place = Place::new();
    place.ok(&["add", "23", "--title", "Door is open", "--text", "I left the door open.", "--ephemeral"]);
    place.ok(&[
        "supersede",
        "23",
        "Door is open",
        "--title",
        "Door never closes",
        "--text",
        "Its hinge is broken.",
    ]);
    assert!(place.text().contains("Door never closes"));
    assert!(place.session().contains("[Superseded at Ep1 by \"Door never closes\"]"));
}

#[test]
fn what_a_model_calls_ephemeral_goes_to_the_session() {
    let place = Place::new();
    let before = place.text();
    let answer = r#"{"answer": {"should_remember": true, "memory_title": "Grating is open", "persistence": "ephemeral",
        "memory_text": "The grating stands open until it is closed.", "supersedes": ["Sword glows"]}}"#;
    fs::write(place.0.path().join("answers.jsonl"), answer.replace('\n', " ")).unwrap();
    let settings = "[llm]\nprovider = \"replay\"\nreplay = \"answers.jsonl\"\n";
    fs::write(place.0.path().join("memories.toml"), settings).unwrap();
    let turn = r#"{"action": "open grating", "response": "Opened.", "location": 23, "world_changed": true}"#;
    let output = place.command().arg("record").write_stdin(turn).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("contested \"Sword glows\", which stays (a person wrote it)"), "{stdout}");
    let contesting = "**[NOTE - TENTATIVE] Grating is open** *(Ep1, T1, #contested)*";
    assert!(place.session().contains(contesting), "{}", place.session());
    let entries = |text: &str| {
        text.lines().filter(|line| line.starts_with("**[")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(entries(&place.text()), entries(&before));
    assert!(place.ok(&["recall", "23"]).contains("This episode only:\n[NOTE] Grating is open"));
}
