//! What is asked: terms, phrases, and the question as a whole.
//!
//! A question enters as a person words it; what leaves is compared with texts by
//! [`mod@crate::search::score`]. Words count once each; stop words do not, but where there are no others.

use crate::search::words::{each_word, is_stop_word, stem, words};

/// Most terms: what a question says beyond is left to its meaning as a whole.
pub const MOST_TERMS: usize = 48;

/// Words that players use for one and the same thing, a group a line: commands and what they name.
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

/// Words that mean the same here, by their stems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    groups: Vec<Vec<String>>,
}

impl Default for Synonyms {
    /// What players of text games use.
    fn default() -> Synonyms {
        let lines =
            COMMON_SYNONYMS.lines().map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        Synonyms::none().with(lines)
    }
}

impl Synonyms {
    /// No word means the same as another.
    pub fn none() -> Synonyms {
        Synonyms { groups: Vec::new() }
    }

    /// These groups of single words too.
    pub fn with(mut self, groups: impl IntoIterator<Item = Vec<String>>) -> Synonyms {
        for group in groups {
            let words = group.iter().flat_map(|word| words(word));
            self.groups.push(words.map(|word| stem(&word).into_owned()).collect());
        }
        self
    }

    /// The stems that mean what this one means, without itself.
    fn of(&self, stem: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let groups = self.groups.iter().filter(|group| group.iter().any(|word| word == stem));
        for word in groups.flatten() {
            if word != stem && !found.contains(word) {
                found.push(word.clone());
            }
        }
        found
    }
}

/// One word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As it was asked, folded.
    pub word: String,
    /// Its stem.
    pub stem: String,
    /// Stems that mean the same.
    pub synonyms: Vec<String>,
}

/// How a word of a text answers to a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It is a synonym.
    Synonym,
    /// It has the same stem.
    Stem,
}

impl Term {
    /// How a stem, given in two parts, answers to the term.
    pub fn matches(&self, stem: (&str, &str)) -> Option<Match> {
        let same = |own: &String| own.strip_prefix(stem.0).is_some_and(|ending| ending == stem.1);
        if same(&self.stem) {
            Some(Match::Stem)
        } else {
            self.synonyms.iter().any(same).then_some(Match::Synonym)
        }
    }
}

/// A question, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question as it was asked, without outer space.
    pub text: String,
    /// Its words that are no stop words, each once.
    pub terms: Vec<Term>,
    /// What stood in quotation marks: stems that must follow each other in a text.
    pub phrases: Vec<Vec<String>>,
    /// The first bytes of all stems that answer a term.
    first_bytes: Vec<u8>,
}

impl Question {
    /// Takes a question apart; `None` where it has no word at all.
    pub fn parse(text: &str, synonyms: &Synonyms) -> Option<Question> {
        let text = text.trim();
        let mut asked: Vec<String> = words(text);
        if asked.is_empty() {
            return None;
        }
        asked.extend(marks(&asked));
        let mut terms: Vec<Term> = Vec::new();
        for word in asked.iter().filter(|word| !is_stop_word(word)) {
            let stem = stem(word).into_owned();
            if terms.len() < MOST_TERMS && !terms.iter().any(|term| term.stem == stem) {
                terms.push(Term { word: word.clone(), synonyms: synonyms.of(&stem), stem });
            }
        }
        let phrases = quoted(text).map(stems).filter(|stems| !stems.is_empty()).collect();
        let stems = terms.iter().flat_map(|term| term.synonyms.iter().chain([&term.stem]));
        let first_bytes = stems.filter_map(|stem| stem.bytes().next()).collect();
        Some(Question { text: text.to_owned(), terms, phrases, first_bytes })
    }

    /// Whether a folded word may answer to a term, at a glance: a stem begins as its word does.
    pub fn may_be_answered_by(&self, word: &str) -> bool {
        word.bytes().next().is_some_and(|first| self.first_bytes.contains(&first))
    }

    /// Whether a text holds all phrases.
    pub fn phrases_are_in(&self, text: &str) -> bool {
        if self.phrases.is_empty() {
            return true;
        }
        let stems = stems(text);
        self.phrases.iter().all(|phrase| stems.windows(phrase.len()).any(|window| window == phrase))
    }

    /// The words of a text that answer to the question, folded, each once.
    pub fn answered_in(&self, text: &str) -> Vec<String> {
        let mut found = words(text);
        found.retain(|word| self.is_answered_by(word));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a word of a text answers to the question: by its stem or as a synonym.
    pub fn is_answered_by(&self, word: &str) -> bool {
        let mut answers = false;
        each_word(word, |word| {
            let stem = stem(word);
            answers |= self.terms.iter().any(|term| term.matches((&stem, "")).is_some());
        });
        answers
    }
}

fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word).into_owned()).collect()
}

/// `ep3` for `episode 3`, `t12` for `turn 12`: as texts are marked with them.
fn marks(words: &[String]) -> Vec<String> {
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

/// What stands in quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let is_quote = |c: char| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
    let count = text.matches(is_quote).count();
    // A mark without its fellow quotes nothing.
    text.split(is_quote).take(count / 2 * 2).skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Question {
        Question::parse(text, &Synonyms::default()).unwrap()
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
        assert_eq!(Question::parse(" ?! ", &Synonyms::default()), None);
    }

    #[test]
    fn what_is_quoted_must_be_there() {
        let asked = question("where is the \"Rusty keys\" of “the troll”? \"");
        assert_eq!(asked.phrases, [vec!["rusti", "key"], vec!["the", "troll"]]);
        assert!(asked.phrases_are_in("A rusty key. The trolls have it."));
        assert!(!asked.phrases_are_in("A rusty old key. The troll has it."));
        assert!(question("5\" nails").phrases.is_empty());
    }

    #[test]
    fn synonyms_answer_too() {
        let asked = question("take the lamp");
        assert_eq!(asked.terms[0].matches(("tak", "e")), Some(Match::Stem));
        assert_eq!(asked.terms[0].matches(("get", "")), Some(Match::Synonym));
        assert_eq!(asked.terms[0].matches(("go", "")), None);
        assert!(asked.is_answered_by("Lantern's") && !asked.is_answered_by("troll"));
        let own = Synonyms::none().with([vec!["grue".to_owned(), "Monsters".to_owned()]]);
        let asked = Question::parse("a monster", &own).unwrap();
        assert_eq!(asked.terms[0].synonyms, ["grue"]);
    }
}
