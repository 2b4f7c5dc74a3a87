//! The file as it was at a moment of its past, with what stood beside it then.
//!
//! A store enters. A [`Timeline`] finds the moment that a person names among the lines of the journal, and takes the
//! text from the [`History`]. A [`Past`] leaves. Nothing in it is from after the moment, and what is not known is
//! missing: a text is given only if nothing else can have stood in the file then.

use std::collections::HashMap;

use crate::authorship::{log_of, undisputed};
use crate::history::History;
use crate::snapshot::highest_episode;
use memories_document::field::is_date;
use memories_document::types::instant::{Instant, is_day};
use memories_store::journal::Journal;
use memories_store::journal::change::{FileChange, text_hash};
use memories_store::journal::entry::Entry;
use memories_store::{Change, State, Store, StoreError};

/// A moment, as a person names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Behind the last turn of an episode that has at most this number.
    Turn(u64, u64),
    /// The end of an episode.
    Episode(u64),
    /// A time.
    Time(Instant),
}

impl When {
    /// The moment that a text names: `3.120`, `3` or `ep_3`, a day, which stands for its end, or a time. `None` for
    /// anything else.
    pub fn of(text: &str) -> Option<When> {
        let text = text.trim();
        if is_date(text) {
            let time = Instant::whole(text)?;
            return Some(When::Time(if is_day(text) { time.end_of_day()? } else { time }));
        }
        match text.split_once('.') {
            Some((episode, turn)) => Some(When::Turn(episode_of(episode)?, number_of(turn)?)),
            None => episode_of(text).map(When::Episode),
        }
    }
}

/// The episode of a label such as `3`, `ep_003` or `Episode 3`. Other words with a number may be revisions.
fn episode_of(label: &str) -> Option<u64> {
    let label = label.to_ascii_lowercase();
    let named = label.strip_prefix("episode").or(label.strip_prefix("ep"));
    number_of(named.map_or(&*label, |number| number.trim_start_matches(['_', '-', ' '])))
}

fn number_of(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The file as it was.
#[derive(Debug, Clone)]
pub struct Past {
    /// Its text.
    pub text: String,
    /// The moment.
    pub moment: Moment,
    /// The lines of the journal then. Authors follow, and the session where it is known.
    lines: Vec<String>,
    written: Vec<String>,
    session: Option<String>,
}

/// A moment, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// The running episode.
    pub episode: Option<u64>,
    /// Its last turn.
    pub turn: Option<u64>,
    /// The time.
    pub time: Option<Instant>,
}

impl Past {
    /// Writes beside a store, whose file has the text, what stood beside it. If the running episode is not known, it is
    /// the highest one that is shown.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn write_beside(&self, store: &Store) -> Result<(), StoreError> {
        let journal = Journal::of(store);
        let shown =
            || highest_episode(store).max(self.lines.iter().rev().find_map(|line| Line::of(line).turn?.0));
        let episode = self.moment.episode.or_else(shown).unwrap_or(1);
        let written = store.update(|_, sidecar| {
            let change = Change::unchanged(())
                .with_state(State { episode, ..State::default() })
                .with_lines(journal.log(), self.lines.clone())
                .with_lines(&log_of(sidecar), self.written.clone());
            Ok::<_, StoreError>(match &self.session {
                Some(session) => change.with_session(session.clone()),
                None => change,
            })
        });
        written.map(|_| ())
    }
}

/// What was found of a moment.
#[derive(Debug, Clone)]
pub enum Found {
    /// It is not over: the file is as it was then.
    Present(Moment),
    /// The file as it was.
    Past(Past),
}

/// A moment of which the journal does not tell what the file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Why, in words.
    pub problem: String,
    /// The commit that tells it.
    pub commit: Wanted,
}

/// The commit of the file that tells what it held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// None is certain to.
    Nothing,
    /// The last one at or before `time`, if it is later than the last command that may have left another text.
    Last {
        /// The instant.
        time: Instant,
        /// The last command before it.
        command: Option<Instant>,
    },
    /// One with a text of this hash, which was left behind so many lines, at that time.
    Text {
        /// The hash.
        hash: String,
        /// The lines.
        cut: usize,
        /// The time.
        since: Option<Instant>,
    },
}

