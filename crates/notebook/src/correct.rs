//! Corrections by exact title: supersede, invalidate, mark, reinforce, link, forget, rename.
//!
//! [`correct`] edits both files and reports what it did, or fails. The caller writes the files only if
//! all corrections of a command succeed. A model or an agent contests a protected entry.

use std::cmp::Reverse;

use crate::add::{Claim, store_memory};
use crate::add_report::KeptEntry;
use crate::anchored::inherit;
use crate::authority::{Authority, protection};
use crate::confirm::contested_by;
use crate::contest::contest;
use crate::correction::locate;
pub use crate::correction::{Corrected, Correction, CorrectionError, Marks, Target, check_consistent};
use crate::decide::decide;
use crate::duplicates::ComparableText;
use crate::files::{Files, Tier};
use crate::mark::mark;
use crate::strengthen::{link, reinforce};
use crate::telling::{inherit_witnesses, tell};
use crate::titles::free_title;
use memories_document::text::stored_title;
use memories_document::types::{
    Cause, Memory, Moment, Outcome, Persistence, Reference, Scope, fold_title, same_title,
};
use memories_document::{EntryEdit, EntryText, stored};

/// Makes one correction; reference lines get the moment `at`.
///
/// # Errors
///
/// See [`CorrectionError`]; the files must then be discarded.
pub fn correct(
    files: &mut Files,
    correction: &Correction,
    at: &Moment,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    let authority = authority.in_name_of(files.writer.as_ref());
    match correction {
        Correction::Supersede(targets, successor) => supersede(files, targets, successor, at, authority),
        Correction::Invalidate(targets, reason) => invalidate(files, targets, reason, at, authority),
        Correction::Mark(target, marks) => mark(files, target, *marks, at, authority),
        Correction::Reinforce(target, amount) => reinforce(files, target, *amount),
        Correction::Tell(target, telling) => tell(files, target, telling),
        Correction::Link(one, other) => link(files, one, other, authority),
        Correction::Forget(target) => forget(files, target, authority),
        Correction::Rename(scope, name) => rename(files, scope, name),
        Correction::Accept(target) => decide(files, target, true, at, authority),
        Correction::Reject(target) => decide(files, target, false, at, authority),
    }
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
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    let Some(Target { scope, .. }) = targets.first() else { return Err(CorrectionError::Empty("title")) };
    let is_untitled = stored_title(&successor.title).is_empty();
    let mut successor = stored(successor);
    if successor.text.is_empty() {
        return Err(CorrectionError::Empty("text"));
    }
    let targets = last_lines_first(targets);
    let olds = superseded(files, &targets, &successor)?;
    name_witnesses(&mut successor, &olds)?;
    if is_untitled {
        successor = free_title(files, scope, successor, |memory| olds.contains(memory));
    }
    let others = |wanted: &dyn Fn(&EntryText<'_>) -> bool| {
        let wanted = files.live(scope).filter(wanted).map(|entry| entry.read());
        wanted.filter(|memory| !olds.contains(memory)).collect::<Vec<Memory>>()
    };
    let title = fold_title(&successor.title);
    if !others(&|entry| entry.has_title(&title)).is_empty() {
        return Err(CorrectionError::TitleInUse { scope: scope.clone(), title: successor.title });
    }
    let is_protected =
        |old: &Memory| protection(files, scope, old, Some(&successor.category), authority).is_some();
    // The successor of what contests others contests them, too.
    let contested = olds.iter().flat_map(|old| contested_by(files, scope, old)).collect::<Vec<String>>();
    if olds.iter().any(is_protected) || !contested.is_empty() && authority != Authority::Command {
        let titles: Vec<String> = olds.iter().map(|old| old.title.clone()).chain(contested).collect();
        let claim = Claim { supersedes: &titles, at, ..Claim::of(authority) };
        let name = files.name_of(scope);
        let report = store_memory(files, scope, &name, &successor, claim, &mut Vec::new())?;
        return Ok(Corrected::all_of(&report));
    }
    let text = ComparableText::new(&successor.text);
    let same = others(&|entry| text.may_be_said_by(entry)).into_iter().find(|other| {
        text.is_duplicate(other) && other.provenance.witnesses().cover(&successor.provenance.witnesses())
    });
    if let Some(other) = same {
        return Err(CorrectionError::NearDuplicate(other.title));
    }
    let name = files.name_of(scope);
    let stays_core = inherit_from_all(files, scope, &mut successor, &olds);
    let mut results = Vec::new();
    for (target, old) in targets.iter().zip(&olds) {
        let mut found = locate(files, target, true, Memory::is_live)?;
        let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(successor.title.clone()) };
        found.entry.edit(EntryEdit::Supersede(Some(reference)));
        results.push(Corrected::of(Outcome::Superseded, scope, &old.title));
    }
    let claim = Claim::of(authority);
    let applied = store_memory(files, scope, &name, &successor, claim, &mut Vec::new())?;
    let persistence = stays_core.then_some(Persistence::Core);
    results.push(Corrected { persistence, ..Corrected::of(Outcome::Stored, scope, applied.title()) });
    Ok(results)
}

