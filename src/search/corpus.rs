//! The searchable form of texts: for each, its distinct words with their counts, and its vectors.
//!
//! Texts enter once, in any order, and get consecutive numbers; none is removed. [`crate::search::index`] stores a
//! corpus. The data of a text depends only on the text and the embedder.

use std::collections::HashMap;

use crate::search::aliases::questions;
use crate::search::embedded::StaticModel;
use crate::search::embedder::{EmbedError, Embedder, QueryVector, Vectors};
use crate::search::vocabulary::{Vocabulary, take};
use crate::search::words::each_word;
use crate::types::{Memory, Scope};

/// Longest passage, in characters. Longer texts are also embedded passage by passage: one vector for a long
/// text is not specific enough.
const PASSAGE_CHARS: usize = 300;

/// Maximum number of passages of one text; what follows them is found only by its words.
const MAX_PASSAGES: usize = 64;

/// Maximum number of canonical questions of one text.
const MAX_QUESTIONS: usize = 64;

/// The input of the index for one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchableText {
    /// The text that its words are taken from, with everything somebody may remember of it.
    pub words: String,
    /// The whole text and, if it is long, its passages. Each gets a vector; the one closest to the query counts.
    pub passages: Vec<String>,
    /// Canonical questions that it answers; each gets a vector, too.
    pub questions: Vec<String>,
}

impl SearchableText {
    /// A text without metadata.
    pub fn plain(text: &str) -> SearchableText {
        let mut passages = vec![text.to_owned()];
        passages.extend(split_passages(text).into_iter().map(str::to_owned));
        SearchableText { words: text.to_owned(), passages, questions: Vec::new() }
    }

    /// A memory. Its words include its place, the characters it names, its tags and its time.
    pub fn of_memory(scope: &Scope, name: &str, memory: &Memory) -> SearchableText {
        let Memory { category, title, text, context, provenance, .. } = memory;
        let title = if category.only_grows() { without_origin_marks(title) } else { title };
        let mut words = format!("{title}\n{text}\n{name}\n");
        let mut add = |word: &str| {
            words.push_str(word);
            words.push('\n');
        };
        match scope {
            Scope::Npc(id) | Scope::Agent(id) => add(id),
            Scope::Location(_) | Scope::World | Scope::Scene | Scope::Dialogue => {}
        }
        if category.as_str() != "NOTE" {
            add(category.as_str());
        }
        provenance.tags.iter().for_each(|tag| add(tag));
        [context, &provenance.goal].into_iter().flatten().for_each(|text| add(text));
        if let Some(date) = &provenance.date {
            add(&date_in_words(date));
        }
        if let Some(episode) = provenance.episode {
            add(&format!("ep{episode}"));
        }
        if let Some(turns) = provenance.turns {
            add(&format!("t{}", turns.first));
        }
        // A line of dialogue, `Alex said: …`, repeats its title.
        let whole = if text.starts_with(title) { text.clone() } else { format!("{title}. {text}") };
        let mut passages = vec![whole];
        passages.extend(split_passages(text).into_iter().map(str::to_owned));
        SearchableText { words, passages, questions: questions(scope, name, memory) }
    }
}

/// The title of a line of dialogue without the episode, turn and message that it begins with: `Alex` of
/// `Ep1 T3 Alex`.
fn without_origin_marks(title: &str) -> &str {
    let mut rest = title;
    while let Some((mark, behind)) = rest.split_once(' ') {
        let digits = mark.trim_start_matches("Ep").trim_start_matches(['T', 'M']);
        if digits.len() == mark.len()
            || digits.is_empty()
            || !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            break;
        }
        rest = behind;
    }
    rest
}

/// `31 January 2026` for `2026-01-31`; anything else unchanged.
fn date_in_words(date: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut parts = date.get(..10).unwrap_or(date).splitn(3, '-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
        return date.to_owned();
    };
    let month = month.parse().ok().and_then(|month: usize| MONTHS.get(month.wrapping_sub(1)));
    month.map_or_else(|| date.to_owned(), |month| format!("{} {month} {year}", day.trim_start_matches('0')))
}

