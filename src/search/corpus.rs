//! The texts that are searched, in the form in which they are searched: for each its different words
//! with their counts, and its vectors.
//!
//! Texts enter once, in any order, and get numbers; nothing ever leaves but as a whole, through
//! [`crate::search::index`]. What is kept of a text depends on nothing but the text and the embedder.

use std::collections::HashMap;

use crate::search::aliases::questions;
use crate::search::embedded::StaticModel;
use crate::search::embedder::{EmbedError, Embedder, QueryVector, Vectors};
use crate::search::vocabulary::{Vocabulary, take};
use crate::search::words::each_word;
use crate::types::{Memory, Scope};

/// Texts longer than this many characters are also embedded in parts: a vector of much says little.
const LONG: usize = 300;

/// Most parts of one text. What comes behind is found by its words.
const MOST_PARTS: usize = 64;

/// Most questions of one text.
const MOST_QUESTIONS: usize = 64;

/// What is searched of one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// What its words are taken from: everything that somebody may remember of it.
    pub words: String,
    /// What its vectors are taken from: the text whole and, where it is long, its parts. Whichever is
    /// most like a question counts.
    pub passages: Vec<String>,
    /// Questions that it answers besides; each has a vector, too.
    pub questions: Vec<String>,
}

impl Text {
    /// A text that has nothing around it.
    pub fn plain(text: &str) -> Text {
        let mut passages = vec![text.to_owned()];
        passages.extend(parts(text).into_iter().map(str::to_owned));
        Text { words: text.to_owned(), passages, questions: Vec::new() }
    }

    /// A memory: by its words also where it was, whom it names, its tags, and when it was.
    pub fn of_memory(scope: &Scope, name: &str, memory: &Memory) -> Text {
        let Memory { category, title, text, context, provenance, .. } = memory;
        let title = if category.only_grows() { without_marks(title) } else { title };
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
        // `Alex said: …` says already what the title does.
        let whole = if text.starts_with(title) { text.clone() } else { format!("{title}. {text}") };
        let mut passages = vec![whole];
        passages.extend(parts(text).into_iter().map(str::to_owned));
        Text { words, passages, questions: questions(scope, name, memory) }
    }
}

/// A title without the marks of episode, turn and message before it, as lines of dialogue bear them:
/// `Ep1 T3 Alex` is `Alex`.
fn without_marks(title: &str) -> &str {
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

/// `2026-01-31` as people say it: `31 January 2026`. Anything else as it is.
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

/// The parts of a long text: sentences, as many together as are not long. None of a short one.
pub(super) fn parts(text: &str) -> Vec<&str> {
    if text.chars().nth(LONG).is_none() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let (mut start, mut end, mut length) = (0, 0, 0);
    for sentence in sentences(text) {
        let own = sentence.chars().count();
        if length > 0 && length + own > LONG {
            parts.push(text[start..end].trim());
            (start, length) = (end, 0);
        }
        end += sentence.len();
        length += own;
    }
    parts.push(text[start..end].trim());
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts.truncate(MOST_PARTS);
    parts
}

/// The sentences of a text, each with the space behind it: one ends with `.`, `!` or `?`, marks that
/// close what was quoted, and space, where a capital follows, so that `Mr. x`, `3.5` and `e.g. this` hold
/// together; and with its line.
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

/// The texts, by numbers from 0.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The different words.
    pub(super) vocabulary: Vocabulary,
    /// Of each text: how many different words; then for each, by rising numbers, how much higher its
    /// number is than that of the one before, doubled, odd where a count follows: it is there more
    /// than once. All in bytes of seven bits, the lowest first, the eighth where more follow.
    pub(super) occurrences: Vec<u8>,
    /// Of each text: how many vectors …
    pub(super) vector_counts: Vec<u8>,
    /// … and how many of these, the last, are of questions that it answers.
    pub(super) question_counts: Vec<u8>,
    /// The vectors of all texts, in their order.
    pub(super) vectors: Vectors,
    model: StaticModel,
}

impl Corpus {
    /// None yet; their vectors will have that many dimensions.
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

    /// How many texts.
    pub fn len(&self) -> usize {
        self.vector_counts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.vector_counts.is_empty()
    }

    /// Adds texts; they get the next numbers.
    ///
    /// # Errors
    ///
    /// Where the embedder fails; then none is added.
    pub fn add(&mut self, texts: &[Text], embedder: &dyn Embedder) -> Result<(), EmbedError> {
        let all: Vec<&str> = texts.iter().flat_map(|text| embedded_of(text).0).map(String::as_str).collect();
        let mut vectors = embed_each_once(&all, embedder)?.into_iter();
        let mut counts: Vec<(u32, u32)> = Vec::new();
        for text in texts {
            self.count_words(&text.words, &mut counts);
            self.write_occurrences(&counts);
            let (embedded, questions) = embedded_of(text);
            let count = embedded.count();
            vectors.by_ref().take(count).for_each(|vector| self.vectors.push(&vector));
            self.vector_counts.push(count as u8);
            self.question_counts.push(questions as u8);
        }
        Ok(())
    }

    /// The number, from 0, of the part most like a question, of a text that has so many.
    pub(super) fn likest_part(&self, text: usize, parts: usize, question: &QueryVector) -> Option<usize> {
        let before: usize = self.vector_counts[..text].iter().map(|&count| usize::from(count)).sum();
        let cosine = |part: &usize| self.vectors.cosine(before + 1 + part, question);
        (0..parts).max_by(|a, b| cosine(a).total_cmp(&cosine(b)).then(b.cmp(a)))
    }

