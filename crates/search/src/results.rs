//! Results of a search, and its errors.

use crate::embedder::EmbedError;
use crate::parsed_query::ParsedQuery;
use crate::score::SimilarityParts;
use memories_document::types::hint::{Advice, Hint};
use memories_document::types::instant::Instant;
use memories_document::types::{Memory, Scope};
use memories_store::StoreError;

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
    /// True if the text of `memory` is cut to its passage.
    pub is_cut: bool,
    /// From 0 to 1: similarity × importance × recency.
    pub relevance: f32,
    /// True if it may well have nothing to do with the question: both its relevance and its share of the question's
    /// words are small. A hit below the floor always is.
    pub is_weak: bool,
    /// How similar it is to the question, from 0 to 1.
    pub similarity: f32,
    /// The terms of the similarity, without the share of neighbouring lines of dialogue.
    pub parts: SimilarityParts,
    /// The factor of its importance, at most 1.
    pub importance_factor: f32,
    /// The factor of its age, at most 1.
    pub recency_factor: f32,
    /// Its number among the entries of the file.
    pub(crate) entry: usize,
}

/// Tokens of an answer from which long texts are cut to their passages.
pub const ANSWER_TOKENS: usize = 1000;

/// Longest passage of a text that is cut, in characters; one without sentences may be of any length.
const CUT_CHARS: usize = 400;

impl Hit {
    /// Cuts a long text to its most similar passage.
    fn cut(&mut self) {
        let Some(passage) = &self.passage else { return };
        let text = &self.memory.text;
        let kept: String = passage.chars().take(CUT_CHARS).collect();
        let begin = if text.trim_start().starts_with(&kept) { "" } else { "… " };
        let end = if text.trim_end().ends_with(&kept) { "" } else { " …" };
        self.is_cut = !begin.is_empty() || !end.is_empty();
        self.memory.text = format!("{begin}{}{end}", kept.trim());
    }
}

/// Cuts long texts to their most similar passages, those of the last hits first, until the hits take no more than
/// `tokens`. `cost` is the number of tokens of a hit.
pub fn cut_to_passages<'a>(
    hits: impl DoubleEndedIterator<Item = &'a mut Hit>,
    tokens: usize,
    cost: impl Fn(&Hit) -> usize,
) {
    let mut hits: Vec<(usize, &mut Hit)> = hits.map(|hit| (cost(hit), hit)).collect();
    let mut sum: usize = hits.iter().map(|(cost, _)| cost).sum();
    for (before, hit) in hits.iter_mut().rev() {
        if sum <= tokens {
            return;
        }
        hit.cut();
        sum = sum - *before + cost(hit);
    }
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
    /// The phrase that the question quotes, if no memory has it; then the hits are those for its words.
    pub missing_phrase: Option<String>,
    /// The error of the configured embedder, if the embedded model answered instead.
    pub fallback: Option<EmbedError>,
}

impl SearchResults {
    /// Puts the hits in the order of their episodes, turns and dates; those without a time come first.
    pub fn sort_by_time(&mut self) {
        self.hits.sort_by_key(|hit| {
            let fields = &hit.memory.provenance;
            let date = fields.date.as_deref().and_then(Instant::of);
            (fields.episode, fields.turns.map(|turns| (turns.first, turns.last)), date)
        });
    }
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
