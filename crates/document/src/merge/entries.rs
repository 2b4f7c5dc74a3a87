//! Merges the entries of a scope: pairs the same entries, and decides the text and title of each.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;

use crate::grammar;
use crate::link::Link;
use crate::merge::entry::{
    Outcome, Side, Version, agree, better_run, contested, is_same_title, merge_entry, origin, same_lines,
    same_words, stem,
};
use crate::merge::result::Labels;
use crate::text::{Fences, TITLE_CHARS, read_title};
use crate::types::text::{fold_case, fold_spaces};
use crate::types::{Cause, Memory, Provenance, Reference, SAME_TITLE_TAG, Scope, Span, fold_title};

/// An entry of the merged text.
#[derive(Debug)]
pub(super) struct Item {
    /// Its number among the entries of each side; both where it is one entry of both.
    pub(super) ours: Option<usize>,
    pub(super) theirs: Option<usize>,
    /// The entry with this number of the base, where it is another version of that.
    base: Option<usize>,
    /// Its lines with plain line endings, the last without, or those of a conflict.
    pub(super) lines: String,
    /// True if both versions stand there.
    pub(super) is_conflict: bool,
}

/// The entries of the three versions of a scope.
pub(super) struct Entries<'a> {
    pub(super) scope: &'a Scope,
    pub(super) base: &'a [Version<'a>],
    pub(super) ours: &'a [Version<'a>],
    pub(super) theirs: &'a [Version<'a>],
}

