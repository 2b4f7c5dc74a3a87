//! The parts of the page that show only the present: figures, recalls, the most important memories, problems.
//!
//! These are the answers of `stats`, `recall`, `top` and `check`, from the code of these commands.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use memories_document::check::problems;
use memories_document::known_ways;
use memories_document::problem::Problem;
use memories_document::types::{Scope, ScopeName};
use memories_notebook::Snapshot;
use memories_recall::budget::estimate_tokens;
use memories_recall::{Circumstances, Format, Limits, recall_in, render};
use memories_record::stats::figures::Stats;
use memories_search::top::top;
use memories_store::Store;
use memories_world::{BestRun, Descriptions, Graph, Layout, Stop, standing};

/// Memories in the list of the most important ones.
const TOP: usize = 20;

/// Places of the frontier that are shown.
const FRONTIER: usize = 3;

/// Columns for a row of a map that fills a wide screen, and a narrow one, where names take cells twice as wide as high.
const WIDE: f64 = 1.3;
const NARROW: f64 = 0.45;

/// Problems that are shown.
const MAX_PROBLEMS: usize = 100;

/// The present, or what is new of it: a field that is missing is as before.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Present {
    /// The map, for a screen that is wide, and for one that is not where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    narrow_map: Option<Layout>,
    /// By scope; `null` where there is no such section any more.
    recalls: BTreeMap<String, Option<Recalled>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Vec<Value>>,
    /// The best run; its actions are none where no run is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Value>,
    /// The first places of `map frontier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    frontier: Option<Value>,
}

/// The answer of `recall` about one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Recalled {
    text: String,
    tokens: usize,
}

impl Present {
    /// The present of a memory file with these figures, without the map.
    pub(super) fn of(
        store: &Store,
        snapshot: &Snapshot,
        stats: Stats,
        descriptions: Descriptions,
        limits: &Limits,
    ) -> Present {
        let ranked = top(snapshot, TOP, None);
        let named = |scope: &Scope, title: &str| json!({"scope": scope, "title": title});
        let problem = |problem: &Problem| {
            let (line, column) = (problem.line, problem.column);
            json!({"line": line, "column": column, "message": problem.kind.to_string(), "hint": problem.hint()})
        };
        let scopes = snapshot.headings().map(|heading| &heading.scope).filter(|scope| is_recalled(scope));
        Present {
            recalls: recalls(snapshot, scopes, limits),
            run: Some(run(snapshot)),
            frontier: Some(frontier(store, snapshot, descriptions)),
            stats: Some(stats),
            top: Some(ranked.iter().map(|ranked| named(&ranked.scope, &ranked.memory.title)).collect()),
            check: Some(problems(snapshot.text()).iter().take(MAX_PROBLEMS).map(problem).collect()),
            ..Present::default()
        }
    }

    /// The same with the map. `gone` are the last sections of places that are no more: they stand on the map of the past.
    pub(super) fn with_map(self, snapshot: &Snapshot, gone: &str) -> Present {
        let (map, narrow_map) = maps(snapshot.text(), gone);
        Present { map, narrow_map, ..self }
    }

    /// The parts of the present that a change of these sections updates at once: the map and their recalls.
    pub(super) fn after(snapshot: &Snapshot, gone: &str, changed: &[&Scope], limits: &Limits) -> Present {
        let scopes = changed.iter().copied().filter(|scope| is_recalled(scope));
        Present { recalls: recalls(snapshot, scopes, limits), ..Present::default() }.with_map(snapshot, gone)
    }

    /// This present, of all scopes, without what is the same in an earlier one.
    pub(super) fn since(&self, earlier: &Present) -> Present {
        let mut new = self.clone().of_some_scopes_since(earlier);
        let is_gone = |scope: &&String| !self.recalls.contains_key(*scope);
        new.recalls.extend(earlier.recalls.keys().filter(is_gone).map(|scope| (scope.clone(), None)));
        new
    }

