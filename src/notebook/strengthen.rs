//! Reinforces and links memories, as agents do. What is protected stays as it is.

use crate::document::EntryEdit;
use crate::document::link::Link;
use crate::notebook::authority::{Authority, protection};
use crate::notebook::correction::{Corrected, CorrectionError, Target, locate};
use crate::notebook::files::{Files, FoundEntry};
use crate::types::Memory;

/// Why an importance is not raised further.
const NO_MORE: &str = "an agent may give no more";

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
/// as it is, and so does a protected memory, to which only the other one links.
pub(super) fn associate(
    files: &mut Files,
    one: &Target,
    other: &Target,
) -> Result<Vec<Corrected>, CorrectionError> {
    let place_of = |found: &FoundEntry<'_>| (found.tier, found.entry.line());
    let place = place_of(&locate(files, one, true, Memory::is_live)?);
    if place == place_of(&locate(files, other, true, Memory::is_live)?) {
        return Err(CorrectionError::Itself(one.title.clone()));
    }
    let mut results = Vec::new();
    for (from, to) in [(one, other), (other, one)] {
        let linked = locate(files, to, true, Memory::is_live)?.memory();
        let memory = locate(files, from, true, Memory::is_live)?.memory();
        let link = Link::to(&to.scope, &linked.title).add_to(memory.see_also.as_deref());
        let protected = protection(files, &from.scope, &memory, None, Authority::MODEL);
        let (outcome, why) = match (link, protected) {
            (None, _) => ("unchanged", None),
            (Some(_), Some(why)) => ("unchanged", Some(why)),
            (Some(see_also), None) => {
                let mut found = locate(files, from, true, Memory::is_live)?;
                found.entry.edit(EntryEdit::SetSeeAlso(see_also))?;
                ("associated", None)
            }
        };
        results.push(Corrected { why, ..Corrected::of(outcome, &from.scope, &memory.title) });
    }
    if results.iter().all(|result| result.why.is_some()) {
        return Err(CorrectionError::BothProtected(one.title.clone(), other.title.clone()));
    }
    Ok(results)
}
