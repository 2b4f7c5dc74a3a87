//! Compares two states of a file, scope by scope: added, removed, changed and superseded memories.
//!
//! Memories are matched by title. If a title is gone and a new one has the same text, the memory was
//! renamed. Lines outside of the grammar are compared as lines.

use std::collections::BTreeSet;
use std::hash::Hash;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff, capture_diff_slices};

use crate::evidence::write_attempt;
use crate::free_lines::free_lines;
use crate::scan;
use crate::section::Section;
use crate::tree::{Block, Document};
use crate::types::{Attempt, Memory, Scope, fold_action, same_title};
use crate::ways::write_way;

/// The differences between two states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Sections that differ, in the order of the newer state; removed ones come last.
    pub sections: Vec<SectionDifference>,
    /// Lines outside of all sections that name a scope.
    pub other: Vec<LineDifference>,
    /// The texts differ only in form, order or comments.
    pub form_only: bool,
}

impl Comparison {
    /// True if both states are the same, apart from line endings.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.other.is_empty() && !self.form_only
    }
}

/// The differences within the sections of one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionDifference {
    /// The section.
    pub scope: Scope,
    /// The name in the newer state, or the last one.
    pub name: String,
    /// In which of the two states the section is.
    pub presence: Presence,
    /// The older name, if it differs.
    pub name_before: Option<String>,
    /// Visits and episodes before and after, if they differ.
    pub visits: Option<[Visits; 2]>,
    /// Memories that differ: those of the newer state in its order, then removed ones.
    pub memories: Vec<Difference<Memory>>,
    /// Tried actions that differ, in the same order.
    pub tried: Vec<Difference<Attempt>>,
    /// Ways, actions that worked and what was seen, a line each.
    pub evidence: Vec<LineDifference>,
    /// Lines written by people.
    pub other: Vec<LineDifference>,
}

/// In which of the two states something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Only in the newer state.
    Added,
    /// Only in the older state.
    Removed,
    /// In both.
    Kept,
}

/// A place's visits and their episodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visits {
    /// The number of visits.
    pub visits: u64,
    /// The episodes with a visit.
    pub episodes: Vec<u64>,
}

/// A difference between two states of a memory or an action; a state that lacks it has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference<T> {
    /// The kind.
    pub change: Change,
    /// The older form.
    pub before: Option<T>,
    /// The newer form.
    pub after: Option<T>,
}

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Only the newer state has it.
    Added,
    /// Only the older state has it.
    Removed,
    /// Both have it, in other forms.
    Changed,
    /// A memory was live before and is not any more.
    Superseded,
}

impl<T: Clone> Difference<T> {
    fn of(before: Option<&T>, after: Option<&T>) -> Difference<T> {
        let change = match (before, after) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        };
        Difference { change, before: before.cloned(), after: after.cloned() }
    }
}

/// A line that is in only one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineDifference {
    /// Which of the two texts has it.
    pub presence: Presence,
    /// The line without its line ending.
    pub line: String,
}

/// A line for each way, and each action that worked or looked.
fn evidence(section: &Section) -> Vec<String> {
    let ways = section.ways.iter().map(|way| format!("way {}", &write_way(way)[2..]));
    let worked = section.worked.iter().map(|attempt| format!("worked {}", &write_attempt(attempt)[2..]));
    let seen = section.seen.iter().map(|attempt| format!("seen {}", &write_attempt(attempt)[2..]));
    ways.chain(worked).chain(seen).collect()
}

/// Compares an older state with a newer one.
pub fn compare(before: &str, after: &str) -> Comparison {
    let (before, after) = (before.replace("\r\n", "\n"), after.replace("\r\n", "\n"));
    if before == after {
        return Comparison::default();
    }
    let (before, after) = (Document::parse(before), Document::parse(after));
    let mut scopes: Vec<&Scope> = Vec::new();
    let mut seen: BTreeSet<&Scope> = BTreeSet::new();
    for heading in after.headings().chain(before.headings()) {
        if seen.insert(&heading.scope) {
            scopes.push(&heading.scope);
        }
    }
    let sections: Vec<SectionDifference> =
        scopes.into_iter().filter_map(|scope| compare_scope(scope, &before, &after)).collect();
    let other = compare_slices(&outer_lines(&before), &outer_lines(&after));
    let form_only = sections.is_empty() && other.is_empty();
    Comparison { sections, other, form_only }
}

