//! The distinct words of a part of a corpus, each with its stem and its tokens.
//!
//! Stemming and tokenizing are expensive; here they happen once per distinct word, not once per occurrence. Words are
//! added to a [`Vocabulary`]; [`Words`] reads those of one, or those of the index without copying them.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::cjk::is_small;
use crate::embedded::{StaticModel, Token};
use crate::words::{is_stop_word, stem};

/// A word as it is stored: the start of its text, the lengths of `Word`, its first token, and the bits of the
/// inverse length.
pub(super) type StoredWord = [u32; 4];

/// The location of a word's text, stem and tokens.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: u32,
    length: u8,
    /// Bytes of the word that its stem begins with.
    kept: u8,
    /// Bytes of the stem's own ending, stored after the word.
    ending: u8,
    tokens: u8,
    first_token: u32,
    /// The inverse of the length of the word's vector; 0 if the model does not know the word.
    inverse_length: f32,
}

impl Word {
    fn pack(self) -> StoredWord {
        let lengths = u32::from_ne_bytes([self.length, self.kept, self.ending, self.tokens]);
        [self.start, lengths, self.first_token, self.inverse_length.to_bits()]
    }

    #[inline]
    fn unpack([start, lengths, first_token, inverse_length]: StoredWord) -> Word {
        let [length, kept, ending, tokens] = lengths.to_ne_bytes();
        let inverse_length = f32::from_bits(inverse_length);
        Word { start, length, kept, ending, tokens, first_token, inverse_length }
    }
}

/// Distinct words, numbered from 0, wherever they are stored.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    pub(super) words: &'a [StoredWord],
    pub(super) tokens: &'a [Token],
    /// The words in UTF-8, each followed by the ending of its stem.
    pub text: &'a [u8],
}

impl<'a> Words<'a> {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    #[inline]
    fn at(&self, number: u32) -> Word {
        Word::unpack(self.words[number as usize])
    }

    /// The bytes from an offset in the text; none where it is inconsistent.
    #[inline]
    fn bytes(&self, start: usize, length: u8) -> &'a [u8] {
        self.text.get(start..start + usize::from(length)).unwrap_or_default()
    }

    /// The UTF-8 of a word.
    #[inline]
    pub(super) fn word(&self, number: u32) -> &'a [u8] {
        let Word { start, length, .. } = self.at(number);
        self.bytes(start as usize, length)
    }

    /// The first byte of a word's stem and the length of the stem in bytes.
    #[inline]
    pub(super) fn shape(&self, number: u32) -> (u8, u8) {
        let Word { start, length, kept, ending, .. } = self.at(number);
        let begin = start as usize + if kept == 0 { usize::from(length) } else { 0 };
        let first = self.text.get(begin).copied().unwrap_or_default();
        (first, kept.saturating_add(ending))
    }

    /// Replaces a buffer's bytes by the UTF-8 of the stem of a word.
    pub(super) fn copy_stem(&self, number: u32, stem_of: &mut Vec<u8>) {
        stem_of.clear();
        let Word { start, length, kept, ending, .. } = self.at(number);
        let start = start as usize;
        stem_of.extend_from_slice(self.bytes(start, kept));
        stem_of.extend_from_slice(self.bytes(start + usize::from(length), ending));
    }

    /// The tokens whose vectors add up to the vector of a word; empty if the model does not know it.
    #[inline]
    pub(super) fn tokens(&self, number: u32) -> &'a [Token] {
        let Word { first_token, tokens, .. } = self.at(number);
        let first = first_token as usize;
        self.tokens.get(first..first + usize::from(tokens)).unwrap_or_default()
    }

    /// The inverse of the length of a word's vector; 0 if the model does not know the word.
    #[inline]
    pub(super) fn inverse_length(&self, number: u32) -> f32 {
        self.at(number).inverse_length
    }
}

/// Distinct words to which others are added.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    text: Vec<u8>,
    words: Vec<StoredWord>,
    tokens: Vec<Token>,
    /// Numbers by words; `None` for stop words and small characters.
    numbers: HashMap<Box<str>, Option<u32>, FixedState>,
}

