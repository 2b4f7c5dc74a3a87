//! The flow of a sync: fetch, record what is new here, merge, put, and take over.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::error::SyncError;
use crate::ledger::{Ledger, Pending};
use crate::machine::{Place, pieces};
use crate::options::Options;
use crate::remote::{Fetched, Item, Put, Remote, Version};
use crate::report::SyncReport;
use crate::texts::{Guard, Merged, Sides, text_of};
use memories_llm::backoff;
use memories_notebook::Notebook;
use memories_store::StoreError;

/// Times that a text is merged and put when other writers are faster.
const MAX_TRIES: u32 = 20;

/// Times that a copy may have another version and the same text.
const MAX_EMPTY_CHANGES: u32 = 3;

/// The pause after the first lost race is at most this long; it doubles with each, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A text of this size in bytes, or of this number of memories, may not lose more than half.
const LARGE: (u64, usize) = (1024, 5);

/// Reads a remote copy.
///
/// # Errors
///
/// When there is none, and as [`Remote::fetch`].
pub fn read(remote: &dyn Remote) -> Result<String, SyncError> {
    match remote.fetch(Item::Text, None)? {
        Fetched::Copy(bytes, _) => text_of(remote, bytes),
        Fetched::Missing | Fetched::Unchanged => Err(SyncError::Nothing { url: remote.to_string() }),
    }
}

/// Merges a memory file with its remote copy, and gives both the result.
///
/// # Errors
///
/// See [`SyncError`]. Both sides are as they were.
pub fn sync(notebook: &Notebook, remote: &dyn Remote, options: &Options) -> Result<SyncReport, SyncError> {
    let ledger = Ledger::open(notebook, remote.to_string(), options)?;
    let report = SyncReport::default();
    let mut round = Round { notebook, remote, options, ledger, report, last: None, empty_changes: 0 };
    for number in 0..MAX_TRIES {
        if number > 0 {
            std::thread::sleep(backoff(FIRST_PAUSE, number, options.seed).min(LONGEST_PAUSE));
        }
        if round.try_once()? {
            return Ok(round.report);
        }
        round.report.lost_races += 1;
    }
    Err(SyncError::KeepsChanging { url: remote.to_string(), tries: MAX_TRIES })
}

/// A sync on its way.
struct Round<'a> {
    notebook: &'a Notebook,
    remote: &'a dyn Remote,
    options: &'a Options,
    ledger: Ledger<'a>,
    report: SyncReport,
    /// The copy of the last try.
    last: Option<(Vec<u8>, Version)>,
    /// Times that the copy had another version and the same text.
    empty_changes: u32,
}

/// The copy as it was fetched, with its version; `None` where there is none.
type Copy = Option<(String, Version)>;

