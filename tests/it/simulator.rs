//! An explorer who remembers repeats little: five episodes in a world that replays recorded turns.
//!
//! The explorer is noisy: of ten turns about three are directions, one is anything that was ever typed, the others
//! are what was recorded at the place; it plans nothing. It leaves out what its memory says is in vain: nothing, the
//! actions that the text of `recall` names, or those that `tried` answers so. A repeat is an action that failed at
//! this place before, with nothing carried now that was lacking then, and fails again. `tests/support/world.rs` says
//! what the world simplifies.
//!
//! One run depends on chance, so the means of several runs are held to the limits: as many as `MEMORIES_EXPLORERS`
//! says. Unless that is set there is one run, held to wider bounds: those catch a broken rule, and say nothing about
//! the mean. Run with `--nocapture` for the figures.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memories::notebook::{Clock, Notebook, Snapshot};
use memories::recall::{Format, Limits, Verdict, recall, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Scope, ScopeName, fold_action};
use serde_json::json;

use super::dice::Dice;
use super::recalled::{IN_VAIN, actions};
use super::replay::player::{Known, percent, temporary_folder};
use super::world::{DIRECTIONS, World};
use super::{invented_world, recalled};

const EPISODES: u64 = 5;
const TURNS: u64 = 300;

/// Limits in percent of the turns: of the mean of enough runs, and of one run.
struct Limit {
    mean: f64,
    one_run: f64,
}

/// Repeats over all.
const OVER_ALL: Limit = Limit { mean: 2.5, one_run: 3.5 };

/// Runs from which on the means must be within the limits themselves.
const ENOUGH: usize = 8;

/// Repeats in each episode.
const IN_EPISODE: Limit = Limit { mean: 5.0, one_run: 8.2 };

/// The memory that the explorer asks before it acts.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    Nothing,
    Recall,
    Tried,
}

/// Repeats of one episode: in the same circumstances, and in any.
#[derive(Clone, Copy, Default)]
struct Repeats {
    same: usize,
    any: usize,
}

/// Tells which actions to leave out.
enum LeftOut {
    Nothing,
    Named(HashSet<String>),
    InVain(Box<Known>),
}

impl LeftOut {
    fn ask(memory: Memory, store: &Store, place: u64, episode: u64) -> LeftOut {
        match memory {
            Memory::Nothing => LeftOut::Nothing,
            Memory::Tried => LeftOut::InVain(Box::new(
                Known::read(store, place, Some(episode)).expect("the file is readable"),
            )),
            Memory::Recall => {
                let names = [ScopeName::Scope(Scope::Location(place))];
                let snapshot = Snapshot::read(store).expect("the file is readable");
                let views = recall(&snapshot, &names, &Limits::default(), Format::Text).expect("a place");
                let named = actions(&render(&views), &IN_VAIN);
                LeftOut::Named(named.into_iter().map(|(action, _)| fold_action(&action)).collect())
            }
        }
    }

    /// A test of actions.
    fn test(&self) -> impl Fn(&str) -> bool {
        move |action: &str| match self {
            LeftOut::Named(named) => named.contains(&fold_action(action)),
            LeftOut::InVain(known) => known.verdict(action) == Verdict::InVain,
            LeftOut::Nothing => false,
        }
    }
}

/// The world of the five recorded episodes and of the opening.
fn recorded_world() -> World {
    let turns = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns");
    let files = ["ep1", "ep2", "ep3", "ep4", "ep5", "opening"].map(|file| format!("zork1_{file}.jsonl"));
    let text = files.map(|file| std::fs::read_to_string(turns.join(file)).expect("the fixture is there"));
    World::of(&text.concat())
}

/// An action that is not left out: from the pool, else any here, else any.
fn choose(world: &World, everything: &[String], left_out: &LeftOut, dice: &mut Dice) -> String {
    let here = world.actions_here();
    let directions = DIRECTIONS.map(str::to_owned);
    let pool = match dice.below(20) {
        0..2 => everything,
        2..9 => &directions[..],
        _ => &here,
    };
    let is_left_out = left_out.test();
    for pool in [pool, &here, everything] {
        // In the order of chance: the first that is open is as likely as any other that is open.
        let mut actions: Vec<&String> = pool.iter().collect();
        while !actions.is_empty() {
            let action = actions.swap_remove(dice.below(actions.len()));
            if !is_left_out(action) {
                return action.clone();
            }
        }
    }
    "wait".to_owned()
}

