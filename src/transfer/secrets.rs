//! Masks the secrets of a source, because the person who imports it has not read all of it.

use std::borrow::Cow;

use crate::transfer::place::PlaceReference;
use crate::transfer::source::{Item, SourceItem};
use memories_document::Section;
#[cfg(feature = "formats")]
use memories_document::types::{Memory, Scope};
use memories_llm::redact::redact;

/// The items of a source without secrets.
#[derive(Debug)]
pub(super) struct MaskedItems<'a> {
    pub items: Vec<Cow<'a, SourceItem>>,
    /// Number of texts that held one.
    pub texts: u64,
    /// The kinds of secrets, each once.
    pub kinds: Vec<&'static str>,
}

impl<'a> MaskedItems<'a> {
    /// The items as they are.
    pub(super) fn unchanged(items: &'a [SourceItem]) -> MaskedItems<'a> {
        MaskedItems { items: items.iter().map(Cow::Borrowed).collect(), texts: 0, kinds: Vec::new() }
    }

    /// The items with their secrets replaced.
    pub(super) fn of(items: &'a [SourceItem]) -> MaskedItems<'a> {
        let mut masked = MaskedItems { items: Vec::with_capacity(items.len()), texts: 0, kinds: Vec::new() };
        for found in items {
            let mut changed = found.clone();
            let before = masked.texts;
            match &mut changed.item {
                Ok(item) => texts_of(item).into_iter().for_each(|text| masked.mask(text)),
                Err(problem) => masked.mask(problem),
            }
            let same = masked.texts == before;
            masked.items.push(if same { Cow::Borrowed(found) } else { Cow::Owned(changed) });
        }
        masked
    }

    fn mask(&mut self, text: &mut String) {
        let Some(redacted) = redact(text) else { return };
        *text = redacted.text;
        self.texts += 1;
        self.kinds.extend(redacted.kinds);
        self.kinds.sort_unstable();
        self.kinds.dedup();
    }
}

/// All texts of an item that may be written.
fn texts_of(item: &mut Item) -> Vec<&mut String> {
    let (place, mut texts) = match item {
        Item::Memory { place, memory } => (place, memory.texts_mut()),
        Item::Section { place, section } => (place, texts_of_section(section)),
    };
    match place {
        PlaceReference::Scope(_, name) | PlaceReference::Named(name) => texts.push(name),
        PlaceReference::Unsaid => {}
    }
    texts
}

fn texts_of_section(section: &mut Section) -> Vec<&mut String> {
    let mut texts = vec![&mut section.name];
    for attempt in section.tried.iter_mut().chain(&mut section.worked).chain(&mut section.seen) {
        texts.extend([&mut attempt.action, &mut attempt.reply]);
    }
    for way in &mut section.ways {
        texts.extend([&mut way.action, &mut way.name]);
    }
    texts
}

/// Masks the secrets of sections that other programs read.
#[cfg(feature = "formats")]
pub fn mask_sections(sections: &mut [(Scope, Section)]) {
    for (_, section) in sections {
        let mut memories = std::mem::take(&mut section.memories);
        let texts = memories.iter_mut().flat_map(Memory::texts_mut).chain(texts_of_section(section));
        for text in texts {
            if let Some(masked) = redact(text) {
                *text = masked.text;
            }
        }
        section.memories = memories;
    }
}
