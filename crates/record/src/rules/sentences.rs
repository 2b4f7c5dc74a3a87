//! Splits a game's reply into title lines and sentences.
//!
//! The reply and the names of the places that may head it enter. The sentences leave in their order, each
//! with the number of its line, and the positions of title lines. The words are the game's own; only
//! white space, wrapped lines and printed lists are normalised.

use crate::replies::is_refusal;
use crate::rules::headline::without_open_quote;
use crate::rules::words::phrases;
use memories_document::types::text::{cut_at_word, fold_spaces};

/// Longest sentence that is kept whole, in characters.
const MAX_SENTENCE_CHARS: usize = 400;
/// The end of a list that is cut.
const AND_MORE: &str = ", and more.";

/// The kind of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The name of the place arrived at, on a line of its own.
    Title,
    /// Another line that looks like a title.
    OtherTitle,
    /// A banner of the end: `**** You have died ****`.
    Banner,
    /// A sentence.
    Sentence,
}

/// A title line, a banner or a sentence of a reply.
#[derive(Debug, Clone)]
pub(super) struct Fragment {
    pub(super) kind: Kind,
    /// The text on one line.
    pub(super) text: String,
    /// Number of its line after wrapped lines were joined.
    pub(super) line: usize,
}

impl Fragment {
    /// The thing that the sentence says was revealed.
    pub(super) fn revealed(&self) -> Option<&str> {
        let text = self.text.trim_end_matches(['.', '!']);
        if let Some(named) = text.strip_suffix(" is revealed") {
            return named.rsplit(", ").next();
        }
        [" revealing ", " reveals ", " to reveal ", " uncover ", " discover ", "You find "]
            .into_iter()
            .find_map(|word| text.split_once(word))
            .map(|(_, revealed)| revealed)
    }
}

/// A reply, split.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// In the order of the reply.
    pub(super) fragments: Vec<Fragment>,
}

impl Reply {
    /// Splits a reply. The last name is the name of the place where the player is now.
    pub(super) fn new(reply: &str, names: &[&str]) -> Reply {
        let lines = join_lines(reply, names);
        let mut fragments = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let starts_block = number == 0 || line.after_blank;
            let is_last = number + 1 == lines.len();
            let kind = kind_of(&line.text, names, starts_block && !is_last);
            match kind {
                Kind::Sentence if is_aside(&line.text) => {}
                Kind::Sentence => {
                    let sentence = |text| Fragment { kind, text, line: number };
                    fragments.extend(split_sentences(&line.text).into_iter().map(sentence));
                }
                _ => fragments.push(Fragment { kind, text: line.text.clone(), line: number }),
            }
        }
        Reply { fragments }
    }

    pub(super) fn sentences(&self) -> Vec<&Fragment> {
        self.fragments.iter().filter(|fragment| fragment.kind == Kind::Sentence).collect()
    }

    /// Sentences that neither refuse nor ask back.
    pub(super) fn statements(&self) -> Vec<&Fragment> {
        self.sentences().into_iter().filter(|fragment| !is_refusal(&fragment.text)).collect()
    }

    /// Position of the last line with the name of the place.
    pub(super) fn title_index(&self) -> Option<usize> {
        self.fragments.iter().rposition(|fragment| fragment.kind == Kind::Title)
    }

    /// Statements before the first title, or before darkness: what happened on the way.
    pub(super) fn events(&self) -> Vec<&Fragment> {
        let titled = self
            .fragments
            .iter()
            .position(|fragment| matches!(fragment.kind, Kind::Title | Kind::OtherTitle));
        let end = titled.filter(|_| self.title_index().is_some());
        let dark = || self.fragments.iter().rposition(|fragment| is_dark(&fragment.text));
        let said = self.fragments[..end.or_else(dark).unwrap_or(0)].iter();
        let is_event = |fragment: &&Fragment| {
            fragment.kind == Kind::Sentence && !is_refusal(&fragment.text) && !is_dark(&fragment.text)
        };
        said.filter(is_event).collect()
    }

    /// The fragments before the banner of the end, or all.
    pub(super) fn before_banner(&self) -> &[Fragment] {
        let end = self.fragments.iter().position(|fragment| fragment.kind == Kind::Banner);
        &self.fragments[..end.unwrap_or(self.fragments.len())]
    }

    /// The words of a banner that tells more than that a life is over.
    pub(super) fn banner(&self) -> Option<&str> {
        let mut banners = self.fragments.iter().filter(|fragment| fragment.kind == Kind::Banner);
        let words = strip_decoration(&banners.next()?.text);
        (!is_obituary(words)).then_some(words)
    }
}

