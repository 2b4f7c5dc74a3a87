//! Merges three ways: two texts that grew from one become one text.
//!
//! The base and both sides enter; the merged text leaves, with its conflicts. Sections, entries and evidence are
//! merged by meaning (`docs/reference/merge.md`), a person's lines by lines. No entry, action or way of either side is
//! lost, except one that the other side removed while this side left it unchanged.

mod entries;
mod entry;
mod evidence;
mod lines;
mod parts;
mod result;
mod scope;
mod section;
mod sections;
mod values;

use crate::visits::Visits;
use values::Three;

pub use result::{Labels, MergeConflict, Merged};

/// Merges two sides into one text. What both sides worded differently stands between markers with these labels.
pub fn merge(base: &str, ours: &str, theirs: &str, labels: Labels<'_>) -> Merged {
    let by_meaning = merge_by_meaning(base, ours, theirs, Some(labels));
    by_meaning.unwrap_or_else(|| lines::merge_lines(base, ours, theirs, labels))
}

/// Merges two sides where nobody is there to resolve a conflict: an entry that both sides worded differently becomes
/// two, one of which gets a number. `None` where the texts cannot be merged by meaning, and lines clash.
pub fn merge_keeping_both(base: &str, ours: &str, theirs: &str) -> Option<Merged> {
    let by_lines = || {
        let merged = lines::merge_lines(base, ours, theirs, Labels::default());
        Some(merged).filter(|merged| merged.conflicts.is_empty())
    };
    merge_by_meaning(base, ours, theirs, None).or_else(by_lines)
}

/// Joins two sections without a base into one; `None` if the result would be read differently than it is meant.
pub(super) fn join(one: &str, other: &str) -> Option<String> {
    merge_by_meaning("", one, other, None).map(|merged| merged.text)
}

/// Joins two visits lines into one. If both list an episode, they may have counted visits of a common base: each line
/// has at least one visit that the other lacks.
pub(super) fn join_visits(one: &Visits, other: &Visits) -> Visits {
    if one == other {
        return one.clone();
    }
    let common: Vec<u64> =
        one.episodes.iter().filter(|episode| other.episodes.contains(episode)).copied().collect();
    let least = one.count.min(other.count).saturating_sub(1);
    let count = if common.is_empty() { 0 } else { least };
    let both: Vec<String> = one.other.iter().filter(|part| other.other.contains(part)).cloned().collect();
    let base = Visits { count, episodes: common, first_turn: None, other: both };
    evidence::merge_visits(&Three { base: &base, ours: one, theirs: other })
}

