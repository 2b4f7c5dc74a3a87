//! A memory file as it is searched: its entries, and the index in which all their texts are.
//!
//! A store and an embedder enter, and a [`Library`] leaves; questions enter that, and hits leave. A
//! library holds for the file as it was read, for as many questions as are asked. Texts that the kept
//! index lacks are computed; where these are many, the index is kept again.

use crate::document::grammar::Heading;
use crate::search::embedder::{EmbedError, Embedder, QueryVector};
use crate::search::entries::Entries;
use crate::search::filter::Filter;
use crate::search::index::{Index, key_of, key_of_heading};
use crate::search::parsed_query::ParsedQuery;
use crate::search::score::{SimilarityParts, score, with_neighbours};
use crate::search::searchable_text::{SearchableText, split_passages};
use crate::search::{Hit, Settings};
use crate::store::{INDEX, Reading, SERVED_INDEX, Store, StoreError};
use crate::types::{Memory, Scope, Status};

/// Up to so many entries are computed anew for each question; an index would gain less than it costs.
const WITHOUT_INDEX: usize = 250;

/// An index is written again when more than this part of the entries is missing in it …
const STALE: usize = 100;

/// … or more than this part of it is of entries that are gone.
const GONE: usize = 2;

/// From so many bytes on, a file and its index are read at the same time.
const LARGE: usize = 1 << 20;

/// So many texts are handed to a server's embedder at once; between them it may be seen how far it is.
const AT_ONCE: usize = 256;

/// Their vectors are kept at least each time that so many are new.
const KEPT_AT_LEAST_EACH: usize = 1024;

/// Half of what recency counts is lost after so many episodes.
const RECENCY_HALF_LIFE: f32 = 5.0;

/// How like all entries are to a question.
pub struct Similarities {
    /// The similarity of each entry, and what it is made of.
    each: Vec<(f32, SimilarityParts)>,
    /// The question's vector.
    question: QueryVector,
}

/// All that questions are answered from.
pub struct Library {
    entries: Entries,
    index: Index,
    /// For each entry its text in the index.
    texts: Vec<usize>,
    /// For each text of the index whether a live entry has it.
    counts: Vec<bool>,
}

impl Library {
    /// The library of what was read, and the vector of a question, which is made on the way: only with a
    /// vector it is known what those of a server are like. Where there are no entries nothing is asked.
    ///
    /// # Errors
    ///
    /// Where the embedder fails.
    pub fn open(
        store: &Store,
        reading: Reading,
        question: &ParsedQuery,
        embedder: &dyn Embedder,
    ) -> Result<(Library, Vec<f32>), EmbedError> {
        if embedder.is_served() || reading.file.len() < LARGE {
            let entries = Entries::of(reading);
            if entries.spans.is_empty() {
                return Ok((Library::fill(store, entries, Index::new(embedder), embedder)?, Vec::new()));
            }
            let vector = embedder.embed_query(&question.text)?;
            let index = match is_kept(&entries, embedder) {
                true => kept_index(store, embedder.is_served(), &embedder.stamp(), embedder.dimensions()),
                false => None,
            };
            let index = index.unwrap_or_else(|| Index::new(embedder));
            return Ok((Library::fill(store, entries, index, embedder)?, vector));
        }
        let (stamp, dimensions) = (embedder.stamp(), embedder.dimensions());
        let (entries, index) = std::thread::scope(|scope| {
            let index = scope.spawn(move || kept_index(store, false, &stamp, dimensions));
            let entries = Entries::of(reading);
            (entries, index.join().ok().flatten())
        });
        let index = index.unwrap_or_else(|| Index::new(embedder));
        let library = Library::fill(store, entries, index, embedder)?;
        Ok((library, embedder.embed_query(&question.text)?))
    }

    /// The same without the index that is kept: it made no sense.
    ///
    /// # Errors
    ///
    /// Where the embedder fails.
    pub fn renew(&mut self, store: &Store, embedder: &dyn Embedder) -> Result<(), EmbedError> {
        let entries = std::mem::take(&mut self.entries);
        *self = Library::fill(store, entries, Index::new(embedder), embedder)?;
        Ok(())
    }

