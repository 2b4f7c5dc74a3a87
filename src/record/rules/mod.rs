//! The built-in rules: they judge a turn of a text adventure without a model.
//!
//! The context of a turn enters, a `Proposal` leaves. The same turn always gives the same proposal,
//! nothing is opened, and nothing is claimed that the reply or the game's state does not show.
//!
//! The file must not grow beyond what a person reads. So what matters about a place is collected in a few
//! entries that are rewritten as they grow: `Here` (ways, actions that worked, things seen), `Points`,
//! `Deaths`. Only thefts, losses and won fights get entries of their own. Nothing is stored that the list
//! of tried actions shows anyway.
//!
//! `view` prepares the turn, `sentences` splits the reply, `words` recognises actions, `events` holds the
//! rules for events, `places` those for the state of a place, `draft` builds the memory.

mod draft;
mod events;
mod places;
pub(super) mod sentences;
mod view;
pub(super) mod words;

use crate::record::context::TurnContext;
use crate::record::proposal::{Proposal, Side};

use sentences::Reply;
use view::{TurnView, find_title};

pub use draft::{MAX_TEXT_CHARS, MAX_TITLE_CHARS};

/// Judges a turn.
pub fn judge(context: &TurnContext) -> Proposal {
    let turn = TurnView::of(context);
    let reply = Reply::new(&turn.reply, &turn.place_names());
    let mut proposal = events::decide(&turn, &reply);
    if let Some((memory, side)) = &proposal.memory {
        // A known title is used again only to say more, so it is named: a revision, however
        // similar the texts.
        let memories = if *side == Side::After { turn.notes_here() } else { turn.notes() };
        proposal.supersedes.extend(find_title(memories, &memory.title).map(|known| known.title.clone()));
    }
    proposal
}
