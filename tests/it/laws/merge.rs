//! Merging as properties, over files that grew from one.
//!
//! Base and sides are made by the same changes, of the program and of a person (`changes`, `by_hand`). What a text says
//! is compared as sets (`facts`), and knows nothing of how the merge works.

mod by_hand;
mod changes;
mod facts;
mod sentences;
mod writers;

use std::collections::{BTreeMap, BTreeSet};

use memories::document::Section;
use memories::document::check::problems;
use memories::document::merge::{Labels, Merged, merge};
use memories::types::{Memory, Scope, Status, fold_action, fold_title};
use proptest::prelude::*;

use by_hand::{spliced, splices};
use changes::{Form, base, changed, changes};
use facts::{Facts, SAME_TITLE, without_conflicts};

use super::{file, hostile_text};

/// A base, two sides, and what was made of them.
struct Case {
    base: Facts,
    ours: Facts,
    theirs: Facts,
    merged: Merged,
    /// The merged text outside of conflicts.
    outside: Facts,
    /// The merged text with both versions of each conflict.
    both: Facts,
}

impl Case {
    fn of(base: &str, ours: &str, theirs: &str) -> Case {
        let merged = merge(base, ours, theirs, Labels::default());
        let (outside, both) = without_conflicts(&merged.text);
        Case {
            base: Facts::of(base),
            ours: Facts::of(ours),
            theirs: Facts::of(theirs),
            outside: Facts::of(&outside),
            both: Facts::of(&both),
            merged,
        }
    }

    /// Each side with the other one.
    fn sides(&self) -> [(&Facts, &Facts); 2] {
        [(&self.ours, &self.theirs), (&self.theirs, &self.ours)]
    }

    /// True if the entry of that title is a conflict.
    fn in_conflict(&self, scope: &Scope, title: &str) -> bool {
        let folded = fold_title(title);
        let mut named = self.merged.conflicts.iter().filter_map(|conflict| conflict.entry.as_ref());
        named.any(|(other, title)| other == scope && fold_title(title) == folded)
    }
}

fn merged(base: &str, ours: &str, theirs: &str) -> String {
    merge(base, ours, theirs, Labels::default()).text
}

/// A side that is merged with itself or with the base stays as it is.
fn alone(base: &str, ours: &str, theirs: &str) -> Result<(), TestCaseError> {
    for side in [ours, theirs] {
        prop_assert_eq!(merged(base, side, base), side);
        prop_assert_eq!(merged(base, base, side), side);
        prop_assert_eq!(merged(base, side, side), side);
    }
    Ok(())
}

/// Nothing of a side is missing but what the other removed, and nothing is new.
fn nothing_is_lost(case: &Case) -> Result<(), TestCaseError> {
    for (side, other) in case.sides() {
        let is_fewer = |fact: &str| other.entries(fact) < case.base.entries(fact);
        let was_removed = |fact: &&String| {
            case.base.said.contains(*fact) && (!other.said.contains(*fact) || is_fewer(fact))
        };
        let lost: Vec<&String> =
            side.said.difference(&case.both.said).filter(|fact| !was_removed(fact)).collect();
        prop_assert!(lost.is_empty(), "lost: {lost:#?} in\n{}", case.merged.text);
    }
    let known: BTreeSet<&String> = case.ours.said.union(&case.theirs.said).collect();
    let new: Vec<&String> = case.both.said.iter().filter(|fact| !known.contains(fact)).collect();
    prop_assert!(new.is_empty(), "new: {new:#?} in\n{}", case.merged.text);
    Ok(())
}

