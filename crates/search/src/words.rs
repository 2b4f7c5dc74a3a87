//! Words: segmentation, case and accent folding, stems, stop words.
//!
//! Text enters; words leave, in lower case and without accents. Unicode's word boundaries apply, and words are
//! split further at everything except letters, digits and apostrophes between letters. Chinese, Japanese and
//! Korean are split into characters and pairs (`search/cjk.rs`). [`stem`] is Snowball's stemmer of the word's script.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::cjk::{each_part, is_cjk};
use crate::word_parts::parts;
use memories_document::types::text::composed;

/// Longest word indexed, in bytes; longer ones are truncated.
const MAX_WORD_BYTES: usize = 64;

/// Calls `visit` with each word of a text, folded, in order, and behind each word with the parts that it is made of,
/// folded; by these words texts are found.
pub(crate) fn each_word_or_part(text: &str, mut visit: impl FnMut(&str)) {
    each_written_word(text, |word, written| {
        visit(word);
        parts(written).into_iter().for_each(|part| visit(&part.to_ascii_lowercase()));
    });
}

/// Calls `visit` with each word of a text, folded, and as it was written, where it is of ASCII.
pub(crate) fn each_written_word(text: &str, mut visit: impl FnMut(&str, &str)) {
    let mut buffer = String::with_capacity(MAX_WORD_BYTES);
    if text.is_ascii() {
        return each_ascii_word(text, &mut buffer, &mut visit);
    }
    let composed = composed(text);
    let mut rest = &*composed;
    while let Some(first) = rest.chars().next() {
        let cjk = is_cjk(first);
        let end = rest.find(|c| is_cjk(c) != cjk).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        if cjk {
            each_part(run, |part| visit(part, ""))
        } else {
            each_spaced_word(run, &mut buffer, &mut visit)
        }
        rest = behind;
    }
}

/// Calls `visit` with the words of a text without Chinese, Japanese or Korean.
fn each_spaced_word(text: &str, buffer: &mut String, visit: &mut impl FnMut(&str, &str)) {
    for word in text.unicode_words() {
        if word.is_ascii() {
            each_ascii_word(word, buffer, visit);
            continue;
        }
        let folded = fold(word);
        if folded.is_ascii() {
            each_ascii_word(&folded, buffer, visit);
        } else {
            let is_of_word = |c: char| c.is_alphanumeric() || c == '\'' || is_combining_mark(c);
            let parts = folded.split(|c: char| !is_of_word(c));
            for part in parts.map(|part| part.trim_matches('\'')).filter(|part| !part.is_empty()) {
                visit(without_possessive(truncate(part)), "");
            }
        }
    }
}

/// All words of a text, folded, in order.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_written_word(text, |word, _| words.push(word.to_owned()));
    words
}

fn each_ascii_word(text: &str, buffer: &mut String, visit: &mut impl FnMut(&str, &str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || joins(bytes, at)) {
            at += 1;
        }
        buffer.clear();
        let written = without_possessive(truncate(&text[start..at]));
        buffer.push_str(written);
        buffer.make_ascii_lowercase();
        visit(without_possessive(buffer), written);
    }
}

/// True if an apostrophe stands between letters.
fn joins(bytes: &[u8], at: usize) -> bool {
    let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    bytes[at] == b'\'' && letter(at - 1) && letter(at + 1)
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
}

fn truncate(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_WORD_BYTES)]
}

/// Lower case, without accents, with the plain apostrophe.
fn fold(word: &str) -> String {
    let plain = word.chars().map(|c| if c == '’' { '\'' } else { c });
    let mut before = ' ';
    let folded = plain.nfd().filter(move |&c| {
        let is_letter = matches!((before, c), ('И' | 'и', '\u{306}'));
        if !is_combining_mark(c) {
            before = c;
        }
        is_letter || !is_accent(c)
    });
    folded.nfc().flat_map(char::to_lowercase).collect()
}

/// True for an accent or a point of Hebrew or Arabic. Marks of other scripts are vowels.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5C7}' | '\u{64B}'..='\u{65F}' | '\u{670}')
}

