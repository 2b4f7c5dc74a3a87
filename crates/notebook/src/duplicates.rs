//! Duplicates: texts that say the same.
//!
//! One rule, [`ComparableText::says_the_same`], decides for every command that could store a memory. Texts
//! that are merely similar are different memories: "can be given lunch" and "cannot be given lunch" have
//! nearly all characters in common.

use std::cell::OnceCell;
use std::cmp::Reverse;

use memories_document::EntryText;
use memories_document::types::Memory;
use memories_document::types::text::{composed, fold_case, fold_spaces};

/// True if two texts say the same; see [`ComparableText::says_the_same`].
pub fn says_the_same(a: &str, b: &str) -> bool {
    ComparableText::new(a).says_the_same(&ComparableText::new(b))
}

/// A text prepared for many comparisons.
#[derive(Debug)]
pub struct ComparableText {
    /// In NFC with single spaces.
    text: String,
    /// In NFC with single spaces, in lower case, and without the full stop at the end.
    folded: String,
    /// Its words that nothing that says the same lacks, where these were asked for.
    middle_words: OnceCell<Vec<String>>,
}

impl ComparableText {
    /// Prepares a text.
    pub fn new(text: &str) -> ComparableText {
        let text = composed(&fold_spaces(text)).into_owned();
        let folded = fold_case(text.trim_end_matches(['.', '!', '…']));
        ComparableText { folded, text, middle_words: OnceCell::new() }
    }

    /// True if a memory is one that says the same, see [`ComparableText::says_the_same`]. Kinds that only grow are none.
    pub(crate) fn is_duplicate(&self, memory: &Memory) -> bool {
        memory.is_live()
            && !memory.category.only_grows()
            && self.says_the_same(&ComparableText::new(&memory.text))
    }

    /// False for an entry that cannot say the same, by a look at its lines alone: whatever says the same has the words
    /// in the middle of this text.
    pub(crate) fn may_be_said_by(&self, entry: &EntryText<'_>) -> bool {
        let words = self.middle_words.get_or_init(|| words_amid(&self.folded));
        let written = if words.is_empty() { String::new() } else { fold_case(entry.body()) };
        words.iter().all(|word| written.contains(word))
    }

    /// True if both texts are equal, regardless of case, surplus space and a full stop at the end; or if the shorter
    /// stands within the longer at word boundaries, has more than 0.8 of its length in bytes, and no further word of
    /// the longer one matters.
    pub fn says_the_same(&self, other: &ComparableText) -> bool {
        let (short, long) =
            if self.folded.len() < other.folded.len() { (self, other) } else { (other, self) };
        let is_long_enough = 5 * short.folded.len() > 4 * long.folded.len();
        short.folded == long.folded
            || is_long_enough && long.holds_whole(&short.folded) && long.adds_little_to(short)
    }

    /// True if a folded text stands within this one, and not within a longer word or number.
    fn holds_whole(&self, part: &str) -> bool {
        let is_boundary = |inside: Option<char>, outside: Option<char>| match (inside, outside) {
            (Some(inside), Some(outside)) if inside.is_ascii_digit() => {
                !(outside.is_alphanumeric() || matches!(outside, '+' | '-' | '−' | '.' | ',' | '%'))
            }
            (Some(inside), Some(outside)) => !(inside.is_alphanumeric() && outside.is_alphanumeric()),
            _ => true,
        };
        self.folded.match_indices(part).any(|(start, _)| {
            let (before, after) = (&self.folded[..start], &self.folded[start + part.len()..]);
            is_boundary(part.chars().next(), before.chars().next_back())
                && is_boundary(part.chars().next_back(), after.chars().next())
        })
    }

    /// True if no word that this text has beyond those of the other matters.
    fn adds_little_to(&self, other: &ComparableText) -> bool {
        let mut known: Vec<&str> = words(&other.folded).collect();
        words(&self.text).all(|word| {
            let folded = fold_case(word);
            match known.iter().position(|known| *known == folded) {
                Some(at) => {
                    known.swap_remove(at);
                    true
                }
                None => !matters(word, &folded),
            }
        })
    }
}

