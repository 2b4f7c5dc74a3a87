//! Shortest paths from one place to all others.

use std::cmp::Reverse;

use crate::map::graph::{Edge, Graph};

/// The shortest paths from a place. Of paths with the same number of actions the one with fewer doubtful ways is
/// taken; among these, at each place, the way that was walked most, then the first in the file.
pub(super) struct Paths<'g> {
    graph: &'g Graph<'g>,
    /// The way by which each place is reached, and the place from which; `None` for the start.
    reached: Vec<Option<Reached>>,
    /// The places that can be reached, nearest first, the start at the beginning.
    nearest: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Reached {
    cost: Cost,
    by: Option<(usize, usize)>,
}

/// Costs of a path, compared in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Number of actions.
    pub steps: usize,
    /// Number of doubtful ways.
    pub doubts: usize,
}

/// A step of a path: a place, and the way that is taken from it.
pub(super) type Step<'g> = (usize, &'g Edge<'g>);

impl<'g> Paths<'g> {
    /// Searches the graph from a place.
    pub(super) fn from(graph: &'g Graph<'g>, start: usize) -> Paths<'g> {
        let mut paths = Paths { graph, reached: vec![None; graph.places.len()], nearest: Vec::new() };
        let mut ways: Vec<usize> = Vec::new();
        let mut found = vec![(start, Reached { cost: Cost { steps: 0, doubts: 0 }, by: None })];
        // Places of equal cost are visited in the order in which they were found.
        while !found.is_empty() {
            found.sort_by_key(|(_, reached)| reached.cost.doubts);
            for (at, reached) in std::mem::take(&mut found) {
                if paths.reached[at].is_some() {
                    continue;
                }
                paths.reached[at] = Some(reached);
                paths.nearest.push(at);
                let edges = &graph.places[at].edges;
                ways.clear();
                ways.extend((0..edges.len()).filter(|way| edges[*way].is_open()));
                ways.sort_by_key(|way| Reverse(edges[*way].way.count));
                for &way in &ways {
                    let Edge { to, .. } = edges[way];
                    if paths.reached[to].is_none() {
                        let doubts = reached.cost.doubts + usize::from(edges[way].is_doubtful());
                        let cost = Cost { steps: reached.cost.steps + 1, doubts };
                        found.push((to, Reached { cost, by: Some((at, way)) }));
                    }
                }
            }
        }
        paths
    }

    /// The places that can be reached, nearest first, with the cost of the path.
    pub(super) fn nearest(&self) -> impl Iterator<Item = (usize, Cost)> {
        self.nearest.iter().filter_map(|at| Some((*at, self.reached[*at]?.cost)))
    }

    /// True if a path to the place is known.
    pub(super) fn reach(&self, place: usize) -> bool {
        self.reached[place].is_some()
    }

    /// The path to a place; empty to the start itself.
    pub(super) fn to(&self, place: usize) -> Option<Vec<Step<'g>>> {
        let mut reached = self.reached[place]?;
        let mut steps = Vec::with_capacity(reached.cost.steps);
        while let Some((from, way)) = reached.by {
            steps.push((from, &self.graph.places[from].edges[way]));
            reached = self.reached[from]?;
        }
        steps.reverse();
        Some(steps)
    }
}
