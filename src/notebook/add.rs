//! Adds memories to the files: a memory is stored, takes the place of the entry with its title, or is left
//! out as a duplicate; entries that it supersedes are struck.
//!
//! Titles are exact. No words vanish: what is replaced is struck and stays in the file, and what may not be
//! replaced keeps its title. A permanent or core memory never becomes ephemeral.

use serde::Serialize;

use crate::document::text::TITLE_CHARS;
use crate::document::{DocumentError, EntryEdit, stored};
use crate::notebook::authorship::Repeated;
use crate::notebook::duplicates::{find_duplicate, says_the_same};
use crate::notebook::files::{Files, Tier, live};
use crate::types::text::fold_spaces;
use crate::types::{
    Cause, Memory, Moment, OFFLINE_TAG, Persistence, Reference, Scope, Status, means_title, same_title,
};

/// The outcome of adding a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AddOutcome {
    /// It was added.
    Stored,
    /// It has the title of an entry, which was superseded or holds all of its text.
    Revised,
    /// Another entry says the same.
    Duplicate,
}

/// The outcome of adding a memory, with its section and title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddReport {
    /// Stored, revised, or a duplicate.
    pub outcome: AddOutcome,
    /// The section.
    pub scope: Scope,
    /// Its title; for a duplicate, the title of the entry that is there.
    pub title: String,
    /// Its text; for a duplicate, the text that was not stored.
    pub text: String,
    /// How long it lives.
    pub persistence: Persistence,
    /// Titles that it superseded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    /// For a duplicate: the importance to which the existing entry was raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raised_to: Option<u16>,
    /// The entry that has the title and may not be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// An entry that keeps its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// Its title.
    pub title: String,
    /// Why it may not be replaced.
    pub reason: &'static str,
}

impl AddReport {
    fn of(outcome: AddOutcome, scope: &Scope, memory: &Memory) -> AddReport {
        AddReport {
            outcome,
            scope: scope.clone(),
            title: memory.title.clone(),
            text: memory.text.clone(),
            persistence: memory.persistence,
            superseded: Vec::new(),
            raised_to: None,
            beside: None,
        }
    }

    /// Text to put behind the title of the entry that is there: `, importance raised to 900`.
    pub(crate) fn raised(&self) -> String {
        self.raised_to.map(|importance| format!(", importance raised to {importance}")).unwrap_or_default()
    }

    /// Text to put behind the section of a memory that is stored, such as
    /// ` beside "Troll", which stays: a person wrote it`.
    pub(crate) fn beside(&self) -> String {
        let told = |beside: &Beside| format!(" beside \"{}\", which stays: {}", beside.title, beside.reason);
        self.beside.as_ref().map(told).unwrap_or_default()
    }
}

/// The grounds on which a memory may take the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authority {
    /// A person, or an agent that names the entry.
    Command,
    /// A model, and the game's state bears it out: a death, or a change of the score.
    ProvenModel,
    /// A model, without such evidence.
    Model,
    /// The built-in rules, which rewrite their own notes.
    Rules,
}

/// What comes with a memory that is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// Who says so.
    pub authority: Authority,
    /// Titles that the memory supersedes.
    pub supersedes: &'a [String],
    /// The time for reference lines.
    pub at: &'a Moment,
}

impl Claim<'_> {
    /// A memory that supersedes none by name.
    pub(crate) fn of(authority: Authority) -> Claim<'static> {
        const NO_MOMENT: Moment = Moment { episode: None, turn: None, message: None, date: None };
        Claim { authority, supersedes: &[], at: &NO_MOMENT }
    }
}

