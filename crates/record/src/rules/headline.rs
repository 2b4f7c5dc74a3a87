//! Titles: a sentence of the game, shortened at a clause or a word.

use crate::rules::words::{is_any, phrases};
use memories_document::types::text::cut_at_word;

/// Words that a cut title does not end with.
const DANGLING: &str = "\
    a an the and or but nor of to in on at by for from with into onto over under through as is are was \
    were be been has have had that which who whose where when while than then so if its his her their \
    your this these those some any very there";

/// Words that begin a clause.
const CLAUSES: &str = "\
    and but or so which who whose where while when that because as";

/// Words that begin a phrase. A cut before `of` is the last choice: it leaves half a name.
const PHRASES: &str = "\
    with to in on at by for from into onto over under through among between behind beside beneath near \
    across along against around toward towards inside outside without";

/// Other words that begin a sentence and are no names.
const SUBJECTS: &str = "\
    you your it he she they there this something someone suddenly one after";

/// Openings that say that something is there, not what it is.
const OPENINGS: &str = "\
    you are, you're, you stand, you find yourself, you have entered, you have come to, this is, this seems to be, \
    this appears to be, there is, there's, there are, it is, it's, you can see, you can also see, you see, \
    you make out";

/// A sentence as a title: without punctuation at its ends and, where it is too long, without its last clauses.
pub(super) fn headline(sentence: &str, limit: usize) -> String {
    let text = without_ends(sentence);
    let shorter = if is_longer(text, limit) { without_aside(text) } else { text.to_owned() };
    if !is_longer(&shorter, limit) {
        return upper_first(&without_open_quote(&shorter));
    }
    let head = cut_at_word(&shorter, limit);
    let head = &head[..end_of_clause(&shorter, head.len())];
    let is_open = head.matches('(').count() > head.matches(')').count();
    let mut head = without_ends(head.rsplit_once('(').filter(|_| is_open).map_or(head, |(before, _)| before));
    while let Some((rest, word)) = head.rsplit_once(' ') {
        if !is_any(&word.to_lowercase(), DANGLING) {
            break;
        }
        head = without_ends(rest);
    }
    upper_first(&without_open_quote(head))
}

/// True if a text has the words of a sentence, perhaps without those that say that something is there.
pub(super) fn says(text: &str, sentence: &str) -> bool {
    let words = bare_words(scene(sentence));
    words.len() > 2 && bare_words(text).contains(&words)
}

/// The words of a text in lower case between spaces.
fn bare_words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}

/// The last end of a clause within the first bytes of a text, else of a phrase, else all of these bytes.
fn end_of_clause(text: &str, bytes: usize) -> usize {
    let starts = text.match_indices(' ').map(|(at, _)| at).filter(|at| *at <= bytes && *at > bytes / 5);
    let begins = |at: &usize, words: &str| {
        let next = text[at + 1..].split([' ', ',']).next().unwrap_or_default();
        let is_listed = text[..*at].ends_with(',') && text[..*at].contains(':');
        is_any(&next.to_lowercase(), words) || text[..*at].ends_with(';') || is_listed
    };
    let last = |words: &str| starts.clone().rfind(|at| begins(at, words));
    last(CLAUSES).or_else(|| last(PHRASES)).or_else(|| last("of")).unwrap_or(bytes)
}

/// The scene of a description as a title: `You are in a clearing, with …` is `Clearing, with …`.
pub(super) fn scene(sentence: &str) -> &str {
    let folded = sentence.to_lowercase();
    let opening = phrases(OPENINGS).find_map(|opening| folded.strip_prefix(opening)?.strip_prefix(' '));
    // Lower case may have another length: then the sentence stays whole.
    let mut rest = opening.and_then(|rest| sentence.get(sentence.len() - rest.len()..)).unwrap_or(sentence);
    if folded.starts_with("you") && rest.len() < sentence.len() {
        rest = without_first(rest, |word| word.len() > 4 && word.ends_with("ing"));
        rest = without_first(rest, |word| matches!(word, "in" | "on" | "at" | "inside"));
    }
    without_first(rest, is_article)
}

