//! Authority: the highest importance of a memory, and the entries that it may replace.
//!
//! An entry is *protected* if a person or a seed wrote it, if it is core or pinned, or if it weighs more than the memory
//! may: a model or an agent contests it, and never changes it. See law 7 in `docs/format.md`.

use crate::files::{Files, Tier};
use crate::protection::Protection;
use memories_document::types::{
    Author, Category, Memory, OFFLINE_TAG, PINNED_TAG, Persistence, Scope, Status, UNSUPPORTED_TAG, Writer,
};

/// Highest importance of a memory that anybody states.
pub const MAX_IMPORTANCE: u16 = 1000;

/// Highest importance of a memory that a model, an agent or the rules state without proof.
const MAX_UNPROVEN_IMPORTANCE: u16 = 700;

/// Highest importance of a memory of a turn that changed the score.
const MAX_SCORED_IMPORTANCE: u16 = 800;

/// Facts of a turn that give weight to a memory of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// The player died.
    pub died: bool,
    /// The score changed.
    pub scored: bool,
    /// The score rose.
    pub rose: bool,
}

/// The grounds on which a memory is stored, and may take the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// A person's command.
    Command,
    /// A command of a named writer, which is no person's wish.
    Writer,
    /// A model or an agent, about a turn with these facts.
    Turn(Proof),
    /// A model, about a turn with these facts, of which nothing bears it out.
    Unsupported(Proof),
    /// The built-in rules, which rewrite their own notes.
    Rules(Proof),
    /// A model or an agent, without a turn.
    Statement {
        /// It is an agent's, in its own section.
        own_section: bool,
    },
}

impl Authority {
    /// A model's word, without a turn.
    pub const MODEL: Authority = Authority::Statement { own_section: false };

    /// The authority in the name of a writer, where there is one.
    pub(super) fn in_name_of(self, writer: Option<&Writer>) -> Authority {
        match (self, writer) {
            (Authority::Command, Some(_)) => Authority::Writer,
            (authority, _) => authority,
        }
    }

    /// The facts of the turn that a memory is about.
    fn proof(self) -> Option<Proof> {
        match self {
            Authority::Turn(proof) | Authority::Unsupported(proof) | Authority::Rules(proof) => Some(proof),
            Authority::Command | Authority::Writer | Authority::Statement { .. } => None,
        }
    }

    /// The highest importance of a memory of a category.
    pub(crate) fn limit(self, category: &Category) -> u16 {
        if matches!(self, Authority::Command | Authority::Writer) {
            return MAX_IMPORTANCE;
        }
        match self.proof() {
            Some(Proof { died: true, .. }) if category.is_danger() => MAX_IMPORTANCE,
            Some(Proof { scored: true, .. }) => MAX_SCORED_IMPORTANCE,
            _ => MAX_UNPROVEN_IMPORTANCE,
        }
    }

    /// True if the game itself shows that a memory of a turn is right, and not the entry that it contests: a death shows
    /// a DANGER, and points show a SUCCESS where the entry is a FAILURE.
    pub(super) fn is_shown_against(self, memory: &Memory, old: &Memory) -> bool {
        let Authority::Turn(proof) = self else { return false };
        old.persistence != Persistence::Core
            && match memory.category.as_str() {
                "DANGER" => proof.died,
                "SUCCESS" => proof.rose && old.category.as_str() == "FAILURE",
                _ => false,
            }
    }

    fn may_be_core(self, category: &Category) -> bool {
        match self {
            Authority::Command | Authority::Writer => true,
            Authority::Statement { own_section } => own_section,
            _ => self.proof().is_some_and(|proof| proof.died) && category.is_danger(),
        }
    }

    /// Lowers importance and persistence of a memory to what is proven, and pins none; each change is a warning.
    pub fn lower(self, memory: &mut Memory, warnings: &mut Vec<String>) {
        if self != Authority::Command && memory.has_tag(PINNED_TAG) {
            memory.provenance.tags.retain(|tag| tag != PINNED_TAG);
            warnings.push(format!("a tag `#{PINNED_TAG}` is left out: only a person pins a memory"));
        }
        let (why, why_not_core) = match self.proof() {
            Some(Proof { died: false, scored: false, .. }) => {
                ("neither death nor score bears it out", "neither death nor score bears it out")
            }
            Some(_) => ("the turn proves no more", "only a death proves it, and only of a danger"),
            None => ("nobody but a person may state more", "an agent may state it in its own section only"),
        };
        if memory.persistence == Persistence::Core && !self.may_be_core(&memory.category) {
            memory.persistence = Persistence::Permanent;
            warnings.push(format!("core lowered to permanent: {why_not_core}"));
        }
        let (importance, limit) = (memory.importance(), self.limit(&memory.category));
        if importance > limit {
            memory.provenance.importance = Some(limit);
            warnings.push(format!("importance {importance} lowered to {limit}: {why}"));
        }
    }
}

