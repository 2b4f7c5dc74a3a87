//! Openers of a way: which of them an episode has done so that they still hold.
//!
//! Actions of one episode enter; the openers that are left to do leave. What is not certain counts as shut: to open
//! something again costs a turn, a shut way costs the path.

use crate::types::{Attempt, fold_action};

/// Verbs, each with the one that undoes what it did.
const OPPOSITES: [[&str; 2]; 2] = [["open", "close"], ["unlock", "lock"]];

/// Removes from the openers of a way those that still hold: they worked at its place, and their opposite has not worked
/// since at either end of it. None does if all of them worked and the way was refused since.
pub fn remove_done<S: AsRef<str>>(
    openers: &mut Vec<S>,
    worked_here: &[Attempt],
    worked_there: &[Attempt],
    refused: Option<&Attempt>,
) {
    if openers.is_empty() || worked_here.is_empty() {
        return;
    }
    let folded: Vec<String> = openers.iter().map(|action| fold_action(action.as_ref())).collect();
    let worked = |opener: &String| worked_here.iter().find(|done| fold_action(&done.action) == *opener);
    let is_later = |other: &Attempt, done: &Attempt| other.turn.is_none() || other.turn > done.turn;
    let has_failed =
        |refused| folded.iter().all(|opener| worked(opener).is_some_and(|done| is_later(refused, done)));
    if refused.is_some_and(has_failed) {
        return;
    }
    let holds = |opener: &String| {
        let undoes = |other: &&Attempt| {
            let other = fold_action(&other.action);
            are_opposites(opener, &other) && !folded.contains(&other)
        };
        let mut undone = worked_here.iter().chain(worked_there).filter(undoes);
        worked(opener).is_some_and(|done| !undone.any(|other| is_later(other, done)))
    };
    let mut hold = folded.iter().map(holds);
    openers.retain(|_| hold.next() != Some(true));
}

/// True if two folded actions undo each other: the words of one thing are all among those of the other.
fn are_opposites(one: &str, other: &str) -> bool {
    let split = |action: &str| -> (String, Vec<String>) {
        let mut words = action.split(' ').map(str::to_owned);
        (words.next().unwrap_or_default(), words.collect())
    };
    let ((verb, thing), (other_verb, other_thing)) = (split(one), split(other));
    let is_pair = |pair: &[&str; 2]| pair.contains(&&*verb) && pair.contains(&&*other_verb);
    let within = |words: &[String], all: &[String]| words.iter().all(|word| all.contains(word));
    verb != other_verb
        && OPPOSITES.iter().any(is_pair)
        && (within(&thing, &other_thing) || within(&other_thing, &thing))
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
            remove_done(&mut openers, here, there, refused.as_ref());
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
        remove_done(&mut openers, &[done("open hatch", 1), done("close hatch", 2)], &[], None);
        assert_eq!(openers, ["press button"]);
    }
}
