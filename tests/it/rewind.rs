//! Rewinding: play, rewind, play on equals play without the rewound part, and nothing of others is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memories::chat::extract::{ExtractInput, Extractor};
use memories::chat::{ChatSettings, Conversation, ExtractMode};
use memories::journal::Journal;
use memories::journal::recorded::{Known, TurnKey};
use memories::map::{Descriptions, Graph, goals, route};
use memories::notebook::NewMemory;
use memories::notebook::authority::Authority;
use memories::notebook::rewind::{REWIND, RewindError};
use memories::recall::{Format, Limits, recall, render};
use memories::record::many::ManyTurns;
use memories::record::retry::{Wanted, waiting};
use memories::record::stats::read::read as stats;
use memories::types::{Category, Outcome, ScopeName, Writer};
use memories::{Clock, Judge, Memory, Notebook, RecordSettings, Recorder, Scope, Snapshot, Store, Turn};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases;
use crate::program::memories;

const NOW: &str = "2026-01-31T12:00:00Z";

/// Rooms of the game.
const ROOMS: u64 = 4;

/// A memory file that a game is played into.
struct Play {
    folder: TempDir,
    notebook: Notebook,
    settings: RecordSettings,
}

/// What the player does in a turn, without its number.
#[derive(Debug, Clone)]
struct Move {
    action: &'static str,
    reply: &'static str,
    room: u64,
    to: u64,
    score: i64,
    remember: Option<&'static str>,
}

/// What others do meanwhile.
#[derive(Debug, Clone, Copy)]
enum Other {
    Nobody,
    /// A person adds a memory of a character.
    Add(u64),
    /// An editor writes a line below a heading of its own.
    Edit(u64),
}

/// How the player says that a save was restored.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// `episode rewind`.
    Command,
    /// `"rewind": true` in the next turn.
    Field,
    /// `record --turns --rewind`.
    Turns,
}

