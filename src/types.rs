//! The plain values that every other part speaks of: scopes, memories, attempts.
//!
//! Nothing here reads or writes anything. Text forms that belong to the file live in
//! [`crate::document`]; the text forms here are those of the command line and of JSON.

pub mod text;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// What a memory is about: the key of a section of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// A place, by the game engine's integer id.
    Location(u64),
    /// A character that others play.
    Npc(String),
    /// Events of the whole story.
    World,
    /// An agent: who it is and what it knows of others.
    Agent(String),
    /// What all agents share of the present scene.
    Scene,
    /// What was said, turn by turn.
    Dialogue,
}

impl Scope {
    /// Where the scope stands among the sections of a file: locations first, dialogue last.
    pub fn order(&self) -> u8 {
        match self {
            Scope::Location(_) => 0,
            Scope::Npc(_) => 1,
            Scope::World => 2,
            Scope::Agent(_) => 3,
            Scope::Scene => 4,
            Scope::Dialogue => 5,
        }
    }
}

impl Scope {
    /// How a place or another scope is called in a report: `Living Room (location:23)`.
    pub fn label(&self, name: &str) -> String {
        if name.is_empty() { self.to_string() } else { format!("{name} ({self})") }
    }
}

impl fmt::Display for Scope {
    /// The form of the command line with its prefix: `location:15`, `npc:troll`, `world`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Location(id) => write!(f, "location:{id}"),
            Scope::Npc(id) => write!(f, "npc:{id}"),
            Scope::World => f.write_str("world"),
            Scope::Agent(id) => write!(f, "agent:{id}"),
            Scope::Scene => f.write_str("scene"),
            Scope::Dialogue => f.write_str("dialogue"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A scope as a person names it: either the scope itself or the name of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeName {
    /// The scope itself.
    Scope(Scope),
    /// A place's name, to be looked up among the headings.
    Name(String),
}

/// Why a text names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Nothing but white space.
    #[error("the scope is empty")]
    Empty,
    /// Signed, fractional or beyond 64 bits.
    #[error("`{0}` is not a location id: ids are whole numbers from 0 up")]
    LocationId(String),
    /// An id of a character outside `[a-z0-9_-]+`.
    #[error("`{0}` is not an id: use lower-case letters, digits, `_` and `-`")]
    Id(String),
}

impl FromStr for ScopeName {
    type Err = ScopeError;

    /// A prefix beats a bare keyword, which beats a name.
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
            _ => {}
        }
        let numeric = text.trim_start_matches(['+', '-']);
        if !numeric.is_empty() && numeric.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return parse_location_id(text).map(ScopeName::Scope);
        }
        Ok(ScopeName::Name(text.to_owned()))
    }
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

/// Whether a text is an id of a character or agent: `[a-z0-9_-]+`.
pub fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}

/// What kind of thing a memory says. An open set, always upper case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Category(String);

impl Category {
    /// The category of that name in upper case, or `None` where the name is empty, longer than 40
    /// bytes, holds anything but letters, digits, `_`, space, `-`, `/`, `&`, `+`, `.` and `'`, or ends
    /// in what an entry's brackets say of persistence and status.
    pub fn new(name: &str) -> Option<Category> {
        let name = name.trim();
        let allowed =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-' | '/' | '&' | '+' | '.' | '\'');
        let name = name.to_uppercase();
        let last_word = name.rsplit_once(" - ").map(|(_, word)| word.trim());
        let reserved = |word: &str| {
            let mut words = Persistence::VARIANTS.iter().chain(Status::VARIANTS);
            words.any(|reserved| word.eq_ignore_ascii_case(reserved))
        };
        let valid = !name.is_empty()
            && name.len() <= 40
            && name.chars().all(allowed)
            && !last_word.is_some_and(reserved);
        valid.then_some(Category(name))
    }

    /// The name, upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Harm or hazard: shown before anything else.
    pub fn is_danger(&self) -> bool {
        self.0 == "DANGER"
    }

    /// A kind that only grows (SESSION, EVENT, DIALOGUE): its titles need not be unique.
    pub fn only_grows(&self) -> bool {
        matches!(self.0.as_str(), "SESSION" | "EVENT" | "DIALOGUE")
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Category {
    type Err = String;

    fn from_str(text: &str) -> Result<Category, String> {
        Category::new(text).ok_or_else(|| format!("`{text}` is not a category: use letters, digits and `_`"))
    }
}

macro_rules! known_categories {
    ($($function:ident $name:literal $what:literal),* $(,)?) => {
        impl Category {
            $(#[doc = $what] pub fn $function() -> Category { Category($name.to_owned()) })*
        }
    };
}

known_categories! {
    success "SUCCESS" "An action reached its goal.",
    failure "FAILURE" "An action was invalid or without success.",
    discovery "DISCOVERY" "Something new was learned.",
    danger "DANGER" "Harm or hazard.",
    note "NOTE" "Strategy or context.",
    dialogue "DIALOGUE" "What somebody said.",
}

/// How long a memory lives.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_persistence)]
pub enum Persistence {
    /// Always shown first, never fades.
    Core,
    /// Stays until a person or a correction says otherwise.
    #[default]
    Permanent,
    /// Ends with the episode; never stands in the memory file itself.
    Ephemeral,
}

/// Whether a memory is believed.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_status)]
pub enum Status {
    /// Believed.
    #[default]
    Active,
    /// Not yet confirmed.
    Tentative,
    /// Replaced or proven wrong; kept, never shown to an agent.
    Superseded,
}

fn unknown_persistence(text: &str) -> String {
    unknown_name(text, "persistence", Persistence::VARIANTS)
}

fn unknown_status(text: &str) -> String {
    unknown_name(text, "status", Status::VARIANTS)
}

/// The error for a text that is none of an enum's names.
pub fn unknown_name(text: &str, what: &str, names: &[&str]) -> String {
    format!("`{text}` is not a {what}: use {}", one_of(names))
}

/// The value whose name is the ending of a file's name: `toml` of `friends.toml`.
pub fn by_file_ending<T: FromStr>(path: &Path) -> Option<T> {
    path.extension()?.to_str()?.parse().ok()
}

/// Names as alternatives: `` `a`, `b` or `c` ``.
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        one_or_none => one_or_none.concat(),
    }
}