    /// Looks each entry's text up in an index, adds what is missing there, and keeps it where that is
    /// worth it.
    fn fill(
        store: &Store,
        entries: Entries,
        mut index: Index,
        embedder: &dyn Embedder,
    ) -> Result<Library, EmbedError> {
        let headings: Vec<u128> = entries
            .headings
            .iter()
            .map(|heading| key_of_heading(&heading.scope.to_string(), &heading.name))
            .collect();
        let mut texts = Vec::with_capacity(entries.spans.len());
        let mut new: Vec<SearchableText> = Vec::new();
        let mut missing = 0;
        // What costs much is kept even of what ends with the episode.
        let is_lasting = |at: usize| at < entries.lasting || embedder.is_served();
        for (at, span) in entries.spans.iter().enumerate() {
            let key = key_of(headings[span.heading as usize], entries.source(at));
            texts.push(match index.find(key) {
                Some(text) => text,
                None => {
                    new.push(entries.text(at));
                    missing += usize::from(is_lasting(at));
                    index.push_key(key)
                }
            });
        }
        let name = if embedder.is_served() { SERVED_INDEX } else { INDEX };
        let keep = |index: &Index| store.keep_index(name, &index.write(embedder));
        add(&mut index, &new, embedder, &keep)?;
        debug_assert!(index.len() == index.corpus().len());
        let mut present = vec![false; index.len()];
        let mut counts = vec![false; index.len()];
        for (at, (span, &text)) in entries.spans.iter().zip(&texts).enumerate() {
            present[text] |= is_lasting(at);
            counts[text] |= span.status != Status::Superseded;
        }
        if is_kept(&entries, embedder) && is_worth_keeping(&present, missing, embedder.is_served()) {
            let all = present.iter().all(|present| *present);
            let kept = if all { None } else { index.without_others(embedder, |text| present[text]) };
            keep(kept.as_ref().unwrap_or(&index));
        }
        Ok(Library { entries, index, texts, counts })
    }

    /// How many entries there are, superseded ones too.
    pub fn len(&self) -> usize {
        self.entries.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.spans.is_empty()
    }

    /// The similarity of each entry to a question with that vector; `unrelated` as its embedder says. A
    /// line of dialogue also lives by its neighbours. `None` where the index makes no sense.
    pub fn similarities(
        &self,
        question: &ParsedQuery,
        vector: &[f32],
        unrelated: f32,
    ) -> Option<Similarities> {
        let parts = score(self.index.corpus(), question, vector, unrelated, |text| self.counts[text])?;
        let parts: Vec<SimilarityParts> = self.texts.iter().map(|&text| parts[text]).collect();
        let own: Vec<f32> = parts.iter().map(SimilarityParts::similarity).collect();
        let entries = &self.entries;
        let is_line = |at: usize| {
            entries.heading(at).scope == Scope::Dialogue && entries.spans[at].status != Status::Superseded
        };
        let heading = |at: usize| entries.spans[at].heading;
        let all =
            with_neighbours(&own, |at| is_line(at) && is_line(at - 1) && heading(at) == heading(at - 1));
        Some(Similarities { each: all.into_iter().zip(parts).collect(), question: QueryVector::new(vector) })
    }

