//! Forty-nine slips of a person who edits the file by hand, and what comes of each: what `check` reports,
//! what `check --fix` makes of it, and that nothing is lost in silence.
//!
//! Each edit is one change of a file with three sections.

use std::fs;
use std::path::Path;

use crate::program::memories;
use memories::document::check::{Reading, first_error};
use serde_json::Value;

const BASE: &str = "\
# Location Memories

## Location 15: West of House
**Visits:** 3 | **Episodes:** 1, 2

### Memories

**[SUCCESS] Open and enter window** *(Ep1, T23-24)*
The window opens with effort.

**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*
Giving lunch to the troll only delays its attack.

### Tried

- `take window` ×3 *(Ep2, T31)*: You can't be serious.
- `eat mailbox` *(Ep1, T12)*: I don't think so.

---

## Location 23: Kitchen
**Visits:** 2 | **Episodes:** 1

### Memories

**[NOTE] Sack on the table** *(Ep1, T30)*
The sack holds lunch and garlic.

---

## World

### Memories

**[EVENT] The dam opened** *(Ep2, T90)*
Water is low now.

---
";

/// Texts that an agent is told from the base.
const TOLD: [&str; 9] = [
    "been here 3 times across 2 episodes",
    "[SUCCESS] Open and enter window (Ep1, T23-24)\n",
    "The window opens with effort.\n",
    "[DANGER] Troll attacks after accepting gifts (Ep2, T45)",
    "Giving lunch to the troll only delays its attack.\n",
    "take window ×3",
    "eat mailbox",
    "[NOTE] Sack on the table (Ep1, T30)\n  The sack holds lunch and garlic.\n",
    "[EVENT] The dam opened (Ep2, T90)\n  Water is low now.\n",
];

/// The result of `check --fix`.
#[derive(Clone, Copy)]
enum Fix {
    /// It gives the base back.
    Mends,
    /// It leaves the file byte for byte.
    Leaves,
    /// It puts this in the place of the edit.
    Writes(&'static str),
}
use Fix::{Leaves, Mends, Writes};

/// An edit: what it replaces in the base, by what, what `check` reports (line, column, kind), the fix.
type Edit = (&'static str, &'static str, &'static [(u64, u64, &'static str)], Fix);

const HEADING: &str = "## Location 15: West of House\n";
const TROLL: &str = "**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n";
const VISITS: &str = "**Visits:** 3 | **Episodes:** 1, 2\n";
const KITCHEN: &str = "---\n\n## Location 23: Kitchen\n";

/// Headings that are nearly ours.
const HEADINGS: [Edit; 10] = [
    (HEADING, "## Locaton 15: West of House\n", &[(3, 9, "broken_heading")], Mends),
    (HEADING, "## location 15: West of House\n", &[], Mends),
    (HEADING, "##Location 15: West of House\n", &[(3, 3, "broken_heading")], Mends),
    (HEADING, "### Location 15: West of House\n", &[(3, 3, "broken_heading")], Mends),
    (HEADING, "# Location 15: West of House\n", &[(3, 2, "broken_heading")], Mends),
    (HEADING, "## Location\u{a0}15: West of House\n", &[(3, 12, "broken_heading")], Mends),
    (HEADING, "## Location: West of House\n", &[(3, 14, "broken_heading")], Leaves),
    (HEADING, "## Location 15 West of House\n", &[(3, 15, "broken_heading")], Mends),
    (HEADING, "## Location 15 - West of House\n", &[], Mends),
    (HEADING, "## Location fifteen: West of House\n", &[(3, 13, "broken_heading")], Leaves),
];

/// Edits that the grammar takes as they are.
const TAKEN: [Edit; 6] = [
    ("\n---\n\n## Location 23", "\n## Location 23", &[], Leaves),
    ("### Memories\n\n**[SUCC", "### Memory\n\n**[SUCC", &[], Leaves),
    ("- `eat mailbox` *(", "- eat mailbox *(", &[], Mends),
    ("- `eat mailbox` *(", "* `eat mailbox` *(", &[], Mends),
    ("[SUCCESS]", "[success]", &[], Mends),
    (VISITS, "**Visits:** 3 | **Episodes:** 1, 2\r\n", &[], Leaves),
];

