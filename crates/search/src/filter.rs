//! Filters on the metadata of memories: place, category, tags, time, status.
//!
//! A filter only excludes memories; it never changes the relevance of the others.

use strum::VariantNames as _;

use memories_document::types::{Category, Memory, Scope, Status, same_title, unknown_name};

/// The type of a memory, which follows from its section and its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_kind)]
pub enum MemoryKind {
    /// In the section of a location.
    Place,
    /// In the section of an agent, about itself.
    Character,
    /// In the section of an agent, about somebody else: tagged `#about:ID`.
    #[strum(to_string = "character_knowledge", serialize = "character-knowledge")]
    CharacterKnowledge,
    /// In the shared scene.
    Scene,
    /// In the dialogue, the world, or the section of a non-player character.
    Episodic,
    /// In the section of a folder or a topic.
    Work,
}

impl MemoryKind {
    /// The type of a memory in that section.
    pub fn of(scope: &Scope, memory: &Memory) -> MemoryKind {
        match scope {
            Scope::Location(_) => MemoryKind::Place,
            Scope::Agent(_) if memory.provenance.tags.iter().any(|tag| tag.starts_with("about:")) => {
                MemoryKind::CharacterKnowledge
            }
            Scope::Agent(_) => MemoryKind::Character,
            Scope::Scene => MemoryKind::Scene,
            Scope::Folder(_) | Scope::Topic(_) => MemoryKind::Work,
            Scope::Npc(_) | Scope::World | Scope::Dialogue | Scope::Game => MemoryKind::Episodic,
        }
    }
}

fn unknown_kind(text: &str) -> String {
    unknown_name(text, "type", MemoryKind::VARIANTS)
}

/// Conditions that a memory must meet. An empty field is no condition; of several values, one must match unless
/// said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Its section.
    pub scopes: Vec<Scope>,
    /// Its category.
    pub categories: Vec<Category>,
    /// Its type.
    pub kinds: Vec<MemoryKind>,
    /// Tags without `#`, compared without case; it must have all of them.
    pub tags: Vec<String>,
    /// Ids of agents; it must be in the section of one, or in the scene, which all agents share.
    pub agents: Vec<String>,
    /// Ids of characters; it must be tagged `#about:ID` or be in the section of that character.
    pub about: Vec<String>,
    /// Its episode.
    pub episodes: Vec<u64>,
    /// Earliest turn; excludes memories without a turn.
    pub min_turn: Option<u64>,
    /// Latest turn; excludes memories without a turn.
    pub max_turn: Option<u64>,
    /// Lowest importance.
    pub min_importance: Option<u16>,
    /// Its status.
    pub status: Option<Status>,
    /// True if superseded memories are included.
    pub superseded: bool,
}

impl Filter {
    /// True if memories in a section can meet the conditions.
    pub(crate) fn wants_scope(&self, scope: &Scope) -> bool {
        let agent = |id: &String| *scope == Scope::Scene || *scope == Scope::Agent(id.clone());
        (self.scopes.is_empty() || self.scopes.contains(scope))
            && (self.agents.is_empty() || self.agents.iter().any(agent))
    }

    /// True if memories with a status can meet the conditions.
    pub(crate) fn wants_status(&self, status: Status) -> bool {
        (self.superseded || status != Status::Superseded) && self.status.is_none_or(|wanted| wanted == status)
    }

    /// True if a memory meets all conditions.
    pub fn wants(&self, scope: &Scope, memory: &Memory) -> bool {
        let fields = &memory.provenance;
        let has_tag = |wanted: &String| fields.tags.iter().any(|tag| same_title(tag, wanted));
        let is_about = |id: &String| has_tag(&format!("about:{id}")) || *scope == Scope::Npc(id.clone());
        let in_turns = match fields.turns {
            Some(turns) => {
                self.min_turn.is_none_or(|first| turns.last >= first)
                    && self.max_turn.is_none_or(|last| turns.first <= last)
            }
            None => self.min_turn.is_none() && self.max_turn.is_none(),
        };
        self.wants_scope(scope)
            && self.wants_status(memory.status)
            && (self.categories.is_empty() || self.categories.contains(&memory.category))
            && (self.kinds.is_empty() || self.kinds.contains(&MemoryKind::of(scope, memory)))
            && self.tags.iter().all(has_tag)
            && (self.about.is_empty() || self.about.iter().any(is_about))
            && (self.episodes.is_empty() || fields.episode.is_some_and(|own| self.episodes.contains(&own)))
            && in_turns
            && self.min_importance.is_none_or(|least| memory.importance() >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::types::Span;

    fn memory() -> Memory {
        let mut memory = Memory::new(Category::danger(), "Troll", "Attacks.");
        memory.provenance.tags = vec!["Troll".to_owned(), "about:jordan".to_owned()];
        memory.provenance.turns = Some(Span { first: 10, last: 12 });
        memory.provenance.episode = Some(2);
        memory
    }

    #[test]
    fn kinds() {
        let plain = Memory::new(Category::note(), "a", "b");
        let agent = Scope::Agent("alex".to_owned());
        assert_eq!(MemoryKind::of(&agent, &memory()), MemoryKind::CharacterKnowledge);
        assert_eq!(MemoryKind::of(&agent, &plain), MemoryKind::Character);
        assert_eq!(MemoryKind::of(&Scope::Npc("troll".to_owned()), &plain), MemoryKind::Episodic);
        assert_eq!("character-knowledge".parse(), Ok(MemoryKind::CharacterKnowledge));
        assert!("room".parse::<MemoryKind>().is_err_and(|error| error.contains("`place`")));
        assert!(
            MemoryKind::VARIANTS
                .iter()
                .all(|name| name.parse().is_ok_and(|kind: MemoryKind| <&str>::from(kind) == *name))
        );
    }

    #[test]
    fn each_condition_excludes_memories() {
        let scope = Scope::Agent("alex".to_owned());
        let (one, none) = (|id: &str| vec![id.to_owned()], Filter::default);
        let wants = |filter: Filter| filter.wants(&scope, &memory());
        assert!(wants(none()));
        assert!(wants(Filter { agents: one("alex"), about: one("jordan"), tags: one("troll"), ..none() }));
        assert!(wants(Filter { min_turn: Some(12), max_turn: Some(10), episodes: vec![1, 2], ..none() }));
        for filter in [
            Filter { agents: one("jo"), ..none() },
            Filter { about: one("alex"), ..none() },
            Filter { tags: vec!["troll".to_owned(), "axe".to_owned()], ..none() },
            Filter { min_turn: Some(13), ..none() },
            Filter { max_turn: Some(9), ..none() },
            Filter { episodes: vec![1], ..none() },
            Filter { min_importance: Some(501), ..none() },
            Filter { status: Some(Status::Tentative), ..none() },
            Filter { scopes: vec![Scope::World], ..none() },
            Filter { kinds: vec![MemoryKind::Place], ..none() },
            Filter { categories: vec![Category::note()], ..none() },
        ] {
            assert!(!wants(filter.clone()), "{filter:?}");
        }
        let here = Filter { agents: one("alex"), ..none() };
        assert!(here.wants(&Scope::Scene, &memory()) && !here.wants(&Scope::World, &memory()));
        let struck = Memory { status: Status::Superseded, ..memory() };
        assert!(!none().wants(&scope, &struck));
        assert!(Filter { superseded: true, ..none() }.wants(&scope, &struck));
    }
}
