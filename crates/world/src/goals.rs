//! Gains of points: the gains of the best run, then memories of other gains.
//!
//! A snapshot of a memory file enters; an answer leaves, as text and as JSON.

use serde_json::{Value, json};

use crate::best_run::BestRun;
use crate::graph::Graph;
use crate::report::{MapReport, set};
use memories_document::types::Scope;
use memories_document::types::frame::one_line;
use memories_notebook::Snapshot;

/// A gain as it is listed.
struct Goal {
    gain: String,
    place: u64,
    action: String,
    episode: Option<u64>,
    turn: Option<u64>,
    writer: Option<String>,
    in_best_run: bool,
    count: Option<u64>,
    failed: Option<u64>,
    done: bool,
}

/// Gains of points, in the order of the best run and then of the file.
pub fn goals(snapshot: &Snapshot) -> MapReport {
    let best = BestRun::read(snapshot);
    let mut goals: Vec<Goal> = best.iter().flat_map(of_best_run).collect();
    let graph = Graph::read(snapshot);
    add_others(&mut goals, snapshot, &graph);
    let is_known = !goals.is_empty();
    let text: String = if !is_known {
        "Nothing is known that gained points.\n".to_owned()
    } else {
        goals.iter().map(|goal| goal.line(&graph)).collect()
    };
    let goals: Vec<Value> = goals.iter().map(|goal| goal.json(&graph)).collect();
    MapReport { text, json: json!({"goals": goals}), is_known }
}

fn of_best_run<'b>(best: &'b BestRun<'_>) -> impl Iterator<Item = Goal> + use<'b> {
    best.run.gains.iter().enumerate().map(|(leg, gain)| Goal {
        gain: gain.earned.to_string(),
        place: gain.at.id,
        action: gain.steps.last().cloned().unwrap_or_default(),
        episode: best.memory.provenance.episode,
        turn: gain.turn,
        writer: None,
        in_best_run: true,
        count: Some(gain.count),
        failed: gain.failed,
        done: best.route.made.get(leg) == Some(&true),
    })
}

/// Adds the memories of places that tell of another gain.
fn add_others(goals: &mut Vec<Goal>, snapshot: &Snapshot, graph: &Graph<'_>) {
    let running = snapshot.running_episode();
    for heading in snapshot.headings() {
        let Scope::Location(place) = heading.scope else { continue };
        for memory in snapshot.section(&heading.scope).live() {
            let Some(points) = memory.provenance.score_change.filter(|points| *points > 0) else { continue };
            let gain = format!("{points:+}");
            // A memory may tell of the same gain as the best run, at the place where the action was taken.
            let is_told = |goal: &Goal| {
                goal.gain == gain
                    && (goal.place == place || memory.title.contains(graph.place_name(goal.place)))
            };
            if goals.iter().any(|goal| goal.in_best_run && is_told(goal)) {
                continue;
            }
            goals.push(Goal {
                gain,
                place,
                action: memory.title.clone(),
                episode: memory.provenance.episode,
                turn: memory.provenance.turns.map(|turns| turns.first),
                writer: memory.writers().first().map(|writer| (*writer).to_owned()),
                in_best_run: false,
                count: None,
                failed: None,
                done: memory.provenance.episode == Some(running),
            });
        }
    }
}

impl Goal {
    fn line(&self, graph: &Graph<'_>) -> String {
        let at = match (self.episode, self.turn) {
            (Some(episode), Some(turn)) => format!(" (Ep{episode}, T{turn})"),
            (Some(episode), None) => format!(" (Ep{episode})"),
            _ => String::new(),
        };
        let by = self.writer.as_ref().map_or(String::new(), |writer| format!(" by {writer}"));
        let failed = self.failed.map_or(String::new(), |episode| format!(", failed in Ep{episode}"));
        let done = if self.done { ", done in this episode" } else { "" };
        let (gain, action, place) = (&self.gain, one_line(&self.action), graph.name_of(self.place));
        format!("{gain} at {place}: {action}{at}{by}{failed}{done}\n")
    }

    fn json(&self, graph: &Graph<'_>) -> Value {
        let mut value = json!({
            "gain": self.gain, "place": graph.place_json(self.place), "action": self.action,
            "in_best_run": self.in_best_run, "done": self.done,
        });
        set(&mut value, "episode", self.episode);
        set(&mut value, "turn", self.turn);
        set(&mut value, "writer", self.writer.as_ref());
        set(&mut value, "count", self.count);
        set(&mut value, "failed", self.failed);
        value
    }
}