/// Stores a memory in a section, which is made if it is missing.
///
/// A live entry that says the same makes it a duplicate. A live entry with its title is superseded: struck,
/// with all its words. Where the memory may not take its place (see [`protection`]), it gets a title of its
/// own. A text that holds all of what the same program wrote under the title takes its place without a trace.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn store_memory(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    memory: &Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Result<AddReport, DocumentError> {
    let mut memory = stored(memory);
    if memory.category.only_grows() {
        // Entries of kinds that only grow get a number where their title is in use.
        memory = free_title(files, scope, memory, |_| false);
    } else if let Some(old) = duplicate_of(files, scope, &memory, claim.supersedes) {
        return merge_duplicate(files, (scope, name), &old, &memory);
    }
    let mut superseded = supersede(files, scope, &mut memory, claim, warnings)?;
    let mut report = AddReport::of(AddOutcome::Stored, scope, &memory);
    if let Some(old) = take_title(files, scope, &mut memory, claim, &mut report) {
        report.outcome = AddOutcome::Revised;
        if is_rewritten(files, scope, &old, &memory, claim.authority) {
            revise(files, (scope, name), &old, &memory)?;
            return Ok(AddReport { superseded, ..report });
        }
        memory.persistence = memory.persistence.min(old.persistence);
        memory.see_also = memory.see_also.or(old.see_also);
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        superseded.extend(strike(files, scope, &old.title, &reference, warnings)?);
    }
    add(files, (scope, name), &memory)?;
    Ok(AddReport { superseded, persistence: memory.persistence, ..report })
}

/// The live entry that says the same; of entries that the memory supersedes only one that is equal to it.
fn duplicate_of(files: &Files, scope: &Scope, memory: &Memory, supersedes: &[String]) -> Option<Memory> {
    let section = files.section(scope);
    let differs = |old: &Memory| {
        (&old.text, &old.category, old.status) != (&memory.text, &memory.category, memory.status)
    };
    let named = |old: &Memory| supersedes.iter().any(|title| means_title(title, &old.title));
    let others = || section.live().filter(|old| !(named(old) && differs(old)));
    let same_title = others().filter(|old| same_title(&old.title, &memory.title));
    find_duplicate(&memory.text, same_title).or_else(|| find_duplicate(&memory.text, others())).cloned()
}

/// Gives the higher importance to the entry that is there. One that would end with its episode becomes lasting
/// if the memory is.
fn merge_duplicate(
    files: &mut Files,
    (scope, name): (&Scope, &str),
    old: &Memory,
    memory: &Memory,
) -> Result<AddReport, DocumentError> {
    let report =
        AddReport { title: old.title.clone(), ..AddReport::of(AddOutcome::Duplicate, scope, memory) };
    if Tier::of(old.persistence) == Tier::Session && Tier::of(memory.persistence) == Tier::Lasting {
        revise(files, (scope, name), old, memory)?;
        return Ok(AddReport { outcome: AddOutcome::Revised, ..report });
    }
    files.authorship.note(scope, old, Repeated::Yes);
    let raised_to = raise_importance(files, scope, old, memory.importance());
    Ok(AddReport { raised_to, ..report })
}

/// Finds a title that the memory may have: its own or, where an entry has that and may not be replaced, its
/// own with ` (2)`, ` (3)` … The entry with that title is returned, to be replaced.
fn take_title(
    files: &Files,
    scope: &Scope,
    memory: &mut Memory,
    claim: Claim<'_>,
    report: &mut AddReport,
) -> Option<Memory> {
    let section = files.section(scope);
    let mut owner = None;
    for title in numbered_titles(&memory.title.clone()) {
        memory.title = title;
        owner = section.live().find(|old| same_title(&old.title, &memory.title));
        let Some(old) = owner else { break };
        let reason = match old.category.only_grows() {
            true => Some("it is part of a record"),
            false => protection(files, scope, old, Some(memory), claim.authority),
        };
        let Some(reason) = reason else { break };
        report.beside.get_or_insert(Beside { title: old.title.clone(), reason });
    }
    report.title.clone_from(&memory.title);
    owner.cloned()
}

/// Why an entry may not be replaced by a memory, or be invalidated where there is none.
pub(crate) fn protection(
    files: &Files,
    scope: &Scope,
    old: &Memory,
    new: Option<&Memory>,
    authority: Authority,
) -> Option<&'static str> {
    let proven = authority == Authority::ProvenModel;
    let is_weaker = |new: &Memory| {
        new.importance() < old.importance() || old.category.is_danger() && !new.category.is_danger()
    };
    if authority == Authority::Command {
        None
    } else if !proven && files.is_by_hand(scope, old) {
        Some("a person wrote it")
    } else if authority == Authority::Rules && old.provenance.tags.iter().any(|tag| tag == OFFLINE_TAG) {
        None
    } else if old.persistence == Persistence::Core && new.map_or(!proven, is_weaker) {
        Some("it is core")
    } else if old.status == Status::Active && new.is_some_and(|new| new.status == Status::Tentative) {
        Some("it is confirmed")
    } else if Tier::of(old.persistence) == Tier::Lasting
        && new.is_some_and(|new| new.persistence == Persistence::Ephemeral)
    {
        Some("it lasts")
    } else {
        None
    }
}

