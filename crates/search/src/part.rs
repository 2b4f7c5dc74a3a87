//! A part of a corpus: the columns of some texts, wherever they are stored.
//!
//! Slices enter, of the index as it was read or of vectors that grow; the words, occurrences and vectors of each text
//! leave. Slices of an index may hold anything: what does not fit together has no words, no tokens and a cosine of 0,
//! or makes a part inconsistent, but never fails.

use crate::embedder::VectorRows;
use crate::vocabulary::Words;

/// Some texts of a corpus, numbered from 0.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// The words of these texts.
    pub(super) words: Words<'a>,
    /// The words of each text, as LEB128 varints: the number of distinct words; then for each word, in ascending
    /// order, the difference to the previous word's number, shifted left by one; the lowest bit says that the
    /// word's count follows, because it is above 1.
    pub(super) occurrences: &'a [u8],
    /// Number of vectors of each text.
    pub(super) vector_counts: &'a [u8],
    /// How many of these vectors, the last ones, belong to canonical questions.
    pub(super) question_counts: &'a [u8],
    /// The vectors of all texts, in order.
    pub(super) vectors: VectorRows<'a>,
}

impl Part<'_> {
    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.vector_counts.len()
    }

    /// Visits the words of all texts: for each text, calls `word` with the number and count of each word, then
    /// `end` with the number of the text and the place of the next one, for [`Part::words_at`]. `None` if the bytes
    /// are inconsistent, which only a damaged index can cause.
    #[inline]
    pub(super) fn each<S>(
        &self,
        state: &mut S,
        mut word: impl FnMut(&mut S, u32, u32),
        mut end: impl FnMut(&mut S, usize, usize),
    ) -> Option<()> {
        let mut rest = self.occurrences;
        for text in 0..self.len() {
            self.each_of_next(&mut rest, |number, count| word(state, number, count))?;
            end(state, text, self.occurrences.len() - rest.len());
        }
        rest.is_empty().then_some(())
    }

    /// The words of the text at a place in the occurrences, with their counts, and the place of the next text.
    pub(super) fn words_at(&self, place: usize) -> Option<(Vec<(u32, u32)>, usize)> {
        let mut words = Vec::new();
        let mut rest = self.occurrences.get(place..)?;
        self.each_of_next(&mut rest, |number, count| words.push((number, count)))?;
        Some((words, self.occurrences.len() - rest.len()))
    }

    #[inline]
    fn each_of_next(&self, rest: &mut &[u8], mut word: impl FnMut(u32, u32)) -> Option<()> {
        let words = self.words.len() as u64;
        let mut number = 0;
        for _ in 0..read_varint(rest)? {
            let step = read_varint(rest)?;
            let count = if step & 1 == 1 { read_varint(rest)? } else { 1 };
            number += step >> 1;
            if number >= words {
                return None;
            }
            word(number as u32, count as u32);
        }
        Some(())
    }
}

/// Appends the words of a text with their counts, in ascending order, to the occurrences of a part.
pub(super) fn write_occurrences(counts: &[(u32, u32)], out: &mut Vec<u8>) {
    write_varint(counts.len() as u64, out);
    let mut before = 0;
    for &(number, count) in counts {
        write_varint(u64::from(number - before) << 1 | u64::from(count > 1), out);
        if count > 1 {
            write_varint(count.into(), out);
        }
        before = number;
    }
}

/// Appends a number in LEB128: seven bits a byte, the lowest first; the eighth bit says that more follow.
fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number of up to 35 bits that [`write_varint`] wrote.
#[inline]
fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(first.into());
    }
    let mut number = u64::from(first & 0x7F);
    for shift in [7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX)] {
            let mut bytes = Vec::new();
            write_varint(number, &mut bytes);
            assert_eq!(read_varint(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(read_varint(&mut [0xFF; 9].as_slice()), None);
    }
}
