//! Resolves the places that imported items name to scopes.
//!
//! A place may be an id, a scope, a name, or an object. A name alone must belong to exactly one place.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use memories_document::nearest;
use memories_document::types::{Scope, ScopeName, did_you_mean, fold_title};

/// A place as a source names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceReference {
    /// The scope, with a name for people, which may be empty.
    Scope(Scope, String),
    /// The name of a place.
    Named(String),
    /// None is given.
    Unsaid,
}

impl PlaceReference {
    /// Reads an id, a scope's text form, `Name (ID: 15)`, a bare name, or an object with `id` and `name`.
    ///
    /// # Errors
    ///
    /// A message for any other value.
    pub(crate) fn of_value(value: &Value) -> Result<PlaceReference, String> {
        match value {
            Value::Null => Ok(PlaceReference::Unsaid),
            Value::Number(number) => match number.as_u64() {
                Some(id) => Ok(PlaceReference::Scope(Scope::Location(id), String::new())),
                None => Err(format!("{number} is not a location id: ids are whole numbers from 0 up")),
            },
            Value::String(text) => PlaceReference::of_text(text),
            Value::Object(place) => {
                let id = place.get("id").or_else(|| place.get("num")).unwrap_or(&Value::Null);
                let name = place.get("name").and_then(Value::as_str).unwrap_or_default();
                Ok(PlaceReference::of_value(id)?.called(name))
            }
            other => Err(format!("{other} is not a place: give an id, a scope or a name")),
        }
    }

    fn of_text(text: &str) -> Result<PlaceReference, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(PlaceReference::Unsaid);
        }
        if let Some((name, id)) = text.strip_suffix(')').and_then(|text| text.rsplit_once("(ID:"))
            && let Ok(id) = id.trim().parse()
        {
            return Ok(PlaceReference::Scope(Scope::Location(id), name.trim().to_owned()));
        }
        match text.parse::<ScopeName>() {
            Ok(ScopeName::Scope(scope)) => Ok(PlaceReference::Scope(scope, String::new())),
            Ok(ScopeName::Name(name) | ScopeName::Place(name)) => Ok(PlaceReference::Named(name)),
            Err(problem) => Err(problem.to_string()),
        }
    }

    /// Adds a name if the place has none.
    pub(crate) fn called(self, name: &str) -> PlaceReference {
        let name = name.trim();
        match self {
            PlaceReference::Scope(scope, known) if known.is_empty() => {
                PlaceReference::Scope(scope, name.to_owned())
            }
            PlaceReference::Unsaid if !name.is_empty() => PlaceReference::Named(name.to_owned()),
            other => other,
        }
    }
}

/// An index of places by name.
#[derive(Debug, Default)]
pub(crate) struct PlaceIndex {
    ids: HashMap<String, BTreeSet<u64>>,
    names: Vec<String>,
    highest: Option<u64>,
    /// Make a new place for an unknown name.
    pub new_places: bool,
    /// The scope of items without a place.
    pub fallback: Option<Scope>,
}

impl PlaceIndex {
    /// Adds a section; only locations are indexed.
    pub(crate) fn learn(&mut self, scope: &Scope, name: &str) {
        let Scope::Location(id) = scope else { return };
        self.highest = self.highest.max(Some(*id));
        if !name.trim().is_empty() && self.ids.entry(fold_title(name)).or_default().insert(*id) {
            self.names.push(name.trim().to_owned());
        }
    }

    /// The scope of a place, and its name if the source has one.
    ///
    /// # Errors
    ///
    /// A message if there is no such place, or several of that name.
    pub(crate) fn find(&mut self, place: &PlaceReference) -> Result<(Scope, String), String> {
        let name = match place {
            PlaceReference::Scope(scope, name) => return Ok((scope.clone(), name.clone())),
            PlaceReference::Unsaid => {
                let scope = self.fallback.clone().ok_or("no place is named")?;
                return Ok((scope, String::new()));
            }
            PlaceReference::Named(name) => name,
        };
        let known: Vec<u64> = self.ids.get(&fold_title(name)).into_iter().flatten().copied().collect();
        match known.as_slice() {
            [id] => Ok((Scope::Location(*id), String::new())),
            [] if self.new_places => {
                let id = self.highest.map_or(1, |id| id.saturating_add(1));
                let scope = Scope::Location(id);
                self.learn(&scope, name);
                Ok((scope, name.clone()))
            }
            [] => {
                let near = nearest(name, self.names.iter().map(String::as_str), 1);
                let near = did_you_mean(&near).map(|near| format!("; {near}")).unwrap_or_default();
                Err(format!("no place is called `{name}`{near}"))
            }
            _ => Err(format!("{} places are called `{name}`", known.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_named_in_many_ways() {
        let scope = |id, name: &str| Ok(PlaceReference::Scope(Scope::Location(id), name.to_owned()));
        assert_eq!(PlaceReference::of_value(&json!(15)), scope(15, ""));
        assert_eq!(PlaceReference::of_value(&json!("15")), scope(15, ""));
        assert_eq!(PlaceReference::of_value(&json!("location:15")), scope(15, ""));
        assert_eq!(PlaceReference::of_value(&json!("Maze (east) (ID: 15)")), scope(15, "Maze (east)"));
        assert_eq!(PlaceReference::of_value(&json!({"id": 15, "name": "Maze"})), scope(15, "Maze"));
        assert_eq!(PlaceReference::of_value(&json!("Maze")), Ok(PlaceReference::Named("Maze".to_owned())));
        assert_eq!(PlaceReference::of_value(&json!(" ")), Ok(PlaceReference::Unsaid));
        assert!(
            PlaceReference::of_value(&json!(-1)).is_err() && PlaceReference::of_value(&json!([])).is_err()
        );
    }

    #[test]
    fn a_name_must_belong_to_one_place() {
        let mut places = PlaceIndex::default();
        for (id, name) in [(3, "Maze"), (4, "Maze"), (5, "Attic")] {
            places.learn(&Scope::Location(id), name);
        }
        let named = |name: &str| PlaceReference::Named(name.to_owned());
        assert_eq!(places.find(&named(" attic")), Ok((Scope::Location(5), String::new())));
        assert_eq!(places.find(&named("maze")), Err("2 places are called `maze`".to_owned()));
        let unknown = "no place is called `Attik`; did you mean `Attic`?";
        assert_eq!(places.find(&named("Attik")), Err(unknown.to_owned()));
        places.new_places = true;
        assert_eq!(places.find(&named("Attik")), Ok((Scope::Location(6), "Attik".to_owned())));
        assert_eq!(places.find(&named("attik")), Ok((Scope::Location(6), String::new())));
        assert!(places.find(&PlaceReference::Unsaid).is_err());
        places.fallback = Some(Scope::World);
        assert_eq!(places.find(&PlaceReference::Unsaid), Ok((Scope::World, String::new())));
    }
}
