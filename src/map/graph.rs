//! The graph: places, and the ways between them.
//!
//! Sections enter. Of several lines for one action at a place, `n` and `north` being one, the latest says where
//! the action leads. Nothing is inferred: an edge is a way that was walked.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::document::{PlaceNames, Section};
use crate::notebook::Snapshot;
use crate::types::direction::Direction;
use crate::types::{Attempt, Scope, Way, fold_action};

/// All places that a file knows, and the ways between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph<'a> {
    pub(super) places: Vec<Place<'a>>,
    positions: HashMap<u64, usize, FixedState>,
    names: PlaceNames,
}

/// A place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub id: u64,
    /// May be empty.
    pub name: &'a str,
    /// The ways from here, in the order of the file.
    pub edges: Vec<Edge<'a>>,
    /// Directions that were tried here, walked or refused.
    pub tried: Directions,
}

/// A way that was walked: all lines of a section for one action and one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge<'a> {
    /// The line that was written last.
    pub way: &'a Way,
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
    pub refused: Option<&'a Attempt>,
}

impl Edge<'_> {
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

impl<'a> Graph<'a> {
    /// The graph of a file.
    pub fn read(snapshot: &'a Snapshot) -> Graph<'a> {
        let scopes = snapshot.headings().map(|heading| &heading.scope);
        Graph::of(scopes.map(|scope| (scope, snapshot.section(scope))))
    }

    /// The graph of sections. A scope that is there twice counts once.
    pub fn of(sections: impl Iterator<Item = (&'a Scope, &'a Section)>) -> Graph<'a> {
        let mut graph =
            Graph { places: Vec::new(), positions: HashMap::default(), names: PlaceNames::default() };
        let mut not_understood = Directions::default();
        let mut known: Vec<&Section> = Vec::new();
        for (scope, section) in sections {
            match scope {
                Scope::Location(id) if !graph.positions.contains_key(id) => {
                    graph.position_of(*id, &section.name);
                    known.push(section);
                }
                Scope::Game => note(&mut not_understood, &section.tried),
                _ => {}
            }
        }
        for (at, section) in known.into_iter().enumerate() {
            let edges = graph.edges_of(section);
            let tried = &mut graph.places[at].tried;
            note(tried, &section.tried);
            note(tried, &section.worked);
            edges.iter().filter_map(|edge| edge.direction).for_each(|direction| tried.insert(direction));
            graph.places[at].edges = edges;
        }
        for place in &mut graph.places {
            place.tried.0 |= not_understood.0;
        }
        let named = graph.places.iter().map(|place| (Scope::Location(place.id), place.name));
        graph.names = PlaceNames::of_parts(named);
        graph
    }

    /// The place of that id, which is added where it is missing.
    fn position_of(&mut self, id: u64, name: &'a str) -> usize {
        let next = self.places.len();
        let at = *self.positions.entry(id).or_insert(next);
        if at == next {
            self.places.push(Place { id, name, edges: Vec::new(), tried: Directions::default() });
        } else if self.places[at].name.is_empty() {
            self.places[at].name = name;
        }
        at
    }

    fn edges_of(&mut self, section: &'a Section) -> Vec<Edge<'a>> {
        let mut edges: Vec<Edge<'a>> = Vec::with_capacity(section.ways.len());
        for way in &section.ways {
            let (to, direction) = (self.position_of(way.to, &way.name), Direction::of(&way.action));
            let same = |edge: &&mut Edge<'_>| edge.to == to && edge.is_same_action(direction, &way.action);
            match edges.iter_mut().find(same) {
                Some(edge) => {
                    edge.count = edge.count.saturating_add(way.count);
                    if last_walked(way) > last_walked(edge.way) {
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
        mark_refused(&mut edges, &section.tried);
        edges
    }

    /// The position of a place.
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// The name of a place as people read it, with its id where others have the same name.
    pub(super) fn label(&self, at: usize) -> String {
        let Place { id, name, .. } = self.places[at];
        self.names.label(&Scope::Location(id), name)
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
fn mark_latest(edges: &mut [Edge<'_>]) {
    for at in 0..edges.len() {
        let Edge { way, direction, .. } = edges[at];
        let same = |edge: &Edge<'_>| edge.is_same_action(direction, &way.action);
        let others = edges.iter().enumerate().filter(|(other, edge)| *other != at && same(edge));
        let (mut elsewhere, mut is_current) = (Vec::new(), true);
        for (other, edge) in others {
            elsewhere.push(edge.to);
            let (its, own) = (last_walked(edge.way), last_walked(way));
            is_current &= its < own || its == own && at < other;
        }
        edges[at].is_current = is_current;
        edges[at].elsewhere = if is_current { elsewhere } else { Vec::new() };
    }
}

/// Marks the edges whose action was refused after it was last walked.
fn mark_refused<'a>(edges: &mut [Edge<'a>], tried: &'a [Attempt]) {
    if edges.is_empty() {
        return;
    }
    for attempt in tried.iter().filter(|attempt| !attempt.effect_unknown) {
        let direction = Direction::of(&attempt.action);
        for edge in edges.iter_mut() {
            let is_later = (attempt.episode, attempt.turn) > last_walked(edge.way);
            if is_later && edge.is_same_action(direction, &attempt.action) {
                edge.refused = Some(attempt);
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