    /// The most relevant of those that are wanted and not below the floor.
    pub fn choose(
        &self,
        similarities: &Similarities,
        question: &ParsedQuery,
        filter: &Filter,
        most: usize,
        settings: &Settings,
    ) -> Vec<Hit> {
        let (entries, each) = (&self.entries, &similarities.each);
        let newest = entries.spans.iter().filter_map(|span| span.episode).max();
        let wanted: Vec<bool> =
            entries.headings.iter().map(|heading| filter.wants_scope(&heading.scope)).collect();
        let mut candidates: Vec<usize> = (0..entries.spans.len())
            .filter(|&at| each[at].1.similarity() >= settings.floor)
            .filter(|&at| {
                wanted[entries.spans[at].heading as usize] && filter.wants_status(entries.spans[at].status)
            })
            .collect();
        candidates.sort_by(|a, b| each[*b].0.total_cmp(&each[*a].0));
        let mut hits: Vec<Hit> = Vec::new();
        for at in candidates {
            let (similarity, parts) = each[at];
            // No factor is above 1: what follows is no more relevant than it is like.
            if most == 0 || hits.len() >= most && hits[most - 1].relevance >= similarity {
                break;
            }
            let memory = entries.read(at);
            let Heading { scope, name } = entries.heading(at);
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
            let (scope, name) = (scope.clone(), name.clone());
            let passage = self.passage(at, &memory.text, &similarities.question);
            let hit = Hit {
                scope,
                name,
                memory,
                passage,
                relevance,
                similarity,
                parts,
                importance_factor,
                recency_factor,
            };
            let place = hits.partition_point(|other| other.relevance >= relevance);
            hits.insert(place, hit);
            hits.truncate(most);
        }
        hits
    }

    /// Of an entry's text, where it is long, the part most like a question.
    fn passage(&self, entry: usize, text: &str, question: &QueryVector) -> Option<String> {
        let passages = split_passages(text);
        let best = self.index.corpus().best_passage(self.texts[entry], passages.len(), question)?;
        Some(passages[best].to_owned())
    }

    /// Whether the file and its session still are what was read.
    ///
    /// # Errors
    ///
    /// Where that cannot be seen.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        self.entries.is_current()
    }
}

/// Whether an index of them is kept.
fn is_kept(entries: &Entries, embedder: &dyn Embedder) -> bool {
    embedder.is_served() || entries.spans.len() > WITHOUT_INDEX
}

/// The index that is kept.
fn kept_index(store: &Store, is_served: bool, stamp: &str, dimensions: usize) -> Option<Index> {
    let name = if is_served { SERVED_INDEX } else { INDEX };
    Index::read(&store.sidecar().index(name)?, stamp, dimensions)
}

/// Whether an index is to be kept in which so many lasting texts were missing. `each`: what is missing
/// at all makes it so.
fn is_worth_keeping(present: &[bool], missing: usize, each: bool) -> bool {
    if each && missing > 0 {
        return true;
    }
    let lasting = present.iter().filter(|present| **present).count();
    missing * STALE > lasting || lasting * GONE < present.len()
}

fn has_phrases(question: &ParsedQuery, memory: &Memory) -> bool {
    question.phrases.is_empty() || question.phrases_are_in(&format!("{}\n{}", memory.title, memory.text))
}

/// The factor of a memory's age in episodes; what has none is not old.
fn recency(episode: Option<u64>, newest: Option<u64>, weight: f32) -> f32 {
    let age = newest.unwrap_or(0).saturating_sub(episode.or(newest).unwrap_or(0));
    1.0 - weight * (1.0 - 0.5_f32.powf(age as f32 / RECENCY_HALF_LIFE))
}

/// Adds texts that have their keys already. Vectors that cost much are kept on the way: what fails or
/// is stopped in between goes on there the next time.
fn add(
    index: &mut Index,
    new: &[SearchableText],
    embedder: &dyn Embedder,
    keep: &dyn Fn(&Index) -> bool,
) -> Result<(), EmbedError> {
    if !embedder.is_served() {
        return index.corpus_mut().add(new, embedder);
    }
    let mut kept = index.corpus().len();
    for (number, texts) in new.chunks(AT_ONCE).enumerate() {
        embedder.report(number * AT_ONCE, new.len());
        let added = index.corpus_mut().add(texts, embedder);
        let unkept = index.corpus().len() - kept;
        if added.is_err() && unkept > 0 || unkept >= KEPT_AT_LEAST_EACH.max(kept / 4) {
            keep(index);
            kept = index.corpus().len();
        }
        added?;
    }
    embedder.report(new.len(), new.len());
    Ok(())
}
