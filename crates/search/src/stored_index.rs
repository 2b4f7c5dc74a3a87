//! The index as it is stored: a header, columns that are read where they stand, and a checksum.
//!
//! Texts with their keys enter, bytes leave; bytes enter, and their columns leave as slices. Bytes of another embedder,
//! another version or with a single wrong bit are no index: [`StoredIndex::read`] returns `None`.
//!
//! Layout, in the byte order of the machine: the [`Header`]; the keys (u128); for each key its place in their order by
//! value (u32); the words (four u32 each); the inverse lengths of vectors (f32); tokens (u16); for each text its number
//! of vectors and those of questions (u8); rows of vectors (i8); occurrences; the text of words; at last the u64 XXH3 of
//! everything before it. A text of forty words takes about 230 bytes, 128 of them for its vector; with another embedder
//! a vector takes one byte a dimension. Each passage of a long text has a vector of its own.

use std::ops::Range;

use bytemuck::{AnyBitPattern, bytes_of, cast_slice, try_cast_slice, try_from_bytes};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::embedder::{Embedder, VectorRows};
use crate::part::Part;
use crate::vocabulary::{StoredWord, Words};
use memories_store::AlignedBytes;

/// To be increased when the layout, the words of a text or the passages of a long one change.
const VERSION: u32 = 7;

/// Identifies a text by its content and heading.
pub(crate) type Key = u128;

const MAGIC: u32 = u32::from_ne_bytes(*b"MEMI");

/// Number of columns.
const COLUMNS: usize = 10;

/// Magic number, version, both halves of the hash of the embedder's stamp, and the sizes; the last one is 0.
type Header = [u32; 12];

/// Dimensions, and the numbers of texts, vectors, words, tokens, bytes of occurrences and bytes of words.
type Sizes = [u32; 7];

/// Bytes of an index that was checked.
#[derive(Debug)]
pub(super) struct StoredIndex {
    bytes: AlignedBytes,
    columns: [Range<usize>; COLUMNS],
    dimensions: usize,
}

fn header_of(stamp: &str, sizes: &Sizes) -> Header {
    let stamp = xxh3_64(stamp.as_bytes());
    let mut header = [0; 12];
    header[..4].copy_from_slice(&[MAGIC, VERSION, stamp as u32, (stamp >> 32) as u32]);
    header[4..11].copy_from_slice(sizes);
    header
}

/// The bytes of each column, in the order of the layout; `None` where they are more than there can be.
fn lengths_of_columns(sizes: &Sizes) -> Option<[usize; COLUMNS]> {
    let [dimensions, texts, vectors, words, tokens, occurrences, text] = sizes.map(|size| size as usize);
    Some([
        texts.checked_mul(size_of::<Key>())?,
        texts.checked_mul(size_of::<u32>())?,
        words.checked_mul(size_of::<StoredWord>())?,
        vectors.checked_mul(size_of::<f32>())?,
        tokens.checked_mul(size_of::<u16>())?,
        texts,
        texts,
        vectors.checked_mul(dimensions)?,
        occurrences,
        text,
    ])
}

impl StoredIndex {
    /// Checks an index: that it is one of the embedder with that stamp, complete and undamaged.
    pub(super) fn read(bytes: AlignedBytes, stamp: &str, dimensions: usize) -> Option<StoredIndex> {
        let (rest, sum) = bytes.bytes().split_last_chunk::<8>()?;
        if u64::from_ne_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        let header: &Header = try_from_bytes(rest.get(..size_of::<Header>())?).ok()?;
        let [_, _, _, _, sizes @ .., _] = *header;
        let [stored_dimensions, _, stored_vectors, ..] = sizes;
        if *header != header_of(stamp, &sizes) || stored_dimensions as usize != dimensions {
            return None;
        }
        let mut end = size_of::<Header>();
        let mut columns = [const { 0..0 }; COLUMNS];
        for (column, length) in columns.iter_mut().zip(lengths_of_columns(&sizes)?) {
            *column = end..end.checked_add(length)?;
            end = column.end;
        }
        if end != rest.len() {
            return None;
        }
        let index = StoredIndex { bytes, columns, dimensions };
        let vectors = index.part().vector_counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        (vectors == stored_vectors as usize).then_some(index)
    }

    /// The bytes of an index of texts with those keys; `None` where there is not enough memory.
    pub(super) fn write(embedder: &dyn Embedder, keys: &[Key], part: &Part<'_>) -> Option<AlignedBytes> {
        let Part { words, occurrences, vector_counts, question_counts, vectors } = part;
        let sizes = [
            embedder.dimensions(),
            keys.len(),
            vectors.inverse_lengths.len(),
            words.len(),
            words.tokens.len(),
            occurrences.len(),
            words.text.len(),
        ];
        let sizes = sizes.map(|size| u32::try_from(size).expect("an index is less than 4 GB"));
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_unstable_by_key(|number| keys[*number as usize]);
        let header = header_of(&embedder.stamp(), &sizes);
        let columns: [&[u8]; COLUMNS] = [
            cast_slice(keys),
            cast_slice(&order),
            cast_slice(words.words),
            cast_slice(vectors.inverse_lengths),
            cast_slice(words.tokens),
            vector_counts,
            question_counts,
            vectors.rows,
            occurrences,
            words.text,
        ];
        let mut sum = Xxh3Default::new();
        sum.update(bytes_of(&header));
        columns.iter().for_each(|column| sum.update(column));
        let sum = sum.digest().to_ne_bytes();
        let slices: Vec<&[u8]> = [bytes_of(&header)].into_iter().chain(columns).chain([&sum[..]]).collect();
        AlignedBytes::of(&slices).ok()
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.columns[5].len()
    }

    /// The keys of the texts.
    pub(super) fn keys(&self) -> &[Key] {
        self.column(0)
    }

    /// The number of the text with a key.
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        let (keys, order) = (self.keys(), self.column::<u32>(1));
        let key_at = |number: &u32| keys.get(*number as usize).copied();
        let at = order.partition_point(|number| key_at(number) < Some(key));
        let number = order.get(at)?;
        (key_at(number)? == key).then_some(*number as usize)
    }

    /// The texts.
    pub(super) fn part(&self) -> Part<'_> {
        let words = Words { words: self.column(2), tokens: self.column(4), text: self.column(9) };
        let inverse_lengths = self.column(3);
        Part {
            words,
            occurrences: self.column(8),
            vector_counts: self.column(5),
            question_counts: self.column(6),
            vectors: VectorRows { dimensions: self.dimensions, rows: self.column(7), inverse_lengths },
        }
    }

    fn column<T: AnyBitPattern>(&self, number: usize) -> &[T] {
        let bytes = &self.bytes.bytes()[self.columns[number].clone()];
        try_cast_slice(bytes).expect("columns are aligned: those of larger items come first")
    }
}
