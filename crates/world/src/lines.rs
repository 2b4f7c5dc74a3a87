//! The lines that every drawing of the map draws.

use std::collections::{HashMap, HashSet};

use crate::graph::{Edge, Graph};
use crate::report::with_notes;
use memories_document::types::direction::Direction;

/// A line of a drawing: a way, and the way back if that is its opposite.
pub(super) struct Line<'g> {
    pub from: usize,
    pub there: &'g Edge,
    pub back: Option<&'g Edge>,
}

/// The lines of a drawing, in the order of the file. Two ways between the same places that are opposite
/// directions are one line.
pub(super) fn lines<'g>(graph: &'g Graph<'g>) -> Vec<Line<'g>> {
    let mut lines = Vec::new();
    let mut drawn: HashSet<(usize, usize)> = HashSet::new();
    let backs = backs(graph);
    for (from, place) in graph.places.iter().enumerate() {
        for (at, there) in place.edges.iter().enumerate() {
            if drawn.contains(&(from, at)) {
                continue;
            }
            let direction = there.direction.filter(|_| there.is_current && there.to != from);
            let opposite = direction.map(|direction| direction.opposite());
            let back = opposite.and_then(|opposite| backs.get(&(there.to, from, opposite)).copied());
            drawn.extend(back.map(|back| (there.to, back)));
            lines.push(Line { from, there, back: back.map(|back| &graph.places[there.to].edges[back]) });
        }
    }
    lines
}

/// The first edge by which a direction leads now from one place to another.
fn backs(graph: &Graph<'_>) -> HashMap<(usize, usize, Direction), usize> {
    let mut backs = HashMap::new();
    for (from, place) in graph.places.iter().enumerate() {
        for (at, edge) in place.edges.iter().enumerate().filter(|(_, edge)| edge.is_current) {
            if let Some(direction) = edge.direction {
                backs.entry((from, edge.to, direction)).or_insert(at);
            }
        }
    }
    backs
}

/// All ways between two places, or from a place to itself.
pub(super) struct Pair<'g> {
    pub from: usize,
    pub to: usize,
    /// The ways from the first place to the other, in the order of the file.
    pub there: Vec<&'g Edge>,
    /// The ways from the other to the first.
    pub back: Vec<&'g Edge>,
}

/// The ways by the places that they join, in the order of the file.
pub(super) fn pairs<'g>(graph: &'g Graph<'g>) -> Vec<Pair<'g>> {
    let mut pairs: Vec<Pair<'g>> = Vec::new();
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    for (from, edge) in graph.edges() {
        let next = pairs.len();
        let at = *known.entry((from.min(edge.to), from.max(edge.to))).or_insert(next);
        if at == next {
            pairs.push(Pair { from, to: edge.to, there: Vec::new(), back: Vec::new() });
        }
        let pair = &mut pairs[at];
        if pair.from == from { pair.there.push(edge) } else { pair.back.push(edge) }
    }
    pairs
}

impl Line<'_> {
    /// The actions, with what speaks against them: `north / south`, `up (refused at Ep2 T5: The door is locked.)`.
    pub(super) fn label(&self, graph: &Graph<'_>) -> String {
        let label = |edge: &Edge| with_notes(&edge.way.action, &graph.notes(edge));
        match self.back {
            Some(back) => format!("{} / {}", label(self.there), label(back)),
            None => label(self.there),
        }
    }
}
