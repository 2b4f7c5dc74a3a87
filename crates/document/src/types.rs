//! The values that all crates share: scopes, memories, attempts.
//!
//! There is no I/O here. The text forms of the memory file are in [`crate`]; those of the
//! command line and of JSON are here.

mod action;
mod anchor;
mod author;
mod chat_tags;
pub mod chunked;
pub mod direction;
pub mod edit;
mod evidence;
pub mod fields;
mod folder;
pub mod frame;
pub mod hint;
mod importance;
pub mod instant;
pub mod json;
pub(crate) mod lenient;
pub mod lock;
pub mod model_text;
mod names;
pub mod openers;
mod outcome;
mod scope;
pub mod sentences;
pub mod text;
pub mod unseen;
mod viewer;
mod witness;
mod writer;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::VariantNames;

use model_text::{ModelText, is_cleaned};

pub use action::{asks_for_status, fold_action, fold_words, is_same_action};
pub use anchor::{Anchor, is_anchor_tag, is_path_of_file};
pub use author::Author;
pub use evidence::{Attempt, TryResult, Way};
pub use folder::is_relative;
pub use folder::{FolderError, FolderPath};
pub use importance::{
    DEFAULT_IMPORTANCE, EXPECTED_IMPORTANCE, EXPECTED_SCALE, ImportanceScale, clamp_importance,
    importance_of_person, importance_of_program,
};
pub use names::by_file_ending;
pub use names::{did_you_mean, one_of, unknown_name};
pub use outcome::Outcome;
pub(crate) use scope::ScopeKind;
pub use scope::{Scope, ScopeName};
pub use scope::{ScopeError, is_id, labelled_id};
pub use viewer::Viewer;
pub use witness::{Witnesses, character_id, may_name_witnesses};
pub use witness::{is_misnamed, is_witness_tag, teller_of, told_by_tag, witness_tag};
pub use writer::Writer;
pub use writer::{is_writer_tag, looks_written_by, writer_of, written_by};

/// The kind of a memory, such as `DANGER` or `NOTE`. An open set of names in upper case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Category(String);

impl Category {
    /// The category of that name, or `None` for an invalid name: empty, longer than 40 bytes, with a
    /// character other than letters, digits, `_`, space, `-`, `/`, `&`, `+`, `.` and `'`, or ending in
    /// a persistence or status, as in `NOTE - CORE`.
    pub fn new(name: &str) -> Option<Category> {
        let name = text::composed(name.trim());
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

    /// True for `DANGER`, which is shown before anything else.
    pub fn is_danger(&self) -> bool {
        self.0 == "DANGER"
    }

    /// True for `SESSION`, `EVENT` and `DIALOGUE`: entries are only added, and titles need not be unique.
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
    procedure "PROCEDURE" "How something is done.",
    dialogue "DIALOGUE" "A spoken line.",
}

/// The lifetime of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[derive(Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_persistence)]
pub enum Persistence {
    /// Always shown first; its importance never decays.
    Core,
    /// Kept until a person or a correction changes it.
    #[default]
    Permanent,
    /// Deleted when the episode ends; kept in the session file, never in the memory file.
    Ephemeral,
}

/// How far a memory is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[derive(Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_status)]
pub enum Status {
    /// Believed.
    #[default]
    Active,
    /// Not yet confirmed.
    Tentative,
    /// Replaced or proven wrong: kept in the file, never shown to an agent.
    Superseded,
}

fn unknown_persistence(text: &str) -> String {
    unknown_name(text, "persistence", Persistence::VARIANTS)
}

fn unknown_status(text: &str) -> String {
    unknown_name(text, "status", Status::VARIANTS)
}

/// First and last of a run of turns or messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Number of the first.
    pub first: u64,
    /// Number of the last; equal to `first` for a single one.
    pub last: u64,
}

impl Span {
    /// A span of a single turn or message.
    pub fn one(number: u64) -> Span {
        Span { first: number, last: number }
    }

    /// The span as entries show it: `T3`, `M12-41`.
    pub fn marked(self, mark: char) -> String {
        let Span { first, last } = self;
        if first == last { format!("{mark}{first}") } else { format!("{mark}{first}-{last}") }
    }
}

/// Tag of memories that the built-in rules made, so that a model can be asked about them later.
pub const OFFLINE_TAG: &str = "offline";

/// Tag of memories that contest an entry which their author may not change.
pub const CONTESTED_TAG: &str = "contested";

/// Tag of memories of a model that nothing in their turn bears out.
pub const UNSUPPORTED_TAG: &str = "unsupported";

/// Tag of memories that a person protects from models and agents.
pub const PINNED_TAG: &str = "pinned";

/// The tag of a memory that a merge gave a title with a number, because the other side gave its title to other words.
pub(crate) const SAME_TITLE_TAG: &str = "same-title";

/// The origin of a memory, and its other fields.
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
    /// Change of the score in that turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_change: Option<i64>,
    /// A date (`2026-01-31`) or an RFC 3339 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Importance from 1 to 1000; `None` stands for 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<u16>,
    /// Score at that time.
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
    /// Fields of unknown form, verbatim.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<String>,
    /// Goal of the agent at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

impl Provenance {
    /// Those who know what the entry says.
    pub fn witnesses(&self) -> Witnesses {
        Witnesses::of(self.tags.iter().chain(&self.other), self.goal.as_ref())
    }
}

/// Reason for a memory being superseded: the line under its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// Time, as far as known.
    pub at: Moment,
    /// Cause.
    pub cause: Cause,
}

