//! The words that a text has in common with what it is made of.
//!
//! Texts that a model wrote enter with the texts that it was shown. The count of common words decides whether
//! the model's text is believed.

use std::collections::HashSet;

use crate::search::words::{is_stop_word, stem, words};

/// How many words of a text occur in its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedWords {
    /// Words that occur in a source, too.
    pub(crate) shared: usize,
    /// All words of the text.
    pub(crate) all: usize,
}

impl SharedWords {
    /// Compares the stems of a text with those of its sources; words that any text has do not count.
    pub(crate) fn of<'a>(text: &str, sources: impl IntoIterator<Item = &'a str>) -> SharedWords {
        let said: HashSet<String> = sources.into_iter().flat_map(content_stems).collect();
        let stems = content_stems(text);
        SharedWords { shared: stems.iter().filter(|stem| said.contains(*stem)).count(), all: stems.len() }
    }
}

fn content_stems(text: &str) -> Vec<String> {
    let words = words(text);
    words.iter().filter(|word| !is_stop_word(word)).map(|word| stem(word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_count_and_stop_words_do_not() {
        let count = |text: &str| SharedWords::of(text, ["The door is opened.", "A lamp"]);
        assert_eq!(count("Opening doors is the way."), SharedWords { shared: 2, all: 3 });
        assert_eq!(count("It is a the."), SharedWords { shared: 0, all: 0 });
        assert_eq!(count("TURN").shared, 0);
    }
}
