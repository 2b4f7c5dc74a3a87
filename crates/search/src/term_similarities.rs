//! Compares each word of a part of a corpus with each term of a query, by stem, synonym and vector.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::embedded::{StaticModel, Token};
use crate::embedder::QueryVector;
use crate::parsed_query::{ParsedQuery, Term};
use crate::vocabulary::Words;

/// Baseline cosine of unrelated words; subtracted before scoring.
const UNRELATED_WORDS: f32 = 0.1;

/// Number of tokens from which their vectors are compared on two threads.
const PARALLEL_FROM: usize = 4096;

/// Least length of a row.
const MIN_WIDTH: usize = 4;

/// The terms that a word matches, by number, each with the tenths that the match counts.
type Matches = Vec<(u32, u32)>;

/// The vectors of the terms of a query.
pub(super) struct TermVectors {
    /// For each term its column; `None` if it has no vector.
    pub(super) columns: Vec<Option<usize>>,
    /// Length of a row: the number of columns, rounded up to a power of two.
    pub(super) width: usize,
    vectors: Vec<QueryVector>,
}

impl TermVectors {
    pub(super) fn new(query: &ParsedQuery) -> TermVectors {
        let model = StaticModel::new();
        let vector = |word: &str| model.word_vector(word).map(|vector| QueryVector::new(&vector));
        let of_term = |term: &Term| if term.has_meaning { vector(&term.word) } else { None };
        let vectors: Vec<Option<QueryVector>> = query.terms.iter().map(of_term).collect();
        let mut next = 0..;
        let columns = vectors.iter().map(|vector| vector.as_ref().and_then(|_| next.next())).collect();
        let vectors: Vec<QueryVector> = vectors.into_iter().flatten().collect();
        let width = vectors.len().next_power_of_two().max(MIN_WIDTH);
        TermVectors { columns, width, vectors }
    }
}

/// Similarity of each word of a part to each term of the query.
pub(super) struct TermSimilarities {
    /// One row a word: the similarity in meaning to the term of each column, from 0 to 1.
    rows: Vec<f32>,
    /// For each word, whether it is in `matches`.
    is_matched: Vec<bool>,
    /// The terms of the words that match one.
    matches: HashMap<u32, Matches, FixedState>,
}

impl TermSimilarities {
    pub(super) fn new(words: &Words<'_>, query: &ParsedQuery, terms: &TermVectors) -> TermSimilarities {
        let rows = rows_of_words(words, &TokenProducts::new(words, terms));
        let matches = matches_of_words(words, query);
        let mut is_matched = vec![false; words.len()];
        matches.keys().for_each(|word| is_matched[*word as usize] = true);
        TermSimilarities { rows, is_matched, matches }
    }

    /// For each word its similarities to the term of each column; `W` is the length of a row.
    #[inline]
    pub(super) fn rows<const W: usize>(&self) -> &[[f32; W]] {
        self.rows.as_chunks().0
    }

    /// The terms that a word matches by its stem or as a synonym.
    #[inline]
    pub(super) fn matches(&self, word: u32) -> &[(u32, u32)] {
        if !self.is_matched[word as usize] { &[] } else { self.matches.get(&word).map_or(&[], Vec::as_slice) }
    }
}

/// For each word its similarities to the terms.
fn rows_of_words(words: &Words<'_>, products: &TokenProducts) -> Vec<f32> {
    let width = products.width;
    let mut rows = vec![0.0; words.len() * width];
    for (word, row) in (0..).zip(rows.chunks_exact_mut(width)) {
        // The product with a sum of vectors is the sum of the products.
        for &token in words.tokens(word) {
            row.iter_mut().zip(products.row(token)).for_each(|(sum, product)| *sum += product);
        }
        let inverse = words.inverse_length(word);
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
    fn new(words: &Words<'_>, terms: &TermVectors) -> TokenProducts {
        let model = StaticModel::new();
        let width = terms.width;
        let mut numbers = vec![0; model.token_count()];
        let mut tokens: Vec<Token> = Vec::new();
        for &token in words.tokens {
            // A damaged index may have tokens that the model does not have.
            if let Some(number @ 0) = numbers.get_mut(usize::from(token)) {
                tokens.push(token);
                *number = tokens.len() as u16;
            }
        }
        let mut rows = vec![0.0; (tokens.len() + 1) * width];
        let fill = |tokens: &[Token], rows: &mut [f32]| {
            let mut vector = vec![0_i16; model.dimensions()];
            for (&token, row) in tokens.iter().zip(rows.chunks_exact_mut(width)) {
                let (bytes, scale) = (model.row(token.into()), model.scale(token.into()));
                vector.iter_mut().zip(bytes).for_each(|(wide, byte)| *wide = i16::from(*byte as i8));
                let products = row.iter_mut().zip(&terms.vectors);
                products.for_each(|(product, term)| *product = term.dot_wide(&vector) * scale);
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

    #[inline]
    fn row(&self, token: Token) -> &[f32] {
        let number = self.numbers.get(usize::from(token)).copied().unwrap_or_default();
        &self.rows[usize::from(number) * self.width..][..self.width]
    }
}

/// The terms that words match, for the words that match one.
fn matches_of_words(words: &Words<'_>, query: &ParsedQuery) -> HashMap<u32, Matches, FixedState> {
    let mut by_stem: HashMap<&[u8], Matches, FixedState> = HashMap::default();
    let mut shapes = StemShapes::default();
    for (number, term) in (0..).zip(&query.terms) {
        for (stem, tenths) in term.stems() {
            shapes.add(stem.as_bytes());
            by_stem.entry(stem.as_bytes()).or_default().push((number, tenths));
        }
    }
    let mut found: HashMap<u32, Matches, FixedState> = HashMap::default();
    let mut stem = Vec::new();
    for word in shapes.words(words) {
        words.copy_stem(word, &mut stem);
        if let Some(matches) = by_stem.get(stem.as_slice()) {
            found.insert(word, matches.clone());
        }
    }
    found
}

/// The first bytes and lengths of some stems. Few other words have one of these.
pub(super) struct StemShapes {
    /// For each first byte the lengths of stems, as bits; those of 63 bytes or more share one.
    lengths: [u64; 256],
}

impl Default for StemShapes {
    fn default() -> StemShapes {
        StemShapes { lengths: [0; 256] }
    }
}

impl StemShapes {
    /// Adds a stem.
    pub(super) fn add(&mut self, stem: &[u8]) {
        let first = stem.first().copied().unwrap_or_default();
        self.lengths[usize::from(first)] |= 1 << stem.len().min(63);
    }

    /// The words that may have one of the stems.
    pub(super) fn words(&self, words: &Words<'_>) -> impl Iterator<Item = u32> {
        (0..words.len() as u32).filter(|word| {
            let (first, length) = words.shape(*word);
            self.lengths[usize::from(first)] & 1 << length.min(63) != 0
        })
    }
}
