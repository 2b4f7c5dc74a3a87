//! Parses a query into terms and a quoted phrase.
//!
//! A query enters as a person wrote it; [`mod@crate::score`] compares the parsed query with texts.
//! Each word counts once; stop words do not count.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::civil::Date;

use crate::cjk::is_cjk_word;
use crate::dates::{dated, undated, without, without_dates};
use crate::error_places::words_of_places;
use crate::language::{Language, is_common, language_of};
use crate::quotes::Phrase;
use crate::relative_dates::spans;
use crate::term_weight::{ASKING, DATE, is_about_time, term_weight};
use crate::word_parts::parts;
use crate::words::{each_word_or_part, each_written_word, is_stop_word, stem, stems, words};

/// Maximum number of terms; words beyond it count only through the query vector.
pub(super) const MAX_TERMS: usize = 128;

/// Groups of synonyms in text games, one group a line: commands, directions and common things.
const COMMON_SYNONYMS: &str = "\
get take grab
look examine inspect describe
attack fight kill hit
drop discard
open unlock
close shut
go walk
north n
south s
east e
west w
up u
down d
northeast ne
northwest nw
southeast se
southwest sw
lamp lantern light
say talk speak tell ask
die death dead kill
carry hold inventory
";

/// Weight of a term's own stem, in tenths of an exact match.
pub(crate) const EXACT_TENTHS: u32 = 10;

/// Weight of a synonym of text games, in tenths of an exact match.
const COMMON_TENTHS: u32 = 4;

/// Weight of a synonym of the user's own, in tenths of an exact match.
const OWN_TENTHS: u32 = 7;

/// Groups of stems that mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    /// Each with its weight, in tenths.
    groups: Vec<(Vec<String>, u32)>,
}

/// A stem that means the same as a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonym {
    /// The stem.
    pub stem: String,
    /// Its weight, in tenths of an exact match.
    pub tenths: u32,
}

impl Default for Synonyms {
    /// The synonyms of text games.
    fn default() -> Synonyms {
        Synonyms::new(true, &[])
    }
}

impl Synonyms {
    /// The groups of single words of the user's own, behind those of text games if `common` is true.
    pub(crate) fn new(common: bool, own: &[Vec<String>]) -> Synonyms {
        let lines = COMMON_SYNONYMS.lines().filter(|_| common);
        let common = lines.map(|line| (stems(line), COMMON_TENTHS));
        let own = own.iter().map(|group| (group.iter().flat_map(|word| stems(word)).collect(), OWN_TENTHS));
        Synonyms { groups: common.chain(own).collect() }
    }

    /// The other stems in the groups of a stem.
    fn of(&self, stem: &str) -> Vec<Synonym> {
        let mut found: Vec<Synonym> = Vec::new();
        for (group, tenths) in self.groups.iter().filter(|(group, _)| group.iter().any(|word| word == stem)) {
            for word in group.iter().filter(|word| *word != stem) {
                match found.iter_mut().find(|known| known.stem == *word) {
                    Some(known) => known.tenths = known.tenths.max(*tenths),
                    None => found.push(Synonym { stem: word.clone(), tenths: *tenths }),
                }
            }
        }
        found
    }
}

/// One word of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The folded word.
    pub word: String,
    /// Its stem.
    pub stem: String,
    /// Its synonyms.
    pub synonyms: Vec<Synonym>,
    /// The parts that the word is made of, folded.
    pub(crate) parts: Vec<String>,
    /// Factor of its weight, by the kind of word that it is; 0 for one that says nothing.
    pub weight: f64,
    /// True if words of similar meaning count, too.
    pub(crate) has_meaning: bool,
    /// True if a text that has it has to do with the query: it is no word of asking, and no character of a pair.
    pub is_word: bool,
}