/// Why an entry may be changed by a person only, or by its writers. An entry that names its writers is theirs, whoever
/// its author is; to a named writer, all that it did not write alone is protected. `new` is the category of the memory
/// that would take its place; `None` where it would be struck without one.
pub fn protection(
    files: &Files,
    scope: &Scope,
    old: &Memory,
    new: Option<&Category>,
    authority: Authority,
) -> Option<Protection> {
    let authority = authority.in_name_of(files.writer.as_ref());
    if authority == Authority::Command {
        return None;
    }
    let own = match (old.writers().as_slice(), files.writer.as_ref().map(Writer::name)) {
        ([one], Some(name)) if *one == name => true,
        (several, Some(name)) if several.contains(&name) => return Some(Protection::OthersConfirmed),
        ([], _) => false,
        _ => return Some(Protection::AnotherWriter),
    };
    let author = files.authorship.author_of(scope, old);
    let limit = new.map_or_else(|| authority.limit(&Category::danger()), |new| authority.limit(new));
    let by_rules = || old.has_tag(OFFLINE_TAG);
    match authority {
        _ if !own && author == Author::Person => Some(Protection::Person),
        _ if !own && author == Author::Seed => Some(Protection::Seed),
        _ if !own && files.writer.is_some() => Some(Protection::NoWriter),
        _ if old.has_tag(PINNED_TAG) => Some(Protection::Pinned),
        _ if old.persistence == Persistence::Core => Some(Protection::Core),
        Authority::Rules(_) if !own && author == Author::Unknown => Some(Protection::UnknownAuthor),
        Authority::Rules(_) if by_rules() => None,
        _ if old.importance() > limit => Some(Protection::MoreImportant),
        Authority::Unsupported(_) if !old.has_tag(UNSUPPORTED_TAG) => Some(Protection::Unsupported),
        _ => None,
    }
}

/// Why an entry that is not protected does not yield to a memory.
pub(crate) fn precedence(old: &Memory, new: &Memory, authority: Authority) -> Option<Protection> {
    let lasts = |memory: &Memory| Tier::of(memory.persistence) == Tier::Lasting;
    if old.provenance.witnesses() != new.provenance.witnesses() {
        Some(Protection::Witnesses)
    } else if authority == Authority::Command {
        None
    } else if old.status == Status::Active && new.status == Status::Tentative {
        Some(Protection::Confirmed)
    } else if lasts(old) && !lasts(new) {
        Some(Protection::Lasts)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_but_a_person_states_more_than_is_proven() {
        let turn = |died, scored| Authority::Turn(Proof { died, scored, rose: false });
        let lowered = |category: &str, authority: Authority| {
            let mut memory = Memory::new(Category::new(category).unwrap(), "Troll", "It is awake.");
            memory.persistence = Persistence::Core;
            memory.provenance.importance = Some(1000);
            let mut warnings = Vec::new();
            authority.lower(&mut memory, &mut warnings);
            (memory.importance(), memory.persistence == Persistence::Core, warnings.len())
        };
        for (category, authority, expected) in [
            ("DANGER", turn(false, false), (700, false, 2)),
            ("NOTE", turn(false, true), (800, false, 2)),
            ("DANGER", turn(false, true), (800, false, 2)),
            ("NOTE", turn(true, false), (700, false, 2)),
            ("NOTE", turn(true, true), (800, false, 2)),
            ("DANGER", turn(true, false), (1000, true, 0)),
            ("DANGER", Authority::MODEL, (700, false, 2)),
            ("NOTE", Authority::Statement { own_section: true }, (700, true, 1)),
            ("NOTE", Authority::Rules(Proof::default()), (700, false, 2)),
            ("NOTE", Authority::Command, (1000, true, 0)),
        ] {
            assert_eq!(lowered(category, authority), expected, "{category} {authority:?}");
        }
    }
}