impl Play {
    fn new() -> Play {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let start = "# Location Memories\n\n## NPC troll: The Troll\n\n### Memories\n\n**[NOTE] Hungry**\nIt eats.\n\n\
                     ---\n\n## Shopping\n\ntea\n";
        fs::write(&path, start).unwrap();
        let store = Store::open(path, Duration::from_secs(10)).unwrap();
        let notebook = Notebook::new(store, Clock::fixed(NOW));
        Play { folder, notebook, settings: RecordSettings::default() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("Memories.md")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn store(&self) -> &Store {
        self.notebook.store()
    }

    fn recorder(&self) -> Recorder<'_> {
        Recorder { notebook: &self.notebook, judge: Judge::Rules, settings: &self.settings }
    }

    fn record(&self, turn: &Value) -> memories::record::RecordReport {
        self.recorder().record(Turn::from_value(turn).unwrap()).unwrap()
    }

    fn play(&self, moves: &[Move], first: u64) {
        for (one, number) in moves.iter().zip(first..) {
            self.record(&one.turn(number));
        }
    }

    /// Plays moves of which the first comes after a save was restored.
    fn play_after_restore(&self, moves: &[Move], first: u64, way: Way) {
        match way {
            Way::Command => {
                let rewound = self.notebook.edit(REWIND, |draft| draft.rewind(1, first - 1)).unwrap();
                assert_eq!(rewound.value.after, (first > 1).then_some(first - 1));
                self.play(moves, first);
            }
            Way::Field => {
                let mut turn = moves[0].turn(first);
                turn["rewind"] = json!(true);
                self.record(&turn);
                self.play(&moves[1..], first + 1);
            }
            Way::Turns => {
                let settings = RecordSettings { rewind: true, ..self.settings.clone() };
                let recorder = Recorder { settings: &settings, ..self.recorder() };
                let mut lines = moves
                    .iter()
                    .zip(first..)
                    .map(|(one, number)| (number as usize, one.turn(number).to_string().into_bytes()));
                let mut many = ManyTurns::begin(&recorder, None).unwrap();
                while let Some(line) = lines.next() {
                    many.record(line, &mut || lines.next(), &mut |_, _| {})
                        .map_err(|(_, error)| error)
                        .unwrap();
                }
                assert!(many.finish().refused.is_empty());
            }
        }
    }

    fn meet(&self, other: Other) {
        match other {
            Other::Nobody => {}
            Other::Add(number) => {
                let text =
                    format!("It has sold lantern number {number} to a merchant of the {number}. street.");
                let memory = Memory::new(Category::note(), format!("Lantern {number}"), &text);
                let new = NewMemory {
                    scope: Scope::Npc("troll".into()),
                    name: String::new(),
                    memory,
                    speaker: None,
                };
                let added =
                    self.notebook.edit("add", |draft| draft.add(&new, Authority::Command, &mut Vec::new()));
                drop(added.unwrap());
            }
            Other::Edit(number) => {
                fs::write(self.path(), self.text().replace("tea\n", &format!("tea\n\njam {number}\n")))
                    .unwrap()
            }
        }
    }

    /// The answers of commands.
    fn answers(&self) -> Value {
        let snapshot = Snapshot::read(self.store()).unwrap();
        let recalled: Vec<String> = (1..=ROOMS)
            .map(|room| {
                let names = [ScopeName::Scope(Scope::Location(room))];
                let views = recall(&snapshot, &names, &Limits::default(), Format::Text).unwrap();
                render(&views).into()
            })
            .collect();
        let figures = stats(self.store(), String::new(), &Limits::default(), NOW, |_| {}).unwrap();
        let described = Descriptions::read(self.store(), &snapshot);
        json!({
            "recall": recalled, "stats": figures.stats, "route": route(&snapshot, None, None).json,
            "goals": goals(&snapshot).json, "frontier": Graph::read(&snapshot).frontier(1, 10, &described).json,
            "next": self.notebook.preview(|draft| draft.moment()).unwrap().turn,
        })
    }

    /// True if a turn would not be recorded again.
    fn knows(&self, one: &Move, number: u64) -> bool {
        let key = TurnKey::of(None, 1, Some(number), one.action, one.reply, None);
        Journal::of(self.store()).known(&key, None, Some(number)).unwrap() == Known::Recorded
    }
}

impl Move {
    fn turn(&self, number: u64) -> Value {
        let name = |id: u64| format!("Room {id}");
        let mut turn = json!({
            "episode": 1, "turn": number, "action": self.action, "response": self.reply,
            "location_before": {"id": self.room, "name": name(self.room)},
            "location_after": {"id": self.to, "name": name(self.to)},
            "score_before": 0, "score_after": self.score,
        });
        if let Some(remember) = self.remember {
            turn["remember"] = json!(remember);
        }
        turn
    }
}

fn a_move() -> impl Strategy<Value = Move> {
    let actions = vec!["north", "south", "look", "open door", "take lamp", "wait", "dig"];
    let replies = vec![
        "You can't go that way.",
        "Taken.",
        "A long hall. A door leads north and a ladder leads up.",
        "The door opens, and behind it lies a garden with a fountain.",
        "Nothing happens.",
        "It is locked.",
    ];
    let remember = vec![
        None,
        None,
        None,
        Some("The lamp lights dark places for an hour"),
        Some("Never wake the dragon below the western tower"),
        Some("The fountain heals wounds of all kinds"),
    ];
    let (actions, replies) = (prop::sample::select(actions), prop::sample::select(replies));
    let score = prop_oneof![4 => Just(0_i64), 1 => Just(5), 1 => Just(10)];
    let rooms = (1..=ROOMS, prop_oneof![1 => (1..=ROOMS).boxed(), 1 => Just(0).boxed()]);
    (actions, replies, rooms, score, prop::sample::select(remember)).prop_map(
        |(action, reply, (room, to), score, remember)| {
            let to = if to == 0 { room } else { to };
            Move { action, reply, room, to, score, remember }
        },
    )
}

fn other() -> impl Strategy<Value = Other> {
    prop_oneof![3 => Just(Other::Nobody), 1 => (2_u64..99).prop_map(Other::Add), 1 => (2_u64..99).prop_map(Other::Edit)]
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Command, Way::Field, Way::Turns])
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn play_rewind_play_on_equals_play_without_the_rewound_part(
        kept in vec(a_move(), 0..5),
        rewound in vec((a_move(), other()), 1..5),
        then in vec(a_move(), 1..4),
        way in way(),
        again in prop::option::of((0_usize..4, way())),
    ) {
        let [with, without] = [Play::new(), Play::new()];
        with.play(&kept, 1);
        without.play(&kept, 1);
        let first = kept.len() as u64 + 1;
        for ((one, other), number) in rewound.iter().zip(first..) {
            with.record(&one.turn(number));
            with.meet(*other);
            without.meet(*other);
        }
        // A turn that is the same as the first one of the rewound part is known, and was not meant to be undone.
        let is_same = |one: &Move, other: &Move| (one.action, one.reply) == (other.action, other.reply);
        let is_known = is_same(&then[0], &rewound[0].0);
        let way = if is_known { Way::Command } else { way };
        with.play_after_restore(&then, first, way);
        without.play(&then, first);
        // Further back, over what was set aside already.
        if let Some((back, _)) = again {
            let back = (back as u64).min(first + then.len() as u64 - 2);
            for play in [&with, &without] {
                play.play_after_restore(&then, back + 1, Way::Command);
            }
        }
        prop_assert_eq!(with.text(), without.text());
        prop_assert_eq!(with.answers(), without.answers());
        if again.is_none() {
            for (one, number) in kept.iter().chain(&then).zip(1..) {
                prop_assert!(with.knows(one, number), "{} {:?}", number, one);
            }
            for ((one, _), number) in rewound.iter().zip(first..) {
                let is_played = then.get((number - first) as usize).is_some_and(|then| is_same(then, one));
                prop_assert_eq!(with.knows(one, number), is_played, "{} {:?}", number, one);
            }
        }
    }
}

