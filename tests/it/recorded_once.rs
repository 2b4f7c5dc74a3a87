//! Recorded turns are recorded once: a second run changes nothing, and one that was interrupted continues.

use std::fs;
use std::path::Path;

use crate::episodes;
use crate::program::{memories, succeed};
use assert_cmd::Command;

/// A folder into which turns are recorded.
struct Game(tempfile::TempDir);

impl Game {
    fn new() -> Game {
        Game(tempfile::tempdir().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> String {
        succeed(self.0.path(), arguments)
    }

    fn record(&self, turns: &Path) -> String {
        self.run(&["record", "--turns", turns.to_str().unwrap()])
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

#[test]
fn five_episodes_recorded_twice_leave_the_same_file() {
    let game = Game(episodes::by_command());
    let files = ["Memories.md", ".memories/Memories.md/journal.jsonl", ".memories/Memories.md/state.json"];
    let before = files.map(|name| game.read(name));
    for (path, turns) in episodes::turns().iter().zip([220, 240, 260, 260, 300]) {
        let said = game.record(path);
        assert!(said.starts_with(&format!("{turns} turns were recorded before\n")), "{said}");
    }
    assert_eq!(files.map(|name| game.read(name)), before);
    assert_eq!(game.run(&["episode", "show"]), "5\n");
    assert_eq!(game.run(&["episode", "start"]), "6\n");
}

/// Turns that a game sends as they are, without numbers.
const UNNUMBERED: &str = r#"{"action": "look", "response": "A field.", "location": {"id": 4, "name": "Field"}}
{"action": "push rock", "response": "It stays.", "location": 4, "world_changed": false}

{"action": "push rock", "response": "It stays.", "location": 4, "world_changed": false}
"#;

impl Game {
    /// How many turns the journal has.
    fn turns(&self) -> usize {
        self.read(".memories/Memories.md/journal.jsonl").matches("\"turn\":{").count()
    }
}

#[test]
fn a_turn_without_a_number_is_known_by_its_line_in_a_file() {
    let game = Game::new();
    let turns = game.0.path().join("turns.jsonl");
    fs::write(&turns, UNNUMBERED).unwrap();
    assert!(game.record(&turns).starts_with("3 turns recorded: "), "a game may repeat itself");
    // A line is corrected, and the file has grown.
    let grown = UNNUMBERED.replacen("push rock", "push stone", 1) + &UNNUMBERED.replace('\n', "\r\n");
    fs::write(&turns, grown).unwrap();
    let said = game.record(&turns);
    assert!(said.starts_with("2 turns were recorded before\n4 turns recorded: "), "{said}");
    assert!(game.record(&turns).starts_with("6 turns were recorded before\n"));
    // Another file, and a stream, are new play.
    let other = game.0.path().join("other.jsonl");
    fs::write(&other, UNNUMBERED).unwrap();
    game.record(&other);
    for _ in 0..2 {
        let mut stream = assert_cmd::Command::from_std(memories(game.0.path(), &["record", "--turns", "-"]));
        stream.write_stdin(UNNUMBERED).assert().success();
    }
    assert_eq!(game.turns(), 7 + 3 + 3 + 3);
    game.run(&["record", "--turns", other.to_str().unwrap(), "--again"]);
    assert_eq!(game.turns(), 7 + 3 + 3 + 3 + 3);
}

#[test]
fn a_turn_is_recorded_again_by_a_model_where_that_is_asked() {
    let game = Game::new();
    let answer = "{\"answer\": {\"should_remember\": false}}\n";
    fs::write(game.0.path().join("answers.jsonl"), answer.repeat(2)).unwrap();
    let settings = "[llm]\nprovider = \"replay\"\nreplay = \"answers.jsonl\"\n";
    fs::write(game.0.path().join("memories.toml"), settings).unwrap();
    let turn =
        r#"{"id": "t1", "action": "open door", "response": "Opened.", "location": 4, "world_changed": true}"#;
    let record = |flags: &[&str]| {
        let mut command = Command::from_std(memories(game.0.path(), &[&["record"], flags].concat()));
        command.write_stdin(turn).assert().success();
        game.turns()
    };
    assert_eq!(record(&[]), 1);
    assert_eq!(record(&[]), 1);
    assert_eq!(record(&["--again"]), 2);
}

#[test]
fn a_turn_is_passed_over_as_often_as_it_was_recorded() {
    let game = Game::new();
    let turns = game.0.path().join("turns.jsonl");
    let line = r#"{"turn": 7, "action": "wait", "response": "Time passes.", "location": 4}"#;
    fs::write(&turns, [line; 3].join("\n")).unwrap();
    assert!(game.record(&turns).starts_with("3 turns recorded: "));
    fs::write(&turns, [line; 5].join("\n")).unwrap();
    let said = game.record(&turns);
    assert!(said.starts_with("3 turns were recorded before\n2 turns recorded: "), "{said}");
    assert_eq!(game.turns(), 5);
}

#[test]
fn from_begins_at_a_line() {
    let game = Game::new();
    let turns = game.0.path().join("turns.jsonl");
    fs::write(&turns, UNNUMBERED).unwrap();
    let turns = turns.to_str().unwrap();
    assert!(game.run(&["record", "--turns", turns, "--from", "3"]).starts_with("1 turn recorded: "));
    let output = memories(game.0.path(), &["record", "--turns", turns, "--from", "5"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("warning: no turn is recorded: line 4 is the last, before --from 5\n"), "{said}");
    assert!(game.record(Path::new(turns)).starts_with("1 turn was recorded before\n2 turns recorded: "));
    for wrong in [&["--from", "0"][..], &["--from", "-1"], &["--from", "x"]] {
        let arguments = [&["record", "--turns", turns], wrong].concat();
        assert_eq!(memories(game.0.path(), &arguments).output().unwrap().status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_same_warning_about_several_lines_is_said_once() {
    let game = Game::new();
    let (turns, map) = (game.0.path().join("turns.jsonl"), game.0.path().join("map.json"));
    fs::write(&turns, UNNUMBERED).unwrap();
    fs::write(&map, "[1, 2]").unwrap();
    let arguments = ["record", "--turns", turns.to_str().unwrap(), "--map", map.to_str().unwrap()];
    let output = memories(game.0.path(), &arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings, ["warning: line 1: location 4 is not on the map (and 2 more lines)"]);
}

#[test]
fn nobody_knows_what_was_lacking_at_turn_0() {
    let game = Game::new();
    let turn = r#"{"turn": 0, "action": "north", "response": "It is too dark.", "location": 4, "world_changed": false,
        "inventory_before": ["lamp"], "inventory_after": ["lamp"]}"#;
    let mut record = assert_cmd::Command::from_std(memories(game.0.path(), &["record"]));
    record.write_stdin(turn).assert().success();
    let output = memories(game.0.path(), &["tried", "4", "north", "--json"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(r#""verdict":"in_vain""#), "{said}");
    // Nor does the way say that it was refused without the lamp.
    let later = r#"{"turn": 1, "action": "north", "response": "A cellar.", "location": 4, "location_after": 5,
        "inventory_before": ["lamp"], "inventory_after": ["lamp"]}"#;
    let mut record = assert_cmd::Command::from_std(memories(game.0.path(), &["record"]));
    record.write_stdin(later).assert().success();
    assert!(!game.read("Memories.md").contains("refused without"), "{}", game.read("Memories.md"));
}

#[test]
fn an_interrupted_run_is_continued() {
    let (whole, interrupted) = (Game::new(), Game::new());
    let [episode, ..] = episodes::turns();
    whole.record(&episode);
    let turns = fs::read_to_string(&episode).unwrap();
    let part = interrupted.0.path().join("part.jsonl");
    let lines: Vec<&str> = turns.lines().take(90).collect();
    fs::write(&part, lines.join("\n")).unwrap();
    interrupted.record(&part);
    let said = interrupted.record(&episode);
    assert!(said.starts_with("90 turns were recorded before\n130 turns recorded: "), "{said}");
    assert_eq!(interrupted.read("Memories.md"), whole.read("Memories.md"));
}

/// A power cut leaves of the logs what was synced, which may be nothing or NUL bytes, and of the lock file what was
/// noted; its last word may be older.
#[test]
fn a_power_cut_takes_no_turn_and_no_line() {
    let game = Game::new();
    game.run(&["add", "4", "--name", "Field", "--title", "Rope", "--text", "The rope holds a person."]);
    let turns = game.0.path().join("turns.jsonl");
    fs::write(&turns, UNNUMBERED).unwrap();
    game.record(&turns);
    let with_id = r#"{"id": "a", "action": "pull rope", "response": "It holds.", "location": 4}"#;
    let again = game.0.path().join("again.jsonl");
    fs::write(&again, with_id).unwrap();
    game.record(&again);
    let names = ["journal.jsonl", "written"].map(|name| format!(".memories/Memories.md/{name}"));
    let logs = names.each_ref().map(|name| game.read(name));
    let lock = game.read(".memories/Memories.md/lock");
    let (noted, ending) = lock.rsplit_once("\ndone ").unwrap();
    let cuts = (0..=logs[0].len()).step_by(logs[0].len() / 11);
    for (cut, has_nuls, is_done) in
        cuts.flat_map(|cut| [(cut, true, true), (cut, false, true), (cut, true, false)])
    {
        for (name, log) in names.iter().zip(&logs) {
            let mut left = log.as_bytes()[..cut.min(log.len())].to_vec();
            if has_nuls {
                left.resize(log.len(), 0);
            }
            fs::write(game.0.path().join(name), left).unwrap();
        }
        let noted = if is_done { lock.clone() } else { format!("{noted}\nwait {ending}") };
        fs::write(game.0.path().join(".memories/Memories.md/lock"), noted).unwrap();
        assert!(game.record(&turns).starts_with("3 turns were recorded before\n"), "{cut} {has_nuls}");
        assert!(game.record(&again).starts_with("1 turn was recorded before\n"), "{cut} {has_nuls}");
        assert_eq!(names.each_ref().map(|name| game.read(name)), logs, "{cut} {has_nuls} {is_done}");
        game.run(&["check"]);
    }
}

/// As an older version, or a file system, leaves it: the note in the lock knows nothing of it.
#[test]
fn a_tail_of_nul_bytes_is_cut_off_and_told_once() {
    let game = Game::new();
    let turns = game.0.path().join("turns.jsonl");
    fs::write(&turns, UNNUMBERED).unwrap();
    game.record(&turns);
    let journal = game.0.path().join(".memories/Memories.md/journal.jsonl");
    fs::write(&journal, game.read(".memories/Memories.md/journal.jsonl") + &"\0".repeat(700)).unwrap();
    let check = || memories(game.0.path(), &["check"]).output().unwrap().status.code();
    assert_eq!(check(), Some(1));
    let add = |title| {
        let add = ["add", "4", "--title", title, "--text", title];
        String::from_utf8(memories(game.0.path(), &add).output().unwrap().stderr).unwrap()
    };
    let said = add("First");
    assert!(said.contains("ended with 700 bytes that are no line"), "{said}");
    assert_eq!((add("Second").as_str(), check()), ("", Some(0)));
}