fn compare_scope(scope: &Scope, before: &Document, after: &Document) -> Option<SectionDifference> {
    let (old, new) = (before.section(scope), after.section(scope));
    let presence = match (&old, &new) {
        (None, _) => Presence::Added,
        (_, None) => Presence::Removed,
        _ => Presence::Kept,
    };
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let visits = |section: &Section| Visits { visits: section.visits, episodes: section.episodes.clone() };
    let visits = [visits(&old), visits(&new)];
    let other = compare_slices(&free_lines(before, scope), &free_lines(after, scope));
    let difference = SectionDifference {
        scope: scope.clone(),
        name: if presence == Presence::Removed { old.name.clone() } else { new.name.clone() },
        presence,
        name_before: (presence == Presence::Kept && old.name != new.name).then(|| old.name.clone()),
        visits: (visits[0] != visits[1]).then_some(visits),
        memories: compare_memories(&old.memories, &new.memories),
        tried: compare_attempts(&old.tried, &new.tried),
        evidence: compare_slices(&evidence(&old), &evidence(&new)),
        other,
    };
    let same = presence == Presence::Kept
        && difference.name_before.is_none()
        && difference.visits.is_none()
        && difference.memories.is_empty()
        && difference.tried.is_empty()
        && difference.evidence.is_empty()
        && difference.other.is_empty();
    (!same).then_some(difference)
}

/// Decides whether an older memory and a newer one are the same.
type Rule = fn(&Memory, &Memory) -> bool;

fn compare_memories(before: &[Memory], after: &[Memory]) -> Vec<Difference<Memory>> {
    let mut old: Vec<Option<&Memory>> = before.iter().map(Some).collect();
    let mut partners: Vec<Option<&Memory>> = vec![None; after.len()];
    // The most certain pairs first: equal memories, then live ones with the same title, and so on.
    let rules: [Rule; 4] = [
        |old, new| old == new,
        |old, new| titled(old, new) && old.is_live() == new.is_live(),
        titled,
        |old, new| !old.text.is_empty() && old.text == new.text && old.category == new.category,
    ];
    for rule in rules {
        for (new, partner) in after.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            let found = old.iter_mut().find(|slot| slot.is_some_and(|old| rule(old, new)));
            *partner = found.and_then(Option::take);
        }
    }
    let mut differences = Vec::new();
    for (new, partner) in after.iter().zip(partners) {
        if partner == Some(new) {
            continue;
        }
        let mut difference = Difference::of(partner, Some(new));
        if partner.is_some_and(|old| old.is_live() && !new.is_live()) {
            difference.change = Change::Superseded;
        }
        differences.push(difference);
    }
    differences.extend(old.into_iter().flatten().map(|old| Difference::of(Some(old), None)));
    differences
}

fn titled(old: &Memory, new: &Memory) -> bool {
    same_title(&old.title, &new.title)
}

fn compare_attempts(before: &[Attempt], after: &[Attempt]) -> Vec<Difference<Attempt>> {
    let key = |attempt: &Attempt| attempt.witnesses.keyed(fold_action(&attempt.action));
    let mut old: Vec<(String, Option<&Attempt>)> =
        before.iter().map(|attempt| (key(attempt), Some(attempt))).collect();
    let mut differences = Vec::new();
    for new in after {
        let action = key(new);
        let same = |(other, slot): &&mut (String, Option<&Attempt>)| slot.is_some() && *other == action;
        let old = old.iter_mut().find(same).and_then(|(_, slot)| slot.take());
        if old != Some(new) {
            differences.push(Difference::of(old, Some(new)));
        }
    }
    let gone = old.into_iter().filter_map(|(_, slot)| slot);
    differences.extend(gone.map(|old| Difference::of(Some(old), None)));
    differences
}

fn compare_slices<T: AsRef<str> + Hash + Ord>(before: &[T], after: &[T]) -> Vec<LineDifference> {
    let mut differences = Vec::new();
    for step in capture_diff_slices(Algorithm::Myers, before, after) {
        let (tag, old, new) = step.as_tag_tuple();
        if tag != DiffTag::Equal {
            let line = |presence| move |line: &T| LineDifference { presence, line: line.as_ref().to_owned() };
            differences.extend(before[old].iter().map(line(Presence::Removed)));
            differences.extend(after[new].iter().map(line(Presence::Added)));
        }
    }
    differences
}

/// Lines outside of all sections that name a scope.
fn outer_lines(document: &Document) -> Vec<&str> {
    let outer = |block: &&Block| block.heading.is_none();
    let texts = document.blocks().iter().filter(outer).map(|block| block.text(document.source()));
    texts.flat_map(str::lines).filter(|line| !scan::is_blank(line)).collect()
}

/// A run of words that is in both texts or in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Words {
    /// Which of the two texts has it.
    pub presence: Presence,
    /// The words and the spaces between them.
    pub text: String,
}