/// True if an entry is rewritten in place, because that loses nothing: the new text holds the whole old one,
/// or the built-in rules rewrite a note of their own.
fn is_rewritten(files: &Files, scope: &Scope, old: &Memory, new: &Memory, authority: Authority) -> bool {
    if files.is_by_hand(scope, old) {
        return false;
    }
    let offline = |memory: &Memory| memory.provenance.tags.iter().any(|tag| tag == OFFLINE_TAG);
    let rules_own = authority == Authority::Rules && offline(old) && offline(new);
    rules_own || fold_spaces(&new.text).contains(&fold_spaces(&old.text))
}

/// Strikes an entry that an answer calls wrong, unless it may not be.
///
/// # Errors
///
/// See [`DocumentError`].
pub(crate) fn invalidate(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    authority: Authority,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, DocumentError> {
    let protected =
        files.find(scope, title).iter().find_map(|(_, old)| protection(files, scope, old, None, authority));
    match protected {
        Some(reason) => {
            warnings.push(format!("`{title}` is not invalidated: {reason}"));
            Ok(None)
        }
        None => strike(files, scope, title, reference, warnings),
    }
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
    let section = files.section(scope);
    let taken = |title: &str| section.live().find(|other| same_title(&other.title, title));
    let title = numbered_titles(&memory.title).find(|title| taken(title).is_none_or(&meant));
    Memory { title: title.unwrap_or_default(), ..memory }
}

/// A title, then the same with ` (2)`, ` (3)` …, without end and within the longest title.
fn numbered_titles(title: &str) -> impl Iterator<Item = String> {
    let stem: String = title.chars().take(TITLE_CHARS - 6).collect();
    std::iter::once(title.to_owned()).chain((2..).map(move |number| format!("{stem} ({number})")))
}

/// A title without the number that [`numbered_titles`] gave it.
pub(crate) fn without_number(title: &str) -> &str {
    let stem = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    let is_number = |number: &str| number.parse::<u64>().is_ok();
    stem.filter(|(_, number)| is_number(number)).map_or(title, |(stem, _)| stem)
}

/// Adds a memory to the file for its persistence.
fn add(files: &mut Files, (scope, name): (&Scope, &str), memory: &Memory) -> Result<(), DocumentError> {
    let tier = Tier::of(memory.persistence);
    let persistence = tier.written(memory.persistence);
    files.authorship.note(scope, memory, Repeated::No);
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
    files.authorship.note(place.0, &revised, Repeated::No);
    let Some(mut found) = files.first(place.0, &old.title) else { return Ok(()) };
    if found.tier == Tier::Session && Tier::of(revised.persistence) == Tier::Lasting {
        found.entry.remove();
        return add(files, place, &revised);
    }
    let persistence = found.tier.written(revised.persistence);
    found.entry.edit(EntryEdit::Revise(Memory { persistence, ..revised }))
}

/// Strikes the entries that a memory supersedes, unless they may not be. What supersedes a core memory is core.
/// An entry with the memory's own title is left to [`take_title`].
fn supersede(
    files: &mut Files,
    scope: &Scope,
    memory: &mut Memory,
    claim: Claim<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, DocumentError> {
    let mut done = Vec::new();
    for title in claim.supersedes.iter().filter(|title| !means_title(title, &memory.title)) {
        let olds = files.find(scope, title);
        let reason =
            olds.iter().find_map(|(_, old)| protection(files, scope, old, Some(memory), claim.authority));
        if let Some(reason) = reason {
            warnings.push(format!("`{title}` is not superseded: {reason}"));
            continue;
        }
        let cause = Cause::SupersededBy(memory.title.clone());
        let reference = Reference { at: claim.at.clone(), cause };
        if let Some(title) = strike(files, scope, title, &reference, warnings)? {
            if olds.iter().any(|(_, old)| old.persistence == Persistence::Core) {
                memory.persistence = Persistence::Core;
            }
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
