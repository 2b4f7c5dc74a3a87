//! The second round of a query: words that the best texts share are searched for, too.
//!
//! The strengths of all entries enter. Where one is relevant, the rarest words of the best few, as far as the query
//! does not have them, raise the strength of each entry that has them, by at most a fifth of the highest:
//!
//! ```text
//! best      = at most 3 live texts of the highest strength, each at least 0.7 of the first
//! more(t)   = Σ over best of strength · idf(t) / √(its different stems), of each stem t; the 10 highest count
//! e         = Σ more(t) · idf(t) · tf / (tf + 0.9 · n)
//! strength += 0.2 · (highest strength) · e / (highest e)
//! ```

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::corpus::Corpus;
use crate::entries::Entries;
use crate::parsed_query::ParsedQuery;
use crate::score::Scores;
use crate::term_similarities::StemShapes;
use crate::vocabulary::Words;

/// Similarity of the best text from which there is a second round.
const FROM_SIMILARITY: f32 = 0.2;

/// Limit of texts whose words are taken.
const MAX_TEXTS: usize = 3;

/// Least strength of such a text, as a share of the highest.
const NEAR: f32 = 0.7;

/// Limit of words that are taken.
const MAX_WORDS: usize = 10;

/// Weight of the second round: the highest gain, as a share of the highest strength.
const WEIGHT: f64 = 0.2;

/// A stem of the best texts.
#[derive(Default)]
struct Candidate {
    /// Σ strength / √(different stems) over the best texts that have it.
    share: f64,
    /// The texts that have it, with the number of times.
    occurrences: Vec<(u32, u32)>,
    /// The number of those that count.
    texts: u64,
}

impl Candidate {
    /// Adds occurrences in a text, which may have the stem in several words.
    #[inline]
    fn add(&mut self, text: u32, count: u32, entries: &Entries<'_>) {
        match self.occurrences.last_mut() {
            Some((last, known)) if *last == text => *known = known.saturating_add(count),
            _ => {
                self.occurrences.push((text, count));
                self.texts += u64::from(entries.is_live(text as usize));
            }
        }
    }
}

/// Adds what the second round finds to the strengths of entries. `None` if the corpus is inconsistent.
pub(super) fn add_second_round(
    corpus: &Corpus,
    query: &ParsedQuery,
    scores: &Scores,
    entries: &Entries<'_>,
    strengths: &mut [f32],
) -> Option<()> {
    let best = best_texts(strengths, entries);
    let highest = best.first().map_or(0.0, |(_, strength)| *strength);
    if query.terms.is_empty() || query.is_time || scores.scale.similarity(highest) < FROM_SIMILARITY {
        return Some(());
    }
    let mut candidates = Candidates::of(corpus, query, scores, &best)?;
    candidates.count_occurrences(corpus, entries)?;
    let idf = |candidate: &Candidate| scores.counted.idf(candidate.texts);
    let mut chosen: Vec<(f64, &Candidate)> =
        candidates.all.iter().map(|candidate| (candidate.share * idf(candidate), candidate)).collect();
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0));
    chosen.truncate(MAX_WORDS);
    let mut gains = vec![0.0_f64; corpus.len()];
    for (weight, candidate) in chosen {
        let weight = weight * idf(candidate);
        for &(text, count) in &candidate.occurrences {
            let length = scores.texts[text as usize].length;
            gains[text as usize] += weight * scores.counted.saturated(count.into(), length);
        }
    }
    let most =
        (0..gains.len()).filter(|text| entries.is_live(*text)).map(|text| gains[text]).fold(0.0, f64::max);
    if most > 0.0 {
        for (strength, &text) in strengths.iter_mut().zip(entries.texts) {
            *strength += (WEIGHT * f64::from(highest) * (gains[text] / most).min(1.0)) as f32;
        }
    }
    Some(())
}

/// The best live texts with their strengths, the highest first, each once.
fn best_texts(strengths: &[f32], entries: &Entries<'_>) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(MAX_TEXTS + 1);
    for (&strength, &text) in strengths.iter().zip(entries.texts) {
        let is_better = best.len() < MAX_TEXTS || best[MAX_TEXTS - 1].1 < strength;
        if strength > 0.0 && is_better && entries.is_live(text) {
            if let Some(at) = best.iter().position(|(other, _)| *other == text) {
                if best[at].1 >= strength {
                    continue;
                }
                best.remove(at);
            }
            best.insert(best.partition_point(|(_, other)| *other >= strength), (text, strength));
            best.truncate(MAX_TEXTS);
        }
    }
    let least = best.first().map_or(0.0, |(_, highest)| highest * NEAR);
    best.retain(|(_, strength)| *strength >= least);
    best
}

/// The stems of the best texts that the query does not have.
struct Candidates {
    /// Positions in `all` by stem.
    numbers: HashMap<Vec<u8>, u16, FixedState>,
    shapes: StemShapes,
    /// The first one stands for all other stems.
    all: Vec<Candidate>,
}

impl Candidates {
    /// `None` if the corpus is inconsistent.
    fn of(
        corpus: &Corpus,
        query: &ParsedQuery,
        scores: &Scores,
        best: &[(usize, f32)],
    ) -> Option<Candidates> {
        let mut candidates = Candidates {
            numbers: HashMap::default(),
            shapes: StemShapes::default(),
            all: vec![Candidate::default()],
        };
        let mut stem = Vec::new();
        for &(text, strength) in best {
            let (part, _) = corpus.part_of(text);
            let (words, _) = part.words_at(scores.places[text])?;
            let mut own: Vec<Vec<u8>> = Vec::with_capacity(words.len());
            for (word, _) in words {
                part.words.copy_stem(word, &mut stem);
                own.push(stem.clone());
            }
            own.sort_unstable();
            own.dedup();
            let share = f64::from(strength) / (own.len() as f64).sqrt();
            own.retain(|stem| !query.terms.iter().any(|term| term.stem.as_bytes() == stem));
            own.into_iter().for_each(|stem| candidates.add(stem, share));
        }
        Some(candidates)
    }

    fn add(&mut self, stem: Vec<u8>, share: f64) {
        let Ok(next) = u16::try_from(self.all.len()) else { return };
        self.shapes.add(&stem);
        let number = *self.numbers.entry(stem).or_insert(next);
        if number == next {
            self.all.push(Candidate::default());
        }
        self.all[usize::from(number)].share += share;
    }

    /// For each word the number of its stem; 0 for other words.
    fn numbers_of(&self, words: &Words<'_>) -> Vec<u16> {
        let mut numbers = vec![0; words.len()];
        let mut stem = Vec::new();
        for word in self.shapes.words(words) {
            words.copy_stem(word, &mut stem);
            numbers[word as usize] = self.numbers.get(&stem).copied().unwrap_or_default();
        }
        numbers
    }

    /// Finds the texts that have the stems. `None` if the corpus is inconsistent.
    fn count_occurrences(&mut self, corpus: &Corpus, entries: &Entries<'_>) -> Option<()> {
        let mut text = 0;
        for part in corpus.parts() {
            let numbers = self.numbers_of(&part.words);
            part.each(
                &mut text,
                |text, word, count| match numbers[word as usize] {
                    0 => {}
                    number => self.all[usize::from(number)].add(*text, count, entries),
                },
                |text, _, _| *text += 1,
            )?;
        }
        Some(())
    }
}
