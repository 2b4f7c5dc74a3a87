//! Replays recorded turns through the library and measures what comes of it.
//!
//! Turns enter as JSONL. Before each turn the memory of its place is recalled as an agent would read
//! it, after it the turn is recorded by the built-in rules; all settings are the defaults. Figures
//! leave, an episode at a time.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use memories::document::{Document, Section};
use memories::notebook::{Clock, Notebook, Snapshot};
use memories::recall::budget::estimate_tokens;
use memories::recall::{Circumstances, Format, Judgement, Limits, Verdict, recall, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Scope, ScopeName, fold_action};
use serde_json::Value;

/// Figures of one episode.
#[derive(Debug, Default)]
pub struct Episode {
    /// Its number as the turns have it.
    pub number: Option<u64>,
    /// Turns played.
    pub turns: usize,
    /// Turns that try again what had failed at their place, in this episode or before, and fail again.
    pub repeats: usize,
    /// Repeats of which the recalled text had named the action.
    pub warned: usize,
    /// Repeats that `tried` answers with "in vain".
    pub in_vain: usize,
    /// Turns that changed something.
    pub steps: usize,
    /// Number, place and action of those that `tried` answers with "in vain".
    pub forbidden: Vec<(u64, u64, String)>,
    /// Place and action of the others.
    pub unwarned: Vec<(u64, String)>,
    /// Places known by the end.
    pub places: usize,
    /// Places with a live memory by the end.
    pub covered: usize,
    /// By how many bytes the file grew.
    pub grown: i64,
    /// The cost of each recall in tokens, as estimated.
    pub tokens: Vec<usize>,
    /// How long each recall took.
    pub recalls: Vec<Duration>,
    /// How long each turn took to record.
    pub records: Vec<Duration>,
}

impl Episode {
    /// Places with a memory in percent.
    pub fn covered_percent(&self) -> f64 {
        percent(self.covered, self.places)
    }

    /// The most that one recall cost.
    pub fn most_tokens(&self) -> usize {
        self.tokens.iter().copied().max().unwrap_or(0)
    }
}

/// A share in percent, 100 of nothing.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// A game played again into one memory file.
pub struct Replay {
    store: Store,
    settings: RecordSettings,
    /// The caller does not say whether the world changed.
    pub silent_on_world: bool,
    failed: BTreeSet<(u64, String)>,
    places: BTreeSet<u64>,
    turns: usize,
    /// The episodes so far.
    pub episodes: Vec<Episode>,
    /// The memory file after each turn.
    pub states: Vec<String>,
    /// The text that `recall` printed before each turn.
    pub recalled: Vec<String>,
}

impl Replay {
    /// A replay into a file.
    pub fn new(store: Store) -> Replay {
        Replay {
            store,
            settings: RecordSettings::default(),
            silent_on_world: false,
            failed: BTreeSet::new(),
            places: BTreeSet::new(),
            turns: 0,
            episodes: Vec::new(),
            states: Vec::new(),
            recalled: Vec::new(),
        }
    }

    /// The memory file as it is now.
    pub fn text(&self) -> Result<String> {
        Ok(self.store.read()?.unwrap_or_default())
    }

    /// Plays the turns of one file; an episode ends with its number or with the file.
    pub fn play(&mut self, lines: &str) -> Result<()> {
        let mut before = self.text()?.len();
        let mut episode = Episode::default();
        for (at, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let turn: Value = serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            let number = turn["episode"].as_u64();
            if episode.turns > 0 && episode.number != number {
                before = self.close(std::mem::take(&mut episode), before)?;
            }
            episode.number = number;
            self.play_turn(&turn, &mut episode).with_context(|| format!("line {}", at + 1))?;
        }
        self.close(episode, before).map(drop)
    }