    /// The numbers of a text's different words, rising, with their counts.
    fn count_words(&mut self, text: &str, counts: &mut Vec<(u32, u32)>) {
        let mut numbers: Vec<u32> = Vec::new();
        each_word(text, |word| numbers.extend(self.vocabulary.number_of(word, self.model)));
        numbers.sort_unstable();
        counts.clear();
        counts.extend(numbers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)));
    }

    fn write_occurrences(&mut self, counts: &[(u32, u32)]) {
        let out = &mut self.occurrences;
        write_number(counts.len() as u64, out);
        let mut before = 0;
        for &(number, count) in counts {
            write_number(u64::from(number - before) << 1 | u64::from(count > 1), out);
            if count > 1 {
                write_number(count.into(), out);
            }
            before = number;
        }
    }

    /// Shows each text's words in turn: `begin` with the text's number, `word` with a word's number and
    /// its count, `end`. `None` where the bytes make no sense, which only a damaged index can cause.
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
            for _ in 0..read_number(&mut rest)? {
                let step = read_number(&mut rest)?;
                let count = if step & 1 == 1 { read_number(&mut rest)? } else { 1 };
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

    /// Takes over texts of another corpus with the same embedder: those for which `wanted` holds.
    /// `None` where that corpus makes no sense.
    pub(super) fn take_over(&mut self, other: &Corpus, wanted: impl Fn(usize) -> bool) -> Option<()> {
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

/// What of a text is embedded, questions last, and how many these are.
fn embedded_of(text: &Text) -> (impl Iterator<Item = &String>, usize) {
    let questions = text.questions.len().min(MOST_QUESTIONS);
    (text.passages.iter().take(MOST_PARTS + 1).chain(&text.questions[..questions]), questions)
}

/// The vectors of texts. A server is asked once for what several texts have: the questions that
/// agents ask are the same for all.
fn embed_each_once(passages: &[&str], embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, EmbedError> {
    if !embedder.is_served() {
        return embedder.embed(passages);
    }
    let mut different: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut order: Vec<usize> = Vec::with_capacity(passages.len());
    for &passage in passages {
        order.push(*numbers.entry(passage).or_insert_with(|| {
            different.push(passage);
            different.len() - 1
        }));
    }
    let vectors = embedder.embed(&different)?;
    Ok(order.into_iter().map(|number| vectors[number].clone()).collect())
}

fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
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
        let text = Text::of_memory(&Scope::Npc("grim_troll".to_owned()), "The Troll", &memory);
        for word in ["fatal", "danger", "jordan", "grim", "ep3", "january", "5", "2026"] {
            assert!(crate::search::words::words(&text.words).contains(&word.to_owned()), "{word}");
        }
        assert_eq!(text.passages, ["Troll attacks. Fatal without a weapon."]);
    }

    #[test]
    fn a_line_of_dialogue_is_what_was_said() {
        let line = |category: &str, title: &str, text: &str| {
            let memory = Memory::new(category.parse().unwrap(), title, text);
            Text::of_memory(&Scope::Dialogue, "", &memory)
        };
        let said = line("DIALOGUE", "Ep1 T3 Alex", "Alex said: I have the key.");
        assert_eq!(said.passages, ["Alex said: I have the key."]);
        assert!(said.words.starts_with("Alex\n"), "{}", said.words);
        assert_eq!(line("EVENT", "Ep2 Tower falls", "Dust.").passages, ["Tower falls. Dust."]);
        assert_eq!(line("NOTE", "T3 Alex", "Dust.").passages, ["T3 Alex. Dust."]);
        assert_eq!(without_marks("Tom"), "Tom");
    }

    #[test]
    fn long_texts_have_parts() {
        let text = "One sentence about the lamp. ".repeat(30);
        let parts = parts(&text);
        assert!(parts.len() > 2 && parts.iter().all(|part| part.len() <= LONG), "{parts:?}");
        assert_eq!(parts.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(super::parts(&"é".repeat(LONG)).is_empty());
        assert_eq!(super::parts(&"é".repeat(LONG + 1)).len(), 1);
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
    fn the_likest_part_is_of_the_text_that_is_asked_about() {
        let model = StaticModel::new();
        let filler = "The harvest was poor that year and the bread was dear. ".repeat(6);
        let texts = [
            Text::plain("short"),
            Text::plain(&format!("{filler}She keeps a rusty key in the attic. {filler}")),
        ];
        let mut corpus = Corpus::new(model.dimensions());
        corpus.add(&texts, &model).unwrap();
        let parts = parts(&texts[1].words);
        let question = QueryVector::new(&model.embed(&["where is the rusty key?"]).unwrap()[0]);
        let part = corpus.likest_part(1, parts.len(), &question).unwrap();
        assert!(parts[part].contains("rusty key"), "{}", parts[part]);
        assert_eq!(corpus.likest_part(0, 0, &question), None);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX)] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(read_number(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(read_number(&mut [0xFF; 9].as_slice()), None);
    }

    #[test]
    fn what_is_taken_over_is_the_same() {
        let model = StaticModel::new();
        let texts = ["a key and a key", "the rusty lamp", "key lamp"].map(Text::plain);
        let mut old = Corpus::new(model.dimensions());
        old.add(&texts, &model).unwrap();
        let mut new = Corpus::new(model.dimensions());
        new.add(&[Text::plain("lamp of the troll")], &model).unwrap();
        new.take_over(&old, |text| text != 1).unwrap();
        let mut fresh = Corpus::new(model.dimensions());
        fresh.add(&[Text::plain("lamp of the troll"), texts[0].clone(), texts[2].clone()], &model).unwrap();
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