fn explore(memory: Memory, mut world: World, seed: u64) -> Vec<Repeats> {
    let folder = temporary_folder().expect("a folder");
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("a path");
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let recorder =
        Recorder { notebook: &notebook, judge: Judge::Rules, settings: &RecordSettings::default() };
    let mut dice = Dice::of(seed);
    let everything = world.actions_anywhere();
    let mut failures: BTreeMap<(u64, String), Vec<Vec<String>>> = BTreeMap::new();
    let mut episodes = Vec::new();
    for episode in 1..=EPISODES {
        world.restart();
        let mut repeats = Repeats::default();
        for number in 1..=TURNS {
            let (place, carried) = (world.place(), world.carried.clone());
            let left_out = LeftOut::ask(memory, &store, place, episode);
            let action = choose(&world, &everything, &left_out, &mut dice);
            let mut outcome = world.act(&action);
            if outcome.failed {
                let before = failures.entry((place, action)).or_default();
                repeats.any += usize::from(!before.is_empty());
                repeats.same +=
                    usize::from(before.iter().any(|then| carried.iter().all(|item| then.contains(item))));
                before.push(carried);
            }
            outcome.turn["episode"] = json!(episode);
            outcome.turn["turn"] = json!(number);
            if memory != Memory::Nothing {
                recorder.record(Turn::from_value(&outcome.turn).expect("a turn")).expect("recorded");
            }
        }
        episodes.push(repeats);
    }
    episodes
}

/// Runs of all seeds, on as many threads as there are processors.
fn run(memory: Memory, world: fn() -> World) -> Vec<Vec<Repeats>> {
    let asked = std::env::var("MEMORIES_EXPLORERS").ok().and_then(|runs| runs.parse().ok());
    let runs: u64 = asked.unwrap_or(1);
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= runs {
                return done;
            }
            done.push(explore(memory, world(), seed + 1));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("an explorer")).collect()
    })
}

/// A figure over several runs, in percent.
struct Figure {
    mean: f64,
    /// Standard deviation of one run.
    spread: f64,
    worst: f64,
    runs: usize,
}

impl Figure {
    fn of(runs: &[f64]) -> Figure {
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / count;
        let square = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>();
        let spread = if runs.len() > 1 { (square / (count - 1.0)).sqrt() } else { 0.0 };
        Figure { mean, spread, worst: runs.iter().copied().fold(0.0, f64::max), runs: runs.len() }
    }

    fn error(&self) -> f64 {
        self.spread / (self.runs as f64).sqrt()
    }

    fn text(&self) -> String {
        format!(
            "{:.2} ± {:.2} (one run ± {:.2}, worst {:.1})",
            self.mean,
            self.error(),
            self.spread,
            self.worst
        )
    }
}

/// Prints the figures of an explorer: the share of repeats over all, and of each episode.
fn report(name: &str, runs: &[Vec<Repeats>]) -> (Figure, Vec<Figure>) {
    let share = |repeats: usize, episodes: u64| percent(repeats, (episodes * TURNS) as usize);
    let all = |part: fn(&Repeats) -> usize| {
        let sums = runs.iter().map(|run| share(run.iter().map(part).sum(), EPISODES));
        Figure::of(&sums.collect::<Vec<_>>())
    };
    let episode = |at: usize| {
        let shares = runs.iter().map(|run| share(run[at].same, 1));
        Figure::of(&shares.collect::<Vec<_>>())
    };
    let same = all(|repeats| repeats.same);
    let each: Vec<Figure> = (0..EPISODES as usize).map(episode).collect();
    println!("{name}, {} runs: {} % repeats", runs.len(), same.text());
    for (number, figure) in (1..).zip(&each) {
        println!("  episode {number}: {}", figure.text());
    }
    println!("  in any circumstances: {}", all(|repeats| repeats.any).text());
    (same, each)
}

/// Holds the means to the limits.
fn check(name: &str, memory: Memory, world: fn() -> World) {
    let (same, each) = report(name, &run(memory, world));
    let most = |limit: &Limit, figure: &Figure| {
        let most = if figure.runs < ENOUGH { limit.one_run } else { limit.mean };
        assert!(figure.mean <= most, "{name}: {} %", figure.text());
    };
    most(&OVER_ALL, &same);
    each.iter().for_each(|figure| most(&IN_EPISODE, figure));
}

fn invented() -> World {
    World::of(&invented_world::turns(1))
}

#[test]
fn an_explorer_without_memory_repeats_much() {
    for (name, world, least) in
        [("recorded game", recorded_world as fn() -> World, 25.0), ("invented game", invented, 20.0)]
    {
        let (same, _) = report(&format!("{name}, without memory"), &run(Memory::Nothing, world));
        assert!(same.mean >= least, "the world is no test of memory: {:.1} %", same.mean);
    }
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn an_explorer_who_reads_recall_repeats_little() {
    // Its budget hides a few actions where much was tried.
    check("recorded game, by the text of recall", Memory::Recall, recorded_world);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn an_explorer_who_asks_tried_repeats_little() {
    check("recorded game, by tried", Memory::Tried, recorded_world);
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn an_explorer_of_another_game_repeats_little() {
    check("invented game, by the text of recall", Memory::Recall, invented);
}

#[test]
fn lines_of_actions_are_read_by_their_form() {
    let line = "Tried here in vain: north, \"say \\\"a, b\\\"\" ×3 (No [x], open.); up ×2, down (x; y)";
    let read = recalled::actions(line, &IN_VAIN);
    let read: Vec<(&str, Option<&str>)> =
        read.iter().map(|(action, reply)| (action.as_str(), reply.as_deref())).collect();
    let expected =
        [("north", None), ("say \"a, b\"", Some("No [x], open.")), ("up", None), ("down", Some("x; y"))];
    assert_eq!(read, expected);
}
