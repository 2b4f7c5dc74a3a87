//! The files and notes that this machine keeps for its syncs. With them a kill at any moment counts nothing twice.
//!
//! `state.json` names this machine, the number of its own state, and the text whose changes that state has. Both are files
//! in `remotes/` of the sidecar, and each is on disk before it is named. The name of the text and the memory file change in
//! one transaction.

use std::collections::BTreeSet;

use crate::error::SyncError;
use crate::machine::{Fleet, Machine, ORIGIN, hash, journal_hash, pieces, short};
use crate::options::Options;
use crate::remote::{Fetched, Item, Put, Remote, Version};
use crate::report::SyncReport;
use memories_document::Document;
use memories_document::compare::changed_lines;
use memories_document::counts::add_counts;
use memories_document::merge::merge_keeping_both;
use memories_document::types::Outcome;
use memories_document::types::instant::Instant;
use memories_notebook::history::History;
use memories_notebook::{Draft, Notebook};
use memories_store::journal::Journal;
use memories_store::journal::change::{FileChange, text_hash};
use memories_store::journal::entry::Entry;
use memories_store::{Agreement, MachineNote, Remotes};

/// Begins the names of the states of other machines.
const OTHER: &str = "state-";

/// Seconds for which sizes are kept.
const DAY: i64 = 24 * 60 * 60;

/// Knowledge of one remote copy, and of all machines.
pub(super) struct Ledger<'a> {
    notebook: &'a Notebook,
    url: String,
    /// Names the agreement of this copy.
    key: String,
    /// `None` in a dry run, which writes nothing.
    remotes: Option<Remotes>,
    pub(super) fleet: Fleet,
    /// This machine; its name is empty before its first sync.
    note: MachineNote,
    pub(super) agreement: Agreement,
}

/// A merged text before the memory file has it.
pub(super) struct Pending<'a> {
    /// The local text that went into it.
    pub(super) ours: &'a str,
    pub(super) merged: &'a str,
    /// Pieces of either side that the merge replaced.
    pub(super) replaced: BTreeSet<String>,
    /// Words for the journal.
    pub(super) said: String,
    /// The sizes of the last day.
    pub(super) sizes: Vec<(i64, u64)>,
}

