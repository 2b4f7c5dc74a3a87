//! How like a question a text is: words, words of like meaning, and meaning as a whole.
//!
//! A corpus and a question enter; for each text its [`Parts`] leave, and from them a likeness from 0
//! to 1. All parts are absolute, that is, independent of what else was found, so that a likeness
//! means the same from question to question:
//!
//! ```text
//! likeness = 0.25 · words / (words + 16) + 0.35 · soft + 0.40 · meaning
//! words    BM25: Σ idf(q) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length)), k1 = 1.2, b = 0.4,
//!          idf(q) = ln(1 + (N − df + 0.5) / (df + 0.5))
//! soft     Σ idf(q) · g(q) / Σ idf(q); g(q) is 1 where a word of the text has the stem of q, 0.7 for a synonym,
//!          else the most of (cosine of the vectors of q and the word − 0.2) / 0.8, at least 0
//! meaning  (cosine of the vectors of question and text − u) / (1 − u), at least 0; of several vectors of a text
//!          the most; u is what the embedder gives unrelated texts, 0 for the embedded one
//! ```
//!
//! A text that answers canonical questions ([`crate::search::aliases`]) has as `soft` and `meaning` no
//! less than the likeness of the question to one of these, whatever the words: (c − 0.3) / 0.7 with c the
//! mapped cosine. So who asks just one of these has a likeness of 0.75, and a question that only begins
//! in the same way adds nothing.
//!
//! The weights were found best on public sets of questions; they are flat: a tenth more or less of one
//! changes little. A question of nothing but stop words has no terms; then `soft` is made of `meaning`.

use crate::search::corpus::Corpus;
use crate::search::embedded::StaticModel;
use crate::search::embedder::{QueryVector, Vectors};
use crate::search::question::{Match, Question};

const K1: f64 = 1.2;
const B: f64 = 0.4;

/// The BM25 score that counts half.
const HALF_WORDS: f32 = 16.0;

const WORDS_WEIGHT: f32 = 0.25;
const SOFT_WEIGHT: f32 = 0.35;
const MEANING_WEIGHT: f32 = 0.40;

/// Vectors of two words of the same language have that cosine for no reason.
const CHANCE: f32 = 0.2;

/// Vectors of two questions have that cosine for no reason: they ask in the same words.
const QUESTIONS_CHANCE: f32 = 0.3;

/// From so many texts on, words and meaning are compared at the same time.
const MANY: usize = 10_000;

/// A synonym counts so many tenths of the word itself.
const SYNONYM_TENTHS: u32 = 7;

/// How much the lines before and behind count for a line of dialogue.
const NEIGHBOUR: f32 = 0.2;

/// What makes up a likeness; each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Parts {
    /// Common words, rare ones more: BM25 as a part of itself and 16.
    pub words: f32,
    /// Words of like meaning, rare ones more.
    pub soft: f32,
    /// The meaning of the whole.
    pub meaning: f32,
}

impl Parts {
    /// The sum with its weights, from 0 to 1.
    pub fn likeness(&self) -> f32 {
        let sum = WORDS_WEIGHT * self.words + SOFT_WEIGHT * self.soft + MEANING_WEIGHT * self.meaning;
        sum.clamp(0.0, 1.0)
    }
}

