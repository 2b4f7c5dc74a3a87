//! Scores texts against a query: shared words, related words, and overall meaning.
//!
//! A corpus and a query enter; for each text a [`TextScore`] leaves. Its *strength* is the number to rank by;
//! `Scale` turns it into a *similarity* from 0 to 1, which is the word for this number throughout the program;
//! *relevance* is similarity × importance × recency ([`crate::Hit`]).
//!
//! ```text
//! strength   = W/60 · (words + similar) · (1 + 2 · related²) + 0.2 · known · meaning
//! similarity = min(1, 1.5 · strength / (strength + z/2)), z = √(W/20) · (0.55 + 0.45 · known) + 0.2 · known
//!
//! w(q)    = idf(q) · the weight of its kind (`term_weight`), idf(q) = ln(1 + (N − df + 0.5) / (df + 0.5)); W = Σ w(q)
//! h(q)    = 1 if the text has the stem of q, 0.4 or 0.7 for a synonym, else 0.6 of the highest similarity of one of its
//!           words: (cosine of both vectors − 0.1) / 0.9, at least 0
//! tf(q)   = occurrences of the stem + 0.4 or 0.7 · those of synonyms
//! n       = 0.25 + 0.75 · length / average length
//! words   = Σ w(q) · tf / (tf + 0.9 · n) / W, over the q that the text has by stem or synonym
//! similar = Σ w(q) · h(q) / (1 + 0.9 · n) / W, over the others
//! related = Σ w(q) · h(q) / W
//! known   = Σ w(q) of the terms that have a vector / W; 0 if neither a text nor the model has any of the terms, for
//!           the pieces of foreign words say nothing
//! meaning = the maximum over the vectors v of a text of query · v, at least 0. The query vector is half the unit
//!           vector of its text and half that of its words, weighted by idf
//! ```
//!
//! An embedder behind a server has no vectors of words: the query vector is then that of the query, `known` is 1, and
//! `meaning` is (cosine − u) / (1 − u), where u is the cosine of unrelated texts with this embedder.
//!
//! A text may answer canonical questions (`search/canonical_questions.rs`). Its similarity is then at least 0.75 · a,
//! where a is (c − 0.3) / 0.7 and c the mapped cosine of the query and the closest of these questions: one that only
//! begins in the same way gains nothing. A query of stop words alone has no terms (W = 0); its similarity is
//! 0.35 · (meaning − 0.2) / 0.8 + 0.40 · meaning, with the vector of its text as the query vector.
//!
//! The weights are those that were best on public sets of questions, chosen on other parts than those measured.

use crate::cjk::is_cjk_word;
use crate::corpus::Corpus;
use crate::embedded::StaticModel;
use crate::embedder::QueryVector;
use crate::parsed_query::{EXACT_TENTHS, ParsedQuery};
use crate::text_statistics::TextStatistics;

/// BM25: how quickly repeated occurrences of a term saturate.
const K1: f64 = 0.9;

/// BM25: how strongly long texts are penalised.
const B: f64 = 0.75;

/// Weight of a word of similar meaning, of an exact match.
const SIMILAR_WORD: f64 = 0.6;

/// Weight of the query's words in a strength.
const WORDS_WEIGHT: f64 = 1.0 / 60.0;

/// How much more the words count in a text that has all of them.
const COVERAGE: f64 = 2.0;

const MEANING_WEIGHT: f64 = 0.2;

/// How much is expected of words that have no vector, which only the same words answer, beside those that have one.
const UNKNOWN_WORDS: f64 = 0.55;

/// Baseline cosine of unrelated questions, which share the words that all questions share; subtracted before
/// scoring.
const UNRELATED_QUESTIONS: f32 = 0.3;

/// Similarity of a text to one of its canonical questions.
const QUESTION_SIMILARITY: f32 = 0.75;

/// The components of a strength, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimilarityParts {
    /// BM25 over shared stems and synonyms, as a share of the most that the query's words can give.
    pub keywords: f32,
    /// Closest word of the text for each query term, by stem, synonym or word vector, weighted.
    pub related_words: f32,
    /// Cosine of the text as a whole and the query.
    pub meaning: f32,
}