impl Vocabulary {
    pub(super) fn words(&self) -> Words<'_> {
        Words { words: &self.words, tokens: &self.tokens, text: &self.text }
    }

    /// The number of a folded word, which is added if it is new; `None` for a stop word and for small characters.
    pub(super) fn number_of(&mut self, word: &str, model: StaticModel) -> Option<u32> {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = if is_stop_word(word) || is_small(word) {
            None
        } else {
            let mut tokens = Vec::new();
            model.tokenize_word(word, &mut tokens);
            Some(self.push(word, stem(word).as_bytes(), &tokens, inverse_length(&tokens, model)))
        };
        self.numbers.insert(word.into(), number);
        number
    }

    /// The number of a word of others, which is added if it is new; `None` where these are inconsistent.
    pub(super) fn number_of_other(&mut self, others: &Words<'_>, number: u32) -> Option<u32> {
        let word = std::str::from_utf8(others.word(number)).ok()?;
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let mut stem = Vec::new();
        others.copy_stem(number, &mut stem);
        let own = self.push(word, &stem, others.tokens(number), others.inverse_length(number));
        self.numbers.insert(word.into(), Some(own));
        Some(own)
    }

    fn push(&mut self, word: &str, stem: &[u8], tokens: &[Token], inverse_length: f32) -> u32 {
        let byte = |length: usize| u8::try_from(length).expect("words are truncated to 64 bytes");
        let start = u32::try_from(self.text.len()).expect("less than 4 GB of different words");
        self.text.extend_from_slice(word.as_bytes());
        let common = word.bytes().zip(stem).take_while(|(a, b)| a == *b).count();
        self.text.extend_from_slice(&stem[common..]);
        let word = Word {
            start,
            length: byte(word.len()),
            kept: byte(common),
            ending: byte(stem.len() - common),
            tokens: byte(tokens.len()),
            first_token: self.tokens.len() as u32,
            inverse_length,
        };
        self.words.push(word.pack());
        self.tokens.extend_from_slice(tokens);
        self.words.len() as u32 - 1
    }
}

/// The length of the sum of some tokens' vectors, inverted; 0 if there are none.
fn inverse_length(tokens: &[Token], model: StaticModel) -> f32 {
    let mut sum = vec![0.0; model.dimensions()];
    model.add(tokens, &mut sum);
    let squares: f32 = sum.iter().map(|value| value * value).sum();
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem_of(words: Words<'_>, number: u32) -> String {
        let mut stem = Vec::new();
        words.copy_stem(number, &mut stem);
        String::from_utf8(stem).unwrap()
    }

    #[test]
    fn words_have_numbers_stems_and_tokens() {
        let model = StaticModel::new();
        let words = ["keys", "happily", "the", "тролль", "keys", "lanterns"];
        let mut vocabulary = Vocabulary::default();
        let numbers: Vec<_> = words.iter().map(|word| vocabulary.number_of(word, model)).collect();
        assert_eq!(numbers, [Some(0), Some(1), None, Some(2), Some(0), Some(3)]);
        let mut other = Vocabulary::default();
        other.number_of("new", model);
        other.number_of("lanterns", model);
        let copied: Vec<_> =
            (0..4).map(|number| other.number_of_other(&vocabulary.words(), number)).collect();
        assert_eq!(copied, [Some(2), Some(3), Some(4), Some(1)]);
        for (words, number) in [(vocabulary.words(), [0, 1, 2, 3]), (other.words(), [2, 3, 4, 1])] {
            let [keys, happily, troll, lanterns] = number;
            assert_eq!(
                (words.word(happily), stem_of(words, happily)),
                (&b"happily"[..], "happili".to_owned())
            );
            assert_eq!((words.word(troll), words.tokens(troll).len()), ("тролль".as_bytes(), 0));
            assert_eq!((stem_of(words, keys), words.tokens(lanterns).len()), ("key".to_owned(), 1));
            assert!(words.inverse_length(keys) > 0.0 && words.inverse_length(troll) == 0.0);
        }
    }

    #[test]
    fn a_stem_may_have_an_ending_that_its_word_lacks() {
        let model = StaticModel::new();
        let mut vocabulary = Vocabulary::default();
        let number = vocabulary.number_of("dying", model).unwrap();
        assert_eq!(stem_of(vocabulary.words(), number), "die");
        assert_eq!(vocabulary.words().shape(number), (b'd', 3));
    }

    #[test]
    fn inconsistent_words_are_empty() {
        let word = |start, first_token| [start, u32::from_ne_bytes([3, 2, 1, 2]), first_token, 0];
        let stored = [word(1, 0), word(u32::MAX, u32::MAX)];
        let words = Words { words: &stored, tokens: &[7], text: b"key" };
        for number in 0..2 {
            assert_eq!((words.word(number), words.tokens(number)), (&b""[..], &[][..]));
            let mut stem = vec![1];
            words.copy_stem(number, &mut stem);
            assert!(stem.len() < 3, "{stem:?}");
        }
        assert_eq!(words.shape(1).0, 0);
    }
}
