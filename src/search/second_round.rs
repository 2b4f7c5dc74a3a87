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

use crate::search::corpus::Corpus;
use crate::search::entries::Entries;
use crate::search::parsed_query::ParsedQuery;
use crate::search::score::Scores;

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
    if query.terms.is_empty() || scores.scale.similarity(highest) < FROM_SIMILARITY {
        return Some(());
    }
    let (numbers, mut candidates) = candidates(corpus, query, scores, &best)?;
    count_occurrences(corpus, &numbers, &mut candidates, entries)?;
    let idf = |candidate: &Candidate| scores.counted.idf(candidate.texts);
    let mut chosen: Vec<(f64, &Candidate)> =
        candidates.iter().map(|candidate| (candidate.share * idf(candidate), candidate)).collect();
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

/// The stems of the best texts that the query does not have, and for each word of the vocabulary the number of its
/// stem among them; 0 for other words.
fn candidates(
    corpus: &Corpus,
    query: &ParsedQuery,
    scores: &Scores,
    best: &[(usize, f32)],
) -> Option<(Vec<u16>, Vec<Candidate>)> {
    let vocabulary = &corpus.vocabulary;
    let stem_of = |word: u32| vocabulary.with_stem(word, |start, ending| format!("{start}{ending}"));
    let mut stems: HashMap<String, u16, FixedState> = HashMap::default();
    let mut candidates = vec![Candidate::default()];
    let mut first_bytes = [false; 256];
    for &(text, strength) in best {
        let mut own: Vec<String> =
            corpus.words_at(scores.places[text])?.into_iter().map(|(word, _)| stem_of(word)).collect();
        own.sort_unstable();
        own.dedup();
        let share = f64::from(strength) / (own.len() as f64).sqrt();
        for stem in own {
            if query.terms.iter().any(|term| term.stem == stem) || candidates.len() > usize::from(u16::MAX) {
                continue;
            }
            first_bytes[usize::from(stem.bytes().next().unwrap_or_default())] = true;
            let number = *stems.entry(stem).or_insert_with(|| {
                candidates.push(Candidate::default());
                (candidates.len() - 1) as u16
            });
            candidates[usize::from(number)].share += share;
        }
    }
    let mut stem = String::new();
    let numbers = (0..vocabulary.len() as u32).map(|word| {
        // A stem begins with the first byte of its word.
        let first = vocabulary.word(word).bytes().next().unwrap_or_default();
        if !first_bytes[usize::from(first)] {
            return 0;
        }
        vocabulary.with_stem(word, |start, ending| {
            stem.clear();
            stem.push_str(start);
            stem.push_str(ending);
        });
        stems.get(stem.as_str()).copied().unwrap_or_default()
    });
    Some((numbers.collect(), candidates))
}

/// Finds the texts that have the candidates.
fn count_occurrences(
    corpus: &Corpus,
    numbers: &[u16],
    candidates: &mut [Candidate],
    entries: &Entries<'_>,
) -> Option<()> {
    let mut found: Vec<(u16, u32)> = Vec::new();
    corpus.each(
        &mut found,
        |found, word, count| match numbers[word as usize] {
            0 => {}
            number => found.push((number, count)),
        },
        |found, text, _| {
            found.sort_unstable();
            for same in found.chunk_by(|a, b| a.0 == b.0) {
                let candidate = &mut candidates[usize::from(same[0].0)];
                candidate.occurrences.push((text as u32, same.iter().map(|(_, count)| count).sum()));
                candidate.texts += u64::from(entries.is_live(text));
            }
            found.clear();
        },
    )
}
