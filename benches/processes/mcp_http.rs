//! `mcp --http` with 50 clients, beside 50 clients that each have a server of their own on stdio.
//!
//! All clients ask the same questions at the same pace, so that both sides do the same work; none is asked twice. The
//! servers of both sides are up all the time and take turns to be asked, A B A B.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::measure::quantile;
use crate::search::varied_file;
use crate::server::{AGENT, Client};
use crate::table::Table;
use crate::{Bench, milliseconds};

const MEMORIES: usize = 10_000;
const CLIENTS: usize = 50;

/// Rounds of each side with many clients, and with one.
const ROUNDS: usize = 6;

/// Calls of a client in a round, and the time from one to the next: 100 a second of all clients.
const CALLS: usize = 20;
const PACE: Duration = Duration::from_millis(500);

/// Calls of the single client in a round, one after the other.
const CALLS_ALONE: usize = 200;

/// Limit of HTTP's 99th percentile, in those of stdio.
const LIMIT: f64 = 3.0;

const TOKEN: &str = "bench=0123456789abcdef0123456789abcdef";

/// Somebody who calls tools.
trait Caller: Send {
    /// Prepares for calls after a rest.
    fn wake(&mut self) {}

    fn call(&mut self, tool: &str, arguments: &Value);
}

impl Caller for Client {
    fn call(&mut self, tool: &str, arguments: &Value) {
        Client::call(self, tool, arguments);
    }
}

pub fn http(bench: &Bench, table: &mut Table) {
    let file = bench.file("mcp http", &format!("{}{AGENT}", varied_file(MEMORIES)));
    let server = Server::start(bench, &file);
    let mut stdio: Vec<Client> = (0..CLIENTS).map(|_| Client::start(bench, &file).0).collect();
    let mut http: Vec<Session> = (0..CLIENTS).map(|_| server.session()).collect();
    for number in 0..CLIENTS {
        warm(&mut stdio[number], number);
        warm(&mut http[number], number);
    }
    let (mut one, mut many) = (Rounds::default(), Rounds::default());
    for round in 0..ROUNDS {
        one.stdio.push(alone(&mut stdio[0], round));
        one.http.push(alone(&mut http[0], round));
        many.stdio.push(together(&mut stdio, round));
        many.http.push(together(&mut http, round));
    }
    one.print(table, "1 client, one call after the other", None);
    many.print(table, &format!("{CLIENTS} clients, 100 calls a second"), Some(LIMIT));
    let memory = |id: u32| resident(id).unwrap_or_default();
    let apart: u64 = stdio.iter().map(|client| memory(client.id())).sum();
    let shared = memory(server.child.id());
    let ratio = shared as f64 / apart as f64;
    let details = format!("{} MB of one server : {} MB of {CLIENTS}", shared >> 20, apart >> 20);
    table.line(
        "`mcp --http` : stdio, resident memory",
        format!("{ratio:.2} ×"),
        "1 ×",
        ratio <= 1.0,
        &details,
    );
}

/// Opens file and index, and makes both clients' first calls.
fn warm(caller: &mut dyn Caller, number: usize) {
    caller.call("query_memories", &json!({"question": format!("warm lot{}z", number)}));
    caller.call("get_location_memories", &json!({"location": "1"}));
}

/// The tool and the arguments of a call: of ten, six recalls, two searches, an action and the agent itself.
fn call_of(number: usize) -> (&'static str, Value) {
    let place = (number * 7 % (MEMORIES / 8)).to_string();
    match number % 10 {
        2 | 7 => {
            let question = format!("where did I see lot{}z near the river?", number * 7919 % MEMORIES);
            ("query_memories", json!({"question": question}))
        }
        4 => ("check_action", json!({"location": place, "action": format!("open box {number}")})),
        9 => ("query_self", json!({})),
        _ => ("get_location_memories", json!({"location": place})),
    }
}

/// Calls one after the other; their times in seconds.
fn alone(caller: &mut dyn Caller, round: usize) -> Vec<f64> {
    caller.wake();
    let numbers = (0..CALLS_ALONE).map(|call| 500_000 + round * CALLS_ALONE + call);
    numbers.map(|number| time_of(caller, number)).collect()
}

/// Calls of all clients at their pace, with their beginnings spread over it; their times in seconds.
fn together<C: Caller>(clients: &mut [C], round: usize) -> Vec<f64> {
    let (count, begin) = (clients.len(), Barrier::new(clients.len()));
    thread::scope(|scope| {
        let ask = |(at, client): (usize, &mut C)| {
            client.wake();
            begin.wait();
            let begun = Instant::now() + PACE.mul_f64(at as f64 / count as f64);
            let times = (0..CALLS).map(|call| {
                let due = begun + PACE * call as u32;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                time_of(client, (round * CALLS + call) * count + at * 13 % count)
            });
            times.collect::<Vec<f64>>()
        };
        let running: Vec<_> =
            clients.iter_mut().enumerate().map(|client| scope.spawn(move || ask(client))).collect();
        running.into_iter().flat_map(|client| client.join().expect("no client fails")).collect()
    })
}