impl Term {
    /// The stems that match the term: its own and those of its synonyms, each with its weight in tenths.
    pub(crate) fn stems(&self) -> impl Iterator<Item = (&str, u32)> {
        let synonyms = self.synonyms.iter().map(|synonym| (synonym.stem.as_str(), synonym.tenths));
        std::iter::once((self.stem.as_str(), EXACT_TENTHS)).chain(synonyms)
    }

    fn matches(&self, stem: &str) -> bool {
        self.stems().any(|(own, _)| own == stem)
    }
}

/// A query split into terms and phrases.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedQuery {
    /// The query as it was written, trimmed.
    pub text: String,
    /// The query without the dates that name a day; the query vector is that of this text.
    pub undated: String,
    /// Its words without stop words, each once; dates as `dated` writes them.
    pub terms: Vec<Term>,
    /// The words of `undated` that are terms, each with the number of its term, as often as they occur.
    pub(crate) meant: Vec<(String, usize)>,
    /// True if it has small words of a language that is not English.
    pub(crate) is_foreign: bool,
    /// True if it says nothing but a time; then only the time counts.
    pub(crate) is_time: bool,
    /// What it quotes: memories with it are preferred to all others.
    pub phrase: Option<Phrase>,
}

impl ParsedQuery {
    /// Parses a query; `None` if it contains no word.
    pub fn parse(text: &str, synonyms: &Synonyms) -> Option<ParsedQuery> {
        ParsedQuery::parse_on(text, synonyms, None)
    }

    /// The same, on a day, to which `yesterday` and the like relate; without one, they are words as others.
    pub(crate) fn parse_on(text: &str, synonyms: &Synonyms, today: Option<Date>) -> Option<ParsedQuery> {
        let text = text.trim();
        let spans = today.map_or_else(Vec::new, |today| spans(text, today));
        let asked = &*without(text, spans.iter().map(|span| span.range.clone()));
        let mut query_words: Vec<String> = words(&dated(asked));
        if query_words.is_empty() && spans.is_empty() {
            return None;
        }
        let others = words(&without_dates(asked));
        let has_time = !spans.is_empty() || matches!(dated(asked), Cow::Owned(_));
        let is_time = has_time && others.iter().all(|word| is_about_time(word));
        if is_time {
            query_words.retain(|word| !others.contains(word));
        }
        query_words.extend(origin_marks(&query_words));
        let mut terms: Vec<Term> = Vec::new();
        let mut parts = parts_of_words(asked);
        let of_places = words_of_places(asked);
        let language = foreign_language(&query_words, asked);
        let is_of_language = |word: &String| is_common(language, word) && !is_stop_word(word);
        let is_foreign = query_words.iter().any(is_of_language);
        for word in query_words.iter().filter(|word| !is_stop_word(word)) {
            let stem = stem(word).into_owned();
            if terms.len() < MAX_TERMS && !terms.iter().any(|term| term.stem == stem) {
                let is_small = is_common(language, word) || of_places.contains(word);
                let weight = if is_small { ASKING } else { term_weight(word, &stem) };
                let (word, synonyms) = (word.clone(), synonyms.of(&stem));
                let parts = parts.remove(&word).unwrap_or_default();
                let (has_meaning, is_word) = (!is_time, weight > ASKING);
                terms.push(Term { word, synonyms, stem, parts, weight, has_meaning, is_word });
            }
        }
        mark_words(&mut terms);
        terms.extend(spans.iter().filter_map(|span| term_of_span(&span.words, is_time)));
        let undated = undated(asked);
        // A question that is nothing but a time still needs a vector.
        let undated =
            if undated.chars().any(char::is_alphanumeric) { undated.into_owned() } else { text.to_owned() };
        let mut meant = words(&undated);
        meant.retain(|word| !is_stop_word(word) && !is_common(language, word) && !of_places.contains(word));
        let number_of = |word: &String| terms.iter().position(|term| term.stem == stem(word));
        let meant = meant.into_iter().filter_map(|word| number_of(&word).map(|term| (word, term))).collect();
        let (text, phrase) = (text.to_owned(), Phrase::of(text));
        Some(ParsedQuery { text, undated, terms, meant, is_foreign, is_time, phrase })
    }

