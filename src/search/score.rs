//! Scores texts against a query: shared words, related words, and overall meaning.
//!
//! A corpus and a query enter; for each text its [`SimilarityParts`] leave, and from them a similarity from
//! 0 to 1. *Similarity* is the word for this number throughout the program; *relevance* is similarity ×
//! importance × recency ([`crate::search::Hit`]). All parts are absolute: they do not depend on what else
//! was found, so a similarity means the same from query to query.
//!
//! ```text
//! similarity    = 0.25 · keywords + 0.35 · related_words + 0.40 · meaning
//! keywords      = bm25 / (bm25 + 16)
//! bm25          = Σ idf(q) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length)), k1 = 1.2, b = 0.4,
//!                 idf(q) = ln(1 + (N − df + 0.5) / (df + 0.5))
//! related_words = Σ idf(q) · g(q) / Σ idf(q); g(q) is 1 where a word of the text has the stem of q, 0.7 for a synonym,
//!                 else the maximum of (cosine of the vectors of q and the word − 0.2) / 0.8, at least 0
//! meaning       = (cosine of the query vector and the text − u) / (1 − u), at least 0; the maximum over the vectors
//!                 of a text; u is the cosine of unrelated texts with this embedder, 0 for the built-in model
//! ```
//!
//! A text may answer canonical questions (`search/canonical_questions.rs`). Its `related_words` and `meaning` are
//! then at least (c − 0.3) / 0.7, where c is the mapped cosine of the query and the closest of these
//! questions. A query that is exactly such a question thus has a similarity of 0.75, and one that only
//! begins in the same way gains nothing.
//!
//! The weights are the best ones found on public sets of questions. The optimum is flat: a change of any
//! weight by a tenth has little effect. A query of stop words alone has no terms; its `related_words` is
//! derived from `meaning`.

use crate::search::corpus::Corpus;
use crate::search::embedded::StaticModel;
use crate::search::embedder::{QueryVector, Vectors};
use crate::search::parsed_query::{ParsedQuery, TermMatch};

/// BM25: how quickly repeated occurrences of a term saturate.
const K1: f64 = 1.2;

/// BM25: how strongly long texts are penalised.
const B: f64 = 0.4;

/// BM25 score that maps to a keyword score of 0.5.
const BM25_HALF: f32 = 16.0;

const KEYWORDS_WEIGHT: f32 = 0.25;
const RELATED_WORDS_WEIGHT: f32 = 0.35;
const MEANING_WEIGHT: f32 = 0.40;

/// Baseline cosine of unrelated words; subtracted before scoring.
const UNRELATED_WORDS: f32 = 0.2;

/// Baseline cosine of unrelated questions, which share the words that all questions share; subtracted before
/// scoring.
const UNRELATED_QUESTIONS: f32 = 0.3;

/// Corpus size, in texts, from which words and meaning are scored on two threads.
const PARALLEL_FROM: usize = 10_000;

/// Weight of a synonym, in tenths of an exact match.
const SYNONYM_TENTHS: u32 = 7;

/// Weight of the line before and of the line after in the score of a line of dialogue.
const NEIGHBOUR_WEIGHT: f32 = 0.2;

/// The components of a similarity, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimilarityParts {
    /// BM25 over shared stems and synonyms.
    pub keywords: f32,
    /// Closest word of the text for each query term, by stem, synonym or word vector, weighted by idf.
    pub related_words: f32,
    /// Cosine of the text as a whole and the query.
    pub meaning: f32,
}

impl SimilarityParts {
    /// The weighted sum, from 0 to 1.
    pub fn similarity(&self) -> f32 {
        let sum = KEYWORDS_WEIGHT * self.keywords
            + RELATED_WORDS_WEIGHT * self.related_words
            + MEANING_WEIGHT * self.meaning;
        sum.clamp(0.0, 1.0)
    }
}

