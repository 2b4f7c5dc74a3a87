//! What matters at a place, within a budget of tokens.
//!
//! Scopes enter, as a person or script names them; views leave, ready to be rendered. The file is
//! read through a window and only the sections asked for are parsed. Nothing is locked or written.

pub mod brief;
pub mod budget;
mod choose;
mod evidence;
mod render;
mod shelf;

use std::io;

use crate::document::grammar::{Heading, is_place_called, split_heading};
use crate::document::link::Link;
use crate::document::{Document, Section, nearest};
use crate::store::{Store, StoreError, read_sections};
use crate::types::hint::{Advice, Hint};
use crate::types::{Attempt, Memory, Scope, ScopeName, did_you_mean};

pub use choose::{Limits, choose};
pub use evidence::Evidence;
pub use render::{Format, render};
pub use shelf::Shelf;

/// What is shown of one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The scope.
    pub scope: Scope,
    /// Its name; empty where it is not known.
    pub name: String,
    /// Number of visits.
    pub visits: u64,
    /// Number of episodes with a visit.
    pub episodes: u64,
    /// Memories shown, in the order of the file; texts may be cut.
    pub memories: Vec<Memory>,
    /// Memories of other sections to which those lead by `See also:`.
    pub linked: Vec<Linked>,
    /// Tried actions shown, in the order of the file; replies may be cut or empty.
    pub tried: Vec<Attempt>,
    /// Live memories that are not shown.
    pub memories_left_out: usize,
    /// Tried actions that are not shown.
    pub tried_left_out: usize,
}

/// A memory of another section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// Where it stands.
    pub scope: Scope,
    /// The name of that section; may be empty.
    pub name: String,
    /// What it says; the text may be cut.
    pub memory: Memory,
}

/// Why nothing can be recalled.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file changed in an unlucky moment or the disk failed.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// No place has that name.
    #[error("no place is called `{name}`")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The names most like it.
        nearest: Vec<String>,
    },
    /// Several places have that name.
    #[error("{} places are called `{name}`", candidates.len())]
    AmbiguousName {
        /// The name asked for.
        name: String,
        /// Their scopes.
        candidates: Vec<Scope>,
    },
}

impl Hint for RecallError {
    fn advice(&self) -> Advice {
        match self {
            RecallError::Store(error) => error.advice(),
            RecallError::Read { .. } => Advice::fix("try again"),
            RecallError::UnknownName { nearest, .. } => Advice::fix(
                did_you_mean(nearest)
                    .unwrap_or_else(|| "give the place's id; `memories list` shows what there is".to_owned()),
            ),
            RecallError::AmbiguousName { candidates, .. } => {
                let scopes: Vec<String> = candidates.iter().map(|scope| format!("`{scope}`")).collect();
                Advice::fix(format!("say which one: {}", scopes.join(", ")))
            }
        }
    }
}

/// What is shown of scopes, in the order asked for, all within the limits.
///
/// # Errors
///
/// See [`RecallError`].
pub fn recall(
    store: &Store,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
) -> Result<Vec<View>, RecallError> {
    recall_newest(store, names, limits, format, usize::MAX)
}

/// As [`recall`], of no more than the newest memories of each scope.
///
/// # Errors
///
/// See [`RecallError`].
pub fn recall_newest(
    store: &Store,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    most: usize,
) -> Result<Vec<View>, RecallError> {
    recall_from(&mut |names| read_scopes(store, names), names, limits, format, most)
}

/// What gives the sections of scopes.
type ReadScopes<'a> = &'a mut dyn FnMut(&[ScopeName]) -> Result<Vec<(Scope, Section)>, RecallError>;

/// As [`recall_newest`], of the sections that `read` gives.
fn recall_from(
    read: ReadScopes<'_>,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    most: usize,
) -> Result<Vec<View>, RecallError> {
    let mut sections = read(names)?;
    for (_, section) in sections.iter_mut().filter(|(_, section)| section.memories.len() > most) {
        let wanted = brief::newest(section, most);
        section.memories.retain(|memory| wanted.contains(memory));
    }
    let linked = read_linked(read, &sections)?;
    Ok(choose(&sections, &linked, limits, format))
}

