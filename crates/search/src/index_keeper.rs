//! Keeps an index up to date with a file: finds the texts of entries, adds those that it lacks, and stores it.
//!
//! A snapshot and an index enter; the number of each entry's text leaves. A long addition is stored piece by piece.

use crate::embedder::{EmbedError, Embedder};
use crate::index::{Index, key_of, key_of_heading};
use crate::searchable_text::SearchableText;
use memories_document::grammar::Heading;
use memories_notebook::Snapshot;
use memories_store::{AlignedBytes, INDEX, SERVED_INDEX, Store};

/// The index is written again when it lacks more than 1/STALE of the entries.
const STALE: usize = 100;

/// The index is written again when more than 1/OBSOLETE of it is of entries that are gone.
const OBSOLETE: usize = 2;

/// Number of texts that are added at once; progress is reported between.
const BATCH: usize = 4096;

/// Number of texts that a served embedder gets at once.
const SERVED_BATCH: usize = 256;

/// New texts of a served embedder after which the index is written, in case that the rest fails.
const SAVE_SERVED_EVERY: usize = 1024;

/// New texts of the embedded model after which the index is written, in case that the process is interrupted.
const SAVE_EVERY: usize = 16_384;

/// The texts of all entries in an index.
pub(super) struct Found {
    /// For each entry the number of its text.
    pub(super) texts: Vec<usize>,
    /// The entries whose text the index lacked, in the order of their numbers.
    pub(super) missing: Vec<usize>,
}

impl Found {
    fn look_up(snapshot: &Snapshot, index: &mut Index) -> Found {
        let headings: Vec<u128> = snapshot
            .section_headings()
            .map(|heading| key_of_heading(&heading.scope.to_string(), &heading.name))
            .collect();
        let entries = snapshot.entries();
        let mut next = 0;
        let mut found = Found { texts: Vec::with_capacity(entries.len()), missing: Vec::new() };
        for (at, entry) in entries.iter().enumerate() {
            let key = key_of(headings[entry.section as usize], snapshot.entry_text(at));
            found.texts.push(index.find(key, &mut next).unwrap_or_else(|| {
                found.missing.push(at);
                index.push_key(key)
            }));
        }
        found
    }
}

/// Stores the index of a file.
pub(super) struct IndexKeeper<'a> {
    store: &'a Store,
    embedder: &'a dyn Embedder,
    /// False if the index is not worth a file.
    is_wanted: bool,
    /// Number of texts that are added at once.
    batch: usize,
    /// New texts after which the index is written.
    save_every: usize,
}

impl IndexKeeper<'_> {
    pub(super) fn new<'a>(store: &'a Store, embedder: &'a dyn Embedder, is_wanted: bool) -> IndexKeeper<'a> {
        let (batch, save_every) =
            if embedder.is_served() { (SERVED_BATCH, SAVE_SERVED_EVERY) } else { (BATCH, SAVE_EVERY) };
        IndexKeeper { store, embedder, is_wanted, batch, save_every }
    }

    /// Finds the texts of all entries in an index, and adds those that it lacks. The index is stored in between, so that
    /// the next process continues there if this one fails or is interrupted.
    pub(super) fn complete(&self, index: &mut Index, snapshot: &Snapshot) -> Result<Found, EmbedError> {
        let IndexKeeper { embedder, batch, save_every, .. } = *self;
        let found = Found::look_up(snapshot, index);
        let mut kept = index.corpus.len();
        for (number, entries) in found.missing.chunks(batch).enumerate() {
            embedder.report(number * batch, found.missing.len());
            let text = |at: &usize| {
                let Heading { scope, name } = snapshot.heading_of(*at);
                SearchableText::of_memory(scope, name, &snapshot.memory(*at))
            };
            let texts: Vec<SearchableText> = entries.iter().map(text).collect();
            let added = index.corpus.add(&texts, embedder);
            let unkept = index.corpus.len() - kept;
            let is_due = added.is_err() && unkept > 0 || unkept >= save_every.max(kept / 4);
            if is_due && self.is_wanted {
                self.keep(index, |_| true);
                kept = index.corpus.len();
            }
            added?;
        }
        embedder.report(found.missing.len(), found.missing.len());
        Ok(found)
    }

    /// True if the index is to be written again: it lacked more than 1/STALE of the lasting texts (of a served
    /// embedder, a single one), or more than 1/OBSOLETE of it is of entries that are gone.
    pub(super) fn is_due(&self, present: &[bool], missing: usize) -> bool {
        let lasting = present.iter().filter(|present| **present).count();
        let is_stale = missing * STALE > lasting || self.embedder.is_served() && missing > 0;
        self.is_wanted && is_stale || lasting * OBSOLETE < present.len()
    }

    /// Writes those texts of an index for which `wanted` holds, and stores them if they are worth a file. An index
    /// that cannot be stored is made again by the next process. `None` where the index is inconsistent.
    pub(super) fn keep(&self, index: &Index, wanted: impl Fn(usize) -> bool) -> Option<AlignedBytes> {
        let bytes = index.write(self.embedder, wanted)?;
        if self.is_wanted {
            self.store.keep_index(index_name(self.embedder), bytes.bytes());
        }
        Some(bytes)
    }
}

pub(super) fn index_name(embedder: &dyn Embedder) -> &'static str {
    if embedder.is_served() { SERVED_INDEX } else { INDEX }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::embedded::StaticModel;

    /// The embedded model, until its process is gone.
    struct Mortal {
        batches: AtomicUsize,
        limit: usize,
    }

    impl Embedder for Mortal {
        fn stamp(&self) -> String {
            StaticModel::new().stamp()
        }

        fn dimensions(&self) -> usize {
            StaticModel::new().dimensions()
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            assert!(self.batches.fetch_add(1, Ordering::Relaxed) < self.limit, "it is killed here");
            StaticModel::new().embed(texts)
        }
    }

    #[test]
    fn an_index_that_was_interrupted_is_continued() {
        const PIECE: usize = 16;
        let mut text = String::from("## World\n");
        for number in 0..100 {
            let _ = write!(text, "\n**[NOTE] Thing {number}**\nA thing x{number}q of wood.\n");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        #[allow(clippy::disallowed_methods, reason = "the file of a test")]
        std::fs::write(&path, text).unwrap();
        let store = Store::open(&path, Duration::from_secs(5)).unwrap();
        let snapshot = Snapshot::read(&store).unwrap();
        let stored = || {
            let (stamp, dimensions) = (StaticModel::new().stamp(), StaticModel::new().dimensions());
            Index::read(store.sidecar().index(INDEX)?, &stamp, dimensions)
        };
        let (mut lengths, mut batches) = (Vec::new(), 0);
        loop {
            let mortal = Mortal { batches: AtomicUsize::new(0), limit: 5 };
            let keeper =
                IndexKeeper { batch: 8, save_every: PIECE, ..IndexKeeper::new(&store, &mortal, true) };
            let mut index = stored().unwrap_or_else(|| Index::new(mortal.dimensions()));
            let end = catch_unwind(AssertUnwindSafe(|| keeper.complete(&mut index, &snapshot)));
            batches += mortal.batches.into_inner();
            if end.is_ok() {
                break;
            }
            lengths.push(stored().unwrap().len());
        }
        // Each process of five batches keeps four of them: two pieces.
        assert_eq!((lengths, batches), (vec![32, 64], 6 + 6 + 5));
    }
}
