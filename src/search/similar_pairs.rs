//! Pairs of texts that may say the same: hints for `check --dupes`, never a reason to drop one.

use similar::TextDiff;

use crate::search::similarity::PairwiseCosines;
use crate::search::words::{is_stop_word, stem, words};

/// Minimum share of common words.
const MIN_WORDS: f64 = 0.7;

/// Minimum share of common stems, without stop words, if the meaning is similar too.
const MIN_STEMS: f64 = 0.5;

/// Minimum share of common words of texts that are compared by characters, which takes long.
const MIN_EDITED_WORDS: f64 = 0.3;

/// Minimum share of characters that stand in both texts in the same order.
const MIN_CHARACTERS: f32 = 0.9;

/// Minimum cosine of the two texts that goes with [`MIN_STEMS`].
const MIN_COSINE: f32 = 0.8;

/// Pairs of texts that may say the same, as positions in the list: texts that share most characters or most words,
/// and texts of similar meaning that share half of their stems.
pub(crate) fn similar_pairs(texts: &[&str]) -> Vec<(usize, usize)> {
    let words: Vec<Vec<String>> = texts.iter().map(|text| words_of(text)).collect();
    let stems: Vec<Vec<String>> = texts.iter().map(|text| stems_of(text)).collect();
    let cosines = PairwiseCosines::of(texts);
    let mut pairs = Vec::new();
    for (second, b) in words.iter().enumerate() {
        for (first, a) in words[..second].iter().enumerate() {
            let shared = share(a, b);
            let similar_meaning = || {
                share(&stems[first], &stems[second]) >= MIN_STEMS
                    && cosines.cosine(first, second) >= MIN_COSINE
            };
            let few_edits = || shared >= MIN_EDITED_WORDS && share_characters(texts[first], texts[second]);
            if shared >= MIN_WORDS || few_edits() || similar_meaning() {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// True for texts of similar length that differ in a few characters.
fn share_characters(a: &str, b: &str) -> bool {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    5 * short > 4 * long && TextDiff::from_chars(a, b).ratio() > MIN_CHARACTERS
}

/// The distinct words of a text, sorted.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    distinct(words.map(str::to_lowercase).collect())
}

/// The distinct stems of a text without stop words, sorted.
fn stems_of(text: &str) -> Vec<String> {
    let words = words(text).into_iter().filter(|word| !is_stop_word(word));
    distinct(words.map(|word| stem(&word).into_owned()).collect())
}

fn distinct(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words.dedup();
    words
}

/// The share of common words among all words of both.
fn share(a: &[String], b: &[String]) -> f64 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    // No more can be shared than the shorter one has.
    if (short as f64) < MIN_STEMS * long as f64 || short == 0 {
        return 0.0;
    }
    let (mut at, mut common) = (0, 0);
    for word in a {
        while b.get(at).is_some_and(|other| other < word) {
            at += 1;
        }
        common += usize::from(b.get(at) == Some(word));
    }
    common as f64 / (a.len() + b.len() - common) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_pairs_share_most_words() {
        let texts = [
            "The troll attacks when you give it food.",
            "North leads to the kitchen.",
            "When you give it food, the troll attacks!",
            "South leads down to the dark cellar.",
            "",
            "",
            "The troll attacked me after I gave it food.",
        ];
        assert_eq!(similar_pairs(&texts), [(0, 2), (0, 6), (2, 6)]);
    }
}
