//! Finds memories that say the same; a recall shows one of them.

use crate::render::Group;
use memories_document::types::{Category, Memory};
use memories_notebook::duplicates::ComparableText;

/// The text of a memory with its category and group: one text under DANGER and under SUCCESS says different things.
#[derive(Debug)]
pub(super) struct Said {
    category: Category,
    group: Group,
    text: ComparableText,
}

impl Said {
    /// The words of a memory, with its category and group.
    pub(super) fn by(memory: &Memory) -> Said {
        let text = ComparableText::new(&format!("{}\n{}", memory.title, memory.text));
        Said { category: memory.category.clone(), group: Group::of(memory), text }
    }

    /// True if both say the same as the same.
    pub(super) fn is_the_same_as(&self, other: &Said) -> bool {
        self.category == other.category && self.group == other.group && self.text.says_the_same(&other.text)
    }
}
