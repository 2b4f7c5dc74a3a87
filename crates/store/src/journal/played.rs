//! The turns of a journal as they were played, searched from its end, and those that were ever recorded.

use std::collections::{BTreeMap, HashSet};

use memchr::memmem;
use serde_json::Value;

use crate::StoreError;
use crate::journal::aside::{Aside, LineSet, Moved};
use crate::journal::entry::{Entry, PlayedTurn};
use crate::journal::recorded::{Known, RecordedTurns, TurnKey, numbers_of, reply_number};
use crate::journal::{EarlierTurn, Journal};
use memories_document::types::{Scope, ScopeName, Witnesses};

/// Turns among which those of an episode are looked for.
const EPISODE_TURNS: usize = 5000;

/// Lines in which the running episode is looked for where `state.json` is damaged.
const LAST_LINES: usize = 200;

impl EarlierTurn {
    /// Those who know it: who was present, or everybody.
    pub fn witnesses(&self) -> Witnesses {
        let present = self.turn["present"].as_array().into_iter().flatten();
        let ids: Vec<String> = present.map(|id| id.as_str().unwrap_or_default().to_owned()).collect();
        Witnesses::named(&ids)
    }

    /// The place where the turn ended.
    pub fn place(&self) -> Option<ScopeName> {
        let fields = ["location_after", "location_before"];
        let place = fields.into_iter().map(|field| &self.turn[field]).find(|place| place.is_object())?;
        let id = place["id"].as_u64().map(|id| ScopeName::Scope(Scope::Location(id)));
        id.or_else(|| Some(ScopeName::Name(place["name"].as_str()?.to_owned())))
    }

    /// Id of the place where it began.
    pub fn begins_at(&self) -> Option<u64> {
        let id = |field: &str| self.turn[field]["id"].as_u64();
        id("location_before").or_else(|| id("location_after"))
    }
}

impl Journal {
    /// The highest episode in the last lines of the journal.
    pub fn highest_episode(&self) -> Option<u64> {
        let mut highest = None;
        let visited = self.tail(LAST_LINES, |line| {
            let entry: Option<Entry<'_>> = Entry::parse(line);
            let episode = entry.and_then(|entry| entry.episode.max(entry.turn.and_then(|turn| turn.episode)));
            highest = highest.max(episode);
            episode.is_some()
        });
        visited.ok().and(highest)
    }

