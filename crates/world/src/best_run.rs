//! The best run of a game on the map of its file: its actions, or the part of them that is asked for.
//!
//! The entry of the run and the text of the whole file enter; answers leave, as text and as JSON.

use serde_json::{Value, json};

use crate::errand::{Taken, errand};
use crate::graph::{ACTION, Graph};
use crate::report::{MapReport, set};
use crate::route::{Next, Route, up_to};
use crate::stop::Stop;
use memories_document::known_ways;
use memories_document::run::{BEST_RUN, Run};
use memories_document::types::frame::one_line;
use memories_document::types::{Memory, Scope};
use memories_notebook::Snapshot;

/// The best run of a game, and the map that it leads through.
pub struct BestRun<'a> {
    /// Its entry.
    pub memory: Memory,
    pub(super) run: Run,
    /// Its actions, with what the running episode has done of them.
    pub route: Route,
    snapshot: &'a Snapshot,
    /// The running episode.
    running: u64,
    /// The map, where it is needed for more than one place.
    graph: Option<Graph<'a>>,
}

/// The actions of the best run of a file: all of them, or those that a player at a place has still to do in the running
/// episode; up to a goal, where one is named. Where the run does not lead there, the shortest known way.
pub fn route(snapshot: &Snapshot, goal: Option<&str>, from: Option<u64>) -> MapReport {
    let (best, graph) = (BestRun::read(snapshot), Graph::read(snapshot));
    if let Some(best) = &best
        && let Some(next) = best.steps(&graph, goal, from)
    {
        return best.report(&graph, &next);
    }
    let begins_at = best.as_ref().and_then(BestRun::begins_at);
    if let (Some(goal), Some(start)) = (goal, from.or(begins_at))
        && let Some(taken) = errand(&graph, &known_ways(snapshot.text()), start, goal)
    {
        return report_of_errand(&graph, start, &taken);
    }
    let why = match (best.is_some(), goal.is_some()) {
        (false, false) => "No run of this game is known that gained anything.",
        (true, false) => "All of the best run is done in this episode, or no way back to it is known.",
        (_, true) => "Neither the best run nor a known way leads there.",
    };
    let json = json!({"known": false, "back": [], "actions": [], "steps": []});
    MapReport { text: format!("{why}\n"), json, is_known: false }
}

fn report_of_errand(graph: &Graph<'_>, start: u64, taken: &[Taken]) -> MapReport {
    let text = if taken.is_empty() {
        format!("{} is where you are.\n", graph.name_of(start))
    } else {
        taken.iter().map(|(action, _)| format!("{}\n", one_line(action))).collect()
    };
    let step =
        |(action, place): &Taken| json!({"action": action, "place": graph.place_json(*place), "done": false});
    MapReport { text, json: route_json(&[], taken.iter().map(step).collect()), is_known: true }
}

/// The answer to a route: actions that lead to the first step, and the steps, each with its action.
fn route_json(back: &[String], steps: Vec<Value>) -> Value {
    let actions: Vec<&Value> = steps.iter().map(|step| &step["action"]).collect();
    json!({"known": true, "back": back, "actions": actions, "steps": steps})
}

impl<'a> BestRun<'a> {
    /// The best run of a file; `None` where it has none.
    pub fn read(snapshot: &'a Snapshot) -> Option<BestRun<'a>> {
        let memory = snapshot.section(&Scope::Game).live_with_title(BEST_RUN)?.clone();
        let (run, running) = (Run::of(&memory)?, snapshot.running_episode());
        let route = Route::of(&run, snapshot, running);
        Some(BestRun { memory, run, route, snapshot, running, graph: None })
    }

    /// The best run as one to follow: all of a run is done in its own episode.
    pub fn to_follow(snapshot: &'a Snapshot) -> Option<BestRun<'a>> {
        BestRun::read(snapshot).filter(|best| best.memory.provenance.episode != Some(best.running))
    }

    /// The place where it begins.
    pub fn begins_at(&self) -> Option<u64> {
        Some(self.run.begins_at.as_ref()?.id)
    }

    /// The best run with its map made once, for questions about many places.
    pub fn with_map(self) -> BestRun<'a> {
        BestRun { graph: Some(Graph::read(self.snapshot)), ..self }
    }

    /// The actions that come next at a place; `None` where the run is done, or no way back to it is known that costs less
    /// than `far` actions which always worked. Each way costs at least as much as one, so the map around is enough.
    pub fn next_near(&self, here: u64, far: u64) -> Option<Next<'_>> {
        let (ways, most) = (far.saturating_sub(1), (ACTION * far).saturating_sub(1));
        self.route.next_on_it(here).or_else(|| match &self.graph {
            Some(graph) => self.route.next_off_it(here, graph, most),
            None => {
                let graph = Graph::around(self.snapshot, here, ways, self.running);
                self.route.next_off_it(here, &graph, most)
            }
        })
    }

    fn steps(&self, graph: &Graph<'_>, goal: Option<&str>, from: Option<u64>) -> Option<Next<'_>> {
        let Next { back, stops } = match from {
            Some(from) => {
                self.route.next_on_it(from).or_else(|| self.route.next_off_it(from, graph, u64::MAX))?
            }
            None => Next { back: Vec::new(), stops: &self.route.stops },
        };
        let stops = match goal {
            Some(goal) => up_to(stops, goal, graph)?,
            None => stops,
        };
        Some(Next { back, stops })
    }

    fn report(&self, graph: &Graph<'_>, Next { back, stops }: &Next<'_>) -> MapReport {
        let mut text: String = back.iter().map(|action| format!("{}\n", one_line(action))).collect();
        for stop in *stops {
            let at = || graph.name_of(self.run.gains[stop.leg].at.id);
            let gain = stop.gain.as_ref().map(|gain| format!("  ({gain} at {})", at()));
            text.push_str(&format!("{}{}\n", one_line(&stop.action), gain.unwrap_or_default()));
        }
        let steps: Vec<Value> = stops.iter().map(|stop| step_json(graph, stop)).collect();
        let mut json = route_json(back, steps);
        let provenance = &self.memory.provenance;
        set(&mut json, "episode", provenance.episode);
        set(&mut json, "score", provenance.score);
        MapReport { text, json, is_known: true }
    }
}

fn step_json(graph: &Graph<'_>, stop: &Stop) -> Value {
    let mut step = json!({"action": stop.action, "done": stop.is_done});
    set(&mut step, "place", stop.place.map(|place| graph.place_json(place)));
    set(&mut step, "gain", stop.gain.as_ref());
    step
}
