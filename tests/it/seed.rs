//! Seeding again: changes of the seed and changes of a person are told apart, whatever the texts.

use memories::document::Document;
use memories::notebook::files::Files;
use memories::seed::{Cast, SeedFormat, SeedOptions, SeedOutcome, SeedReport, SeedSource, read, seed};
use memories::types::Scope;
use proptest::prelude::*;
use serde_json::json;

fn cast(yaml: &str) -> Cast {
    let source = SeedSource { name: "a.yaml".to_owned(), format: SeedFormat::Yaml, text: yaml.to_owned() };
    read(&[source]).unwrap()
}

fn seeded(text: &str, yaml: &str, options: SeedOptions) -> (String, SeedReport) {
    seeded_cast(text, &cast(yaml), options)
}

fn seeded_json(text: &str, json: &str) -> (String, SeedReport) {
    let source = SeedSource { name: "a.json".to_owned(), format: SeedFormat::Json, text: json.to_owned() };
    seeded_cast(text, &read(&[source]).unwrap(), SeedOptions::default())
}

fn seeded_cast(text: &str, cast: &Cast, options: SeedOptions) -> (String, SeedReport) {
    let mut files = Files::new(Document::parse(text.to_owned()), Document::parse(String::new()));
    let report = seed(&mut files, cast, &options).unwrap();
    assert_eq!(files.lasting.is_edited(), report.changes_the_file());
    (files.lasting.into_text().unwrap(), report)
}

const SEED: &str =
    "id: ann\nname: Ann\ntraits: [brave]\nskills: diving\nvalues: |\n  # not a heading\n\n  - [x] kept\n";

#[test]
fn seeding_twice_changes_nothing_whatever_the_file() {
    for before in ["", "\u{FEFF}# Mine\r\n\r\ntext", "## Scene\n\n## Agent ann\n\n---\n\n## Agent ann: Ann\n"]
    {
        let (once, first) = seeded(before, SEED, SeedOptions::default());
        assert_eq!(first.count(SeedOutcome::Stored), 4, "{once}");
        let (twice, second) = seeded(&once, SEED, SeedOptions { force: true, prune: true });
        assert_eq!((twice == once, second.count(SeedOutcome::Unchanged)), (true, 4), "{once}");
    }
}

#[test]
fn each_change_is_told_from_every_other() {
    let (given, _) = seeded("", SEED, SeedOptions::default());
    let theirs = given.replace("diving", "diving, deep");
    let newer = SEED.replace("diving", "sailing");
    let one = |text: &str, yaml: &str, force: bool| {
        let (text, report) = seeded(text, yaml, SeedOptions { force, prune: false });
        let outcome = report.changes.iter().find(|change| change.title == "Skills").unwrap().outcome;
        (outcome, text.contains("sailing"), text.contains("deep"))
    };
    assert_eq!(one(&given, SEED, false), (SeedOutcome::Unchanged, false, false));
    assert_eq!(one(&given, &newer, false), (SeedOutcome::Revised, true, false));
    assert_eq!(one(&theirs, SEED, false), (SeedOutcome::Edited, false, true));
    assert_eq!(one(&theirs, SEED, true), (SeedOutcome::Revised, false, true));
    assert_eq!(one(&theirs, &newer, false), (SeedOutcome::Kept, false, true));
    assert_eq!(one(&theirs, &newer, true), (SeedOutcome::Revised, true, true));
    // The person had written before what the seed says now.
    let same = given.replace("diving", "sailing");
    assert_eq!(one(&same, &newer, false), (SeedOutcome::Revised, true, false));
    assert_eq!(
        one(&seeded(&same, &newer, SeedOptions::default()).0, &newer, false).0,
        SeedOutcome::Unchanged
    );
}

#[test]
fn what_a_person_adds_to_an_entry_outlives_a_revision() {
    let (given, _) = seeded("", SEED, SeedOptions::default());
    let line = given.lines().find(|line| line.contains("Skills")).unwrap();
    let mine = line.replace("*(", "*(importance 900, ").replace(")*", ", #sea)*");
    let theirs = given.replace(line, &mine).replace("diving\n", "diving\nSee also: [[Scene › Time]]\n");
    let (text, report) = seeded(&theirs, &SEED.replace("diving", "sailing"), SeedOptions::default());
    assert_eq!(report.count(SeedOutcome::Revised), 1);
    for kept in ["importance 900", "#sea", "See also: [[Scene › Time]]", "sailing"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn an_entry_is_found_again_under_another_kind_or_title() {
    let (given, _) = seeded("", SEED, SeedOptions::default());
    let theirs = given.replace("[SKILLS - CORE] Skills", "[NOTE] What she can do");
    let (text, report) = seeded(&theirs, SEED, SeedOptions::default());
    assert_eq!((text == theirs, report.count(SeedOutcome::Edited)), (true, 1), "{text}");
}

/// Texts that need escaping, because they would be read as something else.
fn hostile() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        r"[ ]{0,3}[\\#=\-*_`~<>\[\]!:.a-cSC0-9\t ]{0,12}",
        Just("**[TRAITS] Traits** *(source:seed:00000000)*".to_owned()),
        Just("## Agent ann: Other".to_owned()),
        Just("Context: x".to_owned()),
        Just("See also: [[World › y]]".to_owned()),
        Just("```".to_owned()),
        Just("<!--".to_owned()),
        "\\PC{0,20}",
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
}

#[test]
fn whoever_is_named_twice_is_told_of_once() {
    let yaml = "id: ann\nrelationships:\n- {to: Mum, text: Calls.}\n- {to: bo, text: Shy.}\n- {to: mum, text: Cooks.}\n";
    let (text, report) = seeded("", yaml, SeedOptions::default());
    assert_eq!((report.count(SeedOutcome::Stored), report.changes.len()), (3, 3), "{text}");
    assert!(text.contains("Mum.\nRelationship: Calls.\nRelationship: Cooks.\n"), "{text}");
    assert!(!seeded(&text, yaml, SeedOptions::default()).1.changes_the_file());
}

proptest! {
    #[test]
    fn whatever_is_seeded_is_there_and_seeding_again_changes_nothing(
        names in prop::collection::vec("[\\*a `\\]#:\\PC]{0,30}", 2),
        texts in prop::collection::vec(hostile(), 4),
        list in prop::collection::vec(hostile(), 0..3),
        crlf: bool,
    ) {
        let whole = json!({
            "agents": [
                {"id": "ann", "name": names[0], "role": names[1], "background": texts[0], "traits": list,
                 "relationships": {"bo": texts[1], "someone-else": texts[2]}},
                {"id": "bo", "name": names[1], "description": texts[3]},
            ],
            "scenario": {"location": texts[3], "context": texts[0]},
        });
        let before = if crlf { "# Mine\r\n\r\nwords\r\n" } else { "" };
        let (once, first) = seeded_json(before, &whole.to_string());
        let (twice, second) = seeded_json(&once, &whole.to_string());
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(second.count(SeedOutcome::Unchanged), second.changes.len());
        prop_assert_eq!(first.count(SeedOutcome::Stored), first.changes.len());
        let document = Document::parse(once);
        let all: usize = document.sections().iter().map(|(_, section)| section.memories.len()).sum();
        prop_assert_eq!(all, first.changes.len());
        prop_assert!(document.section(&Scope::Agent("ann".to_owned())).is_some());
    }
}