/// The parts of each text of a corpus. `vector` is that of the question, and `unrelated` the cosine that
/// its embedder gives what has nothing to do with each other. `counts` tells which texts the frequency of
/// words is taken from: not from those that are superseded. `None` where the corpus makes no sense, which
/// only a damaged index can cause.
pub fn score(
    corpus: &Corpus,
    question: &Question,
    vector: &[f32],
    unrelated: f32,
    counts: impl Fn(usize) -> bool,
) -> Option<Vec<Parts>> {
    let needle = QueryVector::new(vector);
    let (words, meanings) = if corpus.len() < MANY {
        (score_words(corpus, question, counts), score_meaning(corpus, &needle, unrelated))
    } else {
        std::thread::scope(|scope| {
            let meanings = scope.spawn(|| score_meaning(corpus, &needle, unrelated));
            let words = score_words(corpus, question, counts);
            (words, meanings.join().ok().flatten())
        })
    };
    let all = words?.into_iter().zip(meanings?).map(|((words, soft), meaning)| {
        let Meaning { own, asked } = meaning;
        let soft = soft.unwrap_or(((own - CHANCE) / (1.0 - CHANCE)).max(0.0));
        Parts { words: words / (words + HALF_WORDS), soft: soft.max(asked), meaning: own.max(asked) }
    });
    Some(all.collect())
}

/// The likeness of each text where those that follow each other belong together, as the lines of a
/// dialogue do: a fifth of the likeness of each neighbour is added, up to 1. `follows` tells whether a
/// text follows the one before it; it is not asked for the first.
pub fn with_neighbours(own: &[f32], follows: impl Fn(usize) -> bool) -> Vec<f32> {
    let mut all = own.to_vec();
    for second in 1..own.len() {
        if follows(second) {
            all[second - 1] += NEIGHBOUR * own[second];
            all[second] += NEIGHBOUR * own[second - 1];
        }
    }
    all.iter_mut().for_each(|likeness| *likeness = likeness.min(1.0));
    all
}

/// How like in meaning a text is to a question.
#[derive(Clone, Copy)]
struct Meaning {
    /// By what it says.
    own: f32,
    /// By the questions that it answers.
    asked: f32,
}

fn score_meaning(corpus: &Corpus, question: &QueryVector, unrelated: f32) -> Option<Vec<Meaning>> {
    let mut cosines = corpus.vectors.cosines(question).into_iter();
    let mut most = |count: u8, unrelated: f32| {
        let most = cosines.by_ref().take(count.into()).fold(0.0_f32, f32::max);
        ((most - unrelated) / (1.0 - unrelated)).clamp(0.0, 1.0)
    };
    let asked_for_no_reason = unrelated + (1.0 - unrelated) * QUESTIONS_CHANCE;
    let mut meanings = Vec::with_capacity(corpus.len());
    for (&count, &questions) in corpus.vector_counts.iter().zip(&corpus.question_counts) {
        let own = most(count.checked_sub(questions)?, unrelated);
        meanings.push(Meaning { own, asked: most(questions, asked_for_no_reason) });
    }
    cosines.next().is_none().then_some(meanings)
}

/// How the words of the vocabulary answer to the terms of a question.
struct Answers {
    terms: usize,
    /// For each word and term, how like they are: 0 to 1.
    likeness: Vec<f32>,
    /// For each word, whether any term is answered by its stem or by a synonym.
    matched: Vec<bool>,
}

/// Terms are compared four at a time.
const LANES: usize = 4;

impl Answers {
    fn new(corpus: &Corpus, question: &Question) -> Answers {
        let model = StaticModel::new();
        let vocabulary = &corpus.vocabulary;
        let terms = question.terms.len().next_multiple_of(LANES);
        let needles: Vec<QueryVector> =
            question.terms.iter().map(|term| QueryVector::new(&vector_of(&term.word, model))).collect();
        let mut likeness = vec![0.0; vocabulary.len() * terms];
        let mut matched = vec![false; vocabulary.len()];
        let mut sum = vec![0.0; model.dimensions()];
        for number in 0..vocabulary.len() {
            let row = &mut likeness[number * terms..(number + 1) * terms];
            let pieces = vocabulary.pieces(number as u32);
            if let &[piece] = pieces {
                compare(&needles, model.row(piece.into()), row);
            } else if !pieces.is_empty() {
                sum.fill(0.0);
                model.add(pieces, &mut sum);
                let mut vector = Vectors::new(model.dimensions());
                vector.push(&sum);
                compare(&needles, vector.parts().0, row);
            }
            if !question.may_be_answered_by(vocabulary.word(number as u32)) {
                continue;
            }
            vocabulary.with_stem(number as u32, |start, ending| {
                for (value, term) in row.iter_mut().zip(&question.terms) {
                    let least = match term.matches((start, ending)) {
                        Some(Match::Stem) => 1.0,
                        Some(Match::Synonym) => SYNONYM_TENTHS as f32 / 10.0,
                        None => continue,
                    };
                    *value = value.max(least);
                    matched[number] = true;
                }
            });
        }
        Answers { terms, likeness, matched }
    }
}

