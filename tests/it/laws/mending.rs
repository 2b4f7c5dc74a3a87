//! `check --fix` as properties: it settles, it loses no line, and it makes nothing of what a program wrote.

use memories::document::Document;
use memories::document::check::{Reading, first_error, problems};
use memories::document::evidence::parse_attempts;
use memories::document::format::{format, mend};
use memories::types::{Attempt, Scope};
use proptest::prelude::*;

use super::{file, memory};

/// The words of a line, without marks and what the canonical form leaves out.
fn words(line: &str) -> Vec<String> {
    let dropped = ["PERMANENT", "ACTIVE", "SUPERSEDED", "ID", "LOCATION", "LOCATON"];
    let words = line.split(|c: char| !c.is_alphanumeric()).map(str::to_uppercase);
    // `x3` becomes `×3`, and `×1` is not written.
    let is_count = |word: &String| word.bytes().all(|byte| byte == b'X' || byte.is_ascii_digit());
    let words = words.filter(|word| !is_count(word));
    let mut words: Vec<String> =
        words.filter(|word| !word.is_empty() && !dropped.contains(&word.as_str())).collect();
    words.sort();
    words
}

/// The actions that a file lists.
fn evidence(text: String) -> Vec<Attempt> {
    let sections = Document::parse(text).sections();
    sections.into_iter().flat_map(|(_, section)| [section.tried, section.worked].concat()).collect()
}

/// A text's byte order mark, which may be empty, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len())
}

proptest! {
    #![proptest_config(crate::cases(256))]

    /// Mending settles, leaves a clean file alone, and changes only lines that it names, whose words stay.
    #[test]
    fn mending_loses_no_line(text in file()) {
        let mended = mend(&text);
        prop_assert_eq!(&mend(&mended.text).text, &mended.text);
        prop_assert!(!problems(&text).is_empty() || format(&text).text == mended.text);
        // A byte order mark is no part of the first line: it stays, and no change names it.
        let (mark, old) = split_mark(&text);
        let (new_mark, new) = split_mark(&mended.text);
        prop_assert_eq!(new_mark, mark);
        let mut new = new.split_inclusive('\n');
        let mut old = old.split_inclusive('\n').enumerate();
        let mut changes = mended.changes.iter().peekable();
        while let Some((at, line)) = old.next() {
            while changes.next_if(|change| change.line == at + 1 && change.before.is_none()).is_some() {
                prop_assert_eq!(new.next().map(str::trim), Some(""));
            }
            let Some(change) = changes.next_if(|change| change.line == at + 1) else {
                prop_assert_eq!(new.next(), Some(line));
                continue;
            };
            let before = change.before.as_deref().expect("a line that was there");
            for _ in 0..before.matches('\n').count() {
                old.next();
            }
            let Some(after) = &change.after else { continue };
            prop_assert_eq!(new.next().map(|line| line.trim_end_matches(['\r', '\n'])), Some(after.as_str()));
            let known = after.starts_with("### ") || after.contains("[DANGER") || parse_attempts(after).is_some();
            prop_assert!(known || words(before) == words(after), "{:?}", change);
        }
        prop_assert_eq!((new.next(), changes.next()), (None, None));
        let (before, after) = (evidence(text), evidence(mended.text.clone()));
        let kept = |attempt: &Attempt| after.iter().any(|kept| (&kept.action, kept.count) == (&attempt.action, attempt.count));
        prop_assert!(before.iter().all(kept), "{:?} of {:?}", after, before);
    }

    /// The first error is what a whole check finds, and nothing that a program writes is one.
    #[test]
    fn the_first_error_is_the_first_that_check_names(text in file(), memory in memory()) {
        let hides = ["broken_heading", "lost_entries", "broken_entry"];
        let named = problems(&text).into_iter().find(|problem| hides.contains(&<&str>::from(&problem.kind)));
        let Reading { document, suspects, .. } = Reading::of(text.clone());
        prop_assert_eq!(first_error(&document, &suspects), named);
        let mut document = Document::parse(String::new());
        document.add(&Scope::World, "", &memory).expect("nothing is open in a file of ours");
        let written = document.into_text().expect("read as meant");
        prop_assert_eq!(mend(&written).text, written);
    }
}