/// Both sides' additions count.
fn counts_add_up(case: &Case) -> Result<(), TestCaseError> {
    let [base, ours, theirs, merged] = [&case.base, &case.ours, &case.theirs, &case.both].map(Facts::counts);
    let uncounted =
        |key: &String| [&case.base, &case.ours, &case.theirs].iter().any(|side| side.uncounted.contains(key));
    for (key, count) in &merged {
        if uncounted(key) {
            continue;
        }
        let of = |counts: &BTreeMap<String, u64>| counts.get(key).copied();
        let expected = match (of(&base), of(&ours), of(&theirs)) {
            (base, Some(ours), Some(theirs)) => (ours + theirs).checked_sub(base.unwrap_or(0)),
            // An action that one side removed and the other counted stays. `docs/reference/merge.md` does not say with which count.
            (Some(_), _, _) => None,
            (None, ours, theirs) => ours.or(theirs),
        };
        // A section that both sides changed alike stands as it is, and a try of both with one mark is one.
        let section = |facts: &Facts| {
            facts
                .sections
                .iter()
                .find(|(scope, _)| key.starts_with(&format!("{scope} ")))
                .map(|(_, section)| section.clone())
        };
        let (our_section, their_section) = (section(&case.ours), section(&case.theirs));
        let is_one = of(&base).is_none()
            && our_section.as_ref().zip(their_section.as_ref()).is_some_and(|(one, other)| {
                let tries = |section: &Section| [section.tried.clone(), section.worked.clone()].concat();
                tries(one).iter().any(|one| {
                    one.turn.is_some()
                        && key.contains(&fold_action(&one.action))
                        && tries(other).contains(one)
                })
            });
        if let Some(expected) = expected.filter(|_| our_section != their_section && !is_one) {
            prop_assert_eq!(*count, expected, "{} in\n{}", key, case.merged.text);
        }
    }
    Ok(())
}

/// Sections that at most one side touched have that side's bytes.
fn untouched_bytes_stay(case: &Case) -> Result<(), TestCaseError> {
    let merged = Facts::of(&case.merged.text);
    for key in case.base.blocks.keys().chain(case.ours.blocks.keys()).chain(case.theirs.blocks.keys()) {
        // Blank lines at the end of a section part it from the next one, which may be new.
        // A byte order mark belongs to the file, and not to the section that comes first.
        let bare = |text: &String| text.trim_end().trim_start_matches('\u{FEFF}').to_owned();
        let trimmed = |texts: &Vec<String>| texts.iter().map(bare).collect::<Vec<_>>();
        let of = |facts: &Facts| facts.blocks.get(key).map(trimmed).unwrap_or_default();
        let (base, ours, theirs) = (of(&case.base), of(&case.ours), of(&case.theirs));
        let expected = match (ours == base, theirs == base) {
            (true, _) => theirs,
            (_, true) => ours,
            _ if ours == theirs => ours,
            _ => continue,
        };
        prop_assert_eq!(of(&merged), expected, "{} in\n{}", key, case.merged.text);
    }
    Ok(())
}

/// Sections stand in the order of the side that moved them.
fn sections_keep_their_place(case: &Case) -> Result<(), TestCaseError> {
    let all = [&case.base, &case.ours, &case.theirs, &case.outside];
    let is_once =
        |key: &&String| all.iter().all(|facts| facts.order.iter().filter(|other| other == key).count() == 1);
    let [base, ours, theirs, merged] =
        all.map(|facts| facts.order.iter().filter(is_once).collect::<Vec<_>>());
    let is_known = merged == ours && theirs == base || merged == theirs && ours == base;
    prop_assert!(is_known || ours != base && theirs != base, "{merged:?} in\n{}", case.merged.text);
    Ok(())
}

/// A change of one side stays, though the other side removed the entry or action.
fn changes_outlive_removals(case: &Case) -> Result<(), TestCaseError> {
    let (base, merged) = (case.base.counts(), case.both.counts());
    for (side, other) in case.sides() {
        let (counts, others) = (side.counts(), other.counts());
        for (key, count) in &counts {
            let is_changed = base.get(key).is_some_and(|before| before != count);
            prop_assert!(
                !is_changed || others.contains_key(key) || merged.contains_key(key),
                "{key} in\n{}",
                case.merged.text
            );
        }
        for (scope, section) in &side.sections {
            let (before, there, kept) =
                (case.base.section(scope), other.section(scope), case.both.section(scope));
            for memory in &section.memories {
                let is_changed = only(&before, &memory.title).is_some_and(|before| before != memory);
                let titled = |section: &Section| {
                    section.memories.iter().any(|one| fold_title(&one.title) == fold_title(&memory.title))
                };
                let is_kept = kept.memories.contains(memory);
                prop_assert!(
                    !is_changed || titled(&there) || is_kept,
                    "{} in\n{}",
                    memory.title,
                    case.merged.text
                );
            }
        }
    }
    Ok(())
}