/// The stem of a folded word: in Latin letters without marks as an English word, in Cyrillic as a Russian one.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 3 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    let algorithm = match word.chars().next() {
        Some('a'..='z' | '\'') if word.is_ascii() => Algorithm::English,
        Some('\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}') => Algorithm::Greek,
        Some('\u{400}'..='\u{4FF}') => Algorithm::Russian,
        Some('\u{600}'..='\u{6FF}') => Algorithm::Arabic,
        Some('\u{B80}'..='\u{BFF}') => Algorithm::Tamil,
        _ => return Cow::Borrowed(word),
    };
    match Stemmer::create(algorithm).stem(word) {
        stem if stem.is_empty() => Cow::Borrowed(word),
        stem => stem,
    }
}

/// The stems of all words of a text, in order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word).into_owned()).collect()
}

/// Words that say nothing of a text's subject: articles, pronouns, auxiliaries. Words that players use as
/// commands (`get`, `look`) are not among them, nor are directions except `in` and `on`.
const STOP_WORDS: &str = "\
a about after again all also am an and any are aren't as at be because been before being both but by
can can't cannot could couldn't did didn't do does doesn't doing don't during each else ever few for
from had hadn't has hasn't have haven't having he he'd he'll her hers herself him himself his how i
i'd i'll i'm i've if in into is isn't it it'd it'll its itself just let may me might more most must
my myself no nor not now of on once only or other our ours ourselves own same shall she she'd she'll
should shouldn't so some such than that the their theirs them themselves then there these they
they'd they'll they're they've this those through to too until very was wasn't we we'd we'll we're
we've were weren't what when where which while who whom whose why will with won't would wouldn't you
you'd you'll you're you've your yours yourself yourselves";

/// True if a folded word is in `STOP_WORDS`.
pub fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str, FixedState>> =
        LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_folded() {
        assert_eq!(words("The Troll's axe, don't!"), ["the", "troll", "axe", "don't"]);
        assert_eq!(words("Café “naïve” it’s 3.5m"), ["cafe", "naive", "it", "3", "5m"]);
        assert_eq!(words("snake_case a.b 'x'"), ["snake", "case", "a", "b", "x"]);
        assert_eq!(words("Тролль ёлка 道"), ["тролль", "елка", "道"]);
        assert_eq!(words("Zork的隧道, ドア"), ["zork", "的", "的隧", "隧", "隧道", "道", "ド", "ドア", "ア"]);
        assert_eq!(words("\u{1112}\u{1161}\u{11AB}글 が"), ["한", "한글", "글", "が"]);
        assert_eq!(words(" -- … "), [""; 0]);
    }

    #[test]
    fn stop_words_are_whole_words() {
        assert!(is_stop_word("a") && is_stop_word("won't") && is_stop_word("yourselves"));
        assert!(!is_stop_word("get") && !is_stop_word("north") && !is_stop_word(""));
    }

    #[test]
    fn stems() {
        assert_eq!(stem("opening"), "open");
        assert_eq!(stem("keys"), "key");
        for (one, other) in [("троллями", "тролль"), ("новый", "новая"), ("الكتاب", "كتاب")]
        {
            let stem_of = |text: &str| stem(&words(text)[0]).into_owned();
            assert_eq!(stem_of(one), stem_of(other), "{one}");
        }
        assert!(stem("δρομος").len() < "δρομος".len());
        assert_eq!((stem("größe"), stem("2nd")), (Cow::Borrowed("größe"), Cow::Borrowed("2nd")));
        assert_eq!(words("новый, ёлка, தமிழ்"), ["новый", "елка", "தமிழ்"]);
    }

    #[test]
    fn texts_have_the_parts_of_words_too() {
        let found = |text: &str| {
            let mut found = Vec::new();
            each_word_or_part(text, |word| found.push(word.to_owned()));
            found.join(" ")
        };
        assert_eq!(found("getUserById's 12GB"), "getuserbyid get user by id 12gb 12 gb");
        assert_eq!(found("é getUserById"), "e getuserbyid get user by id");
        assert_eq!(words("getUserById 12GB"), ["getuserbyid", "12gb"]);
    }

    proptest! {
        /// ASCII words are split alike on the fast path and in text that is not ASCII.
        #[test]
        fn a_word_with_an_accent_changes_no_ascii_word(text in "[a-zA-Z0-9'. _:,\n-]{0,60}") {
            let mut expected = words(&text);
            expected.push("é".nfd().next().into_iter().collect());
            prop_assert_eq!(words(&format!("{text} é")), expected);
        }
    }
}
