//! Sentences of the contract about merging that the properties do not cover, an example each.

use memories::document::Document;
use memories::document::merge::{Labels, Merged, merge};
use memories::types::Scope;

const BASE: &str = "# Location Memories\n\n## Location 7: West of House\n**Visits:** 2 | **Episodes:** 1\n\n### Memories\n\n\
    **[NOTE] Lamp** *(Ep1, T3)*\nIt burns.\n\n### Ways\n\n- `north` → [Cellar](#location-3-cellar)\n\n### Worked\n\n\
    - `open door` *(Ep1, T4)*\n\n### Tried\n\n- `take rug` ×2 *(Ep1, T9)*: It is heavy.\n\n---\n";

const PLACE: Scope = Scope::Location(7);

/// Merges two edits of the base, each a text and what stands in its place.
fn merged(ours: (&str, &str), theirs: (&str, &str)) -> Merged {
    let edited = |(old, new): (&str, &str)| {
        assert!(BASE.contains(old), "{old}");
        BASE.replacen(old, new, 1)
    };
    merge(BASE, &edited(ours), &edited(theirs), Labels::default())
}

#[test]
fn of_two_new_names_ours_stays_and_a_notice_says_so() {
    let merged = merged(("West of House", "Old House"), ("West of House", "White House"));
    assert!(merged.text.contains("## Location 7: Old House\n"), "{}", merged.text);
    assert!(!merged.text.contains("White House"), "{}", merged.text);
    assert_eq!((merged.conflicts.len(), merged.notices.len()), (0, 1));
    assert!(merged.notices[0].contains("White House"), "{:?}", merged.notices);
}

#[test]
fn of_lines_that_both_wrote_in_one_place_ours_stand_first() {
    let ours = ("### Memories\n", "Mine.\n\n### Memories\n");
    let theirs = ("### Memories\n", "Yours.\n\n### Memories\n");
    let text = merged(ours, theirs).text;
    let (mine, yours) = (text.find("Mine.\n"), text.find("Yours.\n"));
    assert!(mine.is_some() && mine < yours, "{text}");
}

#[test]
fn the_later_of_two_marks_and_replies_counts() {
    let ours = ("×2 *(Ep1, T9)*: It is heavy.", "×3 *(Ep2, T5)*: It does not move.");
    let theirs = ("×2 *(Ep1, T9)*: It is heavy.", "×5 *(Ep3, T1)*: Leave it.");
    for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
        let text = merged(ours, theirs).text;
        assert!(text.contains("- `take rug` ×6 *(Ep3, T1)*: Leave it.\n"), "{text}");
    }
}

#[test]
fn an_action_that_one_side_moved_to_worked_leaves_the_tries() {
    let moved =
        BASE.replace("- `take rug` ×2 *(Ep1, T9)*: It is heavy.\n\n", "").replace("### Tried\n\n", "");
    let moved = moved.replace("*(Ep1, T4)*\n", "*(Ep1, T4)*, `take rug` *(Ep2, T1)*\n");
    let theirs = BASE.replace("**Visits:** 2", "**Visits:** 3");
    for (ours, theirs) in [(&moved, &theirs), (&theirs, &moved)] {
        let text = merge(BASE, ours, theirs, Labels::default()).text;
        let section = Document::parse(text.clone()).section(&PLACE).unwrap();
        assert_eq!((section.visits, section.tried.len(), section.worked.len()), (3, 0, 2), "{text}");
    }
}

#[test]
fn visits_and_ways_add_up() {
    let ours = ("**Visits:** 2 | **Episodes:** 1", "**Visits:** 3 | **Episodes:** 1, 2");
    let theirs = ("**Visits:** 2 | **Episodes:** 1", "**Visits:** 6 | **Episodes:** 1, 4");
    let text = merged(ours, theirs).text;
    assert!(text.contains("**Visits:** 7 | **Episodes:** 1, 2, 4\n"), "{text}");
    let way = "(#location-3-cellar)";
    let text = merged((way, &format!("{way} ×3")), (way, &format!("{way} ×2"))).text;
    assert!(text.contains(&format!("{way} ×4\n")), "{text}");
}

#[test]
fn of_two_importances_the_higher_counts_and_tags_are_a_set() {
    let text = merged(("T3)*", "T3, importance 900, #lamp)*"), ("T3)*", "T3, importance 700, #light)*")).text;
    let memory = &Document::parse(text.clone()).section(&PLACE).unwrap().memories[0];
    let mut tags = memory.provenance.tags.clone();
    tags.sort();
    assert_eq!(
        (memory.provenance.importance, tags),
        (Some(900), vec!["lamp".to_owned(), "light".to_owned()]),
        "{text}"
    );
}

#[test]
fn an_entry_that_one_side_struck_and_the_other_edited_becomes_two() {
    let struck =
        "**[NOTE - SUPERSEDED] Lamp** *(Ep1, T3)*\n[Invalidated at Ep2 T1: \"it went out\"]\n~~It burns.~~\n";
    let entry = "**[NOTE] Lamp** *(Ep1, T3)*\nIt burns.\n";
    let text = merged((entry, struck), ("It burns.", "It burns for long.")).text;
    assert!(text.contains(struck), "{text}");
    assert!(text.contains("**[NOTE] Lamp** *(Ep1, T3)*\nIt burns for long.\n"), "{text}");
}

