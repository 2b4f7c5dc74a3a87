//! Merges evidence: actions that were tried, worked or looked, ways, and visits.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::evidence::template;
use crate::merge::values::{Three, sum};
use crate::types::{Attempt, Scope, Way};
use crate::visits::Visits;

/// The difference between ours and the merged evidence of one kind.
#[derive(Debug)]
pub(super) struct Changes<T, K> {
    /// Values that ours lacks or has differently.
    pub(super) put: Vec<T>,
    /// Keys of values that leave.
    pub(super) gone: HashSet<K>,
}

impl<T, K> Changes<T, K> {
    pub(super) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.gone.is_empty()
    }
}

/// Merges values by key: what only one side changed is as that side has it, what both changed is combined. Where both
/// added one, `is_one` tells whether it is the same.
fn merge_by<T: Clone, K: Eq + Hash>(
    three: &Three<'_, [T]>,
    key: impl Fn(&T) -> K,
    is_same: impl Fn(&T, &T) -> bool,
    is_one: impl Fn(&T, &T) -> bool,
    combine: impl Fn(Option<&T>, &T, &T) -> T,
) -> Changes<T, K> {
    let by_key = |values: &'_ [T]| -> HashMap<K, T> {
        values.iter().map(|value| (key(value), value.clone())).collect()
    };
    let (base, ours) = (by_key(three.base), by_key(three.ours));
    let theirs: HashSet<K> = three.theirs.iter().map(&key).collect();
    let mut put = Vec::new();
    for value in three.theirs {
        let (of_base, of_ours) = (base.get(&key(value)), ours.get(&key(value)));
        let is_untouched = of_base.is_some_and(|before| is_same(value, before));
        if is_untouched {
            continue;
        }
        match of_ours {
            Some(our) if of_base.is_none() && is_one(our, value) => {}
            Some(our) if of_base.is_none_or(|before| !is_same(our, before)) => {
                put.push(combine(of_base, our, value))
            }
            _ => put.push(value.clone()),
        }
    }
    let left =
        |key: &K| !theirs.contains(key) && base.get(key).is_some_and(|before| is_same(&ours[key], before));
    let gone: Vec<K> = three.ours.iter().map(&key).filter(left).collect();
    Changes { put, gone: gone.into_iter().collect() }
}

/// Merges actions of one kind. Marks alone say nothing: lines share them.
pub(super) fn merge_attempts(scope: &Scope, three: &Three<'_, [Attempt]>) -> Changes<Attempt, String> {
    let is_same = |one: &Attempt, other: &Attempt| {
        let facts = |attempt: &Attempt| (attempt.count, attempt.result);
        let reply = |attempt: &Attempt| template(&attempt.action, &attempt.reply);
        facts(one) == facts(other) && reply(one) == reply(other)
    };
    // Two equal tries with one mark are one try, which a cherry-pick may have brought to both branches.
    let is_one = |one: &Attempt, other: &Attempt| one == other && one.episode.is_some() && one.turn.is_some();
    let combine = |base: Option<&Attempt>, one: &Attempt, other: &Attempt| {
        let moment = |attempt: &Attempt| (attempt.episode, attempt.turn, attempt.reply.clone());
        let later = if moment(one) > moment(other) { one } else { other };
        let count = sum(base.map_or(0, |base| base.count), one.count, other.count).max(1);
        Attempt { count, ..later.clone() }
    };
    merge_by(three, |attempt| attempt.key(scope), is_same, is_one, combine)
}

/// Merges ways.
pub(super) fn merge_ways(three: &Three<'_, [Way]>) -> Changes<Way, (String, u64)> {
    let is_same = |one: &Way, other: &Way| one.count == other.count && one.after == other.after;
    let combine = |base: Option<&Way>, one: &Way, other: &Way| {
        let later = if (one.episode, one.turn) > (other.episode, other.turn) { one } else { other };
        Way {
            count: sum(base.map_or(0, |base| base.count), one.count, other.count).max(1),
            name: one.name.clone(),
            after: merge_openers(base.map(|base| &base.after), [&one.after, &other.after]),
            ..later.clone()
        }
    };
    merge_by(three, Way::key, is_same, |_, _| false, combine)
}

/// The openers of a way: those of the side that changed them; where both did, the list that says more.
fn merge_openers(base: Option<&Vec<String>>, sides: [&Vec<String>; 2]) -> Vec<String> {
    let changed = sides.into_iter().filter(|side| Some(*side) != base);
    changed.max_by_key(|side| (side.len(), *side)).or(base).cloned().unwrap_or_default()
}

/// Merges the visits of a section.
pub(super) fn merge_visits(three: &Three<'_, Visits>) -> Visits {
    let Three { base, ours, theirs } = three;
    let mut episodes = three.set(|visits| &visits.episodes);
    if [&ours.episodes, &theirs.episodes].iter().all(|listed| listed.is_sorted()) {
        episodes.sort_unstable();
    }
    let first = |visits: &Visits| visits.first_turn.filter(|_| visits.episodes.first() == episodes.first());
    let first_turn = match (first(ours), first(theirs)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let count = sum(base.count, ours.count, theirs.count);
    Visits { count, episodes, first_turn, other: three.set(|visits| &visits.other) }
}
