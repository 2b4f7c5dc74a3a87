//! Pieces of an answer: each is rendered once, and its rendered text is what it costs and what is printed.
//!
//! A value and its renderer enter; the piece leaves that fits into the room that is left, whole or shortened.

use crate::budget::{cut_at_sentence, estimate_tokens};
use memories_document::types::model_text::ModelText;

/// A value that is shown, with its rendered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<T> {
    /// The value; its text may be cut.
    pub value: T,
    pub(super) text: ModelText,
    pub(super) tokens: usize,
}

impl<T> Piece<T> {
    /// Keeps a value with its rendered text.
    pub(super) fn new(value: T, text: ModelText) -> Piece<T> {
        let tokens = estimate_tokens(&text);
        Piece { value, text, tokens }
    }
}

/// The piece with the whole text if it fits into what is left, else [`cut`].
pub(super) fn fit<T>(text: &str, left: usize, with: impl Fn(&str) -> Piece<T>) -> Option<Piece<T>> {
    Some(with(text)).filter(|whole| whole.tokens <= left).or_else(|| cut(text, left, with))
}

/// The piece with the longest beginning of a text that fits into what is left; `with` renders it.
pub(super) fn cut<T>(text: &str, left: usize, with: impl Fn(&str) -> Piece<T>) -> Option<Piece<T>> {
    cut_at_sentence(text, |beginning| with(beginning).tokens <= left).map(|beginning| with(&beginning))
}
