//! A key that comes in by any door is written nowhere: not to the memory file, not beside it, not to the terminal.
//!
//! A text that a person worded is kept as it is, with a warning.

use std::fs;
use std::path::Path;

use crate::program::{memories, with_input};

const FILE: &str = "# Location Memories\n\n## Location 23: Living Room\n**Visits:** 2 | **Episodes:** 1\n\n\
    ### Memories\n\n**[NOTE] One** *(Ep1, T1)*\nThe lamp stands on the case.\n\n\
    **[NOTE] Two** *(Ep1, T2)*\nThe rug hides a trap door.\n\n\
    **[NOTE] Three** *(Ep1, T2)*\nThe sword hangs above it.\n\n\
    **[NOTE] Four** *(Ep1, T2)*\nThe door is nailed shut.\n\n\
    **[NOTE] Five** *(Ep1, T2)*\nThe west door has runes.\n\n---\n";

/// A turn whose every text holds a key.
const TURN: &str = r#"{"id": "run @", "action": "type @", "reasoning": "it wants @", "mood of @": 3, "remember": "The code is @",
    "response": "You type @ on the old machine. It hums and whirs, prints a long line of letters, and falls silent again. Nothing else in the room has changed.",
    "location_before": {"id": 23, "name": "Room @"}, "location_after": {"id": 24, "name": "Hall @"},
    "inventory_before": ["card @"], "inventory_after": ["slip @"], "score_before": 0, "score_after": 5}"#;

/// A model's answer about a turn.
const JUDGED: &str = r#"{"should_remember": true, "category": "NOTE", "memory_title": "Code @",
    "memory_text": "Type @ on the machine in the room.", "reasoning": "because of @", "supersedes": ["@"],
    "invalidates": ["One", "old @"], "invalidation_reason": "It says @."}"#;

const CHAT: &str = r#"{"role": "user", "name": "Mira @", "content": "My key is @, remember it well, because I shall ask for it again tomorrow.", "location": {"id": 24, "name": "Hall @"}, "npcs_mentioned": ["troll"], "timestamp": "@"}
{"role": "assistant", "content": "I have learned that your key is @ and I discovered that it opens the gate of the old town.", "location": {"id": 24, "name": "Hall @"}}
"#;

const FOUND: &str = r#"{"memories": [{"category": "FACT", "importance": 500, "summary": "Mira's key is @ for the gate.", "context": "In the hall @"}]}"#;
const DIGESTED: &str = r#"{"summary": "Mira gave the key @ away."}"#;

/// Sections and memories whose every text holds a key.
const SECTIONS: &str = r#"{"version": 1, "sections": [{"scope": "location:30", "name": "Vault @", "visits": 1, "episodes": [1],
    "tried": [{"action": "say @", "count": 2, "reply": "No, not @"}], "worked": [{"action": "enter @", "count": 1, "reply": ""}],
    "ways": [{"action": "go @", "to": 31, "name": "Hall @", "count": 1}],
    "memories": [{"scope": "location:30", "category": "NOTE", "title": "Code @", "text": "It is @ here.", "persistence": "permanent",
        "status": "active", "context": "seen @", "fields": {"sources": ["file:@"], "tags": ["note:@"], "other": ["by @"], "goal": "find @"}}]},
    {"scope": "game", "name": "", "visits": 0, "episodes": [], "seen": [{"action": "read card @", "count": 1, "reply": "It says @."}], "memories": []}]}"#;
const LINES: &str = r#"{"location": {"id": 31, "name": "Cellar @"}, "title": "Key @", "content": "The key is @", "source": "file:@", "mood": "@"}
{"location": "Attic @", "content": "Here it is @"}
{"text": 7, "title": "@"}
"#;
const MARKDOWN: &str = "# Memories\n\n## Location 33: Shed @\n\n### Memories\n\n\
    **[NOTE - SUPERSEDED] Code @** *(Ep1, #key:@)*\n[Invalidated at Ep1: \"not @\"]\n~~It was @ here.~~\nContext: by @\n";
const PLAN: &str = r#"{"reasoning": "both say @", "decisions": [{"action": "drop", "titles": ["Five"], "reason": "It said @."},
    {"action": "merge", "titles": ["One", "Two"], "title": "Lamp @", "text": "The lamp stands on the case, the rug hides a trap door, the key is @.", "category": "NOTE", "reason": "@"}]}"#;