/// True if a sentence begins as descriptions of a scene do.
pub(super) fn opens_scene(sentence: &str) -> bool {
    let folded = sentence.to_lowercase();
    ["you are ", "you're ", "you stand ", "this is "].iter().any(|opening| folded.starts_with(opening))
}

/// The text with its first letter in upper case.
pub(super) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A sentence behind other words of a title: without quotes and without an article that begins it.
pub(super) fn continued(sentence: &str) -> String {
    let text = without_ends(sentence);
    let rest = without_first(text, is_article);
    let first = rest.split(' ').next().unwrap_or_default();
    let is_common = |words: &str| is_any(&first.to_lowercase(), words);
    let is_name = first == "I" || !(is_common(SUBJECTS) || is_common(CLAUSES) || is_common(PHRASES));
    if is_name { rest.to_owned() } else { format!("{}{}", rest[..1].to_lowercase(), &rest[1..]) }
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the" | "some")
}

fn is_longer(text: &str, limit: usize) -> bool {
    text.chars().count() > limit
}

/// The text without its first word, if that is such a word and others follow.
fn without_first(text: &str, is_such: impl Fn(&str) -> bool) -> &str {
    match text.split_once(' ') {
        Some((word, rest)) if is_such(&word.to_lowercase()) => rest,
        _ => text,
    }
}

/// The text without an aside between its first two commas: `, brandishing a bloody axe,`.
fn without_aside(text: &str) -> String {
    let mut parts = text.splitn(3, ", ");
    match (parts.next(), parts.next(), parts.next()) {
        (Some(subject), Some(aside), Some(rest)) if is_aside(aside) => format!("{subject} {rest}"),
        _ => text.to_owned(),
    }
}

fn is_aside(clause: &str) -> bool {
    let first = clause.split(' ').next().unwrap_or_default();
    matches!(first, "who" | "which" | "whose") || first.ends_with("ing")
}

/// The text without a quotation mark that has no other.
pub(super) fn without_open_quote(text: &str) -> String {
    let is_open = text.matches('"').count() % 2 == 1;
    if is_open { text.replace('"', "") } else { text.to_owned() }
}

/// The text without spaces, quotes and punctuation at its ends.
fn without_ends(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '“' | '\'' | '…'));
    text.trim_end_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '.' | '。' | ',' | ';' | ':' | '!' | '?' | '…' | '"' | '”' | '\'' | '-' | '—')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_at_a_clause_or_a_word_and_ends_with_neither_article_nor_conjunction() {
        for (sentence, expected) in [
            ("With great effort, you open the hatch.", "With great effort, you open the hatch"),
            ("the wolf, baring its teeth, bars the way to the hut!", "The wolf bars the way to the hut"),
            ("The old bell rings, and the doors of the hall swing open.", "The old bell rings"),
            ("Long hall with a window, and a dark, forbidding stair", "Long hall with a window"),
            ("Someone has hung a row of coats on the pegs by the door", "Someone has hung a row of coats"),
            ("\"HALT!\"", "HALT"),
            ("", ""),
        ] {
            assert_eq!(headline(sentence, 40), expected, "{sentence}");
        }
    }

    #[test]
    fn a_title_says_a_sentence_that_it_holds_whole() {
        let sentence = "The old bell rings, and the doors of the hall swing open.";
        assert!(!says(&headline(sentence, 40), sentence));
        assert!(says(&headline(sentence, 80), sentence));
        assert!(says("Fatal: dart hits \"you\"", "A dart hits you!"));
        let aside = "The wolf, baring its teeth, bars the way to the hut!";
        assert!(!says(&headline(aside, 40), aside));
        assert!(!says("Ropes", "There is a rope.") && !says("", "") && !says("Anything", "!"));
    }

    #[test]
    fn a_scene_is_named_without_saying_that_it_is_there() {
        for (sentence, expected) in [
            ("You are standing in an orchard.", "orchard."),
            ("This is the pantry.", "pantry."),
            ("There is a rope here.", "rope here."),
            ("You're behind the mill.", "behind the mill."),
            ("Steps wind up.", "Steps wind up."),
            ("You are", "You are"),
        ] {
            assert_eq!(scene(sentence), expected, "{sentence}");
        }
    }
}
