//! The distinct words of a corpus, each with its stem and its tokens.
//!
//! Stemming and tokenizing are expensive; here they happen once per distinct word, not once per occurrence.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::search::cjk::is_small;
use crate::search::embedded::{StaticModel, Token};
use crate::search::words::{is_stop_word, stem};

/// The distinct words of a corpus, numbered from 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary {
    /// The words, each followed by the ending of its stem.
    text: String,
    words: Vec<Word>,
    tokens: Vec<Token>,
    /// Numbers by words; `None` for stop words. Filled only when words are added: a query does not need it.
    numbers: HashMap<Box<str>, Option<u32>, FixedState>,
}

/// Value of [`Word::kept`] when the stem is not computed yet.
const UNKNOWN: u8 = u8::MAX;

/// The location of a word's text, stem and tokens.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: u32,
    length: u8,
    /// Bytes of the word that its stem begins with, or [`UNKNOWN`].
    kept: u8,
    /// Bytes of the stem's own ending, stored after the word.
    ending: u8,
    tokens: u8,
    first_token: u32,
    /// The inverse of the length of the word's vector; 0 if the model does not know the word.
    inverse_length: f32,
}

impl Vocabulary {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, number: u32) -> &str {
        let Word { start, length, .. } = self.words[number as usize];
        &self.text[start as usize..start as usize + usize::from(length)]
    }

    /// Calls `show` with the stem of a word in two parts, which avoids allocating it.
    pub(crate) fn with_stem<T>(&self, number: u32, show: impl FnOnce(&str, &str) -> T) -> T {
        match self.kept_stem(number) {
            Some((start, ending)) => show(start, ending),
            None => show(&stem(self.word(number)), ""),
        }
    }

    fn kept_stem(&self, number: u32) -> Option<(&str, &str)> {
        let Word { start, length, kept, ending, .. } = self.words[number as usize];
        if kept == UNKNOWN {
            return None;
        }
        let word = start as usize;
        let end = word + usize::from(length);
        Some((&self.text[word..word + usize::from(kept)], &self.text[end..end + usize::from(ending)]))
    }

    /// The tokens whose vectors add up to the vector of a word; empty if the model does not know it.
    pub(crate) fn tokens(&self, number: u32) -> &[Token] {
        let Word { first_token, tokens, .. } = self.words[number as usize];
        &self.tokens[first_token as usize..first_token as usize + usize::from(tokens)]
    }

    /// The tokens of all words.
    pub(crate) fn all_tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The inverse of the length of a word's vector; 0 if the model does not know the word.
    pub(crate) fn inverse_length(&self, number: u32) -> f32 {
        self.words[number as usize].inverse_length
    }

    /// The number of a folded word, which is added if it is new; `None` for a stop word and for small characters.
    pub(crate) fn number_of(&mut self, word: &str, model: StaticModel) -> Option<u32> {
        if self.numbers.is_empty() && !self.words.is_empty() {
            for number in 0..self.words.len() as u32 {
                let word = self.word(number).into();
                self.numbers.insert(word, Some(number));
            }
        }
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = if is_stop_word(word) || is_small(word) {
            None
        } else {
            let mut tokens = Vec::new();
            model.tokenize_word(word, &mut tokens);
            Some(self.push(word, None, &tokens, inverse_length(&tokens, model)))
        };
        self.numbers.insert(word.into(), number);
        number
    }

    /// Adds a word. Without a stem, the stem is computed whenever it is needed.
    fn push(&mut self, word: &str, stem: Option<&str>, tokens: &[Token], inverse_length: f32) -> u32 {
        let byte = |length: usize| u8::try_from(length).expect("words are truncated to 64 bytes");
        let start = u32::try_from(self.text.len()).expect("less than 4 GB of different words");
        self.text.push_str(word);
        let (mut kept, mut ending) = (UNKNOWN, 0);
        if let Some(stem) = stem {
            let common = word.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
            let common = word.floor_char_boundary(common).min(stem.floor_char_boundary(common));
            self.text.push_str(&stem[common..]);
            (kept, ending) = (byte(common), byte(stem.len() - common));
        }
        self.words.push(Word {
            start,
            length: byte(word.len()),
            kept,
            ending,
            tokens: byte(tokens.len()),
            first_token: self.tokens.len() as u32,
            inverse_length,
        });
        self.tokens.extend_from_slice(tokens);
        self.words.len() as u32 - 1
    }

    /// The same words under the same numbers, each with its stem.
    fn with_all_stems(&self) -> Vocabulary {
        let mut all = Vocabulary::default();
        for number in 0..self.words.len() as u32 {
            let stem = self.with_stem(number, |start, ending| format!("{start}{ending}"));
            all.push(self.word(number), Some(&stem), self.tokens(number), self.inverse_length(number));
        }
        all
    }

    /// Appends the vocabulary in the format of the index: counts, four lengths for each word, the inverse lengths of
    /// their vectors, tokens, text.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let Vocabulary { text, words, tokens, .. } = self.with_all_stems();
        for count in [words.len(), tokens.len(), text.len()] {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for word in &words {
            out.extend_from_slice(&[word.length, word.kept, word.ending, word.tokens]);
        }
        words.iter().for_each(|word| out.extend_from_slice(&word.inverse_length.to_le_bytes()));
        tokens.iter().for_each(|token| out.extend_from_slice(&token.to_le_bytes()));
        out.extend_from_slice(text.as_bytes());
    }

    /// Reads what [`Vocabulary::write`] wrote; `None` if it is inconsistent.
    pub(super) fn read(bytes: &mut &[u8], model: StaticModel) -> Option<Vocabulary> {
        let mut count = || Some(u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?) as usize);
        let (words, tokens, length) = (count()?, count()?, count()?);
        let (lengths, _) = take(bytes, words.checked_mul(4)?)?.as_chunks::<4>();
        let (inverse_lengths, _) = take(bytes, words.checked_mul(4)?)?.as_chunks::<4>();
        let (tokens, _) = take(bytes, tokens.checked_mul(2)?)?.as_chunks::<2>();
        let tokens: Vec<Token> = tokens.iter().map(|token| Token::from_le_bytes(*token)).collect();
        let text = String::from_utf8(take(bytes, length)?.to_vec()).ok()?;
        if tokens.iter().any(|&token| usize::from(token) >= model.token_count()) {
            return None;
        }
        let mut vocabulary = Vocabulary { text, tokens, ..Vocabulary::default() };
        vocabulary.words.reserve_exact(words);
        let (mut start, mut first_token) = (0_usize, 0_usize);
        for (&[length, kept, ending, tokens], inverse_length) in lengths.iter().zip(inverse_lengths) {
            let inverse_length = f32::from_le_bytes(*inverse_length);
            let word_end = start + usize::from(length);
            let end = word_end + usize::from(ending);
            let cuts = [start, start + usize::from(kept), word_end, end];
            if !inverse_length.is_finite()
                || kept > length
                || !cuts.iter().all(|cut| vocabulary.text.is_char_boundary(*cut))
            {
                return None;
            }
            let (word_start, word_tokens) = (start as u32, first_token as u32);
            vocabulary.words.push(Word {
                start: word_start,
                length,
                kept,
                ending,
                tokens,
                first_token: word_tokens,
                inverse_length,
            });
            start = end;
            first_token += usize::from(tokens);
        }
        (start == vocabulary.text.len() && first_token == vocabulary.tokens.len()).then_some(vocabulary)
    }
}

