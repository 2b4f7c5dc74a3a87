//! The graph: places, and the ways between them.
//!
//! A file or sections enter. Of several lines for one action at a place, `n` and `north` being one, the latest says where
//! the action leads. Nothing is inferred: an edge is a way that was walked.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::document::{PlaceNames, Section, known_ways};
use crate::notebook::Snapshot;
use crate::types::direction::Direction;
use crate::types::{Attempt, Scope, Way, fold_action};

/// All places that a file knows, and the ways between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    pub(super) places: Vec<Place>,
    positions: HashMap<u64, usize, FixedState>,
    names: PlaceNames,
}

/// A place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub id: u64,
    /// May be empty.
    pub name: String,
    /// The ways from here, in the order of the file.
    pub edges: Vec<Edge>,
    /// Directions that were tried here, walked or refused.
    pub tried: Directions,
}

/// A way that was walked: all lines of a section for one action and one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    /// The line that was written last.
    pub way: Way,
    /// Position of the destination in [`Graph::places`].
    pub to: usize,
    /// The direction that the action is.
    pub direction: Option<Direction>,
    /// How often it was walked.
    pub count: u64,
    /// True if the action led here the last time.
    pub is_current: bool,
    /// Where the action led at other times; empty unless [`Edge::is_current`].
    pub elsewhere: Vec<usize>,
    /// The refusal of the action after it was last walked.
    pub refused: Option<Attempt>,
}

impl Edge {
    /// True if it may take more than the action to walk it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.refused.is_some() || !self.elsewhere.is_empty() || !self.way.refused_without.is_empty()
    }

    fn is_same_action(&self, direction: Option<Direction>, action: &str) -> bool {
        match (self.direction, direction) {
            (None, None) => is_same_action(&self.way.action, action),
            (one, other) => one == other,
        }
    }
}

/// A set of directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Directions(u16);

impl Directions {
    fn insert(&mut self, direction: Direction) {
        self.0 |= 1 << direction as u16;
    }

    fn has(self, direction: Direction) -> bool {
        self.0 & 1 << direction as u16 != 0
    }
}

impl Graph {
    /// The graph of a file.
    pub fn read(snapshot: &Snapshot) -> Graph {
        Graph::of(known_ways(snapshot.text()))
    }

    /// The graph of sections, each scope with all that belongs to it.
    pub fn of(sections: impl IntoIterator<Item = (Scope, Section)>) -> Graph {
        let mut graph =
            Graph { places: Vec::new(), positions: HashMap::default(), names: PlaceNames::default() };
        let mut not_understood = Directions::default();
        let mut known: Vec<Section> = Vec::new();
        for (scope, mut section) in sections {
            match scope {
                Scope::Location(id) => {
                    graph.position_of(id, &mut section.name);
                    known.push(section);
                }
                Scope::Game => note(&mut not_understood, &section.tried),
                _ => {}
            }
        }
        for (at, section) in known.into_iter().enumerate() {
            let tried = &mut graph.places[at].tried;
            note(tried, &section.tried);
            note(tried, &section.worked);
            let edges = graph.edges_of(section);
            let place = &mut graph.places[at];
            edges
                .iter()
                .filter_map(|edge| edge.direction)
                .for_each(|direction| place.tried.insert(direction));
            place.edges = edges;
        }
        for place in &mut graph.places {
            place.tried.0 |= not_understood.0;
        }
        let named = graph.places.iter().map(|place| (Scope::Location(place.id), place.name.as_str()));
        graph.names = PlaceNames::of_parts(named);
        graph
    }

    /// The place of that id, which is added where it is missing; its first name is taken.
    fn position_of(&mut self, id: u64, name: &mut String) -> usize {
        let next = self.places.len();
        let at = *self.positions.entry(id).or_insert(next);
        if at == next {
            let name = std::mem::take(name);
            self.places.push(Place { id, name, edges: Vec::new(), tried: Directions::default() });
        } else if self.places[at].name.is_empty() {
            self.places[at].name = std::mem::take(name);
        }
        at
    }

