//! Compares each word of a vocabulary with each term of a query, by stem, synonym and vector.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::search::embedded::{StaticModel, Token};
use crate::search::embedder::QueryVector;
use crate::search::parsed_query::{ParsedQuery, TermMatch};
use crate::search::vocabulary::Vocabulary;

/// Baseline cosine of unrelated words; subtracted before scoring.
const UNRELATED_WORDS: f32 = 0.1;

/// Number of tokens from which their vectors are compared on two threads.
const PARALLEL_FROM: usize = 4096;

/// Values of a row are computed four at a time.
const LANES: usize = 4;

/// The terms that a word matches, by number.
type Matches = Vec<(u32, TermMatch)>;

/// Similarity of each word of the vocabulary to each term of the query.
pub(super) struct TermSimilarities {
    /// For each term its column; `None` if it has no vector.
    pub(super) columns: Vec<Option<usize>>,
    /// Length of a row: the number of columns, rounded up to [`LANES`].
    pub(super) width: usize,
    /// One row a word: the similarity in meaning to the term of each column, from 0 to 1.
    rows: Vec<f32>,
    /// For each word, whether it is in `matches`.
    is_matched: Vec<bool>,
    /// The terms of the words that match one.
    matches: HashMap<u32, Matches, FixedState>,
}

impl TermSimilarities {
    pub(super) fn new(vocabulary: &Vocabulary, query: &ParsedQuery) -> TermSimilarities {
        let model = StaticModel::new();
        let vectors: Vec<Option<QueryVector>> = query
            .terms
            .iter()
            .map(|term| model.word_vector(&term.word).map(|v| QueryVector::new(&v)))
            .collect();
        let mut next = 0..;
        let columns = vectors.iter().map(|vector| vector.as_ref().and_then(|_| next.next())).collect();
        let vectors: Vec<QueryVector> = vectors.into_iter().flatten().collect();
        let width = vectors.len().next_multiple_of(LANES);
        let rows = match width {
            0 => Vec::new(),
            _ => rows_of_words(vocabulary, &TokenProducts::new(vocabulary, &vectors, width, model)),
        };
        let matches = matches_of_words(vocabulary, query);
        let mut is_matched = vec![false; vocabulary.len()];
        matches.keys().for_each(|word| is_matched[*word as usize] = true);
        TermSimilarities { columns, width, rows, is_matched, matches }
    }

    /// The similarities of a word to the term of each column.
    #[inline]
    pub(super) fn row(&self, word: u32) -> &[f32] {
        &self.rows[word as usize * self.width..][..self.width]
    }

    /// The terms that a word matches by its stem or as a synonym.
    #[inline]
    pub(super) fn matches(&self, word: u32) -> &[(u32, TermMatch)] {
        match self.is_matched[word as usize] {
            false => &[],
            true => self.matches.get(&word).map_or(&[], Vec::as_slice),
        }
    }
}

/// For each word its similarities to the terms.
fn rows_of_words(vocabulary: &Vocabulary, products: &TokenProducts) -> Vec<f32> {
    let width = products.width;
    let mut rows = vec![0.0; vocabulary.len() * width];
    for (word, row) in (0..).zip(rows.chunks_exact_mut(width)) {
        // The product with a sum of vectors is the sum of the products.
        for &token in vocabulary.tokens(word) {
            row.iter_mut().zip(products.row(token)).for_each(|(sum, product)| *sum += product);
        }
        let inverse = vocabulary.inverse_length(word);
        for value in row {
            *value = ((*value * inverse - UNRELATED_WORDS) / (1.0 - UNRELATED_WORDS)).clamp(0.0, 1.0);
        }
    }
    rows
}

/// The products of the vectors of tokens with those of all terms.
struct TokenProducts {
    width: usize,
    /// For each token of the model its row; tokens that do not occur have the first one.
    numbers: Vec<u16>,
    rows: Vec<f32>,
}

impl TokenProducts {
    fn new(
        vocabulary: &Vocabulary,
        terms: &[QueryVector],
        width: usize,
        model: StaticModel,
    ) -> TokenProducts {
        let mut numbers = vec![0; model.token_count()];
        let mut tokens: Vec<Token> = Vec::new();
        for &token in vocabulary.all_tokens() {
            if numbers[usize::from(token)] == 0 {
                tokens.push(token);
                numbers[usize::from(token)] = tokens.len() as u16;
            }
        }
        let mut rows = vec![0.0; (tokens.len() + 1) * width];
        let fill = |tokens: &[Token], rows: &mut [f32]| {
            for (&token, row) in tokens.iter().zip(rows.chunks_exact_mut(width)) {
                let (vector, scale) = (model.row(token.into()), model.scale(token.into()));
                row.iter_mut().zip(terms).for_each(|(product, term)| *product = term.dot(vector) * scale);
            }
        };
        let used = &mut rows[width..];
        if tokens.len() < PARALLEL_FROM {
            fill(&tokens, used);
        } else {
            let (low, high) = tokens.split_at(tokens.len() / 2);
            let (low_rows, high_rows) = used.split_at_mut(low.len() * width);
            std::thread::scope(|scope| {
                scope.spawn(|| fill(high, high_rows));
                fill(low, low_rows);
            });
        }
        TokenProducts { width, numbers, rows }
    }

    fn row(&self, token: Token) -> &[f32] {
        &self.rows[usize::from(self.numbers[usize::from(token)]) * self.width..][..self.width]
    }
}

/// The terms that words match, for the words that match one.
fn matches_of_words(vocabulary: &Vocabulary, query: &ParsedQuery) -> HashMap<u32, Matches, FixedState> {
    let mut by_stem: HashMap<&str, Matches, FixedState> = HashMap::default();
    for (number, term) in (0..).zip(&query.terms) {
        by_stem.entry(&term.stem).or_default().push((number, TermMatch::Stem));
        for synonym in &term.synonyms {
            let matched = TermMatch::Synonym(synonym.tenths);
            by_stem.entry(&synonym.stem).or_default().push((number, matched));
        }
    }
    let mut found: HashMap<u32, Matches, FixedState> = HashMap::default();
    let mut stem = String::new();
    for word in (0..vocabulary.len() as u32).filter(|word| query.may_match(vocabulary.word(*word))) {
        vocabulary.with_stem(word, |start, ending| {
            stem.clear();
            stem.push_str(start);
            stem.push_str(ending);
        });
        if let Some(matches) = by_stem.get(stem.as_str()) {
            found.insert(word, matches.clone());
        }
    }
    found
}