/// A way in: what it is called, the command, its stdin, and what a model answers, if one is asked.
struct Door {
    name: &'static str,
    arguments: &'static [&'static str],
    stdin: &'static str,
    answer: &'static str,
    code: i32,
}

const fn door(name: &'static str, arguments: &'static [&'static str], stdin: &'static str) -> Door {
    Door { name, arguments, stdin, answer: "", code: 0 }
}

const DOORS: &[Door] = &[
    door("record, by the rules", &["record"], TURN),
    Door { answer: JUDGED, ..door("record, by a model", &["record"], TURN) },
    door("record --later", &["record", "--later"], TURN),
    Door { answer: "no JSON but @", ..door("record, a model that babbles", &["record"], TURN) },
    door(
        "record, by flags",
        &["record", "--location", "23", "--action", "say @", "--response", "What is @?", "--reasoning", "@"],
        "",
    ),
    door(
        "extract, by the rules",
        &["extract", "--id", "chat @", "--mode", "every_turn", "--scope", "23"],
        CHAT,
    ),
    Door { answer: FOUND, ..door("extract, by a model", &["extract", "--mode", "every_turn"], CHAT) },
    door(
        "extract, a reply that waits",
        &["extract", "--mode", "periodic"],
        "I learned that the key of the gate is @.",
    ),
    Door {
        answer: DIGESTED,
        ..door("digest", &["digest", "--conversation", "-", "--id", "chat @", "--event", "story"], CHAT)
    },
    Door {
        code: 4,
        ..door("import, JSON Lines", &["import", "-", "--format", "jsonl", "--new-places"], LINES)
    },
    door("import, JSON", &["import", "-", "--format", "json"], SECTIONS),
    door("import, Markdown", &["import", "-", "--format", "markdown"], MARKDOWN),
    door("consolidate, a plan", &["consolidate", "23", "--plan", "-", "--apply"], PLAN),
    Door { answer: PLAN, ..door("consolidate, by a model", &["consolidate", "23", "--apply"], "") },
];

/// A made-up key of a known format.
fn key() -> String {
    format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R")
}

/// Everything that a folder holds, as one text; a database as its bytes.
fn contents(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let text = |path: &Path| {
        if path.is_dir() {
            contents(path)
        } else {
            String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
        }
    };
    entries.map(|entry| format!("{}\n{}\n", entry.path().display(), text(&entry.path()))).collect()
}

struct World {
    folder: tempfile::TempDir,
    /// Files that the program reads besides its stdin.
    inputs: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let world = World { folder: tempfile::tempdir().unwrap(), inputs: tempfile::tempdir().unwrap() };
        fs::write(world.folder.path().join("Memories.md"), FILE).unwrap();
        world
    }

    /// Runs a command; the exit code and all that it said.
    fn run(&self, arguments: &[&str], stdin: &str, answer: &str) -> (Option<i32>, String) {
        let with_key = |text: &str| text.replace('@', &key());
        let path = |name: &str| self.inputs.path().join(name);
        fs::write(path("answer"), with_key(answer)).unwrap();
        let settings = match answer {
            "" => "[llm]\nprovider = \"offline\"\n".to_owned(),
            _ => {
                format!("[llm]\nprovider = \"command\"\ncommand = ['cat', '{}']\n", path("answer").display())
            }
        };
        fs::write(path("memories.toml"), settings).unwrap();
        let arguments: Vec<String> = arguments.iter().map(|argument| with_key(argument)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = memories(self.folder.path(), &arguments);
        command.env("MEMORIES_CONFIG", path("memories.toml")).env("PATH", std::env::var_os("PATH").unwrap());
        let output = with_input(&mut command, with_key(stdin));
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        (output.status.code(), said)
    }
}

#[test]
#[cfg(unix)]
fn no_door_lets_a_key_in() {
    for Door { name, arguments, stdin, answer, code } in DOORS {
        let world = World::new();
        let (found, said) = world.run(arguments, stdin, answer);
        assert_eq!(found, Some(*code), "{name}: {said}");
        let written = contents(world.folder.path());
        assert!(!said.contains(&key()), "{name} says the key:\n{said}");
        assert!(!written.contains(&key()), "{name} writes the key:\n{written}");
        // The door was open: something else of the text did come in.
        assert!(written.contains("GitHub token masked"), "{name}: {said}\n{written}");
        if name.contains("import") {
            assert!(said.contains("held what looks like a secret, masked: GitHub token"), "{name}: {said}");
        }
        let (code, said) = world.run(&["check"], "", "");
        assert_eq!(code, Some(0), "{name}: {said}\n{written}");
    }
}

#[test]
#[cfg(feature = "sqlite")]
fn a_database_of_somebody_else_brings_no_key() {
    let theirs = World::new();
    theirs.run(&["import", "-", "--format", "json", "--keep-secrets"], SECTIONS, "");
    let database = theirs.inputs.path().join("theirs.db");
    let path = database.to_str().unwrap();
    assert_eq!(theirs.run(&["export", path], "", "").0, Some(0));
    let ours = World::new();
    let (code, said) = ours.run(&["import", path], "", "");
    assert_eq!(code, Some(0), "{said}");
    let written = contents(ours.folder.path());
    assert!(!said.contains(&key()) && !written.contains(&key()), "{said}\n{written}");
    assert!(written.contains("GitHub token masked"), "{written}");
}

/// Every text that an agent may write, in one server.
#[test]
#[cfg(feature = "mcp")]
fn no_tool_of_an_agent_lets_a_key_in() {
    use crate::mcp::client::World as Served;
    use serde_json::{Value, json};

    let served = Served::new(FILE);
    let mut client = served.serve(&["--agent", "alex"]);
    let said = |text: &str| text.replace('@', &key());
    let turn: Value = serde_json::from_str(&said(TURN)).unwrap();
    let calls = [
        ("form_memory", json!({"content": said("The code is @"), "title": said("Code @")})),
        ("form_memory", json!({"content": said("Another code is @"), "scope": "23"})),
        (
            "form_memory",
            json!({"content": "I say so.", "scope": "dialogue", "speaker": said("Mira @"), "turn": 3}),
        ),
        ("form_memory", json!({"content": "The lock is blue.", "title": "Lock"})),
        (
            "supersede_memory",
            json!({"title": "Lock", "content": said("The lock wants @"), "new_title": said("Lock @")}),
        ),
        ("form_memory", json!({"content": "The gate is shut.", "title": "Gate"})),
        ("invalidate_memory", json!({"title": "Gate", "reason": said("It opened by @")})),
        (
            "record_turn",
            json!({"location": "23", "location_after": said("Hall @"), "new_place": true, "action": turn["action"],
                "response": turn["response"], "reasoning": turn["reasoning"], "remember": turn["remember"],
                "inventory_before": turn["inventory_before"], "inventory_after": turn["inventory_after"]}),
        ),
    ];
    for (tool, arguments) in calls {
        let answer = client.says(tool, arguments);
        assert!(!answer.contains(&key()), "{tool} says the key: {answer}");
        let written = contents(served.path());
        assert!(!written.contains(&key()), "{tool} writes the key:\n{written}");
    }
    let text = served.text();
    assert!(text.matches("GitHub token masked").count() >= 7, "{text}");
}

/// The commands of a person say what they noticed, and store what they were told.
#[test]
fn what_a_person_words_is_kept_with_a_warning() {
    let commands: &[(&[&str], &str)] = &[
        (&["add", "23", "--title", "Six", "--text", "It is @."], ""),
        (&["add", "23", "--title", "Six @", "--text", "It is there."], ""),
        (&["add", "23", "--title", "Six", "--text", "It is.", "--goal", "use @"], ""),
        (&["add", "40", "--name", "Room @", "--title", "Six", "--text", "It is."], ""),
        (&["add", "dialogue", "--speaker", "Mira @", "--text", "Hello.", "--turn", "3"], ""),
        (&["supersede", "23", "One", "--title", "One", "--text", "It is @."], ""),
        (&["invalidate", "23", "One", "--reason", "No, @."], ""),
        (&["rename", "23", "Room @"], ""),
        (&["seed", "-"], "agents:\n  - name: Ann\n    background: Her key is @\n"),
        (
            &["import", "-", "--format", "jsonl", "--keep-secrets"],
            "{\"scope\": \"23\", \"title\": \"Six\", \"text\": \"It is @\"}",
        ),
    ];
    for (arguments, stdin) in commands {
        let world = World::new();
        let (code, said) = world.run(arguments, stdin, "");
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(said.contains("looks like") && said.contains("GitHub token"), "{arguments:?}: {said}");
        let file = fs::read_to_string(world.folder.path().join("Memories.md")).unwrap();
        assert!(file.contains(&key()), "{arguments:?}:\n{file}");
    }
}
