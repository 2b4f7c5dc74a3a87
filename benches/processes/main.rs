//! Compares whole processes with system tools, against the limits that the project has set itself.
//!
//! `cargo bench --bench processes` prints a table. Names of parts (`start`, `recall`, `memory`, `map`, `add`,
//! `parse`, `merge`, `query`, `seed`, `hooks`, `mcp`, `http`, `inject`, `proxy`, `load`, `crowd`, `kill`) after `--` select from
//! it; `--busy` keeps one core at work meanwhile. Needs `rustc`, `grep` and `dd`; `time` and `strace` are used if
//! present. The exit code is 1 if a limit is missed.

#![allow(clippy::disallowed_methods, reason = "makes the files that are measured, in a folder of its own")]

#[cfg(feature = "proxy")]
mod chat;
mod files;
mod hooks;
mod map;
mod mcp_http;
mod measure;
mod merge;
#[cfg(feature = "proxy")]
mod proxy_load;
#[cfg(feature = "page")]
mod report;
mod search;
mod seed;
mod server;
mod table;
mod writers;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memories::document::Document;
use memories::types::Scope;

use files::{FIRST_ID, ID_STEP, memories_file};
use measure::{Pairs, pairs, quantile};
use table::Table;

/// As in the program: some parts are measured within this process.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The date of what is added, so that it is the same on each day.
const DATE: &str = "2026-01-31";

const KB: usize = 1000;
const MB: usize = 1000 * KB;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts benches, too.
        return ExitCode::SUCCESS;
    }
    let parts: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|part| !part.starts_with('-')).collect();
    if arguments.iter().any(|argument| argument == "--busy") {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
    let bench = Bench::new();
    let mut table = Table::default();
    type Part = (&'static str, fn(&Bench, &mut Table));
    let all: &[Part] = &[
        ("start", start),
        ("parse", parse),
        ("merge", merge::merge),
        ("recall", recall),
        ("memory", memory),
        ("map", map::map),
        #[cfg(feature = "page")]
        ("report", report::report),
        ("add", add),
        ("query", search::query),
        ("seed", seed::seed),
        ("hooks", hooks::hooks),
        ("mcp", server::server),
        ("http", mcp_http::http),
        #[cfg(feature = "proxy")]
        ("inject", chat::inject),
        #[cfg(feature = "proxy")]
        ("proxy", chat::proxy),
        #[cfg(feature = "proxy")]
        ("load", proxy_load::proxy),
        ("crowd", writers::crowd),
        ("kill", writers::kill),
    ];
    for (name, part) in all {
        if parts.is_empty() || parts.contains(name) {
            part(&bench, &mut table);
        }
    }
    ExitCode::from(u8::from(table.missed() > 0))
}

/// Copies of the program that take turns. How a copy lies in the page cache makes its start up to a tenth slower or
/// faster, so one alone would decide a ratio near a limit.
const COPIES: usize = 5;

/// A temporary folder on the disk that the program was built on.
struct Bench {
    folder: tempfile::TempDir,
    /// Copies of the program, as an installation makes them.
    programs: Vec<PathBuf>,
    /// The number of programs that were started.
    started: AtomicUsize,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made");
        let copy = |number| {
            let program = folder.path().join(format!("memories{number}"));
            std::fs::copy(env!("CARGO_BIN_EXE_memories"), &program).expect("the program can be copied");
            program
        };
        let programs = (0..COPIES).map(copy).collect();
        Bench { folder, programs, started: AtomicUsize::new(0) }
    }

    /// Writes a file into a folder of its own, because the program keeps other files next to it.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let path = folder.join("Memories.md");
        std::fs::write(&path, text).expect("a file can be written");
        path
    }

    fn memories(&self, file: &Path) -> Command {
        let started = self.started.fetch_add(1, Ordering::Relaxed);
        let mut command = self.program(&self.programs[started % COPIES]);
        command.arg("-f").arg(file);
        command
    }

    fn memories_add(&self, file: &Path, id: u64, title: &str) -> Command {
        let mut command = self.memories(file);
        command.arg("add").arg(id.to_string()).args(["--title", title, "--text"]);
        command.arg(unlike_any_other(title)).args(["--date", DATE]);
        command
    }

    /// A command without the user's own settings.
    fn program(&self, name: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(name);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // As on most machines. In the locale `C`, `grep` starts faster.
        command.env("LC_ALL", std::env::var_os("LC_ALL").unwrap_or("C.UTF-8".into()));
        command.current_dir(self.folder.path());
        command
    }

    /// True if a program is installed.
    fn has(&self, name: &str) -> bool {
        let mut command = self.program(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    }
}

