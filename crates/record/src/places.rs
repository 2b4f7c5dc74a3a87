//! Resolves the places that a turn names.
//!
//! An id is used as it is. A name alone is accepted if exactly one section has it. A place keeps its
//! first name.

use std::collections::BTreeSet;

use crate::turn::{Turn, TurnLocation};
use memories_document::grammar::is_same_name;
use memories_document::problem::Kind;
pub use memories_document::run::Place;
use memories_document::types::hint::{Advice, Hint, Remedy};
use memories_document::types::{Scope, ScopeName, did_you_mean, fold_title};
use memories_document::{Document, DocumentError, nearest};
use memories_notebook::rewind::RewindError;
use memories_store::StoreError;

impl Turn {
    /// The place where it began; without a place before the action, the one after it.
    pub(crate) fn begins_at(&self) -> Option<&TurnLocation> {
        self.location_before.as_ref().or(self.location_after.as_ref())
    }
}

impl TurnLocation {
    /// The place as it is named; without an id it has 0.
    pub(crate) fn place(&self) -> Place {
        Place { id: self.id.unwrap_or_default(), name: self.name.clone().unwrap_or_default() }
    }
}

/// Why a turn is not recorded. Nothing is changed then.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the edit.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The turns after it cannot be set aside.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// The turn names no place.
    #[error("the turn names no place")]
    NoPlace,
    /// No section has the name.
    #[error("no place is called `{name}`, and the turn gives no id")]
    UnknownPlace {
        /// The name.
        name: String,
        /// The most similar names.
        nearest: Vec<String>,
    },
    /// Several sections have the name.
    #[error("{} places are called `{name}`, and the turn gives no id", candidates.len())]
    AmbiguousPlace {
        /// The name.
        name: String,
        /// Their ids.
        candidates: Vec<u64>,
    },
}

impl Hint for RecordError {
    fn advice(&self) -> Advice {
        match self {
            RecordError::Store(error) => error.advice(),
            RecordError::Document(error) => error.advice(),
            RecordError::Rewind(error) => error.advice(),
            RecordError::NoPlace => Advice::fix("say where it happened: `location`, such as 64"),
            RecordError::UnknownPlace { name, nearest } => {
                let new =
                    format!("give the engine's id, or for a new place one of your own: `{}`", own_id(name));
                let hints = did_you_mean(nearest).into_iter().chain([new]).collect();
                Advice { remedy: Remedy::Fix, hints }
            }
            RecordError::AmbiguousPlace { candidates, .. } => {
                let ids: Vec<String> = candidates.iter().map(u64::to_string).collect();
                Advice::fix(format!("give the id, one of {}", ids.join(", ")))
            }
        }
    }
}

/// An id of the caller's for a new place of that name: `location:town-square`, which also is the example where the name
/// has other letters than an id.
pub fn own_id(name: &str) -> String {
    let folded = fold_title(name);
    let words: Vec<&str> =
        folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match format!("location:{}", words.join("-")).parse() {
        Ok(ScopeName::Place(id)) => format!("location:{id}"),
        _ => "location:town-square".to_owned(),
    }
}

/// The places before and after the action; the same place where the turn names one only.
///
/// # Errors
///
/// See [`RecordError`].
pub(crate) fn resolve(
    document: &Document,
    turn: &Turn,
    new_place: bool,
) -> Result<(Place, Place), RecordError> {
    let before = turn.begins_at().ok_or(RecordError::NoPlace)?;
    let before = resolve_spot(document, before, new_place, None)?;
    let after = match &turn.location_after {
        Some(after) => resolve_spot(document, after, new_place, Some(&before))?,
        None => before.clone(),
    };
    Ok((before, after))
}

/// `other` is a place of the turn that may not have a section yet.
fn resolve_spot(
    document: &Document,
    spot: &TurnLocation,
    new_place: bool,
    other: Option<&Place>,
) -> Result<Place, RecordError> {
    let given = spot.name.as_deref().map(str::trim).unwrap_or_default();
    let place = |id: u64| {
        let known = document.headings().find(|heading| heading.scope == Scope::Location(id));
        Place { id, name: known.map_or(given, |heading| heading.name.as_str()).to_owned() }
    };
    if let Some(id) = spot.id {
        return Ok(place(id));
    }
    let location = |scope: &Scope| match scope {
        Scope::Location(id) => Some(*id),
        _ => None,
    };
    let bearing = document.headings().filter(|heading| heading.is_called(given));
    let mut candidates: Vec<u64> = bearing.filter_map(|heading| location(&heading.scope)).collect();
    candidates.sort_unstable();
    candidates.dedup();
    match candidates.as_slice() {
        [id] => Ok(place(*id)),
        [] if new_place || spot.is_own_id => match other.filter(|other| is_same_name(&other.name, given)) {
            Some(other) => Ok(other.clone()),
            None => {
                let other = other.map(Place::scope);
                let known = document.headings().map(|heading| &heading.scope);
                Ok(place(Scope::next_location_id(known.chain(&other))))
            }
        },
        [] => Err(RecordError::UnknownPlace { name: given.to_owned(), nearest: similar(document, given) }),
        _ => Err(RecordError::AmbiguousPlace { name: given.to_owned(), candidates }),
    }
}

