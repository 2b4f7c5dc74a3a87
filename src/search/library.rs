//! A memory file prepared for search: a snapshot, and the index of all its texts.
//!
//! A snapshot and an embedder enter, an immutable [`Library`] leaves, which any number of threads may
//! search. Texts that the stored index lacks are computed; if these are many, the index is stored again.

use std::sync::Arc;

use crate::document::grammar::Heading;
use crate::notebook::Snapshot;
use crate::search::embedder::{EmbedError, Embedder, QueryVector};
use crate::search::entries::Entries;
use crate::search::filter::Filter;
use crate::search::index::{Index, key_of, key_of_heading};
use crate::search::parsed_query::ParsedQuery;
use crate::search::ranking::{Ranked, rank};
use crate::search::results::Hit;
use crate::search::score::QueryMeaning;
use crate::search::searchable_text::{SearchableText, split_passages};
use crate::search::settings::SearchSettings;
use crate::store::{INDEX, SERVED_INDEX, Store};
use crate::types::{Memory, Scope, Status};

/// Up to this many entries, each process computes all texts anew; an index would gain less than it costs.
const WITHOUT_INDEX: usize = 250;

/// The index is written again when it lacks more than 1/STALE of the entries.
const STALE: usize = 100;

/// The index is written again when more than 1/OBSOLETE of it is of entries that are gone.
const OBSOLETE: usize = 2;

/// Size in bytes from which a file is read and its index loaded at the same time.
const LARGE: usize = 1 << 20;

/// Number of texts that a served embedder gets at once; progress is reported between.
const BATCH: usize = 256;

/// New vectors of a served embedder after which the index is written, in case that the rest fails.
const SAVE_EVERY: usize = 1024;

/// Episodes after which half of the recency is lost.
const RECENCY_HALF_LIFE: f32 = 5.0;

/// The similarities of all entries to a question.
pub(crate) struct Similarities {
    each: Vec<Ranked>,
    query: QueryVector,
}

/// A snapshot with its index.
pub(crate) struct Library {
    snapshot: Arc<Snapshot>,
    index: Index,
    /// For each entry its text in the index.
    texts: Vec<usize>,
    /// For each text of the index, true if a live entry has it.
    is_live: Vec<bool>,
}

impl Library {
    /// The library of a snapshot. A served embedder must have given a vector before: only then its
    /// dimensions and stamp are final. Without `uses_index`, the stored index is ignored.
    ///
    /// # Errors
    ///
    /// Where the embedder fails.
    pub(crate) fn open(
        store: &Store,
        snapshot: Arc<Snapshot>,
        embedder: &dyn Embedder,
        uses_index: bool,
    ) -> Result<Library, EmbedError> {
        let (stamp, dimensions, is_served) = (embedder.stamp(), embedder.dimensions(), embedder.is_served());
        let load = move || {
            let name = if is_served { SERVED_INDEX } else { INDEX };
            let bytes = uses_index.then(|| store.sidecar().index(name)).flatten()?;
            Index::read(&bytes, &stamp, dimensions)
        };
        let index = match snapshot.text().len() < LARGE {
            true => is_kept(&snapshot, embedder).then(load).flatten(),
            false => std::thread::scope(|scope| {
                let index = scope.spawn(load);
                snapshot.entries();
                index.join().ok().flatten()
            }),
        };
        Library::fill(store, snapshot, index.unwrap_or_else(|| Index::new(embedder)), embedder)
    }

    /// Looks each entry's text up in an index, adds missing ones, and stores the index if that is
    /// worth it.
    fn fill(
        store: &Store,
        snapshot: Arc<Snapshot>,
        mut index: Index,
        embedder: &dyn Embedder,
    ) -> Result<Library, EmbedError> {
        let headings: Vec<u128> = snapshot
            .section_headings()
            .map(|heading| key_of_heading(&heading.scope.to_string(), &heading.name))
            .collect();
        let entries = snapshot.entries();
        let mut texts = Vec::with_capacity(entries.len());
        let mut new: Vec<SearchableText> = Vec::new();
        let mut missing = 0;
        // Vectors of a served embedder are stored even for memories that end with the episode.
        let lasting = snapshot.lasting_entries();
        let is_lasting = |at: usize| lasting.contains(&at) || embedder.is_served();
        for (at, entry) in entries.iter().enumerate() {
            let key = key_of(headings[entry.section as usize], snapshot.entry_text(at));
            texts.push(match index.find(key) {
                Some(text) => text,
                None => {
                    let Heading { scope, name } = snapshot.heading_of(at);
                    new.push(SearchableText::of_memory(scope, name, &snapshot.memory(at)));
                    missing += usize::from(is_lasting(at));
                    index.push_key(key)
                }
            });
        }
        let name = if embedder.is_served() { SERVED_INDEX } else { INDEX };
        let keep = |index: &Index| store.keep_index(name, &index.write(embedder));
        add(&mut index, &new, embedder, &keep)?;
        debug_assert!(index.len() == index.corpus.len());
        let mut present = vec![false; index.len()];
        let mut is_live = vec![false; index.len()];
        for (at, (entry, &text)) in entries.iter().zip(&texts).enumerate() {
            present[text] |= is_lasting(at);
            is_live[text] |= entry.status != Status::Superseded;
        }
        if is_kept(&snapshot, embedder) && is_worth_keeping(&present, missing, embedder.is_served()) {
            let all = present.iter().all(|present| *present);
            let kept = if all { None } else { index.without_others(embedder, |text| present[text]) };
            keep(kept.as_ref().unwrap_or(&index));
        }
        Ok(Library { snapshot, index, texts, is_live })
    }