    /// This present, of some scopes alone, without what is the same in an earlier one.
    pub(super) fn of_some_scopes_since(mut self, earlier: &Present) -> Present {
        self.recalls.retain(|scope, recalled| earlier.recalls.get(scope) != Some(recalled));
        // Both maps are of the same places, and are told together.
        if (&self.map, &self.narrow_map) == (&earlier.map, &earlier.narrow_map) {
            (self.map, self.narrow_map) = (None, None);
        }
        self.run.take_if(|run| Some(&*run) == earlier.run.as_ref());
        self
    }

    /// Adds what is new.
    pub(super) fn add(&mut self, new: Present) {
        let Present { map, narrow_map, recalls, stats, top, check, run, frontier } = new;
        if map.is_some() {
            (self.map, self.narrow_map) = (map, narrow_map);
        }
        self.run = run.or(self.run.take());
        self.frontier = frontier.or(self.frontier.take());
        self.recalls.extend(recalls);
        self.stats = stats.or(self.stats.take());
        self.top = top.or(self.top.take());
        self.check = check.or(self.check.take());
    }
}

/// The map for a wide screen, and for a narrow one where it differs.
fn maps(text: &str, gone: &str) -> (Option<Layout>, Option<Layout>) {
    let all = format!("{text}\n{gone}");
    let graph = Graph::of(known_ways(if gone.is_empty() { text } else { &all }), None);
    let mut maps = graph.layouts_within(&[WIDE, NARROW]);
    let narrow = maps.pop().filter(|narrow| Some(narrow) != maps.first());
    (maps.pop(), narrow)
}

/// The best run: its score, its episode and its actions, each with its place and where it leads.
fn run(snapshot: &Snapshot) -> Value {
    let Some(best) = BestRun::read(snapshot) else { return json!({"stops": []}) };
    let stop =
        |stop: &Stop| json!({"action": stop.action, "place": stop.place, "to": stop.to, "gain": stop.gain});
    let provenance = &best.memory.provenance;
    json!({
        "episode": provenance.episode, "score": provenance.score, "begins_at": best.begins_at(),
        "stops": best.route.stops.iter().map(stop).collect::<Vec<_>>(),
    })
}

/// The answer of `map frontier` from where the player stands, else from where the best run begins, and how many places
/// describe an exit that was never tried.
fn frontier(store: &Store, snapshot: &Snapshot, descriptions: Descriptions) -> Value {
    let standing = match standing(store, snapshot) {
        Ok(Some(ScopeName::Scope(Scope::Location(id)))) => Some(id),
        _ => BestRun::read(snapshot).and_then(|best| best.begins_at()),
    };
    let first = || {
        let ids = snapshot.headings().filter_map(|heading| match heading.scope {
            Scope::Location(id) => Some(id),
            _ => None,
        });
        ids.min()
    };
    let Some(from) = standing.or_else(first) else { return json!({"places": [], "left_out": 0}) };
    let (graph, descriptions) = (Graph::read(snapshot), descriptions.with_memories(snapshot));
    let mut frontier = graph.frontier(from, FRONTIER, &descriptions).json;
    frontier["described"] = json!(graph.described_frontier(&descriptions));
    frontier
}

fn is_recalled(scope: &Scope) -> bool {
    matches!(scope, Scope::Location(_) | Scope::Npc(_) | Scope::Agent(_))
}

/// The answers of `recall` about places, characters and agents, each alone.
fn recalls<'a>(
    snapshot: &Snapshot,
    scopes: impl Iterator<Item = &'a Scope>,
    limits: &Limits,
) -> BTreeMap<String, Option<Recalled>> {
    let mut recalls = BTreeMap::new();
    let ahead = BestRun::to_follow(snapshot).map(BestRun::with_map);
    let circumstances = Circumstances::in_snapshot(snapshot, ahead.as_ref());
    for scope in scopes {
        recalls.entry(scope.to_string()).or_insert_with(|| {
            let names = [ScopeName::Scope(scope.clone())];
            let views = recall_in(&circumstances, snapshot, &names, limits, Format::Text, usize::MAX);
            let text = render(&views.ok()?);
            Some(Recalled { tokens: estimate_tokens(&text), text: text.into() })
        });
    }
    recalls
}
