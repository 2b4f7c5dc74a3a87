//! The frontier: places with directions that were never tried, the most promising first.

use serde_json::{Value, json};

use crate::described::{Descriptions, Exits};
use crate::graph::{Directions, Graph};
use crate::report::{MapReport, counted, listed};
use crate::search::{Paths, Step, actions};
use memories_document::types::direction::Direction;
use memories_document::types::frame::list_label;

/// How promising a direction is, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Promise {
    /// The description names it.
    Named,
    /// The description names it, and a known place probably lies there.
    NamedBack,
    /// Nothing is known of it.
    Unknown,
    /// A known place probably lies there.
    Back,
    /// The description rules it out.
    RuledOut,
}

impl Promise {
    /// The description of the place names the direction.
    fn is_named(self) -> bool {
        self <= Promise::NamedBack
    }
}

/// A place with directions to try, in their order.
struct Open {
    at: usize,
    directions: Vec<(Promise, Direction)>,
}

/// A map, and what is known of exits beside its ways.
struct Frontier<'a> {
    graph: &'a Graph<'a>,
    descriptions: &'a Descriptions,
    /// The directions by which each place was reached.
    arrivals: Vec<Directions>,
}

impl Graph<'_> {
    /// The places with directions that were never tried: the most promising first, of these the nearest, then those that
    /// no known path reaches; at most `count`.
    pub fn frontier(&self, from: u64, count: usize, descriptions: &Descriptions) -> MapReport {
        let frontier = Frontier::of(self, descriptions);
        let paths = self.find(from).map(|from| Paths::from(self, from));
        let near = paths.iter().flat_map(Paths::nearest).map(|(at, _)| at);
        let far = (0..self.places.len()).filter(|at| paths.as_ref().is_none_or(|paths| !paths.reach(*at)));
        let mut open = frontier.most_promising(near);
        open.extend(frontier.most_promising(far));
        let mut text = String::new();
        let mut places = Vec::new();
        for open in open.iter().take(count) {
            let path = paths.as_ref().and_then(|paths| paths.to(open.at));
            text.push_str(&frontier.line(open, path.as_deref()));
            places.push(frontier.json(open, path.as_deref()));
        }
        let left_out = open.len() - places.len();
        if left_out > 0 {
            let places = if left_out == 1 { "place" } else { "places" };
            text.push_str(&format!("({left_out} more {places} not shown)\n"));
        }
        let text = match open.is_empty() {
            true if self.places.is_empty() => "No places are known yet.\n".to_owned(),
            true => "Every direction was tried at every known place.\n".to_owned(),
            false => format!("Directions never tried, from {}:\n{text}", self.name_of(from)),
        };
        let json = json!({"from": self.place_json(from), "places": places, "left_out": left_out});
        MapReport { text, json, is_known: !open.is_empty() }
    }

    /// The number of places whose description names a direction that was never tried there.
    pub fn described_frontier(&self, descriptions: &Descriptions) -> usize {
        let frontier = Frontier::of(self, descriptions);
        let is_named =
            |at: &usize| frontier.open(*at).directions.first().is_some_and(|(promise, _)| promise.is_named());
        (0..self.places.len()).filter(is_named).count()
    }
}

impl<'a> Frontier<'a> {
    fn of(graph: &'a Graph<'a>, descriptions: &'a Descriptions) -> Frontier<'a> {
        let mut arrivals = vec![Directions::default(); graph.places.len()];
        for edge in graph.places.iter().flat_map(|place| &place.edges) {
            edge.direction.into_iter().for_each(|direction| arrivals[edge.to].insert(direction));
        }
        Frontier { graph, descriptions, arrivals }
    }

    /// The places that have directions to try, the most promising first.
    fn most_promising(&self, places: impl Iterator<Item = usize>) -> Vec<Open> {
        let mut open: Vec<Open> =
            places.map(|at| self.open(at)).filter(|open| !open.directions.is_empty()).collect();
        open.sort_by_key(|open| open.directions[0].0);
        open
    }

    fn open(&self, at: usize) -> Open {
        let place = self.graph.places[at].id;
        let (tried, exits) = (self.descriptions.tried(place), self.descriptions.exits(place));
        let untried = self.graph.untried(at).filter(|direction| !tried.has(*direction));
        let promise = |direction| (self.promise(at, direction, exits), direction);
        let mut directions: Vec<(Promise, Direction)> = untried.map(promise).collect();
        directions.sort_by_key(|(promise, _)| *promise);
        Open { at, directions }
    }

    fn promise(&self, at: usize, direction: Direction, exits: Exits) -> Promise {
        let leads_back = self.arrivals[at].has(direction.opposite());
        match (exits.names(direction), leads_back) {
            (true, false) => Promise::Named,
            (true, true) => Promise::NamedBack,
            (false, _) if exits.rules_out(direction) => Promise::RuledOut,
            (false, false) => Promise::Unknown,
            (false, true) => Promise::Back,
        }
    }

    /// `Hall, 1 step (north): west (described); up, in`.
    fn line(&self, open: &Open, path: Option<&[Step<'_>]>) -> String {
        let distance = match path.map(actions) {
            None => "no known way".to_owned(),
            Some(actions) if actions.is_empty() => "here".to_owned(),
            Some(actions) => format!("{} ({})", counted(actions.len(), "step"), listed(&actions)),
        };
        let (named, others) = open.names();
        let directions = match (named.is_empty(), others.is_empty()) {
            (true, _) => others.join(", "),
            (false, true) => format!("{} (described)", named.join(", ")),
            (false, false) => format!("{} (described); {}", named.join(", "), others.join(", ")),
        };
        format!("{}, {distance}: {directions}\n", list_label(&self.graph.label(open.at)))
    }

    fn json(&self, open: &Open, path: Option<&[Step<'_>]>) -> Value {
        let (named, others) = open.names();
        let mut place = self.graph.place_json(self.graph.places[open.at].id);
        place["steps"] = json!(path.map(<[_]>::len));
        place["actions"] = json!(path.map(actions));
        place["directions"] = json!([&named[..], &others].concat());
        place["named"] = json!(named);
        place
    }
}

impl Open {
    /// The directions that the description names, and the others.
    fn names(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let named = self.directions.iter().take_while(|(promise, _)| promise.is_named()).count();
        let names = |directions: &[(Promise, Direction)]| {
            directions.iter().map(|(_, direction)| direction.name()).collect()
        };
        (names(&self.directions[..named]), names(&self.directions[named..]))
    }
}
