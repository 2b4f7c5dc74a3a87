//! `seed`: time until agents can ask who they are.

use std::path::Path;
use std::time::Duration;

use crate::Bench;
use crate::measure::{quantile, time};
use crate::table::Table;

/// Number of new files to seed.
const RUNS: usize = 40;

/// Seeds three agents and a scene into a new file and asks the first query, which computes all vectors: a file with
/// up to 250 entries has no index.
pub fn seed(bench: &Bench, table: &mut Table) {
    let dinner = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/dinner");
    let (mut seeding, mut asking) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 2 {
        let folder = bench.folder.path().join(format!("seed {run}"));
        std::fs::create_dir(&folder).expect("a folder can be made");
        let file = folder.join("Memories.md");
        let mut seed = bench.memories(&file);
        seed.arg("seed").arg(dinner.join("friends.yaml")).arg(dinner.join("evening.toml"));
        let mut ask = bench.memories(&file);
        ask.args(["query", "who am I?", "--agent", "alex"]);
        let times = [seed, ask].map(|command| time(command).as_secs_f64());
        if run >= 2 {
            seeding.push(times[0]);
            asking.push(times[1]);
        }
    }
    let both: Vec<f64> = seeding.iter().zip(&asking).map(|(seed, ask)| seed + ask).collect();
    let at = |values: &[f64], part| Duration::from_secs_f64(quantile(values.to_vec(), part));
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let details = format!(
        "`seed` {}, the first `query` {}; half of {RUNS} runs within {}–{}",
        shown(at(&seeding, 0.5)),
        shown(at(&asking, 0.5)),
        shown(at(&both, 0.25)),
        shown(at(&both, 0.75)),
    );
    let median = at(&both, 0.5);
    let kept = median <= Duration::from_millis(200);
    table.line("`seed` of 3 agents and a scene, index included", shown(median), "200 ms", kept, &details);
}
