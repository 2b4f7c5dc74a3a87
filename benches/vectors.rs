//! Exact cosine of a query vector with all vectors.
//!
//! Compares the byte rows in which vectors are stored with 32-bit floats, which take four times the space. The
//! vectors are pseudo-random; their values do not influence the time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use memories::search::embedder::{QueryVector, Vectors};

/// Fewest runs of one line, and the time within which more are begun.
const RUNS: usize = 10;
const TIME: Duration = Duration::from_secs(3);

/// Number of vectors, and of dimensions.
const BYTES: [(usize, usize); 7] = [
    (10_000, 128),
    (100_000, 128),
    (1_000_000, 128),
    (10_000, 768),
    (100_000, 768),
    (100_000, 1536),
    (100_000, 3072),
];
const FLOATS: [(usize, usize); 2] = [(1_000_000, 128), (100_000, 768)];

/// Pseudo-random numbers from -1 to 1.
fn numbers(seed: usize, dimensions: usize) -> impl Iterator<Item = f32> {
    (0..dimensions).map(move |at| {
        let mut bits = ((seed * dimensions + at) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 29;
        bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    })
}

/// Times runs, after one that does not count, and prints the median and the quartiles.
#[allow(clippy::print_stdout, reason = "the lines of the table")]
fn measure<T>(what: &str, bytes: usize, mut run: impl FnMut() -> T) {
    let began = Instant::now();
    let mut times: Vec<Duration> = Vec::new();
    while times.len() <= RUNS || began.elapsed() < TIME {
        let start = Instant::now();
        black_box(run());
        times.push(start.elapsed());
    }
    times.remove(0);
    times.sort_unstable();
    let [low, median, high] =
        [1, 2, 3].map(|quarter| times[(times.len() - 1) * quarter / 4].as_secs_f64() * 1e3);
    println!("| {what} | {:.1} MB | {median:.2} ms | {low:.2}–{high:.2} ms |", bytes as f64 / 1e6);
}

/// A dot product with eight accumulators, because the compiler may not reorder floating-point sums.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

fn main() {
    for (count, dimensions) in BYTES {
        let mut vectors = Vectors::new(dimensions);
        for seed in 1..=count {
            vectors.push(&numbers(seed, dimensions).collect::<Vec<f32>>());
        }
        let query = QueryVector::new(&numbers(0, dimensions).collect::<Vec<f32>>());
        let what = format!("{count} × {dimensions}");
        measure(&what, count * dimensions, || vectors.cosines(black_box(&query)));
    }
    for (count, dimensions) in FLOATS {
        let rows: Vec<f32> = (1..=count).flat_map(|seed| numbers(seed, dimensions)).collect();
        let query: Vec<f32> = numbers(0, dimensions).collect();
        let what = format!("{count} × {dimensions}, floats for comparison");
        measure(&what, count * dimensions * 4, || {
            let rows = rows.chunks_exact(dimensions);
            rows.map(|row| dot(black_box(&query), row)).collect::<Vec<f32>>()
        });
    }
}