/// The score of one text.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextScore {
    /// Its components.
    pub parts: SimilarityParts,
    /// The number that texts are ranked by, at least 0.
    pub strength: f32,
    /// Number of words of the text.
    pub length: u32,
    /// True if the text has a word of the query that says something of its subject.
    pub has_word: bool,
}

/// The scores of all texts for a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scores {
    pub(crate) texts: Vec<TextScore>,
    pub(crate) scale: Scale,
    /// The vector with which those of the texts were compared.
    pub(crate) query: QueryVector,
    /// The texts counted, and their average length.
    pub(super) counted: Counted,
    /// For each text its place in the occurrences of the corpus.
    pub(super) places: Vec<usize>,
    /// The share of the query's weight that is of Chinese, Japanese and Korean.
    pub(super) in_characters: f64,
}

/// Turns strengths into similarities, from 0 to 1, which mean the same from query to query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The strength whose similarity is 0.75.
    half: f32,
}

impl Scale {
    /// For a query whose words have that weight, with the share of those that have a vector.
    fn new(weight: f64, known: f64) -> Scale {
        let expected = UNKNOWN_WORDS + (1.0 - UNKNOWN_WORDS) * known;
        Scale { half: (((weight / 20.0).sqrt() * expected + MEANING_WEIGHT * known) / 2.0) as f32 }
    }

    pub(crate) fn similarity(self, strength: f32) -> f32 {
        (1.5 * strength / (strength + self.half)).clamp(0.0, 1.0)
    }

    /// The least strength of that similarity.
    fn strength(self, similarity: f32) -> f32 {
        self.half * similarity / (1.5 - similarity)
    }
}

/// The query vector, and how cosines with it are to be read.
#[derive(Debug, Clone, Copy)]
pub struct QueryMeaning<'a> {
    /// The vector of the query's text.
    pub vector: &'a [f32],
    /// The cosine of unrelated texts with this embedder.
    pub unrelated: f32,
    /// True if the vector is the built-in model's, and so the sum of its words' vectors.
    pub adds_words: bool,
}

/// The texts by which rarity and length are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    texts: u64,
    average_length: f64,
}

impl Counted {
    fn new(lengths: &[u32], counts: impl Fn(usize) -> bool) -> Counted {
        let counted = lengths.iter().enumerate().filter(|(text, _)| counts(*text));
        let (texts, words) =
            counted.fold((0, 0), |(texts, words), (_, length)| (texts + 1, words + u64::from(*length)));
        let average_length = if texts == 0 { 1.0 } else { (words as f64 / texts as f64).max(1.0) };
        Counted { texts, average_length }
    }

    /// The rarity of a word that `texts` texts have.
    pub(super) fn idf(self, texts: u64) -> f64 {
        (1.0 + (self.texts.saturating_sub(texts) as f64 + 0.5) / (texts as f64 + 0.5)).ln()
    }

    /// The weight of a word that occurs so often in a text of that length; below 1.
    pub(super) fn saturated(self, count: f64, length: u32) -> f64 {
        let relative_length = 1.0 - B + B * f64::from(length) / self.average_length;
        count / (count + K1 * relative_length)
    }
}