fn vector_of(word: &str, model: StaticModel) -> Vec<f32> {
    let mut pieces = Vec::new();
    model.push_pieces_of(word, &mut pieces);
    let mut sum = vec![0.0; model.dimensions()];
    model.add(&pieces, &mut sum);
    sum
}

/// How like a word with that row is to each term, by its vector.
fn compare(needles: &[QueryVector], row: &[u8], likeness: &mut [f32]) {
    let squares: i32 = row.iter().map(|byte| i32::from(*byte as i8) * i32::from(*byte as i8)).sum();
    let inverse = if squares > 0 { 1.0 / (squares as f32).sqrt() } else { 0.0 };
    for (value, needle) in likeness.iter_mut().zip(needles) {
        *value = ((needle.dot(row) * inverse - CHANCE) / (1.0 - CHANCE)).clamp(0.0, 1.0);
    }
}

/// What is gathered while the words of all texts pass by.
struct Gathered {
    /// Of the text at hand: how like its words are to each term, at most.
    best: Vec<f32>,
    /// Of the text at hand: its words that matched, with their counts.
    hits: Vec<(u32, u32)>,
    length: u64,
    /// Of all texts: `best`, one behind the other, and lengths.
    all_best: Vec<f32>,
    lengths: Vec<u64>,
    /// Text, term, and tenths of how often the term is there.
    frequencies: Vec<(u32, u32, u32)>,
}

/// BM25 and soft part of each text; no soft part where the question has no terms.
fn score_words(
    corpus: &Corpus,
    question: &Question,
    counts: impl Fn(usize) -> bool,
) -> Option<Vec<(f32, Option<f32>)>> {
    if question.terms.is_empty() {
        return Some(vec![(0.0, None); corpus.len()]);
    }
    let answers = Answers::new(corpus, question);
    let gathered = gather(corpus, question, &answers)?;
    let terms = question.terms.len();
    let mut frequency = vec![0_u64; terms];
    for &(text, term, _) in &gathered.frequencies {
        frequency[term as usize] += u64::from(counts(text as usize));
    }
    let (mut texts, mut length) = (0_u64, 0_u64);
    for (text, own) in gathered.lengths.iter().enumerate().filter(|(text, _)| counts(*text)) {
        debug_assert!(text < corpus.len());
        texts += 1;
        length += own;
    }
    let average = if texts == 0 { 1.0 } else { (length as f64 / texts as f64).max(1.0) };
    let idf: Vec<f64> =
        frequency.iter().map(|&df| (1.0 + ((texts - df) as f64 + 0.5) / (df as f64 + 0.5)).ln()).collect();
    let mut words = vec![0.0_f64; corpus.len()];
    for &(text, term, tenths) in &gathered.frequencies {
        let count = f64::from(tenths) / 10.0;
        let longer = gathered.lengths[text as usize] as f64 / average;
        words[text as usize] +=
            idf[term as usize] * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * longer));
    }
    let weights: Vec<f32> = idf.iter().map(|idf| *idf as f32).collect();
    let all: f32 = weights.iter().sum();
    let soft = gathered
        .all_best
        .chunks_exact(answers.terms)
        .map(|best| best.iter().zip(&weights).map(|(best, weight)| best * weight).sum::<f32>() / all);
    Some(words.iter().zip(soft).map(|(words, soft)| (*words as f32, Some(soft.min(1.0)))).collect())
}

