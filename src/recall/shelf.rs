//! Sections for processes that recall often: the file is read once, and again when it has changed.
//!
//! Questions enter and answers leave, the same ones that [`super::recall`] and [`super::read_scopes`] give:
//! each time it is looked whether the file is still the one that was read, for a person may have edited it.

use crate::document::grammar::Heading;
use crate::document::{Document, Section};
use crate::recall::{Format, Limits, RecallError, View, one_called, recall_from};
use crate::store::{Reading, Store};
use crate::types::{Scope, ScopeName};

/// A store with its sections at hand.
pub struct Shelf {
    store: Store,
    kept: Option<Kept>,
}

struct Kept {
    reading: Reading,
    lasting: Document,
    session: Document,
}

impl Shelf {
    /// Reads nothing yet.
    pub fn new(store: Store) -> Shelf {
        Shelf { store, kept: None }
    }

    /// What is shown of scopes, in the order asked for, all within the limits.
    ///
    /// # Errors
    ///
    /// See [`RecallError`].
    pub fn recall(
        &mut self,
        names: &[ScopeName],
        limits: &Limits,
        format: Format,
    ) -> Result<Vec<View>, RecallError> {
        recall_from(&mut |names| self.read_scopes(names), names, limits, format, usize::MAX)
    }

    /// What the file says of scopes, in the order asked for; a scope without a section is empty.
    ///
    /// # Errors
    ///
    /// See [`RecallError`].
    pub fn read_scopes(&mut self, names: &[ScopeName]) -> Result<Vec<(Scope, Section)>, RecallError> {
        let kept = self.open()?;
        let mut sections: Vec<(Scope, Section)> = Vec::with_capacity(names.len());
        for name in names {
            let scope = match name {
                ScopeName::Scope(scope) => scope.clone(),
                ScopeName::Name(name) => one_called(name, kept.lasting.headings())?,
            };
            if sections.iter().all(|(other, _)| *other != scope) {
                let mut section = kept.lasting.section(&scope).unwrap_or_default();
                if let Some(ephemeral) = kept.session.section(&scope) {
                    section.add_session(ephemeral);
                }
                sections.push((scope, section));
            }
        }
        Ok(sections)
    }

    /// Scopes and names of all sections, in the order of the file.
    ///
    /// # Errors
    ///
    /// See [`RecallError`].
    pub fn headings(&mut self) -> Result<Vec<Heading>, RecallError> {
        Ok(self.open()?.lasting.headings().cloned().collect())
    }

    /// The file as it is now.
    fn open(&mut self) -> Result<&Kept, RecallError> {
        let kept = match self.kept.take() {
            Some(kept) if kept.reading.is_current()? => kept,
            _ => {
                let mut reading = self.store.reading()?;
                let lasting = Document::parse(std::mem::take(&mut reading.file));
                let session = Document::parse(std::mem::take(&mut reading.session));
                Kept { reading, lasting, session }
            }
        };
        Ok(self.kept.insert(kept))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::recall::{read_scopes, recall};
    use crate::store::Change;

    #[test]
    fn it_says_what_recall_says_also_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        let mut shelf = Shelf::new(store.clone());
        let names: Vec<ScopeName> =
            ["1", "world", "7", "maze", "hall"].map(|name| name.parse().unwrap()).into();
        for text in [
            "",
            "## Location 1: Hall\n**Visits:** 2\n\n**[NOTE] a**\nx\nSee also: [[World › b]]\n\n## World\n\n**[EVENT] b**\ny\n",
            "## Location 1: Hall\n\n**[NOTE] c**\nz\n\n## Location 2: Maze\n\n## Location 3: Maze\n\n## Location 1: Hall\n**[NOTE] d**\n",
        ] {
            let update = store.update(|_, _| Ok::<_, RecallError>(Change::to(text.to_owned(), ())));
            let _ = update.unwrap();
            for _ in 0..2 {
                for names in names.iter().map(std::slice::from_ref).chain([&names[..3]]) {
                    let told =
                        |result: Result<Vec<_>, RecallError>| result.map_err(|error| format!("{error:?}"));
                    assert_eq!(told(shelf.read_scopes(names)), told(read_scopes(&store, names)), "{names:?}");
                    let views =
                        |result: Result<Vec<View>, RecallError>| result.map_err(|error| error.to_string());
                    let limits = Limits::default();
                    let own = shelf.recall(names, &limits, Format::Text);
                    assert_eq!(views(own), views(recall(&store, names, &limits, Format::Text)), "{names:?}");
                }
            }
        }
        assert_eq!(shelf.headings().unwrap().len(), 4);
    }
}
