//! Rewrites the notes of the built-in rules, as long as nobody changed them.

use crate::authority::{Authority, protection};
use crate::authorship::Repeated;
use crate::files::Files;
use crate::same::add_missing;
use crate::strike::strike;
use memories_document::types::{Author, Category, Cause, Memory, Moment, OFFLINE_TAG, Reference, Scope};
use memories_document::{DocumentError, EntryEdit, stored};

/// True if the built-in rules rewrite a note of their own, which nobody changed.
pub(super) fn is_rewritten(
    files: &Files,
    scope: &Scope,
    old: &Memory,
    new: &Memory,
    authority: Authority,
) -> bool {
    let offline = |memory: &Memory| memory.has_tag(OFFLINE_TAG);
    matches!(authority, Authority::Rules(_))
        && files.is_by_rules(scope, old)
        && offline(old)
        && offline(new)
        && protection(files, scope, old, Some(&new.category), authority).is_none()
}

/// Puts an entry of the built-in rules in place of the live one with its title. One that a person changed is struck, with
/// all its words: then the answer is `true`.
///
/// # Errors
///
/// See [`DocumentError`].
pub fn replace_own(
    files: &mut Files,
    scope: &Scope,
    memory: Memory,
    at: &Moment,
) -> Result<bool, DocumentError> {
    files.authorship.set_author(Author::Rules);
    let memory = stored(&memory);
    let old = files.live_with_title(scope, &memory.title);
    let Some(old) = old else {
        return files.append(scope, "", &memory, Repeated::No).map(|()| false);
    };
    if !files.is_by_rules(scope, &old) {
        let reference = Reference { at: at.clone(), cause: Cause::SupersededBy(memory.title.clone()) };
        strike(files, scope, &old.title, &reference, &mut Vec::new());
        return files.append(scope, "", &memory, Repeated::No).map(|()| true);
    }
    files.authorship.note(scope, &memory, Repeated::No);
    if let Some(mut found) = files.first(scope, &old.title) {
        found.entry.edit(EntryEdit::Revise(memory));
    }
    Ok(false)
}

/// Gives a note of the built-in rules another text. What else its line says stays: tags, sources, remarks, a
/// higher importance, and that it is a danger. The result is the note as it is now.
pub(super) fn rewrite_note(files: &mut Files, scope: &Scope, old: &Memory, new: &Memory) -> Memory {
    let mut revised = old.revised_to(new.clone());
    let (fields, kept) = (&mut revised.provenance, &old.provenance);
    fields.importance = fields.importance.max(kept.importance);
    add_missing(&mut fields.tags, &kept.tags);
    add_missing(&mut fields.sources, &kept.sources);
    add_missing(&mut fields.other, &kept.other);
    if old.category.is_danger() {
        revised.category = Category::danger();
    }
    files.authorship.note(scope, &revised, Repeated::No);
    let Some(mut found) = files.first(scope, &old.title) else { return revised };
    let persistence = found.tier.written(revised.persistence);
    found.entry.edit(EntryEdit::Revise(Memory { persistence, ..revised.clone() }));
    revised
}
