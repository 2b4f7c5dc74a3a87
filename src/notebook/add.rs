//! Puts memories into the files: new, revised, or recognised as said already; strikes what they take
//! the place of.
//!
//! Titles are exact. Likeness alone never removes anything: a twin keeps its entry, and the answer
//! names it. What is permanent or core never becomes ephemeral.

use serde::Serialize;

use crate::document::text::TITLE_CHARS;
use crate::document::{DocumentError, EntryEdit, stored};
use crate::notebook::duplicates::{find_twin, says_the_same};
use crate::notebook::files::{Files, Tier, live};
use crate::types::{Cause, Memory, Moment, Persistence, Reference, Scope, means_title, same_title};

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
    /// How long it lives.
    pub persistence: Persistence,
    /// Titles that it superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    /// Of a duplicate, the importance to which its twin was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_to: Option<u16>,
}

impl Applied {
    /// What a duplicate did to its twin, to stand behind the twin's title: `, importance raised to 900`.
    pub fn raised(&self) -> String {
        self.raised_to.map(|importance| format!(", importance raised to {importance}")).unwrap_or_default()
    }
}

/// Stores a memory in a section, made where there is none. A title in use with other words is a
/// revision; nearly the same words are a duplicate, unless `supersedes` names the title.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn store_memory(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    supersedes: &[String],
    at: &Moment,
    warnings: &mut Vec<String>,
) -> Result<Applied, DocumentError> {
    let mut memory = stored(memory);
    if memory.category.only_grows() {
        // Kinds that only grow share titles: the second of one title gets a number.
        memory = free_title(files, scope, memory, |_| false);
    }
    let applied = |outcome, title: &str| Applied {
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
                return Ok(Applied { raised_to, ..applied(Fate::Duplicate, &old.title) });
            }
            revise(files, (scope, name), old, &memory)?;
            let mut applied = applied(Fate::Revised, &old.title);
            applied.superseded = supersede(files, scope, &memory, supersedes, at, warnings)?;
            return Ok(applied);
        }
        if let Some(twin) = find_twin(&memory.text, section.live().filter(|twin| !named(&twin.title))) {
            let raised_to = raise_importance(files, scope, twin, memory.importance());
            return Ok(Applied { raised_to, ..applied(Fate::Duplicate, &twin.title) });
        }
    }
    let superseded = supersede(files, scope, &memory, supersedes, at, warnings)?;
    add(files, (scope, name), &memory)?;
    Ok(Applied { superseded, ..applied(Fate::Stored, &memory.title) })
}

/// The title of a live entry that stands in a new memory's way: it bears the memory's title and says
/// something else. A title is an address; only kinds that only grow share it.
pub fn title_in_use(files: &Files, scope: &Scope, memory: &Memory) -> Option<String> {
    if memory.category.only_grows() {
        return None;
    }
    let section = files.section(scope);
    let twin = section.live().find(|other| same_title(&other.title, &memory.title));
    twin.filter(|twin| !says_the_same(&twin.text, &memory.text)).map(|twin| twin.title.clone())
}

/// The memory with the first title of its own and ` (2)`, ` (3)` … that no live entry of the section
/// bears, or bears for a memory that is `meant` all the same.
pub fn free_title(files: &Files, scope: &Scope, memory: Memory, meant: impl Fn(&Memory) -> bool) -> Memory {
    let mut memory = memory;
    let section = files.section(scope);
    // Room for the number within the longest title.
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

/// Adds to the file in which memories of that persistence live; the session's need no bracket.
fn add(files: &mut Files, (scope, name): (&Scope, &str), memory: &Memory) -> Result<(), DocumentError> {
    let tier = Tier::of(memory.persistence);
    let persistence = tier.written(memory.persistence);
    files.of(tier).add(scope, name, &Memory { persistence, ..memory.clone() })
}

/// Gives the twin the higher importance; tells which where that is another than before.
fn raise_importance(files: &mut Files, scope: &Scope, twin: &Memory, importance: u16) -> Option<u16> {
    if importance <= twin.importance() {
        return None;
    }
    let mut found = files.only(scope, &twin.title, live).ok()?;
    let mut memory = found.entry.memory().clone();
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Some(importance)
}

/// Writes an entry anew; what the new one leaves open stays. A lasting entry stays lasting and core
/// stays core; an ephemeral one that is to last moves to the lasting file.
pub fn revise(
    files: &mut Files,
    place: (&Scope, &str),
    old: &Memory,
    new: &Memory,
) -> Result<(), DocumentError> {
    let revised = Memory {
        title: old.title.clone(),
        persistence: old.persistence.min(new.persistence),
        context: new.context.clone().or_else(|| old.context.clone()),
        see_also: new.see_also.clone().or_else(|| old.see_also.clone()),
        ..new.clone()
    };
    let Some(mut found) = files.first(place.0, &old.title) else { return Ok(()) };
    if found.tier == Tier::Session && Tier::of(revised.persistence) == Tier::Lasting {
        found.entry.remove();
        return add(files, place, &revised);
    }
    let persistence = found.tier.written(revised.persistence);
    found.entry.edit(EntryEdit::Revise(Memory { persistence, ..revised }))
}

/// Strikes the entries that a memory takes the place of; one of its own title is its revision.
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

/// Strikes the live entry of a title; with none or several of that title, nothing but a warning.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn strike(
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
