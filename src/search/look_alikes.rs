//! Pairs of texts that may say the same, for a person to look at.

use crate::notebook::duplicates::{says_the_same, share, words_of};
use crate::search::similarity::Meanings;
use crate::search::words::{is_stop_word, stem, words};

/// Two entries may say the same from this share of common words on …
const ALIKE: f64 = 0.7;

/// … or from this share of common stems, stop words apart, …
const ALIKE_STEMS: f64 = 0.5;

/// … where the cosine of their meanings is no less than this.
const ALIKE_MEANING: f32 = 0.8;

/// Pairs of texts that may say the same, by their places in the list, for a person to look at:
/// they say nearly the same, share most of their words, or mean nearly the same in kindred words.
pub fn look_alikes(texts: &[&str]) -> Vec<(usize, usize)> {
    let words: Vec<Vec<String>> = texts.iter().map(|text| words_of(text)).collect();
    let stems: Vec<Vec<String>> = texts.iter().map(|text| stems_of(text)).collect();
    let meanings = Meanings::of(texts);
    let mut pairs = Vec::new();
    for (second, b) in words.iter().enumerate() {
        for (first, a) in words[..second].iter().enumerate() {
            let shared = share(a, b);
            // Texts that say nearly the same share half of their words; comparing others is dear.
            let alike = || {
                share(&stems[first], &stems[second]) >= ALIKE_STEMS
                    && meanings.similarity(first, second) >= ALIKE_MEANING
            };
            if shared >= ALIKE || (shared > 0.5 && says_the_same(texts[first], texts[second])) || alike() {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// The different stems of a text's words that say something, in order.
fn stems_of(text: &str) -> Vec<String> {
    let mut words = words(text);
    words.retain(|word| !is_stop_word(word));
    let mut stems: Vec<String> = words.iter().map(|word| stem(word).into_owned()).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_share_most_words() {
        let texts = [
            "The troll attacks when you give it food.",
            "North leads to the kitchen.",
            "When you give it food, the troll attacks!",
            "South leads down to the dark cellar.",
            "",
            "",
            "The troll attacked me after I gave it food.",
        ];
        assert_eq!(look_alikes(&texts), [(0, 2), (0, 6), (2, 6)]);
    }
}
