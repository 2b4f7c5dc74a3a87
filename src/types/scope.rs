//! Scopes: the sections of a memory file, and the ways to name one on the command line and in JSON.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::types::hint::{Advice, Hint};

/// The subject of a memory: the key of a section of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}

impl Scope {
    /// The scopes that have no id.
    pub(crate) const KEYWORDS: [&str; 4] = ["world", "scene", "dialogue", "game"];

    /// Sort key of the sections of a file: locations first, the game last.
    pub(crate) fn order(&self) -> u8 {
        match self {
            Scope::Location(_) => 0,
            Scope::Npc(_) => 1,
            Scope::World => 2,
            Scope::Agent(_) => 3,
            Scope::Scene => 4,
            Scope::Dialogue => 5,
            Scope::Game => 6,
        }
    }

    /// The scope as reports name it: `Living Room (location:23)`, or `location:23` without a name.
    pub(crate) fn label(&self, name: &str) -> String {
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
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A scope as a caller names it: the scope itself or the name of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeName {
    /// The scope itself.
    Scope(Scope),
    /// Name of a place, to be looked up among the headings.
    Name(String),
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The text is blank.
    #[error("the scope is empty")]
    Empty,
    /// The id is signed, fractional or larger than 64 bits.
    #[error("`{0}` is not a location id: ids are whole numbers from 0 up")]
    LocationId(String),
    /// A character's id is not `[a-z0-9_-]+`.
    #[error("`{0}` is not an id: use lower-case letters, digits, `_` and `-`")]
    Id(String),
}

impl Hint for ScopeError {
    fn advice(&self) -> Advice {
        Advice::command_line(
            "a scope is an id such as `23`, `npc:troll`, `world`, `agent:alex`, `scene`, `dialogue`, `game`, or a place's name",
        )
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
                "location" => return parse_location_id(rest).map(ScopeName::Scope),
                "npc" => return parse_id(rest).map(|id| ScopeName::Scope(Scope::Npc(id))),
                "agent" => return parse_id(rest).map(|id| ScopeName::Scope(Scope::Agent(id))),
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
pub(crate) fn labelled_id(label: &str) -> Option<u64> {
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

fn parse_id(text: &str) -> Result<String, ScopeError> {
    if is_id(text) { Ok(text.to_owned()) } else { Err(ScopeError::Id(text.to_owned())) }
}

/// True for a valid id of a character or agent: `[a-z0-9_-]+`.
pub(crate) fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}
