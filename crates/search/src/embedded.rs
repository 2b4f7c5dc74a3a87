//! The built-in embedding model: 27,729 tokens (WordPiece), each with a vector of 128 bytes.
//!
//! A text enters; the sum of its tokens' vectors leaves. Nothing is loaded at start: tokens are found by binary
//! search in the embedded bytes, so only the pages that a text needs are read from disk. `assets/README.md`
//! describes how the model was made and what its licences require.
//!
//! Layout, little-endian: `MEM1`, u32 count of tokens that begin a word, u32 count of tokens that continue one,
//! u32 dimensions, u32 offsets of the strings (count + 1), f32 scales (count), the strings (both groups sorted
//! by bytes), rows of signed bytes.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::embedder::{EmbedError, Embedder};

/// The model. It is never read as a whole.
static BYTES: &[u8] = include_bytes!("../../../assets/static-en-128-i8.bin");

/// Identifies the vectors. Change it when the model file or the tokenizer changes.
pub(crate) const STAMP: &str = "static-en-128-i8/1";

/// Bytes before the offsets.
const HEADER: usize = 16;

/// Words longer than this, in characters, get no tokens.
const MAX_WORD_CHARS: usize = 100;

/// Longest token of the model, in bytes; a test checks it.
const MAX_TOKEN_BYTES: usize = 24;

/// The built-in model: a handle on its static bytes.
#[derive(Debug, Clone, Copy)]
pub struct StaticModel {
    /// Number of tokens that begin a word; they come first.
    initial: usize,
    tokens: usize,
    dimensions: usize,
}

/// A token, by its number in the model.
pub(crate) type Token = u16;

impl Default for StaticModel {
    fn default() -> StaticModel {
        StaticModel::new()
    }
}

impl StaticModel {
    /// The embedded model.
    pub fn new() -> StaticModel {
        let initial = number(4);
        StaticModel { initial, tokens: initial + number(8), dimensions: number(12) }
    }

    /// Number of dimensions of its vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of its tokens.
    pub fn token_count(&self) -> usize {
        self.tokens
    }

    /// The text of a token, without the `##` that marks the continuation of a word.
    pub fn token_text(&self, token: usize) -> &'static [u8] {
        let strings = self.strings();
        let offset = |at: usize| number(HEADER + 4 * at);
        &BYTES[strings + offset(token)..strings + offset(token + 1)]
    }

    /// Offset of the strings.
    fn strings(&self) -> usize {
        HEADER + 4 * (self.tokens + 1) + 4 * self.tokens
    }

    /// The vector of a token as bytes, before its scale is applied.
    pub(crate) fn row(&self, token: usize) -> &'static [u8] {
        let start = BYTES.len() - self.dimensions * (self.tokens - token);
        &BYTES[start..start + self.dimensions]
    }

    /// The factor of a token's row.
    pub(crate) fn scale(&self, token: usize) -> f32 {
        f32::from_bits(number(HEADER + 4 * (self.tokens + 1) + 4 * token) as u32)
    }

    /// The number of a token, among those that begin a word or those that continue one.
    fn find(&self, text: &[u8], begins_word: bool) -> Option<usize> {
        let (mut low, mut high) = if begins_word { (0, self.initial) } else { (self.initial, self.tokens) };
        let wanted = first_eight(text, text.len());
        while low < high {
            let middle = low.midpoint(high);
            // The first eight bytes, compared as one number, decide most comparisons.
            let order =
                self.first_eight_of(middle).cmp(&wanted).then_with(|| self.token_text(middle).cmp(text));
            match order {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn first_eight_of(&self, token: usize) -> u64 {
        let text = self.token_text(token);
        let start = self.strings() + number(HEADER + 4 * token);
        // The rows follow the strings, so eight bytes are always there.
        first_eight(&BYTES[start..start + 8], text.len())
    }

    /// Appends the tokens of a word that is in lower case and without accents: repeatedly the longest token that
    /// matches. A word with a part that no token matches gets none.
    pub(crate) fn tokenize_word(&self, word: &str, tokens: &mut Vec<Token>) {
        let before = tokens.len();
        if word.chars().nth(MAX_WORD_CHARS).is_some() {
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let begins_word = rest.len() == word.len();
            let longest = ends
                .filter(|end| *end <= MAX_TOKEN_BYTES)
                .find_map(|end| self.find(&rest.as_bytes()[..end], begins_word).map(|token| (token, end)));
            let Some((token, end)) = longest else { return tokens.truncate(before) };
            tokens.push(Token::try_from(token).expect("fewer than 65,536 tokens"));
            rest = &rest[end..];
        }
    }

    /// The vector of a folded word; `None` if the model does not know it.
    pub(crate) fn word_vector(&self, word: &str) -> Option<Vec<f32>> {
        let mut tokens = Vec::new();
        self.tokenize_word(word, &mut tokens);
        let mut sum = vec![0.0; self.dimensions];
        self.add(&tokens, &mut sum);
        (!tokens.is_empty()).then_some(sum)
    }

    /// True if the model has the word as a whole, and not only the pieces of which it is made.
    pub(crate) fn knows(&self, word: &str) -> bool {
        let mut tokens = Vec::new();
        self.tokenize_word(word, &mut tokens);
        tokens.len() == 1
    }

    /// Adds the vectors of tokens to a sum.
    pub(crate) fn add(&self, tokens: &[Token], sum: &mut [f32]) {
        for &token in tokens {
            let scale = self.scale(usize::from(token));
            for (sum, byte) in sum.iter_mut().zip(self.row(usize::from(token))) {
                *sum += scale * f32::from(*byte as i8);
            }
        }
    }
}

/// The first eight bytes of a text as a number that sorts as the bytes do; `length` is the text's own.
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

    fn adds_words(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut tokenizer = Tokenizer::new(*self);
        let vectors = texts.iter().map(|text| {
            let mut sum = vec![0.0; self.dimensions];
            tokenizer.each_word(text, |tokens| self.add(tokens, &mut sum));
            sum
        });
        Ok(vectors.collect())
    }
}

/// Splits texts into tokens; caches the tokens of each distinct word.
struct Tokenizer {
    model: StaticModel,
    /// The range of each word's tokens in `tokens`.
    known: HashMap<Box<str>, (u32, u32), FixedState>,
    tokens: Vec<Token>,
}

impl Tokenizer {
    fn new(model: StaticModel) -> Tokenizer {
        Tokenizer { model, known: HashMap::default(), tokens: Vec::new() }
    }

    /// Calls `visit` with the tokens of each word and punctuation mark of a text.
    fn each_word(&mut self, text: &str, mut visit: impl FnMut(&[Token])) {
        if text.is_ascii() {
            return self.each_ascii_word(text, &mut visit);
        }
        let folded: String = text
            .nfd()
            .filter(|&c| !is_combining_mark(c) && (!c.is_control() || c.is_whitespace()))
            .flat_map(char::to_lowercase)
            .collect();
        let mut start = 0;
        for (at, c) in folded.char_indices() {
            let mark = is_punctuation(c);
            if mark || c.is_whitespace() {
                self.visit_word(&folded[start..at], &mut visit);
                start = at + c.len_utf8();
            }
            if mark {
                self.visit_word(&folded[at..start], &mut visit);
            }
        }
        self.visit_word(&folded[start..], &mut visit);
    }

    fn each_ascii_word(&mut self, text: &str, visit: &mut impl FnMut(&[Token])) {
        let mut buffer = String::new();
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() {
                buffer.push(char::from(byte.to_ascii_lowercase()));
                continue;
            }
            let control = byte.is_ascii_control() && !byte.is_ascii_whitespace();
            if !control {
                self.visit_word(&buffer, visit);
                buffer.clear();
            }
            if byte.is_ascii_punctuation() {
                self.visit_word(char::from(byte).encode_utf8(&mut [0; 4]), visit);
            }
        }
        self.visit_word(&buffer, visit);
    }

    fn visit_word(&mut self, word: &str, visit: &mut impl FnMut(&[Token])) {
        if word.is_empty() {
            return;
        }
        let (start, end) = match self.known.get(word) {
            Some(known) => *known,
            None => {
                let start = self.tokens.len() as u32;
                self.model.tokenize_word(word, &mut self.tokens);
                let range = (start, self.tokens.len() as u32);
                self.known.insert(word.into(), range);
                range
            }
        };
        if start < end {
            visit(&self.tokens[start as usize..end as usize]);
        }
    }
}