/// The length of the sum of some tokens' vectors, inverted; 0 if there are none.
fn inverse_length(tokens: &[Token], model: StaticModel) -> f32 {
    let mut sum = vec![0.0; model.dimensions()];
    model.add(tokens, &mut sum);
    let squares: f32 = sum.iter().map(|value| value * value).sum();
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}

/// Splits the first `count` bytes off a slice.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_numbers_stems_and_tokens() {
        let model = StaticModel::new();
        let mut vocabulary = Vocabulary::default();
        let words = ["keys", "happily", "the", "тролль", "keys", "lanterns"];
        let numbers: Vec<_> = words.iter().map(|word| vocabulary.number_of(word, model)).collect();
        assert_eq!(numbers, [Some(0), Some(1), None, Some(2), Some(0), Some(3)]);
        let mut bytes = Vec::new();
        vocabulary.write(&mut bytes);
        let mut read = Vocabulary::read(&mut bytes.as_slice(), model).unwrap();
        assert_eq!(read.number_of("lanterns", model), Some(3));
        assert_eq!(read.number_of("new", model), Some(4));
        for vocabulary in [vocabulary, read] {
            let stem = |number| vocabulary.with_stem(number, |start, ending| format!("{start}{ending}"));
            assert_eq!((vocabulary.word(1), stem(1)), ("happily", "happili".to_owned()));
            assert_eq!((vocabulary.word(2), vocabulary.tokens(2).len()), ("тролль", 0));
            assert_eq!((stem(0), vocabulary.tokens(3).len()), ("key".to_owned(), 1));
        }
    }

    #[test]
    fn a_stem_may_have_an_ending_that_its_word_lacks() {
        let model = StaticModel::new();
        let mut vocabulary = Vocabulary::default();
        let number = vocabulary.number_of("dying", model).unwrap();
        assert_eq!(vocabulary.kept_stem(number), None);
        assert_eq!(vocabulary.with_all_stems().kept_stem(number), Some(("d", "ie")));
    }
}
