//! The searchable form of texts: for each, its distinct words with their counts, and its vectors.
//!
//! Texts enter once, in any order, and get consecutive numbers; none is removed. A corpus has up to two parts: one that
//! was read from the index and never changes, and one to which texts are added. Each part has words of its own, so that
//! an addition needs nothing of the stored part. The data of a text depends only on the text and the embedder.

use std::collections::HashMap;
use std::sync::Arc;

use crate::embedded::StaticModel;
use crate::embedder::{EmbedError, Embedder, QueryVector, Vectors};
use crate::part::{Part, write_occurrences};
use crate::searchable_text::{MAX_PASSAGES, SearchableText};
use crate::stored_index::StoredIndex;
use crate::vocabulary::Vocabulary;
use crate::words::each_word_or_part;

/// Maximum number of canonical questions of one text.
const MAX_QUESTIONS: usize = 64;

/// All texts, numbered from 0: those of the stored part first.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub(super) stored: Option<Arc<StoredIndex>>,
    pub(super) added: AddedTexts,
}

impl Corpus {
    /// An empty corpus for vectors with that many dimensions.
    pub fn new(dimensions: usize) -> Corpus {
        Corpus { stored: None, added: AddedTexts::new(dimensions) }
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.stored_len() + self.added.vector_counts.len()
    }

    /// Number of texts of the stored part.
    pub(super) fn stored_len(&self) -> usize {
        self.stored.as_ref().map_or(0, |stored| stored.len())
    }

    /// The parts that have texts, in the order of these.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let stored = self.stored.iter().map(|stored| stored.part());
        stored.chain([self.added.part()]).filter(|part| part.len() > 0)
    }

    /// The part that has a text, and the number of the text in it.
    pub(super) fn part_of(&self, text: usize) -> (Part<'_>, usize) {
        match &self.stored {
            Some(stored) if text < stored.len() => (stored.part(), text),
            _ => (self.added.part(), text - self.stored_len()),
        }
    }

    /// Adds texts under the next numbers.
    ///
    /// # Errors
    ///
    /// If the embedder fails; then no text is added.
    pub fn add(&mut self, texts: &[SearchableText], embedder: &dyn Embedder) -> Result<(), EmbedError> {
        self.added.add(texts, embedder)
    }

    /// The cosines of the query and the passages of a text, of which there are `passages`.
    pub(super) fn passage_cosines(&self, text: usize, passages: usize, query: &QueryVector) -> Vec<f32> {
        if passages == 0 {
            return Vec::new();
        }
        let (part, text) = self.part_of(text);
        let before: usize = part.vector_counts[..text].iter().map(|&count| usize::from(count)).sum();
        (0..passages).map(|passage| part.vectors.cosine(before + 1 + passage, query)).collect()
    }
}

/// The part of a corpus to which texts are added.
#[derive(Debug, Clone, Default)]
pub(super) struct AddedTexts {
    vocabulary: Vocabulary,
    occurrences: Vec<u8>,
    vector_counts: Vec<u8>,
    question_counts: Vec<u8>,
    vectors: Vectors,
}

impl AddedTexts {
    pub(super) fn new(dimensions: usize) -> AddedTexts {
        AddedTexts { vectors: Vectors::new(dimensions), ..AddedTexts::default() }
    }

    pub(super) fn part(&self) -> Part<'_> {
        Part {
            words: self.vocabulary.words(),
            occurrences: &self.occurrences,
            vector_counts: &self.vector_counts,
            question_counts: &self.question_counts,
            vectors: self.vectors.all(),
        }
    }

    fn add(&mut self, texts: &[SearchableText], embedder: &dyn Embedder) -> Result<(), EmbedError> {
        let all: Vec<&str> = texts.iter().flat_map(|text| to_embed(text).0).map(String::as_str).collect();
        let mut vectors = embed_distinct(&all, embedder)?.into_iter();
        for text in texts {
            let counts = self.count_words(&text.words);
            write_occurrences(&counts, &mut self.occurrences);
            let (passages, questions) = to_embed(text);
            let count = passages.count();
            vectors.by_ref().take(count).for_each(|vector| self.vectors.push(&vector));
            self.vector_counts.push(count as u8);
            self.question_counts.push(questions as u8);
        }
        Ok(())
    }

    /// The numbers of a text's distinct words, ascending, with their counts.
    fn count_words(&mut self, text: &str) -> Vec<(u32, u32)> {
        let model = StaticModel::new();
        let mut numbers: Vec<u32> = Vec::new();
        each_word_or_part(text, |word| numbers.extend(self.vocabulary.number_of(word, model)));
        numbers.sort_unstable();
        numbers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
    }

    /// Copies the texts of a part for which `wanted` is true. `None` if that part is inconsistent.
    pub(super) fn copy_from(&mut self, other: &Part<'_>, wanted: impl Fn(usize) -> bool) -> Option<()> {
        // The number of each word here; words that only unwanted texts have get none.
        let mut numbers: Vec<Option<u32>> = vec![None; other.words.len()];
        let mut first_vector = 0;
        let mut place = 0;
        for (text, &vectors) in other.vector_counts.iter().enumerate() {
            let next_vector = first_vector + usize::from(vectors);
            let (mut counts, next) = other.words_at(place)?;
            place = next;
            if wanted(text) {
                for (word, _) in &mut counts {
                    let number = &mut numbers[*word as usize];
                    if number.is_none() {
                        *number = Some(self.vocabulary.number_of_other(&other.words, *word)?);
                    }
                    *word = (*number)?;
                }
                counts.sort_unstable();
                write_occurrences(&counts, &mut self.occurrences);
                for vector in first_vector..next_vector {
                    self.vectors.push_copy(&other.vectors, vector)?;
                }
                self.vector_counts.push(vectors);
                self.question_counts.push(*other.question_counts.get(text)?);
            }
            first_vector = next_vector;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::searchable_text::split_passages;

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
    fn copied_texts_are_the_same() {
        let model = StaticModel::new();
        let texts = ["a key and a key", "the rusty lamp", "key lamp"].map(SearchableText::plain);
        let added = |texts: &[SearchableText]| {
            let mut added = AddedTexts::new(model.dimensions());
            added.add(texts, &model).unwrap();
            added
        };
        let old = added(&texts);
        let first = SearchableText::plain("lamp of the troll");
        let mut new = added(std::slice::from_ref(&first));
        new.copy_from(&old.part(), |text| text != 1).unwrap();
        let fresh = added(&[first, texts[0].clone(), texts[2].clone()]);
        let words = |added: &AddedTexts| {
            let part = added.part();
            let mut found: Vec<Vec<(Vec<u8>, u32)>> = vec![Vec::new()];
            let word = |found: &mut Vec<Vec<(Vec<u8>, u32)>>, number, count| {
                found.last_mut().unwrap().push((part.words.word(number).to_owned(), count));
            };
            part.each(&mut found, word, |found, _, _| found.push(Vec::new())).unwrap();
            found.iter_mut().for_each(|words| words.sort());
            found
        };
        assert_eq!(words(&new), words(&fresh));
        assert_eq!(new.vectors, fresh.vectors);
        assert_eq!(new.part().words.len(), 3, "no word of an unwanted text is copied");
    }
}
