//! `mcp` as a process: time to the first answer, and latency of later calls.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::search::varied_file;
use crate::table::Table;
use crate::{Bench, milliseconds};

/// Memories in the file, besides those of the agent.
const MEMORIES: usize = 10_000;

/// Measured calls of each tool, and calls before them that warm it up.
const CALLS: usize = 1000;
const WARM: usize = 50;

/// Measured searches: fewer than the memories of the smallest file, so that no question comes twice.
const SEARCH_CALLS: usize = 500;

/// Numbers of memories, each with the limit of half of the searches.
const SEARCHES: [(usize, Duration); 2] =
    [(1_000, Duration::from_millis(9)), (10_000, Duration::from_millis(25))];

const START: Duration = Duration::from_millis(30);
const HALF: Duration = Duration::from_millis(2);
const NEARLY_ALL: Duration = Duration::from_millis(10);

pub fn server(bench: &Bench, table: &mut Table) {
    let mut text = varied_file(MEMORIES);
    text.push_str(AGENT);
    let file = bench.file("mcp", &text);
    let mut starts: Vec<Duration> = (0..60).map(|_| Client::start(bench, &file).1).collect();
    starts.sort_unstable();
    let (half, nearly_all) = (at(&starts, 50), at(&starts, 95));
    let details = format!("{} starts, 95 % within {}", starts.len(), milliseconds(nearly_all));
    let what = "`mcp`: start to answered `initialize`";
    table.line(what, milliseconds(half), milliseconds(START), half <= START, &details);
    let (mut client, _) = Client::start(bench, &file);
    let places = (MEMORIES / 8) as u64;
    type Arguments = fn(u64) -> Value;
    let tools: [(&str, Arguments); 2] = [
        ("query_self", |_| json!({})),
        ("get_location_memories", |number| json!({"location": number.to_string()})),
    ];
    for (tool, arguments) in tools {
        let mut times = Vec::with_capacity(CALLS);
        for number in 0..(WARM + CALLS) as u64 {
            let began = Instant::now();
            client.call(tool, &arguments(number * 7 % places));
            times.push(began.elapsed());
        }
        times.drain(..WARM);
        times.sort_unstable();
        let (half, nearly_all) = (at(&times, 50), at(&times, 99));
        let what = format!("`{tool}`, {MEMORIES} memories, warm, half / 99 %");
        let figure = format!("{} / {}", milliseconds(half), milliseconds(nearly_all));
        let limit = format!("{} / {}", milliseconds(HALF), milliseconds(NEARLY_ALL));
        let kept = half <= HALF && nearly_all <= NEARLY_ALL;
        let details = format!("{CALLS} calls, the slowest {}", milliseconds(at(&times, 100)));
        table.line(&what, figure, limit, kept, &details);
    }
    for (memories, limit) in SEARCHES {
        fresh_questions(bench, table, memories, limit);
    }
}

/// Searches with questions that were not asked before, so that no answer is known.
fn fresh_questions(bench: &Bench, table: &mut Table, memories: usize, limit: Duration) {
    let file = bench.file(&format!("mcp {memories}"), &varied_file(memories));
    let (mut client, _) = Client::start(bench, &file);
    let mut times: Vec<Duration> = (0..WARM + SEARCH_CALLS)
        .map(|number| {
            let question = format!("where did I see lot{}z near the river?", number * 7919 % memories);
            let began = Instant::now();
            client.call("query_memories", &json!({"question": question}));
            began.elapsed()
        })
        .collect();
    times.drain(..WARM);
    times.sort_unstable();
    let (half, nearly_all) = (at(&times, 50), at(&times, 99));
    let what = format!("`query_memories`, {memories} memories, new questions, half / 99 %");
    let figure = format!("{} / {}", milliseconds(half), milliseconds(nearly_all));
    let details = format!("{SEARCH_CALLS} calls, the slowest {}", milliseconds(at(&times, 100)));
    table.line(&what, figure, milliseconds(limit), half <= limit, &details);
}

/// An agent in the format of `memories seed`.
pub const AGENT: &str = "
---

## Agent alex: Alex

### Memories

**[IDENTITY - CORE] Identity**
You are Alex. Role: project manager. Archetype: the planner.

**[BACKGROUND - CORE] Background**
Grew up above a bakery as the eldest of four and kept the accounts of the whole family.

**[TRAITS - CORE] Traits**
- organised
- loyal

**[VALUES - CORE] Values**
- A promise is a promise.
";

/// A percentile.
fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

pub struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Client {
    /// An initialized server, and the time from its start until then.
    pub fn start(bench: &Bench, file: &Path) -> (Client, Duration) {
        let began = Instant::now();
        let mut command = bench.memories(file);
        command.args(["mcp", "--agent", "alex"]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the program starts");
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut client = Client { child, stdin, stdout, line: String::new() };
        client.ask("initialize", &json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        }));
        (client, began.elapsed())
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(self.line.contains("\"isError\":false"), "{}", self.line);
    }

    fn ask(&mut self, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.stdin.write_all(format!("{request}\n").as_bytes()).expect("the server reads");
        self.line.clear();
        self.stdout.read_line(&mut self.line).expect("the server answers");
        assert!(self.line.contains("\"result\""), "{}", self.line);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
