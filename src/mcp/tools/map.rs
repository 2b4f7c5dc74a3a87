//! The tools of the group `places` that read the map.

use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::parameter::ArgumentType::Text;
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::tool::{Call, Effect, Tool};
use memories_document::types::{Scope, ScopeName};
use memories_world::{Descriptions, Graph, MapReport, route, standing};

/// Number of places that `unexplored` lists.
const PLACES: usize = 10;

const TO: Parameter =
    Parameter::new("to", Text, "id or name").required("name the place: its id, or a name that only one has");
const FROM: Parameter = Parameter::new("from", Text, "default: where you are");
const GOAL: Parameter = Parameter::new("goal", Text, "up to it: place, item or gain like +10");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "find_path",
        title: "Find a path",
        about: "Shortest known way to a place.",
        effect: Effect::Reads,
        parameters: &[TO, FROM],
        answer: &["known", "actions"],
        run: find_path,
    },
    Tool {
        name: "unexplored",
        title: "Unexplored directions",
        about: "Directions never tried, likeliest first.",
        effect: Effect::Reads,
        parameters: &[FROM],
        answer: &["places"],
        run: unexplored,
    },
    Tool {
        name: "next_steps",
        title: "Next steps",
        about: "Actions of the best run so far that this episode has not done. Use to repeat its gains.",
        effect: Effect::Reads,
        parameters: &[GOAL, FROM],
        answer: &["known", "back", "actions"],
        run: next_steps,
    },
];

fn find_path(call: &Call<'_>) -> Result<Answer, Refusal> {
    let to = call.memories.scope(&call.arguments.required(&TO)?)?;
    let (to, from) = (place_id(&to)?, known_start(call)?);
    Ok(answer(Graph::read(&*call.memories.snapshot()?).path(from, to)))
}

fn unexplored(call: &Call<'_>) -> Result<Answer, Refusal> {
    let from = known_start(call)?;
    let snapshot = call.memories.snapshot()?;
    let descriptions = Descriptions::read(call.memories.store(), &snapshot);
    Ok(answer(Graph::read(&snapshot).frontier(from, PLACES, &descriptions)))
}

fn next_steps(call: &Call<'_>) -> Result<Answer, Refusal> {
    let goal = call.arguments.text(&GOAL)?;
    Ok(answer(route(&*call.memories.snapshot()?, goal.as_deref(), start(call)?)))
}

/// The place of the argument, else the one where the player stands; `None` where nobody knows it.
fn start(call: &Call<'_>) -> Result<Option<u64>, Refusal> {
    let place = match call.arguments.text(&FROM)? {
        Some(from) => Some(call.memories.scope(&from)?),
        None => match standing(call.memories.store(), &*call.memories.snapshot()?)? {
            Some(ScopeName::Scope(scope)) => Some(scope),
            Some(name) => Some(call.memories.sections(&[name])?.remove(0).0),
            None => None,
        },
    };
    place.as_ref().map(place_id).transpose()
}

fn known_start(call: &Call<'_>) -> Result<u64, Refusal> {
    start(call)?.ok_or_else(|| {
        Refusal::new("no turn of this episode was recorded, so it is not known where you are")
            .hint("name the place to start from as `from`")
    })
}

fn place_id(scope: &Scope) -> Result<u64, Refusal> {
    match scope {
        Scope::Location(id) => Ok(*id),
        other => Err(Refusal::new(format!("`{other}` is not a place")).hint("ways lead from place to place")),
    }
}

fn answer(report: MapReport) -> Answer {
    Answer::new(report.text, report.json)
}
