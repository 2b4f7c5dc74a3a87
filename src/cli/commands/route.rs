//! `route`: prints the best run of the game, or the part of it that leads to a goal, as actions.

use serde_json::{Value, json};

use crate::cli::commands::map_places::{named_or_last, read_file};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::known_ways;
use crate::document::run::Run;
use crate::map::route::Stop;
use crate::map::{Graph, Route};
use crate::notebook::Snapshot;
use crate::recall::ahead::entry_of_best_run;
use crate::types::Memory;
use crate::types::frame::one_line;

/// Print the best run of the game, or what leads to a goal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The best run is the entry `Best run` of the section `Game`: what earned the
points of the best episode so far, in order.

Examples:
  memories route                        the whole best run, a line an action
  memories route lamp                   up to the first action that names it
  memories route Kitchen                up to the first arrival at a place
  memories route +10                    up to the first gain of 10 points
  memories route --from 64              what is left to do in this episode, from
                                        a place
  memories route --json | jq -r '.actions[]'

Exit code 0: there is such a run; 1: none is known. With --json: {version,
known, episode?, score?, back, actions, steps: [{action, place?, gain?,
done}]}. A place is {id, name}; `back` leads to the first of the actions.")]
pub(crate) struct RouteArgs {
    /// A place, what is gained, or a word of an action
    #[arg(value_name = "GOAL", allow_negative_numbers = true)]
    goal: Option<String>,
    /// Only what is still to be done, from this place; `.` is where the last recorded turn ended
    #[arg(long, value_name = "PLACE", allow_negative_numbers = true, conflicts_with = "goal")]
    from: Option<String>,
}

/// The best run of a file, and its entry.
pub(crate) fn best_run(snapshot: &Snapshot) -> Option<(Run, Memory)> {
    let memory = entry_of_best_run(snapshot)?;
    Some((Run::of(&memory)?, memory))
}

pub fn run(mut cli: Cli<'_>, args: RouteArgs) -> Result<u8, Failure> {
    let RouteArgs { goal, from } = args;
    let snapshot = read_file(&mut cli)?;
    let Some((run, memory)) = best_run(&snapshot) else {
        return nothing(&mut cli, "No run of this game is known that gained anything.");
    };
    let sections = known_ways(snapshot.text());
    let route = Route::of(&run, &sections, snapshot.running_episode());
    let graph = Graph::of(sections, Some(snapshot.running_episode()));
    let name = |id: u64| graph.name_of(id);
    let (back, stops) = match (&goal, from) {
        (Some(goal), _) => (Vec::new(), route.up_to(goal, &run, |id| graph.place_name(id).to_owned())),
        (None, None) => (Vec::new(), Some(&route.stops[..])),
        (None, Some(from)) => {
            let from = named_or_last(&cli, &snapshot, Some(&*from).filter(|from| *from != "."))?;
            match route.next_at(from, &graph) {
                Some(next) => (next.back, Some(next.stops)),
                None => (Vec::new(), None),
            }
        }
    };
    let Some(stops) = stops else {
        return nothing(&mut cli, "The best run does not lead there, or all of it is done in this episode.");
    };
    let mut text: String = back.iter().map(|action| format!("{}\n", one_line(action))).collect();
    for stop in stops {
        let gain =
            stop.gain.as_ref().map(|gain| format!("  ({gain} at {})", name(run.gains[stop.leg].at.id)));
        text.push_str(&format!("{}{}\n", one_line(&stop.action), gain.unwrap_or_default()));
    }
    let steps: Vec<Value> = stops.iter().map(|stop| step_json(stop, &graph)).collect();
    let actions: Vec<&str> = stops.iter().map(|stop| stop.action.as_str()).collect();
    let mut answer = json!({"known": true, "back": back, "actions": actions, "steps": steps});
    if let Some(episode) = memory.provenance.episode {
        answer["episode"] = json!(episode);
    }
    if let Some(score) = memory.provenance.score {
        answer["score"] = json!(score);
    }
    cli.ui.answer(&answer, &text)?;
    Ok(0)
}

fn nothing(cli: &mut Cli<'_>, text: &str) -> Result<u8, Failure> {
    let answer = json!({"known": false, "back": [], "actions": [], "steps": []});
    cli.ui.answer(&answer, &format!("{text}\n"))?;
    Ok(1)
}

fn step_json(stop: &Stop, graph: &Graph<'_>) -> Value {
    let mut step = json!({"action": stop.action, "done": stop.is_done});
    if let Some(place) = stop.place {
        step["place"] = graph.place_json(place);
    }
    if let Some(gain) = &stop.gain {
        step["gain"] = json!(gain);
    }
    step
}
