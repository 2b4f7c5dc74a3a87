//! The built-in rules: they judge a turn of a text adventure without a model.
//!
//! The context of a turn enters, a `Proposal` leaves. The same turn always gives the same proposal,
//! nothing is opened, and nothing is claimed that the reply or the game's state does not show.
//!
//! One entry is one fact in the game's own words, and its title names it: the cause of a death, the stolen item, the
//! action that scored, the thing that an action revealed, the thing that a place shows. Its text holds whole
//! sentences, and none that repeats the title. A fact that the place has already is not proposed again. Ways, actions
//! that worked and actions in vain are no memories: `record` lists them.
//!
//! `view` prepares the turn, `sentences` splits the reply, `words` recognises actions and phrases, `events`
//! holds the rules for events, `places` those for places, `headline` makes titles, `draft` builds the memory.

mod draft;
mod events;
mod headline;
mod places;
pub(super) mod sentences;
mod view;
mod words;

use crate::context::TurnContext;
use crate::proposal::{Proposal, Proposed};
use memories_llm::answer::{text_problem, title_problem};

use draft::Draft;
use sentences::Reply;
use view::TurnView;

pub use draft::{MAX_TEXT_CHARS, MAX_TITLE_CHARS};

/// Judges a turn.
pub fn judge(context: &TurnContext) -> Proposal {
    let turn = TurnView::of(context);
    let reply = Reply::new(&turn.reply, &turn.place_names());
    let mut facts: Vec<Draft> = events::find_event(&turn, &reply).into_iter().collect();
    facts.extend(places::find_sights(&turn, &reply));
    if facts.is_empty() {
        return Proposal::decline("nothing that a rule finds worth keeping");
    }
    let is_usable = |fact: &Draft| {
        title_problem(&fact.memory.title).is_none() && text_problem(&fact.memory.text, "").is_none()
    };
    facts.retain(|fact| is_usable(fact) && !turn.knows(fact));
    let reason = facts.first().map_or("what the turn shows is known", |fact| fact.reason);
    let memories = facts.into_iter().map(|fact| Proposed::by_rules(fact.memory, fact.side)).collect();
    Proposal { memories, ..Proposal::decline(reason) }
}
