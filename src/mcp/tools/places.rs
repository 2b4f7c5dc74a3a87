//! The group `places`: memories of places, and the turns played there.

use serde_json::{Map, Value, json};

use crate::ask::answer::{answer, memories_to_read};
use crate::llm::{self, Choice, Model, ModelError, Question};
use crate::mcp::access::Watcher;
use crate::mcp::answer::{Answer, Refusal, memory_text, memory_value, without_nulls};
use crate::mcp::parameter::ArgumentType::{Flag, Integer, Text, Texts};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::tool::{Call, Effect, Tool};
use crate::recall::budget::estimate_tokens;
use crate::recall::{Circumstances, Evidence, Format, render};
use crate::record::turn::Turn;
use crate::record::{Judge, RecordSettings, Recorder};
use crate::search::filter::Filter;
use crate::search::top::top;
use crate::search::{ANSWER_TOKENS, Hit, SearchResults, cut_to_passages};
use crate::types::frame::{INDENT, continued};
use crate::types::{Memory, Scope, ScopeName};

/// Upper limit of memories in `get_top_memories`.
const MAX_TOP: u64 = 20;

/// Number of memories that `query_memories` returns.
const FOUND: usize = 5;

const LOCATION: Parameter = Parameter::new("location", Text)
    .about("id or name")
    .required("name the place: its id, or a name that only one place has");
const LIMIT: Parameter = Parameter::new("limit", Integer).about("up to 20");
const QUESTION: Parameter =
    Parameter::new("question", Text).required("ask in words, such as `where is the key?`");
const ANSWER: Parameter = Parameter::new("answer", Flag).about("have a model answer");
const ACTION: Parameter = Parameter::new("action", Text).required("name the action, such as `take mailbox`");
const INVENTORY: Parameter = Parameter::new("inventory", Texts).about("carried now");
const TURN_LOCATION: Parameter = Parameter::new("location", Text)
    .about("id, `id:name` or name")
    .required("say where it happened: the game's id, `id:name`, or a name");
const TURN_ACTION: Parameter = Parameter::new("action", Text).required("say what was done");
const NEW_PLACE: Parameter = Parameter::new("new_place", Flag).about("a new name gets an id");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "get_location_memories",
        about: "Memories of a place, and actions tried there in vain. Call on arrival.",
        effect: Effect::Reads,
        parameters: &[LOCATION],
        answer: schema::memories,
        run: get_location_memories,
    },
    Tool {
        name: "get_top_memories",
        about: "The most important memories of all places.",
        effect: Effect::Reads,
        parameters: &[LIMIT],
        answer: schema::memories,
        run: get_top_memories,
    },
    Tool {
        name: "query_memories",
        about: "Search all memories by meaning.",
        effect: Effect::Reads,
        parameters: &[QUESTION, ANSWER],
        answer: schema::memories,
        run: query_memories,
    },
    Tool {
        name: "check_action",
        about: "Call before acting. `in_vain`: it failed here and would again, leave it. Else it may be tried.",
        effect: Effect::Reads,
        parameters: &[LOCATION, ACTION, INVENTORY],
        answer: || schema::object(&[("verdict", "string"), ("tried", "boolean"), ("memories", "array")]),
        run: check_action,
    },
    Tool {
        name: "record_turn",
        about: "Record a turn after acting.",
        effect: Effect::Adds,
        parameters: &TURN,
        answer: || {
            schema::object(&[
                ("outcome", "string"),
                ("turn", "integer"),
                ("place", "object"),
                ("memories", "array"),
            ])
        },
        run: record_turn,
    },
];

/// The fields of a turn that a model may send.
const TURN: [Parameter; 16] = [
    TURN_LOCATION,
    TURN_ACTION,
    Parameter::new("response", Text).about("the game's reply").required("give the game's reply"),
    Parameter::new("location_after", Text).about("if elsewhere"),
    Parameter::new("score_before", Integer),
    Parameter::new("score_after", Integer),
    Parameter::new("inventory_before", Texts),
    Parameter::new("inventory_after", Texts),
    Parameter::new("died", Flag),
    Parameter::new("world_changed", Flag),
    Parameter::new("reasoning", Text),
    Parameter::new("remember", Text).about("store this text as a memory"),
    Parameter::new("remember_importance", Integer).about("1-1000"),
    Parameter::new("episode", Integer),
    Parameter::new("turn", Integer),
    NEW_PLACE,
];

