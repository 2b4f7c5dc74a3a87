//! The provider without a model: rules that take sentences from the game's own reply.
//!
//! In: the facts of a turn, never the prose of the prompt. Out: the JSON that a model would answer.
//! The same facts always give the same answer, nothing is opened, nothing costs, and nothing is
//! claimed that the reply or the game's state does not show.
//!
//! A file must not grow by more than a person reads. So what matters about a place is gathered in few
//! entries that are written anew as they grow: `Here` (ways, actions that worked, things seen),
//! `Points`, `Deaths`; only thefts, losses and fights won have entries of their own. Nothing is kept
//! that the list of tries shows anyway.
//!
//! `facts` reads the turn, `sentences` takes the reply apart, `words` knows what actions are
//! called, `rules` decides on events and `places` on what a place holds and where it leads.

mod facts;
mod places;
mod rules;
mod sentences;
mod words;

use serde_json::json;

use self::facts::{Facts, find_title};
use self::sentences::{Reply, cut};
use crate::llm::model::{Answer, Model, ModelError, Question, Usage};

/// The longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 60;
/// The longest text, in characters.
pub const MAX_TEXT_CHARS: usize = 240;

/// Judges turns by rules over the game's state and reply.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Model for Offline {
    fn name(&self) -> String {
        "offline".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        if question.schema_name != "memory" {
            return Err(ModelError::Refused {
                at: self.name(),
                problem: "the built-in rules only judge turns".to_owned(),
            });
        }
        let facts = Facts::new(question.facts);
        let reply = Reply::new(&facts.reply, &facts.place_names());
        let text = render_decision(&facts, &rules::decide(&facts, &reply));
        Ok(Answer { text, model: self.name(), usage: Usage::default() })
    }
}

/// What the rules make of a turn.
#[derive(Debug, Clone)]
enum Decision {
    /// Worth keeping.
    Remember(Draft),
    /// Not worth keeping, and why.
    Decline(&'static str),
}

/// A memory as a rule words it.
#[derive(Debug, Clone)]
struct Draft {
    category: &'static str,
    title: String,
    text: String,
    /// Which rule fired.
    reasoning: &'static str,
    /// Belongs to the place arrived at.
    at_arrival: bool,
    tentative: bool,
    importance: u16,
}

impl Draft {
    /// A confirmed memory of the place where the action was taken.
    fn new(
        category: &'static str,
        importance: u16,
        title: impl Into<String>,
        text: impl Into<String>,
    ) -> Draft {
        Draft {
            category,
            title: title.into(),
            text: text.into(),
            reasoning: "",
            at_arrival: false,
            tentative: false,
            importance,
        }
    }

    /// The same, to be confirmed.
    fn tentative(mut self, tentative: bool) -> Draft {
        self.tentative = tentative;
        self
    }

    /// The same, for the place arrived at.
    fn at_arrival(mut self, at_arrival: bool) -> Draft {
        self.at_arrival = at_arrival;
        self
    }

    /// The decision to keep it, with the rule that fired.
    fn because(mut self, reasoning: &'static str) -> Decision {
        self.reasoning = reasoning;
        if self.title.trim().is_empty() || self.text.trim().is_empty() {
            return Decision::Decline("nothing that could be worded");
        }
        Decision::Remember(self)
    }
}

fn render_decision(facts: &Facts, decision: &Decision) -> String {
    let empty = Draft::new("NOTE", 1, "", "");
    let (should_remember, draft, reasoning) = match decision {
        Decision::Remember(draft) => (true, draft, draft.reasoning),
        Decision::Decline(reason) => (false, &empty, *reason),
    };
    // A title in use is used again only to say more: named, it is a revision however alike the texts.
    let elsewhere = draft.at_arrival && facts.moved();
    let memories = if elsewhere { &facts.memories_after } else { &facts.memories };
    let revised = find_title(memories, &draft.title).map(|known| known.title.as_str());
    json!({
        "should_remember": should_remember,
        "category": draft.category,
        "memory_title": cut(&draft.title, MAX_TITLE_CHARS),
        "memory_text": cut(&draft.text, MAX_TEXT_CHARS),
        "reasoning": reasoning,
        "place": if draft.at_arrival { "after" } else { "before" },
        "persistence": "permanent",
        "status": if draft.tentative { "tentative" } else { "active" },
        "importance": draft.importance,
        "supersedes": Vec::from_iter(revised),
        "invalidates": [],
        "invalidation_reason": "",
    })
    .to_string()
}