impl<'a> Ledger<'a> {
    /// Takes the right to sync this memory file, unless nothing is to be written.
    pub(super) fn open(
        notebook: &'a Notebook,
        url: String,
        options: &Options,
    ) -> Result<Ledger<'a>, SyncError> {
        let store = notebook.store();
        let remotes = if options.dry_run { None } else { Some(store.remotes().lock(options.lock_timeout)?) };
        if remotes.is_some() {
            // A kill between text and state would leave a text that seems to be newer.
            store.complete_last_change()?;
        }
        let state = notebook.state();
        let key = hash(&url);
        let mut fleet = Fleet::default();
        for name in store.remotes().names()? {
            let Some(machine) = name.strip_prefix(OTHER).and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            let text = store.remotes().read(&name)?.unwrap_or_default();
            fleet
                .others
                .extend(Machine::parse(text.as_bytes(), machine).map(|state| (machine.to_owned(), state)));
        }
        let note = state.machine.unwrap_or_default();
        let own = store.remotes().read(&own_file(&note.name, note.sequence))?;
        let own = own.and_then(|own| Machine::parse(own.as_bytes(), &note.name));
        let agreement = state.remotes.get(&key).cloned().unwrap_or_default();
        let mut ledger = Ledger { notebook, url, key, remotes, fleet, note, agreement };
        match own {
            Some(own) if store.remotes().read(&text_file(&ledger.note.seen))?.is_some() => {
                ledger.fleet.own = own
            }
            _ => {
                ledger.note =
                    MachineNote { sizes: std::mem::take(&mut ledger.note.sizes), ..MachineNote::default() };
                ledger.fleet.own = Machine::new(ledger.fresh_name(&host(&options.host)));
            }
        }
        Ok(ledger)
    }

    /// A new name for a machine of that host.
    fn fresh_name(&self, host: &str) -> String {
        let id = hash(&format!("{} {}", self.notebook.clock().fresh_id(), self.url));
        format!("{host}-{}", &id[..10])
    }

    /// The text of the last sync with this copy; `None` before the first one.
    pub(super) fn agreed(&self) -> Result<Option<String>, SyncError> {
        if self.agreement.text.is_empty() {
            return Ok(None);
        }
        Ok(self.notebook.store().remotes().read(&text_file(&self.agreement.text))?)
    }

    /// Sizes of the last day.
    pub(super) fn sizes(&self) -> Vec<(i64, u64)> {
        let now = self.now();
        self.note.sizes.iter().filter(|(time, _)| now - time < DAY).copied().collect()
    }

    pub(super) fn now(&self) -> i64 {
        Instant::of(&self.notebook.clock().now()).map_or(0, Instant::as_second)
    }

    /// True if the store has the present state of this machine, as far as is known.
    pub(super) fn is_published(&self) -> bool {
        let own = self.agreement.states.get(&self.fleet.own.machine);
        own.is_some_and(|(_, sequence)| *sequence == self.fleet.own.sequence)
    }

    /// Reads the states of machines that are new beside the copy.
    pub(super) fn read(&mut self, remote: &dyn Remote, report: &mut SyncReport) -> Result<(), SyncError> {
        report.requests += 1;
        let mut listed = remote.machines()?;
        self.agreement.states.retain(|name, _| listed.contains_key(name));
        if self.agreement.put > 0 {
            // A store may be slow to list what it has, or list nothing.
            listed.entry(self.fleet.own.machine.clone()).or_default();
        }
        for (name, version) in listed {
            let known = self.agreement.states.get(&name);
            let is_here = name == self.fleet.own.machine || self.fleet.others.contains_key(&name);
            if is_here
                && version.e_tag.is_some()
                && known.is_some_and(|(known, _)| known.e_tag == version.e_tag)
            {
                continue;
            }
            report.requests += 1;
            let Fetched::Copy(bytes, version) = remote.fetch(Item::Machine(&name), None)? else { continue };
            // A state that cannot be read counts as empty: its machine, or another one that has it, puts it again.
            let there = Machine::parse(&bytes, &name).unwrap_or_else(|| Machine::new(name.clone()));
            if name == self.fleet.own.machine {
                self.meet_own(&there)?;
            }
            self.agreement.states.insert(name.clone(), (version, there.sequence));
            let is_own = name == self.fleet.own.machine;
            let is_newer = self.fleet.others.get(&name).is_none_or(|here| here.sequence < there.sequence);
            if !is_own && is_newer && there.sequence > 0 {
                self.keep_other(there)?;
            }
        }
        Ok(())
    }

    fn keep_other(&mut self, state: Machine) -> Result<(), SyncError> {
        if let Some(remotes) = &self.remotes {
            remotes.keep(&format!("{OTHER}{}.json", state.machine), &state.render())?;
        }
        self.fleet.others.insert(state.machine.clone(), state);
        Ok(())
    }

    /// Gives this machine a new name if the store has a state of it that it did not put: its folder was copied or set back.
    /// Changes that were not put yet move to the new name.
    fn meet_own(&mut self, there: &Machine) -> Result<(), SyncError> {
        let own = &self.fleet.own.machine;
        let put = self.agreement.put;
        let read = |sequence| self.notebook.store().remotes().read(&own_file(own, sequence));
        if there.sequence <= put || read(there.sequence)?.is_some_and(|text| text == there.render()) {
            return Ok(());
        }
        let before = read(put)?.and_then(|text| Machine::parse(text.as_bytes(), own)).unwrap_or_default();
        let name = self.fresh_name(own.rsplit_once('-').map_or(own, |(host, _)| host));
        let mut mine = self.fleet.own.clone().without(&before);
        (mine.machine, mine.sequence, self.agreement.put) = (name, 0, 0);
        self.fleet.own = mine;
        Ok(())
    }

    /// Adds to the own state what was recorded and removed since the last sync, and the counts of files from elsewhere.
    pub(super) fn record(
        &mut self,
        ours: Option<&str>,
        theirs: Option<&str>,
        is_copy_strange: bool,
    ) -> Result<(), SyncError> {
        let is_new = self.note.name.is_empty();
        if let Some(theirs) = theirs.filter(|_| is_copy_strange) {
            let grew = !self.fleet.others.is_empty() || !is_new;
            self.add_origin(theirs, grew)?;
        }
        // A file that is gone does not say that everything was removed.
        let Some(ours) = ours else { return Ok(()) };
        let journal = Journal::of(self.notebook.store());
        let before = if is_new {
            let found = self.found(ours)?;
            let grew = theirs.is_some_and(|theirs| shares_dated_lines(&found, theirs));
            self.add_origin(&found, grew)?;
            self.fleet.own.found = journal_hash(&found);
            let mut texts = Vec::new();
            journal.visit(|line| texts.extend(FileChange::of_line(line).and_then(|change| change.to)))?;
            self.fleet.own.note_own(texts.iter().map(|text| short(text)));
            found
        } else {
            self.notebook.store().remotes().read(&text_file(&self.note.seen))?.unwrap_or_default()
        };
        if before != ours {
            if !is_new {
                let changes = journal.last_changes(&text_hash(&before))?.unwrap_or_default();
                self.fleet.own.note_own(changes.into_iter().filter_map(|change| Some(short(&change.to?))));
            }
            self.fleet.own.note_own([journal_hash(ours)]);
            let counts = |text: &str| Document::parse(text.to_owned()).counts();
            add_counts(&mut self.fleet.own.counts, &counts(ours), 1);
            add_counts(&mut self.fleet.own.counts, &counts(&before), -1);
            self.fleet.note_removals(&pieces(&before), &pieces(ours));
        }
        self.fleet.claim();
        Ok(())
    }

    /// The text that this machine found before its own first change.
    fn found(&self, ours: &str) -> Result<String, SyncError> {
        // The journal of an older program does not say which changes a sync brought.
        if !self.notebook.state().remotes.is_empty() {
            return Ok(ours.to_owned());
        }
        let (history, _) = History::read(self.notebook.store())?;
        Ok(history.parts.into_iter().next().map_or_else(|| ours.to_owned(), |part| part.start))
    }

    fn add_origin(&mut self, text: &str, only_surplus: bool) -> Result<(), SyncError> {
        self.fleet.origin(text, only_surplus).map_or(Ok(()), |state| self.keep_other(state))
    }

    /// Keeps the own state under its next number, unless it is kept as it is.
    fn keep_own(&mut self) -> Result<(), SyncError> {
        let (Some(remotes), own) = (&self.remotes, &mut self.fleet.own) else { return Ok(()) };
        let kept = self.notebook.store().remotes().read(&own_file(&self.note.name, self.note.sequence))?;
        if self.note.name != own.machine || kept.is_none_or(|kept| kept != own.render()) {
            own.sequence += 1;
            remotes.keep(&own_file(&own.machine, own.sequence), &own.render())?;
            (self.note.name, self.note.sequence) = (own.machine.clone(), own.sequence);
        }
        Ok(())
    }

    /// Keeps the own state, in which everything up to that local text is counted.
    pub(super) fn commit(&mut self, ours: Option<&str>) -> Result<(), SyncError> {
        let before = self.note.clone();
        self.keep_own()?;
        let Some(remotes) = &self.remotes else { return Ok(()) };
        let text = ours.or(Some("").filter(|_| self.note.seen.is_empty()));
        if let Some(text) = text.filter(|text| hash(text) != self.note.seen) {
            remotes.keep(&text_file(&hash(text)), text)?;
            self.note.seen = hash(text);
        }
        if self.note == before { Ok(()) } else { self.keep_note() }
    }

    /// Keeps that the sync has asked about a text.
    pub(super) fn note_question(&mut self, text: &str) -> Result<(), SyncError> {
        self.agreement.asked = Some(hash(text));
        self.keep_note()
    }

    /// True if the sync has asked about that text.
    pub(super) fn has_asked(&self, text: &str) -> bool {
        self.agreement.asked.as_deref() == Some(&*hash(text))
    }

    fn keep_note(&self) -> Result<(), SyncError> {
        self.notebook.edit("sync", |draft| self.set(draft)).map(drop)
    }

    fn set(&self, draft: &mut Draft<'_>) -> Result<(), SyncError> {
        let mut state = draft.state()?;
        state.machine = Some(self.note.clone()).filter(|note| !note.name.is_empty());
        state.remotes.insert(self.key.clone(), self.agreement.clone());
        draft.new_state = Some(state);
        Ok(())
    }

    /// Puts the own state, and newer states of others than the store has; `false` where another writer was faster.
    pub(super) fn publish(
        &mut self,
        remote: &dyn Remote,
        report: &mut SyncReport,
    ) -> Result<bool, SyncError> {
        let mut is_done = true;
        for state in self.fleet.others.values().chain([&self.fleet.own]) {
            let there = self.agreement.states.get(&state.machine).cloned();
            let is_there = there.as_ref().is_some_and(|(_, sequence)| *sequence >= state.sequence);
            if is_there {
                continue;
            }
            let text = state.render();
            report.requests += 1;
            match remote.put(
                Item::Machine(&state.machine),
                &text,
                there.as_ref().map(|(version, _)| version),
            )? {
                Put::Done(version) => {
                    if state.machine == self.fleet.own.machine {
                        self.agreement.put = state.sequence;
                    }
                    self.agreement.states.insert(state.machine.clone(), (version, state.sequence));
                }
                // The next try reads the state again. For the state of another machine there is no next try: whoever was
                // faster has put it.
                Put::Lost => {
                    self.agreement.states.remove(&state.machine);
                    is_done &= state.machine != self.fleet.own.machine;
                    self.agreement.put = self.agreement.put.max(u64::from(!is_done));
                }
            }
        }
        Ok(is_done)
    }

    /// Completes a sync when the copy has the merged text: the memory file takes it, with what was recorded meanwhile.
    pub(super) fn complete(&mut self, pending: Pending<'_>, version: Version) -> Result<(), SyncError> {
        let Pending { ours, merged, replaced, said, sizes } = pending;
        let text = hash(merged);
        let before = (self.note.clone(), self.notebook.state().remotes.remove(&self.key));
        // These pieces count as removed only now, when the copy has others in their place.
        self.fleet.note_removals(&replaced, &BTreeSet::new());
        self.keep_own()?;
        (self.note.seen, self.note.sizes) = (text.clone(), sizes);
        self.agreement = Agreement { text, version, asked: None, ..std::mem::take(&mut self.agreement) };
        if ours == merged && before == (self.note.clone(), Some(self.agreement.clone())) {
            return Ok(());
        }
        let remotes = self.remotes.as_ref().expect("a dry run completes nothing");
        remotes.keep(&text_file(&self.note.seen), merged)?;
        let written = self.notebook.edit("sync", |draft| {
            let clash = || SyncError::clash(self.url.clone(), self.notebook.store());
            take(draft, ours, merged, &said)?.ok_or_else(clash)?;
            self.set(draft)
        })?;
        drop(written);
        self.sweep()
    }

    /// Removes files that nothing names.
    fn sweep(&self) -> Result<(), SyncError> {
        let Some(remotes) = &self.remotes else { return Ok(()) };
        let own = &self.fleet.own;
        let mut kept = BTreeSet::from([text_file(&self.note.seen), own_file(&own.machine, own.sequence)]);
        for agreement in self.notebook.state().remotes.values() {
            kept.insert(text_file(&agreement.text));
            kept.insert(own_file(&own.machine, agreement.put));
        }
        let mut names = self.notebook.store().remotes().names()?;
        names.retain(|name| !kept.contains(name) && !name.starts_with(OTHER));
        names.iter().try_for_each(|name| remotes.remove(name))?;
        Ok(())
    }
}

