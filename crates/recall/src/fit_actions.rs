//! The actions of a scope that fit the budget, and the room that they leave to its memories.
//!
//! All actions enter; those that fit leave, their replies shortened before one is left out. Ways and what worked come
//! first, then what was seen, then tries, for which a part of the room is reserved.

use crate::actions::Actions;
use crate::budget::estimate_tokens;
use crate::format::Format;
use crate::rank::Rooms;

/// Lengths of replies in characters, the longest first.
const REPLY_LENGTHS: [usize; 4] = [100, 60, 40, REPLY_CHARS];

/// Length of replies, in characters, for which room is reserved; longer ones take what is left over.
const REPLY_CHARS: usize = 25;

/// What was seen may take one part in this many of the room for actions, if not everything fits.
const SEEN_SHARE: usize = 4;

/// Ways and what worked keep one part in this many of the budget from what was found.
const DONE_SHARE: usize = 4;

/// Tries may take one part in this many of the budget, if not everything fits.
const TRIED_SHARE: usize = 3;

/// What was seen and tried keeps one part in this many of the budget from what was found.
const RESERVED_SHARE: usize = 4;

/// Limit of tokens for what the game does not understand.
const NOT_UNDERSTOOD_TOKENS: usize = 30;

/// The actions that fit, those of the place before those that the game does not understand anywhere.
pub(super) fn fit_actions(all: &Actions, room: usize, format: Format) -> Actions {
    let mut shown = fit_here(all, room, format);
    let used = cost_of_actions(&shown, format);
    let with =
        |count: usize| Actions { not_understood: all.not_understood[..count].to_vec(), ..shown.clone() };
    let limit = room.min(used + NOT_UNDERSTOOD_TOKENS);
    let count = most(all.not_understood.len(), |count| cost_of_actions(&with(count), format) <= limit);
    shown.not_understood = all.not_understood[..count].to_vec();
    shown
}

/// Room for memories: for core and DANGER; for what changed the score; for what was found; for the others. A part is
/// kept for ways and what worked, and before what was found for what was seen and tried, too.
pub(super) fn rooms_for(actions: &Actions, room: usize, format: Format) -> Rooms {
    let [ways, worked, seen, tried] = countable(actions, room);
    let cost = |counts, reply_chars| cost_of_actions(&actions.first(counts, reply_chars), format);
    let done = cost([ways, worked, 0, 0], 0);
    let others = cost([0, 0, seen, tried], 0).min(room / TRIED_SHARE);
    Rooms {
        vital: room,
        scored: room - done.min(room / DONE_SHARE),
        found: room - others.min(room / RESERVED_SHARE) - done.min(room / DONE_SHARE),
        other: room - (others + done).min(room * 3 / 4),
    }
}

/// The actions of the place that fit: all with the longest replies possible, else the first of each kind, ways and what
/// worked before what was seen, and that before tries, with replies to as many tries as fit.
fn fit_here(all: &Actions, room: usize, format: Format) -> Actions {
    let cost = |counts, reply_chars| cost_of_actions(&all.first(counts, reply_chars), format);
    let counts = countable(all, room);
    let with_replies =
        |counts: [usize; 4]| match REPLY_LENGTHS.into_iter().find(|length| cost(counts, *length) <= room) {
            Some(length) => all.first(counts, length),
            None => {
                let with = |replies| all.first_with(counts, REPLY_CHARS, replies);
                with(most(counts[3], |replies| cost_of_actions(&with(replies), format) <= room))
            }
        };
    if cost(counts, 0) <= room {
        return with_replies(counts);
    }
    let [ways, worked, seen, tried] = counts;
    let mut shown = [0; 4];
    shown[0] = most(ways, |ways| cost([ways, 0, 0, 0], 0) <= room);
    shown[1] = most(worked, |worked| cost([shown[0], worked, 0, 0], 0) <= room);
    let left = room.saturating_sub(cost(shown, 0));
    shown[2] = most(seen, |seen| cost([0, 0, seen, 0], 0) <= left / SEEN_SHARE);
    shown[3] = most(tried, |tried| {
        cost([shown[0], shown[1], shown[2], tried], 0) <= room
            && cost([0, 0, 0, tried], 0) <= room / TRIED_SHARE
    });
    shown[2] = most(seen, |seen| cost([shown[0], shown[1], seen, shown[3]], 0) <= room);
    shown[3] = most(tried, |tried| cost([shown[0], shown[1], shown[2], tried], 0) <= room);
    with_replies(shown)
}

/// How many actions of each kind are looked at. One takes a token at least, so these are enough to fill the room.
fn countable(actions: &Actions, room: usize) -> [usize; 4] {
    actions.counts().map(|count| count.min(room + 1))
}

/// The greatest count up to a limit that fits.
fn most(limit: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut beyond) = (0, limit + 1);
    while beyond - fitting > 1 {
        let middle = usize::midpoint(fitting, beyond);
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    fitting
}

fn cost_of_actions(actions: &Actions, format: Format) -> usize {
    estimate_tokens(&actions.render(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_fits() {
        for fitting in 0..9 {
            assert_eq!(most(8, |count| count <= fitting), fitting);
        }
    }
}
