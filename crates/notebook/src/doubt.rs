//! Doubts about a memory, as its line shows them: it contests others, nothing bears it out, or it is tentative.

use memories_document::link::Link;
use memories_document::types::{CONTESTED_TAG, Memory, Scope, Status, UNSUPPORTED_TAG, same_title};

/// Why a memory waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Doubt {
    /// It contests other entries.
    Contests,
    /// Nothing in its turn bears it out.
    Unsupported,
    /// It is tentative.
    Tentative,
}

/// Why a live memory waits for a person; `None` where it does not.
pub fn doubt_of(memory: &Memory) -> Option<Doubt> {
    if memory.has_tag(CONTESTED_TAG) {
        Some(Doubt::Contests)
    } else if memory.has_tag(UNSUPPORTED_TAG) {
        Some(Doubt::Unsupported)
    } else {
        (memory.status == Status::Tentative).then_some(Doubt::Tentative)
    }
}

/// The titles of its section to which a memory that contests others links.
pub fn contested_titles(scope: &Scope, memory: &Memory) -> Vec<String> {
    let links = memory.see_also.as_deref().filter(|_| memory.has_tag(CONTESTED_TAG)).map(Link::parse_all);
    let here = links.into_iter().flatten().filter(|link| link.scope.as_ref().is_none_or(|own| own == scope));
    here.filter_map(|link| link.title).filter(|title| !same_title(title, &memory.title)).collect()
}
