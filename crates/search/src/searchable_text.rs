//! The text that is indexed for a memory: its words, its passages, and the canonical questions it answers.
//!
//! A memory with its scope enters; a [`SearchableText`] leaves, which [`crate::corpus`] takes in.

use crate::canonical_questions::canonical_questions;
use crate::dates::{dated, undated};
use memories_document::types::{Memory, Scope, writer_of};

/// Longest passage, in characters. Longer texts are also embedded passage by passage: one vector for a long
/// text is not specific enough.
const PASSAGE_CHARS: usize = 300;

/// Maximum number of passages of one text; what follows them is found only by its words.
pub(super) const MAX_PASSAGES: usize = 64;

/// The input of the index for one text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchableText {
    /// The text that its words are taken from, with everything somebody may remember of it and dates as words.
    pub words: String,
    /// The whole text and, if it is long, its passages, without dates. Each gets a vector; the one closest to the
    /// query counts.
    pub passages: Vec<String>,
    /// Canonical questions that it answers; each gets a vector, too.
    pub questions: Vec<String>,
}

impl SearchableText {
    /// A text without metadata.
    #[cfg(test)]
    pub(crate) fn plain(text: &str) -> SearchableText {
        let passages = to_compare(text, text);
        SearchableText { words: dated(text).into_owned(), passages, questions: Vec::new() }
    }

    /// A memory. Its words include its place, the characters it names, its tags but those of writers, and its time.
    pub fn of_memory(scope: &Scope, name: &str, memory: &Memory) -> SearchableText {
        let Memory { category, title, text, context, provenance, .. } = memory;
        let title = if category.only_grows() { without_origin_marks(title) } else { title };
        let mut words = format!("{title}\n{text}\n{name}\n");
        let mut add = |word: &str| {
            words.push_str(word);
            words.push('\n');
        };
        match scope {
            Scope::Npc(id) | Scope::Agent(id) | Scope::Topic(id) => add(id),
            Scope::Folder(path) => add(path.as_str()),
            Scope::Location(_) | Scope::World | Scope::Scene | Scope::Dialogue | Scope::Game => {}
        }
        if category.as_str() != "NOTE" {
            add(category.as_str());
        }
        provenance.tags.iter().filter(|tag| writer_of(tag).is_none()).for_each(|tag| add(tag));
        [context, &provenance.goal].into_iter().flatten().for_each(|text| add(text));
        if let Some(date) = &provenance.date {
            // The time of day is of no use.
            add(date.split_once('T').map_or(date, |(day, _)| day));
        }
        if let Some(episode) = provenance.episode {
            add(&format!("ep{episode}"));
        }
        if let Some(turns) = provenance.turns {
            add(&format!("t{}", turns.first));
        }
        // A line of dialogue, `Alex said: …`, repeats its title.
        let whole = if text.starts_with(title) { text.clone() } else { format!("{title}. {text}") };
        let passages = to_compare(&whole, text);
        let words = dated(&words).into_owned();
        SearchableText { words, passages, questions: canonical_questions(scope, name, memory) }
    }
}

/// The whole text and the passages of a long one, without the dates that name a day.
fn to_compare(whole: &str, text: &str) -> Vec<String> {
    let passages = split_passages(text);
    std::iter::once(whole).chain(passages).map(|passage| undated(passage).into_owned()).collect()
}

/// The title of a line of dialogue without the episode, turn and message that it begins with: `Alex` of
/// `Ep1 T3 Alex`.
fn without_origin_marks(title: &str) -> &str {
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

/// The passages of a long text: runs of whole sentences of up to [`PASSAGE_CHARS`] characters. Empty for a text
/// no longer than that.
pub(super) fn split_passages(text: &str) -> Vec<&str> {
    if text.chars().nth(PASSAGE_CHARS).is_none() {
        return Vec::new();
    }
    let mut passages = Vec::new();
    let (mut start, mut end, mut length) = (0, 0, 0);
    for sentence in sentences(text) {
        let own = sentence.chars().count();
        if length > 0 && length + own > PASSAGE_CHARS {
            passages.push(text[start..end].trim());
            (start, length) = (end, 0);
        }
        end += sentence.len();
        length += own;
    }
    passages.push(text[start..end].trim());
    passages.retain(|passage| passage.chars().any(char::is_alphanumeric));
    passages.truncate(MAX_PASSAGES);
    passages
}

/// The sentences of a text, each with the space after it. A sentence ends with its line, with `。`, `！` or `？` and
/// closing quotes, or with `.`, `!` or `?`, closing quotes and brackets, and space before a capital; so `Mr. x`, `3.5`
/// and `e.g. this` are not split.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.match_indices(['.', '!', '?', '\n', '。', '！', '？']).find_map(|(at, mark)| {
            let behind = &rest[at + mark.len()..];
            if mark == "\n" {
                return Some(at + 1);
            }
            if !mark.is_ascii() {
                return Some(rest.len() - behind.trim_start_matches(['”', '’', '」', '』', '）']).len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;
    use memories_document::types::Category;

    #[test]
    fn a_memory_is_found_by_all_that_is_said_of_it() {
        let mut memory = Memory::new(Category::danger(), "Troll attacks", "Fatal without a weapon.");
        memory.provenance.episode = Some(3);
        memory.provenance.date = Some("2026-01-05T10:00:00Z".to_owned());
        memory.provenance.tags = vec!["about:jordan".to_owned()];
        let text = SearchableText::of_memory(&Scope::Npc("grim_troll".to_owned()), "The Troll", &memory);
        for word in ["fatal", "danger", "jordan", "grim", "ep3", "january", "5", "2026"] {
            assert!(words(&text.words).contains(&word.to_owned()), "{word}");
        }
        assert_eq!(text.passages, ["Troll attacks. Fatal without a weapon."]);
    }

    #[test]
    fn a_line_of_dialogue_is_what_was_said() {
        let line = |category: &str, title: &str, text: &str| {
            let memory = Memory::new(category.parse().unwrap(), title, text);
            SearchableText::of_memory(&Scope::Dialogue, "", &memory)
        };
        let said = line("DIALOGUE", "Ep1 T3 Alex", "Alex said: I have the key.");
        assert_eq!(said.passages, ["Alex said: I have the key."]);
        assert!(said.words.starts_with("Alex\n"), "{}", said.words);
        assert_eq!(line("EVENT", "Ep2 Tower falls", "Dust.").passages, ["Tower falls. Dust."]);
        assert_eq!(line("NOTE", "T3 Alex", "Dust.").passages, ["T3 Alex. Dust."]);
        assert_eq!(without_origin_marks("Tom"), "Tom");
    }

    #[test]
    fn long_texts_have_passages() {
        let text = "One sentence about the lamp. ".repeat(30);
        let passages = split_passages(&text);
        assert!(passages.len() > 2 && passages.iter().all(|one| one.len() <= PASSAGE_CHARS), "{passages:?}");
        assert_eq!(passages.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(split_passages(&"é".repeat(PASSAGE_CHARS)).is_empty());
        assert_eq!(split_passages(&"é".repeat(PASSAGE_CHARS + 1)).len(), 1);
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
        let found: Vec<&str> = sentences("他说：“走吧！”他们走了。门开了").collect();
        assert_eq!(found, ["他说：“走吧！”", "他们走了。", "门开了"]);
    }
}