/// Scores every text of a corpus against a query.
///
/// Document frequencies are counted over the texts for which `counts` is true, which leaves out superseded ones.
/// `statistics` are those of the corpus about this query. `None` if the corpus is inconsistent, which only a damaged
/// index can cause.
pub(crate) fn score(
    corpus: &Corpus,
    query: &ParsedQuery,
    meaning: &QueryMeaning<'_>,
    statistics: TextStatistics,
    counts: impl Fn(usize) -> bool,
) -> Option<Scores> {
    let counted = Counted::new(&statistics.lengths, &counts);
    let WordScores { all, idf, weight, known, in_characters } =
        score_words(query, &statistics, counted, counts);
    let known = match query.is_time {
        true => 0.0,
        false if meaning.adds_words => known,
        false => 1.0,
    };
    let (vector, norm) = query_vector(query, meaning, &idf);
    let meanings = score_meaning(corpus, &vector, norm, meaning)?;
    let scale = Scale::new(weight, known);
    let texts = all.into_iter().zip(&meanings).zip(&statistics.lengths).map(|((words, meaning), &length)| {
        // Of a time, the meaning of a text says nothing.
        let Meaning { own, of_questions } = if query.is_time { Meaning::default() } else { *meaning };
        let asked = scale.strength(QUESTION_SIMILARITY * of_questions);
        let (strength, related) = if query.terms.is_empty() {
            let related = ((own - 0.2) / 0.8).max(0.0);
            (scale.strength(0.35 * related + 0.40 * own), related)
        } else {
            let coverage = 1.0 + COVERAGE * words.related * words.related;
            let strength = WORDS_WEIGHT * weight * (words.words + words.similar) * coverage
                + MEANING_WEIGHT * known * f64::from(own);
            (strength as f32, words.related as f32)
        };
        let parts = SimilarityParts {
            keywords: words.words as f32,
            related_words: related.max(of_questions),
            meaning: own.max(of_questions),
        };
        TextScore { parts, strength: strength.max(asked), length, has_word: words.has_word }
    });
    let texts = texts.collect();
    Some(Scores { texts, scale, query: vector, counted, places: statistics.places, in_characters })
}

/// The vector that texts are compared with, of length 1, and the factor of its products.
fn query_vector(query: &ParsedQuery, meaning: &QueryMeaning<'_>, idf: &[f64]) -> (QueryVector, f32) {
    if !meaning.adds_words || query.terms.is_empty() {
        return (QueryVector::new(meaning.vector), 1.0);
    }
    let model = StaticModel::new();
    let mut words = vec![0.0_f32; model.dimensions()];
    for (word, term) in &query.meant {
        let vector = model.word_vector(word).unwrap_or_default();
        words.iter_mut().zip(&vector).for_each(|(sum, value)| *sum += idf[*term] as f32 * value);
    }
    let length = |vector: &[f32]| vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    let unit = |vector: &[f32]| {
        let inverse = if length(vector) > 0.0 { 1.0 / length(vector) } else { 0.0 };
        vector.iter().map(|value| value * inverse).collect::<Vec<f32>>()
    };
    let both = unit(meaning.vector).into_iter().zip(unit(&words));
    let both: Vec<f32> = both.map(|(text, words)| (text + words) / 2.0).collect();
    (QueryVector::new(&both), length(&both))
}

/// Similarity in meaning of one text to the query.
#[derive(Clone, Copy, Default)]
struct Meaning {
    /// By the text itself.
    own: f32,
    /// By the canonical questions that it answers.
    of_questions: f32,
}

fn score_meaning(
    corpus: &Corpus,
    query: &QueryVector,
    norm: f32,
    meaning: &QueryMeaning<'_>,
) -> Option<Vec<Meaning>> {
    // Questions are compared with the query as it was asked.
    let as_asked = QueryVector::new(meaning.vector);
    let unrelated_questions = meaning.unrelated + (1.0 - meaning.unrelated) * UNRELATED_QUESTIONS;
    let mut meanings = Vec::with_capacity(corpus.len());
    for part in corpus.parts() {
        let mut next = 0;
        let mut best_of_next = |count: u8, query: &QueryVector, norm: f32, unrelated: f32| {
            let vectors = next..next + usize::from(count);
            next = vectors.end;
            let best = vectors.map(|at| part.vectors.cosine(at, query) * norm).fold(0.0_f32, f32::max);
            ((best - unrelated) / (1.0 - unrelated)).clamp(0.0, 1.0)
        };
        for (&count, &questions) in part.vector_counts.iter().zip(part.question_counts) {
            let own = best_of_next(count.checked_sub(questions)?, query, norm, meaning.unrelated);
            let of_questions = best_of_next(questions, &as_asked, 1.0, unrelated_questions);
            meanings.push(Meaning { own, of_questions });
        }
    }
    Some(meanings)
}

/// The words of one text compared with those of the query, each from 0 to 1.
#[derive(Clone, Copy, Default)]
struct WordScore {
    words: f64,
    similar: f64,
    related: f64,
    has_word: bool,
}