/// Gives the memory file the merged text, with what was recorded since `ours` was read. `None` where lines clash.
fn take(draft: &mut Draft<'_>, ours: &str, merged: &str, said: &str) -> Result<Option<()>, SyncError> {
    let present = draft.text()?;
    let Some(taken) = merge_keeping_both(ours, &present, merged) else { return Ok(None) };
    let mut text = taken.text;
    if present != ours {
        let [mut counts, before, after] =
            [merged, ours, &present].map(|text| Document::parse(text.to_owned()).counts());
        add_counts(&mut counts, &before, -1);
        add_counts(&mut counts, &after, 1);
        let mut document = Document::parse(text);
        document.set_counts(&counts);
        text = document.into_text()?;
    }
    if text != present {
        let lines = changed_lines(&present, &text);
        draft.replace_text(text);
        draft.note(Entry::<()> {
            outcome: Some(Outcome::Synced.into()),
            lines: Some(lines as u64),
            reasoning: Some(said.into()),
            ..Entry::default()
        });
    }
    Ok(Some(()))
}

/// True if a text shares so many dated lines with another that it grew from it.
fn shares_dated_lines(text: &str, other: &str) -> bool {
    let dated = |text: &str| -> BTreeSet<String> {
        let sections = Document::parse(text.to_owned()).sections();
        let lines = sections.iter().flat_map(|(scope, section)| {
            let attempts = section.tried.iter().chain(&section.worked).chain(&section.seen);
            let dated = attempts.filter(|attempt| attempt.episode.is_some() && attempt.turn.is_some());
            dated.map(move |attempt| format!("{scope} {attempt:?}"))
        });
        lines.collect()
    };
    let (own, other) = (dated(text), dated(other));
    let shared = own.intersection(&other).count();
    shared >= 3 && shared * 2 >= own.len()
}

/// A host's name as a part of a file's name.
fn host(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    if name.is_empty() || name == ORIGIN.trim_end_matches('-') {
        "machine".to_owned()
    } else {
        name.to_lowercase()
    }
}

fn own_file(name: &str, sequence: u64) -> String {
    format!("own-{name}-{sequence}.json")
}

fn text_file(hash: &str) -> String {
    format!("{hash}.md")
}
