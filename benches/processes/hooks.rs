//! `hook`: what a coding agent waits for at each of its events, beside 10,000 memories.

use std::fmt::Write;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::measure::quantile;
use crate::table::Table;
use crate::{Bench, milliseconds, unlike_any_other};

/// Folders with memories, and memories in each.
const FOLDERS: (usize, usize) = (100, 100);

/// Tracked files of the repository.
const FILES: usize = 2_000;

/// Events of each kind.
const RUNS: usize = 400;

/// Limits of the median and of the 99th percentile.
const LIMITS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(20)];

/// A repository in which an agent works.
struct Repository<'a> {
    bench: &'a Bench,
    folder: PathBuf,
}

impl Repository<'_> {
    /// The time of a hook at an event.
    fn hook(&self, event: &str, more: &Value) -> Duration {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": self.folder, "tool_use_id": "t",
            "tool_name": "Bash", "tool_response": {"stdout": "", "interrupted": false}});
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let mut command = self.bench.memories(&self.folder.join("Memories.md"));
        command.args(["hook", "claude-code"]).current_dir(&self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let text = payload.to_string();
        let began = Instant::now();
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the event is read");
        let output = child.wait_with_output().expect("the program ends");
        let time = began.elapsed();
        assert!(output.status.success());
        time
    }

    fn shell(&self, event: &str, command: &str) -> Duration {
        let error =
            format!("Exit code 101\n{}error: no\n --> src/f7.rs:3:1\n", "   Compiling x\n".repeat(200));
        self.hook(event, &json!({"tool_input": {"command": command}, "error": error}))
    }
}

/// Times the hooks of each event.
pub fn hooks(bench: &Bench, table: &mut Table) {
    let file = bench.file("hooks", &memories());
    let folder = file.parent().expect("a folder").to_owned();
    std::fs::create_dir(folder.join("src")).expect("a folder can be made");
    for number in 0..FILES {
        std::fs::write(folder.join(format!("src/f{number}.rs")), "x").expect("a file can be written");
    }
    let git = |arguments: &[&str]| {
        let mut git = bench.program("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments).current_dir(&folder);
        assert!(git.status().is_ok_and(|status| status.success()), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "src"]);
    git(&["commit", "-qm", "all"]);
    let repository = Repository { bench, folder };
    // The log of a long day: half a megabyte.
    for number in 0..1_500 {
        repository.shell("PostToolUse", &format!("cargo test --test number{number}"));
    }
    let mut number = 0;
    let mut line = |what: &str, time: &mut dyn FnMut(usize) -> Duration| {
        let mut times = Vec::with_capacity(RUNS);
        for run in 0..RUNS + 2 {
            number += 1;
            let taken = time(number);
            if run >= 2 {
                times.push(taken.as_secs_f64());
            }
        }
        let at = |part| Duration::from_secs_f64(quantile(times.clone(), part));
        let [p50, p99] = [at(0.5), at(0.99)];
        let figure = format!("{} / {}", milliseconds(p50), milliseconds(p99));
        let kept = p50 <= LIMITS[0] && p99 <= LIMITS[1];
        table.line(
            &format!("`hook`, {what}: p50 / p99 of {RUNS}"),
            figure,
            format!("{} / {} ms", LIMITS[0].as_millis(), LIMITS[1].as_millis()),
            kept,
            "",
        );
    };
    line("`SessionStart`", &mut |_| repository.hook("SessionStart", &json!({"source": "startup"})));
    line("`PreToolUse` of a new command", &mut |run| repository.shell("PreToolUse", &format!("make x{run}")));
    line("`PostToolUse`", &mut |run| repository.shell("PostToolUse", &format!("make y{run}")));
    line("`PostToolUseFailure`", &mut |run| repository.shell("PostToolUseFailure", &format!("make z{run}")));
    repository.shell("PostToolUseFailure", "npm test");
    line("`PreToolUse` of a command that failed, 2,000 tracked files", &mut |_| {
        repository.shell("PreToolUse", "npm test")
    });
    line("`SessionEnd` with nothing new", &mut |_| repository.hook("SessionEnd", &json!({})));
    line("`SessionEnd` that keeps a command", &mut |run| {
        let command = format!("make kept{run}");
        repository.shell("PostToolUseFailure", &command);
        repository.shell("PostToolUseFailure", &command);
        repository.hook("SessionEnd", &json!({}))
    });
}

/// A memory file of 10,000 memories in folders.
fn memories() -> String {
    let mut text = "# Location Memories\n\n".to_owned();
    for folder in 0..FOLDERS.0 {
        let _ = write!(text, "## Folder src/part{folder}\n\n### Memories\n\n");
        for number in 0..FOLDERS.1 {
            let title = format!("Note {folder} {number}");
            let _ = write!(text, "**[NOTE] {title}**\n{}\n\n", unlike_any_other(&title));
        }
        text.push_str("---\n\n");
    }
    text
}
