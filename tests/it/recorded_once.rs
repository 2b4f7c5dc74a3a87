//! Recorded turns are recorded once: a second run changes nothing, and one that was interrupted continues.

use std::fs;
use std::path::Path;

use crate::program::memories;

/// A folder into which turns are recorded.
struct Game(tempfile::TempDir);

impl Game {
    fn new() -> Game {
        Game(tempfile::tempdir().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = memories(self.0.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn record(&self, turns: &Path) -> String {
        self.run(&["record", "--turns", turns.to_str().unwrap()])
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

fn episode(number: u64) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/turns/zork1_ep{number}.jsonl"))
}

#[test]
fn five_episodes_recorded_twice_leave_the_same_file() {
    let game = Game::new();
    for number in 1..=5 {
        game.record(&episode(number));
    }
    let files = ["Memories.md", ".memories/Memories.md/journal.jsonl", ".memories/Memories.md/state.json"];
    let before = files.map(|name| game.read(name));
    for (number, turns) in (1..=5).zip([220, 240, 260, 260, 300]) {
        let said = game.record(&episode(number));
        assert!(said.starts_with(&format!("{turns} turns were recorded before\n")), "{said}");
    }
    assert_eq!(files.map(|name| game.read(name)), before);
    assert_eq!(game.run(&["episode", "show"]), "5\n");
    assert_eq!(game.run(&["episode", "start"]), "6\n");
}

#[test]
fn an_interrupted_run_is_continued() {
    let (whole, interrupted) = (Game::new(), Game::new());
    whole.record(&episode(1));
    let turns = fs::read_to_string(episode(1)).unwrap();
    let part = interrupted.0.path().join("part.jsonl");
    let lines: Vec<&str> = turns.lines().take(90).collect();
    fs::write(&part, lines.join("\n")).unwrap();
    interrupted.record(&part);
    let said = interrupted.record(&episode(1));
    assert!(said.starts_with("90 turns were recorded before\n130 turns recorded: "), "{said}");
    assert_eq!(interrupted.read("Memories.md"), whole.read("Memories.md"));
}