impl Entries<'_> {
    /// The merged entries: first those that ours has, in its order, then those that only theirs has. Without labels,
    /// an entry in conflict becomes two.
    pub(super) fn merge(&self, labels: Option<Labels<'_>>, fences: Fences) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.ours.len());
        let to_ours = pair(self.base, self.ours);
        let to_theirs = pair(self.base, self.theirs);
        let mut of_ours: Vec<Pairing> = vec![Pairing::default(); self.ours.len()];
        let mut of_theirs: Vec<Pairing> = vec![Pairing::default(); self.theirs.len()];
        for base in 0..self.base.len() {
            let pairing = Pairing { base: Some(base), ours: to_ours[base], theirs: to_theirs[base] };
            pairing.ours.into_iter().for_each(|at| of_ours[at] = pairing);
            pairing.theirs.into_iter().for_each(|at| of_theirs[at] = pairing);
        }
        self.pair_added(&mut of_ours, &mut of_theirs);
        self.pair_signed(&mut of_ours, &mut of_theirs);
        for (at, pairing) in of_ours.iter().enumerate() {
            self.push(&mut items, Pairing { ours: Some(at), ..*pairing }, labels, fences);
        }
        for (at, pairing) in of_theirs.iter().enumerate().filter(|(_, pairing)| pairing.ours.is_none()) {
            self.push(&mut items, Pairing { theirs: Some(at), ..*pairing }, labels, fences);
        }
        self.tell_titles_apart(&mut items);
        self.follow_joined(&mut items);
        items
    }

    /// Pairs what both sides added: the same lines, else the same words under the same title.
    fn pair_added(&self, of_ours: &mut [Pairing], of_theirs: &mut [Pairing]) {
        let added = |pairings: &[Pairing]| -> Vec<usize> {
            (0..pairings.len()).filter(|&at| pairings[at].is_alone()).collect()
        };
        let mut ours: HashMap<String, Vec<usize>> = HashMap::new();
        for at in added(of_ours) {
            ours.entry(stem(&self.ours[at].memory().title)).or_default().push(at);
        }
        for their in added(of_theirs) {
            let theirs = &self.theirs[their];
            let Some(rivals) = ours.get_mut(&stem(&theirs.memory().title)) else { continue };
            let is_same = |at: &usize| self.ours[*at].is_same(theirs);
            let says_the_same = |at: &usize| {
                let (one, other) = (self.ours[*at].memory(), theirs.memory());
                is_same_title(&one.title, &other.title)
                    && same_words(&one.text, &other.text)
                    && agree(one, other)
            };
            let is_run = |at: &usize| better_run(self.ours[*at].memory(), theirs.memory()).is_some();
            let found = rivals.iter().position(is_same).or_else(|| rivals.iter().position(says_the_same));
            let found = found.or_else(|| rivals.iter().position(is_run));
            if let Some(found) = found {
                let our = rivals.remove(found);
                of_ours[our].theirs = Some(their);
                of_theirs[their].ours = Some(our);
            }
        }
    }

    /// Pairs what both sides added under different titles and in the name of writers, with the same words.
    fn pair_signed(&self, of_ours: &mut [Pairing], of_theirs: &mut [Pairing]) {
        let added = |pairings: &[Pairing], side: &[Version<'_>]| {
            let mut by_words: BTreeMap<_, Vec<usize>> = BTreeMap::new();
            for at in (0..pairings.len()).filter(|&at| pairings[at].is_alone()) {
                let memory = side[at].memory();
                let is_meant = memory.is_live() && !memory.category.only_grows() && !memory.text.is_empty();
                if is_meant && !memory.writers().is_empty() {
                    let words = fold_case(&fold_spaces(&memory.text));
                    by_words.entry((words, memory.category.clone(), contested(memory))).or_default().push(at);
                }
            }
            for numbers in by_words.values_mut() {
                let order = |memory: &Memory| fold_title(&memory.title);
                numbers.sort_by(|one, other| {
                    let (one, other) = (side[*one].memory(), side[*other].memory());
                    origin(one).cmp(&origin(other)).then_with(|| order(one).cmp(&order(other)))
                });
            }
            by_words
        };
        let (ours, mut theirs) = (added(of_ours, self.ours), added(of_theirs, self.theirs));
        for (words, ours) in ours {
            for (our, their) in ours.into_iter().zip(theirs.remove(&words).unwrap_or_default()) {
                of_ours[our].theirs = Some(their);
                of_theirs[their].ours = Some(our);
            }
        }
    }

    /// Follows entries that got the title of the other side, in the references and links of their own side.
    fn follow_joined(&self, items: &mut [Item]) {
        let mut moves: Vec<(bool, String, String)> = Vec::new();
        for item in items.iter().filter(|item| item.base.is_none() && !item.is_conflict) {
            let (Some(our), Some(their)) = (item.ours, item.theirs) else { continue };
            let new = item.title();
            for (is_theirs, version) in [(false, &self.ours[our]), (true, &self.theirs[their])] {
                let old = &version.memory().title;
                if stem(old) != stem(&new) {
                    moves.push((is_theirs, old.clone(), new.clone()));
                }
            }
        }
        for (is_theirs, old, new) in moves {
            let links = [&old, &new].map(|title| Link::to(self.scope, title).to_string());
            for item in items.iter_mut().filter(|item| !item.is_conflict) {
                self.follow(item, is_theirs, &old, &new);
                let is_of_side = if is_theirs { item.theirs.is_some() } else { item.ours.is_some() };
                if is_of_side && item.lines.contains(&links[0]) {
                    item.lines = if item.lines.contains(&links[1]) {
                        let [before, behind] = [format!(", {}", links[0]), format!("{}, ", links[0])];
                        item.lines.replace(&before, "").replace(&behind, "")
                    } else {
                        item.lines.replace(&links[0], &links[1])
                    };
                }
            }
        }
    }

    /// Adds what becomes of an entry.
    fn push(&self, items: &mut Vec<Item>, pairing: Pairing, labels: Option<Labels<'_>>, fences: Fences) {
        let Pairing { base, ours, theirs } = pairing;
        let base_version = base.map(|at| &self.base[at]);
        let item = |ours: Option<usize>, theirs: Option<usize>, lines: &str| {
            let lines = lines_of(lines).into_owned();
            Item { ours, theirs, base, lines, is_conflict: false }
        };
        let as_side = |side: &Version<'_>, ours, theirs| item(ours, theirs, side.raw());
        let (our, their) = (ours.map(|at| &self.ours[at]), theirs.map(|at| &self.theirs[at]));
        let (our, their) = match (our, their) {
            (Some(our), Some(their)) => (our, their),
            (Some(side), None) | (None, Some(side)) => {
                // Removed on the other side, unless this side changed it.
                if base_version.is_none_or(|base| !base.is_same(side)) {
                    items.push(as_side(side, ours, theirs));
                }
                return;
            }
            (None, None) => return,
        };
        match (merge_entry(base_version, our, their, fences), labels) {
            (Outcome::As(Side::Ours), _) => items.push(as_side(our, ours, theirs)),
            (Outcome::As(Side::Theirs), _) => items.push(as_side(their, ours, theirs)),
            (Outcome::New(lines), _) => items.push(item(ours, theirs, &lines)),
            (Outcome::Both, _) | (Outcome::Conflict, None) => {
                items.push(as_side(our, ours, None));
                items.push(as_side(their, None, theirs));
            }
            (Outcome::Conflict, Some(labels)) => {
                let [one, other] = [labels.ours, labels.theirs].map(|label| label.replace(['\r', '\n'], " "));
                let (our_lines, their_lines) = (lines_of(our.raw()), lines_of(their.raw()));
                let lines = format!("<<<<<<< {one}\n{our_lines}\n=======\n{their_lines}\n>>>>>>> {other}");
                items.push(Item { is_conflict: true, ..item(ours, theirs, &lines) });
            }
        }
    }

    /// Gives the later of two live entries a title of its own, where the sides gave one title to two.
    fn tell_titles_apart(&self, items: &mut [Item]) {
        // Two entries can only clash if one of them is not as ours has it.
        let is_ours = |item: &Item| item.ours.is_some_and(|at| same_lines(self.ours[at].raw(), &item.lines));
        let new: HashSet<String> =
            items.iter().filter(|item| !is_ours(item)).map(|item| fold_title(&item.title())).collect();
        if new.is_empty() {
            return;
        }
        let may_clash = |item: &Item| new.contains(&fold_title(&item.title()));
        let mut live: Vec<Option<Memory>> =
            items.iter().map(|item| if may_clash(item) { item.live() } else { None }).collect();
        let mut taken: HashMap<String, usize> = HashMap::new();
        for at in 0..items.len() {
            let Some(memory) = live[at].clone().filter(|memory| !memory.category.only_grows()) else {
                continue;
            };
            let title = fold_title(&memory.title);
            let first = *taken.entry(title.clone()).or_insert(at);
            if first == at || self.are_of_one_side([&items[first], &items[at]]) {
                continue;
            }
            let other = live[first].clone().expect("it has the title, so it is live");
            let order = origin(&other).cmp(&origin(&memory));
            let is_first_later = order.then_with(|| items[first].lines.cmp(&items[at].lines)).is_gt();
            let (later, old) = if is_first_later { (first, other) } else { (at, memory) };
            taken.insert(title, first + at - later);
            let all: HashSet<String> =
                live.iter().flatten().map(|memory| fold_title(&memory.title)).collect();
            let new = free_title(&old.title, |title| taken.contains_key(title) || all.contains(title));
            taken.insert(fold_title(&new), later);
            self.retitle(items, later, &old, &new);
            live[later] = items[later].live();
        }
    }

    /// True if one side had both live under one title, which is that side's affair.
    fn are_of_one_side(&self, items: [&Item; 2]) -> bool {
        let had_both = |side: &[Version<'_>], of: fn(&Item) -> Option<usize>| {
            let [one, other] = items.map(|item| {
                let version = of(item).map(|at| &side[at]).filter(|version| version.is_live());
                version.map(|version| fold_title(&version.memory().title))
            });
            one.is_some() && one == other
        };
        had_both(self.ours, |item| item.ours) || had_both(self.theirs, |item| item.theirs)
    }

    /// Gives an entry another title, and follows it in the references of its side.
    fn retitle(&self, items: &mut [Item], at: usize, old: &Memory, title: &str) {
        let mut memory = Memory { title: title.to_owned(), ..old.clone() };
        if !memory.has_tag(SAME_TITLE_TAG) {
            memory.provenance.tags.push(SAME_TITLE_TAG.to_owned());
        }
        let body = items[at].lines.split_once('\n').map_or(String::new(), |(_, body)| format!("\n{body}"));
        items[at].lines = format!("{}{body}", grammar::write_entry(&memory));
        let is_theirs = items[at].ours.is_none();
        let names_its_successor = |item: &&mut Item| !item.is_conflict && item.lines.contains("[Superseded");
        for item in items.iter_mut().filter(names_its_successor) {
            self.follow(item, is_theirs, &old.title, title);
        }
    }

    /// Writes the new title of its successor into a superseded entry, where that side superseded it.
    fn follow(&self, item: &mut Item, is_theirs: bool, old: &str, new: &str) {
        let version = if is_theirs {
            item.theirs.map(|at| &self.theirs[at])
        } else {
            item.ours.map(|at| &self.ours[at])
        };
        let Some(reference) = version.and_then(|version| version.memory().reference.as_ref()) else { return };
        let was_so = item.base.is_some_and(|at| self.base[at].memory().reference.as_ref() == Some(reference));
        let leads_there =
            matches!(&reference.cause, Cause::SupersededBy(title) if fold_title(title) == fold_title(old));
        if was_so || !leads_there {
            return;
        }
        let cause = Cause::SupersededBy(new.to_owned());
        let written = grammar::write_reference(&Reference { cause, ..reference.clone() });
        let line = item.lines.lines().find(|line| grammar::parse_reference(line).as_ref() == Some(reference));
        if let Some(line) = line.map(str::to_owned) {
            item.lines = item.lines.replacen(&line, &written, 1);
        }
    }
}

