//! Sets aside what was recorded of an episode after one of its turns.
//!
//! An episode and a number enter; the memory file becomes what it would be without the turns from that number on. The
//! text before the first of them is known from the journal. All other changes since are carried over: each is merged
//! with the new text, on the base of the text that it found. The journal keeps every line, and one more says which of
//! them count no longer. It always holds that nothing is changed where the journal does not know each of these steps.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::carry::{Window, carry, id_of};
use crate::files::{Tier, live};
use crate::history::History;
use crate::transaction::Draft;
use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint};
use memories_document::types::{Outcome, Persistence, ScopeName};
use memories_store::StoreError;
use memories_store::journal::aside::LineSet;
use memories_store::journal::entry::{Entry, PlayedTurn};
use memories_store::journal::recorded::line_set;

/// The command that sets turns aside.
pub const REWIND: &str = "rewind";

/// Turns that are set aside.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Rewound {
    /// Their episode.
    pub episode: u64,
    /// The number of the last turn that stays; `None` if none does.
    pub after: Option<u64>,
    /// The turns, in the order in which they were recorded.
    pub turns: Vec<RewoundTurn>,
    /// The memories that they stored or revised.
    pub memories: Vec<RewoundMemory>,
    /// Their lines in the journal.
    #[serde(skip)]
    pub lines: LineSet,
}

/// A turn that is set aside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RewoundTurn {
    /// Its number.
    pub turn: u64,
    /// The action of the player.
    pub action: String,
    /// Id of the place where it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<u64>,
}

/// A memory of a turn that is set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RewoundMemory {
    /// Its scope.
    pub scope: String,
    /// Its title.
    pub title: String,
}

/// Why nothing is set aside.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory file cannot take the text.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The journal has no turn of the episode.
    #[error("no turn of episode {0} is recorded")]
    NoEpisode(u64),
    /// The episode has no turn with that number.
    #[error("turn {turn} of episode {episode} is not recorded")]
    NoTurn {
        /// The episode.
        episode: u64,
        /// The number.
        turn: u64,
        /// The numbers of its first and its last turn.
        known: [u64; 2],
    },
    /// No turn comes after that one.
    #[error("nothing was recorded after turn {turn} of episode {episode}")]
    NothingAfter {
        /// The episode.
        episode: u64,
        /// The number.
        turn: u64,
    },
    /// The states of the memory file since then are not known.
    #[error("the history of the memory file does not reach back to turn {turn} of episode {episode}")]
    TooShort {
        /// The episode.
        episode: u64,
        /// The number of the first turn that was to be set aside.
        turn: u64,
        /// The number of the first turn that could be.
        from: Option<u64>,
    },
    /// A later change cannot be carried over.
    #[error("a change that was made after turn {turn} of episode {episode} cannot be kept without that turn")]
    Clash {
        /// The episode.
        episode: u64,
        /// The number of the first turn that was to be set aside.
        turn: u64,
    },
}

impl Hint for RewindError {
    fn advice(&self) -> Advice {
        match self {
            RewindError::Store(error) => error.advice(),
            RewindError::Document(error) => error.advice(),
            RewindError::NoEpisode(_) => Advice::fix("`memories log -n 100` shows the turns of the journal"),
            RewindError::NoTurn { known: [first, last], .. } => {
                Advice::fix(format!("its turns go from {first} to {last}; `--turn 0` sets all of them aside"))
            }
            RewindError::NothingAfter { .. } => Advice::fix("name the last turn that is to stay"),
            RewindError::TooShort { from: Some(from), .. } => Advice::fix(format!(
                "it reaches back to turn {from}: `--turn {}` is possible",
                from.saturating_sub(1)
            )),
            RewindError::TooShort { from: None, .. } => {
                Advice::fix("`memories restore --list` shows the former states that are kept")
            }
            RewindError::Clash { .. } => Advice::fix(
                "`memories restore --list` shows the former states, and `memories diff` what changed since",
            ),
        }
    }
}

/// A turn of the journal.
struct TurnLine {
    id: String,
    number: u64,
    line: String,
}

/// The line of a model's answer about a turn that waited.
struct Answer {
    /// The id of the turn's line.
    resolves: String,
    id: String,
    line: String,
}

/// What the journal has of an episode and a writer.
#[derive(Default)]
struct Played {
    /// Its turns, oldest first, without those that are set aside.
    turns: Vec<TurnLine>,
    /// The later answers of a model about any turns.
    answers: Vec<Answer>,
}

