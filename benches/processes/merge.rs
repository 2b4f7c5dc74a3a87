//! Merging two files of 1 MB with 100 changes each, within this process, against the full parse of one of them.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use memories::document::merge::{Labels, merge as merge_texts};
use memories::document::{Document, EntryEdit, RegionKind};
use memories::types::{Attempt, Memory, Scope};

use crate::files::{FIRST_ID, ID_STEP, memories_file};
use crate::measure::pairs_of;
use crate::table::Table;
use crate::{Bench, MB, compare, milliseconds};

/// Changes of each side.
const CHANGES: usize = 100;

/// Entries of the large place; the file has 1 MB with them.
const ENTRIES: usize = 4000;

/// Longest time of a merge, and as a multiple of the parse of one side.
const LIMIT: Duration = Duration::from_millis(60);
const PARSES: f64 = 6.0;

pub fn merge(_: &Bench, table: &mut Table) {
    let (text, ids) = memories_file(MB);
    measure(table, "changes in many places", &text, |at| ids[at * 7 % ids.len()]);
    let text = large_place();
    measure(table, "changes in a place of 4,000 entries", &text, |_| FIRST_ID);
}

/// A file of 1 MB that is mostly one place.
fn large_place() -> String {
    let mut text = format!(
        "# Location Memories\n\n## Location {FIRST_ID}: Hall\n**Visits:** 3 | **Episodes:** 1\n\n### Memories\n"
    );
    for number in 0..ENTRIES {
        let written = write!(
            text,
            "\n**[NOTE] Thing {number}** *(Ep1, T{}, +0)*\nThe lever number {number} opens one door and shuts another one. \
             Pull it twice to come back.\n",
            number % 300
        );
        written.expect("a string takes all");
    }
    text.push_str("\n### Tried\n\n");
    for number in 0..400 {
        writeln!(text, "- `pull lever {number}` ×2 *(Ep1, T{number})*: Lever {number} is stuck.")
            .expect("a string takes all");
    }
    text.push_str("\n---\n\n");
    let (others, _) = memories_file(MB - text.len());
    // The places of the other file come behind it, under ids that are free.
    let others = others
        .replace(&format!("## Location {FIRST_ID}:"), &format!("## Location {}:", FIRST_ID + ID_STEP - 1));
    text + others.trim_start_matches("# Location Memories\n\n")
}

/// The text after the changes of a side. Both sides change what the other leaves, and count the same tries and visits.
fn side(base: &str, number: usize, place: impl Fn(usize) -> u64) -> String {
    let mut document = Document::parse(base.to_owned());
    for at in 0..CHANGES {
        let scope = Scope::Location(place(at));
        let entries = document.entries(&scope).count();
        // Of the entries that are there from the beginning, each side has its own.
        let entry = (at * 2 + number) % entries.min(ENTRIES);
        let title = format!("Side {number} change {at}");
        let made = match at % 5 {
            0 => {
                let memory =
                    Memory::new("NOTE".parse().expect("a category"), title, "It was seen on this side.");
                document.add(&scope, "", &memory)
            }
            1 | 2 => {
                let mut entry = document.entry_mut(&scope, entry).expect("it is there");
                let mut memory = entry.memory();
                if at % 5 == 1 {
                    memory.text.push_str(&format!(" {title}."));
                } else {
                    memory.provenance.importance = Some(900);
                }
                entry.edit(EntryEdit::Revise(memory));
                Ok(())
            }
            3 => {
                let tried = document.section(&scope).expect("it is there").tried;
                let known = &tried[at % tried.len()];
                let again = Attempt {
                    count: known.count + 1,
                    episode: Some(4),
                    turn: Some(at as u64),
                    ..known.clone()
                };
                document.put_attempt(&scope, "", RegionKind::Tried, &again, usize::MAX)
            }
            _ => document.visit(&scope, "", 4, None),
        };
        made.expect("the file takes it");
    }
    document.into_text().expect("it is read as it was meant")
}

fn measure(table: &mut Table, what: &str, base: &str, place: impl Fn(usize) -> u64) {
    let [ours, theirs] = [0, 1].map(|number| side(base, number, &place));
    let merged = merge_texts(base, &ours, &theirs, Labels::default());
    assert!(merged.conflicts.is_empty(), "{what}: {:?}", merged.conflicts);
    for number in 0..2 {
        let added = format!("**[NOTE] Side {number} change ");
        assert_eq!(merged.text.matches(&added).count(), CHANGES / 5, "{what}: what a side added is there");
    }
    let merging = |_| {
        let [base, ours, theirs] = [base, &ours, &theirs].map(str::to_owned);
        timed(|| merge_texts(&base, &ours, &theirs, Labels::default()))
    };
    let parsing = |_| {
        let ours = ours.clone();
        timed(|| {
            let document = Document::parse(ours);
            (document.sections(), document)
        })
    };
    let figures = pairs_of(merging, parsing);
    let details = format!("{} changes a side; median of {} merges", CHANGES, figures.count);
    let limit = milliseconds(LIMIT);
    table.line(
        &format!("merge of 1 MB, {what}"),
        milliseconds(figures.a),
        limit,
        figures.a <= LIMIT,
        &details,
    );
    compare(table, &format!("merge of 1 MB, {what} : full parse of a side"), PARSES, &figures);
}

/// The time of a call without that of freeing what it gave.
fn timed<T>(call: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    let made = black_box(call());
    let time = began.elapsed();
    drop(made);
    time
}
