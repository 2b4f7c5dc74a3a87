//! Decides whether the prompt of a model supports the text of its answer.
//!
//! The texts of a turn and the memories shown enter as [`Sources`], then a text that a model wrote; a [`Grounding`]
//! leaves. One word in common is enough, in another form or with nearly the same meaning too. Where the languages differ
//! no word can be in common, so nothing is said. A test over `fixtures/grounding/cases.txt` limits both kinds of error.

use std::collections::HashSet;

use crate::cjk::{is_cjk, is_cjk_word, is_small};
use crate::embedded::StaticModel;
use crate::language::{Language, is_common, language_of};
use crate::words::{is_stop_word, stem, words};

/// Cosine of the vectors of two words from which on one bears out the other.
const NEAR_MEANING: f32 = 0.42;

/// Words of place and direction that are near each other whatever the text is about.
const PARTICLES: &str = "off away out back over near against along around next still even ever here there";

/// Characters that two long words must begin with to be forms of one.
const SAME_BEGINNING: usize = 5;

/// The verdict on a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounding {
    /// It says something of what the model was shown.
    BorneOut,
    /// It is in the language of the turn, and nothing bears it out.
    Unsupported,
    /// It cannot be compared, because its language is another one or it has no words.
    NotComparable,
}

/// Words that a model was shown.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Words that say something of a subject.
    words: HashSet<String>,
    stems: HashSet<String>,
    /// The language of the turn itself.
    language: Option<Language>,
}

/// How many words of a text occur in its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedWords {
    /// Words that occur in a source, too.
    pub shared: usize,
    /// All words of the text.
    pub all: usize,
}

impl Sources {
    /// Sources in the language of these texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Sources {
        let texts: Vec<&str> = texts.into_iter().collect();
        let language = language_of(&texts.join("\n"));
        let mut sources = Sources { language, ..Sources::default() };
        texts.iter().for_each(|text| sources.add(text));
        sources
    }

    /// Adds a text. The language of the sources stays.
    pub fn add(&mut self, text: &str) {
        for word in content_words(text) {
            self.stems.insert(stem(&word).into_owned());
            self.words.insert(word);
        }
    }

    /// The verdict on a text.
    pub fn judge(&self, text: &str) -> Grounding {
        let said = self.said_by(text);
        if said.iter().any(|word| self.has(word)) {
            return Grounding::BorneOut;
        }
        let known = |word: &String| word.chars().any(char::is_alphabetic);
        match self.is_comparable(text) && said.iter().any(known) {
            true if self.means_the_same(&said) => Grounding::BorneOut,
            true => Grounding::Unsupported,
            false => Grounding::NotComparable,
        }
    }

    /// The words of a text that occur in the sources, too.
    pub fn shared_with(&self, text: &str) -> SharedWords {
        let said = self.said_by(text);
        SharedWords { shared: said.iter().filter(|word| self.has(word)).count(), all: said.len() }
    }

    /// The words of a text that say something, in its language or in that of the turn.
    fn said_by(&self, text: &str) -> Vec<String> {
        let mut said = content_words(text);
        let language = language_of(text).or(self.language);
        said.retain(|word| !is_common(language, word));
        said
    }

    /// True if words of a text can be in common with the sources: nothing tells that its language is another one.
    pub fn is_comparable(&self, text: &str) -> bool {
        match (language_of(text), self.language) {
            (Some(said), Some(own)) => said.may_be(own),
            // Sources without common words whose letters have no marks are taken for English.
            (Some(said), None) => said == Language::Named("en"),
            (None, _) => true,
        }
    }

    /// True if a word means nearly what one of the sources means. The vectors are those of the embedded model.
    fn means_the_same(&self, said: &[String]) -> bool {
        let model = StaticModel::new();
        let vectors = |words: &mut dyn Iterator<Item = &String>| -> Vec<Vec<f32>> {
            let is_meant = |word: &&String| {
                word.is_ascii()
                    && model.knows(word)
                    && !PARTICLES.split(' ').any(|particle| particle == *word)
            };
            words.filter(is_meant).filter_map(|word| model.word_vector(word)).collect()
        };
        let said = vectors(&mut said.iter());
        let known = vectors(&mut self.words.iter());
        said.iter().any(|a| known.iter().any(|b| cosine(a, b) >= NEAR_MEANING))
    }

    fn has(&self, word: &str) -> bool {
        self.stems.contains(stem(word).as_ref()) || self.words.iter().any(|other| are_forms(word, other))
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt().max(f32::MIN_POSITIVE)
}

/// True if two words are forms of one, or one is a part of the other, as in German compounds.
fn are_forms(a: &str, b: &str) -> bool {
    let (a_chars, b_chars) = (a.chars().count(), b.chars().count());
    let shorter = a_chars.min(b_chars);
    if shorter < 4 || a.chars().chain(b.chars()).any(|c| is_cjk(c) || c.is_ascii_digit()) {
        return false;
    }
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let is_beginning = common >= SAME_BEGINNING && common * 4 >= shorter * 3;
    let is_short_form = common == 4 && shorter <= 5 && a_chars.abs_diff(b_chars) <= 2;
    is_beginning || is_short_form || (shorter >= 5 && (a.ends_with(b) || b.ends_with(a)))
}

/// The words of a text that say something of its subject.
fn content_words(text: &str) -> Vec<String> {
    let mut words = words(text);
    words.retain(|word| {
        if is_cjk_word(word) {
            !is_small(word) && (word.chars().count() > 1 || !word.chars().any(is_syllable))
        } else {
            !is_stop_word(word)
        }
    });
    words
}

/// True for a character that is a syllable, and says nothing alone.
fn is_syllable(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns, with paraphrases that must not be marked, and hallucinations that must be.
    const CASES: &str = include_str!("../../../fixtures/grounding/cases.txt");

    /// The verdicts on the texts of one kind, with the texts.
    fn judged(kind: &str) -> Vec<(Grounding, String)> {
        let (mut sources, mut found) = (Sources::default(), Vec::new());
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            match line.split_at_checked(2) {
                Some(("= ", turn)) => sources = Sources::of(turn.split(" | ")),
                Some((mark, text)) if mark.trim() == kind => {
                    found.push((sources.judge(text), text.to_owned()))
                }
                _ => {}
            }
        }
        found
    }

    #[test]
    fn few_paraphrases_are_marked_and_few_inventions_are_not() {
        let wrong = |kind: &str, marked: bool| {
            let all = judged(kind);
            let is_wrong = |verdict: Grounding| (verdict == Grounding::Unsupported) == marked;
            let wrong: Vec<String> =
                all.iter().filter(|(verdict, _)| is_wrong(*verdict)).map(|(_, text)| text.clone()).collect();
            assert!(
                wrong.len() * 50 <= all.len(),
                "{kind} {} of {} wrong: {wrong:#?}",
                wrong.len(),
                all.len()
            );
            all.len()
        };
        let (paraphrases, inventions) = (wrong("+", true), wrong("-", false));
        assert!(paraphrases >= 100 && inventions >= 50, "{paraphrases}, {inventions}");
    }
}
