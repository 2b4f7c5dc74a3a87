//! A question as it is asked: its text, and what beside the text decides which memories are shown.

/// A question to a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// The time at which it is asked, as [`memories_document::types::instant::Instant`] reads it.
    pub(crate) now: Option<&'a str>,
    /// True if memories below the floor are shown, too, that have a word of the question.
    pub(crate) wants_weak: bool,
}

impl<'a> Question<'a> {
    /// A question that only memories answer which reach the floor.
    pub fn new(text: &'a str) -> Question<'a> {
        Question { text, now: None, wants_weak: false }
    }

    /// The same, asked at a time. `yesterday` and the like relate to it, or to the newest date of the file if that is
    /// more than a year older. A question without a time relates to the newest date.
    pub fn at(self, now: &'a str) -> Question<'a> {
        Question { now: Some(now), ..self }
    }

    /// The same, which the nearest memories below the floor answer, too, if they have a word of it. These are few, the
    /// last, and marked.
    pub fn with_weak(self) -> Question<'a> {
        Question { wants_weak: true, ..self }
    }
}

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for Question<'a> {
    fn from(text: &'a T) -> Question<'a> {
        Question::new(text.as_ref())
    }
}
