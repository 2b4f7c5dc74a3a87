//! Search by meaning: which memories answer a question, and how sure that is.
//!
//! A question enters with a memory file; memories leave, the most relevant first, each with a number
//! from 0 to 1. The flow is [`query`]: outline the file → look each entry's text up in the index,
//! compute what is not there → score all → filter, from the likest down. It always holds that
//!
//! * a relevance depends on the file, the question and the settings: not on filters, not on whether
//!   there is an index, not on what else was found;
//! * nothing is written but the index, which may be lost, stale or damaged without any harm;
//! * only what is shown is read in full.

pub mod corpus;
pub mod embedded;
pub mod embedder;
pub mod filter;
pub mod index;
pub mod likeness;
pub mod question;
pub mod score;
pub mod served;
pub mod top;
mod vocabulary;
pub mod words;

use crate::document::grammar::Heading;
use crate::document::outline::{EntrySpan, outline};
use crate::memory::{Memory, Persistence, Scope, Status};
use crate::store::{INDEX, SERVED_INDEX, Store, StoreError};

use corpus::Text;
use embedded::StaticModel;
use embedder::{EmbedError, Embedder};
use filter::Filter;
use index::{Index, key_of, key_of_heading};
use question::{Question, Synonyms};
use score::{Parts, score, with_neighbours};

/// Up to so many entries are computed anew for each question; an index would gain less than it costs.
const WITHOUT_INDEX: usize = 250;

/// An index is written again when more than this part of the entries is missing in it …
const STALE: usize = 100;

/// … or more than this part of it is of entries that are gone.
const GONE: usize = 2;

/// From so many bytes on, a file and its index are read at the same time.
const LARGE: usize = 1 << 20;

/// Of fourteen questions about quite other things, asked of the memories of five episodes of Zork, thirteen
/// found nothing as relevant as this; of eighteen that had an answer there, one.
const FLOOR: f32 = 0.15;
/// So many texts are handed to a server's embedder at once; between them it may be seen how far it is.
const AT_ONCE: usize = 256;

/// Their vectors are kept at least each time that so many are new.
const KEPT_AT_LEAST_EACH: usize = 1024;

/// How questions are answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What is less relevant is not shown.
    pub floor: f32,
    /// Groups of single words that mean the same …
    pub synonyms: Vec<Vec<String>>,
    /// … and those that players of text games use.
    pub common_synonyms: bool,
    /// So much of its relevance a memory of importance 0 loses.
    pub importance: f32,
    /// So much of its relevance a memory loses that is many episodes old.
    pub recency: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            floor: FLOOR,
            synonyms: Vec::new(),
            common_synonyms: true,
            importance: 0.06,
            recency: 0.02,
        }
    }
}

impl Settings {
    /// The table of synonyms. Made when it is needed: other commands have settings too.
    pub fn all_synonyms(&self) -> Synonyms {
        let common = if self.common_synonyms { Synonyms::default() } else { Synonyms::none() };
        common.with(self.synonyms.iter().cloned())
    }
}

/// Half of what recency counts is lost after so many episodes.
const RECENCY_HALF_LIFE: f32 = 5.0;

/// A memory that answers a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it stands.
    pub scope: Scope,
    /// The name of that place or character; may be empty.
    pub name: String,
    /// What it says.
    pub memory: Memory,
    /// From 0 to 1: likeness × importance × recency.
    pub relevance: f32,
    /// How like the question it is, from 0 to 1.
    pub likeness: f32,
    /// What the likeness is made of; that of neighbouring lines of dialogue is not in them.
    pub parts: Parts,
    /// The factor of its importance, at most 1.
    pub importance_factor: f32,
    /// The factor of its age, at most 1.
    pub recency_factor: f32,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What answers it, the most relevant first.
    pub hits: Vec<Hit>,
    /// How many entries there are in all, superseded ones too.
    pub entries: usize,
    /// The question, taken apart.
    pub question: Question,
    /// Why the embedded model answered in place of the one that was asked.
    pub fallback: Option<EmbedError>,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Nothing but white space and marks.
    #[error("the question has no word in it")]
    EmptyQuestion,
    /// The file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question or a memory got no vector.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Finds the `most` relevant memories that the filter wants. Where the embedder fails and may be
/// replaced, the embedded one does all of it: vectors of two embedders are never compared.
///
/// # Errors
///
/// See [`SearchError`].
pub fn query(
    store: &Store,
    question: &str,
    filter: &Filter,
    most: usize,
    settings: &Settings,
    embedder: &dyn Embedder,
) -> Result<Answer, SearchError> {
    match query_with(store, question, filter, most, settings, embedder) {
        Err(SearchError::Embed(error)) if embedder.falls_back() => {
            let answer = query_with(store, question, filter, most, settings, &StaticModel::new())?;
            Ok(Answer { fallback: Some(error), ..answer })
        }
        result => result,
    }
}