fn merge_by_meaning(base: &str, ours: &str, theirs: &str, labels: Option<Labels<'_>>) -> Option<Merged> {
    if ours == theirs || theirs == base {
        return Some(Merged { text: ours.to_owned(), ..Merged::default() });
    }
    if ours == base {
        return Some(Merged { text: theirs.to_owned(), ..Merged::default() });
    }
    sections::merge_sections(base, ours, theirs, labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::problems;
    use crate::text::TITLE_CHARS;
    use crate::types::Scope;

    const HEAD: &str = "# Location Memories\n\n## Location 1: Hall\n**Visits:** 2 | **Episodes:** 1 (T3)\n\n### Memories\n\n";
    const TAIL: &str = "\n---\n";

    fn place(entries: &str) -> String {
        format!("{HEAD}{entries}{TAIL}")
    }

    /// The merged text, which has no conflict; its sets are the same with the sides swapped.
    fn clean(base: &str, ours: &str, theirs: &str) -> String {
        let merged =
            sections::merge_sections(base, ours, theirs, Some(Labels::default())).expect("merged by meaning");
        assert_eq!(merged.conflicts, [], "{}", merged.text);
        let swapped = merge(base, theirs, ours, Labels::default()).text;
        let words = |text: &str| {
            let mut words: Vec<String> = text.split([' ', ',', ')', '\n']).map(str::to_owned).collect();
            words.retain(|word| !word.is_empty());
            words.sort_unstable();
            words
        };
        assert_eq!(words(&swapped), words(&merged.text));
        merged.text
    }

    /// The merged entries of a place that had `base`.
    fn entries(base: &str, ours: &str, theirs: &str) -> String {
        let text = clean(&place(base), &place(ours), &place(theirs));
        text.strip_prefix(HEAD)
            .and_then(|text| text.strip_suffix(TAIL))
            .expect("only entries differ")
            .to_owned()
    }

    #[test]
    fn lines_of_other_witnesses_are_other_lines() {
        let file = |lines: &str| {
            format!("# Location Memories\n\n## Location 1: Hall\n\n### Tried\n\n{lines}\n---\n")
        };
        let all = "- `pull lever` ×2 *(Ep1, T2)*: Click.\n";
        let jo = "- `pull lever` *(Ep1, T3, #witness:jo)*: It opens!\n";
        let more = all.replace("×2", "×3");
        assert_eq!(
            clean(&file(all), &file(&more), &file(&format!("{all}{jo}"))),
            file(&format!("{more}{jo}"))
        );
        assert_eq!(
            clean(&file(&format!("{all}{jo}")), &file(&format!("{more}{jo}")), &file(all)),
            file(&more)
        );
    }

    #[test]
    fn what_both_sides_learned_stands_there() {
        let a = "**[NOTE] a** *(Ep1, T1)*\none\n";
        let (b, c) =
            ("**[NOTE] b** *(Ep2, T1)*\ntwo\n<!-- mine -->\n", "**[DANGER - CORE] c** *(Ep3)*\n\n* three\n");
        assert_eq!(entries(a, &format!("{a}\n{b}"), &format!("{a}\n{c}")), format!("{a}\n{b}\n{c}"));
        assert_eq!(entries(a, &format!("{a}\n{b}"), &format!("{a}\n{b}")), format!("{a}\n{b}"));
        assert_eq!(
            entries(&format!("{a}\n{b}"), a, &format!("{a}\n{b}\n{c}")),
            format!("{a}\n{c}"),
            "b was forgotten"
        );
        let edited = b.replace("two", "2");
        let kept = entries(&format!("{a}\n{b}"), a, &format!("{a}\n{edited}"));
        assert_eq!(kept, format!("{a}\n{edited}"), "b was forgotten and edited");
    }

    #[test]
    fn fields_of_one_entry_are_merged_one_by_one() {
        let merged = entries(
            "**[NOTE - TENTATIVE] a** *(Ep1, T1, #x, #y)*\none\n",
            "**[NOTE] a** *(Ep1, T1, importance 700, #y, #z)*\none\n",
            "**[NOTE - CORE - TENTATIVE] a** *(Ep1, T4, importance 600, #x, #y, #w)*\none\n",
        );
        assert_eq!(merged, "**[NOTE - CORE] a** *(Ep1, T4, importance 700, #y, #z, #w)*\none\n");
        let linked = entries(
            "**[NOTE] a**\none\n<!-- c -->\n",
            "**[NOTE] a**\none\nSee also: [[World]]\n<!-- c -->\n",
            "**[NOTE] a**\none\nSee also: [[Scene]]\n<!-- d -->\n",
        );
        assert_eq!(
            linked.replace("[[Scene]], [[World]]", "[[World]], [[Scene]]"),
            "**[NOTE] a**\none\nSee also: [[World]], [[Scene]]\n<!-- d -->\n"
        );
    }

    const OLD: &str = "**[NOTE] a** *(Ep1)*\none\n";
    const STRUCK: &str = "**[NOTE - SUPERSEDED] a** *(Ep1)*\n[Superseded at Ep2 T3 by \"b\"]\n~~one~~\n";
    const NEW: &str = "**[NOTE] b** *(Ep2, T3)*\ntwo\n";

    #[test]
    fn superseded_on_one_side_is_superseded() {
        let ours = format!("{STRUCK}\n{NEW}");
        assert_eq!(entries(OLD, &ours, OLD), ours);
        let tagged = OLD.replace("(Ep1", "(Ep1, #x");
        assert_eq!(entries(OLD, &ours, &tagged), ours.replace("(Ep1", "(Ep1, #x"));
        let doubted = OLD.replace("NOTE", "NOTE - TENTATIVE");
        assert_eq!(entries(OLD, &ours, &doubted), ours, "doubted on the other side");
    }

    #[test]
    fn words_that_one_side_struck_and_the_other_edited_stand_twice() {
        let edited = OLD.replace("one", "one, but only once");
        let merged = clean(&place(OLD), &place(&format!("{STRUCK}\n{NEW}")), &place(&edited));
        assert!([STRUCK, NEW, &edited].iter().all(|entry| merged.contains(*entry)), "{merged}");
    }

    #[test]
    fn one_title_for_two_memories_gets_a_number() {
        let (one, other) = ("**[NOTE] T** *(Ep2)*\nred\n", "**[NOTE] t** *(Ep3)*\ngreen\n");
        let merged = entries("", one, other);
        assert_eq!(merged, format!("{one}\n**[NOTE] t (2)** *(Ep3, #same-title)*\ngreen\n"));
        let problems = problems(&place(&merged));
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.line, problem.hint().contains("`#same-title`")), (11, true));
        assert_eq!(entries("", &merged, other), merged, "merging again");
        let long = |text: &str| format!("**[NOTE] {}** *(Ep2)*\n{text}\n", "x".repeat(TITLE_CHARS));
        let merged = entries("", &long("red"), &long("green"));
        for again in ["red", "green"] {
            assert_eq!(entries("", &merged, &long(again)), merged, "merging a long title again");
        }
        let second = |text: &str| format!("**[NOTE] T (2)** *(Ep2, #same-title)*\n{text}\n");
        let merged = entries("", &second("red"), &second("green"));
        let third = second("red").replace("T (2)", "T (2) (2)");
        assert_eq!(merged, format!("{third}\n{}", second("green")), "the tag is not given twice");
        assert_eq!(entries("", one, "**[NOTE] T** *(Ep3, #x)*\nRed\n"), "**[NOTE] T** *(Ep2, #x)*\nred\n");
        let said = "**[DIALOGUE] T** *(Ep2)*\nred\n";
        assert_eq!(entries("", said, &said.replace("red", "green")).matches("DIALOGUE] T**").count(), 2);
    }

    #[test]
    fn an_entry_that_one_side_revived_and_the_other_wrote_anew_gets_a_number() {
        let struck = "**[NOTE - SUPERSEDED] a** *(Ep1)*\n[Invalidated at Ep2: \"no\"]\n~~one~~\n";
        let merged = entries(struck, &format!("{struck}\n**[NOTE] a** *(Ep3)*\ntwo\n"), OLD);
        assert_eq!(merged, format!("{OLD}\n**[NOTE] a (2)** *(Ep3, #same-title)*\ntwo\n"));
    }

    #[test]
    fn who_superseded_by_a_title_follows_it_to_its_number() {
        let ours = format!("{OLD}\n**[NOTE] b** *(Ep2, T1)*\nthree\n");
        let merged = entries(OLD, &ours, &format!("{STRUCK}\n{NEW}"));
        assert!(
            merged.contains("by \"b (2)\"]") && merged.contains("b (2)** *(Ep2, T3, #same-title)*"),
            "{merged}"
        );
    }

    #[test]
    fn two_edits_of_one_text_are_the_only_conflict() {
        let (ours, theirs) = ("**[NOTE] a**\nours\n", "**[NOTE] a**\ntheirs\n");
        let around = |entry: &str| place(&format!("**[NOTE] x**\nx\n\n{entry}\n**[NOTE] z**\nz\n"));
        let labels = Labels { ours: "HEAD", theirs: "branch", ..Labels::default() };
        let merged = merge(&around("**[NOTE] a**\nbase\n"), &around(ours), &around(theirs), labels);
        let marked = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
        assert_eq!(merged.text, around(&marked));
        let entry = Some((Scope::Location(1), "a".to_owned()));
        assert_eq!(merged.conflicts, [MergeConflict { entry, line: 11 }]);
    }

    #[test]
    fn where_nobody_resolves_it_two_edits_of_one_text_are_two_entries() {
        let text = |entry: &str| place(&format!("**[NOTE] a** *(Ep1)*\n{entry}\n"));
        let merged = merge_keeping_both(&text("base"), &text("ours"), &text("theirs")).unwrap();
        let both = text("ours\n\n**[NOTE] a (2)** *(Ep1, #same-title)*\ntheirs");
        assert_eq!((&merged.text, merged.conflicts.len()), (&both, 0));
        assert_eq!(merge_keeping_both(&text("base"), &text("theirs"), &text("ours")).unwrap().text, {
            text("theirs").replace("a** *(Ep1)*", "a (2)** *(Ep1, #same-title)*").replace(TAIL, "")
                + "\n**[NOTE] a** *(Ep1)*\nours\n"
                + TAIL
        });
        assert_eq!(merge_keeping_both(&text("base"), &both, &both).unwrap().text, both);
        let unclosed = text("one\n```\nunclosed");
        let theirs = text("two").replace(TAIL, "\n**[NOTE] b**\n```\ncode\n```\n\n---\n");
        assert_eq!(merge_keeping_both(&text("base"), &unclosed, &theirs), None);
    }

    #[test]
    fn visits_and_counts_add_up() {
        let text = |visits: &str, ways: &str, tried: &str| {
            format!(
                "## Location 1: Hall\n**Visits:** {visits}\n\n### Ways\n\n{ways}\n### Tried\n\n{tried}\n---\n"
            )
        };
        let base = text(
            "2 | **Episodes:** 1 (T3)",
            "- `n` → [B](#location-2-b) ×2\n",
            "- `x` ×2 *(Ep1, T4)*: No.\n",
        );
        let ours = text(
            "4 | **Episodes:** 1 (T3), 2",
            "- `n` → [B](#location-2-b) ×3\n",
            "- `x` ×3 *(Ep2, T9)*: Yes?\n- `y` *(Ep2, T4)*: No.\n",
        );
        let theirs = text(
            "3 | **Episodes:** 1 (T3), 3",
            "- `n` → [B](#location-2-b) ×5\n- `s` → [C](#location-3-c)\n",
            "- `x` ×3 *(Ep3, T1)*: No.\n",
        );
        let expected = text(
            "5 | **Episodes:** 1 (T3), 2, 3",
            "- `n` → [B](#location-2-b) ×6\n- `s` → [C](#location-3-c)\n",
            "- `y` *(Ep2, T4)*, `x` ×4 *(Ep3, T1)*: No.\n",
        );
        let merged = merge(&base, &ours, &theirs, Labels::default());
        assert_eq!(merged.text, expected);
        assert_eq!(merge(&ours, &merged.text, &ours, Labels::default()).text, expected);
    }

    #[test]
    fn lines_of_people_stand_where_they_stood() {
        let base = place("**[NOTE] a**\none\n");
        let ours =
            base.replace("\n\n### Memories", "\n\nBeware of the dog.\n\n### Memories").replace("one", "1");
        let theirs = base
            .replace("\n\n### Memories", "\n\nThe cat is kind.\nVery.\n\n### Memories")
            .replace(TAIL, "\n### My list\n\n- tea\n\n- jam\n\n---\n");
        let merged = merge(&base, &ours, &theirs, Labels::default());
        let expected = base
            .replace("\n\n### Memories", "\n\nBeware of the dog.\n\nThe cat is kind.\nVery.\n\n### Memories")
            .replace("one", "1")
            .replace(TAIL, "\n### My list\n\n- tea\n\n- jam\n\n---\n");
        assert_eq!((merged.text, merged.conflicts), (expected, Vec::new()));
        let verse = |lines: &str, entry: &str| {
            place(entry).replace("\n\n### Memories", &format!("\n\n{lines}\n\n### Memories"))
        };
        let [one, other] = ["**[NOTE] a**\none\n", "**[NOTE] a**\n1\n"];
        let merged = clean(
            &verse("Red.\nBlue.", one),
            &verse("Red.\nBlue.", other),
            &verse("Red.\nGreen.\nBlue.", one),
        );
        assert_eq!(merged, verse("Red.\nGreen.\nBlue.", other), "a line within a paragraph");
    }

    #[test]
    fn sections_come_and_go_whole() {
        let section = |id: u64, text: &str| {
            format!("## Location {id}: P\n\n### Memories\n\n**[NOTE] t**\n{text}\n\n---\n\n")
        };
        let all = |ids: &[u64]| ids.iter().map(|id| section(*id, "x")).collect::<String>();
        assert_eq!(clean(&all(&[2, 5]), &all(&[2, 3, 5]), &all(&[1, 2, 4, 5, 6])), all(&[1, 2, 3, 4, 5, 6]));
        assert_eq!(
            clean(&all(&[1, 2, 3]), &all(&[1, 3]), &all(&[1, 2, 3, 4])),
            all(&[1, 3, 4]),
            "2 was removed"
        );
        let edited = format!("{}{}", section(1, "x"), section(2, "y"));
        assert_eq!(
            clean(&all(&[1, 2, 3]), &all(&[1, 3]), &format!("{edited}{}", section(3, "x"))),
            format!("{edited}{}", section(3, "x"))
        );
        let own = "## Shopping\n\ntea\n";
        assert_eq!(
            clean(&all(&[1, 2]), &format!("{}{own}", all(&[1, 2])), &all(&[1, 2, 7])).matches(own).count(),
            1
        );
        let within = format!("{}{own}\n{}", all(&[1]), all(&[2]));
        assert_eq!(clean(&all(&[1, 2]), &all(&[1, 2, 7]), &within), format!("{within}{}", all(&[7])));
        assert_eq!(
            clean(&all(&[1, 2, 3]), &format!("{}{}", all(&[1, 2]), section(3, "y")), &all(&[2, 1, 3])),
            format!("{}{}", all(&[2, 1]), section(3, "y"))
        );
    }

    #[test]
    fn names_that_clash_are_told() {
        let named = |name: &str| place("").replace("Hall", name);
        let merged = merge(&named(""), &named("Hall"), &named("Lobby"), Labels::default());
        assert_eq!(merged.text, named("Hall"));
        assert_eq!(
            merged.notices,
            ["location:1 is called `Hall` on one side and `Lobby` on the other: `Hall` stays"]
        );
        let renamed =
            merge(&named("Hall"), &place("**[NOTE] a**\none\n"), &named("Lobby"), Labels::default());
        assert_eq!(renamed.text, place("**[NOTE] a**\none\n").replace("Hall", "Lobby"));
    }

    #[test]
    fn where_a_fence_would_swallow_an_entry_lines_are_merged() {
        let base = place("**[NOTE] a**\none\n");
        let ours = base.replace("one", "one\n```\nunclosed");
        let theirs = base.replace(TAIL, "\n**[NOTE] b**\n```\ncode\n```\n\n---\n");
        let merged = merge(&base, &ours, &theirs, Labels::default());
        for line in ours.lines().chain(theirs.lines()) {
            assert!(merged.text.contains(line), "{line}: {}", merged.text);
        }
    }

    #[test]
    fn line_endings_and_a_byte_order_mark_stay() {
        let base = format!("\u{FEFF}{}", place("**[NOTE] a**\none\n")).replace('\n', "\r\n");
        let ours = base.replace("one", "1");
        let theirs = base.replace("---", "**[NOTE] b**\r\ntwo\r\n\r\n---");
        let merged = merge(&base, &ours, &theirs, Labels::default());
        assert_eq!((merged.text, merged.conflicts.len()), (theirs.replace("one", "1"), 0));
    }

    #[test]
    fn a_fence_in_a_conflict_has_no_headings() {
        let fenced = "**[NOTE] a**\nSay:\n```\n## World\n**[NOTE] no entry**\n```\n";
        let new = "**[NOTE] b**\nnew\n";
        let merged = merge(
            &place("**[NOTE] a**\nbase\n"),
            &place(&format!("{fenced}\n{new}")),
            &place("**[NOTE] a**\ntheirs\n"),
            Labels::default(),
        );
        let marked = format!("<<<<<<< ours\n{fenced}=======\n**[NOTE] a**\ntheirs\n>>>>>>> theirs\n\n{new}");
        assert_eq!(merged.text, place(&marked));
    }

    #[test]
    fn the_same_try_counts_once_and_another_one_adds() {
        let text = |tried: &str| format!("## Location 1: Hall\n\n### Tried\n\n{tried}\n---\n");
        let both = |one: &str, other: &str| clean(&text(""), &text(one), &text(other));
        let (one, other) = ("- `x` *(Ep2, T3)*: No.\n- `y` *(Ep2, T4)*: Na.\n", "- `x` *(Ep2, T3)*: No.\n");
        assert_eq!(both(one, other), text(one));
        assert_eq!(both("- `x`\n", "- `x` *(T1)*\n"), text("- `x` ×2 *(T1)*\n"));
        let reply = "- `x` ×2 *(Ep1, T3)*: No";
        let edited = clean(
            &text(&format!("{reply}.\n")),
            &text(&format!("{reply}.\n- `y`: Na.\n")),
            &text(&format!("{reply}!\n")),
        );
        assert!(edited.contains("`x` ×2 *(Ep1, T3)*: No!"), "{edited}");
    }

    #[test]
    fn two_sections_of_a_scope_are_one() {
        let base = place("**[NOTE] a**\none\n");
        let second = format!("{base}\n## Location 1:\n\n### Memories\n\n**[NOTE] b**\ntwo\n\n---\n");
        let merged = clean(&base, &base.replace("one", "1").replace("** 2", "** 3"), &second);
        let found = crate::Document::parse(merged.clone()).section(&Scope::Location(1)).unwrap();
        let texts: Vec<&str> = found.memories.iter().map(|memory| memory.text.as_str()).collect();
        assert_eq!((texts, found.visits), (vec!["1", "two"], 3), "{merged}");
    }

    #[test]
    fn each_of_two_sections_of_a_scope_gets_its_own_edits() {
        let text = |[a, b, c]: [&str; 3]| {
            let second = format!("**[NOTE] b**\n{b}\n\n**[NOTE] c**\n{c}\n");
            format!("{}\n{}", place(&format!("**[NOTE] a**\n{a}\n")), place(&second))
        };
        let merged = clean(&text(["1", "2", "3"]), &text(["1", "two", "3"]), &text(["one", "2", "three"]));
        assert_eq!(merged, text(["one", "two", "three"]));
    }

    #[test]
    fn a_carriage_return_alone_ends_no_line() {
        assert_eq!(merge("", "a\rb", ",", Labels::default()).text.matches("a\rb").count(), 1);
    }
}
