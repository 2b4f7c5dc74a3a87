//! The figures of a store: its memory file, session and journal, each read once.

use crate::stats::collect::stats;
use crate::stats::figures::Stats;
use crate::stats::tally::Tally;
use memories_document::Document;
use memories_document::types::hint::with_causes;
use memories_notebook::Snapshot;
use memories_recall::Limits;
use memories_store::journal::Journal;
use memories_store::journal::damage::Damage;
use memories_store::journal::entry::Entry;
use memories_store::{Store, StoreError};

/// Figures, and what could not be read for them.
#[derive(Debug)]
pub struct ReadStats {
    /// The figures.
    pub stats: Stats,
    /// Warnings about lines that could not be read.
    pub warnings: Vec<String>,
}

/// Reads the figures of a store. `file` is its name in them, `now` the present time (RFC 3339), and `visit` sees each
/// entry of the journal that is not set aside, oldest first.
///
/// # Errors
///
/// When the memory file cannot be read. A journal that cannot be read is a warning.
pub fn read(
    store: &Store,
    file: String,
    limits: &Limits,
    now: &str,
    mut visit: impl FnMut(&Entry<'_>),
) -> Result<ReadStats, StoreError> {
    let (mut tally, mut damage) = (Tally::default(), Damage::default());
    let journal = Journal::of(store);
    let aside = journal.aside().unwrap_or_default();
    let visited = journal.visit_lines(|line| {
        let entry: Option<Entry<'_>> = damage.read(&line);
        if let Some(entry) = entry.filter(|entry| !aside.has(entry.id.as_deref())) {
            visit(&entry);
            tally.count(&entry);
        }
    });
    let mut warnings: Vec<String> = damage.warning().into_iter().collect();
    warnings.extend(visited.err().map(|error| format!("{}; its turns are not counted", with_causes(&error))));
    let snapshot = Snapshot::read(store)?;
    let session = Document::parse(store.sidecar().session().ok().flatten().unwrap_or_default());
    let stats = stats(file, snapshot.document(), &session, tally, &damage, limits, now);
    Ok(ReadStats { stats, warnings })
}
