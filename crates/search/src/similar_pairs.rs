//! Pairs of texts that may say the same: hints for `check --dupes`, never a reason to drop one.

use std::collections::{HashMap, HashSet};

use crate::similarity::PairwiseCosines;
use crate::words::{is_stop_word, stem, words};
use memories_document::shared_characters;

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

/// The texts that may say the same as an earlier one: position of the first such, and of the text. They share most
/// characters or most words, or have a similar meaning and share half of their stems.
///
/// Each text is compared with those with which it has words in common, so the time is quadratic only where all texts
/// have the same words.
pub fn similar_pairs(texts: &[&str]) -> Vec<(usize, usize)> {
    let (mut words, mut stems) = (Overlaps::default(), Overlaps::default());
    let letters: Vec<Letters> = texts.iter().map(|text| Letters::of(text)).collect();
    let cosines = PairwiseCosines::of(texts);
    let mut pairs = Vec::new();
    for (second, text) in texts.iter().enumerate() {
        words.add(words_of(text));
        stems.add(stems_of(text));
        let is_similar = |first: &usize| {
            let first = *first;
            let shared = words.share(first);
            let similar_meaning =
                || stems.share(first) >= MIN_STEMS && cosines.cosine(first, second) >= MIN_COSINE;
            let few_edits = || {
                shared >= MIN_EDITED_WORDS
                    && letters[first].may_share(&letters[second])
                    && shared_characters(texts[first], text) > MIN_CHARACTERS
            };
            shared >= MIN_WORDS || few_edits() || similar_meaning()
        };
        pairs.extend((0..second).find(is_similar).map(|first| (first, second)));
    }
    pairs
}

/// Counts of the characters of a text, each in one of 64 groups.
struct Letters {
    groups: [u32; 64],
    characters: u32,
}

impl Letters {
    fn of(text: &str) -> Letters {
        let mut letters = Letters { groups: [0; 64], characters: 0 };
        for c in text.chars() {
            letters.groups[c as usize % 64] += 1;
            letters.characters += 1;
        }
        letters
    }

    /// False if two texts cannot share [`MIN_CHARACTERS`] in any order, which takes far less time than a comparison.
    fn may_share(&self, other: &Letters) -> bool {
        let common: u32 = self.groups.iter().zip(&other.groups).map(|(a, b)| a.min(b)).sum();
        2.0 * common as f32 > MIN_CHARACTERS * (self.characters + other.characters) as f32
    }
}

/// The numbers of words that the last text shares with each earlier one.
#[derive(Default)]
struct Overlaps {
    /// The texts that have a word, by their positions.
    texts: HashMap<String, Vec<usize>>,
    /// The number of words of each text.
    sizes: Vec<usize>,
    common: Vec<u32>,
}

impl Overlaps {
    /// Adds a text by its distinct words.
    fn add(&mut self, words: HashSet<String>) {
        self.common.clear();
        self.common.resize(self.sizes.len(), 0);
        let position = self.sizes.len();
        self.sizes.push(words.len());
        for word in words {
            let texts = self.texts.entry(word).or_default();
            texts.iter().for_each(|earlier| self.common[*earlier] += 1);
            texts.push(position);
        }
    }

    /// The share of common words among all words of the last text and an earlier one.
    fn share(&self, earlier: usize) -> f64 {
        match f64::from(self.common[earlier]) {
            0.0 => 0.0,
            common => common / ((self.sizes[earlier] + self.sizes[self.sizes.len() - 1]) as f64 - common),
        }
    }
}

/// The distinct words of a text.
fn words_of(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The distinct stems of a text without stop words.
fn stems_of(text: &str) -> HashSet<String> {
    let words = words(text).into_iter().filter(|word| !is_stop_word(word));
    words.map(|word| stem(&word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_paired_with_the_first_that_shares_most_words() {
        let texts = [
            "The troll attacks when you give it food.",
            "North leads to the kitchen.",
            "When you give it food, the troll attacks!",
            "South leads down to the dark cellar.",
            "",
            "",
            "The troll attacked me after I gave it food.",
        ];
        assert_eq!(similar_pairs(&texts), [(0, 2), (0, 6)]);
    }

    #[test]
    fn a_few_edits_of_characters_make_a_pair_and_other_words_do_not() {
        let texts = [
            "kittens sleep underneath blankets",
            "kitten sleep underneath blanket",
            "blankets sleep underneath mittens",
            "The lamp gives light to the cave.",
        ];
        assert_eq!(similar_pairs(&texts), [(0, 1)]);
    }

    #[test]
    fn no_pair_is_missed_that_a_comparison_of_all_finds() {
        let parts =
            ["the north door", "is locked", "a brass lamp", "opens", "with the key", "at night", "never"];
        let texts: Vec<String> = (0..300usize)
            .map(|at| [at % 7, at / 7 % 7, at / 49 % 7, at * 31 % 7].map(|part| parts[part]).join(" "))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (words, cosines): (Vec<_>, _) =
            (texts.iter().map(|text| words_of(text)).collect(), PairwiseCosines::of(&texts));
        let share = |a: &HashSet<String>, b: &HashSet<String>| {
            let common = a.intersection(b).count() as f64;
            common / (a.union(b).count() as f64).max(1.0)
        };
        let is_similar = |first: usize, second: usize| {
            let shared = share(&words[first], &words[second]);
            let stems = share(&stems_of(texts[first]), &stems_of(texts[second]));
            shared >= MIN_WORDS
                || stems >= MIN_STEMS && cosines.cosine(first, second) >= MIN_COSINE
                || shared >= MIN_EDITED_WORDS
                    && shared_characters(texts[first], texts[second]) > MIN_CHARACTERS
        };
        let expected: Vec<(usize, usize)> = (0..texts.len())
            .filter_map(|second| Some(((0..second).find(|first| is_similar(*first, second))?, second)))
            .collect();
        assert!(expected.len() > 100);
        assert_eq!(similar_pairs(&texts), expected);
    }
}