/// The memories that a successor supersedes.
fn superseded(
    files: &mut Files,
    targets: &[&Target],
    successor: &Memory,
) -> Result<Vec<Memory>, CorrectionError> {
    let mut olds = Vec::with_capacity(targets.len());
    for target in targets {
        let found = locate(files, target, true, Memory::is_live)?;
        let old = found.memory();
        if found.tier == Tier::Lasting && successor.persistence == Persistence::Ephemeral {
            return Err(CorrectionError::Lasting(old.title));
        }
        olds.push(old);
    }
    Ok(olds)
}

/// Gives a successor that names no witnesses those of the memories that it supersedes, who must be the same.
fn name_witnesses(successor: &mut Memory, olds: &[Memory]) -> Result<(), CorrectionError> {
    let Some((first, others)) = olds.split_first() else { return Ok(()) };
    if !successor.provenance.witnesses().is_everybody() {
        return Ok(());
    }
    let witnesses = first.provenance.witnesses();
    if let Some(other) = others.iter().find(|other| other.provenance.witnesses() != witnesses) {
        return Err(CorrectionError::OtherWitnesses(first.title.clone(), other.title.clone()));
    }
    inherit_witnesses(successor, first);
    Ok(())
}

/// Gives a successor what it takes over from the memories that it supersedes: links, anchors, and that it is core. True if
/// it is core for that reason.
fn inherit_from_all(files: &Files, scope: &Scope, successor: &mut Memory, olds: &[Memory]) -> bool {
    let stays_core = successor.persistence != Persistence::Core
        && olds.iter().any(|old| old.persistence == Persistence::Core);
    if stays_core {
        successor.persistence = Persistence::Core;
    }
    if let Some(old) = olds.iter().find(|old| same_title(&old.title, &successor.title)) {
        successor.see_also = successor.see_also.take().or_else(|| old.see_also.clone());
    }
    if successor.anchors().next().is_none() {
        olds.iter().for_each(|old| inherit(successor, old));
        files.renew(scope, successor);
    }
    stays_core
}

fn invalidate(
    files: &mut Files,
    targets: &[Target],
    reason: &str,
    at: &Moment,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    if reason.trim().is_empty() {
        return Err(CorrectionError::Empty("reason"));
    }
    if targets.is_empty() {
        return Err(CorrectionError::Empty("title"));
    }
    let mut results = Vec::new();
    for target in last_lines_first(targets) {
        let found = locate(files, target, true, Memory::is_live)?;
        let old = found.memory();
        if let Some(why) = protection(files, &target.scope, &old, None, authority) {
            let contested = KeptEntry { title: old.title, reason: why };
            let report = contest(files, &target.scope, contested, reason, at)?;
            results.extend(Corrected::all_of(&report));
            continue;
        }
        let title = old.title;
        let mut found = locate(files, target, true, Memory::is_live)?;
        let reference = Reference { at: at.clone(), cause: Cause::Invalidated(reason.to_owned()) };
        found.entry.edit(EntryEdit::Supersede(Some(reference)));
        results.push(Corrected::of(Outcome::Invalidated, &target.scope, &title));
    }
    Ok(results)
}

fn forget(
    files: &mut Files,
    target: &Target,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    let live = !files.find(&target.scope, &target.title).is_empty();
    let is_meant = |memory: &Memory| memory.is_live() || !live || target.line.is_some();
    let memory = locate(files, target, false, is_meant)?.memory();
    if let Some(why) = protection(files, &target.scope, &memory, None, authority) {
        return Err(CorrectionError::Kept { title: memory.title, why });
    }
    locate(files, target, false, is_meant)?.entry.remove();
    Ok(vec![Corrected {
        memory: Some(memory.clone()),
        ..Corrected::of(Outcome::Forgotten, &target.scope, &memory.title)
    }])
}

fn rename(files: &mut Files, scope: &Scope, name: &str) -> Result<Vec<Corrected>, CorrectionError> {
    if name.trim().is_empty() {
        return Err(CorrectionError::Empty("name"));
    }
    if !files.lasting.rename(scope, name) {
        return Err(CorrectionError::NoSection(scope.clone()));
    }
    Ok(vec![Corrected::of(Outcome::Renamed, scope, name.trim())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::Document;
    use memories_document::types::Category;

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
        correct(&mut files, correction, &Moment::default(), Authority::Command)
            .expect("both are found by their lines");
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
        let refused = correct(
            &mut files(),
            &Correction::Invalidate(twice, "Gone.".to_owned()),
            &Moment::default(),
            Authority::Command,
        );
        assert!(matches!(refused, Err(CorrectionError::Unknown { .. })), "{refused:?}");
    }
}
