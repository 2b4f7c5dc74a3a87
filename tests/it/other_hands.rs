//! What other hands write for the lines of the format: people, models, editors.
//!
//! Each variant of a line is read as the canonical line, or `check` reports it; `check --fix` never makes anything else
//! of it, and the next `record` writes no second section and no second line of visits.

use std::fs;

use memories::document::check::problems;
use memories::document::format::{format, mend};
use memories::document::{Document, Section};
use memories::types::Scope;

use crate::program::memories;

const BASE: &str = "\
# Location Memories

## Location 15: West of House
**Visits:** 3 | **Episodes:** 1, 2, 3, 4

### Memories

**[SUCCESS] Open window** *(Ep1, T23-24, +5)*
The window opens with effort.

**[DANGER] Troll** *(Ep2, T45, -10, importance 900, #troll)*
Never come unarmed.

### Ways

- `north` → [Kitchen](#location-16-kitchen) ×2 *(Ep1, T9)*

### Tried

- `take window` ×3 *(Ep2, T31)*: You can't be serious.

---

## Location 16: Kitchen

### Memories

**[NOTE] Sack** *(Ep1, T2)*
A sack stands here.

---
";

const HEADING: &str = "## Location 15: West of House\n";
const VISITS: &str = "**Visits:** 3 | **Episodes:** 1, 2, 3, 4\n";
const WINDOW: &str = "**[SUCCESS] Open window** *(Ep1, T23-24, +5)*\n";
const TROLL: &str = "**[DANGER] Troll** *(Ep2, T45, -10, importance 900, #troll)*\n";
const WAY: &str = "- `north` → [Kitchen](#location-16-kitchen) ×2 *(Ep1, T9)*\n";
const TRY: &str = "- `take window` ×3 *(Ep2, T31)*: You can't be serious.\n";

/// Lines that are read as the canonical one.
const READ: &[(&str, &str)] = &[
    (HEADING, "## Location #15: West of House\n"),
    (HEADING, "## Location 15 – West of House\n"),
    (HEADING, "## Location 15 — West of House\n"),
    (HEADING, "## Location 15. West of House\n"),
    (HEADING, "## LOCATION 15: West of House\n"),
    (HEADING, "## Location (15): West of House\n"),
    (HEADING, "## Location １５： West of House\n"),
    (HEADING, "## **Location 15: West of House**\n"),
    (HEADING, "## West of House (Location 15)\n"),
    (HEADING, "## West of House [location #15]\n"),
    (HEADING, "## Location: West of House (ID: 15)\n"),
    (VISITS, "**Visits**: 3 | **Episodes**: 1-4\n"),
    (VISITS, "**Visits:** 3 | **Episodes:** 1–4\n"),
    (VISITS, "Visits: 3, Episodes: 1, 2, 3 and 4\n"),
    (VISITS, "- **Visits:** 3 | **Episodes:** Ep1-Ep4\n"),
    (VISITS, "__Visits:__ 3 | __Episodes:__ 1 to 4\n"),
    (VISITS, "\n*Visits: 3 | Episodes: 1, 2, 3, 4*\n"),
    ("### Memories\n\n**[SUCC", "### Memories:\n\n**[SUCC"),
    ("### Memories\n\n**[SUCC", "#### **memories**\n\n**[SUCC"),
    ("### Memories\n\n**[SUCC", "### Memories ###\n\n**[SUCC"),
    ("### Ways\n", "### WAYS:\n"),
    ("### Tried\n", "#### tried\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23–24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23—T24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23 to T24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23..24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Episode 1, Turns 23-24, +5 points)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Episode: 1; Turn: 23-24; Score: +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1/T23-24, score +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1 T23-24 +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(EP. 1 | T23-24 | +5 pts)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(episode #1 at turns 23 through 24, score change: +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ｅｐ１, Ｔ２３－２４, ＋５)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(**Ep1**, `T23-24`, \\+5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *([Ep1], T23 - T24, + 5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** _(Ep1, T23-24, +5)_\n"),
    (WINDOW, "**[SUCCESS] Open window** (Ep1, T23-24, +5)\n"),
    (WINDOW, "__[SUCCESS] Open window__ _(Ep1, T23-24, +5)_\n"),
    (WINDOW, "**\\[SUCCESS\\] Open window** _(Ep1, T23-24, +5)_\n"),
    (WINDOW, "**\\[SUCCESS] Open window** _(Ep1, T23-24, +5)*\n"),
    (WINDOW, "**[Success] Open window** *(Ep1, T23-24, +5)*\n"),
    (TROLL, "**[DANGER] Troll** *(Ep2, T45, −10, Importance: 900, #troll)*\n"),
    (TROLL, "**[DANGER] Troll** *(Ep2, T45, –10 points, importance 900/1000, #troll)*\n"),
    (WAY, "* `north` -> Location 16: Kitchen ×2 *(Ep1, T9)*\n"),
    (WAY, "+ `north` → [Kitchen](#location-16-kitchen) ×2 _(Episode 1, Turn 9)_\n"),
    (TRY, "* `take window` ×3 _(Ep2/T31)_: You can't be serious.\n"),
    (TRY, "- take window ×3 *(Ep2, T31)*: You can't be serious.\n"),
    (TRY, "- ‘take window’ ×3 *(Ep2, T31)*: You can't be serious.\n"),
    (TRY, "- “take window” ×3 *(Ep2, T31)*: You can't be serious.\n"),
];

/// Lines that `check` reports.
const REPORTED: &[(&str, &str)] = &[
    (HEADING, "## Locaton 15: West of House\n"),
    (HEADING, "## Location 15 West of House\n"),
    (HEADING, "### Location 15: West of House\n"),
    (HEADING, "## Location 15-16: West of House\n"),
    (VISITS, "**Visits:** 3 | **Episodes:** 4-1\n"),
    (VISITS, "**Visits:** three | **Episodes:** 1, 2\n"),
    (VISITS, "**Visits:** 3 | **Episodes:** 1, 2, 3, 4 | **Episodes:** 1\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1-3, T23-24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Episodes 1 and 2, T23-24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T24-T23, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23/24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, around turn 23, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23-24, 5 points)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23-24, Score: 5/350)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23-24, Score: −5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(E1, T23-24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(31.01.2026, Ep1)*\n"),
    (WINDOW, "- **[SUCCESS] Open window** *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "- **[SUCCESS] Open window** *(Ep1, T23-24, +5)*: It opens.\n"),
    (WINDOW, "1. **[SUCCESS] Open window** *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "> **[SUCCESS] Open window** *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "#### [SUCCESS] Open window (Ep1, T23-24, +5)\n"),
    (WINDOW, "### **[SUCCESS] Open window** *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "**[SUCCESS]** Open window *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "**SUCCESS: Open window** *(Ep1, T23-24, +5)*\n"),
    (WINDOW, "**[SUCCESS] Open window** *(Ep1, T23-24, +5)* It opens.\n"),
    (WINDOW, "<b>[SUCCESS] Open window</b> (Ep1, T23-24, +5)\n"),
    (TROLL, "- **[DANGER] Troll** *(Ep2, T45)*: Never come unarmed.\n"),
    (TROLL, "#### [DANGER] Troll (Ep2, T45, -10, importance 900, #troll)\n"),
    (TROLL, "## [DANGER] Troll (Ep2, T45, -10)\n"),
    (TROLL, "**[DANGER] Troll** *(Ep2, T45, -10, importance 9, #troll)*\n"),
    (TROLL, "**[DANGER] Troll** *(Ep2, T45, -10, importance 9/10, #troll)*\n"),
    (TROLL, "**[DANGER] Troll** *(Ep2, T45, -10, importance 9000, #troll)*\n"),
    ("### Ways\n\n", ""),
    ("### Tried\n\n", ""),
    ("## Location 16: Kitchen", "## Location 17: Kitchen"),
    ("A sack stands here.", "~~A sack stands here.~~"),
    ("# Location Memories\n", "# Location Memories\n<!-- memories: format 2 -->\n"),
];

fn facts(text: &str) -> Vec<(Scope, Section)> {
    Document::parse(text.to_owned()).sections()
}

fn edited(old: &str, new: &str) -> String {
    assert_eq!(BASE.matches(old).count(), 1, "{old:?}");
    BASE.replace(old, new)
}

#[test]
fn each_variant_is_read_as_meant() {
    let meant = facts(BASE);
    for (old, new) in READ {
        let text = edited(old, new);
        assert_eq!(facts(&text), meant, "{new}");
        let found: Vec<String> = problems(&text).iter().map(|problem| problem.kind.to_string()).collect();
        assert_eq!(found, [""; 0], "{new}");
        for fixed in [mend(&text).text, format(&text).text] {
            assert_eq!(facts(&fixed), meant, "{new}\n{fixed}");
        }
    }
}

#[test]
fn each_other_variant_is_reported_and_stays_what_it_is() {
    let meant = facts(BASE);
    for (old, new) in REPORTED {
        let text = edited(old, new);
        assert!(!problems(&text).is_empty(), "{new} is not reported");
        let fixed = mend(&text).text;
        let (before, after) = (facts(&text), facts(&fixed));
        let is_struck = new.starts_with("~~");
        assert!(after == before || after == meant || is_struck, "{new} becomes\n{fixed}");
        assert_eq!(facts(&format(&text).text), before, "{new}");
    }
}

#[test]
fn fields_that_are_not_understood_keep_their_place() {
    for fields in ["Ep1-3, T44, +0", "so I think, T4, Ep1", "+0, about 5, Ep1, T2", "T24-T23, Ep1"] {
        let line = format!("**[SUCCESS] Open window** *({fields})*\n");
        let text = edited(WINDOW, &line.replace("[SUCCESS]", "[success]"));
        for fixed in [mend(&text).text, format(&text).text] {
            assert_eq!(fixed, edited(WINDOW, &line), "only the brackets become canonical");
        }
    }
}

/// Records a turn at the place; the file afterwards, and what was said.
fn after_a_turn(text: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    fs::write(&path, text).unwrap();
    let turn = ["record", "--location", "15", "--episode", "5", "--turn", "1", "--action", "wait"];
    let output = memories(folder.path(), &turn).args(["--response", "Time passes."]).output().unwrap();
    (fs::read_to_string(&path).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_next_record_writes_no_second_section_and_no_second_line_of_visits() {
    for (old, new) in READ.iter().chain(REPORTED).filter(|(old, _)| [HEADING, VISITS].contains(old)) {
        let text = edited(old, new);
        let (recorded, said) = after_a_turn(&text);
        if recorded == text {
            assert!(said.contains("hint: "), "{new}: {said}");
            continue;
        }
        let section: Vec<_> =
            facts(&recorded).into_iter().filter(|(scope, _)| *scope == Scope::Location(15)).collect();
        let headings = recorded.lines().filter(|line| line.starts_with("## ")).count();
        assert_eq!((section.len(), headings), (1, 2), "{new}\n{recorded}");
        if !new.contains("three") {
            assert_eq!(section[0].1.visits, 4, "{new}\n{recorded}");
            assert_eq!(recorded.to_lowercase().matches("visits").count(), 1, "{new}\n{recorded}");
        }
    }
}

#[test]
fn a_file_of_a_newer_format_is_read_and_not_written() {
    let text = edited("# Location Memories\n", "# Location Memories\n<!-- memories: format 2 -->\n");
    let (recorded, said) = after_a_turn(&text);
    assert_eq!(recorded, text);
    assert!(said.contains("line 2: the file has format 2, and this program knows format 1"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), &text).unwrap();
    let recall = memories(folder.path(), &["recall", "15"]).output().unwrap();
    let (told, said) = (String::from_utf8_lossy(&recall.stdout), String::from_utf8_lossy(&recall.stderr));
    assert!(told.contains("Open window") && said.contains("the file has format 2"), "{told}{said}");
    for args in [&["fmt"][..], &["add", "16", "--title", "x", "--text", "y"]] {
        let output = memories(folder.path(), args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("format 2"), "{args:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("Memories.md")).unwrap(), text);
}

#[test]
fn what_a_person_struck_is_not_recalled() {
    let folder = tempfile::tempdir().unwrap();
    let text = BASE.replace("A sack stands here.", "- ~~A sack stands here.~~\n\n~~It smells.~~");
    fs::write(folder.path().join("Memories.md"), text).unwrap();
    let told = memories(folder.path(), &["recall", "16"]).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(!told.contains("Sack") && !told.contains("sack"), "{told}");
}

#[test]
fn blank_lines_of_a_file_stay() {
    for blank in ["\n\n", "  \n\t\n", "   ", "\r\n\r\n"] {
        let (recorded, said) = after_a_turn(blank);
        assert!(recorded.starts_with(blank) && recorded.contains("## Location 15"), "{recorded:?}{said}");
    }
}

#[test]
fn line_ends_of_old_macs_are_reported_and_a_reader_is_warned() {
    let folder = tempfile::tempdir().unwrap();
    let text = BASE.replace('\n', "\r");
    fs::write(folder.path().join("Memories.md"), &text).unwrap();
    let check = memories(folder.path(), &["check"]).output().unwrap();
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(said.contains("a carriage return alone ends no line"), "{said}");
    let recall = memories(folder.path(), &["recall", "15"]).output().unwrap();
    let said = String::from_utf8_lossy(&recall.stderr).into_owned();
    assert!(said.contains("carriage return"), "{said}");
}

/// What each formatter makes of one file with its defaults; `tests/clients/formatters.py` runs the programs themselves.
#[test]
fn a_file_means_the_same_after_each_formatter() {
    let original = include_str!("../../fixtures/formatters/original.md");
    assert_eq!(format(original).text, original);
    for (formatter, text) in [
        ("Prettier", include_str!("../../fixtures/formatters/prettier.md")),
        ("dprint", include_str!("../../fixtures/formatters/dprint.md")),
        ("mdformat", include_str!("../../fixtures/formatters/mdformat.md")),
        ("markdownlint", include_str!("../../fixtures/formatters/markdownlint.md")),
    ] {
        assert_ne!(text, original, "{formatter}");
        for text in [text, &mend(text).text] {
            assert_eq!(facts(text), facts(original), "{formatter}");
            assert_eq!(problems(text), [], "{formatter}");
        }
    }
}
