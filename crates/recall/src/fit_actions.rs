//! The actions of a scope that fit the budget, and the room that they leave to its memories.
//!
//! All actions enter; the fitting ones leave. Replies are shortened before an action is left out. Ways and worked
//! actions come first, then seen actions, then tries, for which a part of the room is reserved.

use crate::actions::Actions;
use crate::budget::estimate_tokens;
use crate::format::Format;
use crate::rank::Rooms;

/// Lengths of replies in characters, the longest first.
const REPLY_LENGTHS: [usize; 4] = [100, 60, 40, REPLY_CHARS];

/// Length of replies, in characters, for which room is reserved; longer ones take what is left over.
const REPLY_CHARS: usize = 25;

/// Share (1/n) of the room for actions that seen actions may take, if not everything fits.
const SEEN_SHARE: usize = 4;

/// Share (1/n) of the budget that ways and worked actions keep from finds.
const DONE_SHARE: usize = 4;

/// Share (1/n) of the budget that tries may take, if not everything fits.
const TRIED_SHARE: usize = 3;

/// Share (1/n) of the budget that seen and tried actions keep from finds.
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

/// Room for memories: for core and DANGER; for changes of the score; for finds; for the others. A part is reserved for
/// ways and worked actions, from finds and others also for seen and tried actions.
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

/// The actions of the place that fit: all with the longest replies possible, else the first of each kind, with
/// replies to as many tries as fit. Ways and worked actions come before seen actions, and those before tries.
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