/// The place that an argument names.
fn place(call: &Call<'_>) -> Result<ScopeName, Refusal> {
    let location = call.arguments.required(&LOCATION)?;
    call.memories.scope(&location).map(ScopeName::Scope)
}

fn get_location_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let place = place(call)?;
    let views = call.memories.recall(place)?;
    let view = &views[0];
    let value =
        |scope: &Scope, memory: &Memory| memory_value(scope, memory, f64::from(memory.importance()) / 1000.0);
    let shown: Vec<Value> = view.memories.iter().map(|memory| value(&view.scope, memory)).collect();
    let linked: Vec<Value> = view.linked.iter().map(|linked| value(&linked.scope, &linked.memory)).collect();
    let data = json!({
        "query": view.scope.label(&view.name),
        "memories": shown,
        "linked": linked,
        "visits": view.visits,
        "ways": view.actions.ways,
        "worked": view.actions.worked,
        "tried": view.actions.tried,
        "not_understood": view.actions.not_understood,
        "notes": view.notes,
        "memories_left_out": view.memories_left_out,
        "ways_left_out": view.ways_left_out,
        "worked_left_out": view.worked_left_out,
        "tried_left_out": view.tried_left_out,
        "notes_left_out": view.notes_left_out,
    });
    Ok(Answer::new(render(&views, Format::Text), data))
}

fn get_top_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let limit = call.arguments.count(&LIMIT)?.unwrap_or(10).clamp(1, MAX_TOP);
    let ranked = top(&*call.memories.snapshot()?, call.memories.viewer(), limit as usize, None);
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
    Ok(Answer::new(text, json!({"query": "the most important memories", "memories": values})))
}

/// The answer if there are no memories at all.
const NOTHING_YET: &str = "No memories recorded yet.\n";

/// The hits of a search as a numbered list.
pub(crate) fn found(query: &str, results: &SearchResults, note: impl Fn(&Hit) -> String) -> Answer {
    answer_of(query, results, |number, hit| {
        memory_text(number, &hit.scope, &hit.name, &hit.memory, &note(hit))
    })
}

/// The answer to a search. `shown` is the text of a hit, given its number from 1.
pub(crate) fn answer_of(
    query: &str,
    results: &SearchResults,
    shown: impl Fn(usize, &Hit) -> String,
) -> Answer {
    let mut text = String::new();
    let mut values = Vec::new();
    let mut hits = results.hits.clone();
    cut_to_passages(hits.iter_mut(), ANSWER_TOKENS, |hit| estimate_tokens(&shown(1, hit)));
    for (hit, number) in hits.iter().zip(1..) {
        text.push_str(&shown(number, hit));
        values.push(memory_value(&hit.scope, &hit.memory, f64::from(hit.relevance)));
    }
    if results.hits.is_empty() {
        text.push_str(if results.entries == 0 { NOTHING_YET } else { "No relevant memories found.\n" });
    }
    let fallback = results.fallback.iter();
    let warnings = fallback.map(|error| format!("{}; the embedded model answers instead", error.problem));
    let warnings = warnings.collect();
    Answer { warnings, ..Answer::new(text, json!({"query": query, "memories": values})) }
}

/// The relevance of a hit as text.
pub(crate) fn relevance_note(hit: &Hit) -> String {
    format!("{:.2}", hit.relevance)
}

fn query_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let question = call.arguments.required(&QUESTION)?;
    let wants_answer = call.arguments.flag(&ANSWER)?.unwrap_or(false);
    let search = |count, all| call.memories.search(call.watcher, &question, &Filter::default(), count, all);
    let results = search(FOUND, false)?;
    if wants_answer {
        let hits = memories_to_read(results.hits.len(), search)?;
        if !hits.is_empty() {
            return answered(call, &question, results, hits);
        }
    }
    Ok(found(&question, &results, relevance_note))
}