    fn edges_of(&mut self, section: Section) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::with_capacity(section.ways.len());
        for mut way in section.ways {
            let (to, direction) = (self.position_of(way.to, &mut way.name), Direction::of(&way.action));
            let same = |edge: &&mut Edge| edge.to == to && edge.is_same_action(direction, &way.action);
            match edges.iter_mut().find(same) {
                Some(edge) => {
                    edge.count = edge.count.saturating_add(way.count);
                    if last_walked(&way) > last_walked(&edge.way) {
                        edge.way = way;
                    }
                }
                None => {
                    let (count, elsewhere) = (way.count, Vec::new());
                    edges.push(Edge {
                        way,
                        to,
                        direction,
                        count,
                        is_current: true,
                        elsewhere,
                        refused: None,
                    });
                }
            }
        }
        mark_latest(&mut edges);
        mark_refused(&mut edges, section.tried);
        edges
    }

    /// The position of a place.
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// The name of a place as people read it, with its id where others have the same name.
    pub(super) fn label(&self, at: usize) -> String {
        let Place { id, name, .. } = &self.places[at];
        self.names.label(&Scope::Location(*id), name)
    }

    /// Directions that were neither walked nor refused at a place.
    pub(super) fn untried(&self, at: usize) -> impl Iterator<Item = Direction> {
        let tried = self.places[at].tried;
        Direction::ALL.into_iter().filter(move |direction| !tried.has(*direction))
    }

    /// True if no place is known.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// Marks for each action the edge that was walked last; of equals, the first.
fn mark_latest(edges: &mut [Edge]) {
    for at in 0..edges.len() {
        let Edge { way, direction, .. } = &edges[at];
        let same = |edge: &Edge| edge.is_same_action(*direction, &way.action);
        let others = edges.iter().enumerate().filter(|(other, edge)| *other != at && same(edge));
        let (mut elsewhere, mut is_current) = (Vec::new(), true);
        for (other, edge) in others {
            elsewhere.push(edge.to);
            let (its, own) = (last_walked(&edge.way), last_walked(way));
            is_current &= its < own || its == own && at < other;
        }
        edges[at].is_current = is_current;
        edges[at].elsewhere = if is_current { elsewhere } else { Vec::new() };
    }
}

/// Marks the edges whose action was refused after it was last walked.
fn mark_refused(edges: &mut [Edge], tried: Vec<Attempt>) {
    if edges.is_empty() {
        return;
    }
    for attempt in tried.into_iter().filter(|attempt| !attempt.effect_unknown) {
        let direction = Direction::of(&attempt.action);
        for edge in edges.iter_mut() {
            let is_later = (attempt.episode, attempt.turn) > last_walked(&edge.way);
            if is_later && edge.is_same_action(direction, &attempt.action) {
                edge.refused = Some(attempt.clone());
            }
        }
    }
}

fn note(directions: &mut Directions, attempts: &[Attempt]) {
    let tried = attempts.iter().filter_map(|attempt| Direction::of(&attempt.action));
    tried.for_each(|direction| directions.insert(direction));
}

fn last_walked(way: &Way) -> (Option<u64>, Option<u64>) {
    (way.episode, way.turn)
}

fn is_same_action(one: &str, other: &str) -> bool {
    one == other || fold_action(one) == fold_action(other)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;
    use crate::store::Store;

    /// The graph of whole sections.
    fn of_sections(text: &str) -> Graph {
        Graph::of(Document::parse(text.to_owned()).sections())
    }

    const LINES: [&str; 36] = [
        "## Location 1: A",
        "## Location 2: B",
        "## Location 1",
        "## Game",
        "## World",
        "# T",
        "## Notes\r",
        "  ## Location 3: C",
        "### Memories",
        "### Ways",
        "### Ways ",
        " ### Tried",
        "### Worked\r",
        "### Carried",
        "### Else",
        "#### Ways",
        "---",
        "* * *",
        "- `n` → [B](#location-2-b) ×2 *(Ep1, T3)*",
        "- `North` → Location 5: E *(Ep1, T4)*\r",
        "* `say  Hi` -> [A](#location-1-a) *(refused without: x)*",
        "- `Ü` → [B](#location-2-b)",
        "  - `s` → [B](#location-2-b)",
        "- `n`, `ü`, `eat x` *(Ep2, T1)*: No.",
        "- `eat x`: No.",
        "+ `say hi` *(Ep3, T1)*",
        "- go east *(Ep1, T1)*: No.",
        "- `` up ``: No.",
        "**[NOTE] a**",
        " **[NOTE] b** *(Ep1)*",
        "- broken",
        "```",
        "<!--",
        "-->",
        "text",
        "",
    ];

    proptest! {
        #[test]
        fn the_map_is_that_of_whole_sections(lines in prop::collection::vec(prop::sample::select(&LINES[..]), 0..30)) {
            let text = lines.join("\n");
            prop_assert_eq!(Graph::of(known_ways(&text)), of_sections(&text), "{}", text);
        }
    }

    #[test]
    fn a_file_that_begins_with_a_mark_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        assert!(Graph::read(&Snapshot::read(&store).unwrap()).is_empty());
        let text = "\u{FEFF}## Location 1: A\n\n### Ways\n\n- `n` → Location 2: B\n";
        assert_eq!(Graph::of(known_ways(text)), of_sections(text));
        assert!(Graph::of(known_ways(text)).path(1, 2).is_known);
    }
}
