//! The group `places`: memories of places, and the turns played there.

use serde_json::{Map, Value, json};

use crate::mcp::answer::{Answer, Refusal, memory_text, memory_value, without_nulls};
use crate::mcp::model::ReportingModel;
use crate::mcp::parameter::ArgumentType::{Flag, Integer, Text, Texts};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::searching::{NOTHING_YET, QUERY_MEMORIES};
use crate::mcp::tools::tool::{Call, Effect, Tool};
use memories_document::Note;
use memories_document::types::{Memory, Scope, ScopeName};
use memories_llm::Choice;
use memories_recall::{Circumstances, Evidence, View, render};
use memories_record::effect::Effect as TurnEffect;
use memories_record::turn::Turn;
use memories_record::{Judge, RecordError, RecordSettings, Recorder};
use memories_search::top::{RankedMemory, top};

/// Upper limit of memories in `get_top_memories`.
const MAX_TOP: u64 = 20;

const LOCATION: Parameter = Parameter::new("location", Text, "id, name or dir:path")
    .required("name the place: its id, or a name that only one place has");
const LIMIT: Parameter = Parameter::new("limit", Integer, "1-20, default 10");
const ACTION: Parameter =
    Parameter::new("action", Text, "as you type it").required("name the action, such as `take mailbox`");
const TURN_LOCATION: Parameter =
    Parameter::new("location", Text, "id, `id:name`, name, or `location:own-id`")
        .required("say where it happened: the game's id, `id:name`, or a name");
const TURN_ACTION: Parameter = Parameter::new("action", Text, "what you did").required("say what was done");
const NEW_EPISODE: Parameter = Parameter::new("new_episode", Flag, "a game began");
const NEW_PLACE: Parameter = Parameter::new("new_place", Flag, "unknown name: a new place");
const EPISODE: Parameter = Parameter::new("episode", Integer, "default: running");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "get_location_memories",
        title: "Recall a place",
        about: "Memories, ways and tried actions of a place. Call on arrival.",
        effect: Effect::Reads,
        parameters: &[LOCATION],
        answer: schema::MEMORIES,
        run: get_location_memories,
    },
    Tool {
        name: "get_top_memories",
        title: "Top memories",
        about: "The most important memories. Use at the start.",
        effect: Effect::Reads,
        parameters: &[LIMIT],
        answer: schema::MEMORIES,
        run: get_top_memories,
    },
    QUERY_MEMORIES,
    Tool {
        name: "check_action",
        title: "Check an action",
        about: "Call before acting. `leave it`: failed here and would again. `may be tried`: else.",
        effect: Effect::Reads,
        parameters: &[LOCATION, ACTION],
        answer: &["verdict", "tried", "memories"],
        run: check_action,
    },
    Tool {
        name: "record_turn",
        title: "Record a turn",
        about: "Record a turn after acting, with score, inventory and world_changed if known.",
        effect: Effect::Adds,
        parameters: &TURN,
        answer: &["outcome", "turn", "place", "memories"],
        run: record_turn,
    },
];

/// The fields of a turn that a model may send.
const TURN: [Parameter; 19] = [
    TURN_LOCATION,
    TURN_ACTION,
    Parameter::new("response", Text, "the game's reply").required("give the game's reply"),
    Parameter::new("location_after", Text, "where you are now"),
    Parameter::new("score_before", Integer, "before"),
    Parameter::new("score_after", Integer, "after"),
    Parameter::new("inventory_before", Texts, "before"),
    Parameter::new("inventory_after", Texts, "after"),
    Parameter::new("died", Flag, "you died"),
    Parameter::new("won", Flag, "the game is won"),
    Parameter::new("world_changed", Flag, "if known"),
    Parameter::new("present", Text, "ids of those who alone know it"),
    Parameter::new("reasoning", Text, "your reason"),
    Parameter::new("remember", Text, "lesson to store"),
    Parameter::new("remember_importance", Integer, "500 useful, 700 vital"),
    NEW_EPISODE,
    EPISODE,
    Parameter::new("turn", Integer, "default: next"),
    NEW_PLACE,
];

/// Said of a turn whose facts do not show what it changed.
const EFFECT_UNKNOWN: &str =
    "Its effect is unknown: send world_changed, or score or inventory before and after.\n";