/// Scores every text of a corpus against a query.
///
/// `vector` is the query vector; `unrelated` is the cosine of unrelated texts with its embedder. Document
/// frequencies are counted over the texts for which `counts` is true, which leaves out superseded ones.
/// `None` if the corpus is inconsistent, which only a damaged index can cause.
pub fn score(
    corpus: &Corpus,
    query: &ParsedQuery,
    vector: &[f32],
    unrelated: f32,
    counts: impl Fn(usize) -> bool,
) -> Option<Vec<SimilarityParts>> {
    let query_vector = QueryVector::new(vector);
    let (words, meanings) = if corpus.len() < PARALLEL_FROM {
        (score_words(corpus, query, counts), score_meaning(corpus, &query_vector, unrelated))
    } else {
        std::thread::scope(|scope| {
            let meanings = scope.spawn(|| score_meaning(corpus, &query_vector, unrelated));
            let words = score_words(corpus, query, counts);
            (words, meanings.join().ok().flatten())
        })
    };
    let all = words?.into_iter().zip(meanings?).map(|((bm25, related_words), meaning)| {
        let Meaning { own, of_questions } = meaning;
        let related_words =
            related_words.unwrap_or(((own - UNRELATED_WORDS) / (1.0 - UNRELATED_WORDS)).max(0.0));
        SimilarityParts {
            keywords: bm25 / (bm25 + BM25_HALF),
            related_words: related_words.max(of_questions),
            meaning: own.max(of_questions),
        }
    });
    Some(all.collect())
}

/// Adds a fifth of each neighbour's similarity to texts that follow each other, such as lines of a dialogue;
/// the sum is capped at 1. `follows(n)` says whether text `n` follows text `n - 1`; it is called from 1.
pub fn with_neighbours(own: &[f32], follows: impl Fn(usize) -> bool) -> Vec<f32> {
    let mut all = own.to_vec();
    for second in 1..own.len() {
        if follows(second) {
            all[second - 1] += NEIGHBOUR_WEIGHT * own[second];
            all[second] += NEIGHBOUR_WEIGHT * own[second - 1];
        }
    }
    all.iter_mut().for_each(|similarity| *similarity = similarity.min(1.0));
    all
}

/// Similarity in meaning of one text to the query.
#[derive(Clone, Copy)]
struct Meaning {
    /// By the text itself.
    own: f32,
    /// By the canonical questions that it answers.
    of_questions: f32,
}

fn score_meaning(corpus: &Corpus, query: &QueryVector, unrelated: f32) -> Option<Vec<Meaning>> {
    let mut cosines = corpus.vectors.cosines(query).into_iter();
    let mut best_of_next = |count: u8, unrelated: f32| {
        let best = cosines.by_ref().take(count.into()).fold(0.0_f32, f32::max);
        ((best - unrelated) / (1.0 - unrelated)).clamp(0.0, 1.0)
    };
    let unrelated_questions = unrelated + (1.0 - unrelated) * UNRELATED_QUESTIONS;
    let mut meanings = Vec::with_capacity(corpus.len());
    for (&count, &questions) in corpus.vector_counts.iter().zip(&corpus.question_counts) {
        let own = best_of_next(count.checked_sub(questions)?, unrelated);
        meanings.push(Meaning { own, of_questions: best_of_next(questions, unrelated_questions) });
    }
    cosines.next().is_none().then_some(meanings)
}

/// Similarity of each word of the vocabulary to each term of the query.
struct TermSimilarities {
    /// Length of a row: the number of terms, rounded up to [`LANES`].
    width: usize,
    /// One row a word: its similarity to each term, from 0 to 1.
    rows: Vec<f32>,
    /// For each word, whether it has the stem of a term or of a synonym.
    matched: Vec<bool>,
}

/// Terms are compared four at a time.
const LANES: usize = 4;

