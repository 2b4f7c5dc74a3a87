//! The index file: a cache of the words and vectors of all texts.
//!
//! A corpus with the keys of its texts enters, bytes leave, and back. A key is a hash of everything that a
//! text's words and vectors depend on, so a text that changed is not found and computed again. Bytes of
//! another embedder, another version or with a single wrong bit are no index: [`Index::read`] returns
//! `None`. No answer depends on whether there is an index.
//!
//! Layout, little-endian: `MEMI`, u32 version, u64 hash of the embedder's stamp, u32 dimensions, u32
//! count of texts, u32 count of vectors, u32 bytes of occurrences; then the keys (u128), counts of
//! vectors (u8) and of those of questions (u8), inverse lengths (f32), rows (i8), occurrences, vocabulary;
//! at last the u64 XXH3 of everything before it. A text of forty words takes about 220 bytes, 128 of them
//! for its vector; with another embedder a vector takes one byte a dimension. Each passage of a long text
//! has a vector of its own.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::search::corpus::Corpus;
use crate::search::embedded::StaticModel;
use crate::search::embedder::{Embedder, Vectors};
use crate::search::vocabulary::{Vocabulary, take};

/// To be increased when the layout, the words of a text or the passages of a long one change.
const VERSION: u32 = 3;

const MAGIC: &[u8; 4] = b"MEMI";

/// Identifies a text by its content and heading.
pub(crate) type Key = u128;

/// The key of a text in a section with that heading.
pub(crate) fn key_of(heading: Key, text: &str) -> Key {
    heading.rotate_left(64).wrapping_add(xxh3_128(text.as_bytes()))
}

/// The key of a heading, by its scope and name.
pub(crate) fn key_of_heading(scope: &str, name: &str) -> Key {
    xxh3_128(format!("{scope}\n{name}").as_bytes())
}

/// Texts and their keys.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    /// The texts; to add one, its key is also needed, by [`Index::push_key`].
    pub(super) corpus: Corpus,
    keys: Vec<Key>,
    /// Numbers by keys; filled when a text is not found at `next`.
    numbers: HashMap<Key, u32, FixedState>,
    /// Number at which the next text is looked up first: after the previous one, as texts mostly keep
    /// their order.
    next: usize,
}

impl Index {
    /// An empty index.
    pub(crate) fn new(embedder: &dyn Embedder) -> Index {
        let corpus = Corpus::new(embedder.dimensions());
        Index { corpus, keys: Vec::new(), numbers: HashMap::default(), next: 0 }
    }

    /// Number of texts with keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Sets the key of the next text; returns its number.
    pub(crate) fn push_key(&mut self, key: Key) -> usize {
        self.keys.push(key);
        self.numbers.insert(key, self.keys.len() as u32 - 1);
        self.keys.len() - 1
    }

    /// The number of a text.
    pub(crate) fn find(&mut self, key: Key) -> Option<usize> {
        if self.keys.get(self.next) == Some(&key) {
            self.next += 1;
            return Some(self.next - 1);
        }
        if self.numbers.len() < self.keys.len() {
            self.numbers = self.keys.iter().enumerate().map(|(at, key)| (*key, at as u32)).collect();
        }
        let found = self.numbers.get(&key).map(|at| *at as usize)?;
        self.next = found + 1;
        Some(found)
    }

    /// A copy with only those texts for which `wanted` holds. `None` where the corpus is inconsistent.
    pub(crate) fn without_others(
        &self,
        embedder: &dyn Embedder,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<Index> {
        let mut index = Index::new(embedder);
        index.corpus.copy_from(&self.corpus, &wanted)?;
        index.keys = (0..self.len()).filter(|at| wanted(*at)).map(|at| self.keys[at]).collect();
        Some(index)
    }

    /// The index as bytes, without texts that have a key but are not added yet.
    pub fn write(&self, embedder: &dyn Embedder) -> Vec<u8> {
        let Corpus { vocabulary, occurrences, vector_counts, question_counts, vectors, .. } = &self.corpus;
        let Vectors { rows, inverse_lengths, .. } = vectors;
        let keys = &self.keys[..self.corpus.len()];
        let mut out = Vec::with_capacity(64 + 17 * keys.len() + rows.len() + occurrences.len() * 2);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&xxh3_64(embedder.stamp().as_bytes()).to_le_bytes());
        for count in [embedder.dimensions(), keys.len(), inverse_lengths.len(), occurrences.len()] {
            out.extend_from_slice(&(count as u32).to_le_bytes());
        }
        keys.iter().for_each(|key| out.extend_from_slice(&key.to_le_bytes()));
        out.extend_from_slice(vector_counts);
        out.extend_from_slice(question_counts);
        inverse_lengths.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        out.extend_from_slice(rows);
        out.extend_from_slice(occurrences);
        vocabulary.write(&mut out);
        let sum = xxh3_64(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads an index, if the bytes are one of the embedder with that stamp, complete and undamaged.
    pub fn read(bytes: &[u8], stamp: &str, dimensions: usize) -> Option<Index> {
        let (mut rest, sum) = bytes.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        let bytes = &mut rest;
        let head = take(bytes, 16)?;
        let stamp = xxh3_64(stamp.as_bytes());
        if head[..4] != *MAGIC || head[4..8] != VERSION.to_le_bytes() || head[8..] != stamp.to_le_bytes() {
            return None;
        }
        let mut count = || Some(u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?) as usize);
        let (kept_dimensions, texts, vectors, occurrences) = (count()?, count()?, count()?, count()?);
        if dimensions != kept_dimensions {
            return None;
        }
        let (keys, _) = take(bytes, texts.checked_mul(16)?)?.as_chunks::<16>();
        let keys: Vec<Key> = keys.iter().map(|key| Key::from_le_bytes(*key)).collect();
        let vector_counts = take(bytes, texts)?.to_vec();
        let question_counts = take(bytes, texts)?.to_vec();
        let (lengths, _) = take(bytes, vectors.checked_mul(4)?)?.as_chunks::<4>();
        let inverse_lengths = lengths.iter().map(|length| f32::from_le_bytes(*length)).collect();
        let rows = take(bytes, vectors.checked_mul(dimensions)?)?.to_vec();
        if vector_counts.iter().map(|&count| usize::from(count)).sum::<usize>() != vectors {
            return None;
        }
        let mut corpus = Corpus::new(dimensions);
        corpus.occurrences = take(bytes, occurrences)?.to_vec();
        corpus.vocabulary = Vocabulary::read(bytes, StaticModel::new())?;
        corpus.vector_counts = vector_counts;
        corpus.question_counts = question_counts;
        corpus.vectors = Vectors { dimensions, rows, inverse_lengths };
        bytes.is_empty().then_some(Index { corpus, keys, numbers: HashMap::default(), next: 0 })
    }
}