/// The place that an argument names.
fn place(call: &Call<'_>) -> Result<ScopeName, Refusal> {
    let location = call.arguments.required(&LOCATION)?;
    match call.memories.scope_name(&location)? {
        // The player may be at the place for the first time.
        place @ ScopeName::Place(_) => Ok(place),
        name => call.memories.scope_of(name).map(ScopeName::Scope),
    }
}

/// The place that an argument names. A name like no name of the file is a place that is visited for the first time,
/// with a warning; any other unknown name is a slip.
fn place_to_recall(call: &Call<'_>) -> Result<(ScopeName, Option<String>), Refusal> {
    let location = call.arguments.required(&LOCATION)?;
    match call.memories.scope_name(&location)? {
        ScopeName::Name(name) if call.memories.is_far_from_all(&name)? => {
            let warning = format!("no memories are recorded for `{name}`: no place has this name");
            Ok((ScopeName::Place(name), Some(warning)))
        }
        _ => Ok((place(call)?, None)),
    }
}

fn get_location_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let (place, unknown) = place_to_recall(call)?;
    let views = call.memories.recall(place)?;
    let view = &views[0];
    let value =
        |scope: &Scope, memory: &Memory| memory_value(scope, memory, f64::from(memory.importance()) / 1000.0);
    // The folders above a folder are views of their own.
    let of =
        |view: &View| view.memories.iter().map(|piece| value(&view.scope, &piece.value)).collect::<Vec<_>>();
    let shown: Vec<Value> = views.iter().flat_map(of).collect();
    let linked = views.iter().flat_map(|view| &view.linked).map(|piece| &piece.value);
    let linked: Vec<Value> = linked.map(|linked| value(&linked.scope, &linked.memory)).collect();
    let left_out: usize = views.iter().map(|view| view.memories_left_out).sum();
    let notes: Vec<&Note> = view.notes.iter().map(|piece| &piece.value).collect();
    let data = json!({
        "query": view.scope.label(&view.name),
        "memories": shown,
        "linked": linked,
        "visits": view.visits,
        "ways": view.actions.ways,
        "worked": view.actions.worked,
        "seen": view.actions.seen,
        "tried": view.actions.tried,
        "not_understood": view.actions.not_understood,
        "notes": notes,
        "memories_left_out": left_out,
        "ways_left_out": view.ways_left_out,
        "worked_left_out": view.worked_left_out,
        "seen_left_out": view.seen_left_out,
        "tried_left_out": view.tried_left_out,
        "notes_left_out": view.notes_left_out,
    });
    let text = render(&views);
    let for_programs = call.for_programs(|objects| {
        let scopes: Vec<Value> =
            views.iter().map(|view| memories_recall::json::view(objects, view)).collect();
        memories_recall::json::recalled(&text, &scopes)
    })?;
    Ok(Answer { for_programs, warnings: unknown.into_iter().collect(), ..Answer::new(text, data) })
}

fn get_top_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let limit = call.arguments.count(&LIMIT)?.unwrap_or(10).clamp(1, MAX_TOP);
    let ranked = top(&*call.memories.snapshot()?, limit as usize, None);
    let mut text = String::new();
    let mut values = Vec::new();
    for (at, ranked) in ranked.iter().enumerate() {
        let note = format!("importance {}", ranked.memory.importance());
        text.push_str(&memory_text(at + 1, &ranked.scope, &ranked.name, &ranked.memory, &note));
        values.push(memory_value(&ranked.scope, &ranked.memory, ranked.importance / 1000.0));
    }
    if ranked.is_empty() {
        text.push_str(NOTHING_YET);
    }
    let for_programs = call.for_programs(|objects| {
        let object = |ranked: &RankedMemory| objects.object(&ranked.scope, &ranked.name, &ranked.memory);
        json!({"memories": ranked.iter().map(object).collect::<Vec<_>>()})
    })?;
    let data = json!({"query": "the most important memories", "memories": values});
    Ok(Answer { for_programs, ..Answer::new(text, data) })
}

