//! Answers about the map, as text and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use crate::graph::{Edge, Graph};
use crate::search::{Paths, actions};
use memories_document::fields::write_moment;
use memories_document::types::frame::{list_item, list_label, within_parentheses};
use memories_document::types::{Moment, Scope, TryResult};

/// An answer about the map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapReport {
    /// For people and models; each line is ended.
    pub text: String,
    /// The report as values.
    pub json: Value,
    /// False where what was asked for is not known.
    pub is_known: bool,
}

impl Graph<'_> {
    /// The shortest known path between two places.
    pub fn path(&self, from: u64, to: u64) -> MapReport {
        let steps = self.find(from).zip(self.find(to)).and_then(|(from, to)| Paths::from(self, from).to(to));
        let (start, end) = (self.name_of(from), self.name_of(to));
        let text = match &steps {
            None => format!("No way is known from {start} to {end}.\n"),
            Some(_) if from == to => format!("{end} is where you are.\n"),
            Some(steps) => {
                let lines = steps.iter().map(|(_, edge)| format!("{}\n", self.step_text(edge)));
                format!(
                    "From {start} to {end}, {}:\n{}",
                    counted(steps.len(), "step"),
                    lines.collect::<String>()
                )
            }
        };
        let is_known = steps.is_some();
        let steps = steps.unwrap_or_default();
        let json = json!({
            "known": is_known,
            "from": self.place_json(from),
            "to": self.place_json(to),
            "actions": actions(&steps),
            "steps": steps.iter().map(|(at, edge)| self.way_json(*at, edge)).collect::<Value>(),
        });
        MapReport { text, json, is_known }
    }

    /// The places within a number of steps, nearest first.
    pub fn near(&self, from: u64, steps: usize) -> MapReport {
        let start = self.name_of(from);
        let mut text = String::new();
        let mut places = Vec::new();
        let paths = self.find(from).map(|from| Paths::from(self, from));
        let near = paths.iter().flat_map(Paths::nearest).skip(1).filter(|(_, distance)| *distance <= steps);
        for (at, distance) in near {
            let actions = actions(&paths.as_ref().and_then(|paths| paths.to(at)).unwrap_or_default());
            let name = list_label(&self.label(at));
            text.push_str(&format!("{name}, {}: {}\n", counted(distance, "step"), listed(&actions)));
            let mut place = self.place_json(self.places[at].id);
            place["steps"] = json!(distance);
            place["actions"] = json!(actions);
            places.push(place);
        }
        let is_known = !places.is_empty();
        let text = if is_known {
            format!("From {start}:\n{text}")
        } else {
            format!("No place is known within {} of {start}.\n", counted(steps, "step"))
        };
        MapReport { text, json: json!({"from": self.place_json(from), "places": places}), is_known }
    }

    /// The name of a place, which need not be known.
    pub(crate) fn name_of(&self, id: u64) -> String {
        self.find(id).map_or_else(|| Scope::Location(id).to_string(), |at| list_label(&self.label(at)))
    }

    /// The name of a place as its heading has it; empty where it is not known.
    pub(crate) fn place_name(&self, id: u64) -> &str {
        self.find(id).map_or("", |at| &self.places[at].name)
    }

    /// A place as a value.
    pub(crate) fn place_json(&self, id: u64) -> Value {
        json!({"id": id, "name": self.place_name(id)})
    }

    pub(super) fn way_json(&self, from: usize, edge: &Edge) -> Value {
        let mut way = json!({
            "action": edge.way.action,
            "from": self.place_json(self.places[from].id),
            "to": self.place_json(self.places[edge.to].id),
            "count": edge.way.count,
            "episode": edge.way.episode,
            "turn": edge.way.turn,
        });
        let elsewhere: Vec<Value> =
            edge.elsewhere.iter().map(|at| self.place_json(self.places[*at].id)).collect();
        let refused = edge.refused.as_ref();
        let refused = refused
            .map(|refused| json!({"episode": refused.episode, "turn": refused.turn, "reply": refused.reply}));
        set(&mut way, "after", Some(&edge.way.after).filter(|after| !after.is_empty()));
        set(&mut way, "led_elsewhere_since", (!edge.is_current).then_some(true));
        set(&mut way, "sometimes_to", Some(elsewhere).filter(|elsewhere| !elsewhere.is_empty()));
        set(&mut way, "refused_since", refused);
        set(&mut way, "deadly", edge.is_deadly.then_some(true));
        way
    }

    /// `up → Attic (refused at Ep2 T5: The door is locked.)`.
    fn step_text(&self, edge: &Edge) -> String {
        let step = format!("{} → {}", list_item(&edge.way.action), list_label(&self.label(edge.to)));
        with_notes(&step, &self.notes(edge))
    }

    /// The openers of a way, and reasons against taking it; empty if there are none.
    pub(super) fn notes(&self, edge: &Edge) -> String {
        let mut notes = Vec::new();
        if !edge.way.after.is_empty() {
            notes.push(format!("after {}", within_parentheses(&listed(&edge.way.after))));
        }
        if let Some(refused) = &edge.refused {
            let (episode, turn) = (refused.episode, refused.turn);
            let at = write_moment(&Moment { episode, turn, ..Moment::default() });
            let done = if refused.result == TryResult::Deadly { "deadly" } else { "refused" };
            notes.push(format!("{done} at {at}: {}", within_parentheses(&refused.reply)));
        }
        if !edge.elsewhere.is_empty() {
            let places: Vec<String> = edge.elsewhere.iter().map(|at| list_label(&self.label(*at))).collect();
            notes.push(format!("sometimes to {}", places.join(", ")));
        }
        notes.join("; ")
    }
}

/// Adds a field to an object where there is a value for it.
pub(super) fn set(object: &mut Value, key: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        object[key] = json!(value);
    }
}

/// Names as a list that none of them can imitate.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| list_item(name.as_ref())).collect::<Vec<_>>().join(", ")
}

pub(super) fn counted(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

/// A text, with its notes in brackets where there are some.
pub(super) fn with_notes(text: &str, notes: &str) -> String {
    if notes.is_empty() { text.to_owned() } else { format!("{text} ({notes})") }
}