/// The words of all texts compared with those of the query.
struct WordScores {
    all: Vec<WordScore>,
    /// The rarity of each term.
    idf: Vec<f64>,
    /// The weight of all terms.
    weight: f64,
    /// The share of it whose terms have a vector; 1 if there is no weight.
    known: f64,
    /// The share of it that is of Chinese, Japanese and Korean.
    in_characters: f64,
}

fn score_words(
    query: &ParsedQuery,
    statistics: &TextStatistics,
    counted: Counted,
    counts: impl Fn(usize) -> bool,
) -> WordScores {
    let TextStatistics { terms, all_best, lengths, frequencies, .. } = statistics;
    let mut document_frequency = vec![0_u64; query.terms.len()];
    for found in frequencies.iter().filter(|found| counts(found.text as usize)) {
        document_frequency[found.term as usize] += 1;
    }
    let idf: Vec<f64> = document_frequency.iter().map(|&texts| counted.idf(texts)).collect();
    let weights: Vec<f64> = idf.iter().zip(&query.terms).map(|(idf, term)| idf * term.weight).collect();
    let is_foreign = is_foreign(query, &document_frequency);
    let columns = weights.iter().zip(&terms.columns);
    let column_weight = |weight: &f64| if is_foreign { 0.0 } else { *weight };
    let column_weights: Vec<f64> =
        columns.filter_map(|(weight, column)| column.map(|_| column_weight(weight))).collect();
    let weight: f64 = weights.iter().sum();
    let mut all = vec![WordScore::default(); lengths.len()];
    if weight <= 0.0 {
        return WordScores { all, idf, weight: 0.0, known: 1.0, in_characters: 0.0 };
    }
    for ((score, best), &length) in all.iter_mut().zip(all_best.chunks_exact(terms.width)).zip(lengths) {
        let similar: f64 =
            best.iter().zip(&column_weights).map(|(best, weight)| f64::from(*best) * weight).sum();
        score.related = SIMILAR_WORD * similar;
        score.similar = score.related * counted.saturated(1.0, length);
    }
    for found in frequencies {
        let (score, weight) = (&mut all[found.text as usize], weights[found.term as usize]);
        let length = lengths[found.text as usize];
        score.words += weight * counted.saturated(f64::from(found.tenths) / 10.0, length);
        score.related += weight * f64::from(found.most_tenths) / 10.0;
        score.has_word |= found.most_tenths == EXACT_TENTHS && query.terms[found.term as usize].is_word;
    }
    for score in &mut all {
        for part in [&mut score.words, &mut score.similar, &mut score.related] {
            *part = (*part / weight).min(1.0);
        }
    }
    let known = column_weights.iter().sum::<f64>() / weight;
    let of_characters = query.terms.iter().zip(&weights).filter(|(term, _)| is_cjk_word(&term.word));
    let in_characters = of_characters.map(|(_, weight)| weight).sum::<f64>() / weight;
    WordScores { all, idf, weight, known, in_characters }
}

/// True if neither a text nor the model has any of the words: the pieces of which they are made say nothing.
fn is_foreign(query: &ParsedQuery, document_frequency: &[u64]) -> bool {
    let model = StaticModel::new();
    let mut terms = query.terms.iter().zip(document_frequency);
    terms.all(|(term, texts)| *texts == 0 && !model.knows(&term.word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embedder::Embedder;
    use crate::parsed_query::Synonyms;
    use crate::searchable_text::SearchableText;

    fn similarities(texts: &[&str], question: &str) -> Vec<f32> {
        let model = StaticModel::new();
        let mut corpus = Corpus::new(model.dimensions());
        let texts: Vec<SearchableText> = texts.iter().map(|text| SearchableText::plain(text)).collect();
        corpus.add(&texts, &model).unwrap();
        let question = ParsedQuery::parse(question, &Synonyms::default()).unwrap();
        let vector = model.embed_query(&question.undated).unwrap();
        let meaning = QueryMeaning { vector: &vector, unrelated: 0.0, adds_words: true };
        let statistics = TextStatistics::collect(&corpus, &question, None).unwrap();
        let scores = score(&corpus, &question, &meaning, statistics, |_| true).unwrap();
        scores.texts.iter().map(|score| scores.scale.similarity(score.strength)).collect()
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
        assert!(found[0] > 0.7 && found[1] < 0.25, "{found:?}");
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