fn query_with(
    store: &Store,
    question: &str,
    filter: &Filter,
    most: usize,
    settings: &Settings,
    embedder: &dyn Embedder,
) -> Result<Answer, SearchError> {
    let question = Question::parse(question, &settings.all_synonyms()).ok_or(SearchError::EmptyQuestion)?;
    let is_served = embedder.is_served();
    let name = if is_served { SERVED_INDEX } else { INDEX };
    let is_kept = |entries: &Entries<'_>| is_served || entries.spans.len() > WITHOUT_INDEX;
    let kept = |stamp: &str, dimensions| Index::read(&store.sidecar().index(name)?, stamp, dimensions);
    let file = store.read()?.unwrap_or_default();
    let session = store.sidecar().session()?.unwrap_or_default();
    let entries_of = || Entries::of(&file, &session);
    let (entries, index) = if is_served || file.len() < LARGE {
        let entries = entries_of();
        if entries.spans.is_empty() {
            return Ok(Answer { hits: Vec::new(), entries: 0, question, fallback: None });
        }
        if is_served {
            // Only a vector tells what the vectors of a server are like, and whether it is there.
            embedder.embed_question(&question.text)?;
        }
        let index = if is_kept(&entries) { kept(&embedder.stamp(), embedder.dimensions()) } else { None };
        (entries, index)
    } else {
        let (stamp, dimensions) = (embedder.stamp(), embedder.dimensions());
        std::thread::scope(|scope| {
            let index = scope.spawn(move || kept(&stamp, dimensions));
            let entries = entries_of();
            (entries, index.join().ok().flatten())
        })
    };
    let keep = |index: &Index| store.keep_index(name, &index.write(embedder));
    let found = match index {
        Some(index) => search(&entries, index, &question, embedder, &keep)?,
        None => None,
    };
    let found = match found {
        Some(found) => found,
        None => {
            let found = search(&entries, Index::new(embedder), &question, embedder, &keep)?;
            found.expect("a corpus of our own makes sense")
        }
    };
    if is_kept(&entries) && found.is_worth_keeping(is_served) {
        let all = found.present.iter().all(|present| *present);
        let kept = if all { None } else { found.index.without_others(embedder, |text| found.present[text]) };
        keep(kept.as_ref().unwrap_or(&found.index));
    }
    let hits = entries.choose(&found.likenesses(&entries), &question, filter, most, settings);
    Ok(Answer { hits, entries: entries.spans.len(), question, fallback: None })
}

/// The entries of a file and of its session.
struct Entries<'a> {
    headings: Vec<Heading>,
    spans: Vec<EntrySpan<'a>>,
    /// So many come from the file itself; the others end with the episode.
    lasting: usize,
}

impl<'a> Entries<'a> {
    fn of(file: &'a str, session: &'a str) -> Entries<'a> {
        let mut all = outline(file);
        let lasting = all.entries.len();
        let more = outline(session);
        let headings = all.headings.len() as u32;
        all.entries.extend(
            more.entries.into_iter().map(|entry| EntrySpan { heading: entry.heading + headings, ..entry }),
        );
        all.headings.extend(more.headings);
        Entries { headings: all.headings, spans: all.entries, lasting }
    }

    fn heading(&self, entry: usize) -> &Heading {
        &self.headings[self.spans[entry].heading as usize]
    }

    fn read(&self, entry: usize) -> Memory {
        let memory = self.spans[entry].read();
        if entry < self.lasting { memory } else { Memory { persistence: Persistence::Ephemeral, ..memory } }
    }

    fn text(&self, entry: usize) -> Text {
        let Heading { scope, name } = self.heading(entry);
        Text::of_memory(scope, name, &self.spans[entry].read())
    }

    /// The most relevant of those that are wanted and not below the floor.
    fn choose(
        &self,
        likenesses: &[(f32, Parts)],
        question: &Question,
        filter: &Filter,
        most: usize,
        settings: &Settings,
    ) -> Vec<Hit> {
        let newest = self.spans.iter().filter_map(|span| span.episode).max();
        let wanted: Vec<bool> =
            self.headings.iter().map(|heading| filter.wants_scope(&heading.scope)).collect();
        let mut candidates: Vec<usize> = (0..self.spans.len())
            .filter(|&at| likenesses[at].1.likeness() >= settings.floor)
            .filter(|&at| {
                wanted[self.spans[at].heading as usize] && filter.wants_status(self.spans[at].status)
            })
            .collect();
        candidates.sort_by(|a, b| likenesses[*b].0.total_cmp(&likenesses[*a].0));
        let mut hits: Vec<Hit> = Vec::new();
        for at in candidates {
            let (likeness, parts) = likenesses[at];
            // No factor is above 1: what follows is no more relevant than it is like.
            if most == 0 || hits.len() >= most && hits[most - 1].relevance >= likeness {
                break;
            }
            let memory = self.read(at);
            let Heading { scope, name } = self.heading(at);
            if !filter.wants(scope, &memory) || !has_phrases(question, &memory) {
                continue;
            }
            let importance_factor =
                1.0 - settings.importance * (1.0 - f32::from(memory.importance()) / 1000.0);
            let recency_factor = recency(memory.provenance.episode, newest, settings.recency);
            let relevance = likeness * importance_factor * recency_factor;
            if relevance < settings.floor {
                continue;
            }
            let (scope, name) = (scope.clone(), name.clone());
            let hit =
                Hit { scope, name, memory, relevance, likeness, parts, importance_factor, recency_factor };
            let place = hits.partition_point(|other| other.relevance >= relevance);
            hits.insert(place, hit);
            hits.truncate(most);
        }
        hits
    }
}