/// Punctuation that is a token of its own.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedder::{QueryVector, Vectors};

    fn texts(words: &[&str]) -> Vec<String> {
        let model = StaticModel::new();
        let mut tokenizer = Tokenizer::new(model);
        let mut found = Vec::new();
        for word in words {
            tokenizer.each_word(word, |tokens| {
                let text = |token: &Token| String::from_utf8_lossy(model.token_text((*token).into()));
                found.push(tokens.iter().map(text).collect::<Vec<_>>().join("|"));
            });
        }
        found
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let model = StaticModel::new();
        let vectors = model.embed(&[a, b]).unwrap();
        let mut stored = Vectors::new(model.dimensions());
        stored.push(&vectors[0]);
        stored.cosines(&QueryVector::new(&vectors[1]))[0]
    }

    #[test]
    fn the_bytes_are_those_that_the_stamp_names() {
        assert_eq!(
            xxhash_rust::xxh3::xxh3_64(BYTES),
            9_817_045_155_562_605_734,
            "the model changed: change `STAMP`"
        );
        let model = StaticModel::new();
        let longest = (0..model.token_count()).map(|token| model.token_text(token).len()).max();
        assert!(longest <= Some(MAX_TOKEN_BYTES), "{longest:?}");
        assert_eq!((model.token_count(), model.dimensions()), (27_729, 128));
    }

    #[test]
    fn words_are_split_into_the_longest_tokens() {
        assert_eq!(texts(&["The brass lantern's grue"]), ["the", "brass", "lantern", "'", "s", "gr|ue"]);
        assert_eq!(texts(&["Café, naïve"]), ["cafe", ",", "naive"]);
        assert_eq!(texts(&["тролль"]), [""; 0]);
    }

    #[test]
    fn every_token_is_found_where_it_is() {
        let model = StaticModel::new();
        for token in 0..model.token_count() {
            assert_eq!(model.find(model.token_text(token), token < model.initial), Some(token));
        }
        assert_eq!(model.find(b"lanternfishes", true), None);
        assert_eq!(model.find(b"", true), None);
    }

    #[test]
    fn accents_and_neighbours_change_nothing() {
        assert_eq!(texts(&["abc key é"])[..2], texts(&["abc key"]));
    }

    #[test]
    fn similar_meanings_have_similar_directions() {
        assert!(cosine("a rusty key in the attic", "where did I see a key?") > 0.4);
        assert!(
            cosine("the monster bites", "an animal attacks you")
                > cosine("the monster bites", "pay the bill")
        );
        assert!(cosine("the same", "the same") > 0.999);
        assert_eq!(cosine("тролль", "the same"), 0.0);
    }
}
