//! Files that ZorkGPT and similar programs write: read correctly, reported sensibly, and fast.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use crate::program::memories;
use assert_cmd::Command;
use memories::document::Document;
use memories::document::check::problems;
use memories::document::format::format;
use memories::types::{Cause, Persistence, Scope, Status};

/// A file of about this size: no title line, descending ids, explicit `- PERMANENT - ACTIVE`.
fn zorkgpt_file(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4096);
    let mut id = 20_000;
    while text.len() < bytes {
        id -= 7;
        let heading = match id % 2 {
            0 => format!("## Location {id}: Cave {id}"),
            _ => format!("## Location: Cave {id} (ID: {id})"),
        };
        let _ = write!(text, "{heading}\n**Visits:** 3 | **Episodes:** 1, 2\n\n### Memories\n\n");
        for number in 0..6 {
            let _ = write!(
                text,
                "**[NOTE - PERMANENT - ACTIVE] Way {number} out of the cave** *(Ep1, T{number}-{}, +0, Goal: get out, \
                 then north - or up)*\n1. The {number}th way leads up a rope, as far as anybody knows.\n2. It needs a \
                 free hand; leave the sack, the bottle and the garlic below, and come back for them.\n\n",
                number + 2
            );
        }
        text.push_str(
            "**[DANGER - PERMANENT - SUPERSEDED] Bats carry you off** *(Ep1, T20)*\n[Superseded at T45 by \"Way 1 out \
             of the cave\"]\n~~They do not like garlic.~~\n\n**[FAILURE - PERMANENT - SUPERSEDED] Rope is rotten** \
             *(Ep1, T21)*\n[Invalidated at T25: \"it held\"]\nIt tears.\n\n---\n\n",
        );
    }
    text
}

#[test]
fn a_file_of_the_kin_is_read_right() {
    let text = zorkgpt_file(120_000);
    assert_eq!(problems(&text), []);
    let document = Document::parse(text.clone());
    let ids: Vec<Scope> = document.headings().map(|heading| heading.scope.clone()).collect();
    assert!(ids.len() > 50 && ids.is_sorted_by(|one, next| one > next));
    for scope in &ids {
        let section = document.section(scope).unwrap();
        assert!(section.name.starts_with("Cave ") && section.visits == 3);
        let first = &section.memories[0];
        assert_eq!((first.persistence, first.status), (Persistence::Permanent, Status::Active));
        assert_eq!(first.provenance.goal.as_deref(), Some("get out, then north - or up"));
        assert!(first.text.starts_with("1. ") && first.text.contains("\n2. "));
        let causes: Vec<Cause> =
            section.memories.iter().filter_map(|memory| Some(memory.reference.clone()?.cause)).collect();
        let expected = [
            Cause::SupersededBy("Way 1 out of the cave".to_owned()),
            Cause::Invalidated("it held".to_owned()),
        ];
        assert_eq!(causes, expected);
        assert_eq!(section.live().count(), 6);
    }
    let formatted = format(&text);
    assert!(!formatted.text.contains("PERMANENT") && !formatted.text.contains("(ID:"));
    let after = Document::parse(formatted.text);
    assert!(ids.iter().all(|scope| document.section(scope) == after.section(scope)));
}

/// At most 20 ms for 1 MB: the best of several runs, since the machine may be busy. Debug builds only print the time of
/// one run.
#[test]
fn check_and_fmt_are_fast() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), format(&zorkgpt_file(1_000_000)).text).unwrap();
    for arguments in [["check", "-q"], ["fmt", "--check"]] {
        let runs = if cfg!(debug_assertions) { 1 } else { 20 };
        let best = (0..runs).map(|_| {
            let mut command = Command::from_std(memories(folder.path(), &arguments));
            let start = Instant::now();
            command.assert().success();
            start.elapsed()
        });
        let best = best.min().unwrap();
        println!("{arguments:?} of 1 MB: {best:.1?}");
        if !cfg!(debug_assertions) {
            assert!(best < Duration::from_millis(20), "{arguments:?} took {best:?}");
        }
    }
}
