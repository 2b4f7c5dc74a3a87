//! Texts that come again and again, each kept once and named by number.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// Texts that are named by number.
#[derive(Debug, Default)]
pub(super) struct Strings {
    list: Vec<String>,
    numbers: HashMap<String, usize, FixedState>,
}

impl Strings {
    /// The texts, by their numbers.
    pub(super) fn list(&self) -> &[String] {
        &self.list
    }

    /// The number of a text; none for an empty one.
    pub(super) fn number(&mut self, text: &str) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.list.len() - 1);
        Some(self.list.len() - 1)
    }
}