/// The entry of a title, where there is exactly one.
fn only<'a>(section: &'a Section, title: &str) -> Option<&'a Memory> {
    let folded = fold_title(title);
    let mut found = section.memories.iter().filter(|memory| fold_title(&memory.title) == folded);
    found.next().filter(|_| found.next().is_none())
}

/// A conflict is an entry whose text, category or goal both sides edited differently, and no other.
fn only_real_conflicts(case: &Case) -> Result<(), TestCaseError> {
    let markers = case.merged.text.lines().filter(|line| line.starts_with("<<<<<<<")).count();
    prop_assert_eq!(case.merged.conflicts.len(), markers, "{}", case.merged.text);
    let says = |memory: &Memory| {
        (
            words(memory).map(|words| words.map(str::to_owned)),
            memory.category.clone(),
            memory.provenance.goal.clone(),
        )
    };
    for conflict in &case.merged.conflicts {
        let marker = case.merged.text.lines().nth(conflict.line - 1).unwrap_or_default();
        prop_assert!(marker.starts_with("<<<<<<<"), "{marker:?}");
        let Some((scope, title)) = &conflict.entry else {
            return Err(TestCaseError::fail(format!("lines clash in\n{}", case.merged.text)));
        };
        let of = |facts: &Facts| {
            let memories = facts.section(scope).memories;
            let titled = memories.iter().filter(|memory| fold_title(&memory.title) == fold_title(title));
            titled.map(says).collect::<Vec<_>>()
        };
        let (base, ours, theirs) = (of(&case.base), of(&case.ours), of(&case.theirs));
        let edited = |side: &[_]| side.iter().any(|one| !base.contains(one));
        prop_assert!(
            !base.is_empty() && edited(&ours) && edited(&theirs) && ours != theirs,
            "no conflict: {title} in\n{}",
            case.merged.text
        );
    }
    Ok(())
}

/// Each field of an entry has the value of the side that changed it.
fn fields_of_both_sides(case: &Case) -> Result<(), TestCaseError> {
    for (scope, section) in &case.base.sections {
        for memory in &section.memories {
            let (ours, theirs) = (case.ours.section(scope), case.theirs.section(scope));
            let outside = case.outside.section(scope);
            let title = &memory.title;
            let sides = (only(section, title), only(&ours, title), only(&theirs, title));
            let (Some(base), Some(ours), Some(theirs)) = sides else { continue };
            if case.in_conflict(scope, title) {
                prop_assert!(
                    only(&outside, title).is_none(),
                    "{title} stands outside, too:\n{}",
                    case.merged.text
                );
                continue;
            }
            if let Some(edited) =
                struck_and_edited(base, ours, theirs).or(struck_and_edited(base, theirs, ours))
            {
                let titled = |memory: &&Memory| fold_title(&memory.title) == fold_title(title);
                let found: Vec<&Memory> = outside.memories.iter().filter(titled).collect();
                let struck = found.iter().any(|memory| !memory.is_live() && words(memory) == words(base));
                let live = found.iter().any(|memory| memory.is_live() && memory.text == edited.text);
                prop_assert!(struck && live && found.len() == 2, "{title} in\n{}", case.merged.text);
                continue;
            }
            // An entry that one side struck while both changed it otherwise, or the other anything but its text: one
            // entry, or two.
            let kind = |memory: &Memory| {
                (
                    memory.category.clone(),
                    memory.provenance.goal.clone(),
                    memory.context.clone(),
                    memory.see_also.clone(),
                )
            };
            let is_struck = base.is_live() && ours.is_live() != theirs.is_live();
            let is_other_kind = kind(ours) != kind(base) || kind(theirs) != kind(base);
            if is_struck && (is_other_kind || words(ours) != words(base) && words(theirs) != words(base)) {
                continue;
            }
            let clash = ours.text != base.text && theirs.text != base.text && ours.text != theirs.text;
            prop_assert!(
                !clash || !ours.is_live() || !theirs.is_live(),
                "{title} is no conflict in\n{}",
                case.merged.text
            );
            if clash {
                continue;
            }
            let Some(found) = only(&outside, title) else {
                return Err(TestCaseError::fail(format!(
                    "{title} is not there once in\n{}",
                    case.merged.text
                )));
            };
            merged_fields(base, ours, theirs, found, &case.merged.text)?;
        }
    }
    Ok(())
}

