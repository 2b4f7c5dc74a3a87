//! `goals`: lists what gained points, where and by what, in order.

use serde_json::{Value, json};

use crate::cli::commands::map_places::read_file;
use crate::cli::commands::route::best_run;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::known_ways;
use crate::map::{Graph, Route};
use crate::types::Scope;
use crate::types::frame::one_line;

/// List what gained points, where and by what
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The gains of the best run come first, in its order, then those of other
episodes in the order of the file. Those that the running episode has done are
marked.

Examples:
  memories goals
  memories goals --json | jq -r '.goals[] | select(.done | not) | .action'

With --json: {version, goals: [{gain, place: {id, name}, action, episode?,
turn?, writer?, in_best_run, count?, failed?, done}]}.")]
pub(crate) struct GoalsArgs {}

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

pub fn run(mut cli: Cli<'_>, _: GoalsArgs) -> Result<u8, Failure> {
    let snapshot = read_file(&mut cli)?;
    let sections = known_ways(snapshot.text());
    let running = snapshot.running_episode();
    let mut goals: Vec<Goal> = Vec::new();
    if let Some((run, memory)) = best_run(&snapshot) {
        let route = Route::of(&run, &sections, running);
        for (leg, gain) in run.gains.iter().enumerate() {
            let last = route.stops.iter().rposition(|stop| stop.leg == leg);
            goals.push(Goal {
                gain: gain.earned.to_string(),
                place: gain.at.id,
                action: gain.steps.last().cloned().unwrap_or_default(),
                episode: memory.provenance.episode,
                turn: gain.turn,
                writer: None,
                in_best_run: true,
                count: Some(gain.count),
                failed: gain.failed,
                done: last.is_some_and(|last| last < route.next),
            });
        }
    }
    let graph = Graph::of(sections, Some(running));
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
    let text: String = match goals.is_empty() {
        true => "Nothing is known that gained points.\n".to_owned(),
        false => goals.iter().map(|goal| goal.line(&graph)).collect(),
    };
    let goals: Vec<Value> = goals.iter().map(|goal| goal.json(&graph)).collect();
    cli.ui.answer(&json!({"goals": goals}), &text)
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
        let known = [
            ("episode", json!(self.episode)),
            ("turn", json!(self.turn)),
            ("writer", json!(self.writer)),
            ("count", json!(self.count)),
            ("failed", json!(self.failed)),
        ];
        for (key, known) in known.into_iter().filter(|(_, known)| !known.is_null()) {
            value[key] = known;
        }
        value
    }
}