/// The passages of a long text: runs of whole sentences of up to [`PASSAGE_CHARS`] characters. Empty for a text
/// no longer than that.
pub(super) fn split_passages(text: &str) -> Vec<&str> {
    if text.chars().nth(PASSAGE_CHARS).is_none() {
        return Vec::new();
    }
    let mut passages = Vec::new();
    let (mut start, mut end, mut length) = (0, 0, 0);
    for sentence in sentences(text) {
        let own = sentence.chars().count();
        if length > 0 && length + own > PASSAGE_CHARS {
            passages.push(text[start..end].trim());
            (start, length) = (end, 0);
        }
        end += sentence.len();
        length += own;
    }
    passages.push(text[start..end].trim());
    passages.retain(|passage| passage.chars().any(char::is_alphanumeric));
    passages.truncate(MAX_PASSAGES);
    passages
}

/// The sentences of a text, each with the space after it. A sentence ends with its line, or with `.`, `!` or
/// `?`, closing quotes and brackets, and space before a capital; so `Mr. x`, `3.5` and `e.g. this` are not
/// split.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.match_indices(['.', '!', '?', '\n']).find_map(|(at, mark)| {
            let behind = &rest[at + 1..];
            if mark == "\n" {
                return Some(at + 1);
            }
            let closed = behind.trim_start_matches(['"', '\'', '”', '’', '»', ')', ']']);
            let next = closed.trim_start_matches([' ', '\t']);
            let opened = next.trim_start_matches(['"', '\'', '“', '‘', '„', '«', '(', '[']);
            let ends = next.len() < closed.len() && opened.starts_with(char::is_uppercase);
            ends.then(|| rest.len() - next.len())
        });
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        Some(sentence)
    })
}

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
    pub fn len(&self) -> usize {
        self.vector_counts.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.vector_counts.is_empty()
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

    /// The passage of a text, from 0, that is closest to the query. `passages` is the number of its passages.
    pub(super) fn best_passage(&self, text: usize, passages: usize, query: &QueryVector) -> Option<usize> {
        let before: usize = self.vector_counts[..text].iter().map(|&count| usize::from(count)).sum();
        let cosine = |passage: &usize| self.vectors.cosine(before + 1 + passage, query);
        (0..passages).max_by(|a, b| cosine(a).total_cmp(&cosine(b)).then(b.cmp(a)))
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
    /// `end` with the number of the text. `None` if the bytes are inconsistent, which only a damaged index can
    /// cause.
    pub(super) fn each<S>(
        &self,
        state: &mut S,
        mut word: impl FnMut(&mut S, u32, u32),
        mut end: impl FnMut(&mut S, usize),
    ) -> Option<()> {
        let mut rest = self.occurrences.as_slice();
        let words = self.vocabulary.len() as u64;
        for text in 0..self.len() {
            let mut number = 0;
            for _ in 0..read_varint(&mut rest)? {
                let step = read_varint(&mut rest)?;
                let count = if step & 1 == 1 { read_varint(&mut rest)? } else { 1 };
                number += step >> 1;
                if number >= words {
                    return None;
                }
                word(state, number as u32, count as u32);
            }
            end(state, text);
        }
        rest.is_empty().then_some(())
    }

    /// Copies the texts for which `wanted` is true from another corpus of the same embedder. `None` if that corpus
    /// is inconsistent.
    pub(super) fn copy_from(&mut self, other: &Corpus, wanted: impl Fn(usize) -> bool) -> Option<()> {
        let numbers: Vec<Option<u32>> = (0..other.vocabulary.len() as u32)
            .map(|number| self.vocabulary.number_of(other.vocabulary.word(number), self.model))
            .collect();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let (rows, inverse_lengths) = other.vectors.parts();
        let dimensions = rows.len() / inverse_lengths.len().max(1);
        let mut vector = 0;
        let mut ended: Vec<Vec<(u32, u32)>> = Vec::new();
        other.each(
            &mut counts,
            |counts, number, count| counts.extend(numbers[number as usize].map(|number| (number, count))),
            |counts, _| ended.push(std::mem::take(counts)),
        )?;
        for (text, mut counts) in ended.into_iter().enumerate() {
            let vectors = usize::from(other.vector_counts[text]);
            if wanted(text) {
                counts.sort_unstable();
                self.write_occurrences(&counts);
                for at in vector..vector + vectors {
                    let row = &rows[at * dimensions..(at + 1) * dimensions];
                    self.vectors.push_row(row, inverse_lengths[at]);
                }
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
    use crate::types::Category;

    #[test]
    fn a_memory_is_found_by_all_that_is_said_of_it() {
        let mut memory = Memory::new(Category::danger(), "Troll attacks", "Fatal without a weapon.");
        memory.provenance.episode = Some(3);
        memory.provenance.date = Some("2026-01-05T10:00:00Z".to_owned());
        memory.provenance.tags = vec!["about:jordan".to_owned()];
        let text = SearchableText::of_memory(&Scope::Npc("grim_troll".to_owned()), "The Troll", &memory);
        for word in ["fatal", "danger", "jordan", "grim", "ep3", "january", "5", "2026"] {
            assert!(crate::search::words::words(&text.words).contains(&word.to_owned()), "{word}");
        }
        assert_eq!(text.passages, ["Troll attacks. Fatal without a weapon."]);
    }

    #[test]
    fn a_line_of_dialogue_is_what_was_said() {
        let line = |category: &str, title: &str, text: &str| {
            let memory = Memory::new(category.parse().unwrap(), title, text);
            SearchableText::of_memory(&Scope::Dialogue, "", &memory)
        };
        let said = line("DIALOGUE", "Ep1 T3 Alex", "Alex said: I have the key.");
        assert_eq!(said.passages, ["Alex said: I have the key."]);
        assert!(said.words.starts_with("Alex\n"), "{}", said.words);
        assert_eq!(line("EVENT", "Ep2 Tower falls", "Dust.").passages, ["Tower falls. Dust."]);
        assert_eq!(line("NOTE", "T3 Alex", "Dust.").passages, ["T3 Alex. Dust."]);
        assert_eq!(without_origin_marks("Tom"), "Tom");
    }

    #[test]
    fn long_texts_have_passages() {
        let text = "One sentence about the lamp. ".repeat(30);
        let passages = split_passages(&text);
        assert!(passages.len() > 2 && passages.iter().all(|one| one.len() <= PASSAGE_CHARS), "{passages:?}");
        assert_eq!(passages.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(super::split_passages(&"é".repeat(PASSAGE_CHARS)).is_empty());
        assert_eq!(super::split_passages(&"é".repeat(PASSAGE_CHARS + 1)).len(), 1);
    }

    #[test]
    fn sentences_end_before_a_capital_and_with_their_line() {
        let text =
            "Mr. x has 3.5 coins, e.g. silver. He said \"No!\" Then (later?) Élan came.\n- one.two\nDr. No";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(found.concat(), text);
        let expected = [
            "Mr. x has 3.5 coins, e.g. silver. ",
            "He said \"No!\" ",
            "Then (later?) ",
            "Élan came.\n",
            "- one.two\n",
            "Dr. ",
            "No",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_best_passage_is_of_the_given_text() {
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
        let best = corpus.best_passage(1, passages.len(), &query).unwrap();
        assert!(passages[best].contains("rusty key"), "{}", passages[best]);
        assert_eq!(corpus.best_passage(0, 0, &query), None);
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
            corpus.each(&mut found, word, |found, _| found.push(Vec::new())).unwrap();
            found.iter_mut().for_each(|words| words.sort());
            found
        };
        assert_eq!(words(&new), words(&fresh));
        assert_eq!(new.vectors, fresh.vectors);
    }
}
