//! The names of places as outputs print them: with the id, `Maze (id 37)`, where several places share a name.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use memchr::memchr2;

use crate::grammar::Heading;
use crate::types::{Scope, fold_title, labelled_id};

/// The names that several places of a file share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceNames {
    shared: HashSet<String, FixedState>,
}

impl PlaceNames {
    /// Reads the headings of all sections.
    pub fn of<'a>(headings: impl Iterator<Item = &'a Heading>) -> PlaceNames {
        PlaceNames::of_parts(headings.map(|heading| (heading.scope.clone(), heading.name.as_str())))
    }

    /// As [`PlaceNames::of`], from scopes and names.
    pub fn of_parts<'a>(headings: impl Iterator<Item = (Scope, &'a str)>) -> PlaceNames {
        let mut ids: HashMap<String, u64, FixedState> = HashMap::default();
        let mut shared = HashSet::default();
        for (scope, name) in headings {
            let Scope::Location(id) = scope else { continue };
            let name = folded(name);
            match ids.get(&name) {
                Some(other) if *other != id => drop(shared.insert(name)),
                Some(_) => {}
                None => drop(ids.insert(name, id)),
            }
        }
        PlaceNames { shared }
    }

    /// The name of a section, with the id where other places have the same name; the scope where it has no
    /// name.
    pub fn label(&self, scope: &Scope, name: &str) -> String {
        if name.is_empty() {
            return scope.to_string();
        }
        match scope {
            // A name that ends like a label is not taken for that of another place.
            Scope::Location(id) if self.shared.contains(&folded(name)) || labelled_id(name).is_some() => {
                format!("{name} (id {id})")
            }
            _ => name.to_owned(),
        }
    }
}

/// The form in which names are compared: `town-square` is `Town Square`.
fn folded(name: &str) -> String {
    let name = fold_title(name);
    match memchr2(b'-', b'_', name.as_bytes()) {
        Some(_) => name.replace(['-', '_'], " "),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_places_share_bear_ids() {
        let headings = [
            (Scope::Location(1), "Hall"),
            (Scope::Location(2), "Maze"),
            (Scope::Location(3), "maze "),
            (Scope::Location(1), "Hall"),
            (Scope::Npc("hall".to_owned()), "Hall"),
            (Scope::Location(4), ""),
            (Scope::Location(5), ""),
            (Scope::Location(6), "town-square"),
            (Scope::Location(7), "Town Square"),
            (Scope::Location(8), "Maze (id 2)"),
        ];
        let names = PlaceNames::of_parts(headings.iter().map(|(scope, name)| (scope.clone(), *name)));
        let labels = headings.iter().map(|(scope, name)| names.label(scope, name)).collect::<Vec<_>>();
        assert_eq!(
            labels,
            [
                "Hall",
                "Maze (id 2)",
                "maze  (id 3)",
                "Hall",
                "Hall",
                "location:4",
                "location:5",
                "town-square (id 6)",
                "Town Square (id 7)",
                "Maze (id 2) (id 8)",
            ]
        );
    }
}
