//! The model inside the program: 27,729 pieces of words, each with a vector of 128 bytes.
//!
//! A text enters; the sum of its pieces' vectors leaves. Nothing is loaded at start: pieces are found
//! by binary search in the included bytes, so only what a text needs is ever read from disk.
//! `assets/README.md` says how the model was made and what its licences ask for.
//!
//! Layout, little-endian: `MEM1`, u32 count of pieces that begin a word, u32 count of pieces that
//! continue one, u32 dimensions, u32 offsets of the strings (count + 1), f32 scales (count), the
//! strings (both groups sorted by bytes), rows of signed bytes.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::search::embedder::{EmbedError, Embedder};

/// The model. Never read as a whole.
static BYTES: &[u8] = include_bytes!("../../assets/static-en-128-i8.bin");

/// The name of the vectors. Another file, or another way of cutting texts into pieces, needs another.
pub const STAMP: &str = "static-en-128-i8/1";

/// What comes before the offsets.
const HEADER: usize = 16;

/// Longer words are in no vocabulary.
const MOST_CHARS: usize = 100;

/// The model's pieces and their vectors.
#[derive(Debug, Clone, Copy)]
pub struct StaticModel {
    initial: usize,
    pieces: usize,
    dimensions: usize,
}

/// A piece, by its number in the model.
pub type Piece = u16;

impl Default for StaticModel {
    fn default() -> StaticModel {
        StaticModel::new()
    }
}

impl StaticModel {
    /// The included model.
    pub fn new() -> StaticModel {
        let initial = number(4);
        StaticModel { initial, pieces: initial + number(8), dimensions: number(12) }
    }

    /// Length of its vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of its pieces.
    pub fn len(&self) -> usize {
        self.pieces
    }

    /// Whether it has no pieces.
    pub fn is_empty(&self) -> bool {
        self.pieces == 0
    }

    /// A piece as it stands in words, without the mark of those that continue one.
    pub fn piece_text(&self, piece: usize) -> &'static [u8] {
        let strings = self.strings();
        let offset = |at: usize| number(HEADER + 4 * at);
        &BYTES[strings + offset(piece)..strings + offset(piece + 1)]
    }

    /// Where the strings begin.
    fn strings(&self) -> usize {
        HEADER + 4 * (self.pieces + 1) + 4 * self.pieces
    }

    /// A piece's vector as bytes, before its scale.
    pub fn row(&self, piece: usize) -> &'static [u8] {
        let start = BYTES.len() - self.dimensions * (self.pieces - piece);
        &BYTES[start..start + self.dimensions]
    }

    fn scale(&self, piece: usize) -> f32 {
        f32::from_bits(number(HEADER + 4 * (self.pieces + 1) + 4 * piece) as u32)
    }

    /// The number of a piece, among those that begin a word or those that continue one.
    fn find(&self, text: &[u8], begins: bool) -> Option<usize> {
        let (mut low, mut high) = if begins { (0, self.initial) } else { (self.initial, self.pieces) };
        let wanted = first_eight(text, text.len());
        while low < high {
            let middle = low.midpoint(high);
            // The first eight bytes as one number decide most comparisons.
            let order =
                self.first_eight_of(middle).cmp(&wanted).then_with(|| self.piece_text(middle).cmp(text));
            match order {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn first_eight_of(&self, piece: usize) -> u64 {
        let text = self.piece_text(piece);
        let start = self.strings() + number(HEADER + 4 * piece);
        // The rows stand behind the strings, so there are always eight bytes.
        first_eight(&BYTES[start..start + 8], text.len())
    }

    /// Adds the pieces of a word in lower case and without accents: the longest first, again and again.
    /// A word with a part that no piece fits has none.
    pub fn push_pieces_of(&self, word: &str, pieces: &mut Vec<Piece>) {
        let before = pieces.len();
        if word.chars().nth(MOST_CHARS).is_some() {
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let begins = rest.len() == word.len();
            let fitting = ends
                .filter(|end| *end <= LONGEST_PIECE)
                .find_map(|end| self.find(&rest.as_bytes()[..end], begins).map(|piece| (piece, end)));
            let Some((piece, end)) = fitting else { return pieces.truncate(before) };
            pieces.push(Piece::try_from(piece).expect("fewer than 65,536 pieces"));
            rest = &rest[end..];
        }
    }

    /// Adds the vectors of pieces to a sum.
    pub fn add(&self, pieces: &[Piece], sum: &mut [f32]) {
        for &piece in pieces {
            let scale = self.scale(usize::from(piece));
            for (sum, byte) in sum.iter_mut().zip(self.row(usize::from(piece))) {
                *sum += scale * f32::from(*byte as i8);
            }
        }
    }
}

/// No piece of the model is longer, in bytes; a test counts them.
const LONGEST_PIECE: usize = 24;

/// The first bytes of a text of that length as a number that sorts as they do.
fn first_eight(bytes: &[u8], length: usize) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(eight) if length >= 8 => u64::from_be_bytes(*eight),
        Some(eight) => u64::from_be_bytes(*eight) & !(u64::MAX >> (8 * length)),
        None => {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(eight)
        }
    }
}

fn number(at: usize) -> usize {
    u32::from_le_bytes([BYTES[at], BYTES[at + 1], BYTES[at + 2], BYTES[at + 3]]) as usize
}

