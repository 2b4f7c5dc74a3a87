//! Openers of a way: which of them an episode has done so that they still hold.
//!
//! Actions of one episode enter; the openers that are left to do leave. What is not certain counts as shut: to open
//! something again costs a turn, a shut way costs the path.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::types::{Attempt, fold_action};

/// Verbs, each with the one that undoes what it did.
const OPPOSITES: [[&str; 2]; 2] = [["open", "close"], ["unlock", "lock"]];

/// Actions of an episode at one place that are looked at: the latest. An opener that was done before all of these counts
/// as shut.
const LATEST: usize = 200;

/// The actions that an episode has done at one place.
#[derive(Debug, Default)]
pub struct Done {
    /// The turns of the actions, as they are compared.
    turns: HashMap<String, Option<u64>>,
}

impl Done {
    /// Of two about the same the later counts. An action without a turn counts as later than any other.
    pub fn of(attempts: &[Attempt]) -> Done {
        let mut latest: Vec<&Attempt> = attempts.iter().collect();
        latest.sort_by_key(|done| (done.turn.is_some(), Reverse(done.turn)));
        latest.truncate(LATEST);
        Done { turns: latest.iter().rev().map(|done| (fold_action(&done.action), done.turn)).collect() }
    }

    /// True if an action is among them.
    pub fn has(&self, action: &str) -> bool {
        !self.turns.is_empty() && self.turns.contains_key(&fold_action(action))
    }
}

/// Removes from the openers of a way those that still hold: they worked at its place, and their opposite has not worked
/// since at either end of it. None does if all of them worked and the way was refused since.
pub fn remove_done<S: AsRef<str>>(
    openers: &mut Vec<S>,
    here: &Done,
    there: &Done,
    refused: Option<&Attempt>,
) {
    if openers.is_empty() || here.turns.is_empty() {
        return;
    }
    let folded: Vec<String> = openers.iter().map(|action| fold_action(action.as_ref())).collect();
    let is_later = |other: Option<u64>, done: Option<u64>| other.is_none() || other > done;
    let has_failed = |refused: &Attempt| {
        let mut turns = folded.iter().map(|opener| here.turns.get(opener));
        turns.all(|done| done.is_some_and(|done| is_later(refused.turn, *done)))
    };
    if refused.is_some_and(has_failed) {
        return;
    }
    let all: HashSet<&String> = folded.iter().collect();
    let holds = |opener: &String| {
        let Some(done) = here.turns.get(opener) else { return false };
        let undoes = |(other, turn): (&String, &Option<u64>)| {
            is_later(*turn, *done) && are_opposites(opener, other) && !all.contains(other)
        };
        !here.turns.iter().chain(&there.turns).any(undoes)
    };
    let mut hold = folded.iter().map(holds);
    openers.retain(|_| hold.next() != Some(true));
}

/// True if two folded actions undo each other: the words of one thing are all among those of the other.
fn are_opposites(one: &str, other: &str) -> bool {
    let split = |action| str::split_once(action, ' ').unwrap_or((action, ""));
    let ((verb, thing), (other_verb, other_thing)) = (split(one), split(other));
    let is_pair = |pair: &[&str; 2]| pair.contains(&verb) && pair.contains(&other_verb);
    if verb == other_verb || !OPPOSITES.iter().any(is_pair) {
        return false;
    }
    let words = |thing: &str| thing.split_whitespace().map(str::to_owned).collect::<HashSet<String>>();
    let (thing, other_thing) = (words(thing), words(other_thing));
    thing.is_subset(&other_thing) || other_thing.is_subset(&thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(action: &str, turn: u64) -> Attempt {
        Attempt { action: action.to_owned(), turn: Some(turn), ..Attempt::default() }
    }

    #[test]
    fn opposites_are_of_one_thing() {
        for (is_so, one, other) in [
            (true, "open door", "shut the door"),
            (true, "Open the trap door", "close door"),
            (true, "unlock door with brass key", "lock door"),
            (true, "close hatch", "open hatch"),
            (false, "open door", "close window"),
            (false, "open red door", "close blue door"),
            (false, "unlock door", "close door"),
            (false, "open door", "open door"),
            (false, "move rug", "close rug"),
        ] {
            assert_eq!(are_opposites(&fold_action(one), &fold_action(other)), is_so, "{one} / {other}");
        }
    }

    #[test]
    fn an_opener_holds_until_it_is_undone() {
        let left = |here: &[Attempt], there: &[Attempt], refused: Option<Attempt>| {
            let mut openers = vec!["move rug", "open trap door"];
            remove_done(&mut openers, &Done::of(here), &Done::of(there), refused.as_ref());
            openers.join(", ")
        };
        let both = [done("move rug", 1), done("open trap door", 2)];
        assert_eq!(left(&[], &[], None), "move rug, open trap door");
        assert_eq!(left(&both[..1], &[], None), "open trap door");
        assert_eq!(left(&both, &[], None), "");
        let closed = |turn| [done("close door", turn)];
        assert_eq!(left(&both, &closed(3), None), "open trap door", "from the other side");
        assert_eq!(left(&[&both[..], &closed(3)].concat(), &[], None), "open trap door");
        assert_eq!(left(&[&both[..], &closed(1)].concat(), &[], None), "", "it was opened later");
        assert_eq!(left(&both, &[], Some(done("down", 3))), "move rug, open trap door", "refused since");
        assert_eq!(left(&both, &[], Some(done("down", 1))), "", "it was opened after the refusal");
        assert_eq!(
            left(&both[..1], &[], Some(done("down", 3))),
            "open trap door",
            "the door explains the refusal"
        );
        let unknown = Attempt { turn: None, ..done("close door", 0) };
        assert_eq!(left(&both, &[unknown], None), "open trap door", "nobody knows when");
    }

    #[test]
    fn an_opener_of_the_way_undoes_no_other() {
        let mut openers = vec!["open hatch", "close hatch", "press button"];
        let here = Done::of(&[done("open hatch", 1), done("close hatch", 2)]);
        remove_done(&mut openers, &here, &Done::default(), None);
        assert_eq!(openers, ["press button"]);
    }
}