/// A turn in a hall that keeps a memory.
fn keeps(number: u64, remember: &str) -> Value {
    json!({"turn": number, "action": "think", "response": format!("You think of {remember}."), "location": {"id": 1, "name": "Hall"},
        "remember": remember, "world_changed": false})
}

#[test]
fn what_other_episodes_and_writers_recorded_in_between_stays() {
    let play = Play::new();
    play.record(&keeps(1, "A rope hangs from the northern window"));
    play.record(&keeps(2, "The butler owns a silver key"));
    let other = Play {
        notebook: play.notebook.clone().with_writer(Some("ann".parse::<Writer>().unwrap())),
        ..Play::new()
    };
    other.record(&keeps(1, "Three wolves sleep behind the chapel"));
    play.record(&keeps(3, "Coal burns longer than wet wood"));
    let mut later = keeps(1, "Bridges break under heavy carts");
    later["episode"] = json!(2);
    play.record(&later);
    let rewound = play.notebook.edit(REWIND, |draft| draft.rewind(1, 1)).unwrap().value;
    assert_eq!((rewound.turns.len(), rewound.after), (2, Some(1)));
    let text = play.text();
    for (words, is_there) in [
        ("A rope", true),
        ("The butler", false),
        ("Three wolves", true),
        ("Coal burns", false),
        ("Bridges break", true),
    ] {
        assert_eq!(text.contains(words), is_there, "{words}: {text}");
    }
    assert!(text.contains("**Visits:** 2 |"), "each of two episodes has come once: {text}");
}

#[test]
fn a_restore_brings_the_turns_back_and_another_sets_them_aside() {
    let play = Play::new();
    (1..=4).for_each(|number| {
        drop(
            play.record(&keeps(
                number,
                ["", "A rope", "The butler", "Wolves sleep", "Coal"][number as usize],
            )),
        )
    });
    let before = play.text();
    let count =
        || stats(play.store(), String::new(), &Limits::default(), NOW, |_| {}).unwrap().stats.turns.recorded;
    drop(play.notebook.edit(REWIND, |draft| draft.rewind(1, 2)).unwrap());
    let after = play.text();
    assert!(before != after && count() == 2);
    for (text, turns) in [(&before, 4), (&after, 2), (&before, 4)] {
        let backups = play.store().backups().unwrap();
        let read = |number: u64| play.store().read_backup(number).unwrap();
        let number =
            backups.iter().map(|backup| backup.number).find(|number| read(*number) == *text).unwrap();
        let former = read(number);
        let restored = play
            .notebook
            .edit("restore", |draft| Ok::<_, RewindError>(draft.restore(number, former.clone())?));
        drop(restored.unwrap());
        assert_eq!((&play.text(), count()), (text, turns));
        let said = play.record(&keeps(4, "Coal"));
        assert_eq!(said.outcome == Outcome::RecordedBefore, turns == 4);
        if turns == 2 {
            drop(play.notebook.edit(REWIND, |draft| draft.rewind(1, 2)).unwrap());
        }
    }
}

#[test]
fn a_turn_that_waits_for_a_model_waits_no_longer() {
    let play = Play::new();
    let later = Recorder { judge: Judge::Later, ..play.recorder() };
    for number in 1..=3 {
        let turn = json!({"turn": number, "action": "open door", "response": format!("Door {number} opens."), "location": 1, "world_changed": true});
        drop(later.record(Turn::from_value(&turn).unwrap()).unwrap());
    }
    let mut queue = waiting(play.store(), Wanted::Queued, 3).unwrap();
    assert_eq!(queue.turns.len(), 3);
    drop(play.notebook.edit(REWIND, |draft| draft.rewind(1, 1)).unwrap());
    assert_eq!(Journal::of(play.store()).queued().unwrap().len(), 1);
    assert_eq!(waiting(play.store(), Wanted::Queued, 3).unwrap().turns.len(), 1);
    let gone: Vec<bool> = queue.turns.iter().map(|turn| queue.resolved.contains(&turn.id).unwrap()).collect();
    assert_eq!(gone, [false, true, true], "a follower that has read the queue before knows it");
}