    /// All turns that were recorded.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn recorded_turns(&self) -> Result<RecordedTurns, StoreError> {
        RecordedTurns::read(&self.log, &self.pending, None)
    }

    /// Says whether a turn was recorded that has this id or this number.
    ///
    /// # Errors
    ///
    /// When the turns cannot be read.
    pub fn known(&self, key: &TurnKey, id: Option<&str>, number: Option<u64>) -> Result<Known, StoreError> {
        let id = id.map(|id| format!("\"id\":{}", Value::from(id)));
        let needles: Vec<String> =
            id.into_iter().chain(number.map(|number| format!("\"turn\":{number},"))).collect();
        RecordedTurns::read(&self.log, &self.pending, Some(&needles))?.meet(key)
    }

    /// True if the action had this whole reply at that place before.
    ///
    /// # Errors
    ///
    /// When the turns cannot be read.
    pub fn has_reply(&self, place: u64, action: &str, response: &str) -> Result<bool, StoreError> {
        let needles = [format!("\"id\":{place},"), format!("\"id\":{place}}}")];
        let recorded = RecordedTurns::read(&self.log, &self.pending, Some(&needles))?;
        Ok(recorded.count(reply_number(place, action, response))? > 0)
    }

    /// The turn with the caller's id, as JSON. Searches from the end, because writers wait meanwhile.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turn_with_id(&self, id: &str) -> Result<Option<Value>, StoreError> {
        let quoted = format!("\"id\":{}", Value::from(id));
        let has_id = |turn: PlayedTurn<'_>| turn.id.as_deref() == Some(id);
        let is_meant = |line: &str| {
            line.contains(&quoted) && Entry::parse(line).and_then(|entry| entry.turn).is_some_and(has_id)
        };
        let line = self.tail(1, is_meant)?.pop();
        Ok(line.and_then(|line| Entry::<Value>::parse(&line)?.turn))
    }

    /// The turn of that number with the same episode, action and reply, as JSON. Searches from the end.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn same_turn(&self, key: &TurnKey, number: u64) -> Result<Option<Value>, StoreError> {
        let numbered = format!("\"turn\":{number},");
        let is_same = |line: &str| key.turn.is_some_and(|turn| numbers_of(line).contains(&turn));
        let line = self.tail(1, |line| line.contains(&numbered) && is_same(line))?.pop();
        Ok(line.and_then(|line| Entry::<Value>::parse(&line)?.turn))
    }

    /// The last turns as they were played, oldest first, whatever `retry` made of them later.
    pub fn last_turns(&self, count: usize) -> Result<Vec<EarlierTurn>, StoreError> {
        let mut newest_first = Vec::new();
        self.tail(count, |line| {
            let turn = turn_as_played(line);
            let is_turn = turn.is_some();
            newest_first.extend(turn);
            is_turn
        })?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The lines that are set aside.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn aside(&self) -> Result<Aside, StoreError> {
        let mut aside = Aside::default();
        self.visit(|line| aside.read_on(line))?;
        self.pending().iter().for_each(|line| aside.read_on(line));
        Ok(aside)
    }

    /// The lines that a restore of the text with that hash sets aside, and those that it brings back: what counted when
    /// the memory file last had this text counts again. None where the journal does not know the text.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn moved_by_restore(&self, hash: &str) -> Result<[LineSet; 2], StoreError> {
        let mut now: BTreeMap<String, (String, bool)> = BTreeMap::new();
        let (mut then, mut lines) = (None, 0_usize);
        let [from, to] = ["from", "to"].map(|side| format!("\"{side}\":\"{hash}\""));
        self.visit(|line| {
            let has = |side: &str| memmem::find(line.as_bytes(), side.as_bytes()).is_some();
            lines += 1;
            if has(&from) {
                then = Some((now.clone(), lines - 1));
            }
            for (id, numbers, counts) in Moved::by(line).into_iter().flat_map(Moved::all) {
                now.insert(id, (numbers, counts));
            }
            if has(&to) {
                then = Some((now.clone(), lines));
            }
        })?;
        let mut sets = [LineSet::default(), LineSet::default()];
        let Some((then, count)) = then.filter(|_| !now.is_empty()) else { return Ok(sets) };
        let (mut before, mut lines) = (HashSet::new(), 0);
        self.visit(|line| {
            lines += 1;
            let entry: Option<Entry<'_>> = (lines <= count).then(|| Entry::parse(line)).flatten();
            before.extend(entry.and_then(|entry| Some(entry.id?.to_string())));
        })?;
        // A line that came later says nothing of that text.
        for (id, (numbers, counts)) in now.into_iter().filter(|(id, _)| before.contains(id)) {
            let counted = then.get(&id).is_none_or(|(_, counts)| *counts);
            if counted != counts {
                sets[usize::from(counted)].0.insert(id, numbers);
            }
        }
        Ok(sets)
    }

    /// The last turn of an episode by a writer that `wanted` accepts.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn last_turn_by(
        &self,
        episode: u64,
        writer: Option<&str>,
        wanted: impl Fn(&EarlierTurn) -> bool,
    ) -> Result<Option<EarlierTurn>, StoreError> {
        let mut found = None;
        let mut looked_at = 0;
        self.tail(1, |line| {
            let Some(turn) = turn_as_played(line) else { return false };
            looked_at += 1;
            let is_before = turn.episode < Some(episode) || looked_at > EPISODE_TURNS;
            if turn.episode == Some(episode) && turn.writer.as_deref() == writer && wanted(&turn) {
                found = Some(turn);
            }
            is_before || found.is_some()
        })?;
        Ok(found)
    }

    /// The last turn that somebody knows, among those in which the turns of an episode are looked for.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn last_known_turn(
        &self,
        knows: impl Fn(&EarlierTurn) -> bool,
    ) -> Result<Option<EarlierTurn>, StoreError> {
        let (mut found, mut looked_at) = (None, 0);
        self.tail(1, |line| {
            let turn = turn_as_played(line);
            looked_at += usize::from(turn.is_some());
            found = turn.filter(&knows);
            found.is_some() || looked_at > EPISODE_TURNS
        })?;
        Ok(found)
    }

    /// The turns of an episode at a place since the player came there, oldest first.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turns_of_stay(&self, episode: u64, place: u64) -> Result<Vec<EarlierTurn>, StoreError> {
        let mut newest_first: Vec<EarlierTurn> = Vec::new();
        self.tail(1, |line| {
            let Some(turn) = turn_as_played(line) else { return false };
            let end = turn.turn["location_after"]["id"].as_u64();
            let is_here = turn.begins_at() == Some(place) && end.is_none_or(|end| end == place);
            let is_of_stay = turn.episode == Some(episode) && is_here;
            if is_of_stay {
                newest_first.push(turn);
            }
            !is_of_stay
        })?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The turns of an episode as they were played, oldest first; `None` where no end of them is found in the last
    /// `EPISODE_TURNS`.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn turns_of_episode(&self, episode: u64) -> Result<Option<Vec<EarlierTurn>>, StoreError> {
        let mut newest_first: Vec<EarlierTurn> = Vec::new();
        let mut looked_at = 0;
        self.tail(1, |line| {
            let Some(turn) = turn_as_played(line) else { return false };
            looked_at += 1;
            let is_before = turn.episode < Some(episode);
            let is_first = turn.episode == Some(episode) && turn.number.is_some_and(|number| number <= 1);
            if turn.episode == Some(episode) {
                newest_first.push(turn);
            }
            is_before || is_first || looked_at > EPISODE_TURNS
        })?;
        newest_first.reverse();
        Ok(Some(newest_first).filter(|_| looked_at <= EPISODE_TURNS))
    }
}

/// The whole turn of a line that was recorded when it was played.
fn turn_as_played(line: &str) -> Option<EarlierTurn> {
    let entry = line.contains("\"turn\":").then(|| Entry::parse(line)).flatten();
    let entry = entry.filter(|entry: &Entry<'_, Value>| entry.resolves.is_none() && entry.carried.is_none());
    entry.as_ref().and_then(EarlierTurn::of)
}
