//! The numbers of entries and places of a memory file, for a server that is asked for them again and again.

use std::collections::BTreeSet;

use memories_document::types::{Scope, Status};

/// The numbers of entries, and the places and agents of the memory file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Places of the memory file.
    pub places: usize,
    /// Ids of agents with a section in the memory file.
    pub agents: BTreeSet<String>,
    /// Entries that are lasting and live.
    pub live: usize,
    /// The tentative among these.
    pub tentative: usize,
    /// Entries that are lasting and superseded.
    pub superseded: usize,
    /// Entries of the session.
    pub ephemeral: usize,
}

impl Summary {
    /// Counts the sections of the memory file by their scopes, and all entries by status; those of the session are not
    /// `lasting`.
    pub(super) fn of<'a>(
        sections: impl Iterator<Item = &'a Scope>,
        entries: impl Iterator<Item = (Status, bool)>,
    ) -> Summary {
        let mut summary = Summary::default();
        let mut places = BTreeSet::new();
        for scope in sections {
            match scope {
                Scope::Location(id) => drop(places.insert(*id)),
                Scope::Agent(id) => drop(summary.agents.insert(id.clone())),
                _ => {}
            }
        }
        summary.places = places.len();
        for (status, lasting) in entries {
            match (lasting, status) {
                (false, _) => summary.ephemeral += 1,
                (true, Status::Superseded) => summary.superseded += 1,
                (true, _) => {
                    summary.live += 1;
                    summary.tentative += usize::from(status == Status::Tentative);
                }
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_by_status_and_sections_by_scope() {
        let ada = Scope::Agent("ada".to_owned());
        let place = Scope::Location(1);
        let sections = [&place, &place, &ada, &Scope::World];
        let entries = [
            (Status::Active, true),
            (Status::Superseded, true),
            (Status::Tentative, true),
            (Status::Active, false),
        ];
        let summary = Summary::of(sections.into_iter(), entries.into_iter());
        let agents = ["ada".to_owned()].into();
        let counted = Summary { places: 1, agents, live: 2, tentative: 1, superseded: 1, ephemeral: 1 };
        assert_eq!(summary, counted);
    }
}
