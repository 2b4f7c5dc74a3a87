//! Resolves the sections that a person names: by scope, or by the name of a place.
//!
//! Names enter, and a snapshot of a memory file; the scopes leave, and their sections.

use std::cmp::Reverse;

use crate::error::RecallError;
use memories_document::grammar::Heading;
use memories_document::link::Link;
use memories_document::types::{FolderPath, Memory, Scope, ScopeName};
use memories_document::{PlaceNames, Section, nearest};
use memories_notebook::Snapshot;

/// Limit of suggestions for a name that no place has.
const SUGGESTED: usize = 5;

/// The folders above each folder of some scopes, without these scopes: each once, the deepest first.
pub(super) fn parents_of<'a>(scopes: impl Iterator<Item = &'a Scope> + Clone) -> Vec<Scope> {
    let folders = scopes.filter_map(|scope| match scope {
        Scope::Folder(path) => Some(path),
        _ => None,
    });
    let mut above: Vec<FolderPath> = Vec::new();
    for parent in folders.clone().flat_map(FolderPath::parents) {
        if !above.contains(&parent) && !folders.clone().any(|asked| *asked == parent) {
            above.push(parent);
        }
    }
    above.sort_by_key(|path| Reverse(path.depth()));
    above.into_iter().map(Scope::Folder).collect()
}

/// The scopes that are named, in the order asked for and each once.
///
/// # Errors
///
/// [`RecallError::UnknownName`] or [`RecallError::AmbiguousName`].
pub fn scopes(snapshot: &Snapshot, names: &[ScopeName]) -> Result<Vec<Scope>, RecallError> {
    Ok(resolve(snapshot, names)?.into_iter().map(|meant| meant.scope).collect())
}

/// As [`scopes`], with their sections. A scope without a section is empty; a place without one has the name that the
/// caller gave.
///
/// # Errors
///
/// See [`scopes`].
pub fn owned_sections(
    snapshot: &Snapshot,
    names: &[ScopeName],
) -> Result<Vec<(Scope, Section)>, RecallError> {
    Ok(owned(snapshot, resolve(snapshot, names)?))
}

/// The sections of scopes that are meant.
pub(super) fn owned(snapshot: &Snapshot, meant: Vec<Meant>) -> Vec<(Scope, Section)> {
    let owned = |Meant { scope, to_come }: Meant| match to_come {
        Some(name) => (scope, Section { name, ..Section::default() }),
        None => known(snapshot, scope),
    };
    meant.into_iter().map(owned).collect()
}

/// A scope with its section.
pub(super) fn known(snapshot: &Snapshot, scope: Scope) -> (Scope, Section) {
    let section = snapshot.section(&scope).clone();
    (scope, section)
}

/// The folders above each folder that is named, as far as they have live memories, the deepest first.
pub fn parent_sections(snapshot: &Snapshot, names: &[ScopeName]) -> impl Iterator<Item = (Scope, Section)> {
    let parents = parents_of(names.iter().filter_map(ScopeName::scope)).into_iter();
    let sections = parents.map(|scope| known(snapshot, scope));
    sections.filter(|(_, section)| section.live().next().is_some())
}

/// A scope that is meant.
pub(super) struct Meant {
    pub scope: Scope,
    /// The name that it will have, if it is a place that is still to come.
    pub to_come: Option<String>,
}

/// The scopes that are meant, each once. Places that are still to come have the ids that they would get.
///
/// # Errors
///
/// [`RecallError::UnknownName`] or [`RecallError::AmbiguousName`].
pub(super) fn resolve(snapshot: &Snapshot, names: &[ScopeName]) -> Result<Vec<Meant>, RecallError> {
    let headings = snapshot.headings();
    let mut all: Vec<Meant> = Vec::with_capacity(names.len());
    for name in names {
        let known = |scope: Scope| Meant { scope, to_come: None };
        let meant = match name {
            ScopeName::Scope(scope) => known(scope.clone()),
            ScopeName::Name(name) => known(place_called(name, headings.clone())?),
            ScopeName::Place(id) => match place_called(id, headings.clone()) {
                Err(RecallError::UnknownName { .. }) => {
                    let others = headings.clone().map(|heading| &heading.scope);
                    let next = Scope::next_location_id(others.chain(all.iter().map(|meant| &meant.scope)));
                    Meant { scope: Scope::Location(next), to_come: Some(id.clone()) }
                }
                place => known(place?),
            },
        };
        let is_there = |other: &Meant| match &meant.to_come {
            Some(name) => other.to_come.as_ref() == Some(name),
            None => other.scope == meant.scope,
        };
        if !all.iter().any(is_there) {
            all.push(meant);
        }
    }
    Ok(all)
}

/// The one place of that name.
fn place_called<'a>(
    name: &str,
    headings: impl Iterator<Item = &'a Heading> + Clone,
) -> Result<Scope, RecallError> {
    let called = headings.clone().filter(|heading| heading.is_called(name));
    let mut candidates: Vec<Scope> = called.map(|heading| heading.scope.clone()).collect();
    candidates.sort();
    candidates.dedup();
    match candidates.as_slice() {
        [scope] => Ok(scope.clone()),
        [] => {
            let known = headings.clone().map(|heading| heading.name.as_str());
            let similar = nearest(name, known.chain(Scope::KEYWORDS), 3);
            let names = PlaceNames::of(headings.clone());
            let mut nearest: Vec<String> = Vec::new();
            for similar in &similar {
                let called = headings.clone().filter(|heading| heading.name == *similar);
                nearest.extend(called.map(|heading| names.label(&heading.scope, &heading.name)));
                nearest.extend(Scope::KEYWORDS.into_iter().find(|word| word == similar).map(str::to_owned));
            }
            let is_called = |scope: &&Scope| match scope {
                Scope::Folder(path) => path.as_str() == name,
                Scope::Topic(id) => id == name,
                _ => false,
            };
            nearest
                .splice(0..0, headings.map(|heading| &heading.scope).filter(is_called).map(Scope::to_string));
            nearest.dedup();
            nearest.truncate(SUGGESTED);
            Err(RecallError::UnknownName { name: name.to_owned(), nearest })
        }
        _ => Err(RecallError::AmbiguousName { name: name.to_owned(), candidates }),
    }
}

/// The links of a memory.
pub(super) fn links_of(memory: &Memory) -> Vec<Link> {
    memory.see_also.as_deref().map(Link::parse_all).unwrap_or_default()
}