impl TermSimilarities {
    fn new(corpus: &Corpus, query: &ParsedQuery) -> TermSimilarities {
        let model = StaticModel::new();
        let vocabulary = &corpus.vocabulary;
        let width = query.terms.len().next_multiple_of(LANES);
        let term_vectors: Vec<QueryVector> =
            query.terms.iter().map(|term| QueryVector::new(&vector_of(&term.word, model))).collect();
        let mut rows = vec![0.0; vocabulary.len() * width];
        let mut matched = vec![false; vocabulary.len()];
        let mut sum = vec![0.0; model.dimensions()];
        for number in 0..vocabulary.len() {
            let row = &mut rows[number * width..(number + 1) * width];
            let tokens = vocabulary.tokens(number as u32);
            if let &[token] = tokens {
                compare(&term_vectors, model.row(token.into()), row);
            } else if !tokens.is_empty() {
                sum.fill(0.0);
                model.add(tokens, &mut sum);
                let mut vector = Vectors::new(model.dimensions());
                vector.push(&sum);
                compare(&term_vectors, &vector.rows, row);
            }
            if !query.may_match(vocabulary.word(number as u32)) {
                continue;
            }
            vocabulary.with_stem(number as u32, |start, ending| {
                for (value, term) in row.iter_mut().zip(&query.terms) {
                    let least = match term.matches((start, ending)) {
                        Some(TermMatch::Stem) => 1.0,
                        Some(TermMatch::Synonym) => SYNONYM_TENTHS as f32 / 10.0,
                        None => continue,
                    };
                    *value = value.max(least);
                    matched[number] = true;
                }
            });
        }
        TermSimilarities { width, rows, matched }
    }
}

fn vector_of(word: &str, model: StaticModel) -> Vec<f32> {
    let mut tokens = Vec::new();
    model.tokenize_word(word, &mut tokens);
    let mut sum = vec![0.0; model.dimensions()];
    model.add(&tokens, &mut sum);
    sum
}

/// Writes the similarity of a word, given by its vector, to each term.
fn compare(term_vectors: &[QueryVector], word: &[u8], similarities: &mut [f32]) {
    let squares: i32 = word.iter().map(|byte| i32::from(*byte as i8) * i32::from(*byte as i8)).sum();
    let inverse = if squares > 0 { 1.0 / (squares as f32).sqrt() } else { 0.0 };
    for (value, term) in similarities.iter_mut().zip(term_vectors) {
        *value = ((term.dot(word) * inverse - UNRELATED_WORDS) / (1.0 - UNRELATED_WORDS)).clamp(0.0, 1.0);
    }
}

/// Statistics of all texts, collected in one pass over their words.
struct TextStatistics {
    /// Highest similarity of the current text to each term.
    best: Vec<f32>,
    /// Words of the current text that match a term, with their counts.
    matches: Vec<(u32, u32)>,
    /// Number of words of the current text.
    length: u64,
    /// `best` of all texts, concatenated.
    all_best: Vec<f32>,
    /// `length` of all texts.
    lengths: Vec<u64>,
    /// Text, term, and the term's frequency there in tenths.
    frequencies: Vec<(u32, u32, u32)>,
}

/// BM25 score and related-words score of each text; the latter is `None` if the query has no terms.
fn score_words(
    corpus: &Corpus,
    query: &ParsedQuery,
    counts: impl Fn(usize) -> bool,
) -> Option<Vec<(f32, Option<f32>)>> {
    if query.terms.is_empty() {
        return Some(vec![(0.0, None); corpus.len()]);
    }
    let similarities = TermSimilarities::new(corpus, query);
    let statistics = collect_statistics(corpus, query, &similarities)?;
    let mut document_frequency = vec![0_u64; query.terms.len()];
    for &(text, term, _) in &statistics.frequencies {
        document_frequency[term as usize] += u64::from(counts(text as usize));
    }
    let (mut texts, mut length) = (0_u64, 0_u64);
    for (_, own) in statistics.lengths.iter().enumerate().filter(|(text, _)| counts(*text)) {
        texts += 1;
        length += own;
    }
    let average = if texts == 0 { 1.0 } else { (length as f64 / texts as f64).max(1.0) };
    let idf: Vec<f64> = document_frequency
        .iter()
        .map(|&df| (1.0 + ((texts - df) as f64 + 0.5) / (df as f64 + 0.5)).ln())
        .collect();
    let mut bm25 = vec![0.0_f64; corpus.len()];
    for &(text, term, tenths) in &statistics.frequencies {
        let count = f64::from(tenths) / 10.0;
        let relative_length = statistics.lengths[text as usize] as f64 / average;
        bm25[text as usize] +=
            idf[term as usize] * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * relative_length));
    }
    let weights: Vec<f32> = idf.iter().map(|idf| *idf as f32).collect();
    let all: f32 = weights.iter().sum();
    let related_words = statistics
        .all_best
        .chunks_exact(similarities.width)
        .map(|best| best.iter().zip(&weights).map(|(best, weight)| best * weight).sum::<f32>() / all);
    let scores = bm25.iter().zip(related_words);
    Some(scores.map(|(bm25, related)| (*bm25 as f32, Some(related.min(1.0)))).collect())
}

