//! Folds the lines of one list of evidence, for `fmt`.
//!
//! The lines of a list enter; which of them stay, and with which actions, leaves. Of two lines about the same action or
//! way the later counts, as for readers, and actions with one reply share a line. A line that says more than its actions
//! is a person's: it stays, and so do the others about its actions.

use std::collections::{HashMap, HashSet};

use crate::evidence::{AttemptLine, LineKey, line_key};
use crate::section::keep_latest;
use crate::types::{Attempt, Scope};
use crate::ways::WayLine;

/// The lines of a list after folding, by their numbers in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folds {
    /// Lines that stay, each with its actions.
    pub(super) kept: Vec<(usize, Vec<Attempt>)>,
    /// Lines that leave.
    pub(super) gone: Vec<usize>,
}

/// Folds lines of actions. A line with an action that a person's line has stays where it is.
pub(super) fn fold_attempts(scope: &Scope, lines: &[&AttemptLine]) -> Folds {
    let key = |attempt: &Attempt| attempt.key(scope);
    let persons = lines.iter().filter(|line| !line.is_whole).flat_map(|line| &line.attempts);
    let spared: HashSet<String> = persons.map(key).collect();
    let is_spared = |attempt: &Attempt| !spared.is_empty() && spared.contains(&key(attempt));
    let whole = || lines.iter().enumerate().filter(|(_, line)| line.is_whole);
    let places = whole().flat_map(|(at, line)| (0..line.attempts.len()).map(move |number| (at, number)));
    let attempt = |(at, number): (usize, usize)| &lines[at].attempts[number];
    let mut latest: Vec<(usize, usize)> = places.filter(|&place| !is_spared(attempt(place))).collect();
    keep_latest(&mut latest, |&place| key(attempt(place)), |&place| moment(attempt(place)));
    let latest: HashSet<(usize, usize)> = latest.into_iter().collect();
    let mut folds = Folds::default();
    let mut known: HashMap<LineKey, usize> = HashMap::new();
    for (at, line) in whole() {
        let is_pinned = line.attempts.iter().any(is_spared);
        let stays =
            |(number, attempt): &(usize, &Attempt)| is_spared(attempt) || latest.contains(&(at, *number));
        let stay: Vec<Attempt> =
            line.attempts.iter().enumerate().filter(stays).map(|(_, attempt)| attempt.clone()).collect();
        if is_pinned {
            folds.kept.push((at, stay));
            continue;
        }
        let place = *known.entry(line_key(&line.attempts[0])).or_insert(folds.kept.len());
        match folds.kept.get_mut(place) {
            Some((_, actions)) => {
                actions.extend(stay);
                folds.gone.push(at);
            }
            None => folds.kept.push((at, stay)),
        }
    }
    let emptied = folds.kept.iter().filter(|(_, actions)| actions.is_empty()).map(|(at, _)| *at);
    folds.gone.extend(emptied);
    folds.kept.retain(|(_, actions)| !actions.is_empty());
    folds
}

/// When an action was done last.
fn moment(attempt: &Attempt) -> (Option<u64>, Option<u64>) {
    (attempt.episode, attempt.turn)
}

/// The numbers of the lines of ways that leave.
pub(super) fn folded_ways(lines: &[&WayLine]) -> Vec<usize> {
    let key = |at: &usize| lines[*at].way.key();
    let (open, persons): (Vec<usize>, Vec<usize>) = (0..lines.len()).partition(|&at| lines[at].is_whole);
    let spared: HashSet<(String, u64)> = persons.iter().map(key).collect();
    let open: Vec<usize> = open.into_iter().filter(|at| !spared.contains(&key(at))).collect();
    let mut latest = open.clone();
    keep_latest(&mut latest, key, |&at| (lines[at].way.episode, lines[at].way.turn));
    let latest: HashSet<usize> = latest.into_iter().collect();
    open.into_iter().filter(|at| !latest.contains(at)).collect()
}