fn gather(corpus: &Corpus, question: &Question, answers: &Answers) -> Option<Gathered> {
    let width = answers.terms;
    let mut gathered = Gathered {
        best: vec![0.0; width],
        hits: Vec::new(),
        length: 0,
        all_best: Vec::with_capacity(corpus.len() * width),
        lengths: Vec::with_capacity(corpus.len()),
        frequencies: Vec::new(),
    };
    corpus.each(
        &mut gathered,
        |state, word, count| {
            let row = &answers.likeness[word as usize * width..][..width];
            for (best, value) in state.best.iter_mut().zip(row) {
                *best = if *value > *best { *value } else { *best };
            }
            state.length += u64::from(count);
            if answers.matched[word as usize] {
                state.hits.push((word, count));
            }
        },
        |state, text| {
            state.lengths.push(std::mem::take(&mut state.length));
            state.all_best.extend_from_slice(&state.best);
            state.best.fill(0.0);
            if state.hits.is_empty() {
                return;
            }
            for (number, term) in question.terms.iter().enumerate() {
                let matches =
                    |word| corpus.vocabulary.with_stem(word, |start, ending| term.matches((start, ending)));
                let tenths = |&(word, count): &(u32, u32)| match matches(word) {
                    Some(Match::Stem) => 10 * count,
                    Some(Match::Synonym) => SYNONYM_TENTHS * count,
                    None => 0,
                };
                let sum: u32 = state.hits.iter().map(tenths).fold(0, u32::saturating_add);
                if sum > 0 {
                    state.frequencies.push((text as u32, number as u32, sum));
                }
            }
            state.hits.clear();
        },
    )?;
    Some(gathered)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::corpus::Text;
    use crate::search::embedder::Embedder;
    use crate::search::question::Synonyms;

    fn likenesses(texts: &[&str], question: &str) -> Vec<f32> {
        let model = StaticModel::new();
        let mut corpus = Corpus::new(model.dimensions());
        let texts: Vec<Text> = texts.iter().map(|text| Text::plain(text)).collect();
        corpus.add(&texts, &model).unwrap();
        let question = Question::parse(question, &Synonyms::default()).unwrap();
        let parts =
            score(&corpus, &question, &model.embed_question(&question.text).unwrap(), 0.0, |_| true).unwrap();
        parts.iter().map(Parts::likeness).collect()
    }

    const TEXTS: [&str; 4] = [
        "A rusty key hangs from a beam in the attic.",
        "The troll blocks every way until it is fought with the sword.",
        "Putting a treasure into the case raises the score.",
        "",
    ];

    #[test]
    fn the_text_that_answers_is_the_likest() {
        for (question, answer) in [
            ("where did I see a key?", 0),
            ("which monster guards the passage", 1),
            ("how do I get points", 2),
        ] {
            let found = likenesses(&TEXTS, question);
            let best = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]));
            assert_eq!(best, Some(answer), "{question}: {found:?}");
        }
    }

    #[test]
    fn a_text_is_most_like_itself() {
        let found = likenesses(&TEXTS, TEXTS[0]);
        assert!(found[0] > 0.8 && found[1] < 0.5, "{found:?}");
        assert_eq!(found[3], 0.0);
    }

    proptest! {
        #[test]
        fn likeness_is_a_number_from_0_to_1(
            texts in prop::collection::vec("[a-e ]{0,20}|\\PC{0,20}|(key|lamp|the|take| ){0,9}", 0..6),
            question in "(key|lamps|get|was|troll|é| ){1,8}|\\PC{1,20}",
        ) {
            prop_assume!(Question::parse(&question, &Synonyms::default()).is_some());
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = likenesses(&texts, &question);
            prop_assert_eq!(found.len(), texts.len());
            for value in found {
                prop_assert!((0.0..=1.0).contains(&value), "{}", value);
            }
        }
    }
}
