//! Changes that the command line and the MCP server share, each with its journal entry: adding a memory,
//! correcting entries, starting an episode, and replacing the text.

use serde_json::{Value, json};

use crate::add::{AddReport, Claim, store_memory};
use crate::authority::Authority;
use crate::correct::{Corrected, Correction, CorrectionError, correct};
use crate::dialogue::{speaker, spoken};
use crate::edit::{edited, unreadable};
use crate::error::NotebookError;
use crate::titles::{stored_under_free_title, title_in_use};
use crate::transaction::{Draft, EndedSession};
use memories_document::problem::Problem;
use memories_document::stored;
use memories_document::text::stored_title;
use memories_document::types::hint::Refused;
use memories_document::types::{Author, DEFAULT_IMPORTANCE, Memory, Moment, Outcome, Scope, means_title};
use memories_store::journal::change::text_hash;
use memories_store::journal::entry::{Entry, MemoryEntry};
use memories_store::journal::text::Text;
use memories_store::{State, StoreError};

/// A memory to add, as the caller worded it.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// Its section.
    pub scope: Scope,
    /// The name of a section that is not there yet; may be empty.
    pub name: String,
    /// The memory.
    pub memory: Memory,
    /// The speaker of a line of dialogue, by id or name.
    pub speaker: Option<String>,
}

impl Draft<'_> {
    /// Adds a memory; a text that another entry has already is not stored twice. A line of
    /// dialogue without an episode gets the running one.
    ///
    /// # Errors
    ///
    /// See [`NotebookError`].
    pub fn add(
        &mut self,
        new: &NewMemory,
        authority: Authority,
        warnings: &mut Vec<String>,
    ) -> Result<AddReport, NotebookError> {
        let NewMemory { scope, name, memory, speaker: called } = new;
        let memory = match called {
            Some(called) => {
                let mut line = memory.clone();
                if line.provenance.episode.is_none() {
                    line.provenance.episode = Some(self.state()?.episode);
                }
                spoken(&speaker(&self.files, called), line)
            }
            None if stored_title(&memory.title).is_empty() => {
                stored_under_free_title(&self.files, scope, memory)
            }
            None => stored(memory),
        };
        if let Some(title) = title_in_use(&self.files, scope, &memory) {
            return Err(CorrectionError::TitleInUse { scope: scope.clone(), title }.into());
        }
        // A contest that this memory confirms may strike an entry.
        let at = if self.files.writer.is_some() { self.moment()? } else { Moment::default() };
        let claim = Claim { at: &at, ..Claim::of(authority) };
        let applied = store_memory(&mut self.files, scope, name, &memory, claim, warnings)?;
        self.note(Entry::<Value> {
            outcome: Some(Outcome::from(applied.outcome).into()),
            memories: Some(vec![MemoryEntry::from(&applied)]),
            ..Entry::default()
        });
        Ok(applied)
    }

    /// Says who wrote live entries of a section, or the one with a title; the memory file stays as it is. Answers with
    /// their titles, those that already had this author left out.
    pub fn adopt(&mut self, scope: &Scope, title: Option<&str>, author: Author) -> Vec<String> {
        let is_meant = |memory: &Memory| title.is_none_or(|title| means_title(title, &memory.title));
        let mut memories: Vec<Memory> =
            self.files.live(scope).map(|entry| entry.read()).filter(is_meant).collect();
        let authorship = &mut self.files.authorship;
        memories.retain(|memory| authorship.author_of(scope, memory) != author);
        memories.iter().for_each(|memory| authorship.note_author(scope, memory, author));
        memories.into_iter().map(|memory| memory.title).collect()
    }

    /// Makes corrections, all or none. The last recorded turn is the moment for reference lines.
    ///
    /// # Errors
    ///
    /// See [`CorrectionError`].
    pub fn correct<E: From<CorrectionError> + From<StoreError>>(
        &mut self,
        corrections: &[Correction],
        authority: Authority,
    ) -> Result<Vec<Corrected>, E> {
        let moments = vec![Moment::default(); corrections.len()];
        self.correct_at(corrections, &moments, authority)
    }

    /// The same, each correction at its own moment, whose missing parts are those of the last recorded turn.
    ///
    /// # Errors
    ///
    /// As [`Draft::correct`].
    pub fn correct_at<E: From<CorrectionError> + From<StoreError>>(
        &mut self,
        corrections: &[Correction],
        moments: &[Moment],
        authority: Authority,
    ) -> Result<Vec<Corrected>, E> {
        let last = self.moment()?;
        let mut results = Vec::new();
        for (correction, given) in corrections.iter().zip(moments) {
            let episode = given.episode.or(last.episode);
            let turn = given.turn.or(last.turn.filter(|_| episode == last.episode));
            let at = Moment { episode, turn, ..Moment::default() };
            results.extend(correct(&mut self.files, correction, &at, authority)?);
        }
        let reasons = corrections.iter().filter_map(|correction| match correction {
            Correction::Invalidate(_, reason) => Some(reason.as_str()),
            _ => None,
        });
        self.note(Entry::<Value> {
            outcome: Some(Outcome::Corrected.into()),
            corrected: Some(results.iter().map(MemoryEntry::from).collect()),
            reasoning: Some(reasons.collect::<Vec<_>>().join("; ").into()),
            ..Entry::default()
        });
        Ok(results)
    }

    /// Starts an episode, by default the next one, and ends the memories of the session. Answers with its
    /// number and the count of live memories that ended.
    pub fn start_episode(&mut self, number: Option<u64>) -> Result<(u64, u64), StoreError> {
        let mut state = self.state()?;
        state.episode = number.unwrap_or_else(|| self.episode_after(state.episode));
        let episode = state.episode;
        self.new_state = Some(state);
        let ended = self.end_session()?;
        self.note(Entry::<Value> {
            outcome: Some(Outcome::EpisodeStarted.into()),
            episode: Some(episode),
            ephemeral_ended: Some(ended.memories),
            session: ended.text.map(Text::from),
            ..Entry::default()
        });
        Ok((episode, ended.memories))
    }

    /// Makes the episode of a recorded turn the running one, unless a later one was named already. Returns the
    /// running episode, and the session that ended.
    ///
    /// # Errors
    ///
    /// See [`Draft::state`]. The session file may also be unreadable.
    pub fn reach_episode(&mut self, episode: u64) -> Result<(u64, Option<EndedSession>), StoreError> {
        let state = self.state()?;
        if episode <= state.episode {
            return Ok((state.episode, None));
        }
        self.new_state = Some(State { episode, ..state });
        Ok((episode, Some(self.end_session()?)))
    }

    /// Replaces the text of the memory file by one in which some lines are rewritten.
    pub fn rewrite(&mut self, outcome: Outcome, text: String, lines: usize) {
        self.replace_text(text);
        let (outcome, lines) = (Some(outcome.into()), Some(lines as u64));
        self.note(Entry::<Value> { outcome, lines, ..Entry::default() });
    }

    /// Replaces a section by what a person made of it.
    ///
    /// # Errors
    ///
    /// [`Refused`] where the section is no longer the one that was edited, or the new text would change others.
    pub fn replace_section(&mut self, scope: &Scope, old: &str, new: &str) -> Result<Vec<Problem>, Refused> {
        let before = self.text().map_err(unreadable)?;
        let edited = edited(&before, scope, old, new)?;
        self.rewrite(Outcome::Edited, edited.text, edited.lines);
        self.files.note_persons(&before);
        Ok(edited.problems)
    }

    /// Replaces the text of the memory file by the text of a backup.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn restore(&mut self, backup: u64, text: String) -> Result<(), StoreError> {
        let [set_aside, brought_back] = self.journal().moved_by_restore(&text_hash(&text))?;
        self.replace_text(text);
        let (set_aside, brought_back) = (set_aside.unless_empty(), brought_back.unless_empty());
        let (outcome, state) = (Some(Outcome::Restored.into()), Some(backup));
        self.note(Entry::<Value> { outcome, state, set_aside, brought_back, ..Entry::default() });
        Ok(())
    }

    /// Notes an import or a seed in the journal, with its result.
    pub fn note_intake(&mut self, outcome: Outcome, what: String) {
        let (outcome, reasoning) = (Some(outcome.into()), Some(what.into()));
        self.note(Entry::<Value> { outcome, reasoning, ..Entry::default() });
    }
}

