//! Marks: a memory's status, importance, persistence and protection are set.
//!
//! A named writer sets them if it alone wrote the entry. It may contest entries of other writers.

use crate::add_report::KeptEntry;
use crate::anchored::renew;
use crate::authority::{Authority, protection};
use crate::contest::contest;
use crate::correction::{Corrected, CorrectionError, Marks, Target, locate};
use crate::files::{Files, Tier};
use crate::protection::Protection;
use memories_document::EntryEdit;
use memories_document::types::{Cause, Memory, Moment, Outcome, PINNED_TAG, Persistence, Reference, Status};

/// The reason in the reference line of a memory that is marked as superseded.
const MARKED: &str = "marked as superseded";

/// Sets what is given.
pub(super) fn mark(
    files: &mut Files,
    target: &Target,
    marks: Marks,
    at: &Moment,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    if marks == Marks::default() {
        return Err(CorrectionError::NothingToSet);
    }
    let revives = matches!(marks.status, Some(Status::Active | Status::Tentative));
    let live = !files.find(&target.scope, &target.title).is_empty();
    let name = files.name_of(&target.scope);
    // A superseded entry is meant only if it would be revived and no live entry has its title.
    let is_meant = |memory: &Memory| memory.is_live() || (revives && !live) || target.line.is_some();
    let old = locate(files, target, !revives, is_meant)?.memory();
    if authority == Authority::Writer
        && let Some(done) = mark_in_name(files, target, &old, marks, at)?
    {
        return Ok(done);
    }
    let anchored = files.anchored.clone();
    let mut found = locate(files, target, !revives, is_meant)?;
    let tier = found.tier;
    if marks.persistence == Some(Persistence::Ephemeral) && tier == Tier::Lasting {
        return Err(CorrectionError::Lasting(old.title));
    }
    if revives && !old.is_live() && live {
        return Err(CorrectionError::TitleInUse { scope: target.scope.clone(), title: old.title });
    }
    match marks.status {
        Some(Status::Superseded) if old.is_live() => {
            let cause = Cause::Invalidated(MARKED.to_owned());
            found.entry.edit(EntryEdit::Supersede(Some(Reference { at: at.clone(), cause })));
        }
        Some(status) if !old.is_live() && status != Status::Superseded => {
            found.entry.edit(EntryEdit::Revive(status));
        }
        _ => {}
    }
    let mut memory = found.entry.memory();
    memory.status = marks.status.unwrap_or(memory.status);
    memory.provenance.importance = marks.importance.or(memory.provenance.importance);
    memory.persistence = marks.persistence.filter(|_| tier == Tier::Lasting).unwrap_or(memory.persistence);
    if let Some(pinned) = marks.pinned {
        memory.provenance.tags.retain(|tag| tag != PINNED_TAG);
        memory.provenance.tags.extend(pinned.then(|| PINNED_TAG.to_owned()));
    }
    if marks.status == Some(Status::Active) {
        renew(anchored.as_deref(), &target.scope, &mut memory);
    }
    found.entry.revise_line(&memory);
    if let (Tier::Session, Some(persistence @ (Persistence::Permanent | Persistence::Core))) =
        (tier, marks.persistence)
    {
        found.entry.remove();
        files.lasting.add(&target.scope, &name, &Memory { persistence, ..memory })?;
    }
    Ok(vec![Corrected::of(Outcome::Marked, &target.scope, &old.title)])
}

/// The rights of a named writer on an entry that it did not write alone: to contest it. `None` where it did.
fn mark_in_name(
    files: &mut Files,
    target: &Target,
    old: &Memory,
    marks: Marks,
    at: &Moment,
) -> Result<Option<Vec<Corrected>>, CorrectionError> {
    let scope = &target.scope;
    let kept = |why| Err(CorrectionError::Kept { title: old.title.clone(), why });
    let Some(why) = protection(files, scope, old, None, Authority::Writer) else {
        return match marks.status {
            Some(Status::Active) if old.contests() => kept(Protection::Unconfirmed),
            _ => Ok(None),
        };
    };
    let sets_more = marks.importance.is_some() || marks.persistence.is_some() || marks.pinned.is_some();
    match marks.status {
        Some(Status::Superseded) if old.is_live() && !sets_more => {
            let contested = KeptEntry { title: old.title.clone(), reason: why };
            Ok(Some(Corrected::all_of(&contest(files, scope, contested, MARKED, at)?)))
        }
        _ => kept(why),
    }
}
