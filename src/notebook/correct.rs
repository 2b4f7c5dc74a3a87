//! Corrections by exact title: supersede, invalidate, mark, reinforce, associate, forget, rename.
//!
//! [`correct`] edits both files and reports what it did, or fails. The caller writes the files only if
//! all corrections of a command succeed.

use std::cmp::Reverse;

use serde::Serialize;

use crate::document::link::Link;
use crate::document::{DocumentError, EntryEdit, EntryRef, nearest, stored};
use crate::notebook::add::{Claim, store_memory};
use crate::notebook::authority::Authority;
use crate::notebook::duplicates::find_duplicate;
use crate::notebook::files::{Files, FoundEntry, Tier};
use crate::types::hint::{Advice, Hint};
use crate::types::{Cause, Memory, Moment, Persistence, Reference, Scope, Status, did_you_mean, same_title};

/// Highest importance of a memory.
pub(crate) const MAX_IMPORTANCE: u16 = 1000;

/// The reason in the reference line of a memory that is marked as superseded.
const MARKED: &str = "marked as superseded";

/// An entry's address: its exact title, and its line if several entries written by hand share the title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The section.
    pub scope: Scope,
    /// The title, compared without case and outer space.
    pub title: String,
    /// Line of the entry in its file.
    pub line: Option<usize>,
}

/// A correction of entries or of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Correction {
    /// A new memory supersedes others.
    Supersede(Vec<Target>, Box<Memory>),
    /// Memories are wrong, for the given reason.
    Invalidate(Vec<Target>, String),
    /// Sets a memory's status, importance or persistence.
    Mark(Target, Marks),
    /// Raises a memory's importance by an amount, up to 1000.
    Reinforce(Target, u16),
    /// Links two memories to each other.
    Associate(Target, Target),
    /// Removes a memory from the file.
    Forget(Target),
    /// Renames a section.
    Rename(Scope, String),
}

/// Values that `mark` sets; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    /// The new status.
    pub status: Option<Status>,
    /// The new importance, 1 to 1000.
    pub importance: Option<u16>,
    /// The new persistence.
    pub persistence: Option<Persistence>,
}

/// The result for one entry or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// `superseded`, `revised`, `stored`, `invalidated`, `marked`, `reinforced`, `associated`,
    /// `unchanged`, `forgotten`, `renamed`.
    pub outcome: &'static str,
    /// The section.
    pub scope: Scope,
    /// The title; of a renamed section, its new name.
    pub title: String,
    /// For a successor that is core because it supersedes a core memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<Persistence>,
    /// The forgotten memory, for the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// Why a correction fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CorrectionError {
    /// No entry has the title.
    #[error("no {} of {scope} is called `{title}`", if *live { "live memory" } else { "memory" })]
    Unknown {
        /// The section.
        scope: Scope,
        /// The title that was given.
        title: String,
        /// Similar titles.
        nearest: Vec<String>,
        /// True if only live entries were searched.
        live: bool,
    },
    /// Several entries have the title.
    #[error("{} memories of {scope} are called `{title}`", lines.len())]
    Ambiguous {
        /// The section.
        scope: Scope,
        /// The title that was given.
        title: String,
        /// Their lines.
        lines: Vec<usize>,
    },
    /// A lasting entry would become ephemeral.
    #[error("`{0}` lasts: it does not become ephemeral")]
    Lasting(String),
    /// Another live entry has the title.
    #[error("a memory of {scope} is called `{title}` already")]
    TitleInUse {
        /// The section.
        scope: Scope,
        /// The title.
        title: String,
    },
    /// Another live entry says nearly the same.
    #[error("`{0}` says this already")]
    NearDuplicate(String),
    /// A memory would be linked to itself.
    #[error("`{0}` cannot be associated with itself")]
    Itself(String),
    /// One command both supersedes and invalidates an entry.
    #[error("`{0}` is both superseded and invalidated")]
    Both(String),
    /// A required text is empty: the title, reason, name or text.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// No value to set was given.
    #[error("there is nothing to set")]
    NothingToSet,
    /// The scope has no section.
    #[error("there is no section of {0}")]
    NoSection(Scope),
    /// The file cannot take the edit.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for CorrectionError {
    fn advice(&self) -> Advice {
        Advice::fix(match self {
            CorrectionError::Unknown { nearest, scope, .. } => match did_you_mean(nearest) {
                Some(near) => format!("titles are exact; {near}"),
                None => format!("titles are exact; `memories show {scope}` shows them"),
            },
            CorrectionError::Ambiguous { lines, .. } => {
                let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
                format!("say which one with `--line`, one of {}", lines.join(", "))
            }
            CorrectionError::Lasting(_) => "leave out `--ephemeral`, or forget the entry first".to_owned(),
            CorrectionError::TitleInUse { .. } => "choose another title, or supersede that memory".to_owned(),
            CorrectionError::NearDuplicate(title) => format!("correct `{title}` instead"),
            CorrectionError::Itself(_) => "name two different memories".to_owned(),
            CorrectionError::Both(_) => "name each title for only one of the two".to_owned(),
            CorrectionError::Empty("reason") => {
                "give a reason, such as `The troll was only asleep.`".to_owned()
            }
            CorrectionError::NothingToSet => {
                "say what to set: `--status`, `--importance` or `--persistence`".to_owned()
            }
            CorrectionError::Empty(what) => format!("give a {what}; nothing is changed"),
            CorrectionError::NoSection(_) => "`memories list` shows what there is".to_owned(),
            CorrectionError::Document(error) => return error.advice(),
        })
    }
}