/// A model's answer before the hits, and the other memories that it is based on; without one, the hits with a
/// warning.
fn answered(
    call: &Call<'_>,
    question: &str,
    results: SearchResults,
    hits: Vec<Hit>,
) -> Result<Answer, Refusal> {
    let plain = |warning: String| {
        let mut result = found(question, &results, relevance_note);
        result.warnings.push(warning);
        Ok(result)
    };
    let Some(model) = call.memories.model()?.model else {
        return plain("no model is set up to answer; these are the memories themselves".to_owned());
    };
    call.watcher.goes_on()?;
    let model = ReportingModel { model, watcher: call.watcher };
    let (answered, _) = match answer(&model, question, &hits.iter().collect::<Vec<_>>()) {
        Ok(answered) => answered,
        Err(error) => return plain(format!("{error}; these are the memories themselves")),
    };
    let listed = results.hits.len();
    let shown = (1..).zip(hits).filter(|(number, _)| *number <= listed || answered.numbers.contains(number));
    let (numbers, hits): (Vec<usize>, Vec<Hit>) = shown.unzip();
    let mut result = found(question, &SearchResults { hits, ..results }, relevance_note);
    let said = answered.text.as_deref().unwrap_or("The memories do not say.");
    result.text = format!("Answer: {}\n\n{}", continued(said, INDENT), result.text);
    result.data["answer"] = json!(answered.text);
    let place = |number: &usize| numbers.iter().position(|shown| shown == number).map(|at| at + 1);
    result.data["relevant"] = json!(answered.numbers.iter().filter_map(place).collect::<Vec<_>>());
    result.warnings.extend(answered.warnings);
    Ok(result)
}

fn check_action(call: &Call<'_>) -> Result<Answer, Refusal> {
    let names = [place(call)?, ScopeName::Scope(Scope::Game)];
    let action = call.arguments.required(&ACTION)?;
    let sections = call.memories.sections(&names)?;
    let ((scope, section), (_, game)) = (&sections[0], &sections[sections.len() - 1]);
    let mut circumstances = Circumstances::of(game, call.memories.notebook().state().episode);
    if let Some(items) = call.arguments.texts(&INVENTORY)? {
        circumstances = circumstances.carrying(items);
    }
    let evidence = Evidence::of(section, &circumstances, &action);
    let advice = if evidence.in_vain() { "leave it" } else { "may be tried" };
    let text = evidence.render(advice, &scope.label(&section.name));
    Ok(Answer::new(text, without_nulls(evidence.to_json(scope))))
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
    let turn = Turn::from_value(&Value::Object(fields))?;
    let settings = RecordSettings {
        new_place: call.arguments.flag(&NEW_PLACE)?.unwrap_or(false),
        ..call.memories.setup.record.clone()
    };
    let Choice { model, notice } = call.memories.model()?;
    let model = model.map(|model| ReportingModel { model, watcher: call.watcher });
    let judge = model.as_ref().map_or(Judge::Rules, |model| Judge::Model(model));
    let recorder = Recorder { notebook: &call.memories.notebook(), judge, settings: &settings };
    call.watcher.goes_on()?;
    let report = recorder.record(turn)?;
    let mut answer = Answer::new(format!("{}\n", report.one_line()), json!(report));
    answer.warnings = report.warnings.clone();
    if let Some(error) = report.model.as_ref().and_then(|model| model.error.as_ref()) {
        answer.warnings.push(format!("{error}; the turn is queued"));
    }
    answer.warnings.extend(notice.filter(|_| report.model.is_some()));
    Ok(answer)
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

/// A model whose requests are reported as progress.
struct ReportingModel<'a> {
    model: Box<dyn Model>,
    watcher: &'a Watcher,
}

impl Model for ReportingModel<'_> {
    fn name(&self) -> String {
        self.model.name()
    }

    fn ask(&self, question: &Question<'_>) -> Result<llm::Answer, ModelError> {
        self.watcher.report(format!("asking {}", self.model.name()), None);
        let answer = self.model.ask(question);
        self.watcher.report(format!("{} has answered", self.model.name()), None);
        answer
    }
}
