//! Whether a memory says what another one says already.
//!
//! A twin is not stored again; it is never a reason to remove anything.

use similar::{Algorithm, TextDiff, capture_diff_slices, diff_ratio};

use crate::types::Memory;
use crate::types::text::fold_spaces;

/// One text containing another counts as saying the same above this share of its length.
pub(super) const CONTAINED: f64 = 0.8;

/// Texts count as the same from this similarity on (twice the common part by the sum of both).
const SIMILAR: f64 = 0.9;

/// Above this many characters texts are compared by words.
const BY_CHARACTERS: usize = 1000;

/// The first live memory that says nearly the same as `text`.
pub fn find_twin<'a>(text: &str, mut memories: impl Iterator<Item = &'a Memory>) -> Option<&'a Memory> {
    let text = Folded::new(text);
    memories.find(|memory| {
        memory.is_live() && !memory.category.only_grows() && text.says_the_same(&Folded::new(&memory.text))
    })
}

/// Whether two texts say nearly the same: equal without case and surplus space, one within the
/// other, or similar to nine tenths.
pub fn says_the_same(a: &str, b: &str) -> bool {
    Folded::new(a).says_the_same(&Folded::new(b))
}

/// A text as it is compared: in lower case, with single spaces.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) text: String,
    pub(super) characters: Vec<char>,
    /// How many characters fall into each of these kinds: an upper limit of what two texts share.
    kinds: [u32; 64],
}

impl Folded {
    pub(super) fn new(text: &str) -> Folded {
        let text = fold_spaces(text).to_lowercase();
        let characters: Vec<char> = text.chars().collect();
        let mut kinds = [0; 64];
        for &character in &characters {
            kinds[character as usize % 64] += 1;
        }
        Folded { text, characters, kinds }
    }

    pub(super) fn says_the_same(&self, other: &Folded) -> bool {
        if self.text == other.text {
            return true;
        }
        let (short, long) =
            if self.characters.len() < other.characters.len() { (self, other) } else { (other, self) };
        let (shorter, longer) = (short.characters.len(), long.characters.len());
        if shorter == 0 {
            return false;
        }
        if shorter as f64 / longer as f64 > CONTAINED && long.text.contains(&short.text) {
            return true;
        }
        // Comparing in order is dear: most pairs cannot reach it in any order.
        let both = (shorter + longer) as f64;
        let common: u32 = short.kinds.iter().zip(&long.kinds).map(|(a, b)| a.min(b)).sum();
        if 2.0 * f64::from(common) / both < SIMILAR {
            return false;
        }
        let ratio = if longer <= BY_CHARACTERS {
            let operations = capture_diff_slices(Algorithm::Myers, &short.characters, &long.characters);
            diff_ratio(&operations, shorter, longer)
        } else {
            TextDiff::from_words(short.text.as_str(), long.text.as_str()).ratio()
        };
        f64::from(ratio) >= SIMILAR
    }
}

/// The different words of a text, in order.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The share of common words among all words of both.
pub(crate) fn share(a: &[String], b: &[String]) -> f64 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_pair_is_passed_by_that_is_similar(text in "[a-d ]{10,40}", at in 0..10_usize, instead in "[a-d]{0,5}") {
            let changed = format!("{}{instead}{}", &text[..at], &text[at + 1..]);
            let (a, b) = (fold_spaces(&text), fold_spaces(&changed));
            let similar = f64::from(TextDiff::from_chars(a.as_str(), b.as_str()).ratio()) >= SIMILAR;
            prop_assert!(!similar || says_the_same(&a, &b), "{a:?} {b:?}");
        }
    }

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
    fn others() {
        assert!(!says_the_same("The troll attacks.", "The troll attacks when you give it food to eat."));
        assert!(!says_the_same("North leads to the kitchen.", "South leads to the cellar."));
        assert!(!says_the_same("", "x"));
    }
}