/// Refuses a list of corrections in which one title is both superseded and invalidated.
///
/// # Errors
///
/// [`CorrectionError::Both`].
pub(crate) fn check_consistent(corrections: &[Correction]) -> Result<(), CorrectionError> {
    let superseded = corrections.iter().flat_map(|correction| match correction {
        Correction::Supersede(targets, _) => targets.as_slice(),
        _ => &[],
    });
    let superseded: Vec<&Target> = superseded.collect();
    for correction in corrections {
        let Correction::Invalidate(targets, _) = correction else { continue };
        let both = targets.iter().find(|target| {
            superseded
                .iter()
                .any(|other| other.scope == target.scope && same_title(&other.title, &target.title))
        });
        if let Some(target) = both {
            return Err(CorrectionError::Both(target.title.clone()));
        }
    }
    Ok(())
}

/// Makes one correction; reference lines get the moment `at`.
///
/// # Errors
///
/// See [`CorrectionError`]; the files must then be discarded.
pub(crate) fn correct(
    files: &mut Files,
    correction: &Correction,
    at: &Moment,
) -> Result<Vec<Corrected>, CorrectionError> {
    match correction {
        Correction::Supersede(targets, successor) => supersede(files, targets, successor, at),
        Correction::Invalidate(targets, reason) => invalidate(files, targets, reason, at),
        Correction::Mark(target, marks) => mark(files, target, *marks, at),
        Correction::Reinforce(target, amount) => reinforce(files, target, *amount),
        Correction::Associate(one, other) => associate(files, one, other),
        Correction::Forget(target) => forget(files, target),
        Correction::Rename(scope, name) => rename(files, scope, name),
    }
}

fn done(outcome: &'static str, scope: &Scope, title: &str) -> Corrected {
    Corrected { outcome, scope: scope.clone(), title: title.to_owned(), persistence: None, memory: None }
}

/// The only `wanted` entry with the title, and the line, of a target.
fn locate<'a>(
    files: &'a mut Files,
    target: &Target,
    live: bool,
    wanted: impl Fn(&Memory) -> bool,
) -> Result<FoundEntry<'a>, CorrectionError> {
    let Target { scope, title, line } = target;
    let meant = |entry: &EntryRef<'_>| wanted(entry.memory()) && line.is_none_or(|line| entry.line() == line);
    let unknown = |files: &Files| {
        let section = files.section(scope);
        let titles =
            section.memories.iter().filter(|memory| wanted(memory)).map(|memory| memory.title.as_str());
        let nearest = nearest(title, titles, 3);
        CorrectionError::Unknown { scope: scope.clone(), title: title.clone(), nearest, live }
    };
    let (tier, number) = match files.titled(scope, title, meant).as_slice() {
        [(tier, number, _)] => (*tier, *number),
        [] => return Err(unknown(files)),
        several => {
            let lines = several.iter().map(|(.., entry)| entry.line()).collect();
            return Err(CorrectionError::Ambiguous { scope: scope.clone(), title: title.clone(), lines });
        }
    };
    Ok(files.entry(scope, tier, number))
}

/// The targets with the last lines first: an edit then moves no line of those still to come.
fn last_lines_first(targets: &[Target]) -> Vec<&Target> {
    let mut ordered: Vec<&Target> = targets.iter().collect();
    ordered.sort_by_key(|target| Reverse(target.line));
    ordered
}

