//! The prompt about a turn: what a model is told of places, earlier turns and memories.

use std::fs;
use std::time::Duration;

use memories::notebook::{Clock, Notebook, Protection};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordReport, RecordSettings, Recorder};
use memories::store::Store;
use serde_json::{Value, json};

use crate::puppet::Puppet;
use crate::support_authors::note_author;

const FILE: &str = "\
# Location Memories

## Location 37: Maze
**Visits:** 1 | **Episodes:** 1

### Memories

**[NOTE] Here** *(Ep1, T1, #offline)*
Worked: drop coin

### Tried

- `take wall` ×2 *(Ep1, T1)*: You must be joking.

---
";

struct World(tempfile::TempDir, Notebook);

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        fs::write(&path, FILE).unwrap();
        let store = Store::open(path, Duration::from_secs(10)).unwrap();
        World(folder, Notebook::new(store, Clock::fixed("2026-01-31T12:00:00Z")))
    }

    /// Records a turn with a model that gives that answer; the second value is what the model was shown.
    fn record(&self, turn: &Value, answer: Value) -> (RecordReport, Value) {
        let model = Puppet::saying(answer);
        let settings = RecordSettings::default();
        let recorder = Recorder { notebook: &self.1, judge: Judge::Model(&model), settings: &settings };
        let report = recorder.record(Turn::from_value(turn).unwrap()).unwrap();
        let asked = model.asked();
        let data = asked.lines().skip(2).take_while(|line| !line.starts_with('`'));
        (report, serde_json::from_str(&data.collect::<String>()).expect("JSON"))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.0.path().join("Memories.md")).unwrap()
    }
}

fn turn(episode: u64, number: u64, action: &str, (from, to): (u64, u64)) -> Value {
    json!({
        "episode": episode, "turn": number, "action": action, "response": "You crawl through the twisty maze.",
        "location_before": {"id": from, "name": "Maze"}, "location_after": {"id": to, "name": "Maze"},
    })
}

fn declined() -> Value {
    json!({"should_remember": false})
}

#[test]
fn places_have_ids_and_earlier_turns_their_reasons_and_changes() {
    let world = World::new();
    let reasoned = json!({"reasoning": "south is new", "score_before": 0, "score_after": 5});
    let mut first = turn(2, 30, "south", (37, 40));
    first.as_object_mut().unwrap().extend(reasoned.as_object().unwrap().clone());
    world.record(&first, declined());
    world.record(&turn(2, 31, "north", (40, 37)), declined());
    let (_, shown) = world.record(&turn(2, 32, "up", (37, 41)), declined());
    assert_eq!(shown["turn"], 32);
    assert_eq!(
        [&shown["place_before"], &shown["place_after"], &shown["changed"]],
        ["Maze (id 37)", "Maze (id 41)", "moved to Maze (id 41)"]
    );
    assert_eq!(
        shown["turns_before"][0],
        json!({
            "turn": 30, "place": "Maze (id 37)", "action": "south", "response": "You crawl through the twisty maze.",
            "changed": "moved to Maze (id 40); score +5", "player_reasoning": "south is new",
        })
    );
    assert_eq!(shown["known_ways"], json!(["south: Maze (id 40)"]));
    assert_eq!(shown["tried_here"], json!(["take wall ×2: You must be joking."]));
    assert_eq!([&shown["place_before_last_seen"], &shown["place_after_last_seen"]], ["Ep2 T30", "never"]);
    assert_eq!(
        shown["memories_of_place_before"],
        json!([{"number": "m1", "category": "NOTE", "title": "Here", "text": "Worked: drop coin", "raw": true}])
    );
}

#[test]
fn a_memory_of_several_turns_bears_their_range() {
    let world = World::new();
    world.record(&turn(2, 30, "south", (37, 40)), declined());
    world.record(&turn(2, 31, "north", (40, 37)), declined());
    let answer = json!({
        "should_remember": true, "category": "DISCOVERY", "memory_title": "Maze loops back",
        "memory_text": "South and north in the maze lead back here.", "first_turn": 30,
    });
    let (report, _) = world.record(&turn(2, 32, "up", (37, 41)), answer.clone());
    assert_eq!(report.warnings, [""; 0]);
    assert!(world.text().contains("**[DISCOVERY] Maze loops back** *(Ep2, T30-32)*"), "{}", world.text());
    let early = json!({"memory_title": "Maze again", "memory_text": "The maze is twisty.", "first_turn": 3});
    let mut early_answer = answer;
    early_answer.as_object_mut().unwrap().extend(early.as_object().unwrap().clone());
    let (report, _) = world.record(&turn(2, 33, "down", (41, 37)), early_answer);
    assert_eq!(report.warnings, ["the model's first turn 3 was not shown: the memory is of T30-33"]);
    assert!(world.text().contains("**[DISCOVERY] Maze again** *(Ep2, T30-33)*"), "{}", world.text());
}

