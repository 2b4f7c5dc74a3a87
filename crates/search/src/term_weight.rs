//! The weight of a query's word by its kind, beside its rarity.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use crate::cjk::{is_cjk_word, is_small};
use crate::dates::is_date_word;
use crate::language::{Language, is_common};
use crate::relative_dates::weekday;
use crate::words::{is_stop_word, stem};

/// A month, a day of a month, a third of a month: people rarely name one that does not matter.
pub(crate) const DATE: f64 = 2.0;

/// A character of Chinese, Japanese or Korean, which is less than a word.
const CHARACTER: f64 = 0.35;

/// A pair of these characters, which are counted one by one, too.
const PAIR: f64 = 0.25;

/// A word of asking.
pub(crate) const ASKING: f64 = 0.2;

/// Words that say how something is asked, rather than what.
const ASKING_WORDS: &str = "\
many much mention mentioned tell told remind remember recall discuss discussed discussion conversation
chat session talk talked say said ask asked give provide list summary summarize comprehensive detailed
specific different various across throughout able go going know think thing things kind type";

/// The factor of a word's weight; 1 for most words.
pub(crate) fn term_weight(word: &str, stem: &str) -> f64 {
    if is_cjk_word(word) {
        if is_small(word) {
            0.0
        } else if word.chars().nth(1).is_some() {
            PAIR
        } else {
            CHARACTER
        }
    } else if is_date_word(word) {
        DATE
    } else if is_asking(stem) {
        ASKING
    } else {
        1.0
    }
}

/// True for a word that says nothing where a question asks for a time: `happened` of `what happened yesterday`.
pub(crate) fn is_about_time(word: &str) -> bool {
    const WORDS: [&str; 8] = ["happen", "happened", "happens", "did", "done", "went", "passiert", "geschah"];
    const CHARACTERS: &str = "发生發事情做件";
    let is_filler = |c: char| CHARACTERS.contains(c) || is_small(c.encode_utf8(&mut [0; 4]));
    WORDS.contains(&word)
        || weekday(word).is_some()
        || is_stop_word(word)
        || is_asking(&stem(word))
        || is_common(Some(Language::Named("de")), word)
        || is_cjk_word(word) && word.chars().all(is_filler)
}

fn is_asking(of: &str) -> bool {
    static STEMS: LazyLock<HashSet<Cow<'static, str>, FixedState>> =
        LazyLock::new(|| ASKING_WORDS.split_whitespace().map(stem).collect());
    STEMS.contains(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_words_have_weights() {
        let weight = |word: &str| term_weight(word, &stem(word));
        assert_eq!(["january", "january25", "latejanuary", "maymonth"].map(weight), [DATE; 4]);
        assert_eq!(["2025", "25", "troll", "april-fool", "januarius"].map(weight), [1.0; 5]);
        assert_eq!(["mentioned", "discussions", "go"].map(weight), [ASKING; 3]);
        assert_eq!([weight("隧"), weight("隧道"), weight("在"), weight("道在")], [CHARACTER, PAIR, 0.0, 0.0]);
    }
}
