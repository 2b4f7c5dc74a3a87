//! The two files that memories live in: the lasting one, and the session's, which ends with its
//! episode. Both are documents of one format; a title is unique in both together.

use crate::document::{Document, DocumentError, EntryId, Section};
use crate::store::{Change, Sidecar, StoreError};
use crate::types::{Memory, Persistence, Scope, without_brackets};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// `Memories.md`.
    Lasting,
    /// `session.md`.
    Session,
}

impl Tier {
    /// Where memories of a persistence live.
    pub fn of(persistence: Persistence) -> Tier {
        match persistence {
            Persistence::Core | Persistence::Permanent => Tier::Lasting,
            Persistence::Ephemeral => Tier::Session,
        }
    }
}

/// Both files, while they are edited.
#[derive(Debug, Clone)]
pub struct Files {
    /// `Memories.md`.
    pub lasting: Document,
    /// `session.md`.
    pub session: Document,
}

impl Files {
    /// The files as they are: the text of the lasting one, and the session beside it.
    ///
    /// # Errors
    ///
    /// When the session cannot be read.
    pub fn open(text: Option<String>, sidecar: &Sidecar) -> Result<Files, StoreError> {
        let lasting = Document::parse(text.unwrap_or_default());
        let session = Document::parse(sidecar.session()?.unwrap_or_default());
        Ok(Files { lasting, session })
    }

    /// What to write, with a value for the caller.
    ///
    /// # Errors
    ///
    /// See [`DocumentError`].
    pub fn into_change<T>(self, value: T) -> Result<Change<T>, DocumentError> {
        let session = self.session.is_edited().then_some(self.session);
        let change = Change::to(self.lasting.into_text()?, value);
        Ok(match session {
            Some(session) => change.with_session(session.into_text()?),
            None => change,
        })
    }

    /// One of the two.
    pub fn of(&mut self, tier: Tier) -> &mut Document {
        match tier {
            Tier::Lasting => &mut self.lasting,
            Tier::Session => &mut self.session,
        }
    }

    /// What both say of a scope: the session's memories last, and marked as ephemeral.
    pub fn section(&self, scope: &Scope) -> Section {
        let mut section = self.lasting.section(scope).unwrap_or_default();
        if let Some(session) = self.session.section(scope) {
            section.add_session(session);
        }
        section
    }

    /// Live entries of a scope that bear a title, in both.
    pub fn find(&self, scope: &Scope, title: &str) -> Vec<(Tier, EntryId, Memory)> {
        let mut found = self.find_all(scope, title);
        found.retain(|(_, _, memory)| memory.is_live());
        found
    }

    /// All entries of a scope that bear a title, in both, superseded ones too. Where there are none,
    /// stray brackets around the title are forgiven.
    pub fn find_all(&self, scope: &Scope, title: &str) -> Vec<(Tier, EntryId, Memory)> {
        let found = self.find_exactly(scope, title);
        if found.is_empty() { self.find_exactly(scope, without_brackets(title)) } else { found }
    }

    fn find_exactly(&self, scope: &Scope, title: &str) -> Vec<(Tier, EntryId, Memory)> {
        let lasting = self.lasting.find_all(scope, title).into_iter();
        let session = self.session.find_all(scope, title).into_iter();
        let ephemeral = |memory| Memory { persistence: Persistence::Ephemeral, ..memory };
        lasting
            .map(|(id, memory)| (Tier::Lasting, id, memory))
            .chain(session.map(|(id, memory)| (Tier::Session, id, ephemeral(memory))))
            .collect()
    }
}
