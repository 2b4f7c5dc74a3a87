//! The graph: places, and the ways between them.
//!
//! A file or sections enter. Of several lines for one action at a place, `n` and `north` being one, the latest says
//! where the action leads. Nothing is inferred: an edge is a way that was walked.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use memories_document::types::direction::Direction;
use memories_document::types::openers::{Done, remove_done};
use memories_document::types::{Attempt, Scope, TryResult, Way, fold_action};
use memories_document::{KnownSection, PlaceNames, Tries, known_ways};
use memories_notebook::Snapshot;

/// All places that a file knows, and the ways between them. Names of sections are borrowed from the file.
#[derive(Debug, Clone)]
pub struct Graph<'a> {
    pub(super) places: Vec<Place<'a>>,
    positions: HashMap<u64, usize, FixedState>,
    names: OnceCell<PlaceNames>,
}

/// A place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub id: u64,
    /// May be empty.
    pub name: Cow<'a, str>,
    /// The ways from here, in the order of the file.
    pub edges: Vec<Edge>,
    /// The directions that were tried here.
    pub tried: Tried,
    /// True if the file has a section of the place: it is more than the end of a way.
    pub is_visited: bool,
}

/// A way that was walked: of the lines of a section for one action and one destination, the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    /// The line.
    pub way: Way,
    /// Position of the destination in [`Graph::places`].
    pub to: usize,
    /// The direction that the action is.
    pub direction: Option<Direction>,
    /// True if the action led here the last time.
    pub is_current: bool,
    /// Where the action led at other times: the first [`ELSEWHERE`] of these places.
    pub elsewhere: Vec<usize>,
    /// How often the action was walked from here, wherever it led.
    pub walked: u64,
    /// The refusal of the action after it was last walked.
    pub refused: Option<Box<Attempt>>,
    /// True if the action was deadly after it was last walked.
    pub is_deadly: bool,
}

impl Edge {
    /// The cost of walking it: [`ACTION`] for an edge that always led here, N times as much for one that led here
    /// once in N times.
    pub(super) fn cost(&self) -> u64 {
        let count = self.way.count.max(1);
        let tries = ACTION.saturating_mul(self.walked.max(count)) / count;
        let opening = ACTION.saturating_mul(self.way.after.len() as u64);
        let doubt = if self.is_deadly { DEADLY } else { u64::from(self.refused.is_some()) };
        tries.saturating_add(opening).saturating_add(doubt)
    }

    fn key(&self) -> Key {
        key(self.direction, &self.way.action)
    }
}

/// An action as edges are compared: its direction, else the form in which actions are compared.
type Key = (Option<Direction>, String);

fn key(direction: Option<Direction>, action: &str) -> Key {
    (direction, if direction.is_some() { String::new() } else { fold_action(action) })
}

/// Cost of one action on a path.
pub(super) const ACTION: u64 = 1000;

/// Places that are named at most where an action led at other times.
const ELSEWHERE: usize = 20;

/// Extra cost of a way that killed somebody: a detour of twenty actions costs as much.
const DEADLY: u64 = 20 * ACTION;

/// A set of directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Directions(pub(super) u16);

impl Directions {
    pub(super) fn insert(&mut self, direction: Direction) {
        self.0 |= 1 << direction as u16;
    }

    pub(super) fn has(self, direction: Direction) -> bool {
        self.0 & 1 << direction as u16 != 0
    }

    fn remove(&mut self, direction: Direction) {
        self.0 &= !(1 << direction as u16);
    }

    fn insert_all(&mut self, tries: &[Tries<'_>]) {
        for tries in tries {
            tries.actions(|action| {
                Direction::of(action).into_iter().for_each(|direction| self.insert(direction))
            });
        }
    }
}

impl<'a> Graph<'a> {
    /// The graph of a file.
    pub fn read(snapshot: &Snapshot) -> Graph<'_> {
        Graph::of(known_ways(snapshot.text()), Some(snapshot.running_episode()))
    }