fn check_action(call: &Call<'_>) -> Result<Answer, Refusal> {
    let names = [place(call)?, ScopeName::Scope(Scope::Game)];
    let action = match call.arguments.object().get(ACTION.name) {
        // Nothing was ever tried with it.
        Some(Value::String(blank)) if blank.trim().is_empty() => String::new(),
        _ => call.arguments.required(&ACTION)?,
    };
    let sections = call.memories.sections(&names)?;
    let ((scope, section), (_, game)) = (&sections[0], &sections[sections.len() - 1]);
    if matches!(scope, Scope::Folder(_)) {
        return Err(Refusal::new(format!(
            "`{scope}` is a folder, and files decide if a command fails there"
        ))
        .hint(format!("run `memories tried {scope} COMMAND` in a shell")));
    }
    let snapshot = call.memories.snapshot()?;
    let running = call.memories.notebook().state().episode;
    let circumstances = Circumstances::of(game, running, snapshot.text());
    let evidence = Evidence::of(section, &circumstances, &action);
    let advice = if evidence.in_vain() { "leave it" } else { "may be tried" };
    let text = evidence.render(advice, &scope.label(&section.name));
    let mut data = evidence.to_json(scope, &evidence.memories);
    data["tried"] = json!(evidence.in_vain());
    let for_programs =
        call.for_programs(|objects| memories_recall::json::tried(objects, scope, section, &evidence))?;
    Ok(Answer { for_programs, ..Answer::new(text, without_nulls(data)) })
}

fn record_turn(call: &Call<'_>) -> Result<Answer, Refusal> {
    call.arguments.required(&TURN_LOCATION)?;
    call.arguments.required(&TURN_ACTION)?;
    let mut fields: Map<String, Value> = call.arguments.object().clone();
    for name in ["location", "location_after"] {
        if let Some(place) = fields.get_mut(name) {
            spell_out(place);
        }
    }
    fields.remove(NEW_PLACE.name);
    fields.remove(NEW_EPISODE.name);
    let mut turn = Turn::from_value(&Value::Object(fields))?;
    if let Some(me) = &call.memories.setup.agent
        && !turn.present.is_empty()
        && !turn.present.contains(me)
    {
        turn.present.push(me.clone());
    }
    let notebook = call.notebook();
    if call.arguments.flag(&NEW_EPISODE)?.unwrap_or(false) {
        if turn.episode.is_some() {
            return Err(Refusal::arguments("`new_episode` is the next episode, and `episode` names another")
                .hint("send only one of them"));
        }
        turn.episode = Some(notebook.episode_after(notebook.state().episode));
    }
    let settings = RecordSettings {
        new_place: call.arguments.flag(&NEW_PLACE)?.unwrap_or(false),
        ..call.memories.setup.record.clone()
    };
    let Choice { model, notice } = call.memories.model()?;
    let model = model.map(|model| ReportingModel { model, watcher: call.watcher });
    let judge = model.as_ref().map_or(Judge::Rules, |model| Judge::Model(model));
    let recorder = Recorder { notebook: &notebook, judge, settings: &settings };
    call.watcher.goes_on()?;
    let report = recorder.record(turn).map_err(refused)?;
    let mut answer = Answer::new(format!("{}\n", report.one_line()), json!(report));
    if report.effect == Some(TurnEffect::Unknown) {
        answer.text.push_str(EFFECT_UNKNOWN);
        answer.data["effect_unknown"] = json!(true);
    }
    answer.warnings = report.warnings.clone();
    if let Some(error) = report.model.as_ref().and_then(|model| model.error.as_ref()) {
        answer.warnings.push(format!("{error}; the turn is queued"));
    }
    answer.warnings.extend(notice.filter(|_| report.model.is_some()));
    Ok(answer)
}

/// The refusal of a turn, with the argument that allows an unknown name.
fn refused(error: RecordError) -> Refusal {
    let is_unknown = matches!(&error, RecordError::UnknownPlace { .. });
    let refusal = Refusal::from(error);
    if is_unknown { refusal.hint("`new_place` gives a new place the next free id") } else { refusal }
}

/// Turns a place written as `23` or `23:Living Room` into an object with `id` and `name`.
fn spell_out(place: &mut Value) {
    let Value::String(text) = &*place else { return };
    let (id, name) = match text.split_once(':') {
        Some((id, name)) => (id, Some(name.trim())),
        None => (text.as_str(), None),
    };
    if let Ok(id) = id.trim().parse::<u64>() {
        *place = json!({"id": id, "name": name.filter(|name| !name.is_empty())});
    }
}