/// The runs of letters and digits within the middle three fifths of a text, the longest first. A text that says the same
/// has more than four fifths of it, in one piece.
fn words_amid(text: &str) -> Vec<String> {
    let (start, end) = (text.len().div_ceil(5), text.len() - text.len().div_ceil(5));
    let middle = text.char_indices().filter(|(at, c)| *at >= start && at + c.len_utf8() <= end);
    let middle: String = middle.map(|(_, c)| c).collect();
    let words = middle.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort_by_key(|word| Reverse(word.len()));
    words
}

/// The words of a text without the punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_outer = |c: char| !c.is_alphanumeric() && !matches!(c, '+' | '-' | '−');
    text.split_whitespace().map(move |word| word.trim_matches(is_outer)).filter(|word| !word.is_empty())
}

/// True for a word that makes a text say something else: a negation, number, direction, colour or name.
/// A word with a capital counts as a name, unless it is one of the words with which sentences begin. The lists
/// are of English; a word with other letters always matters, because no list has it.
fn matters(word: &str, folded: &str) -> bool {
    let is_negated = folded.ends_with("n't") || folded.ends_with("n’t");
    let has_digit = || folded.contains(|c: char| c.is_numeric());
    let is_name = || word.starts_with(char::is_uppercase) && !has_word(FIRST_WORDS, folded);
    is_negated
        || has_digit()
        || !folded.is_ascii()
        || is_name()
        || [NEGATIONS, NUMBERS, DIRECTIONS, COLOURS].iter().any(|list| has_word(list, folded))
}

/// True if a list of words has one.
fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

const NEGATIONS: &str = "
    no not never none nothing nobody nowhere neither nor cannot without except unless hardly barely rarely
    seldom scarcely nearly almost only until if but stop avoid doubt false wrong untrue refuse refuses fail
    fails unable impossible instead nicht kein keine nie ne pas jamais nunca non
";

const NUMBERS: &str = "
    zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
    thousand first second third fourth fifth last once twice both half all
";

const DIRECTIONS: &str = "
    north south east west northeast northwest southeast southwest n s e w ne nw se sw up down u d in out left
    right inside outside above below over under behind upstairs downstairs forward backward back northern
    southern eastern western
";

const COLOURS: &str = "
    red orange yellow green blue violet purple pink brown black white grey gray gold golden silver crimson
    scarlet turquoise copper bronze
";

/// Words that have a capital because a sentence begins with them.
const FIRST_WORDS: &str = "
    a an the this that these those it its he she they we you i his her their your my there here and but or so
    if when then while after before as at by for from of on to with now also still just very be is are was
    were has have can may will must yes ok okay well