fn supersede(
    files: &mut Files,
    targets: &[Target],
    successor: &Memory,
    at: &Moment,
) -> Result<Vec<Corrected>, CorrectionError> {
    let Some(Target { scope, .. }) = targets.first() else { return Err(CorrectionError::Empty("title")) };
    let mut successor = stored(successor);
    if successor.text.is_empty() {
        return Err(CorrectionError::Empty("text"));
    }
    let targets = last_lines_first(targets);
    let mut olds = Vec::new();
    for target in &targets {
        let found = locate(files, target, true, Memory::is_live)?;
        let old = found.memory();
        if found.tier == Tier::Lasting && successor.persistence == Persistence::Ephemeral {
            return Err(CorrectionError::Lasting(old.title));
        }
        olds.push(old);
    }
    let section = files.section(scope);
    let others = || section.live().filter(|memory| !olds.contains(memory));
    if others().any(|other| same_title(&other.title, &successor.title)) {
        return Err(CorrectionError::TitleInUse { scope: scope.clone(), title: successor.title });
    }
    if let Some(other) = find_duplicate(&successor.text, others()) {
        return Err(CorrectionError::NearDuplicate(other.title.clone()));
    }
    // A memory that supersedes a core memory is core.
    let stays_core = successor.persistence != Persistence::Core
        && olds.iter().any(|old| old.persistence == Persistence::Core);
    if stays_core {
        successor.persistence = Persistence::Core;
    }
    if let Some(old) = olds.iter().find(|old| same_title(&old.title, &successor.title)) {
        successor.see_also = successor.see_also.or_else(|| old.see_also.clone());
    }
    let mut results = Vec::new();
    for (target, old) in targets.iter().zip(&olds) {
        let mut found = locate(files, target, true, Memory::is_live)?;
        let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(successor.title.clone()) };
        found.entry.edit(EntryEdit::Supersede(Some(reference)))?;
        results.push(done("superseded", scope, &old.title));
    }
    let claim = Claim::of(Authority::Command);
    let applied = store_memory(files, (scope, &section.name), &successor, claim, &mut Vec::new())?;
    let persistence = stays_core.then_some(Persistence::Core);
    results.push(Corrected { persistence, ..done("stored", scope, &applied.title) });
    Ok(results)
}

fn invalidate(
    files: &mut Files,
    targets: &[Target],
    reason: &str,
    at: &Moment,
) -> Result<Vec<Corrected>, CorrectionError> {
    if reason.trim().is_empty() {
        return Err(CorrectionError::Empty("reason"));
    }
    if targets.is_empty() {
        return Err(CorrectionError::Empty("title"));
    }
    let mut results = Vec::new();
    for target in last_lines_first(targets) {
        let mut found = locate(files, target, true, Memory::is_live)?;
        let title = found.memory().title;
        let reference = Reference { at: at.clone(), cause: Cause::Invalidated(reason.to_owned()) };
        found.entry.edit(EntryEdit::Supersede(Some(reference)))?;
        results.push(done("invalidated", &target.scope, &title));
    }
    Ok(results)
}

fn mark(
    files: &mut Files,
    target: &Target,
    marks: Marks,
    at: &Moment,
) -> Result<Vec<Corrected>, CorrectionError> {
    if marks == Marks::default() {
        return Err(CorrectionError::NothingToSet);
    }
    let revives = matches!(marks.status, Some(Status::Active | Status::Tentative));
    let live = !files.find(&target.scope, &target.title).is_empty();
    let name = files.section(&target.scope).name;
    // A superseded entry is meant only if it would be revived and no live entry has its title.
    let mut found = locate(files, target, !revives, |memory| {
        memory.is_live() || (revives && !live) || target.line.is_some()
    })?;
    let (tier, old) = (found.tier, found.memory());
    if marks.persistence == Some(Persistence::Ephemeral) && tier == Tier::Lasting {
        return Err(CorrectionError::Lasting(old.title));
    }
    if revives && !old.is_live() && live {
        return Err(CorrectionError::TitleInUse { scope: target.scope.clone(), title: old.title });
    }
    match marks.status {
        Some(Status::Superseded) if old.is_live() => {
            let cause = Cause::Invalidated(MARKED.to_owned());
            found.entry.edit(EntryEdit::Supersede(Some(Reference { at: at.clone(), cause })))?;
        }
        Some(status) if !old.is_live() && status != Status::Superseded => {
            found.entry.edit(EntryEdit::Revive(status))?;
        }
        _ => {}
    }
    let mut memory = found.entry.memory().clone();
    memory.status = marks.status.unwrap_or(memory.status);
    memory.provenance.importance = marks.importance.or(memory.provenance.importance);
    memory.persistence = marks.persistence.filter(|_| tier == Tier::Lasting).unwrap_or(memory.persistence);
    found.entry.revise_line(&memory);
    if let (Tier::Session, Some(persistence @ (Persistence::Permanent | Persistence::Core))) =
        (tier, marks.persistence)
    {
        found.entry.remove();
        files.lasting.add(&target.scope, &name, &Memory { persistence, ..memory })?;
    }
    Ok(vec![done("marked", &target.scope, &old.title)])
}

