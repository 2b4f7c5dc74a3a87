//! The index: a cache of the words and vectors of all texts.
//!
//! Texts enter with their keys, and are found by them. A key is a hash of everything that a text's words and vectors
//! depend on, so a text that changed is not found and computed again. No answer depends on whether there is an index.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use xxhash_rust::xxh3::xxh3_128;

use crate::corpus::{AddedTexts, Corpus};
use crate::embedder::Embedder;
use crate::stored_index::{Key, StoredIndex};
use memories_store::AlignedBytes;

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
    /// The keys of added texts.
    added: Vec<Key>,
    /// The numbers of added texts by their keys.
    numbers: HashMap<Key, usize, FixedState>,
}

impl Index {
    /// An empty index.
    pub(crate) fn new(dimensions: usize) -> Index {
        Index { corpus: Corpus::new(dimensions), added: Vec::new(), numbers: HashMap::default() }
    }

    /// Reads an index, if the bytes are one of the embedder with that stamp, complete and undamaged.
    pub(crate) fn read(bytes: AlignedBytes, stamp: &str, dimensions: usize) -> Option<Index> {
        let stored = StoredIndex::read(bytes, stamp, dimensions)?;
        let mut index = Index::new(dimensions);
        index.corpus.stored = Some(Arc::new(stored));
        Some(index)
    }

    /// Number of texts with keys.
    pub(crate) fn len(&self) -> usize {
        self.corpus.stored_len() + self.added.len()
    }

    /// Sets the key of the next text; returns its number.
    pub(crate) fn push_key(&mut self, key: Key) -> usize {
        let number = self.len();
        self.added.push(key);
        self.numbers.insert(key, number);
        number
    }

    /// The number of a text. A stored one is looked up first at `next`, which is moved behind what was found: texts mostly
    /// keep their order.
    pub(crate) fn find(&self, key: Key, next: &mut usize) -> Option<usize> {
        if let Some(stored) = &self.corpus.stored {
            let is_next = stored.keys().get(*next) == Some(&key);
            if let Some(found) = if is_next { Some(*next) } else { stored.find(key) } {
                *next = found + 1;
                return Some(found);
            }
        }
        self.numbers.get(&key).copied()
    }

    /// The bytes of an index of those texts for which `wanted` holds, without texts that have a key but are not added
    /// yet. `None` where the corpus is inconsistent, or memory too small.
    pub(crate) fn write(
        &self,
        embedder: &dyn Embedder,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<AlignedBytes> {
        let Corpus { stored, added } = &self.corpus;
        if stored.is_none() && (0..self.corpus.len()).all(&wanted) {
            return StoredIndex::write(embedder, &self.added[..self.corpus.len()], &added.part());
        }
        let mut copy = AddedTexts::new(embedder.dimensions());
        let mut first = 0;
        for part in self.corpus.parts() {
            copy.copy_from(&part, |text| wanted(first + text))?;
            first += part.len();
        }
        let keys =
            stored.iter().flat_map(|stored| stored.keys()).chain(&self.added).zip(0..self.corpus.len());
        let keys: Vec<Key> = keys.filter(|(_, text)| wanted(*text)).map(|(key, _)| *key).collect();
        StoredIndex::write(embedder, &keys, &copy.part())
    }
}
