//! Puts memories into a document: new, revised, or recognised as said already; strikes what they
//! take the place of.
//!
//! Titles are exact. Likeness alone never removes anything: a twin keeps its entry, and the answer
//! names it.

use serde::Serialize;

use crate::document::{Document, DocumentError, stored};
use crate::memory::{Cause, Memory, Moment, Persistence, Reference, Scope, same_title};
use crate::record::duplicates::{find_twin, says_the_same};

/// What became of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is new.
    Stored,
    /// It took the place of an entry of its title.
    Revised,
    /// Another entry says it already.
    Duplicate,
}

/// What became of a memory, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// What became of it.
    pub outcome: Fate,
    /// The section.
    pub scope: Scope,
    /// Its title; of a duplicate, the title of its twin.
    pub title: String,
    /// What it says; of a duplicate, what was not stored.
    pub text: String,
    /// Titles that it superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
}

/// Stores a memory in a section, made where there is none. A title in use with other words is a
/// revision; nearly the same words are a duplicate, unless `supersedes` names the title.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn store_memory(
    document: &mut Document,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    supersedes: &[String],
    at: &Moment,
    warnings: &mut Vec<String>,
) -> Result<Applied, DocumentError> {
    let memory = stored(memory);
    let applied = |outcome, title: &str| Applied {
        outcome,
        scope: scope.clone(),
        title: title.to_owned(),
        text: memory.text.clone(),
        superseded: Vec::new(),
    };
    let named = |title: &str| supersedes.iter().any(|other| same_title(other, title));
    if !memory.category.only_grows() {
        let section = document.section(scope).unwrap_or_default();
        if let Some(old) = section.live().find(|old| same_title(&old.title, &memory.title)) {
            let same = if named(&old.title) {
                says_exactly(old, &memory)
            } else {
                says_the_same(&old.text, &memory.text)
            };
            if same {
                raise_importance(document, scope, old, memory.importance());
                return Ok(applied(Fate::Duplicate, &old.title));
            }
            revise(document, scope, old, &memory)?;
            let mut applied = applied(Fate::Revised, &old.title);
            applied.superseded = supersede(document, scope, &memory, supersedes, at, warnings)?;
            return Ok(applied);
        }
        if let Some(twin) = find_twin(&memory.text, section.live().filter(|twin| !named(&twin.title))) {
            raise_importance(document, scope, twin, memory.importance());
            return Ok(applied(Fate::Duplicate, &twin.title));
        }
    }
    let superseded = supersede(document, scope, &memory, supersedes, at, warnings)?;
    document.add(scope, name, &memory)?;
    Ok(Applied { superseded, ..applied(Fate::Stored, &memory.title) })
}

fn says_exactly(old: &Memory, new: &Memory) -> bool {
    (&old.text, &old.category, old.status) == (&new.text, &new.category, new.status)
}

fn raise_importance(document: &mut Document, scope: &Scope, twin: &Memory, importance: u16) {
    if importance <= twin.importance() {
        return;
    }
    if let [(id, memory)] = document.find(scope, &twin.title).as_slice() {
        let mut memory = memory.clone();
        memory.provenance.importance = Some(importance);
        document.revise_line(*id, &memory);
    }
}

/// Writes an entry anew; what the new one leaves open stays, and core stays core.
fn revise(document: &mut Document, scope: &Scope, old: &Memory, new: &Memory) -> Result<(), DocumentError> {
    let revised = Memory {
        title: old.title.clone(),
        persistence: if old.persistence == Persistence::Core { Persistence::Core } else { new.persistence },
        context: new.context.clone().or_else(|| old.context.clone()),
        see_also: new.see_also.clone().or_else(|| old.see_also.clone()),
        ..new.clone()
    };
    match document.find(scope, &old.title).first() {
        Some((id, _)) => document.revise(*id, &revised),
        None => Ok(()),
    }
}

/// Strikes the entries that a memory takes the place of; one of its own title is its revision.
fn supersede(
    document: &mut Document,
    scope: &Scope,
    memory: &Memory,
    titles: &[String],
    at: &Moment,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, DocumentError> {
    let mut done = Vec::new();
    for title in titles.iter().filter(|title| !same_title(title, &memory.title)) {
        let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(memory.title.clone()) };
        if let Some(title) = strike(document, scope, title, &reference, warnings)? {
            done.push(title);
        }
    }
    Ok(done)
}

/// Strikes the live entry of a title; with none or several of that title, nothing but a warning.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn strike(
    document: &mut Document,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, DocumentError> {
    match document.find(scope, title).as_slice() {
        [(id, memory)] => {
            document.supersede(*id, reference)?;
            Ok(Some(memory.title.clone()))
        }
        [] => {
            warnings.push(format!("no live memory of {scope} is called `{title}`: left alone"));
            Ok(None)
        }
        several => {
            warnings.push(format!("{} memories of {scope} are called `{title}`: left alone", several.len()));
            Ok(None)
        }
    }
}
