//! A person's decision on a memory that waits for one: it is believed, or it is struck.

use crate::authority::Authority;
use crate::confirm::{believe, outcome_of_struck};
use crate::correction::{Corrected, CorrectionError, Target, locate};
use crate::doubt::{contested_titles, doubt_of};
use crate::files::Files;
use crate::protection::Protection;
use memories_document::EntryEdit;
use memories_document::types::{Cause, Memory, Moment, Outcome, Reference};

/// The reason in the reference line of a memory that a person rejected.
const REJECTED: &str = "rejected in a review";

/// Believes a memory, and strikes what it contests; or strikes the memory itself.
///
/// # Errors
///
/// When no live memory has the title, it waits for no decision, or no person decides.
pub(super) fn decide(
    files: &mut Files,
    target: &Target,
    is_accepted: bool,
    at: &Moment,
    authority: Authority,
) -> Result<Vec<Corrected>, CorrectionError> {
    let scope = &target.scope;
    let mut found = locate(files, target, true, Memory::is_live)?;
    let memory = found.memory();
    if authority != Authority::Command {
        return Err(CorrectionError::Kept { title: memory.title, why: Protection::Review });
    }
    if doubt_of(&memory).is_none() {
        return Err(CorrectionError::NothingToDecide(memory.title));
    }
    if !is_accepted {
        let cause = Cause::Invalidated(REJECTED.to_owned());
        found.entry.edit(EntryEdit::Supersede(Some(Reference { at: at.clone(), cause })))?;
        return Ok(vec![Corrected::of(Outcome::Rejected, scope, &memory.title)]);
    }
    let titles = contested_titles(scope, &memory);
    let live = titles.into_iter().filter(|title| files.live_with_title(scope, title).is_some()).collect();
    let struck = believe(files, scope, &memory, live, at)?.unwrap_or_default();
    let mut results = vec![Corrected::of(Outcome::Accepted, scope, &memory.title)];
    let outcome = outcome_of_struck(&memory.title);
    results.extend(struck.iter().map(|title| Corrected::of(outcome, scope, title)));
    Ok(results)
}