/// Entry lines that are nearly ones, and brackets and fields that are nearly known.
const ENTRIES: [Edit; 12] = [
    (
        TROLL,
        "\t**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 1, "broken_entry")],
        Leaves,
    ),
    (
        TROLL,
        "**DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 3, "broken_entry")],
        Mends,
    ),
    (
        TROLL,
        "[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 1, "broken_entry")],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER – CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 11, "broken_entry")],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after accepting gifts** (Ep2, T45, importance 900)\n",
        &[],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after accepting gifts** _(Ep2, T45, importance 900)_\n",
        &[],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after\naccepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 38, "broken_entry")],
        Mends,
    ),
    (
        TROLL,
        "**[DANGR - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 4, "near_category")],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 900)*\n",
        &[(11, 4, "near_category")],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2 T45, importance 900)*\n",
        &[],
        Mends,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance 9000)*\n",
        &[(11, 69, "broken_field")],
        Leaves,
    ),
    (
        TROLL,
        "**[DANGER - CORE] Troll attacks after accepting gifts** *(Ep2, T45, importance high)*\n",
        &[(11, 69, "broken_field")],
        Leaves,
    ),
];

/// Other lines that are nearly ours, and text that a person adds or takes away.
const OTHERS: [Edit; 11] = [
    (VISITS, "**Visits** 3 | **Episodes:** 1, 2\n", &[], Mends),
    ("### Tried\n", "### Tryed\n", &[(14, 7, "broken_heading")], Mends),
    ("×3", "x3", &[(16, 17, "broken_attempt")], Mends),
    (
        KITCHEN,
        "---\n\n## Kitchen\n\n**[NOTE] Thief** *(Ep1, T2)*\nBeware of the thief.\n\n---\n\n## Location 23: Kitchen\n",
        &[(21, 1, "lost_entries")],
        Leaves,
    ),
    (
        "- `eat",
        "**[NOTE] Thief** *(Ep1, T2)*\nBeware of the thief.\n- `eat",
        &[(17, 1, "entry_among_tries")],
        Leaves,
    ),
    (
        "window** *(Ep1, T23-24)*\nThe window opens with effort.",
        "window** *(Ep1, T23-24)*\n~~The window opens with effort.~~",
        &[(8, 1, "struck_live")],
        Writes("window** *(Ep1, T23-24)*\n~~The window opens with effort.~~"),
    ),
    (
        TROLL,
        "**[DANGER - CORE] Open and enter window** *(Ep2, T45, importance 900)*\n",
        &[(11, 19, "same_title")],
        Leaves,
    ),
    (
        "[SUCCESS] Open and enter window** *(Ep1, T23-24)*\n",
        "[SUCCESS - SUPERSEDED] Open and enter window** *(Ep1, T23-24)*\n[Superseded at Ep2 T1 by \"Gone\"]\n",
        &[(9, 1, "lost_reference")],
        Leaves,
    ),
    (
        "The window opens with effort.\n",
        "The window opens with effort.\n```\n",
        &[(10, 1, "unclosed_fence"), (22, 1, "viewer_misses_heading"), (32, 1, "viewer_misses_heading")],
        Leaves,
    ),
    (
        "The window opens with effort.\n",
        "The window opens with effort.\n<!-- why\n",
        &[(10, 1, "unclosed_comment"), (22, 1, "viewer_misses_heading"), (32, 1, "viewer_misses_heading")],
        Leaves,
    ),
    ("garlic.\n\n---\n", "garlic.\n---\n", &[(26, 1, "viewer_sees_heading")], Mends),
];

/// Notes of a person, which are nobody's memories.
const NOTES: [Edit; 3] = [
    (VISITS, "**Visits:** 3 | **Episodes:** 1, 2\n\n- Beware of the thief.\n", &[], Leaves),
    (VISITS, "**Visits:** 3 | **Episodes:** 1, 2\n\nBeware of the thief.\n", &[], Leaves),
    ("### Memories\n\n**[SUCC", "### Memories\n\n**Beware of the thief.**\n\n**[SUCC", &[], Leaves),
];

