//! Facts that hold at every place, and the actions since a try.
//!
//! The section of the game and the text of the memory file enter. The answer to what could have changed something since
//! leaves: something that was in the way is gone only when something is done, here or elsewhere.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use memories_document::evidence::parse_attempts;
use memories_document::fields::write_moment;
use memories_document::types::openers::{Done, remove_done};
use memories_document::types::text::fold_case;
use memories_document::types::{Attempt, Moment, Scope, Way, fold_action};
use memories_document::{Section, may_name_episode};
use memories_notebook::{AnchoredFiles, Snapshot};
use memories_world::BestRun;

/// The change that a new episode makes.
const EPISODE_BEGAN: &str = "another episode began";

/// Actions of the best run that a recall shows.
const NEXT: usize = 3;

/// A way back to the best run that costs as much as so many actions which always worked is too long to be shown.
const FAR: u64 = 5;

/// Facts that hold at every place: what the game's parser does not understand, and what was done in this episode.
#[derive(Default)]
pub struct Circumstances<'a> {
    /// Actions that the game's parser does not understand.
    pub(super) not_understood: Vec<Attempt>,
    /// Answers about the player's own state: inventory, score, health.
    pub(super) status: Vec<Attempt>,
    pub(super) running_episode: u64,
    /// The text of the memory file.
    text: &'a str,
    done: OnceCell<Later>,
    /// The file, for what was done at other places.
    snapshot: Option<&'a Snapshot>,
    ahead: Option<&'a BestRun<'a>>,
    /// The files of the repository, where it may be said which of them changed.
    pub(super) files: Option<&'a dyn AnchoredFiles>,
}

impl<'a> Circumstances<'a> {
    /// From the section of the game, the running episode and the text of the memory file.
    pub fn of(game: &Section, running_episode: u64, text: &'a str) -> Circumstances<'a> {
        let (not_understood, status) = (game.tried.clone(), game.seen.clone());
        Circumstances { not_understood, status, running_episode, text, ..Circumstances::default() }
    }

    /// Those of a snapshot, with what of the best run is still to be done.
    pub fn in_snapshot(snapshot: &'a Snapshot, ahead: Option<&'a BestRun<'a>>) -> Circumstances<'a> {
        let game = snapshot.section(&Scope::Game);
        let circumstances = Circumstances::of(game, snapshot.running_episode(), snapshot.text());
        Circumstances { snapshot: Some(snapshot), ahead, ..circumstances }
    }

    /// A sentence that names the next actions of the best run at a place; `None` where it is done, or the place is far from
    /// it.
    pub(super) fn next_at(&self, here: u64) -> Option<String> {
        let best = self.ahead?;
        let next = best.next_near(here, FAR)?;
        let score = best.memory.provenance.score.map_or(String::new(), |score| format!(", {score} points"));
        Some(format!("Next (best run{score}): {}", next.write(NEXT)))
    }

    /// Actions that changed something in the running episode, wherever that was. The lines are read when they are first
    /// asked for: few recalls need them.
    fn done(&self) -> &Later {
        self.done.get_or_init(|| {
            let text = self.text;
            let mut done = Vec::new();
            let mut end = 0;
            // Marks of an episode: `*(Ep5, T3)*`, `_(episode 5)_`.
            let begins = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b'E' | b'e'));
            for at in memchr::memchr_iter(b'(', text.as_bytes()).filter(begins) {
                if at < end {
                    continue;
                }
                let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
                end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                if !text[start..].starts_with(['-', '*', '+'])
                    || !may_name_episode(&text[start..end], self.running_episode)
                {
                    continue;
                }
                let attempts = parse_attempts(text[start..end].trim_end()).map(|line| line.attempts);
                // Attempts with a reply are tries, or only looked.
                let worked = attempts.into_iter().flatten().filter(|attempt| attempt.reply.is_empty());
                done.extend(worked.filter(|attempt| attempt.episode == Some(self.running_episode)));
            }
            Later::of(done)
        })
    }

