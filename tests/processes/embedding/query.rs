//! `query` with an embedder behind HTTP: kept vectors, changed models, and the fallback.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::input;
use crate::program::memories;
use crate::server::{Behaviour, NOBODY, Request, Server};

const KEY: &str = "sk-test-0123456789abcdefSECRET";

/// A folder with a memory file and settings, and the program in it.
struct Play {
    _scratch: TempDir,
    folder: PathBuf,
}

impl Play {
    fn new(memories: usize, settings: &str) -> Play {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().to_owned();
        let play = Play { _scratch: scratch, folder };
        play.settings(settings);
        let entries: Vec<String> = (0..memories)
            .map(|n| format!("**[NOTE] Thing {n}** *(Ep1, T{n})*\nText number {n}.\n"))
            .collect();
        play.memories(&entries.join("\n"));
        play
    }

    fn settings(&self, settings: &str) {
        fs::write(self.folder.join("memories.toml"), format!("[search]\n{settings}")).unwrap();
    }

    fn memories(&self, entries: &str) {
        let text = format!("# Location Memories\n\n## Location 5: Attic\n\n### Memories\n\n{entries}\n");
        fs::write(self.folder.join("Memories.md"), text).unwrap();
    }

    fn index(&self, name: &str) -> PathBuf {
        self.folder.join(".memories/Memories.md").join(name)
    }

