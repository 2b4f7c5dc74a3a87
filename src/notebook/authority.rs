//! Authority: who may put a memory in the place of another.
//!
//! A person's words, core, the confirmed and the lasting yield to their like only; see the laws of
//! `docs/DESIGN.md`, 2.2.

use crate::notebook::files::{Files, Tier};
use crate::types::{Memory, OFFLINE_TAG, Persistence, Scope, Status};

/// The grounds on which a memory may take the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authority {
    /// A person, or an agent that names the entry.
    Command,
    /// A model, and the game's state bears it out: a death, or a change of the score.
    ProvenModel,
    /// A model, without such evidence.
    Model,
    /// The built-in rules, which rewrite their own notes.
    Rules,
}

/// Why an entry may not be replaced by a memory, or be invalidated where there is none.
pub(crate) fn protection(
    files: &Files,
    scope: &Scope,
    old: &Memory,
    new: Option<&Memory>,
    authority: Authority,
) -> Option<&'static str> {
    let proven = authority == Authority::ProvenModel;
    let is_weaker = |new: &Memory| {
        new.importance() < old.importance() || old.category.is_danger() && !new.category.is_danger()
    };
    if authority == Authority::Command {
        None
    } else if !proven && files.is_by_hand(scope, old) {
        Some("a person wrote it")
    } else if authority == Authority::Rules && old.provenance.tags.iter().any(|tag| tag == OFFLINE_TAG) {
        None
    } else if old.persistence == Persistence::Core && new.map_or(!proven, is_weaker) {
        Some("it is core")
    } else if old.status == Status::Active && new.is_some_and(|new| new.status == Status::Tentative) {
        Some("it is confirmed")
    } else if Tier::of(old.persistence) == Tier::Lasting
        && new.is_some_and(|new| new.persistence == Persistence::Ephemeral)
    {
        Some("it lasts")
    } else {
        None
    }
}

/// True if the built-in rules rewrite a note of their own, which nobody changed.
pub(crate) fn is_rewritten(
    files: &Files,
    scope: &Scope,
    old: &Memory,
    new: &Memory,
    authority: Authority,
) -> bool {
    let offline = |memory: &Memory| memory.provenance.tags.iter().any(|tag| tag == OFFLINE_TAG);
    authority == Authority::Rules && offline(old) && offline(new) && !files.is_by_hand(scope, old)
}