fn reinforce(files: &mut Files, target: &Target, amount: u16) -> Result<Vec<Corrected>, CorrectionError> {
    let mut found = locate(files, target, true, Memory::is_live)?;
    let mut memory = found.entry.memory().clone();
    let importance = memory.importance().saturating_add(amount).min(MAX_IMPORTANCE);
    if importance == memory.importance() {
        return Ok(vec![done("unchanged", &target.scope, &memory.title)]);
    }
    memory.persistence = found.tier.written(memory.persistence);
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Ok(vec![done("reinforced", &target.scope, &memory.title)])
}

/// Links in both directions, so that a reader of either memory finds the other. An existing link stays
/// as it is.
fn associate(files: &mut Files, one: &Target, other: &Target) -> Result<Vec<Corrected>, CorrectionError> {
    let place_of = |found: &FoundEntry<'_>| (found.tier, found.entry.line());
    let place = place_of(&locate(files, one, true, Memory::is_live)?);
    if place == place_of(&locate(files, other, true, Memory::is_live)?) {
        return Err(CorrectionError::Itself(one.title.clone()));
    }
    let mut results = Vec::new();
    for (from, to) in [(one, other), (other, one)] {
        let linked = locate(files, to, true, Memory::is_live)?.memory();
        let mut found = locate(files, from, true, Memory::is_live)?;
        let memory = found.memory();
        let link = Link::to(&to.scope, &linked.title);
        let outcome = match link.add_to(memory.see_also.as_deref()) {
            Some(see_also) => {
                found.entry.edit(EntryEdit::SetSeeAlso(see_also))?;
                "associated"
            }
            None => "unchanged",
        };
        results.push(done(outcome, &from.scope, &memory.title));
    }
    Ok(results)
}

fn forget(files: &mut Files, target: &Target) -> Result<Vec<Corrected>, CorrectionError> {
    let live = !files.find(&target.scope, &target.title).is_empty();
    let found = locate(files, target, false, |memory| memory.is_live() || !live || target.line.is_some())?;
    let memory = found.memory();
    found.entry.remove();
    Ok(vec![Corrected { memory: Some(memory.clone()), ..done("forgotten", &target.scope, &memory.title) }])
}

fn rename(files: &mut Files, scope: &Scope, name: &str) -> Result<Vec<Corrected>, CorrectionError> {
    if name.trim().is_empty() {
        return Err(CorrectionError::Empty("name"));
    }
    if !files.lasting.rename(scope, name)? {
        return Err(CorrectionError::NoSection(scope.clone()));
    }
    Ok(vec![done("renamed", scope, name.trim())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::types::Category;

    const SECTION: &str = "\
## Location 1: Cave

### Memories

**[NOTE] Troll** *(Ep1)*
It is kind.

**[NOTE] Troll** *(Ep2)*
It is cruel.

**[NOTE] Sword**
It glows.

---
";

    fn files() -> Files {
        let [lasting, session] = [SECTION, ""].map(|text| Document::parse(text.to_owned()));
        Files::new(lasting, session)
    }

    fn target(title: &str, line: Option<usize>) -> Target {
        Target { scope: Scope::Location(1), title: title.to_owned(), line }
    }

    /// The titles of the live memories, after a correction of both trolls by their lines.
    fn live_after(correction: &Correction) -> Vec<String> {
        let mut files = files();
        correct(&mut files, correction, &Moment::default()).expect("both are found by their lines");
        files.section(&Scope::Location(1)).live().map(|memory| memory.title.clone()).collect()
    }

    #[test]
    fn each_target_means_the_line_that_it_had_before_the_correction() {
        let trolls = || vec![target("Troll", Some(5)), target("Troll", Some(8)), target("Sword", None)];
        let successor = Memory::new(Category::note(), "Cave is empty", "Nobody lives there any more.");
        assert_eq!(live_after(&Correction::Supersede(trolls(), Box::new(successor))), ["Cave is empty"]);
        assert!(live_after(&Correction::Invalidate(trolls(), "All gone.".to_owned())).is_empty());
    }

    #[test]
    fn an_entry_is_struck_once() {
        let twice = vec![target("Sword", None), target("Sword", None)];
        let refused =
            correct(&mut files(), &Correction::Invalidate(twice, "Gone.".to_owned()), &Moment::default());
        assert!(matches!(refused, Err(CorrectionError::Unknown { .. })), "{refused:?}");
    }
}