    /// Asks, and returns the output; stderr must be empty.
    fn ask(&self, question: &str) -> Value {
        let output = self.output(question);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn output(&self, question: &str) -> Output {
        let mut command = memories(&self.folder, &["query", question, "--json", "--explain"]);
        command.env("MEMORIES_EMBEDDING_API_KEY", KEY).output().unwrap()
    }

    /// The warnings and the answer.
    fn warned(&self, question: &str) -> (String, Value) {
        let output = self.output(question);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        (stderr, serde_json::from_slice(&output.stdout).unwrap())
    }
}

/// A server to which `Text number N.` means what `what is N?` means.
fn meaning(request: &Request) -> Behaviour {
    let vector = |text: &String| {
        let number = text.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        let angle: f64 = number.map_or(0.0, |number| number.parse().unwrap());
        json!([angle.cos(), angle.sin()])
    };
    let vectors: Vec<Value> = input(request).iter().map(vector).collect();
    Behaviour::json(200, json!({"embeddings": vectors}))
}

fn ollama(server: &Server) -> String {
    format!("embedder = \"ollama\"\nembedding_url = \"{}\"\n", server.url())
}

fn texts(server: &Server) -> usize {
    server.requests().iter().map(|request| input(request).len()).sum()
}

#[test]
fn every_vector_is_asked_for_once() {
    let server = Server::deciding(|request, _| meaning(request));
    let play = Play::new(40, &ollama(&server));
    let answer = play.ask("what is 7?");
    assert_eq!(answer["memories"][0]["title"], "Thing 7");
    assert!(answer["memories"][0]["explain"]["meaning"].as_f64().unwrap() > 0.99);
    assert_eq!(texts(&server), 41, "the memories and the question");
    assert!(play.index("index-served").exists() && !play.index("index").exists());
    play.ask("what is 8?");
    assert_eq!(texts(&server), 42, "the question alone");
    let more = fs::read_to_string(play.folder.join("Memories.md")).unwrap()
        + "\n**[NOTE] Thing 99** *(Ep1, T99)*\nText number 99.\n";
    fs::write(play.folder.join("Memories.md"), more).unwrap();
    assert_eq!(play.ask("what is 99?")["memories"][0]["title"], "Thing 99");
    play.ask("what is 98?");
    assert_eq!(texts(&server), 45, "a new memory, once, and two questions");
}

#[test]
fn a_damaged_index_and_another_model_mean_anew() {
    let server = Server::deciding(|request, _| meaning(request));
    let play = Play::new(5, &ollama(&server));
    let first = play.ask("what is 3?");
    let mut bytes = fs::read(play.index("index-served")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(play.index("index-served"), bytes).unwrap();
    assert_eq!(play.ask("what is 3?"), first);
    assert_eq!(texts(&server), 12);
    play.settings(&format!("{}embedding_model = \"all-minilm\"\n", ollama(&server)));
    play.ask("what is 3?");
    assert_eq!(texts(&server), 18, "all anew");
    play.ask("what is 3?");
    assert_eq!(texts(&server), 19);
}

#[test]
fn unrelated_vectors_count_as_such() {
    let server = Server::deciding(|request, _| meaning(request));
    let meaning_of = |unrelated: &str| {
        let play = Play::new(1, &format!("{}unrelated_cosine = {unrelated}\nfloor = 0.0\n", ollama(&server)));
        // The cosine is that of one radian.
        play.ask("what is 1?")["memories"][0]["explain"]["meaning"].as_f64().unwrap()
    };
    assert!((meaning_of("0.0") - 0.54).abs() < 0.01);
    assert!((meaning_of("0.4") - 0.233).abs() < 0.01);
    assert_eq!(meaning_of("0.6"), 0.0);
}

#[test]
fn what_was_paid_for_is_kept_where_the_server_fails_in_between() {
    // The question, then 256 texts in eight requests, then nothing more.
    let server = Server::deciding(|request, number| match number {
        0..=8 => meaning(request),
        9 => Behaviour::json(
            404,
            json!({"error": "model \"nomic-embed-text\" not found, try pulling it first"}),
        ),
        _ => meaning(request),
    });
    let play = Play::new(300, &ollama(&server));
    let (warning, answer) = play.warned("text number 7");
    assert_eq!(warning.lines().count(), 1, "a notice of one line: {warning}");
    assert!(warning.contains("`ollama pull nomic-embed-text`"), "{warning}");
    assert!(warning.contains("; the embedded model answers instead"), "{warning}");
    assert_eq!(answer["memories"][0]["title"], "Thing 7");
    assert!(!warning.contains(KEY));
    let before = texts(&server);
    play.ask("what is 299?");
    assert_eq!(texts(&server) - before, 1 + 300 - 256, "the rest and the question");
}

#[test]
fn the_embedded_model_answers_in_full_where_no_server_does() {
    let settings = format!("embedder = \"ollama\"\nembedding_url = \"{NOBODY}\"\n");
    let play = Play::new(3, &settings);
    let (warning, answer) = play.warned("text number 2");
    assert!(warning.starts_with("warning: the model at http://127.0.0.1:1 cannot be reached: "), "{warning}");
    play.settings("");
    assert_eq!(play.ask("text number 2"), answer, "as if it had been asked alone");
    play.settings(&format!("{settings}embedding_fallback = false\n"));
    let output = play.output("text number 2");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let error: Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["hint"], "`embedder = \"embedded\"` under `[search]` needs no server");
    play.memories("");
    let output = play.output("anything");
    assert!(output.status.success() && output.stderr.is_empty(), "nobody is asked where nothing is kept");
}

#[test]
fn a_server_that_is_gone_for_a_while_does_not_cost_its_vectors() {
    let server = Server::deciding(|request, number| match number {
        2 => Behaviour::json(400, json!({"error": "no"})),
        _ => meaning(request),
    });
    let play = Play::new(5, &ollama(&server));
    play.ask("what is 3?");
    let (warning, _) = play.warned("what is 3?");
    assert!(warning.contains("HTTP 400: no"), "{warning}");
    play.ask("what is 3?");
    assert_eq!(texts(&server), 5 + 3);
}

#[test]
fn settings_that_cannot_work_are_errors() {
    for (settings, said) in [
        ("embedder = \"olama\"\n", "`olama` is not a kind of embedder; the nearest is `ollama`"),
        ("embedder = \"ollama\"\nembedding_url = \"ftp://h\"\n", "`embedding_url` is not an address"),
        ("embedder = \"ollama\"\nembedding_timeout = 5\n", "expected a time such as \"60s\""),
    ] {
        let output = Play::new(1, settings).output("text");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{stderr}");
        let error: Value = serde_json::from_str(&stderr).unwrap();
        assert!(error["error"].as_str().unwrap().contains(said) && error["hint"].is_string(), "{stderr}");
    }
}