struct Line {
    text: String,
    after_blank: bool,
    items: usize,
}

/// The lines without prompts; wrapped lines are joined, and printed lists are joined to their heading.
fn join_lines(reply: &str, names: &[&str]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut after_blank = true;
    for raw in reply.lines().take(400) {
        let text = fold_spaces(raw);
        if text.is_empty() {
            after_blank = true;
            continue;
        }
        if text.starts_with('>') {
            continue;
        }
        let indented = raw.starts_with("  ") || raw.starts_with('\t');
        match lines.last_mut() {
            Some(last) if indented && (last.text.ends_with(':') || last.items > 0) => {
                let continues = last.items > 0 && !last.text.ends_with([':', '.', '!', '?']);
                last.text.push_str(if continues { ", " } else { " " });
                let goes_on = !last.text.ends_with(['.', '!', '?']);
                last.text.push_str(&if goes_on { lower_first(&text) } else { text.clone() });
                last.items += 1;
            }
            Some(last) if !after_blank && last.items == 0 && is_wrapped(&last.text, &text, names) => {
                last.text.push(' ');
                last.text.push_str(&text);
            }
            _ => lines.push(Line { text, after_blank, items: 0 }),
        }
        after_blank = false;
    }
    lines
}

fn is_wrapped(line: &str, next: &str, names: &[&str]) -> bool {
    let ended = line.ends_with(['.', '!', '?', ':', '"', '\'', ')', ']', '*', '”']);
    let goes_on = next.starts_with(char::is_lowercase) || line.chars().count() >= 60;
    !ended && goes_on && !is_name(line, names)
}

fn kind_of(line: &str, names: &[&str], may_be_title: bool) -> Kind {
    let bare = strip_decoration(line);
    let is_decorated = bare.len() < line.len();
    let letters = bare.to_lowercase();
    if line.starts_with("***") || (is_decorated && phrases(END_PHRASES).any(|end| letters.contains(end))) {
        return Kind::Banner;
    }
    if let Some(last) = names.last()
        && is_name(line, &[last])
    {
        return Kind::Title;
    }
    let is_short = bare.chars().count() <= 40 && bare.split(' ').count() <= 6;
    let is_open = !line.ends_with(['.', '!', '?', ':', ',', ';', '"', ')', '…', '-']);
    let is_headed = is_decorated && line.starts_with(['[', '*', '#', '_']) && may_be_title;
    let looks_like_one = is_short && may_be_title && (is_open || is_headed);
    if is_name(line, names) || (looks_like_one && bare.starts_with(char::is_uppercase)) {
        Kind::OtherTitle
    } else {
        Kind::Sentence
    }
}

/// True if a line is one of the names, perhaps decorated or followed by `(on the bed)`.
fn is_name(line: &str, names: &[&str]) -> bool {
    let bare = strip_decoration(line).to_lowercase();
    names.iter().any(|name| {
        let name = strip_decoration(name).to_lowercase();
        let rest = bare.strip_prefix(&name);
        !name.is_empty() && rest.is_some_and(|rest| rest.is_empty() || is_name_suffix(rest))
    })
}

fn is_name_suffix(rest: &str) -> bool {
    rest.chars().count() <= 30
        && !rest.ends_with(['.', '!', '?'])
        && (rest.starts_with(" (") || rest.starts_with(", "))
}

fn strip_decoration(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '#' | '[' | ']' | '<' | '>' | '~' | '=' | '-')
    })
}