    /// The graph around a place: the places that are at most so many ways away, and the ends of their ways.
    pub(super) fn around(snapshot: &Snapshot, place: u64, ways: u64, running: u64) -> Graph<'_> {
        let mut known = Vec::new();
        let (mut seen, mut outermost) = (HashSet::from([place]), vec![place]);
        for _ in 0..=ways {
            let sections = outermost.iter().filter_map(|&place| snapshot.known_section(place));
            let sections: Vec<KnownSection<'_>> = sections.collect();
            let ends = sections.iter().flat_map(|section| &section.ways).map(|way| way.to);
            outermost = ends.filter(|&end| seen.insert(end)).collect();
            known.extend(sections);
        }
        Graph::of(known, Some(running))
    }

    /// The graph of sections, each scope with all that belongs to it. What the running episode opened is open.
    pub fn of(sections: impl IntoIterator<Item = KnownSection<'a>>, running: Option<u64>) -> Graph<'a> {
        let mut graph = Graph { places: Vec::new(), positions: HashMap::default(), names: OnceCell::new() };
        let mut not_understood = Directions::default();
        let mut known: Vec<KnownSection<'a>> = Vec::new();
        for mut section in sections {
            match section.scope {
                Scope::Location(id) => {
                    graph.position_of(id, &mut section.name);
                    known.push(section);
                }
                Scope::Game => not_understood.insert_all(&section.tried),
                _ => {}
            }
        }
        for (at, section) in known.iter_mut().enumerate() {
            let mut tried = Tried::of(&section.tried);
            tried.all.insert_all(&section.worked);
            let edges = graph.edges_of(section);
            for direction in edges.iter().filter_map(|edge| edge.direction) {
                tried.all.insert(direction);
                tried.refused.remove(direction);
                tried.deadly.remove(direction);
            }
            let place = &mut graph.places[at];
            (place.edges, place.tried, place.is_visited) = (edges, tried, true);
        }
        for place in &mut graph.places {
            place.tried.all.0 |= not_understood.0;
        }
        if let Some(running) = running {
            graph.remove_done_openers(&known, running);
        }
        graph
    }

    /// Takes the openers that hold in the running episode from all ways. `known` are the sections of the first places.
    fn remove_done_openers(&mut self, known: &[KnownSection<'_>], running: u64) {
        let mut all: HashMap<usize, Done, FixedState> = HashMap::default();
        let of =
            |at: usize| Done::of(&known.get(at).map_or(Vec::new(), |section| section.worked_in(running)));
        for (at, place) in self.places.iter_mut().enumerate() {
            for edge in place.edges.iter_mut().filter(|edge| !edge.way.after.is_empty()) {
                let refused = edge.refused.as_deref().filter(|refused| refused.episode == Some(running));
                for end in [at, edge.to] {
                    all.entry(end).or_insert_with(|| of(end));
                }
                remove_done(&mut edge.way.after, &all[&at], &all[&edge.to], refused);
            }
        }
    }

    /// The place of that id, which is added where it is missing; its first name is taken.
    fn position_of(&mut self, id: u64, name: &mut Cow<'a, str>) -> usize {
        let next = self.places.len();
        let at = *self.positions.entry(id).or_insert(next);
        if at == next {
            let name = std::mem::take(name);
            self.places.push(Place { id, name, ..Place::default() });
        } else if self.places[at].name.is_empty() {
            self.places[at].name = std::mem::take(name);
        }
        at
    }

    fn edges_of(&mut self, section: &mut KnownSection<'a>) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::with_capacity(section.ways.len());
        let mut known: HashMap<(usize, Key), usize, FixedState> = HashMap::default();
        for mut way in std::mem::take(&mut section.ways) {
            // The place has the name.
            let mut name = Cow::Owned(std::mem::take(&mut way.name));
            let (to, direction) = (self.position_of(way.to, &mut name), Direction::of(&way.action));
            let at = *known.entry((to, key(direction, &way.action))).or_insert(edges.len());
            match edges.get_mut(at) {
                Some(edge) if last_walked(&way) >= last_walked(&edge.way) => edge.way = way,
                Some(_) => {}
                None => edges.push(Edge {
                    to,
                    direction,
                    is_current: true,
                    elsewhere: Vec::new(),
                    walked: way.count,
                    refused: None,
                    is_deadly: false,
                    way,
                }),
            }
        }
        let by_action = by_action(&edges);
        mark_latest(&mut edges, &by_action);
        mark_refused(&mut edges, &by_action, &section.tried);
        edges
    }

    /// The position of a place.
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// The name of a place as people read it, with its id where others have the same name.
    pub(super) fn label(&self, at: usize) -> String {
        let names = self.names.get_or_init(|| {
            PlaceNames::of_parts(self.places.iter().map(|place| (Scope::Location(place.id), &*place.name)))
        });
        let Place { id, name, .. } = &self.places[at];
        names.label(&Scope::Location(*id), name)
    }

    /// Directions that were neither walked nor refused at a place.
    pub(super) fn untried(&self, at: usize) -> impl Iterator<Item = Direction> {
        let tried = self.places[at].tried.all;
        Direction::ALL.into_iter().filter(move |direction| !tried.has(*direction))
    }

    /// All ways with the positions of the places where they begin, in the order of the file.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        let places = self.places.iter().enumerate();
        places.flat_map(|(from, place)| place.edges.iter().map(move |edge| (from, edge)))
    }

    /// True if no place is known.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// The directions that were tried at a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tried {
    /// All of them, walked or refused.
    pub all: Directions,
    /// Those that were refused and never walked.
    pub refused: Directions,
    /// Refused ones in which somebody died.
    pub deadly: Directions,
}

