//! Near-duplicates: texts that say nearly the same.
//!
//! A near-duplicate is not stored again; it is never a reason to remove anything. One rule,
//! [`ComparableText::says_the_same`], decides for single memories, for imports and for `check`. All
//! pairs are compared: limits that are cheap to compute rule out most of them, so that 10,000 notes
//! against 10,000 others take half a second to five seconds of processor time, depending on how similar
//! they are.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use similar::TextDiff;

use crate::types::Memory;

/// Longest text, in characters, that is compared by characters; longer ones are compared by words.
const BY_CHARACTERS: usize = 1000;

/// Classes into which characters are counted.
const CHARACTER_CLASSES: usize = 64;

/// Classes into which words are counted.
const WORD_CLASSES: usize = 256;

/// The first live memory that says nearly the same as a text. Kinds that only grow are left out.
pub(crate) fn find_near_duplicate<'a>(
    text: &str,
    mut memories: impl Iterator<Item = &'a Memory>,
) -> Option<&'a Memory> {
    let text = ComparableText::new(text);
    memories.find(|memory| {
        memory.is_live()
            && !memory.category.only_grows()
            && text.says_the_same(&ComparableText::new(&memory.text))
    })
}

/// True if two texts say nearly the same; see [`ComparableText::says_the_same`].
pub(crate) fn says_the_same(a: &str, b: &str) -> bool {
    ComparableText::new(a).says_the_same(&ComparableText::new(b))
}

/// A text prepared for many comparisons: in lower case, with single spaces.
#[derive(Debug)]
pub(crate) struct ComparableText {
    text: String,
    characters: Vec<char>,
    /// Characters by class: two texts share at most the sum of the smaller counts.
    classes: [u16; CHARACTER_CLASSES],
    words: OnceCell<WordCounts>,
    positions: OnceCell<Positions>,
}

/// Word counts of a text: in all and by class.
#[derive(Debug)]
struct WordCounts {
    all: usize,
    classes: [u32; WORD_CLASSES],
}

/// The positions of each character in a text, one bit for each position.
#[derive(Debug)]
struct Positions {
    /// The row of each ASCII character in `bits`; row 0 is that of all characters that are missing.
    ascii: [u16; 128],
    other: HashMap<char, u16, FixedState>,
    bits: Vec<u64>,
    /// Words of 64 bits in a row.
    width: usize,
}

impl ComparableText {
    /// Prepares a text.
    pub(crate) fn new(text: &str) -> ComparableText {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let characters: Vec<char> = text.chars().collect();
        let mut classes = [0_u16; CHARACTER_CLASSES];
        for &character in characters.iter().take(BY_CHARACTERS) {
            classes[character as usize % CHARACTER_CLASSES] += 1;
        }
        let (words, positions) = (OnceCell::new(), OnceCell::new());
        ComparableText { text, characters, classes, words, positions }
    }

    /// True if both say nearly the same, regardless of case and surplus space: they are equal; or the
    /// shorter has more than 0.8 of the length of the longer and stands within it; or it has that
    /// length and more than 0.9 of both texts together is common to them in the same order, counted in
    /// characters or, where one is longer than 1,000 characters, in words and spaces.
    pub(crate) fn says_the_same(&self, other: &ComparableText) -> bool {
        if self.text == other.text {
            return true;
        }
        let (short, long) = match self.characters.len() < other.characters.len() {
            true => (self, other),
            false => (other, self),
        };
        let (shorter, longer) = (short.characters.len(), long.characters.len());
        if 5 * shorter <= 4 * longer {
            return false;
        }
        let stands_within = || long.text.contains(&short.text);
        if longer > BY_CHARACTERS {
            let (words, of_long) = (short.words(), long.words());
            let common = words.most_common(of_long);
            // All words of a contained text but the first and the last are whole words of the other.
            let contained = common + 2 >= words.all && stands_within();
            let tokens = 2 * (words.all + of_long.all - 1);
            let upper_bound = 2 * common + 2 * (words.all.min(of_long.all) - 1);
            return contained
                || is_over_nine_tenths(upper_bound, tokens)
                    && f64::from(TextDiff::from_words(&*short.text, &*long.text).ratio()) > 0.9;
        }
        let classes = self.classes.iter().zip(&other.classes);
        let common: u32 = classes.map(|(a, b)| u32::from(*a.min(b))).sum();
        let common = common as usize;
        common == shorter && stands_within()
            || is_over_nine_tenths(2 * common, shorter + longer)
                && is_over_nine_tenths(2 * self.longest_common_subsequence(other), shorter + longer)
    }

    fn words(&self) -> &WordCounts {
        self.words.get_or_init(|| {
            let mut counts = WordCounts { all: 0, classes: [0; WORD_CLASSES] };
            for word in self.text.split(' ') {
                counts.all += 1;
                counts.classes[FixedState::default().hash_one(word) as usize % WORD_CLASSES] += 1;
            }
            counts
        })
    }

