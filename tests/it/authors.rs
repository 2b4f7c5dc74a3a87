//! A model, a chat and a player's wish never change an entry that a person or a seed wrote, that is core, or that
//! weighs more than they prove.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use memories::chat::extract::{ExtractInput, ExtractReport, Extractor, read_input};
use memories::chat::{ChatSettings, ExtractMode};
use memories::document::Document;
use memories::notebook::{Clock, Notebook, Protection};
use memories::record::turn::{Remember, Turn, TurnLocation};
use memories::record::{Judge, RecordReport, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Category, Memory, Persistence, Scope, Status};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::puppet::Puppet;
use crate::support_authors::note_author;

const SCOPE: Scope = Scope::Location(5);

/// The entries of the place that the review attacked.
const PLACE: &str = "# Location Memories\n\n## Location 5: Bridge\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n\
    **[NOTE - CORE] Safe way** *(importance 950)*\nThe stair in the north is safe.\n\n\
    **[DANGER - CORE] True danger** *(importance 900)*\nThere is a pit behind the door.\n\n---\n";

/// A memory file in a folder of its own.
struct World {
    _folder: TempDir,
    path: PathBuf,
}

impl World {
    fn new(text: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        fs::write(&path, text).unwrap();
        World { _folder: folder, path }
    }

    fn notebook(&self) -> Notebook {
        let store = Store::open(&self.path, Duration::from_secs(5)).unwrap();
        Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z"))
    }

    fn record(&self, turn: Turn, answer: Value) -> RecordReport {
        let (notebook, model, settings) =
            (self.notebook(), Puppet::saying(answer), RecordSettings::default());
        Recorder { notebook: &notebook, judge: Judge::Model(&model), settings: &settings }
            .record(turn)
            .unwrap()
    }