impl Embedder for StaticModel {
    fn stamp(&self) -> String {
        STAMP.to_owned()
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut cutter = Cutter::new(*self);
        let vectors = texts.iter().map(|text| {
            let mut sum = vec![0.0; self.dimensions];
            cutter.each(text, |pieces| self.add(pieces, &mut sum));
            sum
        });
        Ok(vectors.collect())
    }
}

/// Cuts texts into pieces, each different word once.
struct Cutter {
    model: StaticModel,
    known: HashMap<Box<str>, (u32, u32), FixedState>,
    pieces: Vec<Piece>,
}

impl Cutter {
    fn new(model: StaticModel) -> Cutter {
        Cutter { model, known: HashMap::default(), pieces: Vec::new() }
    }

    /// Shows the pieces of each word and punctuation mark of a text.
    fn each(&mut self, text: &str, mut show: impl FnMut(&[Piece])) {
        if text.is_ascii() {
            return self.each_plain(text, &mut show);
        }
        let folded: String = text
            .nfd()
            .filter(|&c| !is_combining_mark(c) && (!c.is_control() || c.is_whitespace()))
            .flat_map(char::to_lowercase)
            .collect();
        let mut start = 0;
        for (at, c) in folded.char_indices() {
            let mark = is_mark(c);
            if mark || c.is_whitespace() {
                self.show(&folded[start..at], &mut show);
                start = at + c.len_utf8();
            }
            if mark {
                self.show(&folded[at..start], &mut show);
            }
        }
        self.show(&folded[start..], &mut show);
    }

    fn each_plain(&mut self, text: &str, show: &mut impl FnMut(&[Piece])) {
        let mut buffer = String::new();
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() {
                buffer.push(char::from(byte.to_ascii_lowercase()));
                continue;
            }
            let control = byte.is_ascii_control() && !byte.is_ascii_whitespace();
            if !control {
                self.show(&buffer, show);
                buffer.clear();
            }
            if byte.is_ascii_punctuation() {
                self.show(char::from(byte).encode_utf8(&mut [0; 4]), show);
            }
        }
        self.show(&buffer, show);
    }

    fn show(&mut self, word: &str, show: &mut impl FnMut(&[Piece])) {
        if word.is_empty() {
            return;
        }
        let (start, end) = match self.known.get(word) {
            Some(known) => *known,
            None => {
                let start = self.pieces.len() as u32;
                self.model.push_pieces_of(word, &mut self.pieces);
                let range = (start, self.pieces.len() as u32);
                self.known.insert(word.into(), range);
                range
            }
        };
        if start < end {
            show(&self.pieces[start as usize..end as usize]);
        }
    }
}

/// A mark that stands for itself between words.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::embedder::{QueryVector, Vectors};

    fn texts(words: &[&str]) -> Vec<String> {
        let model = StaticModel::new();
        let mut cutter = Cutter::new(model);
        let mut found = Vec::new();
        for word in words {
            cutter.each(word, |pieces| {
                let text = |piece: &Piece| String::from_utf8_lossy(model.piece_text((*piece).into()));
                found.push(pieces.iter().map(text).collect::<Vec<_>>().join("|"));
            });
        }
        found
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let model = StaticModel::new();
        let vectors = model.embed(&[a, b]).unwrap();
        let mut kept = Vectors::new(model.dimensions());
        kept.push(&vectors[0]);
        kept.cosines(&QueryVector::new(&vectors[1]))[0]
    }

    #[test]
    fn the_bytes_are_those_that_the_stamp_names() {
        assert_eq!(
            xxhash_rust::xxh3::xxh3_64(BYTES),
            9_817_045_155_562_605_734,
            "give the vectors another stamp"
        );
        let model = StaticModel::new();
        let longest = (0..model.len()).map(|piece| model.piece_text(piece).len()).max();
        assert!(longest <= Some(LONGEST_PIECE), "{longest:?}");
        assert_eq!((model.len(), model.dimensions()), (27_729, 128));
    }

    #[test]
    fn words_are_cut_into_the_longest_pieces() {
        assert_eq!(texts(&["The brass lantern's grue"]), ["the", "brass", "lantern", "'", "s", "gr|ue"]);
        assert_eq!(texts(&["Café, naïve"]), ["cafe", ",", "naive"]);
        assert_eq!(texts(&["тролль"]), [""; 0]);
    }

    #[test]
    fn every_piece_is_found_where_it_is() {
        let model = StaticModel::new();
        for piece in 0..model.len() {
            assert_eq!(model.find(model.piece_text(piece), piece < model.initial), Some(piece));
        }
        assert_eq!(model.find(b"lanternfishes", true), None);
        assert_eq!(model.find(b"", true), None);
    }

    #[test]
    fn accents_and_neighbours_change_nothing() {
        assert_eq!(texts(&["abc key é"])[..2], texts(&["abc key"]));
    }

    #[test]
    fn like_meaning_has_like_directions() {
        assert!(cosine("a rusty key in the attic", "where did I see a key?") > 0.4);
        assert!(
            cosine("the monster bites", "an animal attacks you")
                > cosine("the monster bites", "pay the bill")
        );
        assert!(cosine("the same", "the same") > 0.999);
        assert_eq!(cosine("тролль", "the same"), 0.0);
    }
}