fn collect_statistics(
    corpus: &Corpus,
    query: &ParsedQuery,
    similarities: &TermSimilarities,
) -> Option<TextStatistics> {
    let width = similarities.width;
    let mut statistics = TextStatistics {
        best: vec![0.0; width],
        matches: Vec::new(),
        length: 0,
        all_best: Vec::with_capacity(corpus.len() * width),
        lengths: Vec::with_capacity(corpus.len()),
        frequencies: Vec::new(),
    };
    corpus.each(
        &mut statistics,
        |state, word, count| {
            let row = &similarities.rows[word as usize * width..][..width];
            for (best, value) in state.best.iter_mut().zip(row) {
                *best = if *value > *best { *value } else { *best };
            }
            state.length += u64::from(count);
            if similarities.matched[word as usize] {
                state.matches.push((word, count));
            }
        },
        |state, text| {
            state.lengths.push(std::mem::take(&mut state.length));
            state.all_best.extend_from_slice(&state.best);
            state.best.fill(0.0);
            if state.matches.is_empty() {
                return;
            }
            for (number, term) in query.terms.iter().enumerate() {
                let matches =
                    |word| corpus.vocabulary.with_stem(word, |start, ending| term.matches((start, ending)));
                let tenths = |&(word, count): &(u32, u32)| match matches(word) {
                    Some(TermMatch::Stem) => 10 * count,
                    Some(TermMatch::Synonym) => SYNONYM_TENTHS * count,
                    None => 0,
                };
                let sum: u32 = state.matches.iter().map(tenths).fold(0, u32::saturating_add);
                if sum > 0 {
                    state.frequencies.push((text as u32, number as u32, sum));
                }
            }
            state.matches.clear();
        },
    )?;
    Some(statistics)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::embedder::Embedder;
    use crate::search::parsed_query::Synonyms;
    use crate::search::searchable_text::SearchableText;

    fn similarities(texts: &[&str], question: &str) -> Vec<f32> {
        let model = StaticModel::new();
        let mut corpus = Corpus::new(model.dimensions());
        let texts: Vec<SearchableText> = texts.iter().map(|text| SearchableText::plain(text)).collect();
        corpus.add(&texts, &model).unwrap();
        let question = ParsedQuery::parse(question, &Synonyms::default()).unwrap();
        let parts =
            score(&corpus, &question, &model.embed_query(&question.text).unwrap(), 0.0, |_| true).unwrap();
        parts.iter().map(SimilarityParts::similarity).collect()
    }

    const TEXTS: [&str; 4] = [
        "A rusty key hangs from a beam in the attic.",
        "The troll blocks every way until it is fought with the sword.",
        "Putting a treasure into the case raises the score.",
        "",
    ];

    #[test]
    fn the_text_that_answers_has_the_highest_similarity() {
        for (question, answer) in [
            ("where did I see a key?", 0),
            ("which monster guards the passage", 1),
            ("how do I get points", 2),
        ] {
            let found = similarities(&TEXTS, question);
            let best = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]));
            assert_eq!(best, Some(answer), "{question}: {found:?}");
        }
    }

    #[test]
    fn a_text_is_most_similar_to_itself() {
        let found = similarities(&TEXTS, TEXTS[0]);
        assert!(found[0] > 0.8 && found[1] < 0.5, "{found:?}");
        assert_eq!(found[3], 0.0);
    }

    proptest! {
        #[test]
        fn similarity_is_a_number_from_0_to_1(
            texts in prop::collection::vec("[a-e ]{0,20}|\\PC{0,20}|(key|lamp|the|take| ){0,9}", 0..6),
            question in "(key|lamps|get|was|troll|é| ){1,8}|\\PC{1,20}",
        ) {
            prop_assume!(ParsedQuery::parse(&question, &Synonyms::default()).is_some());
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = similarities(&texts, &question);
            prop_assert_eq!(found.len(), texts.len());
            for value in found {
                prop_assert!((0.0..=1.0).contains(&value), "{}", value);
            }
        }
    }
}
