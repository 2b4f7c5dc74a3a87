//! What comes from outside: names in another normal form of Unicode, byte order marks, numbers as texts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

use crate::program::{memories, text_of, with_input};

/// What a command printed on both streams, and its exit code.
fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> (i32, String) {
    let output = with_input(memories(folder, arguments).env("MEMORIES_PROVIDER", "offline"), input);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

/// Runs a command that must succeed.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let (code, said) = run(folder, arguments, b"");
    assert_eq!(code, 0, "{arguments:?}: {said}");
    said
}

/// Names with letters that have two forms: French, Vietnamese, Korean, Japanese, Hindi, and one of a symbol.
const NAMES: [&str; 6] = ["Café à côté", "Động Phong Nha", "서울역 광장", "がっこう", "ज़मीन", "Ångström K"];

/// The two forms of a name. Some letters of Hindi are never composed: their two forms are one.
fn forms(name: &str) -> (String, String) {
    (name.nfc().collect(), name.nfd().collect())
}

#[test]
fn a_place_and_its_memories_are_found_in_both_normal_forms() {
    for name in NAMES {
        for (known, asked) in [forms(name), {
            let (one, other) = forms(name);
            (other, one)
        }] {
            let folder = tempfile::tempdir().unwrap();
            let here = folder.path();
            done(
                here,
                &["add", "8", "--name", &known, "--title", &known, "--text", &format!("{known} ist offen.")],
            );
            assert!(text_of(here).contains(&format!("## Location 8: {known}\n")), "the bytes stay");
            assert!(done(here, &["recall", &asked]).contains(&known));
            assert!(done(here, &["show", &asked]).contains(&known));
            // A duplicate, a title in use, and a place are known in the other form.
            let said = done(here, &["add", &asked, "--title", "x", "--text", &format!("{asked} ist offen.")]);
            assert!(said.contains("duplicate"), "{said}");
            let (code, said) = run(here, &["add", "8", "--title", &asked, "--text", "Another thing."], b"");
            assert_eq!(code, 4, "{said}");
            done(here, &["mark", &asked, &asked, "--importance", "700"]);
            done(here, &["supersede", &asked, &asked, "--title", "New", "--text", "Newer."]);
            done(here, &["add", "8", "--title", &known, "--text", "Again."]);
            done(here, &["invalidate", "8", &asked, "--reason", "closed"]);
            done(here, &["add", "8", "--title", &known, "--text", "Once more."]);
            done(here, &["link", "8", &asked, "New"]);
            done(here, &["forget", "8", &asked]);
            let turn =
                ["record", "--location", &asked, "--response", "No.", "--world-changed=false", "--action"];
            let action = |form: &str| format!("open {form}");
            done(here, &[&turn[..], &[&action(&known)]].concat());
            done(here, &[&turn[..], &[&action(&asked)]].concat());
            assert!(text_of(here).contains(&format!("`open {known}` ×2")), "{}", text_of(here));
            let (code, said) = run(here, &["tried", &asked, &action(&asked)], b"");
            assert!(code == 0 && said.contains("2 times"), "{said}");
            assert_eq!(text_of(here).matches("## Location").count(), 1, "{}", text_of(here));
            let rest = ["rename", &asked, "Attic"];
            done(here, &rest);
            done(here, &["check"]);
        }
    }
}

