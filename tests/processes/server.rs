//! A web server on loopback with scripted behaviour, for tests of everything that asks models.
//!
//! Behaviours enter, one for each request in turn, the last one for all that follow; the requests
//! that came are kept. Port 0, one thread for each connection, one request for each connection;
//! dropping it closes everything.
#![cfg_attr(
    not(feature = "proxy"),
    allow(dead_code, reason = "some behaviours serve the proxy's tests only")
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use memories::llm::RequestLimits;
use reqwest::blocking::Client;
use serde_json::{Value, json};

/// Where nobody listens. Port 1 is reserved; a port that a server has left may belong to another test at once.
pub const NOBODY: &str = "http://127.0.0.1:1";

/// The longest time for an answer of the program, which no test reaches.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of the program's own servers.
pub fn http_client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().timeout(PATIENCE).build().unwrap()
}

/// The status of the answer to a request as it is written, its headers in lower case, and its body.
pub fn raw(address: SocketAddr, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), body.to_owned())
}

/// The time limit of a model or embedder, with short pauses between retries.
pub fn quick(timeout: Duration) -> RequestLimits {
    RequestLimits { retry_delay: Duration::from_millis(1), ..RequestLimits::new(timeout) }
}

/// The reaction to a request.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// A whole reply.
    Reply { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// The head and half the body, then the connection ends.
    Cut(String),
    /// Nothing at all, until the client goes away.
    Hang,
    /// The head, then one byte after the other without end.
    Trickle,
    /// The same within the head.
    TrickleHead,
    /// A stream of events, a chunk at a time; each waits at the gate, where there is one.
    Stream(Vec<String>, Option<Gate>),
    /// Another behaviour after a pause.
    Slow(Duration, Box<Behaviour>),
    /// The connection ends without a reply.
    Close,
}

/// Lets a chunk through for each message on its channel, and all others when the sender is dropped.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Mutex<Receiver<()>>>);

impl Gate {
    /// A gate, and what opens it.
    pub fn new() -> (Gate, Sender<()>) {
        let (open, words) = channel();
        (Gate(Arc::new(Mutex::new(words))), open)
    }

    /// Waits for a message, or for the end of the sender.
    pub fn wait(&self) {
        let _ = self.0.lock().unwrap().recv();
    }
}

impl Behaviour {
    /// A reply of JSON.
    pub fn json(status: u16, body: Value) -> Behaviour {
        Behaviour::text(status, &body.to_string())
    }

    /// A reply of any text.
    pub fn text(status: u16, body: &str) -> Behaviour {
        Behaviour::Reply { status, headers: Vec::new(), body: body.to_owned() }
    }

    /// The same reply with one header more.
    pub fn with_header(self, name: &'static str, value: &str) -> Behaviour {
        match self {
            Behaviour::Reply { status, mut headers, body } => {
                headers.push((name, value.to_owned()));
                Behaviour::Reply { status, headers, body }
            }
            other => other,
        }
    }

    /// A chat completion that says `content`.
    pub fn says(content: &str) -> Behaviour {
        Behaviour::json(200, completion(json!(content), "stop"))
    }

    /// An error in the shape of OpenAI.
    pub fn error(status: u16, message: &str) -> Behaviour {
        let error = json!({"message": message, "type": "invalid_request_error", "param": null, "code": null});
        Behaviour::json(status, json!({"error": error}))
    }
}

/// A chat completion as OpenAI-like servers send it.
pub fn completion(content: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": content, "refusal": null},
            "logprobs": null,
            "finish_reason": finish_reason,
        }],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    })
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, `null` where it is not JSON.
    pub body: Value,
}

impl Request {
    /// The value of a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

type Decide = dyn Fn(&Request, usize) -> Behaviour + Send + Sync;

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    requests: Mutex<Vec<Request>>,
    streams: Mutex<Vec<TcpStream>>,
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server that goes through the behaviours and stays at the last.
    pub fn start(behaviours: Vec<Behaviour>) -> Server {
        assert!(!behaviours.is_empty());
        Server::deciding(move |_, number| behaviours[number.min(behaviours.len() - 1)].clone())
    }

    /// A server that always says this value as a chat completion.
    pub fn saying(answer: &Value) -> Server {
        Server::start(vec![Behaviour::says(&answer.to_string())])
    }

    /// A server that decides by the request and its number, counted from 0.
    pub fn deciding(decide: impl Fn(&Request, usize) -> Behaviour + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared, &Arc::new(decide))
        });
        Server { address, shared, thread: Some(thread) }
    }

    /// The address of an OpenAI-like API.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address alone.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that came so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts, which then joins the others.
        let _ = TcpStream::connect(self.address);
        for stream in self.shared.streams.lock().unwrap().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(
    listener: &TcpListener,
    shared: &Arc<Shared>,
    decide: &Arc<impl Fn(&Request, usize) -> Behaviour + Send + Sync + 'static>,
) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        {
            let mut streams = shared.streams.lock().unwrap();
            if shared.stopped.load(Ordering::SeqCst) {
                break;
            }
            streams.extend(stream.try_clone());
        }
        let (shared, decide) = (Arc::clone(shared), Arc::clone(decide));
        threads.push(std::thread::spawn(move || {
            serve(stream, &shared, &*decide);
        }));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn serve(mut stream: TcpStream, shared: &Shared, decide: &Decide) {
    let Some(request) = read_request(&stream) else {
        let _ = stream.shutdown(Shutdown::Both);
        return;
    };
    let number = {
        let mut requests = shared.requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    // A client that has gone away is ignored.
    let _ = behave(&mut stream, decide(&request, number), shared);
    let _ = stream.shutdown(Shutdown::Both);
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut first = [0];
    stream.peek(&mut first).ok()?;
    if !first[0].is_ascii_uppercase() {
        // For example a TLS handshake, which would wait for an answer.
        return None;
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

fn behave(stream: &mut TcpStream, behaviour: Behaviour, shared: &Shared) -> std::io::Result<()> {
    match behaviour {
        Behaviour::Reply { status, headers, body } => {
            write!(stream, "HTTP/1.1 {status} Status\r\nConnection: close\r\n")?;
            for (name, value) in headers {
                write!(stream, "{name}: {value}\r\n")?;
            }
            write!(stream, "Content-Length: {}\r\n\r\n{body}", body.len())
        }
        Behaviour::Cut(body) => {
            let length = body.len();
            let half = &body.as_bytes()[..length / 2];
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n")?;
            stream.write_all(half)
        }
        Behaviour::Hang => stream.read(&mut [0]).map(drop),
        Behaviour::Trickle => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
            trickle(stream, shared)
        }
        Behaviour::TrickleHead => {
            write!(stream, "HTTP/1.1 200 OK\r\nX-Filler: ")?;
            trickle(stream, shared)
        }
        Behaviour::Stream(pieces, gate) => {
            // Without the first header, a client may send its next request on a connection that is about to end.
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n")?;
            write!(stream, "Transfer-Encoding: chunked\r\n\r\n")?;
            for piece in pieces {
                if let Some(gate) = &gate {
                    gate.wait();
                }
                stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())?;
            }
            write!(stream, "0\r\n\r\n")
        }
        Behaviour::Slow(pause, then) => {
            std::thread::sleep(pause);
            behave(stream, *then, shared)
        }
        Behaviour::Close => Ok(()),
    }
}

fn trickle(stream: &mut TcpStream, shared: &Shared) -> std::io::Result<()> {
    while !shared.stopped.load(Ordering::SeqCst) {
        stream.write_all(b" ")?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
