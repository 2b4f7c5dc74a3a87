//! Adds memories to the files: a memory is stored, revises the entry with its title, or is left out as
//! a near-duplicate; entries that it supersedes are struck.
//!
//! Titles are exact. Similarity alone never removes anything: the entry that is there stays, and the
//! answer names it. A permanent or core memory never becomes ephemeral.

use serde::Serialize;

use crate::document::text::TITLE_CHARS;
use crate::document::{DocumentError, EntryEdit, stored};
use crate::notebook::files::{Files, Tier, live};
use crate::notebook::near_duplicates::{find_near_duplicate, says_the_same};
use crate::types::{Cause, Memory, Moment, Persistence, Reference, Scope, means_title, same_title};

/// The outcome of adding a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AddOutcome {
    /// It was added.
    Stored,
    /// It replaced the entry with its title.
    Revised,
    /// Another entry says nearly the same.
    Duplicate,
}

/// The outcome of adding a memory, with its section and title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddReport {
    /// Stored, revised, or a near-duplicate.
    pub outcome: AddOutcome,
    /// The section.
    pub scope: Scope,
    /// Its title; for a near-duplicate, the title of the entry that is there.
    pub title: String,
    /// Its text; for a near-duplicate, the text that was not stored.
    pub text: String,
    /// How long it lives.
    pub persistence: Persistence,
    /// Titles that it superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    /// For a near-duplicate: the importance to which the existing entry was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_to: Option<u16>,
}

impl AddReport {
    /// Text to put behind the title of the entry that is there: `, importance raised to 900`.
    pub(crate) fn raised(&self) -> String {
        self.raised_to.map(|importance| format!(", importance raised to {importance}")).unwrap_or_default()
    }
}

/// Stores a memory in a section, which is made if it is missing. If a live entry has the title, a
/// different text revises it and nearly the same text is a near-duplicate, unless `supersedes` names
/// the title.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn store_memory(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    supersedes: &[String],
    at: &Moment,
    warnings: &mut Vec<String>,
) -> Result<AddReport, DocumentError> {
    let mut memory = stored(memory);
    if memory.category.only_grows() {
        // Entries of kinds that only grow get a number where their title is in use.
        memory = free_title(files, scope, memory, |_| false);
    }
    let applied = |outcome, title: &str| AddReport {
        outcome,
        scope: scope.clone(),
        title: title.to_owned(),
        text: memory.text.clone(),
        persistence: memory.persistence,
        superseded: Vec::new(),
        raised_to: None,
    };
    let named = |title: &str| supersedes.iter().any(|other| means_title(other, title));
    if !memory.category.only_grows() {
        let section = files.section(scope);
        if let Some(old) = section.live().find(|old| same_title(&old.title, &memory.title)) {
            let same = if named(&old.title) {
                says_exactly(old, &memory)
            } else {
                says_the_same(&old.text, &memory.text)
            };
            if same && Tier::of(old.persistence) == Tier::of(memory.persistence) {
                let raised_to = raise_importance(files, scope, old, memory.importance());
                return Ok(AddReport { raised_to, ..applied(AddOutcome::Duplicate, &old.title) });
            }
            revise(files, (scope, name), old, &memory)?;
            let mut applied = applied(AddOutcome::Revised, &old.title);
            applied.superseded = supersede(files, scope, &memory, supersedes, at, warnings)?;
            return Ok(applied);
        }
        let others = section.live().filter(|old| !named(&old.title));
        if let Some(old) = find_near_duplicate(&memory.text, others) {
            let raised_to = raise_importance(files, scope, old, memory.importance());
            return Ok(AddReport { raised_to, ..applied(AddOutcome::Duplicate, &old.title) });
        }
    }
    let superseded = supersede(files, scope, &memory, supersedes, at, warnings)?;
    add(files, (scope, name), &memory)?;
    Ok(AddReport { superseded, ..applied(AddOutcome::Stored, &memory.title) })
}

/// The title of the live entry that has a new memory's title and says something else. A title is an
/// address: it is unique, except among kinds that only grow.
pub(crate) fn title_in_use(files: &Files, scope: &Scope, memory: &Memory) -> Option<String> {
    if memory.category.only_grows() {
        return None;
    }
    let section = files.section(scope);
    let other = section.live().find(|other| same_title(&other.title, &memory.title));
    other.filter(|other| !says_the_same(&other.text, &memory.text)).map(|other| other.title.clone())
}

