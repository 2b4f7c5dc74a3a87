//! Duplicates: the entry that says the same as a new memory, and the details that the memory adds to it.

use crate::add_report::{AddOutcome, AddReport};
use crate::anchored::{inherit, renew};
use crate::authorship::Repeated;
use crate::files::{Files, Tier, live};
use memories_document::DocumentError;
use memories_document::types::{Anchor, Category, Memory, MemoryObject, Persistence, Scope, writer_of};

/// The report on a text that another entry says already.
pub(super) fn duplicate_report(files: &Files, scope: &Scope, old: &Memory, text: &str) -> AddReport {
    let author = files.authorship.author_of(scope, old);
    let entry = MemoryObject::of(scope, &files.name_of(scope), old, author);
    let report = AddReport::of(AddOutcome::Duplicate, files.authorship.author(), entry);
    AddReport { not_stored: Some(text.to_owned()), ..report }
}

/// Gives the higher importance to the entry that is there.
/// An ephemeral entry becomes lasting if the memory is lasting; its words and its author stay.
pub(super) fn merge_duplicate(
    files: &mut Files,
    scope: &Scope,
    name: &str,
    old: &Memory,
    memory: &Memory,
    report: AddReport,
) -> Result<AddReport, DocumentError> {
    if promotes(old, memory) {
        let mut lasting = Memory { persistence: memory.persistence, ..old.clone() };
        if memory.importance() > old.importance() {
            lasting.provenance.importance = memory.provenance.importance;
        }
        if let Some(found) = files.first(scope, &old.title) {
            found.entry.remove();
        }
        files.append(scope, name, &lasting, Repeated::Yes)?;
        return Ok(AddReport { outcome: AddOutcome::Revised, ..report.with(&lasting) });
    }
    files.authorship.note(scope, old, Repeated::Yes);
    let raised_to = raise_importance(files, scope, old, memory.importance());
    let mut now = old.clone();
    now.provenance.importance = raised_to.or(now.provenance.importance);
    Ok(AddReport { raised_to, ..report.with(&now) })
}

/// Anchors the entry that a memory repeats to its files as they are, and to those that the memory names.
pub(super) fn anchor_anew(files: &mut Files, scope: &Scope, report: AddReport, memory: &Memory) -> AddReport {
    let anchored = files.anchored.clone();
    let Ok(mut found) = files.only(scope, report.title(), live) else { return report };
    let mut entry = found.memory();
    let before = entry.provenance.tags.clone();
    inherit(&mut entry, memory);
    renew(anchored.as_deref(), scope, &mut entry);
    if entry.provenance.tags == before {
        return report;
    }
    found.revise_line(&entry);
    report.with(&entry)
}

/// Fields that the caller gave and the existing entry does not have.
pub(super) fn not_taken(old: &Memory, memory: &Memory) -> Vec<&'static str> {
    let is_new = |tag: &String| {
        writer_of(tag).is_none() && Anchor::of_tag(tag).is_none() && !old.provenance.tags.contains(tag)
    };
    let wishes = [
        ("category", memory.category != Category::note() && memory.category != old.category),
        ("persistence", memory.persistence < old.persistence && memory.persistence == Persistence::Core),
        ("status", memory.status != old.status),
        ("tags", memory.provenance.tags.iter().any(is_new)),
        ("context", memory.context.is_some() && memory.context != old.context),
    ];
    wishes.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

/// True if an entry ends with its episode and a memory does not.
pub(super) fn promotes(old: &Memory, memory: &Memory) -> bool {
    Tier::of(old.persistence) == Tier::Session && Tier::of(memory.persistence) == Tier::Lasting
}

/// Raises an entry's importance; `None` where it is at least as high, or the title is not unique.
fn raise_importance(files: &mut Files, scope: &Scope, old: &Memory, importance: u16) -> Option<u16> {
    if importance <= old.importance() {
        return None;
    }
    let mut found = files.only(scope, &old.title, live).ok()?;
    let mut memory = found.entry.memory();
    memory.provenance.importance = Some(importance);
    found.entry.revise_line(&memory);
    Some(importance)
}
