//! Chats: `inject` as a process, the time the proxy adds to the first byte, and the latency of streamed chunks.
//!
//! Server and client are threads of this program that speak HTTP on loopback; the proxy is a process. Direct
//! requests and requests through the proxy alternate.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::measure::quantile;
use crate::search::varied_file;
use crate::table::Table;
use crate::{Bench, milliseconds};

/// Memories in the file.
const MEMORIES: usize = 1_000;

/// The user's message; its words occur in some of the memories.
const REQUEST: &str = r#"{"model":"m","messages":[{"role":"system","content":"You are the narrator."},{"role":"user","content":"where did I see the brass lantern near the river?"}],"stream":true}"#;

/// Number of consecutive requests, direct and through the proxy.
const REQUESTS: usize = 400;

/// Number of parallel streams, and of chunks in each.
const STREAMS: usize = 200;
const CHUNKS: usize = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// Memories in the file, and requests of each chat, when the proxy's memory is measured.
const MANY_MEMORIES: usize = 10_000;
const CHAT_REQUESTS: usize = 50;

/// Number of busy chats whose memory is compared with that of one.
const CHATS: usize = 8;

/// `inject`: one process for each request.
pub fn inject(bench: &Bench, table: &mut Table) {
    let file = bench.file("inject", &varied_file(MEMORIES));
    let request = file.with_file_name("request.json");
    std::fs::write(&request, REQUEST).expect("a file can be written");
    let run = || {
        let mut command = bench.memories(&file);
        command.args(["inject", "--min-similarity", "0.4"]);
        command.stdin(File::open(&request).expect("it was just written"));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let began = Instant::now();
        let output = command.output().expect("the program starts");
        let time = began.elapsed();
        assert!(output.status.success() && output.stdout.len() > REQUEST.len(), "nothing was inserted");
        time.as_secs_f64()
    };
    // The first run makes the index.
    let times: Vec<f64> = (0..102).map(|_| run()).skip(2).collect();
    let [low, median, high] = [0.25, 0.5, 0.75].map(|part| quantile(times.clone(), part));
    let [low, median, high] = [low, median, high].map(Duration::from_secs_f64);
    let limit = Duration::from_millis(20);
    let details = format!("half of {} runs within {}–{}", times.len(), milliseconds(low), milliseconds(high));
    let what = format!("`inject` as a process, {MEMORIES} memories, warm index");
    table.line(&what, milliseconds(median), milliseconds(limit), median <= limit, &details);
}

/// The time that the proxy adds to the first byte, and the latency of chunks through it.
pub fn proxy(bench: &Bench, table: &mut Table) {
    let upstream = start_upstream();
    let proxy = Proxy::start(bench, upstream, MEMORIES);
    first_byte(table, upstream, proxy.address);
    streams(table, upstream, proxy.address);
    drop(proxy);
    memory(bench, table, upstream);
}

/// The proxy's peak resident memory with several busy chats, compared with one.
fn memory(bench: &Bench, table: &mut Table, upstream: SocketAddr) {
    // The first one makes the index.
    chat(&Proxy::start(bench, upstream, MANY_MEMORIES), 1);
    let [one, many] = [1, CHATS].map(|chats| {
        let proxy = Proxy::start(bench, upstream, MANY_MEMORIES);
        chat(&proxy, chats);
        memory_of(proxy.child.id(), "VmHWM:")
    });
    let (Some(one), Some(many)) = (one, many) else {
        let what = "proxy: peak memory";
        return table.line(what, "unknown", "1.5 ×", true, "/proc is not there");
    };
    let ratio = many / one;
    let what = format!("proxy: peak memory, {CHATS} busy chats : one, {MANY_MEMORIES} memories");
    let details = format!("{many:.1} MB : {one:.1} MB, {CHAT_REQUESTS} requests of each chat");
    table.line(&what, format!("{ratio:.2} ×"), "1.5 ×", ratio <= 1.5, &details);
}

/// Lets several chats send their requests at the same time, each request other words.
fn chat(proxy: &Proxy, chats: usize) {
    let address = proxy.address;
    std::thread::scope(|scope| {
        for chat in 0..chats {
            scope.spawn(move || {
                let mut client = Client::connect(address);
                for number in 0..CHAT_REQUESTS {
                    let said = format!("where in room {chat} did I see lantern {number}?");
                    client.send(
                        1,
                        &REQUEST.replace("where did I see the brass lantern near the river?", &said),
                    );
                    client.read_head();
                    while client.read_chunk().is_some() {}
                }
            });
        }
    });
}