/// The memory with a free title: its own, else the first of its own with ` (2)`, ` (3)` … that no live
/// entry of the section has. A title also counts as free if the entry that has it is `meant`.
pub(crate) fn free_title(
    files: &Files,
    scope: &Scope,
    memory: Memory,
    meant: impl Fn(&Memory) -> bool,
) -> Memory {
    let mut memory = memory;
    let section = files.section(scope);
    // Leaves room for the number within the longest title.
    let title: String = memory.title.chars().take(TITLE_CHARS - 6).collect();
    for number in 2.. {
        let taken = section.live().find(|other| same_title(&other.title, &memory.title));
        if taken.is_none_or(&meant) {
            break;
        }
        memory.title = format!("{title} ({number})");
    }
    memory
}

fn says_exactly(old: &Memory, new: &Memory) -> bool {
    (&old.text, &old.category, old.status) == (&new.text, &new.category, new.status)
}

/// Adds a memory to the file for its persistence.
fn add(files: &mut Files, (scope, name): (&Scope, &str), memory: &Memory) -> Result<(), DocumentError> {
    let tier = Tier::of(memory.persistence);
    let persistence = tier.written(memory.persistence);
    files.of(tier).add(scope, name, &Memory { persistence, ..memory.clone() })
}

/// Raises an entry's importance; `None` where it is at least as high, or the title is not unique.
fn raise_importance(files: &mut Files, scope: &Scope, old: &Memory, importance: u16) -> Option<u16> {
    if importance <= old.importance() {
        return None;
    }
    let mut found = files.only(scope, &old.title, live).ok()?;
    let mut memory = found.entry.memory().clone();
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Some(importance)
}

/// Revises an entry. Context and links that the new memory lacks stay. A lasting entry stays lasting and
/// a core one core; an ephemeral entry that is revised by a lasting one moves to the lasting file.
pub(crate) fn revise(
    files: &mut Files,
    place: (&Scope, &str),
    old: &Memory,
    new: &Memory,
) -> Result<(), DocumentError> {
    let revised = old.revised_to(new.clone());
    let Some(mut found) = files.first(place.0, &old.title) else { return Ok(()) };
    if found.tier == Tier::Session && Tier::of(revised.persistence) == Tier::Lasting {
        found.entry.remove();
        return add(files, place, &revised);
    }
    let persistence = found.tier.written(revised.persistence);
    found.entry.edit(EntryEdit::Revise(Memory { persistence, ..revised }))
}

/// Strikes the entries that a memory supersedes. An entry with its own title was revised instead.
fn supersede(
    files: &mut Files,
    scope: &Scope,
    memory: &Memory,
    titles: &[String],
    at: &Moment,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, DocumentError> {
    let mut done = Vec::new();
    for title in titles.iter().filter(|title| !means_title(title, &memory.title)) {
        let ephemeral = memory.persistence == Persistence::Ephemeral;
        let lasts = |(tier, _): &(Tier, Memory)| *tier == Tier::Lasting;
        if ephemeral && files.find(scope, title).iter().any(lasts) {
            warnings
                .push(format!("`{title}` lasts and is not superseded by an ephemeral memory: left alone"));
            continue;
        }
        let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(memory.title.clone()) };
        if let Some(title) = strike(files, scope, title, &reference, warnings)? {
            done.push(title);
        }
    }
    Ok(done)
}

/// Strikes the live entry with a title. If there is none, or several, it only adds a warning.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn strike(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, DocumentError> {
    match files.only(scope, title, live) {
        Ok(mut found) => {
            let title = found.memory().title;
            found.entry.edit(EntryEdit::Supersede(Some(reference.clone())))?;
            Ok(Some(title))
        }
        Err(0) => {
            warnings.push(format!("no live memory of {scope} is called `{title}`: left alone"));
            Ok(None)
        }
        Err(several) => {
            warnings.push(format!("{several} memories of {scope} are called `{title}`: left alone"));
            Ok(None)
        }
    }
}
