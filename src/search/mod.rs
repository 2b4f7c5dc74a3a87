//! Search by meaning: which memories answer a question, and how sure that is.
//!
//! A question enters with a memory file; memories leave, the most relevant first, each with a number
//! from 0 to 1. The flow is [`query`]: outline the file → look each entry's text up in the index,
//! compute what is not there → score all → filter, from the likest down. Who asks often keeps all that in a
//! [`Searcher`]. It always holds that
//!
//! * a relevance depends on the file, the question and the settings: not on filters, not on whether
//!   there is an index, not on what else was found;
//! * nothing is written but the index, which may be lost, stale or damaged without any harm;
//! * only what is shown is read in full.

mod canonical_questions;
pub mod corpus;
pub mod embedded;
pub mod embedder;
mod entries;
pub mod filter;
pub mod index;
mod library;
pub mod parsed_query;
pub mod score;
pub mod searchable_text;
mod searcher;
pub mod served;
pub mod similar_pairs;
pub mod similarity;
pub mod top;
mod vocabulary;
pub mod words;

use crate::store::{Store, StoreError};
use crate::types::hint::{Advice, Hint};
use crate::types::{Memory, Scope};

use embedded::StaticModel;
use embedder::{EmbedError, Embedder};
use filter::Filter;
use library::{Library, Similarities};
use parsed_query::{ParsedQuery, Synonyms};
use score::SimilarityParts;

pub use searcher::Searcher;

/// Of fourteen questions about quite other things, asked of the memories of five episodes of Zork, thirteen
/// found nothing as relevant as this; of eighteen that had an answer there, one.
const FLOOR: f32 = 0.15;
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

/// A memory that answers a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it stands.
    pub scope: Scope,
    /// The name of that place or character; may be empty.
    pub name: String,
    /// What it says.
    pub memory: Memory,
    /// Of a long text, the part of it most like the question: sentences that follow each other.
    pub passage: Option<String>,
    /// From 0 to 1: similarity × importance × recency.
    pub relevance: f32,
    /// How like the question it is, from 0 to 1.
    pub similarity: f32,
    /// What the similarity is made of; that of neighbouring lines of dialogue is not in them.
    pub parts: SimilarityParts,
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
    pub question: ParsedQuery,
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

impl Hint for SearchError {
    fn advice(&self) -> Advice {
        match self {
            SearchError::EmptyQuestion => Advice::command_line("ask in words, such as `where is the key?`"),
            SearchError::Store(error) => error.advice(),
            SearchError::Embed(error) => error.advice(),
        }
    }
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
    let question =
        ParsedQuery::parse(question, &settings.all_synonyms()).ok_or(SearchError::EmptyQuestion)?;
    let (mut library, vector) = Library::open(store, store.reading()?, &question, embedder)?;
    let similarities = similarities(&mut library, &question, &vector, store, embedder)?;
    let hits = library.choose(&similarities, &question, filter, most, settings);
    Ok(Answer { hits, entries: library.len(), question, fallback: None })
}

/// The similarity of each entry to a question. An index that makes no sense is made anew.
fn similarities(
    library: &mut Library,
    question: &ParsedQuery,
    vector: &[f32],
    store: &Store,
    embedder: &dyn Embedder,
) -> Result<Similarities, EmbedError> {
    let unrelated = embedder.unrelated();
    if let Some(found) = library.similarities(question, vector, unrelated) {
        return Ok(found);
    }
    library.renew(store, embedder)?;
    Ok(library.similarities(question, vector, unrelated).expect("a corpus of our own makes sense"))
}