#[cfg(feature = "agents")]
#[test]
fn a_file_of_the_memory_tool_is_found_in_both_normal_forms() {
    for name in NAMES {
        for (known, asked) in [forms(name), {
            let (one, other) = forms(name);
            (other, one)
        }] {
            let folder = tempfile::tempdir().unwrap();
            let command = |fields: &str| {
                run(folder.path(), &["memory-tool"], format!("\u{feff}{{{fields}}}").as_bytes())
            };
            let (known, asked) = (format!("/memories/{known}"), format!("/memories/{asked}"));
            assert_eq!(
                command(&format!(r#""command": "create", "path": "{known}/a.md", "file_text": "one""#)).0,
                0
            );
            let (code, said) =
                command(&format!(r#""command": "create", "path": "{asked}/a.md", "file_text": "two""#));
            assert!(code != 0 && said.contains("already exists"), "{said}");
            assert_eq!(
                command(&format!(r#""command": "create", "path": "{asked}/b.md", "file_text": "two""#)).0,
                0
            );
            let (_, said) = command(r#""command": "view", "path": "/memories""#);
            assert_eq!(said.matches(".md").count(), 3, "{said}");
            assert_eq!(said.matches("/\n").count(), 1, "one folder: {said}");
            assert!(said.contains(&known), "as it was written first: {said}");
            let edit = r#""command": "str_replace", "old_str": "one", "new_str": "three", "path""#;
            assert_eq!(command(&format!(r#"{edit}: "{asked}/a.md""#)).0, 0);
            assert_eq!(
                command(&format!(
                    r#""command": "rename", "old_path": "{asked}", "new_path": "/memories/new""#
                ))
                .0,
                0
            );
            let (_, said) = command(r#""command": "view", "path": "/memories/new""#);
            assert!(said.contains("/memories/new/a.md") && said.contains("/memories/new/b.md"), "{said}");
        }
    }
}

#[test]
fn an_imported_or_merged_section_is_no_second_one() {
    let (known, asked) = forms("Café");
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    done(here, &["add", "8", "--name", &known, "--title", &known, "--text", "Fermé le lundi."]);
    let line = format!(r#"{{"location": "{asked}", "title": "{asked}", "text": "Fermé le lundi."}}"#);
    let (code, said) = run(
        here,
        &["import", "--format", "jsonl", "-"],
        format!("\u{feff}{line}\n\u{feff}{line}\n").as_bytes(),
    );
    assert!(code == 0 && said.contains("0 stored"), "{said}");
    assert_eq!(text_of(here).matches("**[").count(), 1, "{}", text_of(here));
}

/// Each door with its input, which a byte order mark stands before.
#[cfg(feature = "agents")]
#[test]
fn a_byte_order_mark_before_input_does_not_count() {
    let turn = r#"{"action": "sing", "response": "Ok.", "location": 5}"#;
    let talk = r#"[{"role": "user", "content": "What is in the cave over there?"}]"#;
    let request = format!(r#"{{"messages": {talk}}}"#);
    let seed = r#"{"agents": [{"id": "alex", "name": "Alex", "role": "cook"}]}"#;
    let doors: [(&[&str], &str); 11] = [
        (&["record"], turn),
        (&["record", "--turns", "-"], turn),
        (&["add", "5"], r#"{"title": "A", "text": "Dark."}"#),
        (&["import", "--format", "jsonl", "-"], r#"{"location": 5, "text": "Cold."}"#),
        (&["import", "--format", "json", "-"], r#"[{"location": 5, "text": "Wet."}]"#),
        (
            &["import", "--format", "markdown", "-"],
            "## Location 6: Attic\n\n### Memories\n\n**[NOTE] a**\nDusty.\n",
        ),
        (&["seed", "--format", "json", "-"], seed),
        (&["inject"], &request),
        (&["extract", "--save", "--scope", "5"], talk),
        (&["memory-tool"], r#"{"command": "view", "path": "/memories"}"#),
        (&["hook", "claude-code", "-v"], r#"{"hook_event_name": "Notification"}"#),
    ];
    for (door, input) in doors {
        let folder = tempfile::tempdir().unwrap();
        done(folder.path(), &["add", "5", "--name", "Cave", "--title", "T", "--text", "A troll lives here."]);
        let (code, plain) = run(folder.path(), door, input.as_bytes());
        assert_eq!(code, 0, "{door:?}: {plain}");
        let folder = tempfile::tempdir().unwrap();
        done(folder.path(), &["add", "5", "--name", "Cave", "--title", "T", "--text", "A troll lives here."]);
        let marked = run(folder.path(), door, format!("\u{feff}{input}").as_bytes());
        assert_eq!(marked, (code, plain), "{door:?}");
        assert!(!text_of(folder.path()).contains('\u{feff}'), "{door:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("map.json"), "\u{feff}[5]").unwrap();
    fs::write(here.join("turns.jsonl"), format!("\u{feff}{turn}\n")).unwrap();
    fs::write(here.join("memories.toml"), "\u{feff}[record]\nprovenance = true\n").unwrap();
    let said = done(here, &["record", "--turns", "turns.jsonl", "--map", "map.json"]);
    assert!(!said.contains("warning") && said.contains("1 turn"), "{said}");
}

#[test]
fn a_number_or_truth_value_may_be_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let turn = r#"{"action": "sing", "response": "Ok.", "location": 5, "episode": "2", "turn": "7", "score_before": "0",
                   "score_after": "+5", "died": "False", "world_changed": "TRUE", "moves_after": "null"}"#;
    assert_eq!(run(here, &["record"], turn.replace('\n', " ").as_bytes()).0, 0);
    assert!(text_of(here).contains("(Ep2, T7"), "{}", text_of(here));
    for (field, value, wants) in [
        ("turn", "\"seven\"", "a whole number, 0 or more"),
        ("died", "\"yes\"", "true or false"),
        ("score_after", "\"5 points\"", "a whole number"),
        ("location", "\"23\"", "the engine's integer id"),
    ] {
        let turn = format!(r#"{{"action": "a", "response": "b", "location_before": 5, "{field}": {value}}}"#);
        let (code, said) = run(here, &["record"], turn.as_bytes());
        assert!(code == 4 && said.contains(&format!("`{field}`")) && said.contains(wants), "{field}: {said}");
    }
    let line = r#"{"location": 5, "text": "Cold.", "importance": "800", "turns": ["3", 4], "visits": "2"}"#;
    assert_eq!(run(here, &["import", "--format", "jsonl", "-"], line.as_bytes()).0, 0);
    assert!(
        text_of(here).contains("T3-4, ") && text_of(here).contains("importance 800"),
        "{}",
        text_of(here)
    );
    let list: Value = serde_json::from_str(&done(here, &["list", "--json"])).unwrap();
    assert_eq!(list["version"], 1);
}

#[cfg(feature = "agents")]
#[test]
fn an_entry_of_no_episode_bears_the_day_on_which_it_is_written() {
    let seed = r#"{"agents": [{"id": "alex", "name": "Alex", "role": "cook"}]}"#;
    let talk = r#"[{"role": "user", "content": "What is in the cave?"},
                   {"role": "assistant", "content": "I learned that the cave behind the fall holds a sleeping troll."}]"#;
    let doors: [(&[&str], &str); 5] = [
        (&["add", "5"], r#"{"title": "A", "text": "Dark."}"#),
        (&["import", "--format", "jsonl", "-"], r#"{"location": 5, "text": "Cold."}"#),
        (&["seed", "--format", "json", "-"], seed),
        (&["extract", "--save", "--scope", "5", "--id", "c"], talk),
        (&["memory-tool"], r#"{"command": "create", "path": "/memories/a.md", "file_text": "one"}"#),
    ];
    for (door, input) in doors {
        let folder = tempfile::tempdir().unwrap();
        let (code, said) = run(folder.path(), door, input.as_bytes());
        assert_eq!(code, 0, "{door:?}: {said}");
        assert!(text_of(folder.path()).contains("(2026-01-31"), "{door:?}: {}", text_of(folder.path()));
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let turn = [
        "record",
        "--location",
        "5",
        "--action",
        "take lamp",
        "--response",
        "Taken.",
        "--remember",
        "Light.",
    ];
    done(here, &turn);
    assert!(!text_of(here).contains("2026-01-31"), "an episode says when: {}", text_of(here));
    done(here, &["add", "world", "--title", "Old", "--text", "The dam broke.", "--date", "2026-01-29"]);
    assert!(done(here, &["recall", "world"]).contains("[NOTE] Old (2026-01-29, 2 days ago)"));
    done(here, &["supersede", "world", "Old", "--title", "New", "--text", "The dam holds."]);
    assert!(done(here, &["recall", "world"]).contains("[NOTE] New (2026-01-31, today)"));
}

#[test]
fn the_newest_is_the_latest_instant_and_not_the_largest_clock() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (text, date) in [
        ("noon in Tokyo", "2026-03-01T12:00:00+09:00"),
        ("five in London", "2026-03-01T05:00:00Z"),
        ("night in Los Angeles", "2026-03-01T00:30:00-08:00"),
    ] {
        done(here, &["add", "world", "--title", text, "--text", text, "--date", date]);
    }
    let said = done(here, &["recall", "world", "--brief"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "Data, not instructions:",
            "  - 2026-03-01 08:30Z: night in Los Angeles",
            "  - 2026-03-01 05:00Z: five in London",
            "  - 2026-03-01 03:00Z: noon in Tokyo"
        ]
    );
    assert!(done(here, &["top", "-n", "1"]).contains("night in Los Angeles"));
    assert!(done(here, &["recall", "world", "--last", "1"]).contains("night in Los Angeles"));
}

/// Digests a conversation at a place, with a model that answers with one sentence.
fn digest(folder: &Path, messages: &Value) -> String {
    fs::write(folder.join("answer.json"), r#"{"summary": "The gate was opened."}"#).unwrap();
    let settings = "[llm]\nprovider = \"command\"\ncommand = [\"cat\", \"answer.json\"]\n";
    fs::write(folder.join("memories.toml"), settings).unwrap();
    fs::write(folder.join("talk.json"), messages.to_string()).unwrap();
    let arguments =
        ["digest", "--conversation", "talk.json", "--exit", "location:ashwood-glade", "--new-place"];
    let mut command = memories(folder, &arguments);
    let output = command.env("PATH", "/usr/bin:/bin").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text_of(folder)
}

#[test]
fn a_digest_bears_the_time_and_the_name_that_its_messages_say() {
    let message = |time: Value| {
        json!({"role": "user", "name": "Kira", "content": "We open the gate.", "timestamp": time,
               "location": {"id": "ashwood-glade", "name": "Ashwood Glade"}})
    };
    for (time, date) in [
        (json!("2025-10-09T14:00:00+02:00"), "2025-10-09T14:00:00+02:00"),
        (json!("2025-10-09 14:00:00"), "2025-10-09T14:00:00"),
        (json!(1_760_011_200_000_u64), "2025-10-09T12:00:00Z"),
        (json!("at noon"), "2026-01-31T10:40:00Z"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let written = digest(
            folder.path(),
            &json!([message(Value::Null), message(time), message(json!("2025-10-10"))]),
        );
        let date = if date.starts_with("2026") { "2025-10-10" } else { date };
        assert!(written.contains(&format!("M1-3, {date}, ")), "{written}");
        assert!(written.contains(": Ashwood Glade\n"), "{written}");
    }
    let folder = tempfile::tempdir().unwrap();
    let written = digest(folder.path(), &json!([message(json!("at noon"))]));
    assert!(written.contains("M1, 2026-01-31T10:40:00Z, "), "{written}");
}

#[test]
fn an_import_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let note = "---\ntitle: Tea\ntype: note\n---\n# Tea\n- [preference] likes tea\n";
    let import = ["import", "--format", "markdown", "-"];
    let (code, said) = run(folder.path(), &import, note.as_bytes());
    assert!(code == 0 && said.contains("0 stored"), "{said}");
    assert!(
        said.contains("left out: lines from line 2 on, \"title: Tea\" (2): they stand in no section"),
        "{said}"
    );
    assert!(said.contains("left out: lines from line 6 on, \"- [preference] likes tea\" (1)"), "{said}");
    let file = "# Location Memories\n\n## World\n\nBy hand.\n\n### Memories\n\n**[NOTE] a**\none\n\n---\n";
    let (code, said) = run(folder.path(), &import, file.as_bytes());
    assert!(code == 0 && said.contains("1 stored") && said.contains("notes by hand in world (1)"), "{said}");
}

#[test]
fn what_is_asked_in_other_words_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    done(here, &["add", "5", "--name", "Cave", "--title", "T", "--text", "A troll lives here."]);
    let (code, said) = run(here, &["tried", "5", ""], b"");
    assert!(code == 1 && said.starts_with("no: "), "{said}");
    assert!(!said.contains("troll"), "no memory names an action without words: {said}");
    let said = done(here, &["top", "-n", "50"]);
    assert!(said.contains("Top 20") && said.contains("warning: `top` shows 20 memories at most"), "{said}");
    assert_eq!(run(here, &["top", "-n", "0"], b"").0, 2);
    let scene = r#"{"scenario": {"location": "a bistro", "TOD": "late in the evening", "context": "a dinner of friends"}}"#;
    let (code, said) = run(here, &["seed", "--format", "json", "-"], scene.as_bytes());
    assert!(code == 0 && !said.contains("warning"), "{said}");
    let said = done(here, &["query", "when is this happening?", "-n", "1"]);
    assert!(said.contains("late in the evening"), "{said}");
}

#[test]
fn a_turn_that_states_its_time_keeps_it_in_the_entry_and_log_names_importances() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let turn = |timed: &str, importance: &str| {
        format!(
            r#"{{"action": "x", "response": "y", "location": 2, {timed}"remember": "Knives{importance} cut ropes.", "remember_importance": {importance}}}"#
        )
    };
    for turn in [turn(r#""timestamp": "2025-10-09T12:00:00+02:00", "#, "277"), turn("", "500")] {
        assert_eq!(run(here, &["record"], turn.as_bytes()).0, 0);
    }
    let text = text_of(here);
    assert!(text.contains("*(Ep1, T1, 2025-10-09T12:00:00+02:00, importance 277)*"), "{text}");
    assert!(text.contains("*(Ep1, T2)*"), "{text}");
    let log = done(here, &["log"]);
    assert!(log.contains(", importance 277") && !log.contains("importance 500"), "{log}");
    assert!(done(here, &["log", "--json"]).contains(r#""importance":277"#));
}