/// The text of an entry with its closing lines, which are part of it.
fn words(memory: &Memory) -> [Option<&str>; 3] {
    [Some(&memory.text), memory.see_also.as_deref(), memory.context.as_deref()]
}

/// True if an entry is struck in one branch and has other words in one: it becomes two, and which of them a further
/// branch changes depends on the order.
fn becomes_two(base: &Facts, branches: &[Facts]) -> bool {
    base.sections.iter().any(|(scope, section)| {
        section.memories.iter().any(|before| {
            let sections = branches.iter().map(|branch| branch.section(scope));
            let same = |one: &Memory| fold_title(&one.title) == fold_title(&before.title);
            let after: Vec<Memory> = sections.flat_map(|section| section.memories).filter(same).collect();
            let is_struck = after.iter().any(|one| one.is_live() != before.is_live());
            is_struck && after.iter().any(|one| words(one) != words(before))
        })
    })
}

/// The edited version, where one side superseded an entry and the other edited its text.
fn struck_and_edited<'a>(base: &Memory, struck: &Memory, edited: &'a Memory) -> Option<&'a Memory> {
    let is_struck_alone = base.is_live() && !struck.is_live() && words(struck) == words(base);
    let is_so = is_struck_alone && edited.is_live() && edited.text != base.text;
    is_so.then_some(edited)
}

fn merged_fields(
    base: &Memory,
    ours: &Memory,
    theirs: &Memory,
    found: &Memory,
    text: &str,
) -> Result<(), TestCaseError> {
    let [base_fields, our_fields, their_fields, fields] =
        [base, ours, theirs, found].map(|memory| serde_json::to_value(memory).expect("a memory is JSON"));
    let names: BTreeSet<&String> = [&base_fields, &our_fields, &their_fields, &fields]
        .iter()
        .flat_map(|fields| fields.as_object().expect("an object").keys())
        .collect();
    for name in names {
        // A reference follows the entry that it names to its new title.
        let of = |fields: &serde_json::Value| match fields.get(name) {
            Some(value) if name == "reference" || name == "see_also" => {
                serde_json::json!(value.to_string().replace(" (2)", ""))
            }
            value => value.cloned().unwrap_or_default(),
        };
        let (base, ours, theirs, found) = (of(&base_fields), of(&our_fields), of(&their_fields), of(&fields));
        let allowed = match (ours == base, theirs == base) {
            (true, _) => vec![theirs],
            (_, true) => vec![ours],
            _ if name == "status" && [&ours, &theirs].contains(&&serde_json::json!(Status::Superseded)) => {
                vec![serde_json::json!(Status::Superseded)]
            }
            _ if name == "importance" => {
                let number = |value: &serde_json::Value| value.as_u64().unwrap_or(500);
                vec![if number(&ours) > number(&theirs) { ours } else { theirs }]
            }
            _ if name == "turns" => {
                let last = |value: &serde_json::Value| value["last"].as_u64();
                let latest = last(&ours).max(last(&theirs));
                [ours, theirs].into_iter().filter(|value| last(value) == latest).collect()
            }
            // Sets, of which the facts say whether they are whole.
            _ if ["tags", "sources", "see_also"].contains(&name.as_str()) => continue,
            _ => vec![ours, theirs],
        };
        prop_assert!(allowed.contains(&found), "{name} is {found}, not one of {allowed:?} in\n{text}");
    }
    Ok(())
}

