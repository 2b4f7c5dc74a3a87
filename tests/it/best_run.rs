//! The best run of a game: what earned points is kept in order, use teaches, and a recall says what is next.

use std::fs;
use std::path::Path;
use std::time::Duration;

use memories::document::Document;
use memories::document::merge::{Labels, merge};
use memories::document::run::{BEST_RUN, Run};
use memories::map::BestRun;
use memories::notebook::{Clock, Notebook, Snapshot};
use memories::recall::{Format, Limits, recall, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Scope, ScopeName};
use serde_json::{Value, json};

use crate::episodes;
use crate::program::memories;

/// A game: a hall (1), a kitchen (2) and a cellar (3).
pub(super) fn step(
    episode: u64,
    turn: u64,
    action: &str,
    reply: &str,
    places: (u64, u64),
    scores: (i64, i64),
) -> Value {
    let name = |id: u64| ["", "Hall", "Kitchen", "Cellar"][id as usize];
    let place = |id: u64| json!({"id": id, "name": name(id)});
    json!({
        "episode": episode, "turn": turn, "action": action, "response": reply, "location_before": place(places.0),
        "location_after": place(places.1), "score_before": scores.0, "score_after": scores.1,
        "inventory_before": [], "inventory_after": [],
    })
}

/// An episode that makes 15 points, with a detour, refusals and a look.
fn first_episode() -> Vec<Value> {
    let no = "You can't go that way.";
    vec![
        step(1, 1, "up", no, (1, 1), (0, 0)),
        step(1, 2, "north", "Kitchen", (1, 2), (0, 0)),
        step(1, 3, "south", "Hall", (2, 1), (0, 0)),
        step(1, 4, "look", "Hall\nA bare hall with doors on all sides.", (1, 1), (0, 0)),
        step(1, 5, "open chest", "The chest opens.", (1, 1), (0, 10)),
        step(1, 6, "wait", "Time passes.", (1, 1), (10, 10)),
        step(1, 7, "wait", "Time passes. A bell rings, and the guard goes to lunch.", (1, 1), (10, 10)),
        step(1, 8, "unlock trap door", "Unlocked. It swings open.", (1, 1), (10, 10)),
        step(1, 9, "down", "Cellar", (1, 3), (10, 15)),
        step(1, 10, "dance", "You are tired.", (3, 3), (15, 15)),
    ]
}

const FIRST: &str = "From [Hall](#location-1-hall)\n\
    - +10 at [Hall](#location-1-hall) *(T5)*: open chest\n\
    - +5 at [Cellar](#location-3-cellar) *(T9)*: wait, unlock trap door, down";

pub(super) struct Game {
    _folder: tempfile::TempDir,
    pub(super) store: Store,
}

impl Game {
    pub(super) fn new() -> Game {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        Game { _folder: folder, store }
    }

    pub(super) fn play(&self, turns: &[Value]) -> Vec<Option<String>> {
        self.play_with(turns, &RecordSettings::default())
    }

    fn play_with(&self, turns: &[Value], settings: &RecordSettings) -> Vec<Option<String>> {
        let notebook = Notebook::new(self.store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
        let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings };
        let turns = turns.iter().map(|turn| Turn::from_value(turn).unwrap());
        turns.map(|turn| recorder.record(turn).unwrap().best_run).collect()
    }

    /// The live entry of the best run.
    fn entry(&self) -> memories::types::Memory {
        let snapshot = Snapshot::read(&self.store).unwrap();
        let mut live = snapshot.section(&Scope::Game).live().filter(|memory| memory.title == BEST_RUN);
        let entry = live.next().expect("a best run").clone();
        assert_eq!(live.count(), 0, "one best run");
        entry
    }

