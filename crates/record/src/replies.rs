//! Classes of replies: the words in which a game states the result of an action.
//!
//! A reply enters, its class leaves. The phrases are data, in `replies.txt`; settings may add some of another game or
//! language. Only the first sentences of a reply count: they answer the action, and later ones describe other things.

use std::sync::LazyLock;

use strum::{EnumString, IntoStaticStr, VariantArray};

use memories_document::types::text::fold_spaces;

/// The built-in phrases.
const TABLE: &str = include_str!("replies.txt");

/// Sentences of a reply that are looked at.
const SENTENCES: usize = 2;

/// Longest reply of which a sentence behind the first is looked at, and that a negation alone makes a refusal, in
/// characters.
pub(super) const SHORT_REPLY: usize = 100;

/// The class of a reply: what the game says of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ReplyClass {
    /// The parser does not know a word, and names it.
    UnknownWord,
    /// The parser does not understand.
    NotUnderstood,
    /// The parser asks for what is missing in the action.
    AsksBack,
    /// Something that may pass is in the way.
    Blocked,
    /// It is carried already.
    Have,
    /// It is so already.
    Already,
    /// The thing that the action names is not here.
    NotHere,
    /// No way leads there.
    NoWay,
    /// Nothing happens, or there is nothing to find.
    Nothing,
    /// The thing or the game refuses.
    Refused,
    /// Something was revealed.
    Revealed,
    /// It was done.
    Done,
    /// A short reply with a negation, and no more known of it.
    Denied,
}

/// Phrases with their classes, the first that fits first: those of the settings, then the built-in ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replies {
    own: Vec<(Phrase, ReplyClass)>,
}

/// The built-in phrases. They are prepared on first use: most commands need none.
static BUILT_IN: LazyLock<Vec<(Phrase, ReplyClass)>> = LazyLock::new(|| {
    let mut class = None;
    let mut phrases = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => class = name.parse().ok(),
            None => {
                let phrase = line.split('~').next().unwrap_or_default().trim();
                phrases.extend(class.map(|class| (Phrase::new(phrase), class)));
            }
        }
    }
    phrases
});

/// A phrase, prepared to be looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    /// Its words between the gaps, each with spaces where a word begins or ends.
    parts: Vec<String>,
    /// It begins a sentence.
    at_start: bool,
    /// It ends a sentence.
    at_end: bool,
}

impl Phrase {
    fn new(text: &str) -> Phrase {
        let (at_start, rest) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (at_end, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        let parts = rest.split('*').filter(|part| !part.trim().is_empty()).map(|part| {
            // `*n't` begins within a word, and `recogni*` ends within one.
            let begins_word = rest.starts_with(part) || part.starts_with(' ');
            let ends_word = rest.ends_with(part) || part.ends_with(' ');
            let words = words_of(part);
            // Scripts without spaces have no ends of words.
            let gap = |is_edge: bool, c: Option<char>| {
                if is_edge && c.is_some_and(|c| c.is_ascii()) { " " } else { "" }
            };
            format!(
                "{}{words}{}",
                gap(begins_word, words.chars().next()),
                gap(ends_word, words.chars().next_back())
            )
        });
        Phrase { parts: parts.collect(), at_start, at_end }
    }

    /// True if a sentence of words between single spaces, with one at both ends, has it.
    fn is_in(&self, sentence: &str) -> bool {
        let mut rest = sentence;
        for (at, part) in self.parts.iter().enumerate() {
            let found =
                if at == 0 && self.at_start { rest.starts_with(part).then_some(0) } else { rest.find(part) };
            let Some(start) = found else { return false };
            // A space may end one part and begin the next.
            let end = start + part.len();
            rest = &rest[if part.ends_with(' ') { end - 1 } else { end }..];
        }
        !self.at_end || rest.trim().is_empty()
    }
}

impl Replies {
    /// These phrases before the built-in ones.
    pub fn with<'a>(own: impl IntoIterator<Item = (ReplyClass, &'a str)>) -> Replies {
        let own = own.into_iter().map(|(class, phrase)| (Phrase::new(phrase), class));
        Replies { own: own.collect() }
    }

    fn phrases(&self) -> impl Iterator<Item = &(Phrase, ReplyClass)> {
        self.own.iter().chain(BUILT_IN.iter())
    }

    /// The class of a reply; `None` where no phrase fits.
    pub fn class_of(&self, reply: &str) -> Option<ReplyClass> {
        let is_short = reply.trim().chars().count() <= SHORT_REPLY;
        let sentences = sentences(reply);
        let looked_at = if is_short { SENTENCES } else { 1 };
        let mut classes =
            sentences.iter().take(looked_at).filter_map(|sentence| self.class_of_sentence(sentence));
        let first = classes.next();
        // "Done. Moving the leaves reveals nothing."
        let denied =
            classes.next().filter(|then| first == Some(ReplyClass::Done) && *then == ReplyClass::Nothing);
        denied.or(first).or_else(|| {
            let denies = |sentence: &String| {
                self.phrases().any(|(phrase, class)| *class == ReplyClass::Denied && phrase.is_in(sentence))
            };
            (is_short && sentences.iter().take(SENTENCES).any(denies)).then_some(ReplyClass::Denied)
        })
    }

    /// The class of a sentence by all phrases but mere negations.
    fn class_of_sentence(&self, sentence: &str) -> Option<ReplyClass> {
        let fits =
            |(phrase, class): &&(Phrase, ReplyClass)| *class != ReplyClass::Denied && phrase.is_in(sentence);
        self.phrases().find(fits).map(|(_, class)| *class)
    }
}