    /// The similarity of each entry to a question. `None` where the index is inconsistent.
    pub(crate) fn similarities(
        &self,
        question: &ParsedQuery,
        meaning: &QueryMeaning<'_>,
        second_round: bool,
    ) -> Option<Similarities> {
        let entries = self.snapshot.entries();
        let is_line = |at: usize| {
            self.snapshot.heading_of(at).scope == Scope::Dialogue && entries[at].status != Status::Superseded
        };
        let section = |at: usize| entries[at].section;
        let follows = |at: usize| is_line(at) && is_line(at - 1) && section(at) == section(at - 1);
        let entries = Entries { texts: &self.texts, live_texts: &self.is_live, follows: &follows };
        let (each, query) = rank(&self.index.corpus, question, meaning, &entries, second_round)?;
        Some(Similarities { each, query })
    }

    /// The most relevant entries that the filter wants and that reach the floor of the settings.
    pub fn choose(
        &self,
        similarities: &Similarities,
        question: &ParsedQuery,
        filter: &Filter,
        count: usize,
        settings: &SearchSettings,
    ) -> Vec<Hit> {
        let (entries, each) = (self.snapshot.entries(), &similarities.each);
        let newest = entries.iter().filter_map(|entry| entry.episode).max();
        let wanted: Vec<bool> =
            self.snapshot.section_headings().map(|heading| filter.wants_scope(&heading.scope)).collect();
        let mut candidates: Vec<usize> = (0..entries.len())
            .filter(|&at| each[at].similarity >= settings.floor)
            .filter(|&at| wanted[entries[at].section as usize] && filter.wants_status(entries[at].status))
            .collect();
        candidates.sort_by(|a, b| each[*b].strength.total_cmp(&each[*a].strength));
        let mut hits: Vec<Hit> = Vec::new();
        for at in candidates {
            let Ranked { similarity, parts, .. } = each[at];
            // No factor is above 1: a relevance is never more than its similarity.
            if count == 0 || hits.len() >= count && hits[count - 1].relevance >= similarity {
                break;
            }
            let memory = self.snapshot.memory(at);
            let Heading { scope, name } = self.snapshot.heading_of(at);
            if !filter.wants(scope, &memory) || !has_phrases(question, &memory) {
                continue;
            }
            let importance_factor =
                1.0 - settings.importance * (1.0 - f32::from(memory.importance()) / 1000.0);
            let recency_factor = recency(memory.provenance.episode, newest, settings.recency);
            let relevance = similarity * importance_factor * recency_factor;
            if relevance < settings.floor {
                continue;
            }
            let hit = Hit {
                scope: scope.clone(),
                name: name.clone(),
                place: self.snapshot.place_names().label(scope, name),
                passage: self.passage(at, &memory.text, question, &similarities.query),
                is_cut: false,
                memory,
                relevance,
                similarity,
                parts,
                importance_factor,
                recency_factor,
            };
            let place = hits.partition_point(|other| other.relevance >= relevance);
            hits.insert(place, hit);
            hits.truncate(count);
        }
        hits
    }

    /// The passage of a long text that is most similar to the question, by its vector and by the words that they
    /// share; `None` for a short text.
    fn passage(
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
    let entries = snapshot.entries().len();
    entries > WITHOUT_INDEX || entries > 0 && embedder.is_served()
}

/// True if the index is worth writing again: it lacked more than 1/STALE of the lasting texts (with
/// `always`, a single one is enough), or more than 1/OBSOLETE of it is of entries that are gone.
fn is_worth_keeping(present: &[bool], missing: usize, always: bool) -> bool {
    if always && missing > 0 {
        return true;
    }
    let lasting = present.iter().filter(|present| **present).count();
    missing * STALE > lasting || lasting * OBSOLETE < present.len()
}

fn has_phrases(question: &ParsedQuery, memory: &Memory) -> bool {
    question.phrases.is_empty() || question.phrases_are_in(&format!("{}\n{}", memory.title, memory.text))
}

/// The factor of a memory's age in episodes; without an episode it counts as new.
fn recency(episode: Option<u64>, newest: Option<u64>, weight: f32) -> f32 {
    let age = newest.unwrap_or(0).saturating_sub(episode.or(newest).unwrap_or(0));
    1.0 - weight * (1.0 - 0.5_f32.powf(age as f32 / RECENCY_HALF_LIFE))
}

/// Adds texts whose keys are in the index already. Vectors of a served embedder are stored in between, so
/// that the next process continues there if it fails.
fn add(
    index: &mut Index,
    new: &[SearchableText],
    embedder: &dyn Embedder,
    keep: &dyn Fn(&Index) -> bool,
) -> Result<(), EmbedError> {
    if !embedder.is_served() {
        return index.corpus.add(new, embedder);
    }
    let mut kept = index.corpus.len();
    for (number, texts) in new.chunks(BATCH).enumerate() {
        embedder.report(number * BATCH, new.len());
        let added = index.corpus.add(texts, embedder);
        let unkept = index.corpus.len() - kept;
        if added.is_err() && unkept > 0 || unkept >= SAVE_EVERY.max(kept / 4) {
            keep(index);
            kept = index.corpus.len();
        }
        added?;
    }
    embedder.report(new.len(), new.len());
    Ok(())
}