impl Item {
    /// The title on its first line; empty where it is a conflict.
    fn title(&self) -> String {
        let parts = self.lines.lines().next().and_then(grammar::split_entry);
        parts.map_or(String::new(), |parts| read_title(parts.title))
    }

    /// The first line of a live entry, read; `None` of others and of conflicts.
    fn live(&self) -> Option<Memory> {
        let first = self.lines.lines().next().filter(|_| !self.is_conflict)?;
        grammar::parse_entry(first).filter(Memory::is_live)
    }
}

/// The first title with a number that nobody has.
fn free_title(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let stem: String = title.chars().take(TITLE_CHARS - 9).collect();
    let mut numbered = (2..).map(|number| format!("{stem} ({number})"));
    numbered.find(|title| !is_taken(&fold_title(title))).expect("there are more numbers than titles")
}

/// The versions of one entry, by their numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Pairing {
    base: Option<usize>,
    ours: Option<usize>,
    theirs: Option<usize>,
}

impl Pairing {
    /// True if a side added it, and the other side has not got it.
    fn is_alone(&self) -> bool {
        self.base.is_none() && self.ours.is_none() && self.theirs.is_none()
    }
}

/// For each entry of the base the one of a side that is another version of it: the same lines, else the same title
/// and origin, else the same title.
fn pair(base: &[Version<'_>], side: &[Version<'_>]) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = vec![None; base.len()];
    let mut is_free = vec![true; side.len()];
    pair_by(base, side, &mut pairs, &mut is_free, |version| lines_of(version.raw()));
    pair_by(base, side, &mut pairs, &mut is_free, |version| {
        let Provenance { episode, turns, messages, date, sources, .. } = &version.memory().provenance;
        let ends = |span: Option<Span>| span.map(|span| (span.first, span.last));
        (
            fold_title(&version.memory().title),
            *episode,
            ends(*turns),
            ends(*messages),
            date.clone(),
            sources.clone(),
        )
    });
    pair_by(base, side, &mut pairs, &mut is_free, |version| fold_title(&version.memory().title));
    pairs
}

/// Pairs entries that have no other version yet and the same key, in their order.
fn pair_by<'a, K: Hash + Eq>(
    base: &'a [Version<'a>],
    side: &'a [Version<'a>],
    pairs: &mut [Option<usize>],
    is_free: &mut [bool],
    key: impl Fn(&'a Version<'a>) -> K,
) {
    if pairs.iter().all(Option::is_some) || !is_free.contains(&true) {
        return;
    }
    let mut free: HashMap<K, VecDeque<usize>> = HashMap::new();
    for at in (0..side.len()).filter(|&at| is_free[at]) {
        free.entry(key(&side[at])).or_default().push_back(at);
    }
    for (entry, pair) in base.iter().zip(pairs).filter(|(_, pair)| pair.is_none()) {
        *pair = free.get_mut(&key(entry)).and_then(VecDeque::pop_front);
        pair.iter().for_each(|&at| is_free[at] = false);
    }
}

/// The lines of an entry with plain line endings.
fn lines_of(raw: &str) -> Cow<'_, str> {
    let raw = raw.trim_end();
    if raw.contains('\r') { Cow::Owned(raw.replace("\r\n", "\n")) } else { Cow::Borrowed(raw) }
}
