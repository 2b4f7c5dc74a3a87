//! `query` as a process: with an index, after an addition, while the index is built, and the size of the index.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use memories::search::embedded::StaticModel;

use crate::measure::{pairs, time, times};
use crate::table::Table;
use crate::{Bench, compare, milliseconds};

/// The query; its words occur in some of the memories.
const QUESTION: &str = "where did I see the brass lantern near the river?";

/// Number of memories, time limit with an index, and time limit of the first query.
const SIZES: [(usize, Duration, Option<Duration>); 3] = [
    (1_000, Duration::from_millis(20), Some(Duration::from_millis(170))),
    (10_000, Duration::from_millis(45), Some(Duration::from_secs(1))),
    (100_000, Duration::from_millis(300), None),
];

/// Size limit of the index, in bytes for a memory of about 250 bytes. In a small file each has words of its own.
const MAX_BYTES: f64 = 500.0;

pub fn query(bench: &Bench, table: &mut Table) {
    for (memories, limit, first_limit) in SIZES {
        let file = bench.file(&format!("query {memories}"), &varied_file(memories));
        let index = file.with_file_name(".memories").join(file.file_name().expect("a file")).join("index");
        let ask = || -> Command {
            let mut command = bench.memories(&file);
            command.args(["query", QUESTION]);
            command
        };
        let mut firsts: Vec<Duration> = (0..7)
            .map(|_| {
                let _ = std::fs::remove_file(&index);
                time(ask())
            })
            .collect();
        firsts.sort_unstable();
        let first = firsts[firsts.len() / 2];
        if let Some(limit) = first_limit {
            let what = format!("`query` of {memories} memories, no index yet");
            let details = format!("the index is made; {} runs", firsts.len());
            table.line(&what, milliseconds(first), milliseconds(limit), first <= limit, &details);
        }
        let times = times(ask);
        let [low, median, high] = [1, 2, 3].map(|quarter| times[(times.len() - 1) * quarter / 4]);
        let details =
            format!("half of {} runs within {}–{}", times.len(), milliseconds(low), milliseconds(high));
        let what = format!("`query` of {memories} memories");
        table.line(&what, milliseconds(median), milliseconds(limit), median <= limit, &details);
        let size = std::fs::metadata(&index).expect("a file of this size has an index").len();
        let each = size as f64 / memories as f64;
        let what = format!("index of {memories} memories, bytes a memory");
        table.line(
            &what,
            format!("{each:.0}"),
            MAX_BYTES,
            each <= MAX_BYTES,
            &format!("{size} bytes in all"),
        );
        after_an_addition(bench, table, &file, memories);
    }
}

/// `query` when the index lacks one memory, compared with `query` when it has all.
fn after_an_addition(bench: &Bench, table: &mut Table, file: &Path, memories: usize) {
    let changed = bench.file(&format!("query {memories} and one"), "");
    let folder_of = |file: &Path| file.with_file_name(".memories").join(file.file_name().expect("a file"));
    std::fs::create_dir_all(folder_of(&changed)).expect("a folder can be made");
    std::fs::copy(file, &changed).expect("a file can be copied");
    let index = |file: &Path| folder_of(file).join("index");
    std::fs::copy(index(file), index(&changed)).expect("an index can be copied");
    let mut added = bench.memories_add(&changed, 1, "One more");
    assert!(added.stdout(Stdio::null()).status().expect("the program starts").success(), "a memory is added");
    let before = std::fs::read(index(&changed)).expect("an index can be read");
    let ask = |file: &Path| {
        let mut command = bench.memories(file);
        command.args(["query", QUESTION]);
        command
    };
    let what = format!("`query` of {memories} memories after one `add` : before");
    compare(table, &what, 1.1, &pairs(|_| ask(&changed), |_| ask(file)));
    assert!(std::fs::read(index(&changed)).expect("an index can be read") == before, "it lacks one memory");
}

/// A file of memories of about 250 bytes each. Word frequencies follow Zipf's law: the frequency of the n-th word is
/// proportional to about 1/n. Each memory has an id of its own, so that the text has new words however long it is, and
/// most different words are of several tokens.
pub fn varied_file(memories: usize) -> String {
    let words = Words::new();
    let mut dice = Dice(5);
    let mut text = String::from("# Location Memories\n");
    for number in 0..memories {
        if number % 8 == 0 {
            let place = number / 8;
            let name = words.some(&mut dice, 2);
            let written = write!(
                text,
                "\n---\n\n## Location {place}: {name}\n**Visits:** 2 | **Episodes:** 1, 2\n\n### Memories\n"
            );
            written.expect("a string takes all");
        }
        let (title, body) = (words.some(&mut dice, 4), words.some(&mut dice, 28));
        let (episode, turn) = (dice.roll(9) + 1, dice.roll(400) + 1);
        let written =
            write!(text, "\n**[NOTE] {title}** *(Ep{episode}, T{turn}, +0)*\n{body} lot{number}z.\n");
        written.expect("a string takes all");
    }
    text
}

/// English words with Zipf frequencies.
struct Words {
    words: Vec<String>,
    /// For each word, the cumulative frequency.
    sums: Vec<f64>,
}

impl Words {
    fn new() -> Words {
        let model = StaticModel::new();
        let tokens =
            (0..model.token_count()).filter_map(|token| std::str::from_utf8(model.token_text(token)).ok());
        let mut words: Vec<String> = tokens
            .filter(|word| word.len() > 3 && word.bytes().all(|b| b.is_ascii_lowercase()))
            .map(str::to_owned)
            .collect();
        let mut dice = Dice(3);
        for at in 0..words.len() {
            let other = dice.roll(words.len());
            words.swap(at, other);
        }
        words.truncate(20_000);
        let sums = (0..words.len()).scan(0.0, |sum, at| {
            *sum += 1.0 / (at + 5) as f64;
            Some(*sum)
        });
        let sums = sums.collect();
        Words { words, sums }
    }

    fn some(&self, dice: &mut Dice, count: usize) -> String {
        let all = self.sums[self.sums.len() - 1];
        let one = |_| {
            let share = dice.roll(1 << 30) as f64 / f64::from(1 << 30) * all;
            let at = self.sums.partition_point(|sum| *sum < share);
            self.words[at.min(self.words.len() - 1)].as_str()
        };
        (0..count).map(one).collect::<Vec<_>>().join(" ")
    }
}

/// A pseudo-random generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}
