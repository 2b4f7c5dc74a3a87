//! Damage of state, session and journal is told, and stops no command.

use std::process::Output;

use super::*;
use crate::program::memories;

/// A game in its second episode, with an ephemeral memory and a turn that waits for a model.
struct Game {
    folder: TempDir,
}

/// Commands that need none of the damaged files.
const COMMANDS: [&[&str]; 9] = [
    &["record", "--location", "5", "--action", "wait", "--response", "Time passes."],
    &["recall", "5"],
    &["query", "lamp"],
    &["stats"],
    &["list"],
    &["tried", "5", "wait"],
    &["log"],
    &["export"],
    &["add", "5", "--title", "Rug", "--text", "A rug lies on the floor."],
];

impl Game {
    fn new() -> Game {
        let game = Game { folder: tempfile::tempdir().unwrap() };
        for command in [
            &["episode", "start", "2"][..],
            &[
                "record",
                "--location",
                "5:Hall",
                "--action",
                "look",
                "--response",
                "A hall.",
                "--remember",
                "A lamp.",
            ],
            &[
                "record",
                "--later",
                "--location",
                "5",
                "--action",
                "pull chain",
                "--response",
                "It \"falls\".",
                "--died",
            ],
            &["add", "5", "--title", "Fleeting", "--text", "The thief is near.", "--ephemeral"],
        ] {
            assert_eq!(game.said(command), "");
        }
        game
    }

    fn run(&self, arguments: &[&str]) -> Output {
        memories(self.folder.path(), arguments).env("MEMORIES_PROVIDER", "offline").output().unwrap()
    }

    /// The stderr of a command that succeeds, or says no.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
        said
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
    }

    fn side(&self, name: &str) -> PathBuf {
        self.folder.path().join(".memories/Memories.md").join(name)
    }

    /// The only problem that `check` finds: kind, file and line.
    fn problem(&self) -> (String, String, u64) {
        let output = self.run(&["check"]);
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).trim()),
            (Some(1), "1 problem")
        );
        let problem = self.json(&["check"])["problems"][0].take();
        let text = |name: &str| problem[name].as_str().unwrap().to_owned();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(&text("message")) && printed.contains(&text("hint")), "{printed}");
        (text("kind"), text("file"), problem["line"].as_u64().unwrap())
    }

    fn has_no_problem(&self) {
        assert_eq!(self.json(&["check"])["problems"], json!([]));
    }
}

#[test]
fn a_damaged_state_is_told_by_every_command_and_the_episode_goes_on() {
    for damage in ["", "{\"version\":1,\"epis", "\u{0}\u{0}\u{0}", "[2]"] {
        let game = Game::new();
        game.has_no_problem();
        fs::write(game.side("state.json"), damage).unwrap();
        for command in COMMANDS {
            let said = game.said(command);
            assert!(said.contains("state.json` is damaged"), "{damage:?}: {command:?}: {said}");
        }
        let (kind, file, line) = game.problem();
        assert_eq!((kind.as_str(), line), ("state", 1));
        assert!(file.ends_with("state.json"), "{file}");
        let journal = fs::read_to_string(game.side("journal.jsonl")).unwrap();
        let turn = journal.lines().find(|line| line.contains("\"wait\"")).unwrap();
        assert!(turn.contains("\"episode\":2"), "{turn}");
        let started = game.run(&["episode", "start"]);
        assert_eq!(String::from_utf8_lossy(&started.stdout), "3\n");
        game.has_no_problem();
    }
}

#[test]
fn a_damaged_session_is_told_and_withholds_nothing_else() {
    let not_utf8 = |path: &Path| fs::write(path, b"## World\n\xff\xfe").unwrap();
    let a_folder = |path: &Path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    for damage in [not_utf8, a_folder] {
        let game = Game::new();
        damage(&game.side("session.md"));
        for command in COMMANDS {
            let said = game.said(command);
            assert!(
                said.contains("session.md`") && said.contains("ephemeral memories are left out"),
                "{said}"
            );
        }
        let (kind, file, _) = game.problem();
        assert!(kind == "session" && file.ends_with("session.md"), "{kind} {file}");
        let recalled = game.run(&["recall", "5"]).stdout;
        assert!(String::from_utf8_lossy(&recalled).contains("A lamp."));
    }
}

#[test]
fn lines_of_the_journal_that_cannot_be_read_are_counted_by_the_commands_that_meet_them() {
    let game = Game::new();
    let path = game.side("journal.jsonl");
    let lines = fs::read_to_string(&path).unwrap().lines().count() as u64;
    let mut journal = fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut journal, b"\n{\"version\":1,\"id\":\"7\n\x00\x00\x00\n\xff\xfe\x80\n")
        .unwrap();
    let stats = game.json(&["stats"]);
    assert_eq!(stats["journal"], json!({"unreadable": 3, "mended": 0, "lost_turns": 0}));
    let (kind, file, line) = game.problem();
    assert_eq!((kind.as_str(), line), ("journal", lines + 2));
    assert!(file.ends_with("journal.jsonl"), "{file}");
    for (command, expected) in [
        (&["stats"][..], "3 lines cannot be read"),
        (&["retry", "--dry-run"], "3 lines cannot be read"),
        (&["log"], "3 lines of the journal cannot be read"),
        (
            &["record", "--location", "5", "--action", "jump", "--response", "Whee."],
            "the end of the journal is damaged",
        ),
    ] {
        let said = game.said(command);
        assert!(said.contains(expected), "{command:?}: {said}");
    }
    assert!(
        String::from_utf8_lossy(&game.run(&["stats"]).stdout).contains("damaged: 3 lines cannot be read")
    );
    assert_eq!(game.json(&["retry", "--dry-run"])["waiting_count"], 1, "what can be read still waits");
}

#[test]
fn a_queued_turn_with_a_flipped_byte_is_offered_or_missed() {
    let game = Game::new();
    let path = game.side("journal.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    // A letter of the reply that is no letter any more.
    let mut bytes = whole.clone().into_bytes();
    let at = whole.find("falls").unwrap();
    bytes[at] ^= 0x80;
    fs::write(&path, &bytes).unwrap();
    let said = game.said(&["retry", "--dry-run"]);
    assert!(said.contains("1 line is read without its damaged bytes"), "{said}");
    assert_eq!(game.json(&["retry", "--dry-run"])["waiting_count"], 1);
    // The quote that ends the reply.
    let broken = whole.replace("falls\\\".\"", "falls\\\".b");
    assert_ne!(broken, whole);
    fs::write(&path, broken).unwrap();
    let said = game.said(&["retry", "--dry-run"]);
    assert!(said.contains("a turn that waited for a model is lost: `pull chain`"), "{said}");
    assert_eq!(game.json(&["stats"])["journal"]["lost_turns"], 1);
    let check = game.run(&["check"]);
    assert!(String::from_utf8_lossy(&check.stdout).contains("lost: `pull chain`"));
}
