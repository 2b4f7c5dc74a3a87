//! Reinforces and links memories. What is protected stays as it is, unless a person links it.

use crate::authority::{Authority, protection};
use crate::correction::{Corrected, CorrectionError, Target, locate};
use crate::files::{Files, FoundEntry, Tier};
use crate::protection::Protection;
use memories_document::EntryEdit;
use memories_document::link::Link;
use memories_document::types::{Memory, Outcome, Scope};

/// Limit of other scopes that a hint names.
const SUGGESTED: usize = 3;

/// Raises the importance of a memory, as far as an agent may.
pub(super) fn reinforce(
    files: &mut Files,
    target: &Target,
    amount: u16,
) -> Result<Vec<Corrected>, CorrectionError> {
    let old = locate(files, target, true, Memory::is_live)?.memory();
    let unchanged = |why| {
        vec![Corrected { why: Some(why), ..Corrected::of(Outcome::Unchanged, &target.scope, &old.title) }]
    };
    if let Some(why) = protection(files, &target.scope, &old, None, Authority::MODEL) {
        return Ok(unchanged(why));
    }
    let limit = Authority::MODEL.limit(&old.category);
    let importance = old.importance().saturating_add(amount).min(limit);
    if importance == old.importance() {
        return Ok(unchanged(Protection::NoMore));
    }
    let mut found = locate(files, target, true, Memory::is_live)?;
    let mut memory = found.entry.memory();
    memory.provenance.importance = Some(importance);
    found.revise_line(&memory);
    Ok(vec![Corrected::of(Outcome::Reinforced, &target.scope, &memory.title)])
}

/// The error of the second memory of a link, whose flags are its own. Only a person learns of other scopes.
fn about_other(error: CorrectionError, files: &Files, authority: Authority) -> CorrectionError {
    match error {
        CorrectionError::Ambiguous { scope, title, lines, .. } => {
            CorrectionError::Ambiguous { scope, title, lines, flag: "--other-line" }
        }
        CorrectionError::Unknown { scope, title, nearest, live } if authority == Authority::Command => {
            let mut others: Vec<Scope> = files.headings().map(|heading| heading.scope.clone()).collect();
            others.sort();
            others.dedup();
            others.retain(|other| files.live_with_title(other, &title).is_some());
            others.truncate(SUGGESTED);
            if others.is_empty() {
                CorrectionError::Unknown { scope, title, nearest, live }
            } else {
                CorrectionError::Elsewhere { scope, title, others }
            }
        }
        error => error,
    }
}

/// Links in both directions, so that a reader of either memory finds the other. An existing link stays
/// as it is, and so does a protected memory, and a lasting one beside an ephemeral one: only the other one links to it.
pub(super) fn link(
    files: &mut Files,
    one: &Target,
    other: &Target,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    let place_of = |found: &FoundEntry<'_>| (found.tier, found.entry.line());
    let place = place_of(&locate(files, one, true, Memory::is_live)?);
    let found = locate(files, other, true, Memory::is_live).map(|found| place_of(&found));
    let other_place = found.map_err(|error| about_other(error, files, authority))?;
    if place == other_place {
        return Err(CorrectionError::Itself(one.title.clone()));
    }
    // A new line moves the entries behind it, which have targets by line: the last entry is edited first.
    let is_first = place.1 < other_place.1;
    let (last, first) = if is_first { (other, one) } else { (one, other) };
    let mut results = Vec::new();
    for (from, to) in [(last, first), (first, last)] {
        let (linked, passes) = {
            let found = locate(files, to, true, Memory::is_live)?;
            (found.memory(), found.tier == Tier::Session)
        };
        let found = locate(files, from, true, Memory::is_live)?;
        let (memory, lasts) = (found.memory(), found.tier == Tier::Lasting);
        let link = Link::to(&to.scope, &linked.title).add_to(memory.see_also.as_deref());
        let kept = match lasts && passes {
            true => Some(Protection::OtherPasses),
            // Its links say what a person strikes who believes it.
            false if memory.contests() && authority != Authority::Command => Some(Protection::LinksContest),
            false => protection(files, &from.scope, &memory, None, authority),
        };
        let (outcome, why) = match (link, kept) {
            (None, _) => (Outcome::Unchanged, None),
            (Some(_), Some(why)) => (Outcome::Unchanged, Some(why)),
            (Some(see_also), None) => {
                let mut found = locate(files, from, true, Memory::is_live)?;
                found.entry.edit(EntryEdit::SetSeeAlso(see_also));
                (Outcome::Linked, None)
            }
        };
        results.push(Corrected { why, ..Corrected::of(outcome, &from.scope, &memory.title) });
    }
    if is_first {
        results.reverse();
    }
    if results.iter().all(|result| result.why.is_some()) {
        return Err(CorrectionError::BothProtected(one.title.clone(), other.title.clone()));
    }
    Ok(results)
}
