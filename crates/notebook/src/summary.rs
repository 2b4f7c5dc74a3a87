//! The numbers of entries and places of a memory file, for a server that is asked for them again and again.

use std::collections::{BTreeMap, HashSet};

use memories_document::types::{Scope, Status, Viewer};

/// Numbers of entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryCounts {
    /// Lasting and live.
    pub live: usize,
    /// The tentative among these.
    pub tentative: usize,
    /// Lasting and superseded.
    pub superseded: usize,
    /// Entries of the session.
    pub ephemeral: usize,
}

/// The numbers of entries in sections. Each agent has numbers of its own, because a viewer that may not see its
/// sections must not learn the numbers either.
#[derive(Debug, Default)]
pub struct Summary {
    /// Places of the memory file.
    pub places: usize,
    shared: EntryCounts,
    /// The numbers of each agent, and whether it has a section in the memory file.
    agents: BTreeMap<String, (EntryCounts, bool)>,
}

impl Summary {
    /// Counts the sections of the memory file by their scopes, and all entries by scope and status; those of the
    /// session are not `lasting`.
    pub(super) fn of<'a>(
        sections: impl Iterator<Item = &'a Scope>,
        entries: impl Iterator<Item = (&'a Scope, Status, bool)>,
    ) -> Summary {
        let mut summary = Summary::default();
        let mut places = HashSet::new();
        for scope in sections {
            match scope {
                Scope::Location(id) => drop(places.insert(*id)),
                Scope::Agent(id) => summary.agents.entry(id.clone()).or_default().1 = true,
                _ => {}
            }
        }
        summary.places = places.len();
        for (scope, status, lasting) in entries {
            let counts = match scope {
                Scope::Agent(id) => match summary.agents.get_mut(id) {
                    Some((counts, _)) => counts,
                    None => &mut summary.agents.entry(id.clone()).or_default().0,
                },
                _ => &mut summary.shared,
            };
            match (lasting, status) {
                (false, _) => counts.ephemeral += 1,
                (true, Status::Superseded) => counts.superseded += 1,
                (true, _) => {
                    counts.live += 1;
                    counts.tentative += usize::from(status == Status::Tentative);
                }
            }
        }
        summary
    }

    /// The numbers of entries that a reader may see.
    pub fn counts(&self, viewer: &Viewer) -> EntryCounts {
        let seen = self.agents.iter().filter(|(id, _)| viewer.sees(&Scope::Agent((*id).clone())));
        seen.fold(self.shared, |sum, (_, (counts, _))| EntryCounts {
            live: sum.live + counts.live,
            tentative: sum.tentative + counts.tentative,
            superseded: sum.superseded + counts.superseded,
            ephemeral: sum.ephemeral + counts.ephemeral,
        })
    }

    /// The ids of agents with a section in the memory file that a reader may see.
    pub fn agents(&self, viewer: &Viewer) -> Vec<&str> {
        let listed = self.agents.iter().filter(|(_, (_, is_listed))| *is_listed);
        let seen = listed.filter(|(id, _)| viewer.sees(&Scope::Agent((*id).clone())));
        seen.map(|(id, _)| id.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_counts_its_own_section_and_those_of_nobody_else() {
        let [ada, bo] = ["ada", "bo"].map(|id| Scope::Agent(id.to_owned()));
        let place = Scope::Location(1);
        let sections = [&place, &place, &ada, &Scope::World];
        let entries = [
            (&place, Status::Active, true),
            (&place, Status::Superseded, true),
            (&ada, Status::Tentative, true),
            (&bo, Status::Active, false),
        ];
        let summary = Summary::of(sections.into_iter(), entries.into_iter());
        let counts = |viewer: Option<&str>| {
            let viewer = Viewer::of(viewer);
            let EntryCounts { live, tentative, superseded, ephemeral } = summary.counts(&viewer);
            (live, tentative, superseded, ephemeral, summary.agents(&viewer).join(" "))
        };
        assert_eq!(counts(None), (2, 1, 1, 1, "ada".to_owned()));
        assert_eq!(counts(Some("bo")), (1, 0, 1, 1, String::new()));
        assert_eq!(counts(Some("ada")), (2, 1, 1, 0, "ada".to_owned()));
        assert_eq!(summary.places, 1);
    }
}
