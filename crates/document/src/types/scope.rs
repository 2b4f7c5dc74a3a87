//! Scopes: the sections of a memory file, and the ways to name one on the command line and in JSON.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::types::action::{fold_action, fold_words};
use crate::types::folder::{FolderError, FolderPath};
use crate::types::hint::{Advice, Hint};

/// The subject of a memory: the key of a section of the file. The kinds are in the order of their sections in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr, strum::EnumDiscriminants)]
#[strum(serialize_all = "lowercase")]
#[strum_discriminants(name(ScopeKind), vis(pub(crate)), derive(PartialOrd, Ord))]
pub enum Scope {
    /// A place, by the game engine's integer id.
    Location(u64),
    /// A character that is not an agent.
    Npc(String),
    /// Events of the whole story.
    World,
    /// An agent: its identity and what it knows of others.
    Agent(String),
    /// The present scene, shared by all agents.
    Scene,
    /// Spoken lines, turn by turn.
    Dialogue,
    /// The game as a whole: facts that hold at every place.
    Game,
    /// A folder of a repository: what was learned at work on it.
    Folder(FolderPath),
    /// A subject of work that is no folder, such as `release`.
    Topic(String),
}

impl Scope {
    /// The scopes that have no id.
    pub const KEYWORDS: [&str; 4] = ["world", "scene", "dialogue", "game"];

    /// The form in which actions of this scope are compared. The game's parser may know one spelling of a direction and
    /// not the other, and one verb and not its synonym.
    pub fn key_of_action(&self, action: &str) -> String {
        if *self == Scope::Game { fold_words(action) } else { fold_action(action) }
    }

    /// The id that the next new place gets: one more than the highest of these scopes.
    pub fn next_location_id<'a>(scopes: impl Iterator<Item = &'a Scope>) -> u64 {
        let ids = scopes.filter_map(|scope| match scope {
            Scope::Location(id) => Some(*id),
            _ => None,
        });
        ids.max().map_or(1, |id| id.saturating_add(1))
    }

    /// The scope as reports name it: `Living Room (location:23)`, or `location:23` without a name.
    pub fn label(&self, name: &str) -> String {
        if name.is_empty() { self.to_string() } else { format!("{name} ({self})") }
    }
}

impl fmt::Display for Scope {
    /// The form of the command line, with its prefix: `location:15`, `npc:troll`, `world`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Location(id) => write!(f, "location:{id}"),
            Scope::Npc(id) => write!(f, "npc:{id}"),
            Scope::World => f.write_str("world"),
            Scope::Agent(id) => write!(f, "agent:{id}"),
            Scope::Scene => f.write_str("scene"),
            Scope::Dialogue => f.write_str("dialogue"),
            Scope::Game => f.write_str("game"),
            Scope::Folder(path) => write!(f, "dir:{path}"),
            Scope::Topic(id) => write!(f, "topic:{id}"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A scope as a caller names it: the scope itself, or a place by name or by an id of the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeName {
    /// The scope itself.
    Scope(Scope),
    /// A place by an id of the caller's, `location:town-square`: the place of that name, else one that is still to come.
    Place(String),
    /// Name of a place, to be looked up among the headings.
    Name(String),
}

impl ScopeName {
    /// The scope itself, if that is what is named.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            ScopeName::Scope(scope) => Some(scope),
            ScopeName::Place(_) | ScopeName::Name(_) => None,
        }
    }

    /// Reads an id that must be one of an existing place: the id is its name.
    pub fn existing(self) -> ScopeName {
        match self {
            ScopeName::Place(id) => ScopeName::Name(id),
            other => other,
        }
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The text is blank.
    #[error("the scope is empty")]
    Empty,
    /// The id is signed, fractional or larger than 64 bits, and no id in letters either.
    #[error(
        "`{0}` is not a location id: ids are whole numbers from 0 up, or up to 64 lower-case letters, digits, `_` and `-`"
    )]
    LocationId(String),
    /// An id is not `[a-z0-9_-]+`.
    #[error("`{0}` is not an id: use lower-case letters, digits, `_` and `-`")]
    Id(String),
    /// The text behind `dir:` is no path from the root of a repository.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// How the folder of a scope is written.
pub(crate) const FOLDER_HINT: &str =
    "name a folder from the root of the repository, such as `dir:src/search`; `dir:/` is the root";

