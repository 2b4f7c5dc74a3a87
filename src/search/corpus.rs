//! The searchable form of texts: for each, its distinct words with their counts, and its vectors.
//!
//! Texts enter once, in any order, and get consecutive numbers; none is removed. `index` stores a
//! corpus. The data of a text depends only on the text and the embedder.

use std::collections::HashMap;

use crate::search::embedded::StaticModel;
use crate::search::embedder::{EmbedError, Embedder, QueryVector, Vectors};
use crate::search::searchable_text::{MAX_PASSAGES, SearchableText};
use crate::search::vocabulary::{Vocabulary, take};
use crate::search::words::each_word;

/// Maximum number of canonical questions of one text.
const MAX_QUESTIONS: usize = 64;

/// All texts, numbered from 0.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub(super) vocabulary: Vocabulary,
    /// The words of each text, as LEB128 varints: the number of distinct words; then for each word, in ascending
    /// order, the difference to the previous word's number, shifted left by one; the lowest bit says that the
    /// word's count follows, because it is above 1.
    pub(super) occurrences: Vec<u8>,
    /// Number of vectors of each text.
    pub(super) vector_counts: Vec<u8>,
    /// How many of these vectors, the last ones, belong to canonical questions.
    pub(super) question_counts: Vec<u8>,
    /// The vectors of all texts, in order.
    pub(super) vectors: Vectors,
    model: StaticModel,
}

impl Corpus {
    /// An empty corpus for vectors with that many dimensions.
    pub fn new(dimensions: usize) -> Corpus {
        Corpus {
            vocabulary: Vocabulary::default(),
            occurrences: Vec::new(),
            vector_counts: Vec::new(),
            question_counts: Vec::new(),
            vectors: Vectors::new(dimensions),
            model: StaticModel::new(),
        }
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.vector_counts.len()
    }

    /// Adds texts under the next numbers.
    ///
    /// # Errors
    ///
    /// If the embedder fails; then no text is added.
    pub fn add(&mut self, texts: &[SearchableText], embedder: &dyn Embedder) -> Result<(), EmbedError> {
        let all: Vec<&str> = texts.iter().flat_map(|text| to_embed(text).0).map(String::as_str).collect();
        let mut vectors = embed_distinct(&all, embedder)?.into_iter();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for text in texts {
            self.count_words(&text.words, &mut counts);
            self.write_occurrences(&counts);
            let (passages, questions) = to_embed(text);
            let count = passages.count();
            vectors.by_ref().take(count).for_each(|vector| self.vectors.push(&vector));
            self.vector_counts.push(count as u8);
            self.question_counts.push(questions as u8);
        }
        Ok(())
    }

    /// The cosines of the query and the passages of a text, of which there are `passages`.
    pub(super) fn passage_cosines(&self, text: usize, passages: usize, query: &QueryVector) -> Vec<f32> {
        let before: usize = self.vector_counts[..text].iter().map(|&count| usize::from(count)).sum();
        (0..passages).map(|passage| self.vectors.cosine(before + 1 + passage, query)).collect()
    }