    fn play_turn(&mut self, value: &Value, episode: &mut Episode) -> Result<()> {
        let mut sent = value.clone();
        if let (true, Some(fields)) = (self.silent_on_world, sent.as_object_mut()) {
            fields.retain(|name, _| name != "valid" && name != "world_changed");
        }
        let turn = Turn::from_value(&sent)?;
        let id =
            |spot: &Option<_>| spot.as_ref().and_then(|spot: &memories::record::turn::TurnLocation| spot.id);
        let place = id(&turn.location_before).context("the turn has no `location_before` with an id")?;
        let started = Instant::now();
        let recalled = self.recall(place)?;
        episode.recalls.push(started.elapsed());
        episode.tokens.push(estimate_tokens(&recalled));
        let verdict = Known::read(&self.store, place, turn.episode)?.verdict(&turn.action);
        self.watch(place, value, &recalled, verdict == Verdict::InVain, episode);
        self.places.insert(place);
        self.places.extend(id(&turn.location_after));
        self.turns += 1;
        episode.turns += 1;
        let notebook = Notebook::new(self.store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
        let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &self.settings };
        let started = Instant::now();
        recorder.record(turn)?;
        episode.records.push(started.elapsed());
        self.states.push(self.text()?);
        self.recalled.push(recalled);
        Ok(())
    }

    fn recall(&self, place: u64) -> Result<String> {
        let names = [ScopeName::Scope(Scope::Location(place))];
        let snapshot = Snapshot::read(&self.store)?;
        Ok(render(&recall(&snapshot, &names, &Limits::default(), Format::Text)?).into())
    }

    /// Counts a turn that repeats a failure, and whether the recalled text or `tried` would have warned.
    fn watch(&mut self, place: u64, turn: &Value, recalled: &str, in_vain: bool, episode: &mut Episode) {
        let action = fold_action(turn["action"].as_str().unwrap_or_default());
        let key = (place, action);
        let changed = turn.get("valid").or_else(|| turn.get("world_changed")) == Some(&Value::Bool(true));
        if turn["outcome"] == "ok" && changed {
            episode.steps += 1;
            if in_vain {
                episode.forbidden.push((turn["turn"].as_u64().unwrap_or_default(), key.0, key.1.clone()));
            }
        }
        if key.1.is_empty() || !matches!(turn["outcome"].as_str(), Some("refused" | "parse_error")) {
            return;
        }
        if self.failed.contains(&key) {
            episode.repeats += 1;
            episode.in_vain += usize::from(in_vain);
            if fold_action(recalled).contains(&key.1) {
                episode.warned += 1;
            } else {
                episode.unwarned.push(key.clone());
            }
        }
        self.failed.insert(key);
    }

    /// Adds up an episode; the size of the file is handed on to the next.
    fn close(&mut self, mut episode: Episode, before: usize) -> Result<usize> {
        let text = self.text()?;
        let length = text.len();
        let document = Document::parse(text);
        let covered = |place: &&u64| {
            document.section(&Scope::Location(**place)).is_some_and(|section| section.live().next().is_some())
        };
        episode.places = self.places.len();
        episode.covered = self.places.iter().filter(covered).count();
        episode.grown = length as i64 - before as i64;
        self.episodes.push(episode);
        Ok(length)
    }
}

/// The evidence of a place, for verdicts about actions.
pub struct Known {
    section: Section,
    game: Section,
    episode: u64,
    text: String,
}

impl Known {
    /// Reads it; `episode` is the running one.
    pub fn read(store: &Store, place: u64, episode: Option<u64>) -> Result<Known> {
        let snapshot = Snapshot::read(store)?;
        Ok(Known {
            section: snapshot.section(&Scope::Location(place)).clone(),
            game: snapshot.section(&Scope::Game).clone(),
            episode: episode.unwrap_or_default(),
            text: snapshot.text().to_owned(),
        })
    }

    /// The verdict about an action.
    pub fn verdict(&self, action: &str) -> Verdict {
        let circumstances = Circumstances::of(&self.game, self.episode, &self.text);
        Judgement::of(&self.section, &circumstances).verdict(action)
    }
}

/// A folder for a replay, in memory where the system has such a place: each turn is synced to disk.
pub fn temporary_folder() -> Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("memories-replay-");
    Ok(builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir())?)
}
