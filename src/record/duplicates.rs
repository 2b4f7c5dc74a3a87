//! Whether a memory says what another one says already.
//!
//! A twin is not stored again; it is never a reason to remove anything.

use similar::TextDiff;

use crate::memory::Memory;

/// One text containing another counts as saying the same above this share of its length.
const CONTAINED: f64 = 0.8;

/// Texts count as the same from this similarity on (twice the common part by the sum of both).
const SIMILAR: f64 = 0.9;

/// Above this many characters texts are compared by words.
const BY_CHARACTERS: usize = 1000;

/// The first live memory that says nearly the same as `text`.
pub fn find_twin<'a>(text: &str, mut memories: impl Iterator<Item = &'a Memory>) -> Option<&'a Memory> {
    memories
        .find(|memory| memory.is_live() && !memory.category.only_grows() && says_the_same(text, &memory.text))
}

/// Whether two texts say nearly the same: equal without case and surplus space, one within the
/// other, or similar to nine tenths.
pub fn says_the_same(a: &str, b: &str) -> bool {
    let (a, b) = (fold(a), fold(b));
    if a == b {
        return true;
    }
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    if short.is_empty() {
        return false;
    }
    let (shorter, longer) = (short.chars().count() as f64, long.chars().count() as f64);
    if long.contains(short.as_str()) && shorter / longer > CONTAINED {
        return true;
    }
    // The most that two texts of these lengths can reach.
    if 2.0 * shorter.min(longer) / (shorter + longer) < SIMILAR {
        return false;
    }
    let ratio = if longer as usize <= BY_CHARACTERS {
        TextDiff::from_chars(short.as_str(), long.as_str()).ratio()
    } else {
        TextDiff::from_words(short.as_str(), long.as_str()).ratio()
    };
    f64::from(ratio) >= SIMILAR
}

/// Two entries may say the same from this share of common words on.
const ALIKE: f64 = 0.7;

/// Pairs of texts that may say the same, by their places in the list, for a person to look at:
/// they say nearly the same, or share most of their words.
pub fn look_alikes(texts: &[&str]) -> Vec<(usize, usize)> {
    let words: Vec<Vec<String>> = texts.iter().map(|text| words_of(text)).collect();
    let mut pairs = Vec::new();
    for (second, b) in words.iter().enumerate() {
        for (first, a) in words[..second].iter().enumerate() {
            let shared = share(a, b);
            // Texts that say nearly the same share half of their words; comparing others is dear.
            if shared >= ALIKE || (shared > 0.5 && says_the_same(texts[first], texts[second])) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

/// The different words of a text, in order.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The share of common words among all words of both.
fn share(a: &[String], b: &[String]) -> f64 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    // No more can be shared than the shorter one has.
    if (short as f64) < 0.5 * long as f64 || short == 0 {
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

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins() {
        assert!(says_the_same("The Troll  attacks.", "the troll attacks."));
        assert!(says_the_same("The troll attacks you.", "The troll attacks you. Run"));
        assert!(says_the_same(
            "The window can be opened with effort.",
            "The window can be opened with an effort."
        ));
        assert!(says_the_same("", " "));
    }

    #[test]
    fn look_alikes_share_most_words() {
        let texts = [
            "The troll attacks when you give it food.",
            "North leads to the kitchen.",
            "When you give it food, the troll attacks!",
            "South leads down to the dark cellar.",
            "",
            "",
        ];
        assert_eq!(look_alikes(&texts), [(0, 2)]);
    }

    #[test]
    fn others() {
        assert!(!says_the_same("The troll attacks.", "The troll attacks when you give it food to eat."));
        assert!(!says_the_same("North leads to the kitchen.", "South leads to the cellar."));
        assert!(!says_the_same("", "x"));
    }
}