/// A line of the journal.
#[derive(Debug)]
struct Line {
    text: String,
    time: Option<Instant>,
    /// Episode and number of the turn that was recorded by it.
    turn: Option<(Option<u64>, Option<u64>)>,
    /// The episode that began with it.
    begins: Option<u64>,
}

impl Line {
    fn of(text: &str) -> Line {
        let entry: Entry<'_> = Entry::parse(text).unwrap_or_default();
        let is_as_played = entry.resolves.is_none() && entry.carried.is_none();
        let turn = entry.turn.as_ref().map(|turn| (turn.episode, turn.turn)).filter(|_| is_as_played);
        Line {
            time: entry.time.as_deref().and_then(Instant::of),
            begins: entry.episode.filter(|_| entry.turn.is_none()),
            turn,
            text: text.to_owned(),
        }
    }

    /// The episode that it is about.
    fn episode(&self) -> Option<u64> {
        self.begins.or(self.turn?.0)
    }
}

/// A state of the file in its history.
#[derive(Debug)]
struct KnownState {
    part: usize,
    steps: usize,
    /// The line behind which it stood; of one that no command made there is none.
    line: Option<usize>,
}

/// The lines of a journal with the states of the file behind them.
#[derive(Debug)]
pub struct Timeline {
    store: Store,
    lines: Vec<Line>,
    history: History,
    states: Vec<KnownState>,
    has_dropped: bool,
}