#[test]
fn a_conflict_has_both_versions_whole_and_nothing_else() {
    let merged = merged(("It burns.", "It burns for long."), ("It burns.", "It is out."));
    let marks = [
        "<<<<<<< ours\n**[NOTE] Lamp** *(Ep1, T3)*\nIt burns for long.\n",
        "**[NOTE] Lamp** *(Ep1, T3)*\nIt is out.\n",
    ];
    assert!(marks.iter().all(|mark| merged.text.contains(mark)), "{}", merged.text);
    let entry = Some((PLACE, "Lamp".to_owned()));
    assert_eq!(merged.conflicts.iter().map(|conflict| conflict.entry.clone()).collect::<Vec<_>>(), [entry]);
    let (outside, _) = super::facts::without_conflicts(&merged.text);
    let section = Document::parse(outside).section(&PLACE).unwrap();
    assert_eq!(
        (section.memories.len(), section.tried.len(), section.ways.len()),
        (0, 1, 1),
        "{}",
        merged.text
    );
}

#[test]
fn new_sections_stand_in_the_order_of_their_ids() {
    let with = |ids: &[u64]| {
        let mut document = Document::parse(BASE.to_owned());
        for id in ids {
            document.visit(&Scope::Location(*id), "New", 1, None).unwrap();
        }
        document.visit(&Scope::World, "", 1, None).unwrap();
        document.into_text().unwrap()
    };
    for (ours, theirs) in [([3, 9], [5, 12]), ([12, 5], [9, 3]), ([3, 12], [3, 5])] {
        let text = merge(BASE, &with(&ours), &with(&theirs), Labels::default()).text;
        let document = Document::parse(text.clone());
        let found: Vec<Scope> = document.headings().map(|heading| heading.scope.clone()).collect();
        let mut sorted = found.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(found, sorted, "{text}");
        assert_eq!(
            found.len(),
            3 + ours.iter().chain(&theirs).collect::<std::collections::BTreeSet<_>>().len() - 1
        );
    }
}

#[test]
fn a_fence_that_one_side_never_closed_leaves_a_merge_by_lines() {
    let ours = BASE.replace("It burns.\n", "It burns.\n\n```\nand more\n");
    let theirs = BASE.replace("**Visits:** 2", "**Visits:** 3");
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(BASE, ours, theirs, Labels::default());
        let words = ["**Visits:** 3", "and more"];
        assert!(words.iter().all(|words| merged.text.contains(words)), "{}", merged.text);
        assert!(merged.conflicts.is_empty());
    }
    let (ours, theirs) = (ours.replace("It burns.", "It smokes."), BASE.replace("It burns.", "It is out."));
    let merged = merge(BASE, &ours, &theirs, Labels::default());
    let words = ["<<<<<<< ours\n", "and more", "It is out.", ">>>>>>> theirs\n"];
    assert!(words.iter().all(|words| merged.text.contains(words)), "{}", merged.text);
    assert_eq!(merged.conflicts.len(), 1);
}

#[test]
fn a_side_that_was_saved_with_other_line_endings_is_read_all_the_same() {
    let ours = BASE.replace("×2", "×3").replace('\n', "\r\n");
    let theirs = BASE.replace("×2", "×5").replace("It burns.", "It burns on.");
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(BASE, ours, theirs, Labels::default());
        let section = Document::parse(merged.text.clone()).section(&PLACE).unwrap();
        assert_eq!(
            (section.tried[0].count, section.memories[0].text.as_str()),
            (6, "It burns on."),
            "{}",
            merged.text
        );
        assert!(merged.conflicts.is_empty());
    }
}

#[test]
fn a_removed_section_that_the_other_side_changed_stays_with_the_change() {
    let gone = "# Location Memories\n";
    for (ours, theirs) in
        [(gone.to_owned(), BASE.replace("×2", "×3")), (BASE.replace("×2", "×3"), gone.to_owned())]
    {
        let merged = merge(BASE, &ours, &theirs, Labels::default());
        assert!(merged.conflicts.is_empty());
        assert!(
            merged.text.contains("## Location 7: West of House\n") && merged.text.contains("`take rug` ×3"),
            "{}",
            merged.text
        );
    }
    assert_eq!(merge(BASE, gone, BASE, Labels::default()).text, gone);
}

#[test]
fn a_heading_of_theirs_in_place_of_a_removed_entry_keeps_its_distance_from_the_break() {
    let entry = "**[NOTE] Door**\nIt is shut.\n\n";
    let base = format!("## World\n\n### Memories\n\n**[NOTE] Lamp**\nIt burns.\n\n{entry}---\n");
    let ours = base.replace("[NOTE] Lamp", "[DANGER] Lamp");
    let theirs = base.replace(entry, "### My theory\n\nA line by hand.\n\n");
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let text = merge(&base, ours, theirs, Labels::default()).text;
        assert!(text.ends_with("### My theory\n\nA line by hand.\n\n---\n"), "{text}");
        assert!(text.contains("[DANGER] Lamp") && !text.contains("Door"), "{text}");
    }
}
