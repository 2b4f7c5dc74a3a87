//! Where the sections and entries of a memory file and its session stand.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

use memories_document::Section;
use memories_document::outline::{EntrySpan, SectionSpan, outline};
use memories_document::types::Scope;

/// Positions of all sections and entries: first those of the memory file, then those of the session.
pub(super) struct Contents {
    pub(super) sections: Vec<SectionSpan>,
    pub(super) lasting_sections: usize,
    pub(super) entries: Vec<EntrySpan>,
    pub(super) lasting_entries: usize,
    pub(super) scopes: HashMap<Scope, ScopeContents, FixedState>,
}

/// The sections of one scope, read as one on first use.
#[derive(Default)]
pub(super) struct ScopeContents {
    /// Indices of its sections.
    pub(super) sections: Vec<u32>,
    pub(super) without_memories: OnceLock<Box<Section>>,
    pub(super) section: OnceLock<Box<Section>>,
}

impl Contents {
    /// Outlines both texts.
    pub(super) fn of(lasting: &str, session: &str) -> Contents {
        let (mut all, session) = (outline(lasting), outline(session));
        let (lasting_sections, lasting_entries) = (all.sections.len(), all.entries.len());
        let behind = u32::try_from(lasting_sections).expect("fewer sections than bytes");
        let moved = |entry: EntrySpan| EntrySpan { section: entry.section + behind, ..entry };
        all.entries.extend(session.entries.into_iter().map(moved));
        all.sections.extend(session.sections);
        let mut scopes: HashMap<Scope, ScopeContents, FixedState> = HashMap::default();
        for (number, section) in (0..).zip(&all.sections) {
            scopes.entry(section.heading.scope.clone()).or_default().sections.push(number);
        }
        let (sections, entries) = (all.sections, all.entries);
        Contents { sections, lasting_sections, entries, lasting_entries, scopes }
    }

    /// The entries of a section.
    pub(super) fn entries_of(&self, section: u32) -> &[EntrySpan] {
        let first = self.entries.partition_point(|entry| entry.section < section);
        let end = self.entries.partition_point(|entry| entry.section <= section);
        &self.entries[first..end]
    }
}
