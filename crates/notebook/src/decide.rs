//! A person's decision on a memory that waits for one: it is believed, or it is struck.

use crate::authority::Authority;
use crate::contest::NOTE_TITLE;
use crate::correction::{Corrected, CorrectionError, Target, locate};
use crate::doubt::{contested_titles, doubt_of};
use crate::files::{Files, Tier};
use crate::protection::Protection;
use crate::strike::strike;
use memories_document::EntryEdit;
use memories_document::types::text::fold_spaces;
use memories_document::types::{
    CONTESTED_TAG, Cause, Memory, Moment, Outcome, Persistence, Reference, Scope, Status, UNSUPPORTED_TAG,
};

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
        found.entry.edit(EntryEdit::Supersede(Some(Reference { at: at.clone(), cause })));
        return Ok(vec![Corrected::of(Outcome::Rejected, scope, &memory.title)]);
    }
    let titles = contested_titles(scope, &memory);
    let live = titles.into_iter().filter(|title| files.live_with_title(scope, title).is_some()).collect();
    let mut results = vec![Corrected::of(Outcome::Accepted, scope, &memory.title)];
    results.extend(believe(files, scope, &memory, live, at));
    Ok(results)
}

/// Makes a live entry active, takes its doubts away, and strikes the entries with the titles.
fn believe(
    files: &mut Files,
    scope: &Scope,
    memory: &Memory,
    titles: Vec<String>,
    at: &Moment,
) -> Vec<Corrected> {
    let olds: Vec<Memory> =
        titles.iter().flat_map(|title| files.find(scope, title)).map(|(_, old)| old).collect();
    let Some((tier, number)) = files.number_of(scope, memory) else { return Vec::new() };
    let mut believed = Memory { status: Status::Active, ..memory.clone() };
    believed.provenance.tags.retain(|tag| tag != CONTESTED_TAG && tag != UNSUPPORTED_TAG);
    let is_core = olds.iter().any(|old| old.persistence == Persistence::Core);
    if is_core && tier == Tier::Lasting {
        believed.persistence = Persistence::Core;
    }
    files.entry(scope, tier, number).revise_line(&believed);
    let (cause, outcome) = if memory.title.starts_with(NOTE_TITLE) {
        (Cause::Invalidated(fold_spaces(&memory.text)), Outcome::Invalidated)
    } else {
        (Cause::SupersededBy(memory.title.clone()), Outcome::Superseded)
    };
    let reference = Reference { at: at.clone(), cause };
    let mut struck = Vec::new();
    for title in &titles {
        let title = strike(files, scope, title, &reference, &mut Vec::new());
        struck.extend(title.map(|title| Corrected::of(outcome, scope, &title)));
    }
    struck
}
