//! The words of all texts compared with those of a query, in one pass over their occurrences.
//!
//! A corpus and a query enter; for each text its length, its similarity to each term and the frequencies of terms leave.

use crate::corpus::Corpus;
use crate::parsed_query::{MAX_TERMS, ParsedQuery};
use crate::part::Part;
use crate::term_similarities::{TermSimilarities, TermVectors};

/// A term in a text that has its stem or a synonym.
pub(super) struct Frequency {
    pub(super) text: u32,
    pub(super) term: u32,
    /// Occurrences, in tenths.
    pub(super) tenths: u32,
    /// The most that a single occurrence counts: ten for the stem itself.
    pub(super) most_tenths: u32,
}

/// Statistics of the texts of a corpus, from the first one on.
pub struct TextStatistics {
    pub(super) terms: TermVectors,
    /// For each text the highest similarity of its words to the term of each column; 0 for terms that the text has.
    pub(super) all_best: Vec<f32>,
    /// The number of words of each text.
    pub(super) lengths: Vec<u32>,
    /// For each text its place in the occurrences of its part.
    pub(super) places: Vec<usize>,
    /// The terms that texts have.
    pub(super) frequencies: Vec<Frequency>,
}

/// Statistics of the text whose words are visited.
struct CurrentText<const W: usize> {
    /// Highest similarity to the term of each column.
    best: [f32; W],
    /// Terms that words match, with the tenths that an occurrence counts, and occurrences.
    matches: Vec<(u32, u32, u32)>,
    /// Number of words.
    length: u32,
}

impl TextStatistics {
    fn new(query: &ParsedQuery) -> TextStatistics {
        TextStatistics {
            terms: TermVectors::new(query),
            all_best: Vec::new(),
            lengths: Vec::new(),
            places: Vec::new(),
            frequencies: Vec::new(),
        }
    }

    /// Collects the statistics of the stored part of a corpus, where it has one. `None` if it is inconsistent.
    pub(super) fn of_stored(corpus: &Corpus, query: &ParsedQuery) -> Option<TextStatistics> {
        let mut statistics = TextStatistics::new(query);
        statistics.add(&corpus.stored.as_ref()?.part(), query)?;
        Some(statistics)
    }

    /// Collects the statistics of all texts, or adds those of the other texts to what [`TextStatistics::of_stored`] gave
    /// for the same query. `None` if the corpus is inconsistent, which only a damaged index can cause.
    pub(super) fn collect(
        corpus: &Corpus,
        query: &ParsedQuery,
        stored: Option<TextStatistics>,
    ) -> Option<TextStatistics> {
        let mut statistics = stored.unwrap_or_else(|| TextStatistics::new(query));
        let mut end = 0;
        for part in corpus.parts() {
            end += part.len();
            if statistics.lengths.len() < end {
                statistics.add(&part, query)?;
            }
        }
        Some(statistics)
    }

    fn add(&mut self, part: &Part<'_>, query: &ParsedQuery) -> Option<()> {
        match self.terms.width {
            4 => self.add_with::<4>(part, query),
            8 => self.add_with::<8>(part, query),
            16 => self.add_with::<16>(part, query),
            32 => self.add_with::<32>(part, query),
            64 => self.add_with::<64>(part, query),
            _ => self.add_with::<MAX_TERMS>(part, query),
        }
    }

    /// Adds the texts of a part, with `W` similarities of each word.
    fn add_with<const W: usize>(&mut self, part: &Part<'_>, query: &ParsedQuery) -> Option<()> {
        let similarities = TermSimilarities::new(&part.words, query, &self.terms);
        let rows = similarities.rows::<W>();
        self.all_best.reserve(part.len() * W);
        self.lengths.reserve(part.len());
        self.places.reserve(part.len());
        let mut place = 0;
        let mut text = CurrentText { best: [0.0; W], matches: Vec::new(), length: 0 };
        part.each(
            &mut text,
            |text, word, count| {
                for (best, value) in text.best.iter_mut().zip(&rows[word as usize]) {
                    *best = if *value > *best { *value } else { *best };
                }
                text.length = text.length.saturating_add(count);
                let matches = similarities.matches(word).iter();
                text.matches.extend(matches.map(|&(term, tenths)| (term, tenths, count)));
            },
            |text, _, next| {
                self.places.push(std::mem::replace(&mut place, next));
                self.end_text(text, query);
            },
        )
    }

    fn end_text<const W: usize>(&mut self, current: &mut CurrentText<W>, query: &ParsedQuery) {
        let text = self.lengths.len() as u32;
        self.lengths.push(std::mem::take(&mut current.length));
        current.matches.sort_unstable();
        for same in current.matches.chunk_by(|a, b| a.0 == b.0) {
            let term = same[0].0;
            let add = |sum: u32, (_, tenths, count): &(u32, u32, u32)| {
                sum.saturating_add(tenths.saturating_mul(*count))
            };
            let tenths = same.iter().fold(0, add);
            let most_tenths = same.iter().map(|(_, tenths, _)| *tenths).max().unwrap_or_default();
            if query.terms[term as usize].weight > 0.0 {
                self.frequencies.push(Frequency { text, term, tenths, most_tenths });
            }
            if let Some(column) = self.terms.columns[term as usize] {
                current.best[column] = 0.0;
            }
        }
        current.matches.clear();
        self.all_best.extend_from_slice(&current.best);
        current.best = [0.0; W];
    }
}
