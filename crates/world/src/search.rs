//! Cheapest paths from one place to all others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Edge, Graph};

/// The cheapest paths from a place, by [`Edge::cost`], of these the shortest. Of equal ones the way that was found first
/// is taken: at each place the one that was walked most, then the first in the file.
pub(super) struct Paths<'g> {
    graph: &'g Graph<'g>,
    /// The way by which each place is reached; `None` for the start and for places that are not reached.
    reached: Vec<Option<Reached>>,
    /// The places that can be reached, nearest first, the start at the beginning.
    nearest: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Reached {
    steps: usize,
    by: Option<(usize, usize)>,
}

/// A step of a path: a place, and the way that is taken from it.
pub(super) type Step<'g> = (usize, &'g Edge);

/// The actions of a path: what opens each way, and the way itself.
pub(super) fn actions<'g>(steps: &[Step<'g>]) -> Vec<&'g str> {
    let of_step =
        |(_, edge): &Step<'g>| edge.way.after.iter().chain([&edge.way.action]).map(|action| &**action);
    steps.iter().flat_map(of_step).collect()
}

impl<'g> Paths<'g> {
    /// Searches the graph from a place.
    pub(super) fn from(graph: &'g Graph<'g>, start: usize) -> Paths<'g> {
        Paths::within(graph, start, u64::MAX)
    }

    /// Searches the graph from a place for paths that cost no more than `most`.
    pub(super) fn within(graph: &'g Graph<'g>, start: usize, most: u64) -> Paths<'g> {
        let mut paths = Paths { graph, reached: vec![None; graph.places.len()], nearest: Vec::new() };
        let mut found = BinaryHeap::from([Reverse((0_u64, 0_usize, 0_usize, start, None))]);
        let mut number = 0;
        while let Some(Reverse((cost, steps, _, at, by))) = found.pop() {
            if paths.reached[at].is_some() {
                continue;
            }
            paths.reached[at] = Some(Reached { steps, by });
            paths.nearest.push(at);
            let edges = &graph.places[at].edges;
            let mut ways: Vec<usize> =
                (0..edges.len()).filter(|way| paths.reached[edges[*way].to].is_none()).collect();
            ways.sort_by_key(|way| Reverse(edges[*way].way.count));
            for way in ways {
                number += 1;
                let cost = cost.saturating_add(edges[way].cost());
                if cost <= most {
                    found.push(Reverse((cost, steps + 1, number, edges[way].to, Some((at, way)))));
                }
            }
        }
        paths
    }

    /// The places that can be reached, nearest first, with the number of actions to each.
    pub(super) fn nearest(&self) -> impl Iterator<Item = (usize, usize)> {
        self.nearest.iter().filter_map(|at| Some((*at, self.reached[*at]?.steps)))
    }

    /// True if a path to the place is known.
    pub(super) fn reach(&self, place: usize) -> bool {
        self.reached[place].is_some()
    }

    /// The path to a place; empty to the start itself.
    pub(super) fn to(&self, place: usize) -> Option<Vec<Step<'g>>> {
        let mut reached = self.reached[place]?;
        let mut steps = Vec::with_capacity(reached.steps);
        while let Some((from, way)) = reached.by {
            steps.push((from, &self.graph.places[from].edges[way]));
            reached = self.reached[from]?;
        }
        steps.reverse();
        Some(steps)
    }
}
