//! The index that a library begins with, and the comparison of its texts with the first question.
//!
//! Reading a large file and finding its entries takes as long as reading its index and comparing all words with a
//! question, so two threads do that side by side.

use std::sync::Arc;

use crate::embedder::Embedder;
use crate::index::Index;
use crate::index_keeper::index_name;
use crate::parsed_query::ParsedQuery;
use crate::text_statistics::TextStatistics;
use memories_notebook::{SharedSnapshot, Snapshot};
use memories_store::{Store, StoreError};

/// Size in bytes from which a file is read and its index loaded at the same time.
const LARGE: usize = 1 << 20;

/// Entries from which an index gains more than it costs. Below, each process computes all texts anew.
const INDEXED_ENTRIES: usize = 250;

/// Bytes of fewer entries from which it does, too.
const INDEXED_BYTES: usize = 16 * 1024;

/// An index whose stored texts were compared with a question.
pub(super) struct PreparedIndex {
    pub(super) index: Index,
    /// `None` where it has no stored texts, or where they are inconsistent.
    pub(super) statistics: Option<TextStatistics>,
}

impl PreparedIndex {
    /// Reads the stored index; `None` where there is none for that embedder.
    fn read(store: &Store, embedder: &dyn Embedder, question: &ParsedQuery) -> Option<PreparedIndex> {
        let bytes = store.sidecar().index(index_name(embedder))?;
        let index = Index::read(bytes, &embedder.stamp(), embedder.dimensions())?;
        Some(PreparedIndex::of(index, question))
    }

    fn of(index: Index, question: &ParsedQuery) -> PreparedIndex {
        PreparedIndex { statistics: TextStatistics::of_stored(&index.corpus, question), index }
    }
}

/// An index for the library of a snapshot, prepared for a question while the entries of a large snapshot are found:
/// that of the library of the snapshot before, else the stored one. `None` where there is none, or none is worth a file.
pub(super) fn prepare(
    store: &Store,
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    question: &ParsedQuery,
    before: Option<&Index>,
) -> Option<PreparedIndex> {
    let is_large = snapshot.text().len() >= LARGE;
    let prepare = || match before {
        Some(before) => Some(PreparedIndex::of(before.clone(), question)),
        None if is_large || is_kept(snapshot, embedder) => PreparedIndex::read(store, embedder, question),
        None => None,
    };
    if !is_large {
        return prepare();
    }
    std::thread::scope(|scope| {
        let prepared = scope.spawn(prepare);
        snapshot.entries();
        prepared.join().ok().flatten()
    })
}

/// True if the index of a snapshot is stored at all.
pub(super) fn is_kept(snapshot: &Snapshot, embedder: &dyn Embedder) -> bool {
    let entries = snapshot.entries();
    let bytes = || entries.iter().map(|entry| entry.range.len()).sum::<usize>();
    let is_large = || entries.len() >= INDEXED_ENTRIES || bytes() >= INDEXED_BYTES;
    !entries.is_empty() && (embedder.is_served() || is_large())
}

/// Reads a file, and, if it is large, its stored index at the same time.
pub(super) fn read_with_index(
    files: &SharedSnapshot,
    embedder: &dyn Embedder,
    question: &ParsedQuery,
) -> Result<(Arc<Snapshot>, Option<PreparedIndex>), StoreError> {
    if files.store().size() < LARGE as u64 {
        return Ok((files.current()?, None));
    }
    std::thread::scope(|scope| {
        let prepared = scope.spawn(|| PreparedIndex::read(files.store(), embedder, question));
        let snapshot = files.current()?;
        snapshot.entries();
        Ok((snapshot, prepared.join().ok().flatten()))
    })
}
