//! The phrase that a question quotes, and that memories should have.
//!
//! A question enters; its phrase leaves, or none. Quotation marks in a text that was pasted, such as an error message,
//! are no wish of whoever asks: a question has no phrase where it speaks of an error, has a colon before the quotation,
//! or quotes several times.

use crate::words::stems;

/// A quoted phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The phrase as it was written.
    pub text: String,
    /// Its stems, which must follow each other in a text.
    stems: Vec<String>,
}

impl Phrase {
    /// The phrase of a question.
    pub(crate) fn of(question: &str) -> Option<Phrase> {
        let mut quotations = quotations(question);
        let (start, text) = quotations.next()?;
        let is_pasted = quotations.next().is_some()
            || question[..start].contains([':', '：'])
            || question.to_lowercase().contains("error");
        let phrase = Phrase { text: text.trim().to_owned(), stems: stems(text) };
        (!is_pasted && !phrase.stems.is_empty()).then_some(phrase)
    }

    /// True if a text has the phrase.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        stems(text).windows(self.stems.len()).any(|window| window == self.stems)
    }
}

/// The parts of a text within `"…"`, `“…”` or `„…“`, each with the place of its first mark. A mark without a
/// counterpart quotes nothing.
fn quotations(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (start, open) = text[at..].char_indices().find(|(_, c)| matches!(c, '"' | '“' | '„'))?;
            let (start, begin) = (at + start, at + start + open.len_utf8());
            at = begin;
            let is_end = |c: char| match open {
                '"' => c == '"',
                '“' => c == '”',
                _ => matches!(c, '“' | '”'),
            };
            if let Some((length, close)) = text[begin..].char_indices().find(|(_, c)| is_end(*c)) {
                at = begin + length + close.len_utf8();
                return Some((start, &text[begin..begin + length]));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(question: &str) -> Option<String> {
        Phrase::of(question).map(|phrase| phrase.text)
    }

    #[test]
    fn one_quotation_is_a_phrase() {
        for question in
            ["where is the \"roof beam\"?", "“roof beam”", "wo ist „roof beam“", "„roof beam” 5\""]
        {
            assert_eq!(phrase(question).as_deref(), Some("roof beam"), "{question}");
        }
        let rusty = Phrase::of("\"Rusty keys\"").unwrap();
        assert!(rusty.is_in("A rusty key. The trolls have it.") && !rusty.is_in("A rusty old key."));
    }

    #[test]
    fn what_was_pasted_is_no_phrase() {
        for question in [
            "5\" nails",
            "\"…\"",
            "«roof beam»",
            "\"roof\" or \"beam\"",
            "main.py:3: unknown name \"beam\"",
            "TypeError while reading \"beam\"",
            "\"beam\" gives an Error",
        ] {
            assert_eq!(phrase(question), None, "{question}");
        }
    }
}