    /// Adds a word that stands beside another one of the query, unless it says nothing or is there.
    pub(crate) fn add_word(&mut self, word: &str) {
        let stem = stem(word).into_owned();
        let is_there = self.terms.iter().any(|term| term.stem == stem);
        if is_there || is_stop_word(word) || self.terms.len() >= MAX_TERMS {
            return;
        }
        self.meant.push((word.to_owned(), self.terms.len()));
        let (synonyms, parts) = (Vec::new(), Vec::new());
        let (word, weight) = (word.to_owned(), 1.0);
        let term = Term { word, synonyms, stem, parts, weight, has_meaning: true, is_word: true };
        self.terms.push(term);
    }

    /// The share of the query's words that a text has, from 0 to 1.
    pub(crate) fn share_in(&self, text: &str) -> f32 {
        let mut stems: Vec<String> = Vec::new();
        each_word_or_part(&dated(text), |word| stems.push(stem(word).into_owned()));
        let has = |term: &&Term| stems.iter().any(|stem| term.matches(stem));
        let weight: f64 = self.terms.iter().filter(has).map(|term| term.weight).sum();
        let all: f64 = self.terms.iter().map(|term| term.weight).sum();
        if all > 0.0 { (weight / all) as f32 } else { 0.0 }
    }

    /// The words of a text that match a term, folded, sorted, each once.
    pub fn matching_words(&self, text: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        each_word_or_part(text, |word| found.push(word.to_owned()));
        found.retain(|word| self.matches_word(word));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// True if a word of a text matches a term, by its stem or as a synonym.
    pub fn matches_word(&self, word: &str) -> bool {
        let mut matches = false;
        each_word_or_part(word, |word| {
            let stem = stem(word);
            matches |= self.terms.iter().any(|term| term.matches(&stem));
        });
        matches
    }
}

/// The language of a query, if it has at least two small words of one that is not English.
fn foreign_language(words: &[String], text: &str) -> Option<Language> {
    let language = language_of(text);
    let small = words.iter().filter(|word| is_common(language, word)).count();
    language.filter(|_| small >= 2)
}

/// The term of a span of time: a text has it that has one of its words. Only where nothing but a time is asked for, a text
/// has to do with the query by its time alone.
fn term_of_span(words: &[String], is_word: bool) -> Option<Term> {
    let (first, others) = words.split_first()?;
    let stem_of = |word: &String| stem(word).into_owned();
    let synonyms = others.iter().map(|word| Synonym { stem: stem_of(word), tenths: EXACT_TENTHS }).collect();
    let (word, stem, parts) = (first.clone(), stem_of(first), Vec::new());
    Some(Term { word, stem, synonyms, parts, weight: DATE, has_meaning: false, is_word })
}

/// The parts of each word that has some, by the word.
fn parts_of_words(text: &str) -> HashMap<String, Vec<String>> {
    let mut of_words = HashMap::new();
    each_written_word(text, |word, written| {
        let parts: Vec<String> = parts(written).into_iter().map(str::to_ascii_lowercase).collect();
        if !parts.is_empty() {
            of_words.insert(word.to_owned(), parts);
        }
    });
    of_words
}

/// Characters that stand in a pair of the query are no words of their own.
fn mark_words(terms: &mut [Term]) {
    let pairs: Vec<String> = terms
        .iter()
        .filter(|term| term.weight > 0.0 && is_cjk_pair(&term.word))
        .map(|term| term.word.clone())
        .collect();
    for term in terms.iter_mut().filter(|term| is_cjk_word(&term.word) && !is_cjk_pair(&term.word)) {
        term.is_word &= !pairs.iter().any(|pair| pair.contains(&term.word));
    }
}

fn is_cjk_pair(word: &str) -> bool {
    is_cjk_word(word) && word.chars().nth(1).is_some()
}

/// `ep3` for `episode 3`, `t12` for `turn 12`: the form in which texts are indexed.
fn origin_marks(words: &[String]) -> Vec<String> {
    let mark = |pair: &[String]| {
        let letter = match pair[0].as_str() {
            "episode" | "ep" => "ep",
            "turn" => "t",
            _ => return None,
        };
        pair[1].bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{letter}{}", pair[1]))
    };
    words.windows(2).filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> ParsedQuery {
        ParsedQuery::parse(text, &Synonyms::default()).unwrap()
    }

    fn stems_of(text: &str) -> Vec<String> {
        question(text).terms.into_iter().map(|term| term.stem).collect()
    }

    #[test]
    fn terms_count_once_and_stop_words_not() {
        assert_eq!(stems_of("Where did I see the keys, which key?"), ["see", "key"]);
        assert_eq!(stems_of("what was it?"), [""; 0]);
        assert_eq!(
            stems_of("what happened in episode 3, turn 12?")[1..],
            ["episod", "3", "turn", "12", "ep3", "t12"]
        );
        assert_eq!(ParsedQuery::parse(" ?! ", &Synonyms::default()), None);
    }

    #[test]
    fn a_language_is_known_by_small_words_that_english_lacks() {
        for (text, is_foreign) in [
            ("Wie heißt der Bürgermeister von Hamburg", true),
            ("où est la clé de la cave", true),
            ("how do I get inside", false),
            ("where is the die", false),
            ("ключ", false),
        ] {
            assert_eq!(question(text).is_foreign, is_foreign, "{text}");
        }
    }

    #[test]
    fn a_time_that_is_said_in_relation_is_one_term() {
        let parse = |text| {
            ParsedQuery::parse_on(text, &Synonyms::default(), Some(Date::constant(2026, 11, 27))).unwrap()
        };
        let terms = |text| {
            let question = parse(text);
            let words = question.terms.iter().map(|term| term.word.clone()).collect::<Vec<_>>().join(" ");
            (words, question.is_time)
        };
        for (text, expected, is_time) in [
            ("what happened yesterday?", "november26", true),
            ("what happened last Tuesday", "november24", true),
            ("who called on Tuesday", "called tuesday november24", false),
            ("yesterday", "november26", true),
            ("what happened in March", "march", true),
            ("昨天发生了什么事", "november26", true),
            ("was ist gestern passiert", "november26", true),
            ("who left last month", "left october", false),
            ("what happened to Anna", "happened anna", false),
        ] {
            assert_eq!(terms(text), (expected.to_owned(), is_time), "{text}");
        }
        let week = &parse("last week").terms[0];
        assert!(week.stems().any(|stem| stem == ("november20", EXACT_TENTHS)));
        assert_eq!(stems_of("what happened yesterday?"), ["happen", "yesterday"]);
    }

    #[test]
    fn small_words_of_other_languages_weigh_little() {
        let weights = |text| question(text).terms.iter().map(|term| term.weight).collect::<Vec<f64>>();
        assert_eq!(weights("der Brief von Hamburg"), [ASKING, 1.0, ASKING, 1.0]);
        assert_eq!(weights("how did he die"), [1.0]);
    }

    #[test]
    fn synonyms_match_too() {
        let asked = question("take the lamp");
        let stems: Vec<(&str, u32)> = asked.terms[0].stems().collect();
        assert_eq!(stems, [("take", EXACT_TENTHS), ("get", COMMON_TENTHS), ("grab", COMMON_TENTHS)]);
        assert!(asked.terms[0].matches("get") && !asked.terms[0].matches("go"));
        assert!(asked.matches_word("Lantern's") && !asked.matches_word("troll"));
        let own = Synonyms::new(false, &[vec!["grue".to_owned(), "Monsters".to_owned()]]);
        let asked = ParsedQuery::parse("a monster", &own).unwrap();
        assert_eq!(asked.terms[0].synonyms, [Synonym { stem: "grue".to_owned(), tenths: OWN_TENTHS }]);
    }
}
