//! Entries that nothing bore out when a model stated them, and the turn that bears them out.

use crate::add_report::AddReport;
use crate::duplicates::ComparableText;
use crate::files::{Files, live};
use memories_document::types::{Memory, Scope, UNSUPPORTED_TAG};

/// The title of the unsupported entry that says the same and contests another one, if a turn bears out the memory now.
pub(super) fn unsupported_contest(
    files: &Files,
    scope: &Scope,
    memory: &Memory,
    is_borne_out: bool,
) -> Vec<String> {
    if !is_borne_out {
        return Vec::new();
    }
    let text = ComparableText::new(&memory.text);
    let is_contest = |old: &Memory| old.has_tag(UNSUPPORTED_TAG) && old.contests() && text.is_duplicate(old);
    let said = files.live(scope).filter(|entry| text.may_be_said_by(entry));
    said.map(|entry| entry.read()).find(is_contest).map(|old| old.title).into_iter().collect()
}

/// Takes the mark from the entry of a report, which a turn bears out now.
pub(super) fn bear_out(files: &mut Files, scope: &Scope, report: AddReport) -> AddReport {
    let Ok(mut found) = files.only(scope, report.title(), live) else { return report };
    let mut memory = found.memory();
    memory.provenance.tags.retain(|tag| tag != UNSUPPORTED_TAG);
    found.revise_line(&memory);
    report.with(&memory)
}
