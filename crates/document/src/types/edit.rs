//! Edits of a text: bytes that were removed at a place, and those inserted there.

use serde::{Deserialize, Serialize};

/// One edit. In JSON it is an array: offset, removed text, inserted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, String, String)", into = "(usize, String, String)")]
pub struct Edit {
    /// Offset in bytes into the text before all edits of the same change.
    pub at: usize,
    /// The text that stood there.
    pub removed: String,
    /// The text that stands there instead.
    pub inserted: String,
}

impl From<(usize, String, String)> for Edit {
    fn from(edit: (usize, String, String)) -> Edit {
        let (at, removed, inserted) = edit;
        Edit { at, removed, inserted }
    }
}

impl From<Edit> for (usize, String, String) {
    fn from(Edit { at, removed, inserted }: Edit) -> (usize, String, String) {
        (at, removed, inserted)
    }
}

impl Edit {
    /// Bytes that were removed and inserted.
    pub fn size(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }
}

/// A text that is edited in place.
pub trait EditedText {
    /// Its size in bytes.
    fn size(&self) -> usize;

    /// Replaces what stands at an offset. `None`, and nothing is changed, where something else stands there.
    #[must_use]
    fn replace(&mut self, at: usize, old: &str, new: &str) -> Option<()>;
}

impl EditedText for String {
    fn size(&self) -> usize {
        self.len()
    }

    fn replace(&mut self, at: usize, old: &str, new: &str) -> Option<()> {
        let end = at.checked_add(old.len())?;
        (self.get(at..end)? == old).then(|| self.replace_range(at..end, new))
    }
}

/// Makes the edits of a change, which are in the order of their offsets. `None` where they are no edits of that text;
/// it may then be changed in part.
#[must_use]
pub fn apply(edits: &[Edit], text: &mut impl EditedText) -> Option<()> {
    let mut end = text.size();
    for Edit { at, removed, inserted } in edits.iter().rev() {
        end = replace(text, *at, end, removed, inserted)?;
    }
    Some(())
}

/// Takes the edits of a change back. `None` where they did not lead to that text; it may then be changed in part.
#[must_use]
pub fn undo(edits: &[Edit], text: &mut impl EditedText) -> Option<()> {
    let (mut before, mut after) = (0, 0);
    // Offsets behind the edits: what all edits before one have removed and inserted.
    let mut places = Vec::with_capacity(edits.len());
    for Edit { at, removed, inserted } in edits {
        places.push(at.checked_add(after)?.checked_sub(before)?);
        before += removed.len();
        after += inserted.len();
    }
    let mut end = text.size();
    for (Edit { removed, inserted, .. }, at) in edits.iter().zip(places).rev() {
        end = replace(text, at, end, inserted, removed)?;
    }
    Some(())
}

/// Replaces what stands at an offset and ends before another one. Returns the offset.
fn replace(text: &mut impl EditedText, at: usize, limit: usize, old: &str, new: &str) -> Option<usize> {
    let is_before = at.checked_add(old.len()).is_some_and(|end| end <= limit);
    is_before.then(|| text.replace(at, old, new)).flatten().map(|()| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(edits: &[(usize, &str, &str)]) -> Vec<Edit> {
        edits.iter().map(|(at, old, new)| Edit::from((*at, (*old).to_owned(), (*new).to_owned()))).collect()
    }

    #[test]
    fn edits_are_made_and_taken_back() {
        let edits = edits(&[(0, "", "# "), (2, "é", ""), (4, "ab", "b"), (8, "", "end")]);
        let mut text = "x é".replace(' ', "y") + "ab..";
        let before = text.clone();
        apply(&edits, &mut text).unwrap();
        assert_eq!(text, "# xyb..end");
        undo(&edits, &mut text).unwrap();
        assert_eq!(text, before);
        assert_eq!(serde_json::to_string(&edits[1]).unwrap(), r#"[2,"é",""]"#);
    }

    #[test]
    fn edits_of_another_text_are_refused() {
        let made = |of: &[(usize, &str, &str)]| apply(&edits(of), &mut "aéc".to_owned());
        let undone = |of: &[(usize, &str, &str)]| undo(&edits(of), &mut "aéc".to_owned());
        for damaged in [
            &[(0, "b", "")][..],
            &[(2, "", "x")],
            &[(5, "", "x")],
            &[(usize::MAX, "a", "")],
            &[(0, "aé", ""), (1, "é", "")],
            &[(3, "c", ""), (0, "a", "")],
        ] {
            assert_eq!(made(damaged), None, "{damaged:?}");
        }
        assert_eq!(undone(&[(0, "xx", "b")]), None);
        assert_eq!(undone(&[(0, "xxx", ""), (1, "", "a")]), None);
    }
}
