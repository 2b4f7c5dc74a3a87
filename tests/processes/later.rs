//! The model beside the game: `record --later` queues, `retry --follow` works off.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::program::{Killed, memories, send, with_input};
use crate::server::{Behaviour, Request, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any step of these tests takes; only a failure waits so long.
const AMPLE: Duration = Duration::from_secs(60);

struct Game {
    _scratch: TempDir,
    folder: PathBuf,
    address: String,
}

impl Game {
    fn with(server: &Server) -> Game {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        let settings = "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nmax_retries = 0\n";
        fs::write(folder.join("memories.toml"), settings).unwrap();
        Game { _scratch: scratch, folder, address: server.base_url() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = memories(&self.folder, arguments);
        command.env("MEMORIES_BASE_URL", &self.address);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        with_input(&mut self.command(arguments), stdin)
    }

    /// Records turns with those numbers, and asks no model.
    fn play_later(&self, numbers: std::ops::RangeInclusive<u64>) -> Value {
        let lines: String = numbers.map(|number| turn(number).to_string() + "\n").collect();
        let output = self.run(&["record", "--turns", "-", "--later", "--json"], &lines);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn follow(&self, said: &Sender<Value>) -> Follower {
        let mut child = self.command(&["retry", "--follow", "--json"]).spawn().unwrap();
        let (stdout, said) = (child.stdout.take().unwrap(), said.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = said.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        Follower(Killed(child))
    }

    fn waiting(&self) -> Value {
        let output = self.run(&["retry", "--dry-run", "--json"], "");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["waiting_count"].take()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.join("Memories.md")).unwrap()
    }

    /// How many lines of the journal resolve another.
    fn resolved(&self) -> usize {
        let path: &Path = &self.folder.join(".memories/Memories.md/journal.jsonl");
        fs::read_to_string(path).unwrap().matches("\"resolves\":").count()
    }
}

struct Follower(Killed);

impl Follower {
    /// Sends a signal; the exit code, and what it said on stderr.
    fn stop(mut self, signal: &str) -> (Option<i32>, String) {
        send(signal, &self.0.0);
        let status = self.0.0.wait().unwrap();
        let mut said = String::new();
        self.0.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

fn turn(number: u64) -> Value {
    json!({
        "episode": 1, "turn": number, "action": format!("push button {number}"), "response": "Something clicks.",
        "location": {"id": 5, "name": "Attic"}, "score_before": 0, "score_after": 5,
    })
}

/// The number of the turn that a prompt is about.
fn asked_about(request: &Request) -> u64 {
    // Examples stand before it.
    let messages = request.body["messages"].as_array().unwrap();
    let prompt = messages.last().unwrap()["content"].as_str().unwrap();
    let data = prompt.lines().skip(2).take_while(|line| !line.starts_with('`')).collect::<String>();
    serde_json::from_str::<Value>(&data).unwrap()["turn"].as_u64().unwrap()
}

fn answer(request: &Request) -> Behaviour {
    let number = asked_about(request);
    let text = format!("Button {number} clicks when somebody pushes it.");
    let answer =
        json!({"should_remember": true, "memory_title": format!("Button {number}"), "memory_text": text});
    Behaviour::says(&answer.to_string())
}

fn outcomes(said: &Receiver<Value>, count: usize) -> Vec<String> {
    let next = |_| said.recv_timeout(AMPLE).expect("a turn is done")["turn"].as_str().unwrap().to_owned();
    (0..count).map(next).collect()
}

#[test]
fn later_asks_nobody_and_a_follower_does_the_turns_as_they_come() {
    let server = Server::deciding(|request, _| answer(request));
    let game = Game::with(&server);
    let (sender, said) = channel();
    assert_eq!(game.play_later(1..=2)["outcomes"], json!({"queued": 2}));
    let output = game.run(&["record", "--later", "--json"], &turn(3).to_string());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &report["outcome"], &report["queued"]),
        (Some(0), &json!("queued"), &json!(true))
    );
    assert_eq!(server.requests().len(), 0);
    assert!(game.text().contains("**Visits:** 1 |"), "{}", game.text());

    let follower = game.follow(&sender);
    assert_eq!(outcomes(&said, 3), ["Ep1 T1", "Ep1 T2", "Ep1 T3"]);
    game.play_later(4..=5);
    assert_eq!(outcomes(&said, 2), ["Ep1 T4", "Ep1 T5"]);
    let (code, stderr) = follower.stop("-TERM");
    assert_eq!((code, stderr.as_str()), (Some(0), "stopped: 5 turns done\n"));
    assert_eq!((game.waiting(), server.requests().len(), game.resolved()), (json!(0), 5, 5));
    for number in 1..=5 {
        assert_eq!(game.text().matches(&format!("] Button {number}**")).count(), 1, "{}", game.text());
    }
}

#[test]
fn several_followers_do_each_turn_once() {
    let server = Server::deciding(|request, _| answer(request));
    let game = Game::with(&server);
    let (sender, said) = channel();
    game.play_later(1..=4);
    let followers: Vec<Follower> = (0..3).map(|_| game.follow(&sender)).collect();
    outcomes(&said, 4);
    game.play_later(5..=8);
    outcomes(&said, 4);
    for follower in followers {
        assert_eq!(follower.stop("-INT").0, Some(0));
    }
    assert!(said.try_recv().is_err(), "nothing is done twice");
    assert_eq!((game.waiting(), server.requests().len(), game.resolved()), (json!(0), 8, 8));
}

#[test]
fn a_follower_waits_for_a_model_that_fails() {
    let server = Server::deciding(|request, number| match number {
        0..3 => Behaviour::error(503, "busy"),
        _ => answer(request),
    });
    let game = Game::with(&server);
    let (sender, said) = channel();
    game.play_later(1..=3);
    let follower = game.follow(&sender);
    assert_eq!(outcomes(&said, 3).len(), 3);
    let (code, stderr) = follower.stop("-TERM");
    assert_eq!(code, Some(0));
    assert_eq!(stderr.matches("answered with HTTP 503: busy").count(), 1, "said once: {stderr}");
    // Two failures end the first pass, one is in the second, and then all three are done.
    assert_eq!((game.waiting(), game.resolved()), (json!(0), 3));
    assert!(server.requests().len() <= 7, "{}", server.requests().len());
}

#[test]
fn an_interrupt_while_a_model_thinks_ends_at_once_and_leaves_the_turn_queued() {
    let (asked, is_asked) = channel();
    let server = Server::deciding(move |_, _| {
        let _ = asked.send(());
        Behaviour::Hang
    });
    let game = Game::with(&server);
    game.play_later(1..=1);
    let before = game.text();
    for signal in ["-TERM", "-INT"] {
        let follower = game.follow(&channel().0);
        is_asked.recv_timeout(AMPLE).expect("the model is asked");
        assert_eq!(follower.stop(signal), (Some(0), "stopped: 0 turns done\n".to_owned()));
    }
    assert_eq!((game.waiting(), game.text()), (json!(1), before));
}