/// A remark of the parser, entirely in brackets: `(Taken)`, `[Your score has gone up.]`.
fn is_aside(line: &str) -> bool {
    (line.starts_with('(') && line.ends_with(')')) || (line.starts_with('[') && line.ends_with(']'))
}

fn split_sentences(line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < chars.len() {
        if !matches!(chars[at], '.' | '!' | '?' | '…') {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < chars.len() && matches!(chars[end], '.' | '!' | '?' | '"' | '\'' | ')' | ']' | '”' | '’')
        {
            end += 1;
        }
        let next = chars[end..].iter().find(|c| !c.is_whitespace());
        let is_spaced = chars.get(end).is_none_or(|c| c.is_whitespace());
        let opens = next.is_none_or(|c| !c.is_lowercase() && !matches!(c, ',' | ';'));
        if is_spaced && opens && !is_abbreviation(&chars[start..at]) {
            push_sentence(&mut sentences, &chars[start..end]);
            start = end;
        }
        at = end;
    }
    push_sentence(&mut sentences, &chars[start..]);
    sentences
}

fn push_sentence(sentences: &mut Vec<String>, chars: &[char]) {
    let text: String = chars.iter().collect();
    let text = text.trim();
    if text.chars().any(char::is_alphanumeric) {
        sentences.push(text.to_owned());
    }
}

fn is_abbreviation(before: &[char]) -> bool {
    let word: String = before.iter().rev().take_while(|c| c.is_alphanumeric()).collect();
    let word: String = word.chars().rev().collect();
    let is_initial = word.chars().count() == 1 && word.chars().all(|c| c.is_uppercase() && c != 'I');
    is_initial || matches!(word.as_str(), "Mr" | "Mrs" | "Ms" | "Dr" | "St" | "Prof" | "Capt")
}

/// Phrases by which games announce the end of a life.
const END_PHRASES: &str = "\
    you have died, you are dead, you died, you're dead, you have lost, you have been killed, you die, \
    the end";

/// True if a sentence only announces that a life is over, not what ended it.
pub(super) fn is_obituary(text: &str) -> bool {
    let folded = text.to_lowercase();
    let rest = phrases(END_PHRASES).find_map(|phrase| folded.split_once(phrase)).map(|(_, rest)| rest);
    let names_cause = |rest: &str| [" of ", " by ", " from "].iter().any(|word| rest.starts_with(word));
    rest.is_some_and(|rest| !names_cause(rest)) && folded.chars().count() <= 60
        || folded.starts_with("it appears that")
}

/// Beginnings of lines by which games announce a death, whatever follows.
const DEATH_STARTS: &[&str] = &["you have died", "you died", "you have been killed", "you were killed"];

/// Lines by which games announce a death: nothing but marks follows, so "you are dead tired" is none.
const DEATH_LINES: &[&str] = &["you are dead", "you're dead", "i'm afraid you are dead", "you die"];

/// True if a line or sentence of a reply announces that the player died, as in `**** You have died ****`.
pub(crate) fn tells_death(reply: &str) -> bool {
    let folded = reply.to_lowercase().replace('’', "'");
    if !folded.contains("you") {
        return false;
    }
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '"' | '“' | '”' | '\'');
    let mut sentences = folded.split(['\n', '.', '!', '?']).map(|sentence| sentence.trim_matches(is_mark));
    sentences.any(|sentence| {
        DEATH_LINES.contains(&sentence)
            || DEATH_STARTS.iter().any(|start| {
                sentence.strip_prefix(start).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            })
    })
}

/// True if a reply says that it is too dark to see.
pub(crate) fn is_dark(text: &str) -> bool {
    let folded = text.to_lowercase().replace(['’', '-'], " ");
    phrases(DARK_PHRASES).any(|phrase| folded.contains(phrase))
}

const DARK_PHRASES: &str = "\
    pitch black, pitch dark, too dark to, it is dark here, completely dark, in total darkness, dark place";