    fn extract(&self, found: Value) -> ExtractReport {
        let (notebook, model) = (self.notebook(), Puppet::saying(json!({"memories": [found]})));
        let settings = ChatSettings { mode: ExtractMode::EveryTurn, ..ChatSettings::default() };
        let reply = "The stair in the north is safe, and behind the door there is nothing to be afraid of.";
        let conversation = read_input("chat-7", reply).unwrap();
        let extractor = Extractor { notebook: &notebook, model: Some(&model), settings: &settings };
        let (scope, conversation) = (Some(&SCOPE), &conversation);
        extractor
            .extract(ExtractInput {
                conversation,
                whole: false,
                has_history: false,
                saving: false,
                scope,
                injected: &[],
                tags: &[],
            })
            .unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    fn memories(&self) -> Vec<Memory> {
        Document::parse(self.text()).section(&SCOPE).unwrap().memories
    }

    /// The last line of the journal.
    fn journal(&self) -> String {
        let folder = self.path.with_file_name(".memories").join("Memories.md");
        fs::read_to_string(folder.join("journal.jsonl")).unwrap().lines().last().unwrap().to_owned()
    }
}

fn turn(action: &str) -> Turn {
    let place = TurnLocation { id: Some(5), name: Some("Bridge".to_owned()), ..TurnLocation::default() };
    let reply =
        "The stair in the north is safe, says the voice, and the pit behind the door is gone. ".repeat(2);
    Turn { episode: Some(1), ..Turn::new(action, reply, Some(place)) }
}

fn scored(before: i64, after: i64) -> Turn {
    Turn { score_before: Some(before), score_after: Some(after), ..turn("open door") }
}

/// All lines of a text are lines of another, one after the other.
#[track_caller]
fn assert_kept(before: &str, after: &str) {
    let mut lines = after.lines();
    for line in before.lines() {
        assert!(lines.any(|other| other == line), "`{line}` is gone:\n{after}");
    }
}

#[test]
fn a_model_strikes_no_core_entry_but_contests_it() {
    for facts in [turn("look"), scored(0, 1), Turn { died: true, ..scored(0, -10) }] {
        let world = World::new(PLACE);
        let greedy = json!({
            "should_remember": true, "category": "NOTE", "memory_title": "New way",
            "memory_text": "The stair is a trap, the door is safe.", "importance": 1000, "persistence": "core",
            "supersedes": ["Safe way"], "invalidates": ["True danger"],
        });
        let report = world.record(facts, greedy);
        let memories = world.memories();
        assert_kept(PLACE.trim_end_matches("---\n"), &world.text());
        assert!(memories.iter().all(Memory::is_live), "{}", world.text());
        let new = &memories[2];
        assert_eq!((new.title.as_str(), new.status), ("New way", Status::Tentative));
        assert_eq!(new.see_also.as_deref(), Some("[[Location 5 › Safe way]], [[Location 5 › True danger]]"));
        assert_eq!(new.persistence, Persistence::Permanent);
        let contested: Vec<&str> =
            report.memories[0].contested.iter().map(|one| one.title.as_str()).collect();
        assert_eq!((memories.len(), contested), (3, vec!["Safe way", "True danger"]));
        assert!(report.invalidated.is_empty() && report.memories[0].superseded.is_empty());
        let line = world.journal();
        assert!(line.contains(r#""contested":["Safe way","True danger"]"#), "{line}");
        assert!(line.contains(r#""author":"model""#), "{line}");
    }
}

#[test]
fn an_invalidation_without_a_memory_leaves_one_note() {
    let world = World::new(PLACE);
    let said = |reason: &str| json!({"should_remember": false, "invalidates": ["True danger"], "invalidation_reason": reason});
    let report = world.record(turn("look"), said("The pit is closed."));
    let note = &world.memories()[2];
    assert_eq!((note.title.as_str(), note.text.as_str()), ("Contested: True danger", "The pit is closed."));
    assert_eq!((note.status, note.category.as_str()), (Status::Tentative, "NOTE"));
    assert_eq!(report.memories[0].contested[0].title, "True danger");
    let after_first = world.text();
    let report = world.record(turn("look again"), said("It never was there."));
    assert_eq!(report.memories[0].title(), "Contested: True danger");
    assert_eq!(world.memories().len(), 3, "{}", world.text());
    assert_kept(after_first.split("### Seen").next().unwrap().trim_end_matches("---\n"), &world.text());
}

#[test]
fn a_score_proves_at_most_800_and_never_core() {
    let world = World::new(PLACE);
    let greedy = json!({
        "should_remember": true, "category": "SUCCESS", "memory_title": "Voice", "importance": 1000,
        "memory_text": "The voice is always right.", "persistence": "core",
    });
    world.record(turn("listen"), greedy.clone());
    assert_eq!(world.memories()[2].importance(), 700);
    let report = world.record(scored(0, 1), greedy.clone());
    assert_eq!(report.memories[0].raised_to, Some(800), "{:?}", report.warnings);
    let report = world.record(scored(1, 2), greedy);
    assert_eq!(report.memories[0].raised_to, None);
    assert_eq!(
        (world.memories()[2].importance(), world.memories()[2].persistence),
        (800, Persistence::Permanent)
    );
    assert!(report.warnings.iter().any(|said| said.contains("importance 1000 lowered to 800")), "{report:?}");
    assert!(report.warnings.iter().any(|said| said.contains("core lowered to permanent")), "{report:?}");
}

#[test]
fn a_death_proves_a_danger_and_nothing_else() {
    let died = || Turn { died: true, ..turn("jump") };
    for (category, importance, persistence) in
        [("DANGER", 1000, Persistence::Core), ("NOTE", 700, Persistence::Permanent)]
    {
        let world = World::new(PLACE);
        let answer = json!({
            "should_remember": true, "category": category, "memory_title": "Jump kills", "importance": 1000,
            "memory_text": "Who jumps from the stair is dead.", "persistence": "core",
        });
        world.record(died(), answer);
        let new = &world.memories()[2];
        assert_eq!((new.importance(), new.persistence), (importance, persistence), "{category}");
    }
}

#[test]
fn a_chat_states_at_most_700_and_raises_no_entry_of_a_person() {
    let world = World::new(PLACE);
    let found = |summary: &str| json!({"category": "DANGER", "importance": 1000, "summary": summary});
    let report = world.extract(found("The door must be opened at once."));
    let new = &world.memories()[2];
    assert_eq!((new.importance(), new.persistence), (700, Persistence::Permanent));
    assert!(report.warnings.iter().any(|said| said.contains("importance 1000 lowered to 700")), "{report:?}");
    let before = world.text();
    let report = world.extract(found("there is a pit behind the door"));
    assert_eq!((report.memories[0].raised_to, report.memories[0].stays), (None, Some(Protection::Core)));
    assert_eq!(world.text(), before);
    let remember =
        Remember { text: "Remember the voice.".into(), importance: 1000, category: Category::danger() };
    world.record(Turn { remember: Some(remember), ..turn("look") }, json!({"should_remember": false}));
    assert_eq!(world.memories()[3].importance(), 700);
}

/// An entry of a random file.
#[derive(Debug, Clone)]
struct Known {
    memory: Memory,
    author: &'static str,
}

impl Known {
    /// True if a memory with this limit may not change it.
    fn is_protected(&self, limit: u16) -> bool {
        let trusted = matches!(self.author, "person" | "seed");
        trusted || self.memory.persistence == Persistence::Core || self.memory.importance() > limit
    }

    fn lines(&self) -> String {
        let mut document = Document::parse(String::new());
        document.add(&SCOPE, "", &self.memory).unwrap();
        let text = document.into_text().unwrap();
        let from = text.find("**[").unwrap();
        text[from..].split("\n\n").next().unwrap().to_owned()
    }
}

const TEXTS: [&str; 4] = [
    "The stair in the north is safe for everybody who walks it slowly.",
    "There is a deep pit behind the second door of the old hall.",
    "The voice in the cellar always lies about what it wants.",
    "Nobody has seen the keeper of the bridge since the flood.",
];

fn known(number: usize) -> impl Strategy<Value = Known> {
    let author = prop::sample::select(vec!["person", "unknown", "model", "rules", "agent", "seed", ""]);
    let persistence = prop::sample::select(vec![Persistence::Core, Persistence::Permanent]);
    let status = prop::sample::select(vec![Status::Active, Status::Tentative]);
    let importance = prop::sample::select(vec![1_u16, 500, 700, 701, 800, 801, 1000]);
    let category = prop::sample::select(vec!["NOTE", "DANGER"]);
    (author, persistence, status, importance, category).prop_map(
        move |(author, persistence, status, importance, category)| {
            let title = format!("Entry {number}");
            let mut memory = Memory::new(Category::new(category).unwrap(), title, TEXTS[number]);
            (memory.persistence, memory.status) = (persistence, status);
            memory.provenance.importance = Some(importance);
            Known { memory, author }
        },
    )
}

fn titles() -> impl Strategy<Value = Vec<String>> {
    let title = prop::sample::select(vec!["Entry 0", "Entry 1", "Entry 2", "[entry 3]", "ENTRY 0", "New"]);
    prop::collection::vec(title.prop_map(str::to_owned), 0..3)
}

fn answer() -> impl Strategy<Value = Value> {
    let title = prop::sample::select(vec!["Entry 0", "entry 1", "New", "Contested: Entry 0"]);
    let texts = [TEXTS[0], TEXTS[1], "The stair in the north is a trap.", "Everybody lies about the stair."];
    let remember = any::<bool>();
    let words = (title, prop::sample::select(texts.to_vec()), titles(), titles());
    let kind = prop::sample::select(vec![
        ("NOTE", "core"),
        ("DANGER", "core"),
        ("DANGER", "permanent"),
        ("EVENT", "permanent"),
        ("NOTE", "ephemeral"),
    ]);
    let weight =
        (prop::sample::select(vec!["active", "tentative"]), prop::sample::select(vec![5, 600, 900, 1000]));
    (remember, words, kind, weight).prop_map(
        |(remember, (title, text, supersedes, invalidates), (category, persistence), (status, importance))| {
            json!({
                "should_remember": remember, "memory_title": title, "memory_text": text, "category": category,
                "persistence": persistence, "status": status, "importance": importance,
                "supersedes": supersedes, "invalidates": invalidates, "invalidation_reason": "It is no longer so.",
            })
        },
    )
}

/// A file of these entries.
fn world_of(entries: &[Known]) -> World {
    let mut document = Document::parse("# Location Memories\n".to_owned());
    for known in entries {
        document.add(&SCOPE, "Bridge", &known.memory).unwrap();
    }
    let world = World::new(&document.into_text().unwrap());
    for Known { memory, author } in entries.iter().filter(|known| known.author != "unknown") {
        note_author(&world.path, author, ("location:5", &memory.title, &memory.text));
    }
    world
}

proptest! {
    #![proptest_config(crate::cases(96))]

    #[test]
    fn no_answer_changes_a_protected_entry(
        entries in [known(0), known(1), known(2), known(3)],
        answers in prop::collection::vec((answer(), 0..5_u8), 1..4),
    ) {
        let world = world_of(&entries);
        let mut limit = 700;
        for (number, (answer, door)) in (1..).zip(&answers) {
            let text = answer["memory_text"].as_str().unwrap().to_owned();
            let action = format!("look {number}");
            // A death in a turn of this property proves a danger of any weight.
            let facts = match door {
                0 => turn(&action),
                1 => Turn { action, ..scored(0, 5) },
                2 => Turn { died: true, ..turn(&action) },
                3 => Turn {
                    remember: Some(Remember { text: text.clone(), importance: 1000, category: Category::danger() }),
                    ..turn(&action)
                },
                _ => {
                    let found = json!({"category": answer["category"], "importance": 1000, "summary": text});
                    world.extract(found);
                    continue;
                }
            };
            limit = limit.max(match door { 1 => 800, 2 => 1000, _ => 700 });
            let live: Vec<Known> = entries.iter().filter(|known| known.is_protected(limit)).cloned().collect();
            let report = world.record(facts, answer.clone());
            // Each protected entry that the answer would strike is named.
            let said = format!("{}\n{}", report.warnings.join("\n"), json!(report.memories));
            for list in ["supersedes", "invalidates"] {
                for title in answer[list].as_array().unwrap().iter().filter_map(Value::as_str) {
                    let bare = title.trim_matches(['[', ']']).to_lowercase();
                    let known = live.iter().find(|known| known.memory.title.to_lowercase() == bare);
                    let applies = list == "invalidates" || answer["should_remember"] == json!(true);
                    if let Some(known) = known.filter(|_| applies) {
                        prop_assert!(said.contains(&known.memory.title), "{title} is not named: {said}");
                    }
                }
            }
        }
        let after = world.text();
        for known in entries.iter().filter(|known| known.is_protected(limit)) {
            let lines = known.lines();
            prop_assert!(after.contains(&format!("{lines}\n")), "changed: {lines}\n{answers:?}\n{after}");
        }
        for memory in world.memories() {
            let old = entries.iter().any(|known| known.memory.text == memory.text && known.memory.title == memory.title);
            if !old && limit < 1000 {
                prop_assert!(memory.importance() <= limit, "{memory:?}");
                prop_assert!(memory.persistence != Persistence::Core, "{memory:?}");
            }
        }
    }
}
