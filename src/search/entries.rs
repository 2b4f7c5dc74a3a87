//! The entries of a memory file and of its session, found but not yet read.
//!
//! What was read of the files enters; headings and spans leave, and memories one at a time.

use crate::document::grammar::Heading;
use crate::document::outline::{EntrySpan, outline};
use crate::search::searchable_text::SearchableText;
use crate::store::{Reading, StoreError};
use crate::types::{Memory, Persistence};

/// The entries of a file and of its session.
#[derive(Default)]
pub struct Entries {
    reading: Reading,
    /// Headings that name a scope.
    pub headings: Vec<Heading>,
    /// Where the entries stand.
    pub spans: Vec<EntrySpan>,
    /// So many come from the file itself; the others end with the episode.
    pub lasting: usize,
}

impl Entries {
    /// Finds the entries of what was read.
    pub fn of(reading: Reading) -> Entries {
        let mut all = outline(&reading.file);
        let lasting = all.entries.len();
        let more = outline(&reading.session);
        let headings = all.headings.len() as u32;
        all.entries.extend(
            more.entries.into_iter().map(|entry| EntrySpan { heading: entry.heading + headings, ..entry }),
        );
        all.headings.extend(more.headings);
        Entries { reading, headings: all.headings, spans: all.entries, lasting }
    }

    /// Whether the file and its session still are what was read.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        self.reading.is_current()
    }

    /// The text in which an entry stands.
    fn text_around(&self, entry: usize) -> &str {
        if entry < self.lasting { &self.reading.file } else { &self.reading.session }
    }

    /// An entry as it stands in the file.
    pub fn source(&self, entry: usize) -> &str {
        &self.text_around(entry)[self.spans[entry].range.clone()]
    }

    /// The heading below which an entry stands.
    pub fn heading(&self, entry: usize) -> &Heading {
        &self.headings[self.spans[entry].heading as usize]
    }

    /// What an entry says.
    pub fn read(&self, entry: usize) -> Memory {
        let memory = self.spans[entry].read(self.text_around(entry));
        if entry < self.lasting { memory } else { Memory { persistence: Persistence::Ephemeral, ..memory } }
    }

    /// What is searched of an entry.
    pub fn text(&self, entry: usize) -> SearchableText {
        let Heading { scope, name } = self.heading(entry);
        SearchableText::of_memory(scope, name, &self.spans[entry].read(self.text_around(entry)))
    }
}
