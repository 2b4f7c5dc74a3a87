//! Many texts, asked many times whether one of them says nearly what a new one says.
//!
//! Texts enter once and are sorted by their words; then a text enters, and the number of its twin
//! leaves. The answer is that of [`crate::notebook::duplicates`], found without comparing all pairs.

use std::collections::HashMap;

use crate::notebook::duplicates::{CONTAINED, Folded, share, words_of};

/// From this many words on, texts must share half of their words to be compared at all.
const MANY_WORDS: usize = 4;

/// Texts made ready to be asked many times whether one of them says nearly the same.
///
/// Of texts that share more than half of their words, the rarest word in common is among the rarer
/// half of the words of each: so a text is only looked for under these.
#[derive(Debug, Default)]
pub struct Sayings {
    texts: Vec<Saying>,
    exact: HashMap<String, usize>,
    /// How many texts have a word.
    frequency: HashMap<String, usize>,
    /// Texts of many words, by the rarer half of their words.
    by_word: HashMap<String, Vec<usize>>,
    /// Texts of few words.
    short: Vec<usize>,
}

#[derive(Debug)]
struct Saying {
    folded: Folded,
    words: Vec<String>,
}

impl Saying {
    fn of(folded: Folded) -> Saying {
        Saying { words: words_of(&folded.text), folded }
    }

    /// Whether both say nearly the same, cheap reasons against it first.
    fn is_twin_of(&self, other: &Saying) -> bool {
        let (a, b) = (self.folded.characters.len(), other.folded.characters.len());
        let few = self.words.len().min(other.words.len()) < MANY_WORDS;
        a.min(b) as f64 > CONTAINED * a.max(b) as f64
            && (few || share(&self.words, &other.words) > 0.5)
            && self.folded.says_the_same(&other.folded)
    }
}

impl Sayings {
    /// Makes texts ready.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Sayings {
        let mut sayings = Sayings::default();
        for (at, text) in texts.enumerate() {
            let saying = Saying::of(Folded::new(text));
            sayings.exact.entry(saying.folded.text.clone()).or_insert(at);
            for word in &saying.words {
                *sayings.frequency.entry(word.clone()).or_default() += 1;
            }
            sayings.texts.push(saying);
        }
        for (at, saying) in sayings.texts.iter().enumerate() {
            if saying.words.len() < MANY_WORDS {
                sayings.short.push(at);
                continue;
            }
            for word in rarer_half(&saying.words, &sayings.frequency) {
                sayings.by_word.entry(word.clone()).or_default().push(at);
            }
        }
        sayings
    }

    /// The number of a text that says nearly the same: one of the same words, else the first. As
    /// [`says_the_same`](crate::notebook::duplicates::says_the_same), but texts of four words and more must share half of them.
    pub fn find(&self, text: &str) -> Option<usize> {
        let folded = Folded::new(text);
        if let Some(&at) = self.exact.get(&folded.text) {
            return Some(at);
        }
        let saying = Saying::of(folded);
        if saying.words.len() < MANY_WORDS {
            return self.texts.iter().position(|other| saying.is_twin_of(other));
        }
        let half = rarer_half(&saying.words, &self.frequency);
        let mut near: Vec<usize> =
            half.filter_map(|word| self.by_word.get(word)).flatten().copied().collect();
        near.extend(&self.short);
        near.sort_unstable();
        near.dedup();
        near.into_iter().find(|&at| saying.is_twin_of(&self.texts[at]))
    }
}

/// The rarer half of the words, rounded up; in one order for all texts.
fn rarer_half<'a>(
    words: &'a [String],
    frequency: &HashMap<String, usize>,
) -> impl Iterator<Item = &'a String> {
    let mut ordered: Vec<&String> = words.iter().collect();
    ordered.sort_by_cached_key(|word| (frequency.get(*word).copied().unwrap_or(0), *word));
    ordered.truncate(words.len().div_ceil(2));
    ordered.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notebook::duplicates::says_the_same;

    #[test]
    fn many_texts_are_asked_at_once() {
        let texts = [
            "North leads to the kitchen.",
            "The window of the old white house can be opened with effort.",
            "Dark.",
        ];
        let sayings = Sayings::of(texts.iter().copied());
        assert_eq!(sayings.find("north leads to  the KITCHEN."), Some(0));
        assert_eq!(sayings.find("The window of the old white house can be opened with an effort."), Some(1));
        assert_eq!(sayings.find("The window of the old white house is nailed shut for good."), None);
        assert_eq!(sayings.find("Dark!"), None);
        assert_eq!(sayings.find(""), None);
    }

    proptest::proptest! {
        /// The index leaves out nothing that is a twin.
        #[test]
        fn what_is_looked_up_is_what_comparing_all_finds(
            texts in proptest::collection::vec("[ab]{1,2}( [abc]{1,2}){0,9}", 0..20),
            text in "[ab]{1,2}( [abc]{1,2}){0,9}",
        ) {
            let sayings = Sayings::of(texts.iter().map(String::as_str));
            let exact = texts.iter().position(|other| *other == text);
            let half = |other: &&String| {
                let (words, of_other) = (words_of(&text), words_of(other));
                words.len().min(of_other.len()) < MANY_WORDS || share(&words, &of_other) > 0.5
            };
            let shorter = |other: &&String| {
                let (a, b) = (text.len().min(other.len()), text.len().max(other.len()));
                a as f64 > CONTAINED * b as f64
            };
            let same = |other: &String| half(&other) && shorter(&other) && says_the_same(&text, other);
            let twin = || texts.iter().position(same);
            proptest::prop_assert_eq!(sayings.find(&text), exact.or_else(twin));
        }
    }
}