fn has_phrases(question: &Question, memory: &Memory) -> bool {
    question.phrases.is_empty() || question.phrases_are_in(&format!("{}\n{}", memory.title, memory.text))
}

/// The factor of a memory's age in episodes; what has none is not old.
fn recency(episode: Option<u64>, newest: Option<u64>, weight: f32) -> f32 {
    let age = newest.unwrap_or(0).saturating_sub(episode.or(newest).unwrap_or(0));
    1.0 - weight * (1.0 - 0.5_f32.powf(age as f32 / RECENCY_HALF_LIFE))
}

/// What is known of all entries after a search.
struct Found {
    index: Index,
    /// For each entry its text in the index.
    texts: Vec<usize>,
    /// For each text of the index whether a lasting entry has it.
    present: Vec<bool>,
    parts: Vec<Parts>,
    /// How many lasting entries' texts were not in the index.
    missing: usize,
}

/// Scores all entries. `None` where the index makes no sense.
fn search(
    entries: &Entries<'_>,
    mut index: Index,
    question: &Question,
    embedder: &dyn Embedder,
    keep: &dyn Fn(&Index) -> bool,
) -> Result<Option<Found>, EmbedError> {
    let headings: Vec<u128> = entries
        .headings
        .iter()
        .map(|heading| key_of_heading(&heading.scope.to_string(), &heading.name))
        .collect();
    let mut texts = Vec::with_capacity(entries.spans.len());
    let mut new: Vec<Text> = Vec::new();
    let mut missing = 0;
    // What costs much is kept even of what ends with the episode.
    let is_lasting = |at: usize| at < entries.lasting || embedder.is_served();
    for (at, span) in entries.spans.iter().enumerate() {
        let key = key_of(headings[span.heading as usize], span.text);
        texts.push(match index.find(key) {
            Some(text) => text,
            None => {
                new.push(entries.text(at));
                missing += usize::from(is_lasting(at));
                index.push_key(key)
            }
        });
    }
    add(&mut index, &new, embedder, keep)?;
    debug_assert!(index.len() == index.corpus().len());
    let mut present = vec![false; index.len()];
    let mut counts = vec![false; index.len()];
    for (at, (span, &text)) in entries.spans.iter().zip(&texts).enumerate() {
        present[text] |= is_lasting(at);
        counts[text] |= span.status != Status::Superseded;
    }
    let parts = score(index.corpus(), question, embedder, |text| counts[text])?;
    Ok(parts.map(|parts| Found { index, texts, present, parts, missing }))
}

/// Adds texts that have their keys already. Vectors that cost much are kept on the way: what fails or
/// is stopped in between goes on there the next time.
fn add(
    index: &mut Index,
    new: &[Text],
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

impl Found {
    /// `each`: what is missing at all makes it so.
    fn is_worth_keeping(&self, each: bool) -> bool {
        if each && self.missing > 0 {
            return true;
        }
        let present = self.present.iter().filter(|present| **present).count();
        self.missing * STALE > present || present * GONE < self.index.len()
    }

    /// The likeness of each entry with its parts. A line of dialogue also lives by its neighbours.
    fn likenesses(&self, entries: &Entries<'_>) -> Vec<(f32, Parts)> {
        let parts: Vec<Parts> = self.texts.iter().map(|&text| self.parts[text]).collect();
        let own: Vec<f32> = parts.iter().map(Parts::likeness).collect();
        let is_line = |at: usize| {
            entries.heading(at).scope == Scope::Dialogue && entries.spans[at].status != Status::Superseded
        };
        let heading = |at: usize| entries.spans[at].heading;
        let all =
            with_neighbours(&own, |at| is_line(at) && is_line(at - 1) && heading(at) == heading(at - 1));
        all.into_iter().zip(parts).collect()
    }
}
