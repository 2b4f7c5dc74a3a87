//! The entries of a file as the ranking sees them: numbers of texts, without the texts.

/// The entries of a file, in order.
pub struct Entries<'a> {
    /// For each entry its text in the corpus.
    pub texts: &'a [usize],
    /// For each text, true if a live entry has it.
    pub live_texts: &'a [bool],
    /// Says for an entry, from 1, if it follows the previous one in a dialogue.
    pub follows: &'a dyn Fn(usize) -> bool,
}

impl Entries<'_> {
    pub(super) fn is_live(&self, text: usize) -> bool {
        self.live_texts[text]
    }
}
