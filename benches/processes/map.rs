//! `path` and `recall` over a large map, and the picture of a smaller one.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use crate::measure::{pairs, times};
use crate::table::Table;
use crate::{Bench, compare, milliseconds};

/// Places on each side of a square grid.
const SIDE: u64 = 100;

/// The limit of `path` for the whole process.
const LIMIT: Duration = Duration::from_millis(200);

/// Places on each side of the grid that is drawn.
const DRAWN_SIDE: u64 = 32;

/// The limit of `map --format svg` for the whole process.
const DRAWN_LIMIT: Duration = Duration::from_millis(300);

/// A best run at the edge of a grid.
const BEST_RUN: &str = "## Game\n\n### Memories\n\n**[PROCEDURE] Best run** *(Ep3, T1-2, score 10)*\n\
    From [Room 0](#location-0-room-0)\n- +10 at [Room 1](#location-1-room-1) *(T2)*: east, take lamp\n\n---\n";

pub fn map(bench: &Bench, table: &mut Table) {
    path(bench, table);
    beside_the_run(bench, table);
    picture(bench, table);
}

/// Draws a grid.
fn picture(bench: &Bench, table: &mut Table) {
    let file = bench.file("picture", &grid(DRAWN_SIDE));
    let times = times(|| {
        let mut command = bench.memories(&file);
        command.args(["map", "--format", "svg"]);
        command
    });
    let at = |part: usize| times[(times.len() - 1) * part / 4];
    let details =
        format!("half of {} runs within {}–{}", times.len(), milliseconds(at(1)), milliseconds(at(3)),);
    let what = format!("`map --format svg` of {} places", DRAWN_SIDE * DRAWN_SIDE);
    table.line(&what, milliseconds(at(2)), milliseconds(DRAWN_LIMIT), at(2) <= DRAWN_LIMIT, &details);
}

/// Asks for the way from one corner of a grid to the opposite one.
fn path(bench: &Bench, table: &mut Table) {
    let text = grid(SIDE);
    let file = bench.file("map", &text);
    let times = times(|| {
        let mut command = bench.memories(&file);
        command.args(["path", "0"]).arg((SIDE * SIDE - 1).to_string());
        command
    });
    let at = |part: usize| times[(times.len() - 1) * part / 4];
    let megabytes = text.len() as f64 / 1e6;
    let details = format!(
        "{} steps, {megabytes:.1} MB; half of {} runs within {}–{}",
        2 * (SIDE - 1),
        times.len(),
        milliseconds(at(1)),
        milliseconds(at(3)),
    );
    let what = format!("`path` over {} places", SIDE * SIDE);
    table.line(&what, milliseconds(at(2)), milliseconds(LIMIT), at(2) <= LIMIT, &details);
}

/// Recalls a place far from the best run, which has to be found out, and the same place of a file without a best run.
fn beside_the_run(bench: &Bench, table: &mut Table) {
    let text = grid(SIDE);
    let with = bench.file("with a run", &format!("{text}{BEST_RUN}"));
    let without = bench.file("without a run", &text);
    let recall = |file: &Path| {
        let mut command = bench.memories(file);
        command.arg("recall").arg((SIDE * SIDE / 2).to_string());
        command
    };
    let what = format!("`recall` beside the best run, {} places : without a run", SIDE * SIDE);
    compare(table, &what, 1.5, &pairs(|_| recall(&with), |_| recall(&without)));
}

/// A file of places with a memory each, the ways to their neighbours, and what was tried there.
fn grid(side: u64) -> String {
    let mut text = "# Location Memories\n\n".to_owned();
    for id in 0..side * side {
        let (column, row) = (id % side, id / side);
        let ways = [
            ("north", (row > 0).then(|| id - side)),
            ("east", (column + 1 < side).then(|| id + 1)),
            ("south", (row + 1 < side).then(|| id + side)),
            ("west", (column > 0).then(|| id - 1)),
        ];
        let ways = ways.iter().filter_map(|(action, to)| Some((action, (*to)?)));
        let ways: String = ways
            .map(|(action, to)| {
                format!("- `{action}` → [Room {to}](#location-{to}-room-{to}) ×2 *(Ep1, T{})*\n", id % 300)
            })
            .collect();
        let written = write!(
            text,
            "## Location {id}: Room {id}\n**Visits:** 3 | **Episodes:** 1, 2 | **First:** Ep1 T5\n\n### Memories\n\n\
             **[DISCOVERY] Thing of room {id}** *(Ep1, T{}, +0)*\nOpening the trap door needs the rug moved first; \
             closing it from below cannot be undone at once.\n\n### Ways\n\n{ways}\n### Worked\n\n- `open case` ×2 *(Ep1, \
             T3)*, `take lamp` *(T4)*\n\n### Tried\n\n- `up`, `northeast` ×2 *(Ep1, T7-9)*: You can't go that way.\n\
             - `eat rug` *(Ep2, T12)*: I don't think that the rug would agree with you.\n\n---\n\n",
            id % 300
        );
        written.expect("a string takes all");
    }
    text
}