/// Reads the other sections that hold what live memories lead to. Mostly there are none; then nothing is read.
fn read_linked(
    read: ReadScopes<'_>,
    sections: &[(Scope, Section)],
) -> Result<Vec<(Scope, Section)>, RecallError> {
    let mut wanted: Vec<ScopeName> = Vec::new();
    let is_asked_for = |scope: &Scope| sections.iter().any(|(asked, _)| asked == scope);
    for (_, section) in sections {
        for link in section.live().flat_map(links_of) {
            let name = link.scope.filter(|scope| link.title.is_some() && !is_asked_for(scope));
            wanted.extend(name.map(ScopeName::Scope).filter(|name| !wanted.contains(name)));
        }
    }
    if wanted.is_empty() { Ok(Vec::new()) } else { read(&wanted) }
}

/// Where a memory leads.
fn links_of(memory: &Memory) -> Vec<Link> {
    memory.see_also.as_deref().map(Link::parse_all).unwrap_or_default()
}

/// Reads what the file says of scopes, in the order asked for; a scope without a section is empty.
///
/// # Errors
///
/// See [`RecallError`].
pub fn read_scopes(store: &Store, names: &[ScopeName]) -> Result<Vec<(Scope, Section)>, RecallError> {
    let mut found: Vec<Heading> = Vec::new();
    let texts = match store.open_for_reading()? {
        None => Vec::new(),
        Some(file) => read_sections(file, |line| {
            let heading = std::str::from_utf8(line).ok().and_then(|line| split_heading(line.trim_end()));
            let Some((scope, name)) = heading else { return false };
            let wanted = names.iter().any(|meant| is_meant(meant, &scope, name));
            if wanted {
                found.push(Heading { scope, name: name.to_owned() });
            }
            wanted
        })
        .map_err(|source| RecallError::Read { path: store.path().display().to_string(), source })?,
    };
    let texts: Vec<String> = match texts.into_iter().map(String::from_utf8).collect() {
        Ok(texts) => texts,
        // The whole file is read again to name the place of the first wrong byte.
        Err(_) => return Err(invalid_text(store)),
    };
    let mut scopes = Vec::with_capacity(names.len());
    for name in names {
        let scope = match name {
            ScopeName::Scope(scope) => scope.clone(),
            ScopeName::Name(name) => find_by_name(store, name, &found)?,
        };
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    if names.iter().any(|name| matches!(name, ScopeName::Name(_))) {
        // Another section of the same scope may bear another name: it belongs to it all the same.
        let names: Vec<ScopeName> = scopes.into_iter().map(ScopeName::Scope).collect();
        return read_scopes(store, &names);
    }
    let session = Document::parse(store.sidecar().session()?.unwrap_or_default());
    let section_of = |scope: Scope| {
        let of_scope = found.iter().zip(&texts).filter(|(heading, _)| heading.scope == scope);
        let mut section = Section::read(of_scope.map(|(_, text)| text.as_str()));
        if let Some(ephemeral) = session.section(&scope) {
            section.add_session(ephemeral);
        }
        (scope, section)
    };
    Ok(scopes.into_iter().map(section_of).collect())
}

fn invalid_text(store: &Store) -> RecallError {
    match store.read() {
        Err(error) => error.into(),
        Ok(_) => RecallError::Read {
            path: store.path().display().to_string(),
            source: io::Error::other("it changed while it was read"),
        },
    }
}

fn is_meant(meant: &ScopeName, scope: &Scope, name: &str) -> bool {
    match meant {
        ScopeName::Scope(meant) => meant == scope,
        ScopeName::Name(meant) => is_place_called(scope, name, meant),
    }
}

fn find_by_name(store: &Store, name: &str, found: &[Heading]) -> Result<Scope, RecallError> {
    match one_called(name, found.iter()) {
        // Only the whole file knows which names are near.
        Err(RecallError::UnknownName { .. }) => {
            let document = Document::parse(store.read()?.unwrap_or_default());
            one_called(name, document.headings())
        }
        found => found,
    }
}

/// The one place of a name, of all that have a heading.
fn one_called<'a>(
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
            let nearest = nearest(name, headings.map(|heading| heading.name.as_str()), 3);
            Err(RecallError::UnknownName { name: name.to_owned(), nearest })
        }
        _ => Err(RecallError::AmbiguousName { name: name.to_owned(), candidates }),
    }
}