#[test]
fn where_the_journal_does_not_reach_nothing_is_changed() {
    let play = Play::new();
    (1..=4).for_each(|number| {
        drop(
            play.record(&keeps(
                number,
                ["", "A rope", "The butler", "Wolves sleep", "Coal"][number as usize],
            )),
        )
    });
    let path = play.folder.path().join(".memories/Memories.md/journal.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    // The change of a line is lost.
    let lines: Vec<String> = journal.lines().map(str::to_owned).collect();
    let damaged: Vec<String> = lines
        .iter()
        .map(|line| {
            if line.contains("The butler") {
                format!("{}}}", &line[..line.find(",\"change\":").unwrap()])
            } else {
                line.clone()
            }
        })
        .collect();
    fs::write(&path, damaged.join("\n") + "\n").unwrap();
    let before = play.text();
    let refused = play.notebook.edit(REWIND, |draft| draft.rewind(1, 0)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the history of the memory file does not reach back to turn 1 of episode 1"
    );
    assert_eq!((play.text(), fs::read_to_string(&path).unwrap()), (before, damaged.join("\n") + "\n"));
    assert_eq!(play.notebook.edit(REWIND, |draft| draft.rewind(1, 3)).unwrap().value.turns.len(), 1);
}

/// Records the lines of a file in a folder.
fn record_lines(folder: &Path, lines: &[Value], flags: &[&str]) -> String {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("turns.jsonl"), text).unwrap();
    let output = memories(folder, &[&["record", "--turns", "turns.jsonl"], flags].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_player_who_restores_saves_leaves_what_was_played_at_last() {
    let went = [
        keeps(1, "A rope"),
        keeps(2, "The butler"),
        keeps(3, "Wolves sleep"),
        keeps(2, "Coal"),
        keeps(3, "Tea"),
        keeps(4, "Jam"),
    ];
    let plain = tempfile::tempdir().unwrap();
    record_lines(plain.path(), &[&went[..1], &went[3..]].concat(), &[]);
    let text = |folder: &TempDir| fs::read_to_string(folder.path().join("Memories.md")).unwrap();
    let mut marked = went.clone();
    marked[3]["rewind"] = json!(true);
    for (lines, flags) in [(&went, &["--rewind"][..]), (&marked, &[])] {
        let folder = tempfile::tempdir().unwrap();
        record_lines(folder.path(), lines, flags);
        assert_eq!(text(&folder), text(&plain), "{flags:?}");
        // The same command again, as after an interruption, ends the same.
        record_lines(folder.path(), lines, flags);
        assert_eq!(text(&folder), text(&plain), "{flags:?}, again");
    }
}

/// A conversation of messages in turn, the user's first.
fn conversation(said: &[&str]) -> Conversation {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let messages = said.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text}));
    Conversation::read("tavern", &json!(messages.collect::<Vec<Value>>()).to_string()).unwrap()
}

#[test]
fn a_swipe_leaves_nothing_of_the_dropped_reply_behind() {
    const HELLO: &str = "Hello, who are you?";
    const FIRST: &str = "I discovered that the old well hides a golden crown under its third stone.";
    const ASK: &str = "Where does the smuggler live?";
    const DROPPED: &str =
        "I promise that I will bring you the smuggler's map before the next full moon rises.";
    const TAKEN: &str = "I learned that the smuggler sleeps in the lighthouse beside the northern harbour.";
    let settings = ChatSettings { mode: ExtractMode::EveryTurn, ..ChatSettings::default() };
    let extract = |play: &Play, said: &[&str]| {
        let conversation = conversation(said);
        let extractor = Extractor { notebook: &play.notebook, model: None, settings: &settings };
        let input = ExtractInput { has_history: true, ..ExtractInput::of(&conversation) };
        extractor.extract(input).unwrap()
    };
    let [swiped, plain] = [Play::new(), Play::new()];
    for play in [&swiped, &plain] {
        assert_eq!(extract(play, &[HELLO, FIRST]).memories.len(), 1);
    }
    assert_eq!(extract(&swiped, &[HELLO, FIRST, ASK, DROPPED]).memories.len(), 1);
    swiped.meet(Other::Add(7));
    plain.meet(Other::Add(7));
    for play in [&swiped, &plain] {
        let report = extract(play, &[HELLO, FIRST, ASK, TAKEN]);
        assert_eq!((report.memories.len(), report.turns), (1, 2));
    }
    assert!(plain.text().contains("lighthouse"));
    assert_eq!(swiped.text(), plain.text());
    // The last message of the user is another one, and the client goes back to an earlier swipe.
    for play in [&swiped, &plain] {
        extract(
            play,
            &[HELLO, FIRST, "I leave.", "I discovered that the gate is never locked at night in winter."],
        );
        assert!(
            !play.text().contains("lighthouse") && play.text().contains("golden crown"),
            "{}",
            play.text()
        );
    }
    assert_eq!(swiped.text(), plain.text());
}