#[test]
fn an_invalidation_without_a_reason_has_the_turn_as_its_reason() {
    let world = World::new();
    let mut played = turn(2, 30, "drop coin", (37, 37));
    played["score_before"] = json!(5);
    played["score_after"] = json!(0);
    let file = world.0.path().join("Memories.md");
    note_author(&file, "rules", ("location:37", "Here", "Worked: drop coin"));
    let (report, _) = world.record(&played, json!({"should_remember": false, "invalidates": ["Here"]}));
    assert_eq!(report.invalidated, ["Here"]);
    let reference = "[Invalidated at Ep2 T30: \"drop coin: You crawl through the twisty maze.\"]";
    assert!(world.text().contains(reference), "{}", world.text());
}

#[test]
fn an_answer_that_has_nothing_of_the_turn_is_kept_with_a_mark_and_strikes_nothing() {
    let world = World::new();
    let file = world.0.path().join("Memories.md");
    note_author(&file, "rules", ("location:37", "Here", "Worked: drop coin"));
    let answer = json!({
        "should_remember": true, "memory_title": "Wise words", "memory_text": "Wisdom pays.", "invalidates": ["Here"],
    });
    let (report, _) = world.record(&turn(2, 30, "south", (37, 40)), answer);
    assert_eq!(report.outcome.to_string(), "contested");
    assert_eq!(report.memories[0].contested[0].reason, Protection::Unsupported);
    assert!(world.text().contains("**[NOTE] Here** *(Ep1, T1, #offline)*"), "{}", world.text());
    let (title, tags) = ("**[NOTE - TENTATIVE] Wise words** *(Ep2, T30, ", "#unsupported, #contested)*");
    assert!(world.text().contains(&format!("{title}{tags}")), "{}", world.text());
}

#[test]
fn memories_have_one_numbering_and_the_players_own_words_are_shown() {
    let world = World::new();
    let mut played = turn(2, 30, "south", (37, 40));
    played["remember"] = json!("South of the maze is another maze.");
    let memory = |text: &str, more: Value| {
        let mut memory = json!({"text": text});
        memory.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        memory
    };
    let after =
        memory("The maze is twisty here.", json!({"place": "after", "importance": 600, "title": "Twisty"}));
    let tentative = memory("A maze may loop.", json!({"status": "tentative", "importance": 200}));
    let (report, shown) = world.record(&played, json!({"memories": [after, tentative]}));
    assert_eq!(shown["stored_by_player"], "South of the maze is another maze.");
    assert_eq!(report.memories.len(), 3, "the player's own and two of the model: {report:?}");
    let (_, shown) = world.record(&turn(2, 31, "south again", (37, 40)), json!({"memories": []}));
    let numbers = |place: &str| -> Vec<(String, String)> {
        let memories = shown[place].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        memories.map(|memory| (text(&memory["number"]), text(&memory["text"]))).collect()
    };
    let before = numbers("memories_of_place_before");
    assert_eq!(before.iter().map(|(number, _)| number.as_str()).collect::<Vec<_>>(), ["m1", "m2", "m3"]);
    assert_eq!(
        numbers("memories_of_place_after"),
        [("m4".to_owned(), "The maze is twisty here.".to_owned())]
    );
    assert_eq!(shown["memories_of_place_after"][0]["importance"], 600);
    let doubtful = shown["memories_of_place_before"].as_array().unwrap().iter();
    assert!(
        doubtful.into_iter().any(|memory| memory["status"] == "tentative" && memory["importance"] == 200)
    );
    // The numbers are the addresses, whatever the place.
    let wrong = json!({"memories": [], "wrong": [{"memory": "m4", "reason": "The maze is straight."}]});
    let (report, _) = world.record(&turn(2, 32, "south once more", (37, 40)), wrong);
    assert_eq!((report.invalidated, report.warnings), (vec!["Twisty".to_owned()], vec![]));
}
