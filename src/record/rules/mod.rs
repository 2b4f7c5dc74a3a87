//! The built-in rules: they judge a turn of a text adventure without a model.
//!
//! A turn's context enters, a [`Proposal`] leaves. The same turn always gives the same proposal,
//! nothing is opened, and nothing is claimed that the reply or the game's state does not show.
//!
//! A file must not grow by more than a person reads. So what matters about a place is gathered in few
//! entries that are rewritten as they grow: `Here` (ways, actions that worked, things seen),
//! `Points`, `Deaths`; only thefts, losses and fights won have entries of their own. Nothing is kept
//! that the list of tries shows anyway.
//!
//! `view` reads the turn, `sentences` splits the reply, `words` recognises actions, `events` decides
//! on events and `places` on what a place holds and where it leads, `draft` words the memory.

mod draft;
mod events;
mod places;
mod sentences;
mod view;
mod words;

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
        // A title in use is used again only to say more: named, it is a revision however alike the texts.
        let memories = if *side == Side::After { turn.memories_here() } else { turn.memories() };
        proposal.supersedes.extend(find_title(memories, &memory.title).map(|known| known.title.clone()));
    }
    proposal
}
