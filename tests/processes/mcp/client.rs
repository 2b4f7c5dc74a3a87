//! A client of the server that speaks JSON-RPC, one message a line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::Killed;

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The newest version that still begins with `initialize`.
pub const WITH_INITIALIZE: &str = "2025-11-25";

/// A memory file of two agents and their world.
pub const STORY: &str = include_str!("story.md");

/// The story, and a client that speaks for the agent `alex`.
pub fn alex() -> (World, Client) {
    let world = World::new(STORY);
    assert!(world.program().args(["adopt", "--all"]).output().unwrap().status.success());
    let client = world.serve(&["--agent", "alex"]);
    (world, client)
}

#[track_caller]
pub fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// A folder with a memory file.
pub struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub fn new(text: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Memories.md"), text).unwrap();
        World { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self) -> PathBuf {
        self.path().join("Memories.md")
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The program in this folder, without the settings of the user who runs the tests.
    pub fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("MEMORIES_NOW", "2026-01-31T12:00:00Z");
        command.current_dir(self.path());
        if self.path().join("memories.toml").exists() {
            // A file that is named is trusted.
            command.env("MEMORIES_CONFIG", "memories.toml");
        }
        command
    }

    /// A server that is initialized.
    pub fn serve(&self, arguments: &[&str]) -> Client {
        let mut client = self.start(arguments);
        client.initialize(WITH_INITIALIZE);
        client
    }

    /// A server by a program with an environment of its own, initialized.
    pub fn serve_by(&self, program: Command, arguments: &[&str]) -> Client {
        let mut client = start(program, arguments);
        client.initialize(WITH_INITIALIZE);
        client
    }

    /// A server without any message yet.
    pub fn start(&self, arguments: &[&str]) -> Client {
        start(self.program(), arguments)
    }
}

fn start(mut program: Command, arguments: &[&str]) -> Client {
    let mut child = program
        .arg("mcp")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stdout.lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Client { stdin, child: Killed(child), lines, last: 0, notes: Vec::new(), meta: None }
}

/// One running server.
pub struct Client {
    stdin: Option<ChildStdin>,
    /// A server that does not end with its client would hang the test.
    child: Killed,
    lines: Receiver<String>,
    last: u64,
    /// Notifications that came, in their order.
    pub notes: Vec<Value>,
    /// The `_meta` of every request.
    pub meta: Option<Value>,
}

impl Client {
    pub fn initialize(&mut self, version: &str) -> Value {
        let greeting = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", greeting).unwrap();
        self.tell("notifications/initialized", json!({}));
        answer
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends any bytes as a line.
    pub fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&[line, b"\n"].concat()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request without waiting; returns its id.
    pub fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    /// The next message; every line must be one.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server says something");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The answer to a request; notifications on the way are kept.
    pub fn answer_to(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            assert!(message.get("id").is_none(), "an answer that nobody waits for: {message}");
            self.notes.push(message);
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    /// Calls a tool; returns the result, also of an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).unwrap()
    }

    /// Calls a tool that succeeds; returns the values of its answer.
    #[track_caller]
    pub fn values(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {}", text_of(&result));
        result["structuredContent"].clone()
    }

    /// Calls a tool that succeeds; returns the text of its answer.
    #[track_caller]
    pub fn says(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {}", text_of(&result));
        text_of(&result)
    }

    /// Calls a tool that refuses; returns its message.
    #[track_caller]
    pub fn refuses(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} did not refuse: {}", text_of(&result));
        let error = &result["_meta"]["memories/error"];
        let problem = error["error"].as_str().expect("the reason for programs");
        assert!(text_of(&result).starts_with(problem), "{error}");
        assert!([2, 3, 4].map(Value::from).contains(&error["code"]), "{error}");
        text_of(&result)
    }

    /// Titles of the memories that a tool finds.
    #[track_caller]
    pub fn titles(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let values = self.values(tool, arguments);
        let memories = values["memories"].as_array().expect("memories");
        memories.iter().map(|memory| memory["title"].as_str().unwrap().to_owned()).collect()
    }

    pub fn tools(&mut self) -> Vec<Value> {
        let list = self.ask("tools/list", json!({})).unwrap();
        list["tools"].as_array().unwrap().clone()
    }

    /// Ends the session; returns the exit code and stderr.
    pub fn leave(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut stderr = String::new();
        let mut pipe = self.child.0.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut pipe, &mut stderr).unwrap();
        (self.child.0.wait().unwrap().code(), stderr)
    }
}

pub fn text_of(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}