impl Hint for ScopeError {
    fn advice(&self) -> Advice {
        Advice::command_line(match self {
            ScopeError::Folder(_) => FOLDER_HINT,
            ScopeError::Empty | ScopeError::LocationId(_) | ScopeError::Id(_) => {
                "a scope is an id such as `23`, `location:town-square`, `npc:troll`, `world`, `agent:alex`, `scene`, `dialogue`, `game`, `dir:src/search`, `topic:release`, or a place's name"
            }
        })
    }
}

impl FromStr for ScopeName {
    type Err = ScopeError;

    /// A prefix takes precedence over a bare keyword, and that over a name.
    fn from_str(text: &str) -> Result<ScopeName, ScopeError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ScopeError::Empty);
        }
        if let Some((prefix, rest)) = text.split_once(':') {
            let rest = rest.trim();
            match prefix.trim().to_ascii_lowercase().as_str() {
                "location" if is_place_id(rest) => return Ok(ScopeName::Place(rest.to_owned())),
                "location" => return parse_location_id(rest).map(ScopeName::Scope),
                "npc" => return parse_id(rest).map(|id| ScopeName::Scope(Scope::Npc(id))),
                "agent" => return parse_id(rest).map(|id| ScopeName::Scope(Scope::Agent(id))),
                "topic" => return parse_id(rest).map(|id| ScopeName::Scope(Scope::Topic(id))),
                "dir" => return Ok(ScopeName::Scope(Scope::Folder(FolderPath::parse(rest)?))),
                _ => {}
            }
        }
        match text.to_ascii_lowercase().as_str() {
            "world" => return Ok(ScopeName::Scope(Scope::World)),
            "scene" => return Ok(ScopeName::Scope(Scope::Scene)),
            "dialogue" => return Ok(ScopeName::Scope(Scope::Dialogue)),
            "game" => return Ok(ScopeName::Scope(Scope::Game)),
            _ => {}
        }
        if let Some(id) = labelled_id(text) {
            return Ok(ScopeName::Scope(Scope::Location(id)));
        }
        let numeric = text.trim_start_matches(['+', '-']);
        if !numeric.is_empty() && numeric.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return parse_location_id(text).map(ScopeName::Scope);
        }
        Ok(ScopeName::Name(text.to_owned()))
    }
}

/// The id in a name that is printed as `Maze (id 37)`.
pub fn labelled_id(label: &str) -> Option<u64> {
    let (_, id) = label.strip_suffix(')')?.rsplit_once(" (id ")?;
    id.bytes().all(|b| b.is_ascii_digit()).then(|| id.parse().ok())?
}

fn parse_location_id(text: &str) -> Result<Scope, ScopeError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(id) if digits => Ok(Scope::Location(id)),
        _ => Err(ScopeError::LocationId(text.to_owned())),
    }
}

/// Length of the longest id of a place in letters.
const MAX_PLACE_ID: usize = 64;

/// True for an id of a place in letters: an id with a letter, so that it is no number.
fn is_place_id(text: &str) -> bool {
    is_id(text) && text.len() <= MAX_PLACE_ID && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn parse_id(text: &str) -> Result<String, ScopeError> {
    if is_id(text) { Ok(text.to_owned()) } else { Err(ScopeError::Id(text.to_owned())) }
}

/// True for a valid id of a character or agent: `[a-z0-9_-]+`.
pub fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A text behind `location:` is a number, an id of the caller's, or refused; never another scope or a name.
        #[test]
        fn an_id_of_a_place_is_a_number_or_has_a_letter(id in "[a-z0-9_-]{1,66}|[A-Za-z0-9 ._-]{0,8}|[0-9]{1,21}") {
            let read = format!(" Location: {id} ").parse::<ScopeName>();
            let id = id.trim();
            let is_own = is_id(id) && id.len() <= 64 && id.contains(|c: char| c.is_ascii_lowercase());
            match id.parse::<u64>() {
                Ok(number) if id.bytes().all(|byte| byte.is_ascii_digit()) => {
                    prop_assert_eq!(read, Ok(ScopeName::Scope(Scope::Location(number))));
                }
                _ if is_own => prop_assert_eq!(read, Ok(ScopeName::Place(id.to_owned()))),
                _ => prop_assert_eq!(read, Err(ScopeError::LocationId(id.to_owned()))),
            }
        }
    }
}
