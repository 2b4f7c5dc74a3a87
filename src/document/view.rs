//! What the file says of one scope, for readers: several sections of the scope are one.

use crate::document::grammar;
use crate::document::section::parse_section;
use crate::types::{Attempt, Memory, Persistence};

/// What the file says of one scope; several sections of the scope are read as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// The name that the first heading states.
    pub name: String,
    /// Number of visits.
    pub visits: u64,
    /// Episodes in which it was visited.
    pub episodes: Vec<u64>,
    /// All memories, in the order of the file.
    pub memories: Vec<Memory>,
    /// Tried actions, in the order of the file.
    pub tried: Vec<Attempt>,
}

impl Section {
    /// Reads the texts of a scope's sections, each with its heading line.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Section {
        let mut section = Section::default();
        for text in texts {
            let heading = text.lines().next().and_then(grammar::parse_heading);
            let parts = parse_section(text);
            if section.name.is_empty() {
                section.name = heading.map(|heading| heading.name).unwrap_or_default();
            }
            if let Some((visits, _)) = parts.visits {
                section.visits = section.visits.saturating_add(visits.count);
                for episode in visits.episodes {
                    if !section.episodes.contains(&episode) {
                        section.episodes.push(episode);
                    }
                }
            }
            section.memories.extend(parts.entries.into_iter().map(|entry| entry.memory));
            section.tried.extend(parts.tried.into_iter().map(|tried| tried.attempt));
        }
        section
    }

    /// Adds what is remembered for this episode only: the same scope's section of the session.
    pub fn add_session(&mut self, session: Section) {
        if self.name.is_empty() {
            self.name = session.name;
        }
        let ephemeral = |memory| Memory { persistence: Persistence::Ephemeral, ..memory };
        self.memories.extend(session.memories.into_iter().map(ephemeral));
    }

    /// Memories that are neither superseded nor invalidated.
    pub fn live(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter().filter(|memory| memory.is_live())
    }
}
