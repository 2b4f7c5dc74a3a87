//! A long text in which many small edits are made: one moves the bytes of a chunk, not all that follow it.

use crate::types::edit::EditedText;

/// Bytes of a chunk as it is made.
const CHUNK: usize = 8 << 10;

/// A text as chunks that follow each other.
#[derive(Debug, Clone)]
pub struct ChunkedText {
    /// At least one.
    chunks: Vec<String>,
    size: usize,
}

impl ChunkedText {
    /// Cuts a text into chunks.
    pub fn new(text: &str) -> ChunkedText {
        ChunkedText { chunks: cut(text), size: text.len() }
    }

    /// The chunks of the text.
    pub fn chunks(&self) -> impl Iterator<Item = &str> {
        self.chunks.iter().map(String::as_str)
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.chunks.concat()
    }
}

impl EditedText for ChunkedText {
    fn size(&self) -> usize {
        self.size
    }

    fn replace(&mut self, at: usize, old: &str, new: &str) -> Option<()> {
        let mut from = at;
        let place = self.chunks.iter().position(|chunk| {
            let is_here = from <= chunk.len();
            from -= if is_here { 0 } else { chunk.len() };
            is_here
        })?;
        let end = from.checked_add(old.len())?;
        let mut following = 0;
        while self.chunks[place].len() < end {
            let next = std::mem::take(self.chunks.get_mut(place + following + 1)?);
            self.chunks[place].push_str(&next);
            following += 1;
        }
        self.chunks.drain(place + 1..=place + following);
        self.chunks[place].replace(from, old, new)?;
        self.size = self.size - old.len() + new.len();
        if self.chunks[place].len() > 4 * CHUNK {
            let pieces = cut(&self.chunks[place]);
            self.chunks.splice(place..=place, pieces);
        }
        Some(())
    }
}

fn cut(mut text: &str) -> Vec<String> {
    let mut chunks = Vec::with_capacity(text.len() / CHUNK + 1);
    while text.len() > CHUNK {
        let (chunk, rest) = text.split_at(text.floor_char_boundary(CHUNK));
        chunks.push(chunk.to_owned());
        text = rest;
    }
    chunks.push(text.to_owned());
    chunks
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_chunked_text_is_edited_like_a_string(
            edits in vec((0..60_000_usize, 0..30_000_usize, 0..50_000_usize, any::<bool>()), 1..20)
        ) {
            let mut text = "aé\n".repeat(9000);
            let mut chunked = ChunkedText::new(&text);
            for (at, removed, inserted, is_right) in edits {
                let at = text.floor_char_boundary(at);
                let end = text.floor_char_boundary(at.saturating_add(removed));
                let old = text[at..end].to_owned();
                let old = if is_right { old } else { old + "b" };
                let new = "xyé".repeat(inserted / 4);
                prop_assert_eq!(chunked.replace(at, &old, &new), text.replace(at, &old, &new));
                prop_assert_eq!(&chunked.text(), &text);
                prop_assert_eq!(chunked.size(), text.len());
            }
        }
    }
}