impl Draft<'_> {
    /// Sets aside what was recorded after the last turn with that number, which stays.
    ///
    /// # Errors
    ///
    /// See [`RewindError`].
    pub fn rewind(&mut self, episode: u64, turn: u64) -> Result<Rewound, RewindError> {
        let played = self.played(episode)?;
        let numbers = || played.turns.iter().map(|turn| turn.number);
        let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else {
            return Err(RewindError::NoEpisode(episode));
        };
        if turn > 0 && !numbers().any(|number| number == turn) {
            return Err(RewindError::NoTurn { episode, turn, known: [first, last] });
        }
        let stays = |line: &TurnLine| line.number <= turn;
        self.set_aside(episode, &played, stays)?.ok_or(RewindError::NothingAfter { episode, turn })
    }

    /// Sets aside the turns at the end of an episode whose numbers are not below that one. `None` if there are none.
    ///
    /// # Errors
    ///
    /// See [`RewindError`].
    pub fn rewind_before(&mut self, episode: u64, number: u64) -> Result<Option<Rewound>, RewindError> {
        let played = self.played(episode)?;
        self.set_aside(episode, &played, |line| line.number < number)
    }

    /// Sets aside what was recorded of an episode after the last turn with that action and reply, which stays.
    ///
    /// # Errors
    ///
    /// See [`RewindError`].
    pub fn rewind_after(
        &mut self,
        episode: u64,
        number: u64,
        words: [&str; 2],
    ) -> Result<Option<Rewound>, RewindError> {
        let played = self.played(episode)?;
        let is_same = |line: &TurnLine| {
            line.number == number
                && Entry::<Value>::parse(&line.line)
                    .and_then(|entry| entry.turn)
                    .is_some_and(|turn| turn["action"] == words[0] && turn["response"] == words[1])
        };
        self.set_aside(episode, &played, is_same)
    }

    /// The turns of an episode by the writer of this change.
    fn played(&self, episode: u64) -> Result<Played, StoreError> {
        let aside = self.journal().aside()?;
        let writer = self.files.writer.as_ref().map(ToString::to_string);
        let mut played = Played::default();
        self.journal().visit(|line| {
            let entry = line.contains("\"turn\":").then(|| Entry::<PlayedTurn<'_>>::parse(line)).flatten();
            let Some(entry) = entry.filter(|entry| entry.carried != Some(true)) else { return };
            let (Some(id), Some(turn)) = (entry.id.as_deref(), &entry.turn) else { return };
            if aside.has(Some(id)) {
                return;
            }
            let (id, line) = (id.to_owned(), || line.to_owned());
            if let Some(resolved) = entry.resolves.as_deref() {
                played.answers.push(Answer { resolves: resolved.to_owned(), id, line: line() });
            } else if turn.episode == Some(episode) && entry.writer.as_deref() == writer.as_deref() {
                let number = turn.turn.unwrap_or_default();
                played.turns.push(TurnLine { id, number, line: line() });
            }
        })?;
        Ok(played)
    }

    /// Sets aside the turns behind the last one that `stays`.
    fn set_aside(
        &mut self,
        episode: u64,
        played: &Played,
        stays: impl Fn(&TurnLine) -> bool,
    ) -> Result<Option<Rewound>, RewindError> {
        let last = played.turns.iter().rposition(stays);
        let turns = &played.turns[last.map_or(0, |last| last + 1)..];
        let Some(first) = turns.first() else { return Ok(None) };
        let is_first = last.is_some() || first.number <= 1 || !self.journal().log().has_dropped()?;
        let mut lines: HashMap<&str, &str> =
            turns.iter().map(|turn| (turn.id.as_str(), turn.line.as_str())).collect();
        for Answer { resolves, id, line } in &played.answers {
            if lines.contains_key(resolves.as_str()) {
                lines.insert(id, line);
            }
        }
        let text = match self.without::<RewindError>(&lines)? {
            Reach::All(text) if is_first => text,
            Reach::All(_) => return Err(RewindError::TooShort { episode, turn: first.number, from: None }),
            Reach::Clash => return Err(RewindError::Clash { episode, turn: first.number }),
            Reach::Steps(known) => {
                // The first turn from which on all are known.
                let reached = turns.iter().rev().take_while(|turn| known.contains(&turn.id)).last();
                let from = reached.map(|turn| turn.number);
                return Err(RewindError::TooShort { episode, turn: first.number, from });
            }
        };
        self.take_text(text)?;
        let mut rewound = Rewound {
            episode,
            after: last.map(|last| played.turns[last].number),
            lines: line_set(lines.iter().map(|(id, line)| (*id, *line))),
            ..Rewound::default()
        };
        turns.iter().for_each(|turn| rewound.add(&turn.line));
        lines.values().for_each(|line| self.end_ephemeral(line));
        self.note_rewind(&rewound);
        Ok(Some(rewound))
    }

    /// Sets aside what the line of another command has stored, such as an extraction from a chat. False where the history
    /// does not reach back to it, or a later change cannot be kept without it: then nothing is changed.
    ///
    /// # Errors
    ///
    /// When the journal or the file cannot be read.
    pub fn rewind_line<E>(&mut self, id: &str, reason: &str) -> Result<bool, E>
    where
        E: From<StoreError> + From<DocumentError>,
    {
        let mut line = None;
        let has_id = |line: &str| {
            Entry::<PlayedTurn<'_>>::parse(line).is_some_and(|entry| entry.id.as_deref() == Some(id))
        };
        self.journal().visit(|text| {
            if text.contains(id) && has_id(text) {
                line = Some(text.to_owned());
            }
        })?;
        let (Some(line), false) = (line, self.journal().aside()?.has(Some(id))) else { return Ok(false) };
        let lines = HashMap::from([(id, line.as_str())]);
        let Reach::All(text) = self.without::<E>(&lines)? else { return Ok(false) };
        self.take_text(text)?;
        self.end_ephemeral(&line);
        self.note(Entry::<Value> {
            outcome: Some(Outcome::Rewound.into()),
            reasoning: Some(reason.into()),
            set_aside: Some(line_set([(id, line.as_str())])),
            ..Entry::default()
        });
        self.begin_next();
        Ok(true)
    }

    /// The text without what these lines have done.
    fn without<E: From<StoreError> + From<DocumentError>>(
        &self,
        lines: &HashMap<&str, &str>,
    ) -> Result<Reach, E> {
        let (history, follower) = History::read(self.store())?;
        let Some(part) = history.parts.last() else { return Ok(Reach::Steps(Vec::new())) };
        let Some(window) = Window::of(part, follower.text(), lines) else {
            return Ok(Reach::Steps(part.steps.iter().filter_map(id_of).collect()));
        };
        // An editor may have changed the file since the history was read.
        let now = self.text()?;
        let text = window.without(&self.journal().aside()?, lines);
        let text = text.and_then(|text| carry(follower.text(), text, &now));
        Ok(text.map_or(Reach::Clash, Reach::All))
    }

    fn take_text(&mut self, text: String) -> Result<(), DocumentError> {
        if text != self.text()? {
            self.replace_text(text);
        }
        Ok(())
    }

    /// Removes the ephemeral memories that a line has stored.
    fn end_ephemeral(&mut self, line: &str) {
        let Some(entry) = Entry::<PlayedTurn<'_>>::parse(line) else { return };
        for part in entry.parts().filter(|part| part.persistence == Some(Persistence::Ephemeral)) {
            let scope = part.scope.as_deref().and_then(|scope| scope.parse().ok());
            let (Some(ScopeName::Scope(scope)), Some(title)) = (scope, part.title.as_deref()) else {
                continue;
            };
            if part.has(Outcome::Stored) || part.has(Outcome::Revised) {
                match self.files.only(&scope, title, live) {
                    Ok(found) if found.tier == Tier::Session => found.entry.remove(),
                    _ => {}
                }
            }
        }
    }

    fn note_rewind(&mut self, rewound: &Rewound) {
        let writer = self.files.writer.as_ref().map(ToString::to_string);
        self.note(Entry::<Value> {
            outcome: Some(Outcome::Rewound.into()),
            command: Some(REWIND.into()),
            episode: Some(rewound.episode),
            reasoning: Some(rewound.sentence().into()),
            writer: writer.map(Into::into),
            after: Some(rewound.after.unwrap_or_default()),
            set_aside: Some(rewound.lines.clone()),
            ..Entry::default()
        });
        self.begin_next();
    }
}