impl Tried {
    /// The directions that were tried in vain.
    fn of(lines: &[Tries<'_>]) -> Tried {
        let mut found = Tried::default();
        for tries in lines {
            if tries.are_plain() {
                found.refused.insert_all(std::slice::from_ref(tries));
                continue;
            }
            for attempt in tries.attempts().iter() {
                let Some(direction) = Direction::of(&attempt.action) else { continue };
                found.all.insert(direction);
                if !attempt.result.is_unknown() {
                    found.refused.insert(direction);
                }
                if attempt.result == TryResult::Deadly {
                    found.deadly.insert(direction);
                }
            }
        }
        found.all.0 |= found.refused.0;
        found
    }
}

/// The edges of each action, in their order.
type ByAction = HashMap<Key, Vec<usize>, FixedState>;

fn by_action(edges: &[Edge]) -> ByAction {
    let mut found = ByAction::default();
    for (at, edge) in edges.iter().enumerate() {
        found.entry(edge.key()).or_default().push(at);
    }
    found
}

/// Marks for each action the edge that was walked last, of equals the first, and where it led at other times.
fn mark_latest(edges: &mut [Edge], by_action: &ByAction) {
    for same in by_action.values() {
        let walked = same.iter().fold(0_u64, |sum, at| sum.saturating_add(edges[*at].way.count));
        let time = |at: usize| (last_walked(&edges[at].way), Reverse(at));
        let latest = same.iter().copied().max_by_key(|at| time(*at));
        for &at in same {
            let others = same.iter().filter(|other| **other != at).take(ELSEWHERE);
            let elsewhere = others.map(|other| edges[*other].to).collect();
            let edge = &mut edges[at];
            (edge.is_current, edge.walked, edge.elsewhere) = (latest == Some(at), walked, elsewhere);
        }
    }
}

/// Marks the edges whose action was refused, or killed, after it was last walked. Of an action the latest try counts.
fn mark_refused(edges: &mut [Edge], by_action: &ByAction, tried: &[Tries<'_>]) {
    let meant = |action: &str| by_action.get(&key(Direction::of(action), action));
    let mut latest: HashMap<usize, Attempt, FixedState> = HashMap::default();
    for tries in tried {
        let mut concerns = false;
        tries.actions(|action| concerns |= meant(action).is_some());
        if !concerns {
            continue;
        }
        for attempt in tries.attempts().iter() {
            // The edges of an action have the same tries.
            let Some(&first) = meant(&attempt.action).and_then(|meant| meant.first()) else { continue };
            let last = latest.entry(first).or_insert_with(|| attempt.clone());
            if moment(attempt) >= moment(last) {
                last.clone_from(attempt);
            }
        }
    }
    for meant in by_action.values() {
        let attempt = meant.first().and_then(|first| latest.get(first));
        let Some(attempt) = attempt.filter(|attempt| !attempt.result.is_unknown()) else { continue };
        for &at in meant {
            let edge = &mut edges[at];
            let (tried, walked) = (moment(attempt), last_walked(&edge.way));
            // Where neither line has a time, the death may be the later of the two.
            edge.is_deadly = attempt.result == TryResult::Deadly && tried >= walked;
            edge.refused = Some(Box::new(attempt.clone())).filter(|_| tried > walked);
        }
    }
}

fn moment(attempt: &Attempt) -> (Option<u64>, Option<u64>) {
    (attempt.episode, attempt.turn)
}

fn last_walked(way: &Way) -> (Option<u64>, Option<u64>) {
    (way.episode, way.turn)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use memories_document::Document;
    use memories_store::Store;

    /// The places of a text: read whole, only as far as a map needs them, and so but each alone.
    fn ways_to_read(text: &str) -> [Vec<String>; 3] {
        let document = Document::parse(text.to_owned());
        let mut blocks: Vec<(&Scope, Vec<usize>)> = Vec::new();
        for (at, scope) in document.scoped_blocks() {
            match blocks.iter_mut().find(|(other, _)| *other == scope) {
                Some((_, blocks)) => blocks.push(at),
                None => blocks.push((scope, vec![at])),
            }
        }
        let alone = blocks.iter().filter_map(|(_, blocks)| document.known_section_in(blocks));
        let sections: Vec<_> = document.sections().into_iter().collect();
        let whole = Graph::of(sections.iter().map(|(scope, section)| KnownSection::of(scope, section)), None);
        let places = |graph: &Graph<'_>| graph.places.iter().map(|place| format!("{place:?}")).collect();
        [&whole, &Graph::of(known_ways(text), None), &Graph::of(alone, None)].map(places)
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
        "### Seen",
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
            let [whole, quick, alone] = ways_to_read(&text);
            prop_assert_eq!(&quick, &whole, "{}", text);
            prop_assert_eq!(alone, whole, "{}", text);
        }
    }

    #[test]
    fn a_file_that_begins_with_a_mark_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        assert!(Graph::read(&Snapshot::read(&store).unwrap()).is_empty());
        let text = "\u{FEFF}## Location 1: A\n\n### Ways\n\n- `n` → Location 2: B\n";
        let [whole, quick, alone] = ways_to_read(text);
        assert_eq!(quick, whole);
        assert_eq!(alone, whole);
        assert!(Graph::of(known_ways(text), None).path(1, 2).is_known);
    }
}