/// Entries of one title that both sides added.
fn titles_of_both_sides(case: &Case) -> Result<(), TestCaseError> {
    for (scope, section) in &case.ours.sections {
        for ours in section.memories.iter().filter(|memory| memory.is_live() && !memory.category.only_grows())
        {
            let theirs = case.theirs.section(scope);
            let (before, outside) = (case.base.section(scope), case.outside.section(scope));
            let is_new =
                before.memories.iter().all(|memory| fold_title(&memory.title) != fold_title(&ours.title));
            let both = (only(section, &ours.title), only(&theirs, &ours.title));
            let (true, (Some(_), Some(theirs))) = (is_new, both) else { continue };
            if !theirs.is_live() || theirs.category.only_grows() {
                continue;
            }
            let second = only(&outside, &format!("{} (2)", ours.title));
            let is_tagged = |memory: &Memory| memory.provenance.tags.iter().any(|tag| tag == SAME_TITLE);
            let first = only(&outside, &ours.title);
            prop_assert!(
                first.is_some_and(|first| !is_tagged(first)),
                "{} in\n{}",
                ours.title,
                case.merged.text
            );
            if ours.text == theirs.text {
                prop_assert!(second.is_none(), "{} twice in\n{}", ours.title, case.merged.text);
            } else {
                prop_assert!(second.is_some_and(is_tagged), "{} (2) in\n{}", ours.title, case.merged.text);
            }
        }
    }
    Ok(())
}

/// Outside of conflicts, live titles are unique, and nothing is read as a problem that was none before.
fn laws_hold(case: &Case) -> Result<(), TestCaseError> {
    let doubled = |facts: &Facts| {
        let mut doubled = BTreeSet::new();
        for (scope, section) in &facts.sections {
            let mut seen = BTreeSet::new();
            for memory in section.live().filter(|memory| !memory.category.only_grows()) {
                let key = format!("{scope} {}", fold_title(&memory.title));
                if !seen.insert(key.clone()) {
                    doubled.insert(key);
                }
            }
        }
        doubled
    };
    let known: BTreeSet<String> = &doubled(&case.ours) | &doubled(&case.theirs);
    let new: Vec<String> = doubled(&case.outside).difference(&known).cloned().collect();
    prop_assert!(new.is_empty(), "two live entries: {new:?} in\n{}", case.merged.text);
    let kinds = |text: &str| {
        let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
        for problem in problems(text) {
            *kinds.entry((&problem.kind).into()).or_default() += 1;
        }
        kinds
    };
    let (ours, theirs) = (kinds(&case.ours.text), kinds(&case.theirs.text));
    for (kind, count) in kinds(&case.merged.text) {
        let before = ours.get(kind).unwrap_or(&0) + theirs.get(kind).unwrap_or(&0);
        // One side may name an entry that the other removed. Conflicts and suffixes are looked at by other properties.
        // A line below which one side wrote a remark is that person's, and stays beside the one of the list.
        let allowed = [
            "lost_link",
            "lost_reference",
            "circular_reference",
            "conflict",
            "same_title_merged",
            "second_line",
        ];
        let same = case.merged.text.contains(&format!("#{SAME_TITLE}")) && kind.contains("title");
        prop_assert!(
            count <= before || allowed.contains(&kind) || same,
            "{count} {kind} in\n{}",
            case.merged.text
        );
    }
    Ok(())
}

/// The sides in the other order say the same.
fn sides_may_be_swapped(case: &Case) -> Result<(), TestCaseError> {
    let other = Case::of(&case.base.text, &case.theirs.text, &case.ours.text);
    prop_assert_eq!(&case.both.said, &other.both.said, "{}\nor\n{}", case.merged.text, other.merged.text);
    prop_assert_eq!(&case.outside.said, &other.outside.said);
    prop_assert_eq!(case.merged.conflicts.len(), other.merged.conflicts.len());
    Ok(())
}

