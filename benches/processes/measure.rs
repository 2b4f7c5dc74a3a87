//! Times whole processes in alternation (A B A B), so that other load disturbs both alike.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Minimum number of pairs.
const FEWEST_PAIRS: usize = 20;

/// Maximum number of pairs.
const MAX_PAIRS: usize = 400;

/// Pairs beyond the minimum start only within this time.
const TIME: Duration = Duration::from_secs(4);

/// The result of one comparison.
pub struct Pairs {
    /// Quartiles of the ratio of A to B.
    pub ratio: [f64; 3],
    /// Median time of A.
    pub a: Duration,
    /// Median time of B.
    pub b: Duration,
    /// Median difference of a run of A to the previous run of A: 0.02 is 2 %.
    pub noise: f64,
    /// Number of pairs.
    pub count: usize,
}

/// Times two processes in alternation, after two warm-up runs of each. The closures get the number of the run.
pub fn pairs(mut a: impl FnMut(usize) -> Command, mut b: impl FnMut(usize) -> Command) -> Pairs {
    pairs_of(|run| time(a(run)), |run| time(b(run)))
}

/// As [`pairs`], of anything that gives its time.
pub fn pairs_of(mut a: impl FnMut(usize) -> Duration, mut b: impl FnMut(usize) -> Duration) -> Pairs {
    let mut run = 0;
    for _ in 0..2 {
        a(run);
        b(run);
        run += 1;
    }
    let mut times: Vec<(f64, f64)> = Vec::new();
    let began = Instant::now();
    while times.len() < FEWEST_PAIRS || (began.elapsed() < TIME && times.len() < MAX_PAIRS) {
        times.push((a(run).as_secs_f64(), b(run).as_secs_f64()));
        run += 1;
    }
    let quantiles = |values: Vec<f64>| [0.25, 0.5, 0.75].map(|part| quantile(values.clone(), part));
    let median = |values: Vec<f64>| Duration::from_secs_f64(quantile(values, 0.5));
    Pairs {
        ratio: quantiles(times.iter().map(|(a, b)| a / b).collect()),
        a: median(times.iter().map(|(a, _)| *a).collect()),
        b: median(times.iter().map(|(_, b)| *b).collect()),
        noise: quantile(times.windows(2).map(|two| (two[1].0 / two[0].0 - 1.0).abs()).collect(), 0.5),
        count: times.len(),
    }
}

/// The times of one process, sorted, after two warm-up runs.
pub fn times(mut command: impl FnMut() -> Command) -> Vec<Duration> {
    let mut times: Vec<Duration> = Vec::new();
    let began = Instant::now();
    while times.len() < FEWEST_PAIRS + 2 || (began.elapsed() < TIME && times.len() < MAX_PAIRS) {
        times.push(time(command()));
    }
    times.drain(..2);
    times.sort_unstable();
    times
}

/// Runs a process to its end and reads its output, as `| cat` would: some programs, such as grep, stop early when
/// they write to `/dev/null`.
pub fn time(mut command: Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut output = Vec::with_capacity(1 << 16);
    let began = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let stdout = child.stdout.as_mut().expect("stdout is a pipe");
    stdout.read_to_end(&mut output).expect("the output can be read");
    let status = child.wait().expect("the program ends");
    let time = began.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    time
}

/// A quantile.
pub fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}