impl<'a> From<&'a AddReport> for MemoryEntry<'a> {
    fn from(applied: &'a AddReport) -> MemoryEntry<'a> {
        MemoryEntry {
            outcome: Some(Outcome::from(applied.outcome).into()),
            scope: Some(applied.entry.scope.to_string().into()),
            title: Some(applied.title().into()),
            text: Some(applied.text().into()),
            persistence: Some(applied.entry.memory.persistence),
            author: Some(applied.by),
            superseded: applied.superseded.iter().map(Text::from).collect(),
            contested: applied.contested.iter().map(|one| Text::from(&one.title)).collect(),
            importance: Some(applied.entry.memory.importance())
                .filter(|importance| *importance != DEFAULT_IMPORTANCE),
            raised_to: applied.raised_to,
            ..MemoryEntry::default()
        }
    }
}

impl<'a> From<&'a Corrected> for MemoryEntry<'a> {
    fn from(corrected: &'a Corrected) -> MemoryEntry<'a> {
        MemoryEntry {
            outcome: Some(corrected.outcome.into()),
            scope: Some(corrected.scope.to_string().into()),
            title: Some((&corrected.title).into()),
            contested: corrected.contested.iter().map(|one| Text::from(&one.title)).collect(),
            memory: corrected.memory.as_ref().map(|memory| json!(memory)),
            ..MemoryEntry::default()
        }
    }
}