impl Rewound {
    fn add(&mut self, line: &str) {
        let Some(entry) = Entry::<PlayedTurn<'_>>::parse(line) else { return };
        if let Some(turn) = &entry.turn {
            let action = turn.action.as_deref().unwrap_or_default().to_owned();
            let location = turn.place();
            self.turns.push(RewoundTurn { turn: turn.turn.unwrap_or_default(), action, location });
        }
        let is_new = |outcome| [Outcome::Stored, Outcome::Revised, Outcome::Contested].contains(&outcome);
        for part in entry.memories.iter().flatten() {
            let outcome = part.outcome.as_deref().and_then(|outcome| outcome.parse().ok());
            if let (true, Some(scope), Some(title)) =
                (outcome.is_some_and(is_new), part.scope.as_deref(), part.title.as_deref())
            {
                self.memories.push(RewoundMemory { scope: scope.to_owned(), title: title.to_owned() });
            }
        }
    }

    /// `3 turns after turn 2 of episode 1`.
    pub fn sentence(&self) -> String {
        let Rewound { episode, after, turns, .. } = self;
        let turns = if turns.len() == 1 { "1 turn".to_owned() } else { format!("{} turns", turns.len()) };
        match after {
            Some(after) => format!("{turns} after turn {after} of episode {episode}"),
            None => format!("all {turns} of episode {episode}").replace("all 1 turn ", "the only turn "),
        }
    }
}

/// How far the history reaches back.
enum Reach {
    /// To all of the lines. The text without them.
    All(String),
    /// To all of the lines, but a later change cannot be kept without them.
    Clash,
    /// To the lines with these ids.
    Steps(Vec<String>),
}