impl Timeline {
    /// Reads the journal and the history of a store.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    pub fn read(store: &Store) -> Result<Timeline, StoreError> {
        let (journal, mut lines) = (Journal::of(store), Vec::new());
        let has_dropped = journal.log().has_dropped()?;
        journal.visit(|line| lines.push(Line::of(line)))?;
        // A line that comes meanwhile is one behind all others.
        let (history, _) = History::read(store)?;
        let numbers: HashMap<&str, usize> =
            lines.iter().enumerate().map(|(number, line)| (line.text.as_str(), number)).collect();
        let number = |line: &String| numbers.get(line.as_str()).copied().unwrap_or(lines.len());
        let mut states = Vec::new();
        for (part, known) in history.parts.iter().enumerate() {
            let of_step = (1..).zip(&known.steps);
            states.extend(of_step.map(|(steps, step)| {
                let line = step.line.as_ref().map(number);
                KnownState { part, steps, line }
            }));
        }
        Ok(Timeline { store: store.clone(), lines, history, states, has_dropped })
    }

    /// The file at a moment; `now` is the present time.
    ///
    /// # Errors
    ///
    /// Where the journal does not tell what it held.
    pub fn at(&self, when: When, now: Option<Instant>) -> Result<Found, Missing> {
        let unknown = |problem: String| Missing { problem, commit: Wanted::Nothing };
        match when {
            When::Turn(episode, last) => {
                let number = |line: &Line| {
                    line.turn.filter(|turn| turn.0 == Some(episode))?.1.filter(|turn| *turn <= last)
                };
                let numbered =
                    self.lines.iter().enumerate().filter_map(|(at, line)| Some((number(line)?, at)));
                let Some((_, at)) = numbered.max() else {
                    let has_any = self.lines.iter().any(|line| line.episode() == Some(episode));
                    let until = if has_any { format!(" up to number {last}") } else { String::new() };
                    return Err(unknown(format!("no turn of episode {episode}{until} is in the journal")));
                };
                self.behind(at + 1)
            }
            When::Episode(episode) => {
                let last = self.lines.iter().rposition(|line| line.episode() == Some(episode));
                // Nothing names the first episode if no turn was recorded in it.
                let is_first = episode == 1 && !self.has_dropped;
                let begun = self.lines.first().filter(|line| is_first && line.episode().is_none());
                let Some(last) = last.or(begun.map(|_| 0)) else {
                    return Err(unknown(format!("episode {episode} is not in the journal")));
                };
                match self.lines[last + 1..].iter().position(|line| line.episode().is_some()) {
                    Some(next) => self.behind(last + 1 + next),
                    None => Ok(Found::Present(self.moment(self.lines.len(), now))),
                }
            }
            // The clock may have been set back.
            When::Time(time) if now.is_some_and(|now| self.last_time(now).max(now) <= time) => {
                Ok(Found::Present(self.moment(self.lines.len(), now)))
            }
            When::Time(time) => self.at_time(time),
        }
    }

    /// The file at a commit, which has that text: with the journal of then if that shows the text.
    pub fn at_commit(&self, text: String, time: Instant) -> Past {
        let hash = text_hash(&text);
        let is_over = |line: &Line| line.time.is_some_and(|other| other.as_second() > time.as_second());
        let lines = &self.lines[..self.lines.iter().position(is_over).unwrap_or(self.lines.len())];
        let mut cut = None;
        // The next line may have found the text that a person committed.
        for (at, line) in self.lines[..self.lines.len().min(lines.len() + 1)].iter().enumerate() {
            let Some(change) = FileChange::of_line(&line.text) else { continue };
            cut = Some(at).filter(|_| change.from.as_ref() == Some(&hash)).or(cut);
            cut = Some(at + 1).filter(|cut| *cut <= lines.len() && change.to.as_ref() == Some(&hash)).or(cut);
        }
        let is_unchanged = |line: &&Line| FileChange::of_line(&line.text).is_none();
        let unchanged = |cut: usize| lines[cut..].iter().take_while(is_unchanged).count();
        match cut {
            Some(cut) => self.past(cut + unchanged(cut), text, Some(time)),
            None => Past {
                text,
                moment: Moment { time: Some(time), ..Moment::default() },
                lines: Vec::new(),
                written: undisputed(self.store.sidecar()),
                session: None,
            },
        }
    }

    /// The file with the text that was left behind that number of lines, as [`Wanted::Text`] names it.
    pub fn with_text(&self, cut: usize, text: String) -> Past {
        self.past(cut, text, None)
    }

    /// How far back the exact history reaches, in words.
    pub fn reach(&self) -> String {
        let first = self.states.iter().find_map(|state| self.lines.get(state.line?));
        let Some(first) = first else { return "no former state is in the journal".to_owned() };
        let turn = match first.turn {
            Some((Some(episode), Some(turn))) => format!("turn {episode}.{turn}"),
            _ => "a command".to_owned(),
        };
        let time = first.time.map(|time| format!(" at {time}")).unwrap_or_default();
        format!("the history reaches back to {turn}{time}")
    }

    /// The latest time of a line, else the one that is given.
    fn last_time(&self, other: Instant) -> Instant {
        self.lines.iter().filter_map(|line| line.time).max().unwrap_or(other)
    }

    /// The file right behind that number of lines.
    fn behind(&self, cut: usize) -> Result<Found, Missing> {
        let Some(text) = self.text(cut, false) else {
            let last = &self.lines[cut - 1];
            let left = FileChange::of_line(&last.text).and_then(|change| change.to);
            return Err(Missing {
                problem: "what the file held then is not in the journal any more".to_owned(),
                commit: left.map_or(Wanted::Nothing, |hash| Wanted::Text { hash, cut, since: last.time }),
            });
        };
        Ok(Found::Past(self.past(cut, text, None)))
    }

    fn at_time(&self, time: Instant) -> Result<Found, Missing> {
        let second = |line: &Line| line.time.map(Instant::as_second);
        let is_over = |line: &Line| second(line) > Some(time.as_second());
        let cut = self.lines.iter().position(is_over).unwrap_or(self.lines.len());
        let last = self.lines[..cut].iter().filter_map(|line| line.time).max();
        let missing = |problem: String| Missing { problem, commit: Wanted::Last { time, command: last } };
        let Some(last) = last else {
            return Err(missing(format!("the journal does not reach back to {time}")));
        };
        if self.lines[cut..].iter().any(|line| line.time.is_some() && !is_over(line)) {
            return Err(missing(format!(
                "the journal does not tell which commands came before {time}: their times are not in order"
            )));
        }
        let is_between = last.as_second() < time.as_second();
        match self.text(cut, is_between) {
            Some(text) => Ok(Found::Past(self.past(cut, text, Some(time)))),
            None if self.text(cut, false).is_some() => Err(missing(format!(
                "something else than a command changed the file after {last}, and it is not known whether that was before {time}"
            ))),
            None => Err(missing(format!("what the file held at {time} is not in the journal any more"))),
        }
    }

    /// The text behind that number of lines, or some time later and before the next line.
    fn text(&self, cut: usize, is_later: bool) -> Option<String> {
        let mut at = self.states.iter().rposition(|state| state.line.is_some_and(|line| line < cut))?;
        let line = self.states[at].line?;
        // A command that only found what something else had changed has no state of its own.
        let found = self.lines[line + 1..cut].iter().filter_map(|line| FileChange::of_line(&line.text));
        let found: Vec<FileChange> = found.collect();
        at += found.iter().filter(|change| change.outside.is_some()).count();
        let state = self.states.get(at)?;
        let is_known = match self.states.get(at + 1) {
            Some(next) if next.part == state.part => next.line.is_some() || !is_later,
            None if state.part + 1 == self.history.parts.len() => true,
            // Behind a gap nothing is known of the lines that changed nothing.
            _ => !is_later && state.line == Some(cut - 1),
        };
        let text = is_known.then(|| self.history.parts[state.part].text_at(state.steps))?;
        let left = found.last().map(|change| change.to.as_deref());
        left.is_none_or(|left| left == Some(&text_hash(&text))).then_some(text)
    }

    /// The file with that text, behind that number of lines.
    fn past(&self, cut: usize, text: String, time: Option<Instant>) -> Past {
        let lines: Vec<String> = self.lines[..cut].iter().map(|line| line.text.clone()).collect();
        let session = || self.store.sidecar().session().ok().flatten();
        Past {
            text,
            moment: self.moment(cut, time),
            lines,
            written: undisputed(self.store.sidecar()),
            // Each change of the session has a line.
            session: if cut == self.lines.len() { session() } else { None },
        }
    }

    /// The moment behind that number of lines.
    fn moment(&self, cut: usize, time: Option<Instant>) -> Moment {
        let lines = &self.lines[..cut];
        let begun = |running: Option<u64>, line: &Line| {
            let reached = line.turn.and_then(|turn| turn.0);
            line.begins.or_else(|| running.map(|running| running.max(reached.unwrap_or_default())))
        };
        let episode = lines.iter().fold(Some(1).filter(|_| !self.has_dropped), begun);
        let of_episode = lines.iter().rev().filter_map(|line| line.turn).find(|turn| turn.0 == episode);
        Moment {
            episode,
            turn: of_episode.and_then(|turn| turn.1),
            time: time.or_else(|| lines.iter().rev().find_map(|line| line.time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_turn_an_episode_a_day_or_a_time_and_all_else_may_be_a_revision() {
        let time = |text: &str| Some(When::Time(Instant::of(text).unwrap()));
        for (text, moment) in [
            ("3.120", Some(When::Turn(3, 120))),
            ("ep_003.7", Some(When::Turn(3, 7))),
            ("3", Some(When::Episode(3))),
            ("Episode 3", Some(When::Episode(3))),
            ("2026-11-20", time("2026-11-20T23:59:59Z")),
            ("2026-11-20T10:00:00+02:00", time("2026-11-20T08:00:00Z")),
            ("2026-11-20T25:00:00Z", None),
            ("2026-13-20", None),
            ("HEAD~2", None),
            ("v3.120", None),
            ("3.", None),
            ("3.x", None),
            ("+3", None),
            ("epic/fix-3", None),
            ("ep_3~1", None),
            ("", None),
        ] {
            assert_eq!(When::of(text), moment, "{text}");
        }
    }
}
