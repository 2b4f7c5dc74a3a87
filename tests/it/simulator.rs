//! An explorer who remembers repeats little: five episodes in a world that replays recorded turns.
//!
//! The explorer is noisy: of ten turns about three are directions, one is anything that was ever typed, the others
//! are what was recorded at the place; it plans nothing. It leaves out what its memory says is in vain: nothing, the
//! actions that the text of `recall` names, or those that `tried` answers so. A repeat is an action that failed at
//! this place before, with nothing carried now that was lacking then, and fails again. `tests/support/world.rs` says
//! what the world simplifies. Run with `--nocapture` for the figures.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use memories::notebook::{Clock, Notebook};
use memories::recall::{Format, Limits, Verdict, read, recall, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Scope, ScopeName, Viewer, gained_since};
use serde_json::json;

use super::replay::player::{Known, percent, temporary_folder};
use super::world::{DIRECTIONS, World};

const EPISODES: u64 = 5;
const TURNS: u64 = 300;

/// The memory that the explorer asks before it acts.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    Nothing,
    Recall,
    Tried,
}

/// Repeats of one episode: in the same circumstances, and in any.
#[derive(Default)]
struct Repeats {
    same: usize,
    any: usize,
}

/// Numbers that look random and are always the same (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// Tells which actions to leave out.
enum LeftOut {
    Nothing,
    Named(String),
    InVain(Box<Known>),
}

impl LeftOut {
    fn ask(memory: Memory, store: &Store, place: u64, episode: u64) -> LeftOut {
        let known = || Known::read(store, place, Some(episode)).expect("the file is readable");
        match memory {
            Memory::Nothing => LeftOut::Nothing,
            Memory::Tried => LeftOut::InVain(Box::new(known())),
            Memory::Recall => {
                let names = [ScopeName::Scope(Scope::Location(place))];
                let snapshot = read(store, &names).expect("the file is readable");
                let views = recall(&snapshot, &Viewer::Person, &names, &Limits::default(), Format::Text)
                    .expect("a place");
                let text = render(&views, Format::Text);
                let headings = ["Tried here in vain:", "The game does not understand:"];
                let lines =
                    text.lines().filter(|line| headings.iter().any(|heading| line.starts_with(heading)));
                LeftOut::Named(lines.collect::<Vec<_>>().join("\n").to_lowercase())
            }
        }
    }

    fn has(&self, action: &str) -> bool {
        match self {
            LeftOut::Nothing => false,
            LeftOut::InVain(known) => known.verdict(action) == Verdict::InVain,
            LeftOut::Named(lines) => {
                // Actions with a comma and the like stand in quotation marks.
                let line = lines.replace('"', "");
                let action = action.replace('"', "");
                line.match_indices(&action).any(|(at, _)| {
                    let (before, after) = (&line[..at], &line[at + action.len()..]);
                    let begins = [": ", ", ", "; "].iter().any(|gap| before.ends_with(gap));
                    let ends = [",", ";", " (", " ×", "\n"].iter().any(|gap| after.starts_with(gap));
                    begins && (ends || after.is_empty())
                })
            }
        }
    }
}

/// The world of the five recorded episodes and of the opening.
fn world() -> World {
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
    for pool in [pool, &here, everything] {
        let open: Vec<&String> = pool.iter().filter(|action| !left_out.has(action)).collect();
        if !open.is_empty() {
            return open[dice.below(open.len())].clone();
        }
    }
    "wait".to_owned()
}

fn explore(memory: Memory, seed: u64) -> Vec<Repeats> {
    let folder = temporary_folder().expect("a folder");
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("a path");
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let recorder =
        Recorder { notebook: &notebook, judge: Judge::Rules, settings: &RecordSettings::default() };
    let (mut world, mut dice) = (world(), Dice(seed));
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
                    usize::from(before.iter().any(|then| gained_since(&carried, then).is_empty()));
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

/// Prints the figures of an explorer; the share of repeats over all, and the largest of an episode, in percent.
fn report(name: &str, memory: Memory) -> (f64, f64) {
    let episodes = explore(memory, 7);
    let share = |repeats: usize, episodes: u64| percent(repeats, (episodes * TURNS) as usize);
    let each: Vec<f64> = episodes.iter().map(|episode| share(episode.same, 1)).collect();
    let same = share(episodes.iter().map(|episode| episode.same).sum(), EPISODES);
    let any = share(episodes.iter().map(|episode| episode.any).sum(), EPISODES);
    let shown: Vec<String> = each.iter().map(|share| format!("{share:.1}")).collect();
    println!("{name}: {same:.1} % repeats ({}), in any circumstances {any:.1} %", shown.join(", "));
    (same, each.into_iter().fold(0.0, f64::max))
}

/// Holds the share of repeats to limits in percent: over all, and of each episode.
fn check(name: &str, memory: Memory, limits: (f64, f64)) {
    let (all, most) = report(name, memory);
    assert!(all <= limits.0 && most <= limits.1, "{all:.1} % over all, {most:.1} % in an episode");
}

#[test]
fn an_explorer_without_memory_repeats_much() {
    let (all, _) = report("without memory", Memory::Nothing);
    assert!(all >= 25.0, "the world is no test of memory: {all:.1} %");
}

#[test]
fn an_explorer_who_reads_recall_repeats_little() {
    // Its budget hides a few actions where much was tried.
    check("by the text of recall", Memory::Recall, (2.5, 5.0));
}

#[test]
fn an_explorer_who_asks_tried_repeats_little() {
    check("by tried", Memory::Tried, (2.5, 5.0));
}