/// First and last of a run of turns or messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first.
    pub first: u64,
    /// The last, the first again for a single one.
    pub last: u64,
}

impl Span {
    /// A single turn or message.
    pub fn one(number: u64) -> Span {
        Span { first: number, last: number }
    }
}

/// The importance of a memory that states none, on the scale of 1 to 1000.
pub const DEFAULT_IMPORTANCE: u16 = 500;

/// An importance within its bounds, 1 to 1000.
pub fn clamp_importance(importance: f64) -> u16 {
    // The bounds make the cast exact but for the fraction, which is rounded away.
    importance.round().clamp(1.0, 1000.0) as u16
}

/// Tag of memories that the built-in rules made, so that a model can be asked about them later.
pub const OFFLINE_TAG: &str = "offline";

/// Where a memory comes from and what else its fields say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Provenance {
    /// Episode in which it was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turns from which it was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Span>,
    /// Chat messages from which it was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Span>,
    /// By how much the score changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_change: Option<i64>,
    /// A date (`2026-01-31`) or an RFC 3339 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Importance from 1 to 1000; `None` stands for [`DEFAULT_IMPORTANCE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<u16>,
    /// The score at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// The engine's move counter at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<i64>,
    /// URIs of sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Tags without their `#`: `troll`, `about:jordan`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Fields of unknown shape, as they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<String>,
    /// What the agent was after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

/// Why a memory is superseded: the line under its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// When, as far as known.
    pub at: Moment,
    /// By what, or why.
    pub cause: Cause,
}

/// A moment of a story, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Moment {
    /// Episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Chat message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Date or RFC 3339 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// What ended a memory's validity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A better memory, by its title.
    SupersededBy(String),
    /// It was proven wrong, with the reason.
    Invalidated(String),
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// What kind of thing it says.
    pub category: Category,
    /// How long it lives.
    pub persistence: Persistence,
    /// Whether it is believed.
    pub status: Status,
    /// Its address within the section.
    pub title: String,
    /// What is remembered.
    pub text: String,
    /// Where the text says it comes from: the `Context:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Other memories to look at: the `See also:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see_also: Option<String>,
    /// Fields behind the title.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Why it is superseded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

impl Memory {
    /// A permanent, active memory that says nothing of its origin.
    pub fn new(category: Category, title: impl Into<String>, text: impl Into<String>) -> Memory {
        Memory {
            category,
            persistence: Persistence::Permanent,
            status: Status::Active,
            title: title.into(),
            text: text.into(),
            context: None,
            see_also: None,
            provenance: Provenance::default(),
            reference: None,
        }
    }

    /// Importance from 1 to 1000, the default where none is stated.
    pub fn importance(&self) -> u16 {
        self.provenance.importance.unwrap_or(DEFAULT_IMPORTANCE)
    }

    /// Neither superseded nor invalidated.
    pub fn is_live(&self) -> bool {
        self.status != Status::Superseded
    }
}

/// Whether two titles address the same memory: without case and outer space.
pub fn same_title(a: &str, b: &str) -> bool {
    fold_title(a) == fold_title(b)
}

/// Whether somebody who named a title meant this one: itself, or itself in stray brackets.
pub fn means_title(named: &str, title: &str) -> bool {
    same_title(named, title) || same_title(without_brackets(named), title)
}

/// A title without the brackets that models and people put around it.
pub fn without_brackets(title: &str) -> &str {
    title.trim().trim_start_matches('[').trim_end_matches(']').trim()
}

/// The form in which titles are compared.
pub fn fold_title(title: &str) -> String {
    title.trim().to_lowercase()
}

/// An action that changed nothing that the game shows: a line of `### Tried`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The action as it was first worded.
    pub action: String,
    /// How often it was tried.
    pub count: u64,
    /// Episode of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The beginning of the last reply, on one line.
    pub reply: String,
}

/// The form in which actions are compared: without case and surplus space.
pub fn fold_action(action: &str) -> String {
    text::fold_spaces(action).to_lowercase()
}
