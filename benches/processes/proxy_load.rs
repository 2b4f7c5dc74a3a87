//! Memory that callers can make the proxy hold: very long chats at once, and connections that send no request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::Bench;
use crate::chat::{Client, Proxy, memory_of, start_upstream};
use crate::table::Table;

/// Memories in the file.
const MEMORIES: usize = 1_000;

/// Number of long chats at the same time, and their length in MiB: beyond the proxy's limits for one chat, beyond that
/// for all, and within.
const LOADS: [(usize, usize); 4] = [(8, 63), (8, 30), (1, 23), (40, 1)];

/// Number of connections that send half a head.
const HALF_OPEN: usize = 600;

const MEGABYTES: f64 = 200.0;

/// The proxy's memory under load, and the time for which it keeps connections without a request.
pub fn proxy(bench: &Bench, table: &mut Table) {
    let upstream = start_upstream();
    for (chats, length) in LOADS {
        let proxy = Proxy::start(bench, upstream, MEMORIES);
        let (held, began) = (half_open(proxy.address), Instant::now());
        let waiting = std::thread::spawn(move || all_closed(held, began));
        long_chats(proxy.address, chats, length << 20);
        let closed = waiting.join().expect("they end");
        let memory = |name| memory_of(proxy.child.id(), name).unwrap_or(0.0);
        let (peak, after) = (memory("VmHWM:"), memory("VmRSS:"));
        let what =
            format!("proxy: peak memory, {chats} chats of {length} MiB, {HALF_OPEN} half-open connections");
        let details = format!("{after:.0} MB afterwards");
        table.line(&what, format!("{peak:.0} MB"), format!("{MEGABYTES:.0} MB"), peak <= MEGABYTES, &details);
        let limit = Duration::from_secs(12);
        let what =
            format!("proxy: {HALF_OPEN} half-open connections are gone, {chats} chats of {length} MiB");
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        table.line(&what, seconds(closed), seconds(limit), closed <= limit, "from the last one's beginning");
    }
}

fn half_open(proxy: SocketAddr) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(proxy).expect("somebody listens");
        stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nHost: ").expect("it is sent");
        stream
    };
    (0..HALF_OPEN).map(open).collect()
}

/// The time until the server has closed them all.
fn all_closed(held: Vec<TcpStream>, began: Instant) -> Duration {
    for mut stream in held {
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let end = stream.read_to_end(&mut Vec::new());
        assert!(end.is_ok_and(|length| length == 0), "a connection is still open, or got an answer");
    }
    began.elapsed()
}

/// Chats of that many bytes, all at once; each must be answered.
fn long_chats(proxy: SocketAddr, chats: usize, length: usize) {
    let text = "the brass lantern near the river ".repeat(length / 33);
    let request = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#);
    std::thread::scope(|scope| {
        for _ in 0..chats {
            scope.spawn(|| {
                let mut client = Client::connect(proxy);
                client.send(1, &request);
                client.read_head();
                while client.read_chunk().is_some() {}
            });
        }
    });
}