impl Round<'_> {
    /// Fetches, merges and puts; `false` where another writer was faster.
    fn try_once(&mut self) -> Result<bool, SyncError> {
        // Where the file is gone, all that the copy has is new to it.
        let local = self.notebook.store().read()?;
        let agreed = if local.is_some() { self.ledger.agreed()? } else { None };
        let ours = self.notebook.read()?.lasting.into_text()?;
        let fetched = self.fetch(agreed.as_deref())?;
        let is_unchanged = fetched.is_none();
        let version = &self.ledger.agreement.version;
        let copy = fetched.unwrap_or_else(|| agreed.clone().map(|text| (text, version.clone())));
        if is_unchanged && agreed.as_deref() == Some(&*ours) && self.ledger.is_published() {
            return Ok(true);
        }
        if !is_unchanged || self.report.lost_races > 0 {
            self.ledger.read(self.remote, &mut self.report)?;
        }
        let theirs = copy.as_ref().map(|(text, _)| text.as_str());
        let is_strange = theirs.is_some_and(|theirs| !self.ledger.fleet.knows(theirs));
        self.ledger.record(local.as_ref().map(|_| &*ours), theirs, is_strange)?;
        let place = theirs.map_or(Place::Newer, |theirs| self.ledger.fleet.place(theirs, agreed.as_deref()));
        let sides =
            Sides { agreed: agreed.as_deref(), ours: &ours, theirs: theirs.unwrap_or_default(), place };
        let merged = self.merged(&sides, copy.is_some())?;
        self.finish(&sides, copy.as_ref().map(|(_, version)| version), &merged, local.is_some())
    }

    /// The copy; `None` where it is unchanged.
    fn fetch(&mut self, agreed: Option<&str>) -> Result<Option<Copy>, SyncError> {
        self.report.requests += 1;
        let url = self.remote.to_string();
        let known = agreed.map(|_| self.ledger.agreement.version.clone());
        match self.remote.fetch(Item::Text, known.as_ref())? {
            Fetched::Unchanged if agreed.is_some() => Ok(None),
            Fetched::Unchanged => {
                let problem = "it says that nothing changed, without a question for that".to_owned();
                Err(SyncError::Failed { url, problem })
            }
            Fetched::Missing if agreed.is_some() && !self.options.create => Err(SyncError::Vanished { url }),
            Fetched::Missing => Ok(Some(None)),
            Fetched::Copy(bytes, version) => {
                self.report.received_bytes += bytes.len() as u64;
                let is_same = |(last, old): &(Vec<u8>, Version)| *last == bytes && *old != version;
                self.empty_changes += u32::from(self.last.as_ref().is_some_and(is_same));
                if self.empty_changes >= MAX_EMPTY_CHANGES {
                    let problem = "the version of its copy changes, though the text does not".to_owned();
                    return Err(SyncError::Failed { url, problem });
                }
                self.last = Some((bytes.clone(), version.clone()));
                let text = text_of(self.remote, bytes)?;
                // It may be read, but not merged: what this program does not know would be written wrongly.
                match StoreError::of_newer_format(Path::new(&url), &text) {
                    Some(error) => Err(error.into()),
                    None => Ok(Some(Some((text, version)))),
                }
            }
        }
    }

    /// Merges, unless there is a question to ask first.
    fn merged(&mut self, sides: &Sides<'_>, has_copy: bool) -> Result<Merged, SyncError> {
        let Options { allow_removals, dry_run, .. } = *self.options;
        let guard = Guard::of(self.notebook);
        let merged = if has_copy {
            sides.merge(&self.ledger.fleet, (!allow_removals).then_some(&guard))?
        } else {
            Some(Merged { text: sides.ours.to_owned(), kept: Vec::new() })
        };
        let clash = || SyncError::clash(self.remote.to_string(), self.notebook.store());
        let merged = merged.ok_or_else(clash)?;
        self.report.compare(&guard, [sides.ours, sides.theirs, &merged.text]);
        self.report.kept.clone_from(&merged.kept);
        let asks = sides.place == Place::Unknown
            && !allow_removals
            && !dry_run
            && !self.ledger.has_asked(sides.theirs);
        if asks {
            let lacking = sides.lacking(&self.ledger.fleet);
            if !lacking.is_empty() {
                self.ledger.note_question(sides.theirs)?;
                return Err(SyncError::Strange { url: self.remote.to_string(), lacking: listed(&lacking) });
            }
        }
        Ok(merged)
    }

    /// Keeps, puts and takes over a merged text; `false` where another writer was faster.
    fn finish(
        &mut self,
        sides: &Sides<'_>,
        old: Option<&Version>,
        merged: &Merged,
        has_file: bool,
    ) -> Result<bool, SyncError> {
        let (ours, theirs, text) = (sides.ours, sides.theirs, merged.text.as_str());
        let sizes = self.sizes(sides, text)?;
        if self.options.dry_run {
            return Ok(true);
        }
        let is_put = old.is_none() || text != theirs;
        if is_put {
            let from = old.map(|_| theirs).into_iter().chain(sides.agreed);
            self.ledger.fleet.own.note_text(text, from);
        }
        self.ledger.commit(has_file.then_some(ours))?;
        if !self.ledger.publish(self.remote, &mut self.report)? {
            return Ok(false);
        }
        let mut version = old.cloned().unwrap_or_default();
        if is_put {
            self.report.requests += 1;
            self.report.sent_bytes += text.len() as u64;
            match self.remote.put(Item::Text, text, old)? {
                Put::Lost => return Ok(false),
                Put::Done(new) => version = new,
            }
        }
        let mut replaced: BTreeSet<String> = pieces(ours);
        replaced.extend(pieces(theirs));
        let after = pieces(text);
        replaced.retain(|piece| !after.contains(piece));
        let said = self.report.words().unwrap_or_default();
        self.ledger.complete(Pending { ours, merged: text, replaced, said, sizes }, version)?;
        Ok(true)
    }

    /// The sizes of the last day with that of the merged text, unless a side lost more than half.
    fn sizes(&self, sides: &Sides<'_>, merged: &str) -> Result<Vec<(i64, u64)>, SyncError> {
        let (now, size) = (self.ledger.now(), merged.len() as u64);
        if self.options.allow_removals {
            return Ok(vec![(now, size)]);
        }
        // A removal by another known machine does not count: the limit held in its own sync.
        let gone = match sides.place {
            Place::Unknown => 0,
            _ => sides.ours.len().saturating_sub(merged.len()) as u64,
        };
        let mut sizes: Vec<(i64, u64)> = self.ledger.sizes();
        sizes.iter_mut().for_each(|(_, size)| *size -= gone.min(*size));
        let of_sides = [sides.ours, sides.theirs].map(|text| text.len() as u64 - gone.min(text.len() as u64));
        let largest = sizes.iter().map(|(_, size)| *size).chain(of_sides).max().unwrap_or(0);
        let memories = |text: &str| memories_document::Document::parse(text.to_owned()).count_memories();
        let is_large =
            || largest >= LARGE.0 || [sides.ours, sides.theirs].iter().any(|text| memories(text) >= LARGE.1);
        if size < largest / 2 && is_large() {
            let file = self.notebook.store().path().display().to_string();
            let side = if sides.place == Place::Unknown { file } else { self.remote.to_string() };
            return Err(SyncError::Shrinks { side, removed: largest - size, all: largest });
        }
        sizes.retain(|(_, old)| *old > size);
        sizes.push((now, size));
        Ok(sizes)
    }
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if more == 0 { shown } else { format!("{shown}, and {more} more") }
}