/// A figure of the memory of a process in MB: `VmHWM:` is the peak of what was resident.
pub(crate) fn memory_of(process: u32, name: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// A running proxy.
pub(crate) struct Proxy {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Proxy {
    pub(crate) fn start(bench: &Bench, upstream: SocketAddr, memories: usize) -> Proxy {
        let file = bench.file("proxy", &varied_file(memories));
        let settings = "[chat]\nmemorySearchThreshold = 0.4\nmemoryExtractionMode = \"on_save\"\n";
        std::fs::write(file.with_file_name("memories.toml"), settings).expect("a file can be written");
        let mut command: Command = bench.memories(&file);
        command.args(["proxy", "--listen", "127.0.0.1:0", "--provider", "offline"]);
        command.args(["--upstream", &format!("http://{upstream}")]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
        let address = line.split_whitespace().nth(2).map(|word| word.trim_end_matches(','));
        let address = address.and_then(|url| url.strip_prefix("http://")?.parse().ok());
        Proxy { child, address: address.unwrap_or_else(|| panic!("no address in {line:?}")) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_byte(table: &mut Table, upstream: SocketAddr, proxy: SocketAddr) {
    let mut ways = [Client::connect(upstream), Client::connect(proxy)];
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..REQUESTS + 20 {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let began = Instant::now();
            way.ask(1);
            way.read_head();
            let time = began.elapsed().as_secs_f64();
            while way.read_chunk().is_some() {}
            if round >= 20 {
                times.push(time);
            }
        }
    }
    for (part, name, limit) in [(0.5, "p50", 3), (0.99, "p99", 15)] {
        let [direct, through] = times.each_ref().map(|times| quantile(times.clone(), part));
        let added = Duration::from_secs_f64((through - direct).max(0.0));
        let limit = Duration::from_millis(limit);
        let [direct, through] = [direct, through].map(|time| milliseconds(Duration::from_secs_f64(time)));
        let details = format!("{through} : {direct} direct, {REQUESTS} requests each way");
        let what = format!("proxy: added to the first byte, {MEMORIES} memories, {name}");
        table.line(&what, milliseconds(added), milliseconds(limit), added <= limit, &details);
    }
}

fn streams(table: &mut Table, upstream: SocketAddr, proxy: SocketAddr) {
    let direct = delays(upstream).into_iter().flatten().collect();
    let direct = milliseconds(Duration::from_secs_f64(quantile(direct, 0.99)));
    let delays = delays(proxy);
    let lost = delays.iter().filter(|delays| delays.len() != CHUNKS).count();
    let delays: Vec<f64> = delays.into_iter().flatten().collect();
    let [median, p99] = [0.5, 0.99].map(|part| Duration::from_secs_f64(quantile(delays.clone(), part)));
    let limit = Duration::from_millis(30);
    let details =
        format!("median {}, direct p99 {direct}; {} chunks, none joined", milliseconds(median), delays.len());
    let what = format!("proxy: a chunk of one of {STREAMS} streams passed on, p99");
    table.line(&what, milliseconds(p99), milliseconds(limit), p99 <= limit, &details);
    table.line("proxy: streams with a chunk lost or joined", lost, 0, lost == 0, &format!("of {STREAMS}"));
}

/// The latency of each chunk of each stream, in seconds, from sending to reading.
fn delays(address: SocketAddr) -> Vec<Vec<f64>> {
    let threads: Vec<_> = (0..STREAMS)
        .map(|_| {
            std::thread::spawn(move || {
                let mut client = Client::connect(address);
                client.ask(CHUNKS);
                client.read_head();
                let mut delays = Vec::new();
                while let Some(chunk) = client.read_chunk() {
                    let sent = chunk.trim().strip_prefix("data: ").and_then(|sent| sent.parse::<u128>().ok());
                    // A chunk that is two, or half of one, is no number.
                    let sent = sent.unwrap_or_else(|| panic!("chunks were joined or cut: {chunk:?}"));
                    delays.push((now().saturating_sub(sent)) as f64 / 1e9);
                }
                delays
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("a stream")).collect()
}

/// Nanoseconds on a clock that server and client share.
fn now() -> u128 {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos()
}

/// A client with a persistent connection.
pub(crate) struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("somebody listens");
        stream.set_nodelay(true).expect("a socket");
        Client { address, stream: BufReader::new(stream) }
    }

    /// Requests a stream of that many chunks.
    fn ask(&mut self, chunks: usize) {
        self.send(chunks, REQUEST);
    }

    pub(crate) fn send(&mut self, chunks: usize, request: &str) {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nX-Chunks: {chunks}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            request.len()
        );
        self.stream.get_mut().write_all(format!("{head}{request}").as_bytes()).expect("it is sent");
    }

    pub(crate) fn read_head(&mut self) {
        while read_line(&mut self.stream).len() > 2 {}
    }

    /// The next chunk; `None` after the last.
    pub(crate) fn read_chunk(&mut self) -> Option<String> {
        let size = usize::from_str_radix(read_line(&mut self.stream).trim(), 16).expect("a chunk");
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).expect("the chunk's bytes");
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).expect("text"))
    }
}

fn read_line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a line");
    line
}

/// A server that answers each request with the requested number of chunks, each containing the time it was sent.
pub(crate) fn start_upstream() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let mut stream = BufReader::new(stream);
                while answer(&mut stream).is_some() {}
            });
        }
    });
    address
}

fn answer(stream: &mut BufReader<TcpStream>) -> Option<()> {
    let (mut length, mut chunks) = (0, 1);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("content-length: ").and_then(|n| n.parse().ok()).unwrap_or(length);
        chunks = line.strip_prefix("x-chunks: ").and_then(|n| n.parse().ok()).unwrap_or(chunks);
    }
    stream.read_exact(&mut vec![0; length]).ok()?;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.get_mut().write_all(head.as_bytes()).ok()?;
    for number in 0..chunks {
        if number > 0 {
            std::thread::sleep(PAUSE);
        }
        let chunk = format!("data: {}\n\n", now());
        stream.get_mut().write_all(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes()).ok()?;
    }
    stream.get_mut().write_all(b"0\r\n\r\n").ok()
}
