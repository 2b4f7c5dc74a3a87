//! A memory file prepared for search: a snapshot, and the index of all its texts.
//!
//! A snapshot and an embedder enter, an immutable [`Library`] leaves, which any number of threads may
//! search. Texts that the stored index lacks are computed; if these are many, the index is stored again.

use std::sync::Arc;

use crate::embedder::{EmbedError, Embedder, QueryVector};
use crate::entries::Entries;
use crate::index::Index;
use crate::index_keeper::IndexKeeper;
use crate::parsed_query::ParsedQuery;
use crate::prepared_index::{PreparedIndex, is_kept};
use crate::ranking::{Ranking, rank};
use crate::score::QueryMeaning;
use crate::searchable_text::split_passages;
use crate::text_statistics::TextStatistics;
use memories_document::types::{Scope, Status};
use memories_notebook::Snapshot;
use memories_store::Store;

/// A snapshot with its index.
pub(crate) struct Library {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) index: Index,
    /// For each entry its text in the index.
    texts: Vec<usize>,
    /// For each text of the index, true if a live entry has it.
    is_live: Vec<bool>,
}

impl Library {
    /// The library of a snapshot: looks each entry's text up in an index, a new one where none is prepared, adds
    /// missing ones, and stores the index if that is worth it. A served embedder must have given a vector before: only
    /// then its dimensions and stamp are final. Where the index remains, its statistics are returned, too.
    ///
    /// # Errors
    ///
    /// Where the embedder fails.
    pub(crate) fn open(
        store: &Store,
        snapshot: Arc<Snapshot>,
        embedder: &dyn Embedder,
        prepared: Option<PreparedIndex>,
    ) -> Result<(Library, Option<TextStatistics>), EmbedError> {
        let new = || PreparedIndex { index: Index::new(embedder.dimensions()), statistics: None };
        let PreparedIndex { mut index, mut statistics } = prepared.unwrap_or_else(new);
        let keeper = IndexKeeper::new(store, embedder, is_kept(&snapshot, embedder));
        let mut found = keeper.complete(&mut index, &snapshot)?;
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
            found = keeper.complete(&mut index, &snapshot)?;
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