    /// Runs a command that succeeds.
    fn says(&self, arguments: &[&str]) -> String {
        let output = memories(self.store.path().parent().unwrap(), arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn recalled(&self, place: u64) -> Option<String> {
        self.next("Next (best run, 15 points): ", place)
    }

    /// The rest of the line of a recall that begins with `heading`.
    pub(super) fn next(&self, heading: &str, place: u64) -> Option<String> {
        let names = [ScopeName::Scope(Scope::Location(place))];
        let snapshot = Snapshot::read(&self.store).unwrap();
        let views = recall(&snapshot, &names, &Limits::default(), Format::Text).unwrap();
        render(&views).lines().find_map(|line| line.strip_prefix(heading).map(str::to_owned))
    }
}

#[test]
fn what_earned_points_is_kept_in_order_as_it_is_earned() {
    let game = Game::new();
    let told = game.play(&first_episode());
    assert_eq!(told.iter().filter(|told| told.is_some()).count(), 2, "{told:?}");
    assert_eq!(told[8].as_deref(), Some("this is the best run so far, with a score of 15"));
    let entry = game.entry();
    assert_eq!(entry.text, FIRST);
    assert_eq!((entry.provenance.episode, entry.provenance.score), (Some(1), Some(15)));
    assert_eq!(entry.provenance.turns.map(|turns| (turns.first, turns.last)), Some((1, 9)));
}

#[test]
fn a_turn_that_earns_is_refused_while_the_journal_cannot_be_read() {
    let game = Game::new();
    let (earlier, earns) = (&first_episode()[..4], &first_episode()[4..5]);
    game.play(earlier);
    let journal = game.store.folder().join("journal.jsonl");
    let aside = journal.with_extension("aside");
    fs::rename(&journal, &aside).unwrap();
    fs::create_dir(&journal).unwrap();
    let before = fs::read_to_string(game.store.path()).unwrap();
    let notebook = Notebook::new(game.store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let settings = RecordSettings::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
    assert!(recorder.record(Turn::from_value(&earns[0]).unwrap()).is_err());
    assert_eq!(fs::read_to_string(game.store.path()).unwrap(), before);
    fs::remove_dir(&journal).unwrap();
    fs::rename(&aside, &journal).unwrap();
    game.play(earns);
    assert!(game.entry().text.contains("+10 at [Hall]"), "{}", game.entry().text);
}

#[test]
fn single_turns_and_many_leave_the_same_run() {
    let game = Game::new();
    game.play(&first_episode());
    let folder = tempfile::tempdir().unwrap();
    let lines: String = first_episode().iter().map(|turn| format!("{turn}\n")).collect();
    fs::write(folder.path().join("turns.jsonl"), lines).unwrap();
    let output = memories(folder.path(), &["record", "--turns", "turns.jsonl"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.path().join("Memories.md")).unwrap();
    assert_eq!(text, game.store.read().unwrap().unwrap());
}

#[test]
fn a_better_run_takes_its_place_and_a_worse_one_only_counts() {
    let game = Game::new();
    game.play(&first_episode());
    let worse = [
        step(2, 1, "open chest", "The chest opens.", (1, 1), (0, 10)),
        step(2, 2, "dance", "You are tired.", (1, 1), (10, 10)),
    ];
    assert_eq!(game.play(&worse), [None, None]);
    assert_eq!(game.entry().text, FIRST.replacen("*(T5)*", "*(T5)* ×2", 1));
    // The same points in fewer turns.
    let quicker = [
        step(3, 1, "open chest", "The chest opens.", (1, 1), (0, 10)),
        step(3, 2, "unlock trap door", "Unlocked. It swings open.", (1, 1), (10, 10)),
        step(3, 3, "down", "Cellar", (1, 3), (10, 15)),
    ];
    assert!(game.play(&quicker)[2].is_some());
    let entry = game.entry();
    let expected = "From [Hall](#location-1-hall)\n- +10 at [Hall](#location-1-hall) *(T1)* ×3: open chest\n\
                    - +5 at [Cellar](#location-3-cellar) *(T3)* ×2: unlock trap door, down";
    assert_eq!((entry.text.as_str(), entry.provenance.episode), (expected, Some(3)));
}

#[test]
fn what_failed_is_marked_and_what_gained_instead_takes_its_place() {
    let game = Game::new();
    game.play(&first_episode());
    game.play(&[step(2, 1, "open chest", "The chest is locked.", (1, 1), (0, 0))]);
    assert_eq!(game.entry().text, FIRST.replacen("*(T5)*", "*(T5, failed Ep2)*", 1));
    game.play(&[
        step(2, 2, "take key", "Taken.", (1, 1), (0, 0)),
        step(2, 3, "unlock chest", "Unlocked. The chest opens.", (1, 1), (0, 10)),
    ]);
    let text = game.entry().text;
    assert!(text.contains("- +10 at [Hall](#location-1-hall) *(T5)*: take key, unlock chest\n"), "{text}");
}

#[test]
fn a_persons_run_stands_until_a_better_one_passes_it() {
    let game = Game::new();
    game.play(&first_episode());
    let path = game.store.path().to_owned();
    let edited = fs::read_to_string(&path).unwrap().replace("open chest\n", "kick chest, open chest\n");
    fs::write(&path, &edited).unwrap();
    game.play(&[step(2, 1, "open chest", "The chest opens.", (1, 1), (0, 10))]);
    assert!(game.entry().text.contains("kick chest, open chest\n"), "a count is no better run");
    let told = game.play(&[step(2, 2, "sing", "The walls ring.", (1, 1), (10, 40))]);
    assert!(told[0].as_ref().unwrap().ends_with("the one that a person had changed is struck"), "{told:?}");
    assert!(game.entry().text.ends_with("*(T2)*: sing"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("kick chest") && text.contains("[Superseded at Ep2 T2 by \"Best run\"]"), "{text}");
}

#[test]
fn a_game_without_score_has_goals_or_what_a_person_marks() {
    let plain = |mut turn: Value| {
        for field in ["score_before", "score_after"] {
            turn.as_object_mut().unwrap().remove(field);
        }
        turn
    };
    let turns: Vec<Value> = first_episode().into_iter().map(plain).collect();
    let game = Game::new();
    let goals = RecordSettings { goals: vec!["2".into(), "Cellar".into()], ..RecordSettings::default() };
    game.play_with(&turns, &goals);
    let text = game.entry().text;
    assert!(text.contains("- reached [Kitchen]") || text.contains("- reached at [Kitchen]"), "{text}");
    assert!(text.lines().last().unwrap().contains("[Cellar](#location-3-cellar) *(T9)*"), "{text}");
    let marked = Game::new();
    marked.play(&turns);
    marked.says(&["episode", "best"]);
    let entry = marked.entry();
    let run = Run::parse(&entry.text);
    assert!(entry.text.contains("- done at [Cellar]") && run.gains.len() == 1, "{}", entry.text);
    assert!(!run.gains[0].steps.contains(&"up".to_owned()) && entry.provenance.score.is_none());
}

#[test]
fn a_recall_says_what_is_next_of_what_this_episode_has_not_done() {
    let game = Game::new();
    game.play(&first_episode());
    assert_eq!(game.recalled(3), None, "all of it is done");
    game.says(&["episode", "start"]);
    let next = |place: u64| game.recalled(place).unwrap();
    assert_eq!(next(1), "open chest (+10), wait, unlock trap door");
    assert!(next(2).starts_with("south, then open chest (+10)"), "{}", next(2));
    game.play(&[step(2, 1, "open chest", "The chest opens.", (1, 1), (0, 10))]);
    assert_eq!(next(1), "wait, unlock trap door, down (+5)");
}

#[test]
fn the_places_around_are_enough_of_a_map_for_the_way_back() {
    let played = episodes::one_by_one();
    let (mut on_it, mut off_it) = (0, 0);
    for turns in (150..played.replay.states.len()).step_by(190) {
        let folder = tempfile::tempdir().unwrap();
        let store = episodes::open(&folder);
        fs::write(store.path(), played.text_after(turns)).unwrap();
        let snapshot = Snapshot::read(&store).unwrap();
        let Some(alone) = BestRun::to_follow(&snapshot) else { continue };
        let with_map = BestRun::to_follow(&snapshot).unwrap().with_map();
        for heading in snapshot.headings() {
            let Scope::Location(place) = heading.scope else { continue };
            for far in 1..9 {
                let next = alone.next_near(place, far);
                assert_eq!(
                    next,
                    with_map.next_near(place, far),
                    "{turns} turns, less than {far} actions to {heading:?}"
                );
                match next {
                    Some(next) if next.back.is_empty() => on_it += 1,
                    Some(next) => {
                        assert!((next.back.len() as u64) < far);
                        off_it += 1;
                    }
                    None => {}
                }
            }
        }
    }
    assert!(on_it > 20 && off_it > 100, "{on_it} places on the run, {off_it} off it");
}

#[test]
fn a_route_goes_on_from_where_the_last_turn_of_the_episode_ended() {
    let game = Game::new();
    game.play(&first_episode());
    let route = |arguments: &[&str]| game.says(&[&["route", "--from", "."], arguments].concat());
    game.says(&["episode", "start"]);
    // The episode before ended in the cellar.
    assert_eq!(route(&[]), game.says(&["route"]));
    game.play(&[step(2, 1, "open chest", "The chest opens.", (1, 1), (0, 10))]);
    assert_eq!(route(&[]), "wait\nunlock trap door\ndown  (+5 at Cellar)\n");
    game.play(&[step(2, 2, "north", "Kitchen", (1, 2), (10, 10))]);
    assert_eq!(route(&[]), "south\nwait\nunlock trap door\ndown  (+5 at Cellar)\n");
    assert_eq!(route(&["trap door"]), "south\nwait\nunlock trap door\n");
}

/// The turns of an episode in the hall: actions that change the world, each with the points that it gains.
fn run_of(deeds: &[(&str, i64)]) -> Vec<Value> {
    let mut score = 0;
    let turn = |(turn, (action, points)): (u64, &(&str, i64))| {
        let scores = (score, score + points);
        let mut turn = step(1, turn, action, "Done. It is as it should be.", (1, 1), scores);
        turn["world_changed"] = json!(true);
        score += points;
        turn
    };
    (1..).zip(deeds).map(turn).collect()
}

/// A run that needs one action twice: the knife is taken for each of two cuts.
fn with_a_knife() -> Vec<Value> {
    let deeds = [
        ("take knife", 0),
        ("dice pork with knife", 1),
        ("drop knife", 0),
        ("take knife", 0),
        ("chop potato with knife", 1),
        ("drop knife", 0),
        ("eat meal", 1),
    ];
    run_of(&deeds)
}

fn next_of_three_points(game: &Game) -> String {
    game.next("Next (best run, 3 points): ", 1).unwrap_or_default()
}

#[test]
fn a_step_that_comes_twice_is_not_skipped() {
    let game = Game::new();
    game.play(&with_a_knife());
    let again = |turn: u64, number: usize| {
        let mut played = with_a_knife()[number].clone();
        (played["episode"], played["turn"]) = (json!(2), json!(turn));
        game.play(&[played]);
    };
    game.play(&[step(2, 1, "dance", "You are tired.", (1, 1), (0, 0))]);
    assert!(next_of_three_points(&game).starts_with("take knife, dice pork with knife (+1)"));
    again(2, 0);
    assert!(next_of_three_points(&game).starts_with("dice pork with knife (+1), drop knife, take knife"));
    again(3, 1);
    assert!(next_of_three_points(&game).starts_with("drop knife, take knife, chop potato with knife (+1)"));
    again(4, 2);
    assert!(next_of_three_points(&game).starts_with("take knife, chop potato with knife (+1)"));
    let goals = memories(game.store.path().parent().unwrap(), &["goals"]).output().unwrap();
    let goals = String::from_utf8(goals.stdout).unwrap();
    let done: Vec<bool> = goals.lines().map(|line| line.contains("done in this episode")).collect();
    assert_eq!(done, [true, false, false], "{goals}");
    for (turn, number) in (5..).zip(3..7) {
        again(turn, number);
    }
    assert_eq!(next_of_three_points(&game), "");
}

/// Opening the drawer gains, and is a step of the next gain, too.
#[test]
fn a_gain_that_is_a_step_of_the_next_one_does_not_begin_it_anew() {
    let game = Game::new();
    let deeds =
        [("open drawer", 1), ("close drawer", 0), ("open trunk", 0), ("open drawer", 0), ("ring bell", 1)];
    let run = run_of(&deeds);
    game.play(&run);
    let next = |game: &Game| game.next("Next (best run, 2 points): ", 1).unwrap_or_default();
    let left = [
        "close drawer, open trunk, open drawer",
        "open trunk, open drawer, ring bell (+1)",
        "open drawer, ring bell (+1)",
        "ring bell (+1)",
        "",
    ];
    for (mut turn, left) in run.into_iter().zip(left) {
        turn["episode"] = json!(2);
        game.play(&[turn]);
        assert_eq!(next(&game), left);
    }
}

#[test]
fn two_steps_in_words_that_are_one_are_not_skipped() {
    let game = Game::new();
    let first = [
        step(1, 1, "north", "Kitchen", (1, 2), (0, 0)),
        step(1, 2, "pick up orange", "Taken.", (2, 2), (0, 0)),
        step(1, 3, "east", "Cellar", (2, 3), (0, 0)),
        step(1, 4, "push thermometer", "It beeps.", (3, 3), (0, 5)),
        step(1, 5, "west", "Kitchen", (3, 2), (5, 5)),
        step(1, 6, "take orange", "Taken.", (2, 2), (5, 5)),
        step(1, 7, "south", "Hall", (2, 1), (5, 5)),
        step(1, 8, "push box", "It opens.", (1, 1), (5, 15)),
    ];
    game.play(&first);
    for mut turn in first[..2].iter().cloned() {
        turn["episode"] = json!(2);
        game.play(&[turn]);
    }
    let next = game.next("Next (best run, 15 points): ", 2).unwrap();
    assert!(next.starts_with("east, push thermometer (+5), west"), "{next}");
}

#[test]
fn a_step_that_is_refused_after_all_before_it_was_done_is_passed() {
    let game = Game::new();
    game.play(&with_a_knife());
    game.play(&[step(2, 1, "take knife", "It is fixed to the table.", (1, 1), (0, 0))]);
    assert!(next_of_three_points(&game).starts_with("dice pork with knife (+1)"));
    game.play(&[step(2, 2, "dice pork with knife", "You can't do that.", (1, 1), (0, 0))]);
    let goals = memories(game.store.path().parent().unwrap(), &["goals"]).output().unwrap();
    assert!(
        !String::from_utf8(goals.stdout).unwrap().contains("done in this episode"),
        "it was passed, not made"
    );
    assert!(next_of_three_points(&game).starts_with("drop knife, take knife, chop potato"));
}

#[test]
fn of_two_files_a_merge_takes_the_better_run() {
    let base = Game::new();
    base.play(&first_episode());
    let text = |game: &Game| game.store.read().unwrap().unwrap();
    let copy = |game: &Game, other: &Path| {
        fs::write(other, text(game)).unwrap();
        Store::open(other, Duration::from_secs(10)).unwrap()
    };
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stores = [&one, &other].map(|folder| copy(&base, &folder.path().join("Memories.md")));
    let [one, other] = [(stores[0].clone(), one), (stores[1].clone(), other)]
        .map(|(store, _folder)| Game { _folder, store });
    one.play(&[step(2, 1, "sing", "The walls ring.", (1, 1), (0, 20))]);
    other.play(&[step(2, 1, "kick wall", "The wall falls.", (1, 1), (0, 30))]);
    let run_of = |text: String| {
        let document = Document::parse(text);
        let section = document.section(&Scope::Game).unwrap();
        let runs: Vec<Run> = section.memories.iter().filter_map(Run::of).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].points()
    };
    let labels = Labels::default();
    for base in [text(&base), String::new()] {
        for (ours, theirs) in [(&one, &other), (&other, &one)] {
            let merged = merge(&base, &text(ours), &text(theirs), labels);
            assert_eq!(run_of(merged.text), 30);
        }
    }
}
