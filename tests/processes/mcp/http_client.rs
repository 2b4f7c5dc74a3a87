//! A server over HTTP, and a client that speaks its protocol by single requests.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use reqwest::blocking::{RequestBuilder, Response};
use serde_json::{Value, json};

use super::client::{WITH_INITIALIZE, World};
use crate::program::{Killed, send};
use crate::server::{http_client, raw};

pub const PATIENCE: Duration = Duration::from_secs(60);

/// Two clients with names.
pub const TOKENS: &str = "ada=0123456789abcdef-ada bob=0123456789abcdef-bob";
pub const ADA: &str = "0123456789abcdef-ada";
pub const BOB: &str = "0123456789abcdef-bob";

/// A running server.
pub struct Server {
    child: Killed,
    pub address: SocketAddr,
}

impl Server {
    /// A server with the tokens of [`TOKENS`].
    pub fn start(world: &World, arguments: &[&str]) -> Server {
        let mut program = world.program();
        program.env("MEMORIES_MCP_TOKEN", TOKENS);
        Server::by(program, arguments)
    }

    pub fn by(mut program: Command, arguments: &[&str]) -> Server {
        program.args(["mcp", "--http", "127.0.0.1:0"]).args(arguments);
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").and_then(|line| line.strip_suffix("/mcp\n"));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).parse().unwrap();
        Server { child: Killed(child), address }
    }

    /// A client that has begun a session.
    pub fn client(&self, token: &str) -> Client {
        let mut client = self.stranger(token);
        client.initialize(WITH_INITIALIZE);
        client
    }

    /// A client without a session.
    pub fn stranger(&self, token: &str) -> Client {
        Client {
            http: http_client(),
            url: format!("http://{}/mcp", self.address),
            token: token.to_owned(),
            session: None,
            last: 0,
        }
    }

    /// The status of the answer to a request as it is written, its headers in lower case, and its body.
    pub fn raw(&self, request: &str) -> (u16, String, String) {
        raw(self.address, request)
    }

    pub fn signal(&self, name: &str) {
        send(name, &self.child.0);
    }

    /// Waits for the end; the exit code and stderr.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut stderr = String::new();
        self.child.0.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.0.wait().unwrap().code(), stderr)
    }
}

/// A client with at most one session.
#[derive(Clone)]
pub struct Client {
    http: reqwest::blocking::Client,
    url: String,
    pub token: String,
    pub session: Option<String>,
    last: u64,
}

impl Client {
    pub fn initialize(&mut self, version: &str) -> Value {
        let greeting = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let response = self.send("initialize", greeting);
        assert_eq!(response.status(), 200);
        self.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let answer = answer_of(&response.text().unwrap());
        assert_eq!(self.tell("notifications/initialized", json!({})).status(), 202);
        answer["result"].clone()
    }

    /// A request with the headers that the protocol demands.
    pub fn request(&self, method: reqwest::Method) -> RequestBuilder {
        let request = self.http.request(method, &self.url).bearer_auth(&self.token);
        let request = request.header("Accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => request.header("Mcp-Session-Id", session),
            None => request,
        }
    }

    /// Sends any body.
    pub fn post(&self, body: impl Into<reqwest::blocking::Body>) -> Response {
        let request = self.request(reqwest::Method::POST).header("Content-Type", "application/json");
        request.body(body).send().unwrap()
    }

    pub fn tell(&self, method: &str, params: Value) -> Response {
        self.post(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
    }

    /// Sends a request; its answer may still come.
    pub fn send(&mut self, method: &str, params: Value) -> Response {
        self.last += 1;
        self.post(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).to_string())
    }

    /// The id of the last request.
    pub fn last(&self) -> u64 {
        self.last
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.send(method, params);
        assert_eq!(response.status(), 200);
        let answer = answer_of(&response.text().unwrap());
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// The values of a tool that succeeds.
    #[track_caller]
    pub fn values(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["structuredContent"].clone()
    }
}

/// The messages of an answer: JSON, or the data of a stream of events.
pub fn messages_of(body: &str) -> Vec<Value> {
    if body.starts_with('{') {
        vec![serde_json::from_str(body).unwrap()]
    } else {
        body.lines()
            .filter_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

/// The last message of an answer.
pub fn answer_of(body: &str) -> Value {
    messages_of(body).pop().unwrap_or_else(|| panic!("no message: {body}"))
}
