//! Memories that stall: the chat goes through, and the proxy ends in time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;

const SOON: Duration = Duration::from_millis(200);

fn asking(field: &str, value: Value) -> Value {
    let mut question = question();
    question[field] = value;
    question
}

/// Sends requests at the same time; the longest time that one of them took.
fn send_all(proxy: &Proxy, requests: impl Iterator<Item = Value>) -> Duration {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = streaming_client();
        let send = |request: Value| {
            let request = client.post(proxy.url("/v1/chat/completions")).json(&request);
            tokio::spawn(async move {
                let begun = Instant::now();
                request.send().await.unwrap().error_for_status().unwrap().text().await.unwrap();
                begun.elapsed()
            })
        };
        let sent: Vec<_> = requests.map(send).collect();
        let mut longest = Duration::ZERO;
        for sent in sent {
            longest = longest.max(sent.await.unwrap());
        }
        longest
    })
}

fn warnings(proxy: &Proxy) -> Vec<String> {
    proxy.warned.try_iter().collect()
}

#[test]
fn a_search_that_stalls_holds_up_no_chat() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let mut proxy = Proxy::in_time(&upstream.url(), None, Limits::default(), SOON, PATIENCE);
    // More than are searched at the same time: the last ones do not even get a turn.
    let longest = send_all(&proxy, (0..60).map(|_| asking("stall_search", json!(true))));
    assert!(longest < PATIENCE, "{longest:?}");
    assert!(upstream.requests().iter().all(|request| request.body["woven"].is_null()));
    let said = warnings(&proxy);
    assert_eq!(said, ["a chat goes on without memories: these were not found within 200ms"]);
    // All turns are taken by searches that nobody waits for; they are free again when those are done.
    drop(proxy.go.take());
    while upstream.requests().last().is_none_or(|request| request.body["woven"].is_null()) {
        proxy.chat(&question()).send().unwrap().text().unwrap();
    }
    proxy.stop();
}

#[test]
fn replies_that_wait_for_their_extraction_are_bounded() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let mut proxy = Proxy::before(&upstream.url());
    send_all(&proxy, std::iter::once(asking("stall_extraction", json!(true))));
    send_all(&proxy, (0..150).map(|number| asking("number", json!(number))));
    // A client may have its reply before the proxy has put it aside: the second warning comes with the end.
    let first = proxy.warned.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first, "too many replies wait for their extraction: the oldest gives no memories");
    drop(proxy.go.take());
    proxy.stop();
    let told = proxy.told.try_iter().count();
    let last = proxy.warned.try_iter().last().unwrap();
    let dropped: usize = last.split(' ').next().unwrap().parse().unwrap();
    assert!(last.ends_with("dropped, because too many were waiting"), "{last}");
    // The first one may still wait when the others come.
    assert!((49..=51).contains(&dropped) && told + dropped == 151, "{told} {dropped}");
}

#[test]
fn the_end_does_not_wait_for_an_extraction_that_stalls() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let mut proxy = Proxy::in_time(&upstream.url(), None, Limits::default(), PATIENCE, SOON);
    send_all(&proxy, std::iter::once(asking("stall_extraction", json!(true))));
    send_all(&proxy, (0..5).map(|number| asking("number", json!(number))));
    let begun = Instant::now();
    proxy.stop();
    assert!(begun.elapsed() < PATIENCE);
    let said = warnings(&proxy);
    assert_eq!(
        said,
        ["the proxy ends before memories were extracted from 6 replies: the next extraction of their \
          conversations reads them"]
    );
    // The one that stalls was begun; the others are kept.
    let mut kept: Vec<u64> = proxy.kept.try_iter().filter_map(|request| request["number"].as_u64()).collect();
    kept.sort();
    assert_eq!(kept, [0, 1, 2, 3, 4]);
}

#[test]
fn a_reply_that_does_not_end_is_cut_off_after_the_grace_period() {
    let (gate, open) = Gate::new();
    let piece = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "Bye."}}]}));
    let upstream = Server::start(vec![Behaviour::Stream(vec![piece.clone(), piece], Some(gate))]);
    let mut proxy = Proxy::in_time(&upstream.url(), None, Limits::default(), PATIENCE, SOON);
    let reply = {
        let request = proxy.chat(&question());
        std::thread::spawn(move || request.send().unwrap().text())
    };
    open.send(()).unwrap();
    while upstream.requests().is_empty() {
        std::thread::yield_now();
    }
    proxy.stop();
    assert!(reply.join().unwrap().is_err());
    drop(open);
    assert_eq!(warnings(&proxy), ["1 connection was cut off in the middle of its reply"]);
}

#[test]
fn half_a_request_does_not_hold_up_the_end() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    // All other limits are longer than the test waits.
    let long = Duration::from_secs(600);
    let limits = Limits { header: long, body: long, ..Limits::default() };
    let mut proxy = Proxy::in_time(&upstream.url(), None, limits, long, long);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"messages\"",
        proxy.address
    );
    let half = |length: usize| {
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&head.as_bytes()[..length]).unwrap();
        stream
    };
    let mut body = half(head.len());
    let mut halves = [half(0), half(10), half(100)];
    // Later connections are accepted later: all of these are.
    assert!(http_client().get(proxy.url("/healthz")).send().unwrap().status().is_success());
    let begun = Instant::now();
    proxy.stop();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    let mut answer = String::new();
    body.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    for half in &mut halves {
        let mut answer = Vec::new();
        // Nothing comes, or the connection is reset.
        let _ = half.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
    assert_eq!(warnings(&proxy), [""; 0]);
}
