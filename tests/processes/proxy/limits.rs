//! Callers that hold connections, send slowly, or send more than the proxy keeps.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;

const SOON: Duration = Duration::from_millis(200);

fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// All that comes until the connection ends. What the server has not read by then makes it a reset.
fn rest(mut stream: &TcpStream) -> String {
    let mut text = String::new();
    match stream.read_to_string(&mut text) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => text,
    }
}

fn head(proxy: &Proxy, length: usize) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n",
        proxy.address
    )
}

#[test]
fn connections_without_a_request_end_and_a_running_chat_does_not() {
    let piece = |text: &str| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let (gate, open) = Gate::new();
    let upstream = Server::start(vec![Behaviour::Stream(vec![piece("One"), piece(" two")], Some(gate))]);
    let proxy = Proxy::with(&upstream.url(), None, Limits { header: SOON, body: SOON, ..Limits::default() });
    let chat = {
        let request = proxy.chat(&question());
        std::thread::spawn(move || request.send().unwrap().text().unwrap())
    };
    open.send(()).unwrap();
    let half_open: Vec<TcpStream> = (0..50).map(|_| connect(&proxy)).collect();
    for (number, stream) in half_open.iter().enumerate() {
        let begun = &head(&proxy, 10)[..number * 2];
        let mut stream = stream;
        stream.write_all(begun.as_bytes()).unwrap();
    }
    let kept_alive = connect(&proxy);
    (&kept_alive)
        .write_all(format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.address).as_bytes())
        .unwrap();
    for stream in half_open.iter().chain([&kept_alive]) {
        rest(stream);
    }
    // The chat has waited for longer than all of them.
    open.send(()).unwrap();
    assert_eq!(chat.join().unwrap().matches("data:").count(), 2);
}

#[test]
fn a_body_that_stops_is_given_up() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::with(&upstream.url(), None, Limits { body: SOON, ..Limits::default() });
    let mut stream = connect(&proxy);
    stream.write_all(format!("{}{{\"messages\"", head(&proxy, 100)).as_bytes()).unwrap();
    let answer = rest(&stream);
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("memories_proxy"), "{answer}");
    let mut stream = connect(&proxy);
    let other = head(&proxy, 100).replace("chat/completions", "embeddings");
    stream.write_all(format!("{other}{{").as_bytes()).unwrap();
    let answer = rest(&stream);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(upstream.requests().iter().all(|request| request.body.is_null()));
}

#[test]
fn a_connection_that_has_asked_nothing_makes_room_for_the_next() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let header = Duration::from_secs(600);
    let proxy = Proxy::with(&upstream.url(), None, Limits { connections: 2, header, ..Limits::default() });
    let held: Vec<TcpStream> = (0..2).map(|_| connect(&proxy)).collect();
    for stream in &held {
        (&*stream).write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    }
    let third = connect(&proxy);
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", proxy.address);
    (&third).write_all(request.as_bytes()).unwrap();
    assert!(rest(&third).starts_with("HTTP/1.1 200 "));
    held[0].set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(rest(&held[0]), "", "the oldest has ended");
}

#[test]
fn a_chat_that_is_too_large_goes_on_without_memories() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.url());
    let text = "x".repeat(25 << 20);
    let body = format!("{{\"messages\":  [], \"text\": \"{text}\"}}");
    // Many small values take more memory than their text.
    let many = format!("{{\"messages\":  [], \"text\": [{}1]}}", "1,".repeat(600_000));
    let json = "application/json";
    for body in [body, many] {
        let length = body.len().to_string();
        let known = http_client().post(proxy.url("/v1/chat/completions")).body(body.clone());
        assert_eq!(known.header("Content-Type", json).send().unwrap().status(), 200);
        let warning = proxy.warned.recv_timeout(PATIENCE).unwrap();
        assert!(warning.contains("goes on without memories"), "{warning}");
        let up = upstream.requests().pop().unwrap();
        assert_eq!((up.header("content-length"), &up.body["woven"]), (Some(length.as_str()), &Value::Null));
        assert_eq!(up.body["messages"], json!([]));
    }
    // The room is free again.
    proxy.chat(&question()).send().unwrap().text().unwrap();
    assert_eq!(proxy.told().1, question());
}

#[test]
fn a_long_head_is_refused() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.url());
    let mut stream = connect(&proxy);
    let long = format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Long: {}", proxy.address, "x".repeat(100 << 10));
    let _ = stream.write_all(long.as_bytes());
    let mut answer = Vec::new();
    // The connection may be reset, for the rest of the head is not read.
    let _ = stream.read_to_end(&mut answer);
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    assert!(upstream.requests().is_empty());
}
