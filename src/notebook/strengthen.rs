//! Reinforces and links memories. What is protected stays as it is, unless a person links it.

use crate::document::EntryEdit;
use crate::document::link::Link;
use crate::notebook::authority::{Authority, protection};
use crate::notebook::correction::{Corrected, CorrectionError, Target, locate};
use crate::notebook::files::{Files, FoundEntry, Tier};
use crate::types::Memory;

/// Why an importance is not raised further.
const NO_MORE: &str = "an agent may give no more";

/// Why a lasting memory does not link to an ephemeral one.
const PASSES: &str = "the other one is ephemeral, and a link to it would soon lead to nothing";

/// Raises the importance of a memory, as far as an agent may.
pub(super) fn reinforce(
    files: &mut Files,
    target: &Target,
    amount: u16,
) -> Result<Vec<Corrected>, CorrectionError> {
    let old = locate(files, target, true, Memory::is_live)?.memory();
    let unchanged =
        |why| vec![Corrected { why: Some(why), ..Corrected::of("unchanged", &target.scope, &old.title) }];
    if let Some(why) = protection(files, &target.scope, &old, None, Authority::MODEL) {
        return Ok(unchanged(why));
    }
    let limit = Authority::MODEL.limit(&old.category);
    let importance = old.importance().saturating_add(amount).min(limit);
    if importance == old.importance() {
        return Ok(unchanged(NO_MORE));
    }
    let mut found = locate(files, target, true, Memory::is_live)?;
    let mut memory = found.entry.memory();
    memory.persistence = found.tier.written(memory.persistence);
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Ok(vec![Corrected::of("reinforced", &target.scope, &memory.title)])
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
    let other_place = place_of(&locate(files, other, true, Memory::is_live)?);
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
            true => Some(PASSES),
            false => protection(files, &from.scope, &memory, None, authority),
        };
        let (outcome, why) = match (link, kept) {
            (None, _) => ("unchanged", None),
            (Some(_), Some(why)) => ("unchanged", Some(why)),
            (Some(see_also), None) => {
                let mut found = locate(files, from, true, Memory::is_live)?;
                found.entry.edit(EntryEdit::SetSeeAlso(see_also))?;
                ("linked", None)
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