/// Compares two texts word by word.
pub fn compare_words(before: &str, after: &str) -> Vec<Words> {
    runs(&TextDiff::from_words(before, after))
}

/// Compares two texts line by line.
pub fn compare_lines(before: &str, after: &str) -> Vec<Words> {
    runs(&TextDiff::from_lines(before, after))
}

/// The number of lines that only one of two texts has.
pub fn changed_lines(before: &str, after: &str) -> usize {
    let runs = compare_lines(before, after);
    let changed = runs.iter().filter(|run| run.presence != Presence::Kept);
    changed.map(|run| run.text.lines().count()).sum()
}

fn runs(diff: &TextDiff<'_, '_, str>) -> Vec<Words> {
    let mut runs: Vec<Words> = Vec::new();
    for change in diff.iter_all_changes() {
        let presence = match change.tag() {
            ChangeTag::Equal => Presence::Kept,
            ChangeTag::Delete => Presence::Removed,
            ChangeTag::Insert => Presence::Added,
        };
        match runs.last_mut() {
            Some(run) if run.presence == presence => run.text.push_str(change.value()),
            _ => runs.push(Words { presence, text: change.value().to_owned() }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# T\n\n## Location 1: A\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n\
        **[NOTE] Kept** *(Ep1)*\nSame.\n\n**[NOTE] Changed**\nThe lamp is here.\n\n**[NOTE] Old**\nKind troll.\n\n\
        **[NOTE] Gone**\nx\n\nMine\n\n### Tried\n\n- `wait`\n\n---\n\n## Location 2: B\n\n---\n";

    fn after() -> String {
        let after = BEFORE.replace("The lamp is here.", "The brass lamp was here.");
        let after = after.replace("**[NOTE] Old**\nKind troll.", "**[NOTE - SUPERSEDED] Old**\n[Superseded at T2 by \"New\"]\n~~Kind troll.~~\n\n**[DANGER] New**\nIt bites.");
        let after = after
            .replace("**[NOTE] Gone**\nx\n\nMine\n\n", "#### Mine\n\n")
            .replace("- `wait`", "- `wait` ×2\n- `look`");
        after.replace("**Visits:** 1 ", "**Visits:** 2 ").replace("## Location 2: B", "## World")
    }

    #[test]
    fn a_line_of_some_is_compared_with_their_own() {
        let file = |count: &str| {
            BEFORE.replace("- `wait`", &format!("- `wait`\n- `wait`{count} *(Ep1, #witness:jo)*"))
        };
        assert!(compare(&file(""), &file("")).sections.is_empty());
        let changed = compare(&file(""), &file(" ×2"));
        assert_eq!(changed.sections[0].tried.len(), 1);
    }

    #[test]
    fn each_kind_of_difference() {
        let comparison = compare(BEFORE, &after());
        let scopes: Vec<(String, Presence)> =
            comparison.sections.iter().map(|section| (section.scope.to_string(), section.presence)).collect();
        let expected =
            [("location:1", Presence::Kept), ("world", Presence::Added), ("location:2", Presence::Removed)];
        assert_eq!(scopes, expected.map(|(scope, presence)| (scope.to_owned(), presence)));
        let first = &comparison.sections[0];
        let seen: Vec<String> = first
            .memories
            .iter()
            .map(|Difference { change, before, after }| {
                format!("{change:?} {}", after.as_ref().or(before.as_ref()).unwrap().title)
            })
            .collect();
        assert_eq!(seen, ["Changed Changed", "Superseded Old", "Added New", "Removed Gone"]);
        assert_eq!(first.tried.len(), 2);
        assert_eq!(first.visits.as_ref().map(|visits| visits[1].visits), Some(2));
        assert_eq!(first.other, [LineDifference { presence: Presence::Added, line: "#### Mine".to_owned() }]);
    }

    #[test]
    fn a_change_of_form_only_is_reported_and_line_endings_are_ignored() {
        assert!(compare(BEFORE, &BEFORE.replace('\n', "\r\n")).is_empty());
        let comparison = compare(BEFORE, &BEFORE.replace("- `wait`", "* wait"));
        assert_eq!(comparison, Comparison { form_only: true, ..Comparison::default() });
    }

    #[test]
    fn words() {
        let runs = compare_words("The lamp is here.", "The brass lamp is here.");
        let shown: Vec<(Presence, &str)> = runs.iter().map(|run| (run.presence, run.text.as_str())).collect();
        assert_eq!(
            shown,
            [(Presence::Kept, "The "), (Presence::Added, "brass "), (Presence::Kept, "lamp is here.")]
        );
    }
}