/// Whole sentences as one text, in their order: those of the least weight first, as many as fit and at least one.
pub(super) fn fit<K: Ord>(said: &[&Fragment], weight: impl Fn(&Fragment) -> K, limit: usize) -> String {
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by_key(|at| weight(said[*at]));
    let mut left = limit;
    order.retain(|at| {
        let chars = said[*at].text.chars().count() + 1;
        let is_twice = said[..*at].iter().any(|one| one.text == said[*at].text);
        let is_kept = !is_twice && (left == limit || chars <= left);
        left = left.saturating_sub(if is_kept { chars } else { 0 });
        is_kept
    });
    order.sort_unstable();
    let ended = |at: usize| {
        let text = bounded(&said[at].text, MAX_SENTENCE_CHARS);
        if text.ends_with(|c: char| c.is_alphanumeric() || c == ')') { format!("{text}.") } else { text }
    };
    let text = without_open_quote(&order.into_iter().map(ended).collect::<Vec<_>>().join(" "));
    text.strip_suffix([',', ';', ':']).map_or_else(|| text.clone(), |text| format!("{text}."))
}

/// Cuts a text to at most `chars` characters. Sentences of that length are lists, which are cut behind an item.
pub(super) fn bounded(text: &str, chars: usize) -> String {
    if text.chars().nth(chars).is_none() {
        return text.to_owned();
    }
    let head = cut_at_word(text, chars - AND_MORE.len());
    format!("{}{AND_MORE}", &head[..head.rfind([',', ';']).unwrap_or(head.len())])
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_banners_titles_or_sentences() {
        let kind = |line: &str| kind_of(line, &["Hall"], true);
        assert!(matches!(kind("*** You have won ***"), Kind::Banner));
        assert!(matches!(kind("[The end]"), Kind::Banner));
        assert!(
            matches!(kind("The end of the rope is frayed."), Kind::Sentence),
            "no banner without decoration"
        );
        assert!(matches!(kind("[Press a key]"), Kind::OtherTitle), "decorated, but no end");
        assert!(matches!(kind("Hall"), Kind::Title));
        assert!(matches!(kind("Dusty Attic"), Kind::OtherTitle));
        assert!(matches!(kind("It is dusty here."), Kind::Sentence));
        assert!(matches!(kind("The attic is so dusty that you can hardly see"), Kind::Sentence), "too long");
        assert!(matches!(kind_of("Dusty Attic", &["Hall"], false), Kind::Sentence));
    }

    #[test]
    fn sentences_end_at_marks_before_a_space() {
        assert_eq!(split_sentences("It costs 3.5 zm. Pay!"), ["It costs 3.5 zm.", "Pay!"]);
        assert_eq!(
            split_sentences("Mr. Fox (hungry.) eats... and sleeps. Hm"),
            ["Mr. Fox (hungry.) eats... and sleeps.", "Hm"]
        );
        assert_eq!(split_sentences("\"Go!\" he says. You go"), ["\"Go!\" he says.", "You go"]);
    }

    #[test]
    fn an_obituary_says_that_it_is_over_and_little_else() {
        assert!(is_obituary("You have died."));
        assert!(is_obituary(
            "It appears that that last blow was too much for you, and that no healer is near by."
        ));
        assert!(!is_obituary(
            "The troll's axe splits your helmet, and your head under it, and so you are dead."
        ));
        assert!(!is_obituary("The troll is near."));
    }

    #[test]
    fn a_death_is_told_by_a_line_of_its_own() {
        for reply in [
            "Oh, no! A grue ate you.\n\n    ****  You have died  ****\n\nForest",
            "It appears that that last blow was too much for you. I'm afraid you are dead.",
            "You fall. You died.",
            "[You’re dead!]",
        ] {
            assert!(tells_death(reply), "{reply}");
        }
        for reply in [
            "You are dead tired.",
            "\"You have died once too often,\" says the guard.",
            "The troll is dead.",
            "You dream that you died.",
            "",
        ] {
            assert!(!tells_death(reply), "{reply}");
        }
    }
}
