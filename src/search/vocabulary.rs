//! The different words of a corpus, each with its stem and its pieces, so that what is dear is done
//! once a word and not once an occurrence.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::search::embedded::{Piece, StaticModel};
use crate::search::words::{is_stop_word, stem};

/// The words of a corpus by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Words and what their stems end in, one behind the other.
    text: String,
    words: Vec<Word>,
    pieces: Vec<Piece>,
    /// Numbers by words; `None` for stop words. Filled when first needed, for a question needs it not.
    numbers: HashMap<Box<str>, Option<u32>, FixedState>,
}

/// Nobody has asked for the stem.
const UNKNOWN: u8 = u8::MAX;

/// Where a word's parts are.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: u32,
    length: u8,
    /// The stem is so many bytes of the word, or not known yet …
    kept: u8,
    /// … and so many that stand behind the word.
    ending: u8,
    pieces: u8,
    first_piece: u32,
}

impl Vocabulary {
    /// How many words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// A word.
    pub fn word(&self, number: u32) -> &str {
        let Word { start, length, .. } = self.words[number as usize];
        &self.text[start as usize..start as usize + usize::from(length)]
    }

    /// Shows the two parts of a word's stem.
    pub fn with_stem<T>(&self, number: u32, show: impl FnOnce(&str, &str) -> T) -> T {
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

    /// The pieces that give a word its vector; none where the model does not know it.
    pub fn pieces(&self, number: u32) -> &[Piece] {
        let Word { first_piece, pieces, .. } = self.words[number as usize];
        &self.pieces[first_piece as usize..first_piece as usize + usize::from(pieces)]
    }

    /// The number of a folded word, a new one where it has none yet; `None` for a stop word.
    pub fn number_of(&mut self, word: &str, model: StaticModel) -> Option<u32> {
        if self.numbers.is_empty() && !self.words.is_empty() {
            for number in 0..self.words.len() as u32 {
                let word = self.word(number).into();
                self.numbers.insert(word, Some(number));
            }
        }
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = if is_stop_word(word) {
            None
        } else {
            let mut pieces = Vec::new();
            model.push_pieces_of(word, &mut pieces);
            Some(self.push(word, None, &pieces))
        };
        self.numbers.insert(word.into(), number);
        number
    }

    /// Adds a word. Its stem, which is dear, may be left for later.
    fn push(&mut self, word: &str, stem: Option<&str>, pieces: &[Piece]) -> u32 {
        let byte = |length: usize| u8::try_from(length).expect("words are cut at 64 bytes");
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
            pieces: byte(pieces.len()),
            first_piece: self.pieces.len() as u32,
        });
        self.pieces.extend_from_slice(pieces);
        self.words.len() as u32 - 1
    }

    /// The same words by the same numbers, each with its stem.
    fn with_all_stems(&self) -> Vocabulary {
        let mut all = Vocabulary::default();
        for number in 0..self.words.len() as u32 {
            let stem = self.with_stem(number, |start, ending| format!("{start}{ending}"));
            all.push(self.word(number), Some(&stem), self.pieces(number));
        }
        all
    }

    /// The words in the form of the index: their parts' lengths, then pieces, then text.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.with_all_stems().write_known(out);
    }

    fn write_known(&self, out: &mut Vec<u8>) {
        for count in [self.words.len(), self.pieces.len(), self.text.len()] {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for word in &self.words {
            out.extend_from_slice(&[word.length, word.kept, word.ending, word.pieces]);
        }
        self.pieces.iter().for_each(|piece| out.extend_from_slice(&piece.to_le_bytes()));
        out.extend_from_slice(self.text.as_bytes());
    }

    /// Words out of the form of the index; `None` where they make no sense.
    pub(super) fn read(bytes: &mut &[u8], model: StaticModel) -> Option<Vocabulary> {
        let mut count = || Some(u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?) as usize);
        let (words, pieces, length) = (count()?, count()?, count()?);
        let lengths = take(bytes, words.checked_mul(4)?)?;
        let pieces = take(bytes, pieces.checked_mul(2)?)?;
        let pieces: Vec<Piece> =
            pieces.chunks_exact(2).map(|piece| Piece::from_le_bytes([piece[0], piece[1]])).collect();
        let text = String::from_utf8(take(bytes, length)?.to_vec()).ok()?;
        if pieces.iter().any(|&piece| usize::from(piece) >= model.len()) {
            return None;
        }
        let mut vocabulary = Vocabulary { text, pieces, ..Vocabulary::default() };
        vocabulary.words.reserve_exact(words);
        let (mut start, mut first_piece) = (0_usize, 0_usize);
        for part in lengths.chunks_exact(4) {
            let [length, kept, ending, pieces] = [part[0], part[1], part[2], part[3]];
            let word_end = start + usize::from(length);
            let end = word_end + usize::from(ending);
            let cuts = [start, start + usize::from(kept), word_end, end];
            if kept > length || !cuts.iter().all(|cut| vocabulary.text.is_char_boundary(*cut)) {
                return None;
            }
            let (word_start, word_pieces) = (start as u32, first_piece as u32);
            vocabulary.words.push(Word {
                start: word_start,
                length,
                kept,
                ending,
                pieces,
                first_piece: word_pieces,
            });
            start = end;
            first_piece += usize::from(pieces);
        }
        (start == vocabulary.text.len() && first_piece == vocabulary.pieces.len()).then_some(vocabulary)
    }
}

/// The first bytes of a slice, which loses them.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_numbers_stems_and_pieces() {
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
            assert_eq!((vocabulary.word(2), vocabulary.pieces(2).len()), ("тролль", 0));
            assert_eq!((stem(0), vocabulary.pieces(3).len()), ("key".to_owned(), 1));
        }
    }

    #[test]
    fn a_stem_may_end_otherwise_than_its_word() {
        let model = StaticModel::new();
        let mut vocabulary = Vocabulary::default();
        let number = vocabulary.number_of("dying", model).unwrap();
        assert_eq!(vocabulary.kept_stem(number), None);
        assert_eq!(vocabulary.with_all_stems().kept_stem(number), Some(("d", "ie")));
    }
}