/// A text that is not a near-duplicate of the others, so that it is stored.
fn unlike_any_other(title: &str) -> String {
    let mut words = vec![title.to_owned()];
    let mut hash = title.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    for _ in 0..12 {
        hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (0..7).map(|at| char::from(b'a' + (hash >> (20 + 5 * at)) as u8 % 26)).collect();
        words.push(word);
    }
    words.join(" ") + "."
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Prints the line of a ratio.
fn compare(table: &mut Table, what: &str, limit: f64, pairs: &Pairs) {
    let [low, ratio, high] = pairs.ratio;
    let details = format!(
        "{} : {}; half of {} pairs within {low:.2}–{high:.2}; A against A ±{:.0} %",
        milliseconds(pairs.a),
        milliseconds(pairs.b),
        pairs.count,
        pairs.noise * 100.0,
    );
    table.line(what, format!("{ratio:.2} ×"), format!("{limit} ×"), ratio <= limit, &details);
}

/// Start-up time of commands without a model, compared with a program that does nothing.
fn start(bench: &Bench, table: &mut Table) {
    let empty = bench.folder.path().join("empty");
    let source = bench.folder.path().join("empty.rs");
    std::fs::write(&source, "fn main() {}\n").expect("a file can be written");
    let mut rustc = Command::new("rustc");
    rustc.args(["-O", "-C", "lto=fat", "-C", "strip=symbols", "-o"]).arg(&empty).arg(&source);
    assert!(rustc.status().expect("rustc starts").success(), "the empty program compiles");
    let small = bench.file("start", &memories_file(1).0);
    let empty = || Command::new(&empty);
    let version = pairs(|_| bench.memories(&small).arg("--version").take(), |_| empty());
    compare(table, "start: `memories --version` : empty `main`", 1.1, &version);
    let id = FIRST_ID.to_string();
    let recall = pairs(|_| bench.memories(&small).args(["recall", &id]).take(), |_| empty());
    compare(table, "start: `recall` of a file with one place : empty `main`", 2.0, &recall);
    what_recall_starts(bench, table, &small);
}

/// Checks that no thread is started and no socket or certificate is opened.
fn what_recall_starts(bench: &Bench, table: &mut Table, file: &Path) {
    let what = "start: threads, sockets and certificates of `recall`";
    if !bench.has("strace") {
        return table.line(what, "not measured", "0", false, "`strace` is missing");
    }
    let log = bench.folder.path().join("calls");
    let mut command = bench.program("strace");
    command.args(["-f", "-o"]).arg(&log).arg(&bench.programs[0]).arg("-f").arg(file);
    command.args(["recall", &FIRST_ID.to_string()]).stdout(Stdio::null());
    assert!(command.status().expect("strace starts").success());
    let log = std::fs::read_to_string(&log).expect("strace has written");
    let calls = log.lines().count();
    let is_start = |line: &&str| {
        let call = line.split_once(' ').map_or("", |(_, call)| call.trim_start());
        let certificate = [".pem", ".crt", "/ssl/", "/pki/"].iter().any(|part| call.contains(part));
        ["clone(", "clone3(", "fork(", "vfork(", "socket("].iter().any(|name| call.starts_with(name))
            || certificate
    };
    let count = log.lines().filter(is_start).count();
    table.line(what, count, 0, count == 0, &format!("{calls} system calls in all"));
}

/// Scans and parses the whole file within this process.
fn parse(_: &Bench, table: &mut Table) {
    let (text, ids) = memories_file(MB);
    let mut times = Vec::new();
    for _ in 0..60 {
        let source = text.clone();
        let began = Instant::now();
        let document = Document::parse(source);
        let memories: usize = ids
            .iter()
            .filter_map(|id| document.section(&Scope::Location(*id)))
            .map(|section| section.memories.len())
            .sum();
        times.push(began.elapsed().as_secs_f64());
        assert_eq!(memories, ids.len() * 8);
    }
    let [low, median, high] =
        [0.25, 0.5, 0.75].map(|part| Duration::from_secs_f64(quantile(times.clone(), part)));
    table.line(
        "full scan and parse of 1 MB",
        milliseconds(median),
        "5 ms",
        median <= Duration::from_millis(5),
        &format!("half of {} runs within {}–{}", times.len(), milliseconds(low), milliseconds(high)),
    );
}

/// `recall` compared with `grep`, which reads the file and finds the heading.
fn recall(bench: &Bench, table: &mut Table) {
    for (size, name, limit) in SIZES {
        let (text, ids) = memories_file(size);
        let file = bench.file(name, &text);
        for (id, where_) in [(ids[0], "first"), (ids[ids.len() - 1], "last")] {
            let heading = format!("^## Location {id}:");
            let grep = |_| bench.program("grep").args(["-A20", &heading]).arg(&file).take();
            let recall = |_| bench.memories(&file).args(["recall", &id.to_string()]).take();
            let what = format!("`recall` : `grep`, {name}, {where_} place");
            compare(table, &what, limit, &pairs(recall, grep));
        }
    }
}

/// File sizes, their names, and the limit of `recall` as a multiple of `grep`. `grep` reads through a small buffer; `recall`
/// has the whole text in memory.
const SIZES: [(usize, &str, f64); 4] =
    [(200 * KB, "200 KB", 1.7), (MB, "1 MB", 2.0), (10 * MB, "10 MB", 4.8), (100 * MB, "100 MB", 6.5)];

/// Peak memory of `recall`.
fn memory(bench: &Bench, table: &mut Table) {
    let what = "peak memory of `recall`, 100 MB";
    let time = "/usr/bin/time";
    if !bench.has(time) {
        return table.line(what, "not measured", "130 MB", false, "`/usr/bin/time` is missing");
    }
    let (text, ids) = memories_file(100 * MB);
    let file = bench.file("memory", &text);
    let mut command = bench.program(time);
    command.args(["-f", "%M"]).arg(&bench.programs[0]).arg("-f").arg(&file);
    let output = command.args(["recall", &ids[ids.len() - 1].to_string()]).output().expect("time starts");
    let kilobytes: f64 =
        String::from_utf8_lossy(&output.stderr).trim().parse().expect("time prints a number");
    let megabytes = kilobytes * 1024.0 / MB as f64;
    table.line(what, format!("{megabytes:.1} MB"), "130 MB", megabytes <= 130.0, "most resident memory");
}

/// `add` compared with `dd`, which copies the file and syncs it.
fn add(bench: &Bench, table: &mut Table) {
    for (size, name, limit) in [(200 * KB, "200 KB", 2.2), (MB, "1 MB", 2.3), (10 * MB, "10 MB", 3.3)] {
        let (text, ids) = memories_file(size);
        let file = bench.file(&format!("add {name}"), &text);
        let copy = file.with_file_name("copy");
        // Another place each time, so that no place grows long.
        let add = |run: usize| bench.memories_add(&file, ids[run * 7 % ids.len()], &format!("Run {run}"));
        let dd = |_| {
            let mut command = bench.program("dd");
            command.arg(format!("if={}", file.display())).arg(format!("of={}", copy.display()));
            command.args(["bs=1M", "conv=fsync"]).take()
        };
        let figures = pairs(add, dd);
        compare(table, &format!("`add` : `dd conv=fsync`, {name}"), limit, &figures);
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let places = Document::parse(text.clone()).headings().count() as u64;
        assert_eq!(ids[ids.len() - 1], FIRST_ID + ID_STEP * (places - 1), "no place came or went");
        assert!(text.matches("**[NOTE] Run ").count() >= figures.count, "every run stored its memory");
    }
}

/// Takes a command by value out of a chain of setters, which `std` lacks.
trait Take {
    fn take(&mut self) -> Command;
}

impl Take for Command {
    fn take(&mut self) -> Command {
        std::mem::replace(self, Command::new(""))
    }
}
