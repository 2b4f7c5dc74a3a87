//! Many writers at once, and writers that are killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use memories::document::Document;
use memories::document::check::problems;
use memories::types::{Memory, Scope};

use crate::files::memories_file;
use crate::measure::quantile;
use crate::table::Table;
use crate::{Bench, DATE, KB, unlike_any_other};

const WRITERS: usize = 32;

/// Memories that each of the parallel writers adds in a round.
const ADDS_EACH: usize = 10;

/// Memories that the single writer adds in a round: the same total, so that both files grow alike.
const ADDS_ALONE: usize = WRITERS * ADDS_EACH;

const ROUNDS: usize = 5;

const KILLS: usize = 500;

/// Alternates one writer and 32 parallel writers, so that other load on the disk disturbs both. Each of the 32
/// adds 50 memories, one process after the other.
pub fn crowd(bench: &Bench, table: &mut Table) {
    let (text, ids) = memories_file(200 * KB);
    let (alone, together) = (bench.file("alone", &text), bench.file("together", &text));
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let one = rate(bench, &alone, &ids, round, 1, ADDS_ALONE);
        rates.push((one, rate(bench, &together, &ids, round, WRITERS, ADDS_EACH)));
    }
    let text = read(&together);
    let is_there = |(round, writer, number): &(usize, usize, usize)| {
        text.contains(&format!("**[NOTE] {}**", title(*round, *writer, *number)))
    };
    let writers = (0..ROUNDS).flat_map(|round| (0..WRITERS).map(move |writer| (round, writer)));
    let all = writers.flat_map(|(round, writer)| (0..ADDS_EACH).map(move |number| (round, writer, number)));
    let there = all.filter(is_there).count();
    let wanted = ROUNDS * WRITERS * ADDS_EACH;
    let kept = there == wanted && problems(&text).is_empty();
    table.line("32 × 50 `add` at once: there afterwards", there, wanted, kept, "and no problem in the file");
    let median = |values: Vec<f64>| quantile(values, 0.5);
    let ratio = median(rates.iter().map(|(one, many)| many / one).collect());
    let details = format!(
        "{:.0} a second, alone {:.0}; {ROUNDS} rounds in turn",
        median(rates.iter().map(|(_, many)| *many).collect()),
        median(rates.iter().map(|(one, _)| *one).collect()),
    );
    let what = "32 × 50 `add` at once: rate, against one writer's";
    table.line(what, format!("{ratio:.2} ×"), "at least 0.9 ×", ratio >= 0.9, &details);
}

/// Memories added per second.
fn rate(bench: &Bench, file: &Path, ids: &[u64], round: usize, writers: usize, each: usize) -> f64 {
    let began = Instant::now();
    thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || {
                for number in 0..each {
                    let id = ids[(writer * each + number) * 7 % ids.len()];
                    let mut add = bench.memories_add(file, id, &title(round, writer, number));
                    add.args(["--lock-timeout", "60s"]).stdout(Stdio::null());
                    assert!(add.status().expect("the program starts").success());
                }
            });
        }
    });
    (writers * each) as f64 / began.elapsed().as_secs_f64()
}

fn title(round: usize, writer: usize, number: usize) -> String {
    format!("Round {round} writer {writer} number {number}")
}

/// Kills writers at random moments: the file must be the old or the new one, and the next command must work.
pub fn kill(bench: &Bench, table: &mut Table) {
    let (text, ids) = memories_file(200 * KB);
    let file = bench.file("kill", &text);
    let usual = usual_time(bench, &file, ids[0]);
    let mut old_text = read(&file);
    let (mut old, mut new, mut third, mut failed) = (0, 0, 0, 0);
    for run in 0..KILLS {
        let id = ids[run * 7 % ids.len()];
        let title = format!("Killed {run}");
        // Moments spread evenly over twice the time of a write, which takes longer after one that was killed.
        let moment = usual.mul_f64(2.0 * ((run * 211) % KILLS) as f64 / KILLS as f64);
        kill_after(bench.memories_add(&file, id, &title), moment);
        let text = read(&file);
        if text == old_text {
            old += 1;
        } else if text == with_memory(&old_text, id, &title) {
            new += 1;
        } else {
            third += 1;
        }
        old_text = text;
        if run % 10 == 9 {
            let title = format!("After {run}");
            let status = bench.memories_add(&file, id, &title).stdout(Stdio::null()).status();
            failed += usize::from(!status.expect("the program starts").success());
            let text = read(&file);
            failed += usize::from(text != with_memory(&old_text, id, &title));
            old_text = text;
        }
    }
    let folder = file.parent().expect("the file has a folder");
    let left = names(folder).iter().filter(|name| name.ends_with(".new") || name.ends_with(".old")).count();
    let details = format!("{old} old, {new} new; {} of them at moments up to {usual:.1?} × 2", old + new);
    table.line("`kill -9` in 500 `add`: neither old nor new file", third, 0, third == 0, &details);
    let details = format!("{} times; {left} temporary files left at the end", KILLS / 10);
    table.line("`kill -9`: next command failed", failed, 0, failed == 0 && left == 0, &details);
}

/// The median time of a few writes.
fn usual_time(bench: &Bench, file: &Path, id: u64) -> Duration {
    let mut times: Vec<Duration> = (0..11)
        .map(|run| {
            let began = Instant::now();
            let status = bench.memories_add(file, id, &format!("Whole {run}")).stdout(Stdio::null()).status();
            assert!(status.expect("the program starts").success());
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn kill_after(mut command: Command, moment: Duration) {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    while began.elapsed() < moment {
        std::hint::spin_loop();
    }
    child.kill().expect("the program can be killed");
    child.wait().expect("the program ends");
}

/// The content of the file after a complete `add`.
fn with_memory(text: &str, id: u64, title: &str) -> String {
    let mut document = Document::parse(text.to_owned());
    let mut memory =
        Memory::new("NOTE".parse().expect("a category"), title.to_owned(), unlike_any_other(title));
    memory.provenance.date = Some(DATE.to_owned());
    document.add(&Scope::Location(id), "", &memory).expect("the memory can be added");
    document.into_text().expect("the file can be written")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("the file is there and text")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