/// The names of places that are most similar to one.
pub(super) fn similar(document: &Document, name: &str) -> Vec<String> {
    nearest(name, document.headings().map(|heading| heading.name.as_str()), 3)
}

/// A warning for each place that the turn names otherwise than its heading, which stays.
pub(crate) fn name_warnings(document: &Document, turn: &Turn, before: &Place, after: &Place) -> Vec<String> {
    let spots = [(turn.location_before.as_ref(), before), (turn.location_after.as_ref(), after)];
    let mut warnings: Vec<String> = Vec::new();
    for (spot, place) in spots {
        let given = spot.and_then(|spot| spot.name.as_deref()).map(str::trim).unwrap_or_default();
        let heading = document.headings().find(|heading| heading.scope == place.scope());
        let other = heading.is_some_and(|heading| !given.is_empty() && !heading.is_called(given));
        if other {
            let scope = place.scope();
            let warning = match place.name.as_str() {
                "" => format!("{scope} has no name in the file; the turn says `{given}`"),
                name => format!("{scope} is called `{name}` in the file; the turn says `{given}`"),
            };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// A warning for each place of the turn that is not on the game's map.
pub(crate) fn map_warnings(map: &BTreeSet<u64>, before: &Place, after: &Place) -> Vec<String> {
    let mut ids = vec![before.id, after.id];
    ids.dedup();
    ids.retain(|id| !map.contains(id));
    ids.into_iter().map(|id| Kind::NotOnMap(id).to_string()).collect()
}

/// Names a place that had no name so far.
pub(crate) fn name_the_nameless(document: &mut Document, turn: &Turn) {
    for spot in [turn.location_before.as_ref(), turn.location_after.as_ref()].into_iter().flatten() {
        let (Some(id), Some(name)) = (spot.id, spot.name.as_deref().map(str::trim)) else { continue };
        let scope = Scope::Location(id);
        let nameless = document.headings().any(|heading| heading.scope == scope && heading.name.is_empty());
        if nameless && !name.is_empty() {
            document.rename(&scope, name);
        }
    }
}

/// Counts an arrival as a visit, and so the first turn of an episode at a place.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn count_visits(
    document: &mut Document,
    before: &Place,
    after: &Place,
    episode: u64,
    turn: u64,
) -> Result<(), DocumentError> {
    let section = document.section_without_memories(&before.scope()).unwrap_or_default();
    if !section.episodes.contains(&episode) {
        document.visit(&before.scope(), &before.name, episode, Some(turn))?;
    }
    if after.id != before.id {
        document.visit(&after.scope(), &after.name, episode, Some(turn))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn turn(location: &str) -> Turn {
        Turn::new("look", "A room.", Some(TurnLocation::of_text(location, None)))
    }

    proptest! {
        /// Each id of the caller's makes a place of its own and finds it again in the written file, beside numbers.
        #[test]
        fn ids_of_the_caller_lead_to_the_same_place_each_time(
            ids in prop::collection::vec("[a-z][a-z0-9_-]{0,12}|[0-9]{1,3}", 1..12),
        ) {
            let mut document = Document::parse("## Location 40: Attic\n\n---\n".to_owned());
            let mut known: BTreeMap<String, u64> = BTreeMap::new();
            for (at, id) in ids.iter().chain(&ids).enumerate() {
                let (place, _) = resolve(&document, &turn(&format!("location:{id}")), false).unwrap();
                count_visits(&mut document, &place, &place, at as u64, 1).unwrap();
                document = Document::parse(document.into_text().unwrap());
                let folded = id.replace('_', "-");
                prop_assert_eq!(*known.entry(folded).or_insert(place.id), place.id, "{}", id);
                if let Ok(number) = id.parse::<u64>() {
                    prop_assert_eq!(place.id, number);
                }
            }
        }
    }

    #[test]
    fn only_an_id_of_the_caller_makes_a_place_unasked() {
        let document = Document::parse("## Location 4: Maze\n\n## Location 5: Maze\n".to_owned());
        let resolved = |location: &str| resolve(&document, &turn(location), false);
        assert!(matches!(resolved("town-square"), Err(RecordError::UnknownPlace { .. })));
        assert!(matches!(resolved("location:maze"), Err(RecordError::AmbiguousPlace { .. })));
        let (place, _) = resolved("location:town-square").unwrap();
        assert_eq!((place.id, place.name.as_str()), (6, "town-square"));
        // Two new places of one turn are two.
        let mut move_ = turn("location:old-mill");
        move_.location_after = Some(TurnLocation::of_text("location:harbour", Some("Harbour")));
        let (before, after) = resolve(&document, &move_, false).unwrap();
        assert_eq!((before.id, after.id, after.name.as_str()), (6, 7, "Harbour"));
    }
}