fn run(folder: &Path, args: &[&str]) -> (String, String) {
    let output = memories(folder, args).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Problems that `check` reports: line, column, kind.
fn checked(folder: &Path) -> Vec<(u64, u64, String)> {
    let answer: Value = serde_json::from_str(&run(folder, &["check", "--json"]).0).unwrap();
    let place = |problem: &Value| {
        let number = |name: &str| problem[name].as_u64().unwrap();
        (number("line"), number("column"), problem["kind"].as_str().unwrap().to_owned())
    };
    answer["problems"].as_array().unwrap().iter().map(place).collect()
}

fn recalled(folder: &Path) -> String {
    run(folder, &["recall", "15", "23", "world", "--all"]).0
}

/// Checks, recalls and mends one edited file, and says what is not as it should be.
fn try_edit(name: &str, text: &str, found: &[(u64, u64, &str)], fixed: &str, more: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (folder, path) = (folder.path(), folder.path().join("Memories.md"));
    fs::write(&path, text).unwrap();
    let mut wrong = Vec::new();
    let problems = checked(folder);
    let expected: Vec<(u64, u64, String)> =
        found.iter().map(|(line, column, kind)| (*line, *column, (*kind).to_owned())).collect();
    if problems != expected {
        wrong.push(format!("{name}: check reports {problems:?}, not {expected:?}"));
    }
    let hides = |kind: &str| matches!(kind, "broken_heading" | "lost_entries" | "broken_entry");
    let Reading { document, suspects, .. } = Reading::of(text.to_owned());
    let first = first_error(&document, &suspects).map(|problem| problem.line as u64);
    let hidden = problems.iter().find(|(_, _, kind)| hides(kind)).map(|(line, _, _)| *line);
    if first != hidden {
        wrong.push(format!("{name}: the first error is in line {first:?}, not {hidden:?}"));
    }
    let lost = |more: &[&str]| -> Vec<String> {
        let told = recalled(folder);
        let lost = TOLD.iter().chain(more).filter(|fact| !told.contains(**fact));
        lost.map(|fact| format!("{name}: {fact:?} is lost in silence")).collect()
    };
    if problems.is_empty() {
        wrong.extend(lost(more));
    }
    for round in ["first", "second"] {
        run(folder, &["check", "--fix"]);
        let text = fs::read_to_string(&path).unwrap();
        if text != fixed {
            wrong.push(format!("{name}: the {round} fix gives\n{text}"));
        }
    }
    if fixed == BASE {
        wrong.extend(lost(&[]));
    }
    wrong
}

#[test]
fn no_edit_of_a_line_loses_anything_in_silence() {
    let mut wrong = try_edit("the base", BASE, &[], BASE, &[]);
    for (old, new, found, fix) in HEADINGS.iter().chain(&TAKEN).chain(&ENTRIES).chain(&OTHERS) {
        assert_eq!(BASE.matches(old).count(), 1, "{old:?}");
        let text = BASE.replace(old, new);
        let fixed = match fix {
            Mends => BASE.to_owned(),
            Leaves => text.clone(),
            Writes(fixed) => BASE.replace(old, fixed).replace("[SUCCESS]", "[SUCCESS - SUPERSEDED]"),
        };
        let thief = text.contains("Beware").then_some("Beware of the thief.");
        wrong.extend(try_edit(&format!("{new:?}"), &text, found, &fixed, thief.as_slice()));
    }
    for (old, new, ..) in NOTES {
        let text = BASE.replace(old, new);
        wrong.extend(try_edit(&format!("{new:?}"), &text, &[], &text, &["Beware of the thief."]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_edit_of_a_whole_file_loses_anything_in_silence() {
    let start = BASE.find("## Location 23").unwrap();
    let end = BASE.find("## World").unwrap();
    let kitchen = &BASE[start..end];
    let moved = BASE.replace(kitchen, "").replace("## Location 15", &format!("{kitchen}## Location 15"));
    let mut wrong = try_edit("a moved section", &moved, &[], &moved, &[]);
    let twice = BASE.replace(kitchen, &kitchen.repeat(2));
    let found = [(31, 1, "second_section"), (36, 10, "same_title")];
    wrong.extend(try_edit("a section pasted twice", &twice, &found, BASE, &[]));
    let crlf = format!("\u{FEFF}{}", BASE.replace('\n', "\r\n"));
    wrong.extend(try_edit("CRLF and a byte order mark", &crlf, &[], &crlf, &[]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), "").unwrap();
    assert_eq!(checked(folder.path()), []);
}

/// A merge that git could not finish: nothing is written before a person has resolved it.
#[test]
fn a_conflict_is_named_and_left() {
    let ours = "The window opens with effort.\n";
    let conflict = format!("<<<<<<< HEAD\n{ours}=======\nIt is stuck.\n>>>>>>> theirs\n");
    let text = BASE.replace(ours, &conflict);
    let wrong = try_edit("a conflict", &text, &[(9, 1, "conflict")], &text, &[]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A file that is not UTF-8 is refused with a hint by every command that reads, and left as it is.
#[test]
fn another_encoding_is_refused() {
    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let units = std::iter::once(0xFEFF).chain(BASE.encode_utf16());
        units.flat_map(order).collect()
    };
    let latin = BASE.replace('×', "\u{1}").bytes().map(|byte| if byte == 1 { 0xD7 } else { byte }).collect();
    let files: [Vec<u8>; 3] = [latin, utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)];
    for bytes in files {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        fs::write(&path, &bytes).unwrap();
        for args in [
            &["check"][..],
            &["check", "--fix"],
            &["fmt"],
            &["recall", "15"],
            &["tried", "15", "wait"],
            &["query", "troll"],
            &["list"],
            &["show", "15"],
            &["add", "15", "--title", "x", "--text", "y"],
        ] {
            let (told, error) = run(folder.path(), args);
            assert!(told.is_empty() && error.contains("is not UTF-8"), "{args:?}: {told}{error}");
            assert!(error.contains("hint: ") && error.contains("UTF-8, for example with `iconv`"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

/// A file with these lines in its only section.
fn section(lines: &str) -> String {
    format!("# Location Memories\n\n## Location 1: A\n\n{lines}\n---\n\n## Location 2: B\n\n---\n")
}

/// Records a turn at place 1 that changes nothing; the file afterwards.
fn after_a_try(text: &str, action: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Memories.md"), text).unwrap();
    let turn = ["record", "--location", "1", "--episode", "1", "--turn", "99", "--world-changed=false"];
    let output = crate::program::memories(folder.path(), &turn)
        .args(["--action", action, "--response", "No."])
        .output();
    assert!(output.unwrap().status.success());
    std::fs::read_to_string(folder.path().join("Memories.md")).unwrap()
}

#[test]
fn lines_of_evidence_that_say_more_than_a_program_writes_stay() {
    for line in [
        "### Tried\n\n- `a` *(Ep1)*, `b` *(Ep1, T3)*: no\n",
        "### Tried\n\n- `take rug`, `eat the rug` *(Ep1, T1)*: You cannot lift the rug.\n",
        "### Tried\n\n- `b` *(Ep1, T3-9, needs sword)*, `c` *(Ep1, T4)*: nope\n",
        "### Tried\n\n- `b` *(Ep1, T3)*: yuck\n  I think it is metal.\n",
        "### Tried\n\n- `b`: A reply that a person wrote, who knows that it may be longer than the one hundred characters of a program are.\n",
        "### Ways\n\n- `north` → [B](#location-2-b) ×2 *(beware of the troll, Ep1, T3-9, #anna)*\n",
        "### Ways\n\n- `north` → [B](#location-2-b)\n  Take the lamp with you.\n\nThe maze is a trap, says Anna.\n",
    ] {
        let text = section(line);
        assert_eq!(memories::document::format::format(&text).text, text);
        let recorded = after_a_try(&text, "b");
        assert!(recorded.contains(line), "{line}\n{recorded}");
        let section = memories::document::Document::parse(recorded);
        let section = section.section(&memories::types::Scope::Location(1)).unwrap();
        let tried: Vec<_> = section.tried.iter().filter(|tried| tried.action == "b").collect();
        assert_eq!((tried.len(), tried[0].turn), (1, Some(99)), "{line}");
    }
}

#[test]
fn a_remark_under_a_list_of_evidence_is_a_note() {
    let text = section("### Ways\n\nThe maze is a trap, says Anna.\n\n- `north` → [B](#location-2-b)\n");
    let notes = memories::document::Document::parse(text)
        .section(&memories::types::Scope::Location(1))
        .unwrap()
        .notes;
    assert_eq!(notes.len(), 1);
}