/// True if a sentence refuses, corrects or asks back. One that says what is in the way tells of the world.
pub(super) fn is_refusal(sentence: &str) -> bool {
    let class = sentences(sentence).first().and_then(|one| Replies::default().class_of_sentence(one));
    class.is_some_and(|class| class < ReplyClass::Revealed && class != ReplyClass::Blocked)
}

/// The word of an action that a reply names as unknown.
pub(super) fn names_a_word_of(reply: &str, action: &str) -> bool {
    let reply = words_of(reply);
    let mut words = reply.split(' ');
    let action = words_of(action);
    words.any(|word| action.split(' ').any(|one| one == word))
}

/// A reply on one line without prompts, and without lines that stand in parentheses whole: the parser's remarks on what
/// it took an action for. They stay where nothing else is said.
pub(super) fn answer(reply: &str) -> String {
    let lines = || reply.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('>'));
    let is_remark = |line: &str| line.starts_with('(') && line.ends_with(')');
    let said: Vec<&str> = if lines().all(is_remark) {
        lines().collect()
    } else {
        lines().filter(|line| !is_remark(line)).collect()
    };
    said.join(" ")
}

/// The sentences of an answer as words between single spaces, in lower case.
fn sentences(reply: &str) -> Vec<String> {
    let text = without_speech(&answer(reply));
    let mut sentences = Vec::new();
    let mut start = 0;
    let marks = text.match_indices(['.', '!', '?', '。', '！', '？']);
    for (at, mark) in marks {
        let end = at + mark.len();
        let is_end = text[end..].chars().next().is_none_or(|c| !c.is_alphanumeric()) || !mark.is_ascii();
        if is_end {
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    let words = sentences.into_iter().map(|sentence| format!(" {} ", words_of(sentence)));
    words.filter(|words| !words.trim().is_empty()).collect()
}

/// A text without what somebody says in it: quotations of several words. A word that a parser quotes stays.
fn without_speech(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split(['"', '“', '”']).enumerate() {
        if at % 2 == 0 || part.split_whitespace().count() < 3 {
            out.push_str(part);
            out.push(' ');
        }
    }
    out
}

/// The words of a text in lower case, between single spaces, without punctuation but question marks.
fn words_of(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let mut plain = String::with_capacity(lower.len());
    for c in lower.chars() {
        match c {
            '?' => plain.push_str(" ? "),
            c if c.is_alphanumeric() || c == '\'' => plain.push(c),
            _ => plain.push(' '),
        }
    }
    fold_spaces(&plain)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn class(reply: &str) -> Option<ReplyClass> {
        Replies::default().class_of(reply)
    }

    #[test]
    fn each_phrase_stands_with_replies_of_two_games_of_its_class() {
        let mut wrong = Vec::new();
        let mut current = None;
        for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                current = Some(name.parse::<ReplyClass>().expect("a class"));
                continue;
            }
            let mut parts = line.split('~').map(str::trim);
            let phrase = parts.next().unwrap_or_default();
            let examples: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once(": ")).collect();
            let games: HashSet<&str> = examples.iter().map(|(game, _)| *game).collect();
            if games.len() < 2 {
                wrong.push(format!("`{phrase}` has no examples of two games"));
            }
            for (_, reply) in examples {
                let words = format!(" {} ", sentences(reply).join(" "));
                if class(reply) != current
                    || !sentences(reply).iter().any(|one| Phrase::new(phrase).is_in(one))
                {
                    wrong
                        .push(format!("`{phrase}`: {reply} is {:?}, not {current:?}; {words}", class(reply)));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_first_sentences_count() {
        assert_eq!(class("(with the sword)\nYou can't reach him."), Some(ReplyClass::Refused));
        assert_eq!(class("(the lamp)"), None);
        assert_eq!(class("[I don't know the word \"frotz\".]"), Some(ReplyClass::UnknownWord));
        assert_eq!(class("The guard nods. \"I don't understand you\", he says."), None, "that is speech");
        let long = "You climb the stairs and look around in the hall, in which a fire burns. You can't see the end of it.";
        assert_eq!(class(long), None, "what a long reply says behind its first sentence is another matter");
        assert_eq!(class("Click."), None);
        assert_eq!(class("\"Will you come with me?\" asks the fox."), None, "somebody asks");
        assert_eq!(class("It won’t help."), Some(ReplyClass::Denied));
    }

    #[test]
    fn settings_add_phrases_of_other_languages() {
        let replies =
            Replies::with([(ReplyClass::NoWay, "da kommst du nicht"), (ReplyClass::Blocked, "锁着")]);
        assert_eq!(replies.class_of("Da kommst du nicht lang."), Some(ReplyClass::NoWay));
        assert_eq!(replies.class_of("门锁着。"), Some(ReplyClass::Blocked));
        assert_eq!(replies.class_of("Taken."), Some(ReplyClass::Done));
        assert_eq!(class("Da kommst du hin."), None);
    }
}