    /// The numbers of a text's distinct words, ascending, with their counts.
    fn count_words(&mut self, text: &str, counts: &mut Vec<(u32, u32)>) {
        let mut numbers: Vec<u32> = Vec::new();
        each_word(text, |word| numbers.extend(self.vocabulary.number_of(word, self.model)));
        numbers.sort_unstable();
        counts.clear();
        counts.extend(numbers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)));
    }

    fn write_occurrences(&mut self, counts: &[(u32, u32)]) {
        let out = &mut self.occurrences;
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

    /// Visits the words of all texts: for each text, calls `word` with the number and count of each word, then
    /// `end` with the number of the text and the place of the next one, for [`Corpus::words_at`]. `None` if the bytes
    /// are inconsistent, which only a damaged index can cause.
    pub(super) fn each<S>(
        &self,
        state: &mut S,
        mut word: impl FnMut(&mut S, u32, u32),
        mut end: impl FnMut(&mut S, usize, usize),
    ) -> Option<()> {
        let mut rest = self.occurrences.as_slice();
        for text in 0..self.len() {
            self.each_of_next(&mut rest, |number, count| word(state, number, count))?;
            end(state, text, self.occurrences.len() - rest.len());
        }
        rest.is_empty().then_some(())
    }

    /// The words of the text at a place in the occurrences, with their counts.
    pub(super) fn words_at(&self, place: usize) -> Option<Vec<(u32, u32)>> {
        let mut words = Vec::new();
        self.each_of_next(&mut self.occurrences.get(place..)?, |number, count| words.push((number, count)))?;
        Some(words)
    }

    #[inline]
    fn each_of_next(&self, rest: &mut &[u8], mut word: impl FnMut(u32, u32)) -> Option<()> {
        let words = self.vocabulary.len() as u64;
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

    /// Copies the texts for which `wanted` is true from another corpus of the same embedder. `None` if that corpus
    /// is inconsistent.
    pub(super) fn copy_from(&mut self, other: &Corpus, wanted: impl Fn(usize) -> bool) -> Option<()> {
        let numbers: Vec<Option<u32>> = (0..other.vocabulary.len() as u32)
            .map(|number| self.vocabulary.number_of(other.vocabulary.word(number), self.model))
            .collect();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let mut vector = 0;
        let mut ended: Vec<Vec<(u32, u32)>> = Vec::new();
        other.each(
            &mut counts,
            |counts, number, count| counts.extend(numbers[number as usize].map(|number| (number, count))),
            |counts, _, _| ended.push(std::mem::take(counts)),
        )?;
        for (text, mut counts) in ended.into_iter().enumerate() {
            let vectors = usize::from(other.vector_counts[text]);
            if wanted(text) {
                counts.sort_unstable();
                self.write_occurrences(&counts);
                (vector..vector + vectors).for_each(|at| self.vectors.push_copy(&other.vectors, at));
                self.vector_counts.push(vectors as u8);
                self.question_counts.push(other.question_counts[text]);
            }
            vector += vectors;
        }
        Some(())
    }
}

/// The strings of a text that get a vector, questions last, and the number of questions.
fn to_embed(text: &SearchableText) -> (impl Iterator<Item = &String>, usize) {
    let questions = text.questions.len().min(MAX_QUESTIONS);
    (text.passages.iter().take(MAX_PASSAGES + 1).chain(&text.questions[..questions]), questions)
}

/// The vectors of passages. A server is asked only once for identical ones: the canonical questions are the
/// same for many memories.
fn embed_distinct(passages: &[&str], embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, EmbedError> {
    if !embedder.is_served() {
        return embedder.embed(passages);
    }
    let mut distinct: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut order: Vec<usize> = Vec::with_capacity(passages.len());
    for &passage in passages {
        order.push(*numbers.entry(passage).or_insert_with(|| {
            distinct.push(passage);
            distinct.len() - 1
        }));
    }
    let vectors = embedder.embed(&distinct)?;
    Ok(order.into_iter().map(|number| vectors[number].clone()).collect())
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
        let byte = *take(bytes, 1)?.first()?;
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
    use crate::search::searchable_text::split_passages;

    #[test]
    fn passages_are_of_the_given_text() {
        let model = StaticModel::new();
        let filler = "The harvest was poor that year and the bread was dear. ".repeat(6);
        let texts = [
            SearchableText::plain("short"),
            SearchableText::plain(&format!("{filler}She keeps a rusty key in the attic. {filler}")),
        ];
        let mut corpus = Corpus::new(model.dimensions());
        corpus.add(&texts, &model).unwrap();
        let passages = split_passages(&texts[1].words);
        let query = QueryVector::new(&model.embed(&["where is the rusty key?"]).unwrap()[0]);
        let cosines = corpus.passage_cosines(1, passages.len(), &query);
        let best = (0..passages.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b])).unwrap();
        assert!(passages[best].contains("rusty key"), "{}", passages[best]);
        assert_eq!(corpus.passage_cosines(0, 0, &query), [0.0; 0]);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX)] {
            let mut bytes = Vec::new();
            write_varint(number, &mut bytes);
            assert_eq!(read_varint(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(read_varint(&mut [0xFF; 9].as_slice()), None);
    }

    #[test]
    fn copied_texts_are_the_same() {
        let model = StaticModel::new();
        let texts = ["a key and a key", "the rusty lamp", "key lamp"].map(SearchableText::plain);
        let mut old = Corpus::new(model.dimensions());
        old.add(&texts, &model).unwrap();
        let mut new = Corpus::new(model.dimensions());
        new.add(&[SearchableText::plain("lamp of the troll")], &model).unwrap();
        new.copy_from(&old, |text| text != 1).unwrap();
        let mut fresh = Corpus::new(model.dimensions());
        fresh
            .add(&[SearchableText::plain("lamp of the troll"), texts[0].clone(), texts[2].clone()], &model)
            .unwrap();
        let words = |corpus: &Corpus| {
            let mut found: Vec<Vec<(String, u32)>> = vec![Vec::new()];
            let word = |found: &mut Vec<Vec<(String, u32)>>, number, count| {
                found.last_mut().unwrap().push((corpus.vocabulary.word(number).to_owned(), count));
            };
            corpus.each(&mut found, word, |found, _, _| found.push(Vec::new())).unwrap();
            found.iter_mut().for_each(|words| words.sort());
            found
        };
        assert_eq!(words(&new), words(&fresh));
        assert_eq!(new.vectors, fresh.vectors);
    }
}
