//! Results of a search, and its errors.

use crate::search::embedder::EmbedError;
use crate::search::parsed_query::ParsedQuery;
use crate::search::score::SimilarityParts;
use crate::store::StoreError;
use crate::types::hint::{Advice, Hint};
use crate::types::{Memory, Scope};

/// A memory that answers a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its section.
    pub scope: Scope,
    /// The name of that place or character; may be empty.
    pub name: String,
    /// The name as people read it: with the id where several places share it, the scope where it is empty.
    pub place: String,
    /// The memory, read in full.
    pub memory: Memory,
    /// For a long text: the passage (consecutive sentences) most similar to the question.
    pub passage: Option<String>,
    /// From 0 to 1: similarity × importance × recency.
    pub relevance: f32,
    /// How similar it is to the question, from 0 to 1.
    pub similarity: f32,
    /// The terms of the similarity, without the share of neighbouring lines of dialogue.
    pub parts: SimilarityParts,
    /// The factor of its importance, at most 1.
    pub importance_factor: f32,
    /// The factor of its age, at most 1.
    pub recency_factor: f32,
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The most relevant first.
    pub hits: Vec<Hit>,
    /// Number of entries searched, superseded ones too.
    pub entries: usize,
    /// The parsed question.
    pub question: ParsedQuery,
    /// The error of the configured embedder, if the embedded model answered instead.
    pub fallback: Option<EmbedError>,
}

/// Why a question cannot be answered.
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
