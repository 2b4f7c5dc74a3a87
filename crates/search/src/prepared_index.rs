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

/// The index that a library begins with.
pub(super) enum IndexStart {
    /// The one that is stored beside the file.
    Stored,
    /// The one that was read beside the file.
    Prepared(Box<PreparedIndex>),
    /// The index of an earlier library of the same file and embedder.
    From(Box<Index>),
    /// None.
    Nothing,
}

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

impl IndexStart {
    /// The index, prepared for a question while the entries of a large snapshot are found; `None` where there is none.
    pub(super) fn prepare(
        self,
        store: &Store,
        snapshot: &Snapshot,
        embedder: &dyn Embedder,
        question: &ParsedQuery,
    ) -> Option<PreparedIndex> {
        let prepare = || match self {
            IndexStart::Prepared(prepared) => Some(*prepared),
            IndexStart::From(index) => Some(PreparedIndex::of(*index, question)),
            IndexStart::Stored => PreparedIndex::read(store, embedder, question),
            IndexStart::Nothing => None,
        };
        if !is_large(snapshot) {
            return prepare();
        }
        std::thread::scope(|scope| {
            let prepared = scope.spawn(prepare);
            snapshot.entries();
            prepared.join().ok().flatten()
        })
    }
}

/// True if finding the entries of a file is worth a thread.
pub(super) fn is_large(snapshot: &Snapshot) -> bool {
    snapshot.text().len() >= LARGE
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