    /// Takes the openers that hold in the running episode from the ways of a section. Other places are only read if an
    /// opener was done.
    pub(super) fn remove_done_openers<'w>(&self, ways: impl Iterator<Item = &'w mut Way>, here: &Section) {
        let of_episode = |attempts: &[Attempt]| -> Vec<Attempt> {
            let done = attempts.iter().filter(|done| done.episode == Some(self.running_episode));
            done.cloned().collect()
        };
        let done_here = Done::of(&of_episode(&here.worked));
        let is_done = |opener: &String| done_here.has(opener);
        let mut opened = ways.filter(|way| way.after.iter().any(is_done)).peekable();
        if opened.peek().is_none() {
            return;
        }
        let worked_there = |place| {
            let section = self.snapshot.and_then(|snapshot| snapshot.known_section(place));
            section.map_or(Vec::new(), |section| section.worked_in(self.running_episode))
        };
        let mut done_there: HashMap<u64, Done> = HashMap::new();
        let refused = of_episode(&here.tried).into_iter().filter(|tried| !tried.result.is_unknown());
        let refused: HashMap<String, Attempt> =
            refused.rev().map(|tried| (fold_action(&tried.action), tried)).collect();
        for way in opened {
            let there = done_there.entry(way.to).or_insert_with(|| Done::of(&worked_there(way.to)));
            let refused = refused.get(&fold_action(&way.action));
            remove_done(&mut way.after, &done_here, there, refused);
        }
    }

    /// The later event that could have changed the answer to a question about the player's own state; `None` where
    /// there is none.
    pub(super) fn changed_since(&self, asked: &Attempt) -> Option<String> {
        if asked.episode != Some(self.running_episode) {
            return Some(EPISODE_BEGAN.to_owned());
        }
        self.done().first_of_all(Some(asked.turn)).map(worked_at)
    }

    /// The later event that could have removed the obstacle of a blocked action; `None` where there is none.
    pub(super) fn cleared_since(&self, blocked: &Attempt) -> Option<String> {
        if blocked.episode != Some(self.running_episode) {
            return Some(EPISODE_BEGAN.to_owned());
        }
        self.done().first_naming(&things_of(blocked), Some(blocked.turn)).map(worked_at)
    }
}

/// Finds the first of some actions that is later than a turn.
#[derive(Default)]
pub(super) struct Later {
    actions: Vec<Attempt>,
    all: Records,
    /// By the words of the actions.
    by_word: HashMap<String, Records>,
}

/// Those of a row of actions that are later than all before them, each with its turn. The first that is later than any
/// turn is always one of these.
type Records = Vec<(Option<u64>, usize)>;

impl Later {
    pub(super) fn of(actions: Vec<Attempt>) -> Later {
        let mut later = Later::default();
        let add = |records: &mut Records, record: (Option<u64>, usize)| {
            if records.last().is_none_or(|last| last.0 < record.0) {
                records.push(record);
            }
        };
        for (at, done) in actions.iter().enumerate() {
            add(&mut later.all, (done.turn, at));
            words(&done.action).for_each(|word| add(later.by_word.entry(word).or_default(), (done.turn, at)));
        }
        Later { actions, ..later }
    }

    /// The first action behind a turn, which an action may lack; `None` is the beginning.
    pub(super) fn first_of_all(&self, turn: Option<Option<u64>>) -> Option<&Attempt> {
        first_behind(&self.all, turn).map(|at| &self.actions[at])
    }

    /// The first action behind a turn with one of these words.
    pub(super) fn first_naming(
        &self,
        named: &HashSet<String>,
        turn: Option<Option<u64>>,
    ) -> Option<&Attempt> {
        let records = named.iter().filter_map(|word| self.by_word.get(word));
        let first = records.filter_map(|records| first_behind(records, turn)).min();
        first.map(|at| &self.actions[at])
    }
}

fn first_behind(records: &Records, turn: Option<Option<u64>>) -> Option<usize> {
    let at = turn.map_or(0, |turn| records.partition_point(|record| record.0 <= turn));
    records.get(at).map(|record| record.1)
}

/// Words of a blocked action and its reply that name what was in the way.
fn things_of(blocked: &Attempt) -> HashSet<String> {
    let action = words(&blocked.action).skip(1);
    let mut named: HashSet<String> =
        action.chain(words(&blocked.reply)).filter(|word| names_a_thing(word)).collect();
    if named.contains("dark") || named.contains("black") {
        named.extend(LIGHTS.split(' ').map(str::to_owned));
    }
    if ["load", "carrying", "heavy", "hands"].iter().any(|word| named.contains(*word)) {
        named.extend(RELIEFS.split(' ').map(str::to_owned));
    }
    named
}

/// Words of actions that make a load lighter.
const RELIEFS: &str = "drop put throw leave give insert eat drink";

/// Words of actions that give light.
const LIGHTS: &str = "light lamp lantern torch candle candles match flashlight glow";

/// Words that name nothing.
const EMPTY_WORDS: &str = "the and are you your can't cannot don't isn't aren't won't that this there here any see such thing way too not \
    with from have has had would will first now already for its his her off out into must need needs closed open locked seem seems";

pub(super) fn names_a_thing(word: &str) -> bool {
    word.len() > 2 && !EMPTY_WORDS.split_whitespace().any(|empty| empty == word)
}

/// The words of a text in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    words.map(fold_case)
}

/// An action that worked since, as a reason.
fn worked_at(done: &Attempt) -> String {
    format!("`{}` worked at {}", done.action, write(done.episode, done.turn))
}

/// A moment as text; empty where nothing of it is known.
pub(super) fn write(episode: Option<u64>, turn: Option<u64>) -> String {
    write_moment(&Moment { episode, turn, ..Moment::default() })
}