    /// Length of the longest common subsequence of characters, by the bit-parallel algorithm of Hyyrö
    /// (2004): a zero bit in `row` is a character of this text that is matched. Both texts have at most
    /// [`BY_CHARACTERS`] characters.
    fn longest_common_subsequence(&self, other: &ComparableText) -> usize {
        let positions = self.positions.get_or_init(|| Positions::of(&self.characters));
        let mut row = [u64::MAX; BY_CHARACTERS.div_ceil(64)];
        let row = &mut row[..positions.width];
        for &character in &other.characters {
            let mut carry = false;
            for (row, matches) in row.iter_mut().zip(positions.row(character)) {
                let (sum, over) = row.overflowing_add(*row & matches);
                let (sum, carried) = sum.overflowing_add(u64::from(carry));
                carry = over || carried;
                *row = sum | (*row & !matches);
            }
        }
        row.iter().map(|row| row.count_zeros() as usize).sum()
    }
}

impl Positions {
    fn of(characters: &[char]) -> Positions {
        let width = characters.len().div_ceil(64);
        let bits = vec![0; width];
        let mut positions = Positions { ascii: [0; 128], other: HashMap::default(), bits, width };
        for (at, &character) in characters.iter().enumerate() {
            let next = u16::try_from(positions.bits.len() / width).expect("fewer rows than characters");
            let row = match positions.ascii.get_mut(character as usize) {
                Some(row) => row,
                None => positions.other.entry(character).or_default(),
            };
            if *row == 0 {
                *row = next;
                positions.bits.resize(positions.bits.len() + width, 0);
            }
            positions.bits[usize::from(*row) * width + at / 64] |= 1 << (at % 64);
        }
        positions
    }

    fn row(&self, character: char) -> &[u64] {
        let row = match self.ascii.get(character as usize) {
            Some(row) => *row,
            None => self.other.get(&character).copied().unwrap_or_default(),
        };
        &self.bits[usize::from(row) * self.width..][..self.width]
    }
}

impl WordCounts {
    /// The words that two texts have in common, or more.
    fn most_common(&self, other: &WordCounts) -> usize {
        self.classes.iter().zip(&other.classes).map(|(a, b)| *a.min(b) as usize).sum()
    }
}

/// True if a part is more than 0.9 of a whole.
fn is_over_nine_tenths(part: usize, whole: usize) -> bool {
    10 * part > 9 * whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::{ChangeTag, TextDiff};

    use super::*;

    /// The rule without any limit that saves work.
    fn rule(a: &str, b: &str) -> bool {
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let (a, b) = (folded(a), folded(b));
        let (a, b) = if a.chars().count() < b.chars().count() { (a, b) } else { (b, a) };
        let (shorter, longer) = (a.chars().count(), b.chars().count());
        let diff = match longer > BY_CHARACTERS {
            true => TextDiff::from_words(&*a, &*b),
            false => TextDiff::from_chars(&*a, &*b),
        };
        let common = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Equal).count();
        let all = diff.old_len() + diff.new_len();
        a == b || 5 * shorter > 4 * longer && (b.contains(&a) || 20 * common > 9 * all)
    }

    proptest! {
        #[test]
        fn the_limits_rule_out_nothing(
            text in "[a-d é]{8,140}", at in 0..8_usize, gone in 0..9_usize, instead in "[a-dé]{0,9}", other in "[a-c ]{0,60}",
        ) {
            let characters: Vec<char> = text.chars().collect();
            let end = (at + gone).min(characters.len());
            let edited: String = characters[..at].iter().copied().chain(instead.chars()).chain(characters[end..].iter().copied()).collect();
            for (a, b) in [(&text, &edited), (&edited, &text), (&text, &other)] {
                prop_assert_eq!(says_the_same(a, b), rule(a, b), "{:?} {:?}", a, b);
            }
        }

        #[test]
        fn the_limits_rule_out_no_long_text(
            words in prop::collection::vec("[a-e]{1,9}", 180..260), at in 0..100_usize, gone in 0..40_usize, instead in "[a-e ]{0,90}",
        ) {
            let edited = [&words[..at], &[instead], &words[at + gone..]].concat().join(" ");
            let text = words.join(" ");
            prop_assert_eq!(says_the_same(&text, &edited), rule(&text, &edited), "{:?} {:?}", text, edited);
            prop_assert_eq!(says_the_same(&edited, &text), rule(&text, &edited), "{:?} {:?}", text, edited);
        }
    }

    #[test]
    fn near_duplicates_say_the_same() {
        assert!(says_the_same("The Troll  attacks.", "the troll attacks."));
        assert!(says_the_same("The troll attacks you.", "The troll attacks you. Run"));
        assert!(says_the_same(
            "The window can be opened with effort.",
            "The window can be opened with an effort."
        ));
        assert!(says_the_same("", " "));
    }

    #[test]
    fn other_texts_do_not() {
        assert!(!says_the_same("The troll attacks.", "The troll attacks when you give it food to eat."));
        assert!(!says_the_same("North leads to the kitchen.", "South leads to the cellar."));
        assert!(!says_the_same("", "x"));
        // Exactly 0.9 is common.
        assert!(!says_the_same("abcdefghij", "abcdefghix"));
    }
}
