//! `report`: the page of five real episodes, and that of a large world with a history of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::files::memories_file;
use crate::measure::times;
use crate::table::Table;
use crate::{Bench, milliseconds};

/// Longest time for the five episodes.
const EPISODES_LIMIT: Duration = Duration::from_millis(180);

/// Longest time for the large world.
const WORLD_LIMIT: Duration = Duration::from_secs(3);

/// Bytes of a file with 1,250 places and 10,000 memories.
const WORLD: usize = 6_250_000;

/// Turns that were recorded in it.
const TURNS: u64 = 5000;

pub fn report(bench: &Bench, table: &mut Table) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/turns");
    let file = bench.file("episodes", "");
    for episode in 1..=5 {
        record(bench, &file, &fixtures.join(format!("zork1_ep{episode}.jsonl")));
    }
    measure(bench, table, "`report` of five episodes", &file, EPISODES_LIMIT);
    let (text, ids) = memories_file(WORLD);
    let file = bench.file("world", &text);
    let turns: String = (0..TURNS).map(|number| turn(&ids, number)).collect();
    let turns = bench.file("turns.jsonl", &turns);
    record(bench, &file, &turns);
    measure(bench, table, &format!("`report` of {} places", ids.len()), &file, WORLD_LIMIT);
}

/// A turn somewhere in the world: every third one fails.
fn turn(ids: &[u64], number: u64) -> String {
    let place = |number: u64| ids[(number * 7 % ids.len() as u64) as usize];
    let (here, next) = (place(number), place(number + 1));
    let to = if number.is_multiple_of(3) { here } else { next };
    let turn = json!({"episode": 1 + number / 1000, "turn": number % 1000, "action": format!("go to door {number}"),
        "response": "Done.", "location_before": {"id": here}, "location_after": {"id": to}});
    format!("{turn}\n")
}

fn record(bench: &Bench, file: &Path, turns: &PathBuf) {
    let mut command = bench.memories(file);
    let status = command.args(["record", "--provider", "offline", "-q", "--turns"]).arg(turns).status();
    assert!(status.expect("the program starts").success());
}

fn measure(bench: &Bench, table: &mut Table, what: &str, file: &Path, limit: Duration) {
    let times = times(|| {
        let mut command = bench.memories(file);
        command.args(["report", "-o", "-"]);
        command
    });
    let at = |part: usize| times[(times.len() - 1) * part / 4];
    let details =
        format!("half of {} runs within {}–{}", times.len(), milliseconds(at(1)), milliseconds(at(3)));
    table.line(what, milliseconds(at(2)), milliseconds(limit), at(2) <= limit, &details);
}