/// A moment of a story; unknown parts are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Episode.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Chat message.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Date or RFC 3339 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// The cause of a memory being superseded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A better memory, named by its title.
    SupersededBy(String),
    /// It was proven wrong, for this reason.
    Invalidated(String),
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Kind of memory.
    pub category: Category,
    /// Lifetime.
    pub persistence: Persistence,
    /// How far it is believed.
    pub status: Status,
    /// Address within the section.
    pub title: String,
    /// The remembered text.
    pub text: String,
    /// Origin in words: the `Context:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Related memories: the `See also:` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see_also: Option<String>,
    /// Fields behind the title.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Reason for being superseded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Files that changed since, in words, where a recall has looked. The file never holds this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
}

impl Memory {
    /// All texts that somebody worded: title, text, context, links, goal, sources, tags and fields of unknown form.
    pub fn texts(&self) -> Vec<&String> {
        let Provenance { sources, tags, other, goal, .. } = &self.provenance;
        let reference = self.reference.iter().map(|reference| match &reference.cause {
            Cause::SupersededBy(text) | Cause::Invalidated(text) => text,
        });
        [&self.title, &self.text]
            .into_iter()
            .chain(self.context.iter().chain(&self.see_also).chain(goal))
            .chain(sources.iter().chain(tags).chain(other))
            .chain(reference)
            .collect()
    }

    /// The texts, for changing them.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let Provenance { sources, tags, other, goal, .. } = &mut self.provenance;
        let reference = self.reference.iter_mut().map(|reference| match &mut reference.cause {
            Cause::SupersededBy(text) | Cause::Invalidated(text) => text,
        });
        [&mut self.title, &mut self.text]
            .into_iter()
            .chain(self.context.iter_mut().chain(&mut self.see_also).chain(goal))
            .chain(sources.iter_mut().chain(tags).chain(other))
            .chain(reference)
            .collect()
    }

    /// A permanent, active memory without provenance.
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
            stale: Vec::new(),
        }
    }

    /// The files that it is anchored to.
    pub fn anchors(&self) -> impl Iterator<Item = Anchor> {
        self.provenance.tags.iter().filter_map(|tag| Anchor::of_tag(tag))
    }

    /// Importance from 1 to 1000; 500 where none is stated.
    pub fn importance(&self) -> u16 {
        self.provenance.importance.unwrap_or(DEFAULT_IMPORTANCE)
    }

    /// The memory `new` in place of this one, which keeps its title, and its context, links and higher
    /// persistence where `new` has none.
    pub fn revised_to(&self, new: Memory) -> Memory {
        Memory {
            title: self.title.clone(),
            persistence: self.persistence.min(new.persistence),
            context: new.context.or_else(|| self.context.clone()),
            see_also: new.see_also.or_else(|| self.see_also.clone()),
            ..new
        }
    }

    /// True if the memory has exactly this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.provenance.tags.iter().any(|other| other == tag)
    }

    /// True if the memory contests another one, and no person has decided.
    pub fn contests(&self) -> bool {
        self.status == Status::Tentative && self.has_tag(CONTESTED_TAG)
    }

    /// True unless superseded or invalidated.
    pub fn is_live(&self) -> bool {
        self.status != Status::Superseded
    }

    /// The names of its writers, each once, in the order of its tags; none for what a person or a single player wrote.
    pub fn writers(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        let names = self.provenance.tags.iter().filter_map(|tag| writer_of(tag));
        names.filter(|name| known.insert(*name)).collect()
    }

    /// Who told it, in words; `None` where nobody is named.
    pub fn told_by(&self) -> Option<String> {
        let tellers: Vec<String> = self.provenance.tags.iter().filter_map(|tag| teller_of(tag)).collect();
        (!tellers.is_empty()).then(|| format!("told by {}", tellers.join(", ")))
    }

    /// Adds a writer to its tags; false if it has that writer already.
    pub fn add_writer(&mut self, writer: &Writer) -> bool {
        let is_new = !self.has_tag(&writer.tag());
        if is_new {
            self.provenance.tags.push(writer.tag());
        }
        is_new
    }

    /// Removes what names writers, or looks so, from its tags; false if there was nothing.
    pub fn drop_writers(&mut self) -> bool {
        let before = self.provenance.tags.len();
        self.provenance.tags.retain(|tag| !is_writer_tag(tag));
        self.provenance.tags.len() < before
    }
}

/// A memory with its section and its author: the object that every JSON answer with memories has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryObject {
    /// The section.
    pub scope: Scope,
    /// The name of the section; may be empty.
    pub name: String,
    /// The memory; its importance is always stated.
    #[serde(flatten)]
    pub memory: Memory,
    /// Its author.
    pub author: Author,
    /// The names of its writers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<String>,
}

impl MemoryObject {
    /// The object of a memory of a section.
    pub fn of(scope: &Scope, name: &str, memory: &Memory, author: Author) -> MemoryObject {
        let mut memory = memory.clone();
        memory.provenance.importance = Some(memory.importance());
        let writers = memory.writers().into_iter().map(str::to_owned).collect();
        MemoryObject { scope: scope.clone(), name: name.to_owned(), memory, author, writers }
    }
}

/// True where two titles address the same memory: case, outer space and the normal form of Unicode do not count.
pub fn same_title(a: &str, b: &str) -> bool {
    fold_title(a) == fold_title(b)
}

/// True where `named` means `title`, also with brackets around it, or as a model is shown it.
pub fn means_title(named: &str, title: &str) -> bool {
    let shown = || ModelText::of(title);
    same_title(named, title)
        || same_title(without_brackets(named), title)
        || is_cleaned(named) && same_title(named, &shown())
}

/// A title without the brackets that models and people put around it.
pub fn without_brackets(title: &str) -> &str {
    title.trim().trim_start_matches('[').trim_end_matches(']').trim()
}

/// The form in which titles are compared.
pub fn fold_title(title: &str) -> String {
    text::fold_case(title.trim())
}
