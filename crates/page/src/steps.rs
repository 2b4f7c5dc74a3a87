//! The steps of the page's time: recorded turns, other commands, and changes from outside.
//!
//! Lines of the journal enter; steps leave, each a short list as `page/unpack.js` reads it. Words that come again and
//! again are kept once and named by number.

use serde::Serialize;
use serde_json::{Value, json};

use crate::strings::Strings;
use memories_document::types::instant::Instant;
use memories_record::stats::log::why;
use memories_record::stats::tally::TurnEffect;
use memories_store::journal::entry::{Entry, PlaceEntry, PlayedTurn};

/// The kind of a step, on the page a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum StepKind {
    /// The state before the first known step.
    #[serde(rename = "s")]
    Start,
    /// A recorded turn.
    #[serde(rename = "t")]
    Turn,
    /// Another command.
    #[serde(rename = "c")]
    Command,
    /// A change that no command of the program made.
    #[serde(rename = "o")]
    Outside,
    /// The states before it are not known.
    #[serde(rename = "g")]
    Gap,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// True for a turn that was recorded, and not one that a model was asked about later.
    pub(super) is_turn: bool,
    /// The episode of its turn, or that the command names.
    pub(super) episode: Option<u64>,
    /// The turn's number.
    pub(super) turn: Option<u64>,
    /// Seconds since 1970.
    pub(super) time: Option<i64>,
    packed: Vec<Value>,
}

/// Position of the time in a packed step.
const TIME: usize = 3;

impl Step {
    /// A step that no line of the journal is about.
    pub(super) fn without_line(kind: StepKind) -> Step {
        Step { is_turn: false, episode: None, turn: None, time: None, packed: vec![json!(kind)] }
    }

    /// The step of a line of the journal. `effect` says of a turn what it changed.
    pub(super) fn of(entry: &Entry<'_>, effect: Option<TurnEffect>, strings: &mut Strings) -> Step {
        let nothing = PlayedTurn::default();
        let turn = entry.turn.as_ref().unwrap_or(&nothing);
        let (kind, episode) = match entry.turn {
            Some(_) => (StepKind::Turn, turn.episode),
            None => (StepKind::Command, entry.episode),
        };
        let time = entry.time.as_deref().and_then(Instant::of);
        let mut number = |text: &str| strings.number(text);
        let [command, outcome] =
            [&entry.command, &entry.outcome].map(|text| text.as_deref().unwrap_or_default());
        let reason = why(entry);
        let place = |place: &Option<PlaceEntry<'_>>| place.as_ref().and_then(|place| place.id);
        let effect = effect.unwrap_or_default();
        let flags = u8::from(effect.no_effect)
            + 2 * u8::from(effect.repeated)
            + 4 * u8::from(turn.died == Some(true));
        let memories: Vec<Value> = entry
            .parts()
            .map(|part| {
                let [outcome, scope, title] =
                    [&part.outcome, &part.scope, &part.title].map(|text| text.as_deref().unwrap_or_default());
                json!([number(outcome), number(scope), title])
            })
            .collect();
        let mut packed = vec![
            json!(kind),
            json!(episode),
            json!(turn.turn),
            json!(time.map(|_| 0)),
            json!(number(turn.action.as_deref().unwrap_or_default())),
            json!(place(&turn.location_before)),
            json!(place(&turn.location_after)),
            json!(turn.score_after),
            json!(flags),
            json!(number(outcome)),
            json!(number(&reason)),
            json!(memories),
            json!(number(command)),
        ];
        // The flags are at position 8; a number 0 behind them is one of a text.
        let is_empty = |value: &Value| value.is_null() || *value == json!([]);
        while packed.len() > 1 && packed.last().is_some_and(is_empty) {
            packed.pop();
        }
        let is_turn = entry.turn.is_some() && entry.resolves.is_none();
        Step { is_turn, episode, turn: turn.turn, time: time.map(Instant::as_second), packed }
    }

    /// The list that the page reads. `last` is the time of the step before, and becomes that of this one.
    pub(super) fn packed(&self, last: &mut i64) -> Value {
        let mut packed = self.packed.clone();
        if let Some(time) = self.time {
            packed[TIME] = json!(time - std::mem::replace(last, time));
        }
        Value::Array(packed)
    }
}
