//! Whole processes, timed in turn: A B A B, so that what disturbs the machine disturbs both.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// At least so many pairs make a figure.
const FEWEST_PAIRS: usize = 20;

/// More pairs say no more.
const MOST_PAIRS: usize = 400;

/// Pairs beyond the fewest are added for so long.
const TIME: Duration = Duration::from_secs(4);

/// Figures of one comparison.
pub struct Pairs {
    /// Quarter, half and three quarters of the ratios A to B.
    pub ratio: [f64; 3],
    /// Median time of A.
    pub a: Duration,
    /// Median time of B.
    pub b: Duration,
    /// What a run of A differs from the run of A before it, in the median: 0.02 is 2 %.
    pub noise: f64,
    /// How many pairs.
    pub count: usize,
}

/// Times two processes in turn, after both ran twice. What makes a command gets the number of the run.
pub fn pairs(mut a: impl FnMut(usize) -> Command, mut b: impl FnMut(usize) -> Command) -> Pairs {
    let mut run = 0;
    for _ in 0..2 {
        time(a(run));
        time(b(run));
        run += 1;
    }
    let mut times: Vec<(f64, f64)> = Vec::new();
    let began = Instant::now();
    while times.len() < FEWEST_PAIRS || (began.elapsed() < TIME && times.len() < MOST_PAIRS) {
        times.push((time(a(run)).as_secs_f64(), time(b(run)).as_secs_f64()));
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

/// Times of one process, sorted, after two runs that do not count.
pub fn times(mut command: impl FnMut() -> Command) -> Vec<Duration> {
    let mut times: Vec<Duration> = Vec::new();
    let began = Instant::now();
    while times.len() < FEWEST_PAIRS + 2 || (began.elapsed() < TIME && times.len() < MOST_PAIRS) {
        times.push(time(command()));
    }
    times.drain(..2);
    times.sort_unstable();
    times
}

/// Runs a process to its end and reads what it writes, as `| cat` would: a program that writes to
/// `/dev/null` may take that for leave to stop early, as grep does.
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

/// The value below which that part of the values lies.
pub fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}