fn time_of(caller: &mut (impl Caller + ?Sized), number: usize) -> f64 {
    let (tool, arguments) = call_of(number);
    let begun = Instant::now();
    caller.call(tool, &arguments);
    begun.elapsed().as_secs_f64()
}

/// The times of all rounds of both sides.
#[derive(Default)]
struct Rounds {
    stdio: Vec<Vec<f64>>,
    http: Vec<Vec<f64>>,
}

impl Rounds {
    /// The median over rounds of their percentiles; the ratio is that of each pair of rounds.
    fn print(&self, table: &mut Table, who: &str, limit: Option<f64>) {
        for (part, name) in [(0.5, "p50"), (0.99, "p99")] {
            let of = |rounds: &[Vec<f64>]| -> Vec<f64> {
                rounds.iter().map(|times| quantile(times.clone(), part)).collect()
            };
            let (stdio, http) = (of(&self.stdio), of(&self.http));
            let ratios: Vec<f64> = http.iter().zip(&stdio).map(|(http, stdio)| http / stdio).collect();
            let noise = stdio.windows(2).map(|two| (two[1] / two[0] - 1.0).abs()).collect();
            let ratio = quantile(ratios.clone(), 0.5);
            let shown =
                |values: &[f64]| milliseconds(Duration::from_secs_f64(quantile(values.to_vec(), 0.5)));
            let details = format!(
                "{} : {}; {} rounds within {:.2}–{:.2}; A against A ±{:.0} %; {} calls a side",
                shown(&http),
                shown(&stdio),
                ratios.len(),
                quantile(ratios.clone(), 0.0),
                quantile(ratios, 1.0),
                quantile(noise, 0.5) * 100.0,
                self.http.iter().map(Vec::len).sum::<usize>(),
            );
            let limit = limit.filter(|_| part > 0.9);
            let what = format!("`mcp --http` : stdio, {who}, {name}");
            let shown_limit = limit.map_or("—".to_owned(), |limit| format!("{limit} ×"));
            let kept = limit.is_none_or(|limit| ratio <= limit);
            table.line(&what, format!("{ratio:.2} ×"), shown_limit, kept, &details);
        }
    }
}

/// Resident memory of a process, in bytes, where the system says it.
fn resident(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// A server for all clients.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(bench: &Bench, file: &Path) -> Server {
        let mut command = bench.memories(file);
        command.args(["mcp", "--agent", "alex", "--http", "127.0.0.1:0"]).env("MEMORIES_MCP_TOKEN", TOKEN);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("the server says its address");
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches("/mcp");
        let address = address.to_owned();
        Server { child, address }
    }

    /// A client with a connection and a session of its own.
    fn session(&self) -> Session {
        let stream = connect(&self.address);
        let (_, token) = TOKEN.split_once('=').expect("the token has a name");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.address
        );
        let mut session = Session { stream: BufReader::new(stream), head, answer: String::new() };
        let greeting = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        });
        let id =
            session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}));
        session.head.push_str(&format!("Mcp-Session-Id: {}\r\n", id.expect("a session begins")));
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("the socket is open");
    stream
}

/// A client over HTTP that keeps its connection.
struct Session {
    stream: BufReader<TcpStream>,
    head: String,
    answer: String,
}

impl Session {
    /// Sends a message and reads the whole answer; the id of a session, if one began.
    fn send(&mut self, message: &Value) -> Option<String> {
        let body = message.to_string();
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.get_mut().write_all(request.as_bytes()).expect("the server reads");
        let (mut length, mut is_chunked, mut session) = (0, false, None);
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                if line.is_empty() {
                    break;
                }
                assert!(line.starts_with("HTTP/1.1 20"), "{line}");
                continue;
            };
            match name {
                "content-length" => length = value.parse().expect("a length"),
                "transfer-encoding" => is_chunked = true,
                "mcp-session-id" => session = Some(value.to_owned()),
                _ => {}
            }
        }
        self.answer.clear();
        if !is_chunked {
            self.take(length);
            return session;
        }
        loop {
            let line = self.line();
            let length = usize::from_str_radix(&line, 16).expect("the length of a chunk");
            self.take(length);
            self.line();
            if length == 0 {
                return session;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }

    fn take(&mut self, length: usize) {
        let part = (&mut self.stream).take(length as u64).read_to_string(&mut self.answer);
        assert_eq!(part.expect("the server answers"), length);
    }
}

impl Caller for Session {
    /// The server closes connections that rest; the session goes on in a new one.
    fn wake(&mut self) {
        let address = self.stream.get_ref().peer_addr().expect("the socket was connected");
        self.stream = BufReader::new(connect(&address.to_string()));
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        assert!(self.answer.contains("\"isError\":false"), "{}", self.answer);
    }
}
