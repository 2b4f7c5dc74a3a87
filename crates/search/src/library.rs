//! A memory file prepared for search: a snapshot, and the index of all its texts.
//!
//! A snapshot and an embedder enter, an immutable [`Library`] leaves, which any number of threads may
//! search. Texts that the stored index lacks are computed; if these are many, the index is stored again.

use std::sync::Arc;

use crate::embedder::{EmbedError, Embedder, QueryVector};
use crate::entries::Entries;
use crate::index::Index;
use crate::index_keeper::{Found, IndexKeeper, add};
use crate::parsed_query::ParsedQuery;
use crate::prepared_index::{IndexStart, PreparedIndex, is_large};
use crate::ranking::{Ranking, rank};
use crate::score::QueryMeaning;
use crate::searchable_text::split_passages;
use crate::text_statistics::TextStatistics;
use memories_document::types::{Scope, Status};
use memories_notebook::Snapshot;
use memories_store::Store;

/// Entries from which an index gains more than it costs. Below, each process computes all texts anew.
const INDEXED_ENTRIES: usize = 250;

/// Bytes of fewer entries from which it does, too.
const INDEXED_BYTES: usize = 16 * 1024;

/// A snapshot with its index.
pub(crate) struct Library {
    pub(super) snapshot: Arc<Snapshot>,
    index: Index,
    /// For each entry its text in the index.
    texts: Vec<usize>,
    /// For each text of the index, true if a live entry has it.
    is_live: Vec<bool>,
}

impl Library {
    /// The library of a snapshot. A served embedder must have given a vector before: only then its
    /// dimensions and stamp are final. The words of a large file's index are compared with a question while the
    /// file is outlined; these statistics are returned, too.
    ///
    /// # Errors
    ///
    /// Where the embedder fails.
    pub(crate) fn open(
        store: &Store,
        snapshot: Arc<Snapshot>,
        embedder: &dyn Embedder,
        start: IndexStart,
        question: &ParsedQuery,
    ) -> Result<(Library, Option<TextStatistics>), EmbedError> {
        let start = match start {
            IndexStart::Stored if !is_large(&snapshot) && !is_kept(&snapshot, embedder) => {
                IndexStart::Nothing
            }
            start => start,
        };
        let prepared = start.prepare(store, &snapshot, embedder, question);
        let new = || Index::new(embedder.dimensions());
        let prepared = prepared.unwrap_or_else(|| PreparedIndex { index: new(), statistics: None });
        Library::fill(store, snapshot, prepared, embedder)
    }

    /// Its index, for the library of the next snapshot.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Looks each entry's text up in an index, adds missing ones, and stores the index if that is
    /// worth it.
    fn fill(
        store: &Store,
        snapshot: Arc<Snapshot>,
        prepared: PreparedIndex,
        embedder: &dyn Embedder,
    ) -> Result<(Library, Option<TextStatistics>), EmbedError> {
        let PreparedIndex { mut index, mut statistics } = prepared;
        let keeper = IndexKeeper::new(store, embedder, is_kept(&snapshot, embedder));
        let mut found = Found::look_up(&snapshot, &mut index);
        add(&snapshot, &found.missing, &mut index, &keeper)?;
        // Vectors of a served embedder are stored even for memories that end with the episode.
        let lasting = snapshot.lasting_entries();
        let is_lasting = |at: usize| lasting.contains(&at) || embedder.is_served();
        let mut present = vec![false; index.len()];
        found.texts.iter().enumerate().for_each(|(at, text)| present[*text] |= is_lasting(at));
        let missing = found.missing.iter().filter(|at| is_lasting(**at)).count();
        if keeper.is_due(&present, missing)
            && let Some(bytes) = keeper.keep(&index, |text| present[text])
            && let Some(stored) = Index::read(bytes, &embedder.stamp(), embedder.dimensions())
        {
            // From here on this process goes on as the next one will: without texts that are gone.
            (index, statistics) = (stored, None);
            found = Found::look_up(&snapshot, &mut index);
            add(&snapshot, &found.missing, &mut index, &keeper)?;
        }
        let mut is_live = vec![false; index.len()];
        for (entry, &text) in snapshot.entries().iter().zip(&found.texts) {
            is_live[text] |= entry.status != Status::Superseded;
        }
        Ok((Library { snapshot, index, texts: found.texts, is_live }, statistics))
    }

    /// The similarity of each entry to a question. `None` where the index is inconsistent.
    pub(crate) fn similarities(
        &self,
        question: &ParsedQuery,
        meaning: &QueryMeaning<'_>,
        second_round: bool,
        statistics: Option<TextStatistics>,
    ) -> Option<Ranking> {
        let entries = self.snapshot.entries();
        let is_line = |at: usize| {
            self.snapshot.heading_of(at).scope == Scope::Dialogue && entries[at].status != Status::Superseded
        };
        let section = |at: usize| entries[at].section;
        let follows = |at: usize| is_line(at) && is_line(at - 1) && section(at) == section(at - 1);
        let entries = Entries { texts: &self.texts, live_texts: &self.is_live, follows: &follows };
        let corpus = &self.index.corpus;
        rank(corpus, question, meaning, &entries, second_round, statistics)
    }

    /// The passage of a long text that is most similar to the question, by its vector and by the words that they
    /// share; `None` for a short text.
    pub(super) fn passage(
        &self,
        entry: usize,
        text: &str,
        question: &ParsedQuery,
        query: &QueryVector,
    ) -> Option<String> {
        let passages = split_passages(text);
        let cosines = self.index.corpus.passage_cosines(self.texts[entry], passages.len(), query);
        let value = |at: &usize| cosines[*at] + question.share_in(passages[*at]);
        let best = (0..passages.len()).max_by(|a, b| value(a).total_cmp(&value(b)).then(b.cmp(a)))?;
        Some(passages[best].to_owned())
    }
}

/// True if the index of a snapshot is stored at all.
fn is_kept(snapshot: &Snapshot, embedder: &dyn Embedder) -> bool {
    let entries = snapshot.entries();
    let bytes = || entries.iter().map(|entry| entry.range.len()).sum::<usize>();
    let is_large = || entries.len() >= INDEXED_ENTRIES || bytes() >= INDEXED_BYTES;
    !entries.is_empty() && (embedder.is_served() || is_large())
}