";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use memories_document::types::{Category, Status};
    use memories_document::{Fences, render_entry, stored};

    #[test]
    fn equal_and_contained_texts_say_the_same() {
        assert!(says_the_same("The Troll  attacks.", "the troll attacks."));
        assert!(says_the_same("The hungry troll attacks you.", "The hungry troll attacks you now!"));
        assert!(says_the_same("The lamp is here", "The lamp is here."));
        for tail in ["Yes.", "Ok.", "Well."] {
            let one = "The troll guards the bridge to the east.";
            assert!(says_the_same(one, &format!("{one} {tail}")), "{tail}");
            assert!(!says_the_same(one, &format!("{one} Zeus.")));
        }
        assert!(says_the_same("", " "));
    }

    #[test]
    fn other_facts_do_not() {
        for (a, b) in [
            ("The troll can be given lunch safely.", "The troll cannot be given lunch safely."),
            ("North leads to the kitchen.", "South leads to the kitchen."),
            ("The red button opens the gate.", "The blue button opens the gate."),
            ("The code of the safe in the study is 4712.", "The code of the safe in the study is 9999."),
            ("The rusty gate opens at noon.", "The rusty gate never opens at noon."),
            ("The window can be opened with effort.", "The window can be opened with an effort."),
            ("You must pay 5 coins to the old ferryman", "You must pay 5 coins to the old ferryman twice"),
            ("Ring the old brass bell in the chapel", "Ring the old brass bell in the chapel, Marcus"),
            ("It is safe to eat the pie in the kitchen", "It is not safe to eat the pie in the kitchen"),
            ("4 coins lie on the floor of the dark cellar", "-4 coins lie on the floor of the dark cellar"),
            ("The pit is 12 feet deep and 5", "The pit is 12 feet deep and 50"),
            ("The door opens when the bell rings twice", "The trapdoor opens when the bell rings twice"),
            (
                "Drinking from the fountain in the courtyard is safe",
                "I doubt drinking from the fountain in the courtyard is safe",
            ),
            (
                "Das Tor im Norden kann mit dem Schlüssel geöffnet werden",
                "Das Tor im Norden kann mit dem Schlüssel nicht geöffnet werden",
            ),
            ("Прыгать через пропасть безопасно для героя", "не Прыгать через пропасть безопасно для героя"),
            ("The troll attacks.", "The troll attacks when you give it food to eat."),
            ("", "x"),
        ] {
            assert!(!says_the_same(a, b) && !says_the_same(b, a), "{a} / {b}");
        }
    }

    #[test]
    fn words_at_the_edges_may_be_missing_in_what_says_the_same() {
        let memory = Memory::new(Category::note(), "a", "Ring the old brass bell in the chapel.");
        let written = render_entry(&stored(&memory), Fences::Keep);
        let entry = EntryText::new(&written, Status::Active);
        for text in
            ["Ring the old brass bell in the chapel now.", "Then ring the old brass bell in the chapel."]
        {
            let wanted = ComparableText::new(text);
            assert!(wanted.is_duplicate(&memory) && wanted.may_be_said_by(&entry), "{text}");
        }
        assert!(!ComparableText::new("Ring the old copper bell in the chapel.").may_be_said_by(&entry));
    }

    proptest! {
        #[test]
        fn the_rule_is_symmetric_and_blind_to_case_and_space(words in prop::collection::vec("[A-Za-z0-9.,]{1,8}", 1..20), other in "[ -~]{0,80}") {
            let (text, loud) = (words.join(" "), words.join(" \n ").to_uppercase());
            prop_assert!(says_the_same(&text, &loud));
            prop_assert_eq!(says_the_same(&text, &other), says_the_same(&other, &text));
        }

        #[test]
        fn no_entry_that_says_the_same_is_passed_over(
            words in prop::collection::vec("[A-Za-zÉéΣσİ道森0-9.,]{1,8}", 0..12),
            (from, to) in (0_usize..3, 0_usize..3),
            more in prop::sample::select(vec!["", "now", "Now.", "#", "\n"]),
        ) {
            let text = words.join(" ");
            let part = words[from.min(words.len())..words.len().saturating_sub(to).max(from.min(words.len()))].join("  ");
            for other in [part.clone(), part.to_uppercase(), format!("{text} {more}"), format!("{more} {part}")] {
                let memory = Memory::new(Category::note(), "a", &other);
                let written = render_entry(&stored(&memory), Fences::Keep);
                let entry = EntryText::new(&written, Status::Active);
                let wanted = ComparableText::new(&text);
                prop_assert!(!wanted.is_duplicate(&entry.read()) || wanted.may_be_said_by(&entry), "{other:?}");
            }
        }

        #[test]
        fn one_word_that_matters_makes_another_text(
            words in prop::collection::vec("[a-z]{3,9}", 12..30), at in 0..12_usize, list in 0..4_usize, number in 0..17_usize,
        ) {
            let telling: Vec<&str> =
                [NEGATIONS, NUMBERS, DIRECTIONS, COLOURS][list].split_ascii_whitespace().collect();
            let mut other = words.clone();
            other.insert(at, telling[number % telling.len()].to_owned());
            prop_assert!(!says_the_same(&words.join(" "), &other.join(" ")));
        }
    }
}