/// A merge that is merged once more stays as it is.
fn merging_again_changes_nothing(case: &Case) -> Result<(), TestCaseError> {
    let (base, ours, theirs) = (&case.base.text, &case.ours.text, &case.theirs.text);
    let once = &case.merged.text;
    prop_assert_eq!(&merged(theirs, once, theirs), once);
    prop_assert_eq!(&merged(ours, once, ours), once);
    prop_assert_eq!(&merged(ours, once, once), once);
    prop_assert_eq!(&merged(once, once, once), once);
    if case.merged.conflicts.is_empty() {
        let again = Case::of(base, once, theirs);
        prop_assert_eq!(&again.both.said, &case.both.said, "{}\nand again\n{}", once, again.merged.text);
    }
    Ok(())
}

/// Checks all laws on a base and two sides.
fn check(base: &str, ours: &str, theirs: &str) -> Result<(), TestCaseError> {
    alone(base, ours, theirs)?;
    let case = Case::of(base, ours, theirs);
    nothing_is_lost(&case)?;
    changes_outlive_removals(&case)?;
    counts_add_up(&case)?;
    untouched_bytes_stay(&case)?;
    sections_keep_their_place(&case)?;
    only_real_conflicts(&case)?;
    fields_of_both_sides(&case)?;
    titles_of_both_sides(&case)?;
    laws_hold(&case)?;
    sides_may_be_swapped(&case)?;
    merging_again_changes_nothing(&case)
}

fn two_sides(form: Form) -> impl Strategy<Value = (String, String, String)> {
    (base(form), changes(1..9, form), changes(1..9, form)).prop_map(|(base, ours, theirs)| {
        let (ours, theirs) = (changed(&base, &ours), changed(&base, &theirs));
        (base, ours, theirs)
    })
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn two_sides_become_one((base, ours, theirs) in two_sides(Form::Plain)) {
        check(&base, &ours, &theirs)?;
    }

    /// The identities hold whatever form the files have.
    #[test]
    fn files_of_any_form((base, ours, theirs) in two_sides(Form::Any)) {
        alone(&base, &ours, &theirs)?;
        let once = merged(&base, &ours, &theirs);
        prop_assert_eq!(&merged(&theirs, &once, &theirs), &once);
    }

    /// In whatever order branches are merged, the result says the same.
    #[test]
    fn four_branches_in_any_order(base in base(Form::Plain), branches in prop::collection::vec(changes(1..5, Form::Plain), 4)) {
        let branches: Vec<String> = branches.iter().map(|branch| changed(&base, branch)).collect();
        let read: Vec<Facts> = branches.iter().map(|branch| Facts::of(branch)).collect();
        prop_assume!(!becomes_two(&Facts::of(&base), &read));
        let mut said: Option<(Facts, String)> = None;
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut text = branches[order[0]].clone();
            for &next in &order[1..] {
                let step = merge(&base, &text, &branches[next], Labels::default());
                // With a conflict, people decide before they go on.
                prop_assume!(step.conflicts.is_empty());
                text = step.text;
            }
            let facts = Facts::of(&text);
            match &said {
                None => said = Some((facts, text)),
                Some((other, before)) => prop_assert_eq!(&facts.said, &other.said, "{}\nor\n{}", before, text),
            }
        }
    }

    /// Any three texts are merged, and the identities hold of them.
    #[test]
    fn any_texts((base, ours, theirs) in (file(), splices(), splices()), other in hostile_text()) {
        let (ours, theirs) = (spliced(&base, &ours), spliced(&base, &theirs));
        for [base, ours, theirs] in [[&base, &ours, &theirs], [&other, &ours, &theirs], [&base, &ours, &other]] {
            alone(base, ours, theirs)?;
            let once = merge(base, ours, theirs, Labels::default());
            prop_assert_eq!(&merged(theirs, &once.text, theirs), &once.text);
        }
    }
}
