//! Many calls at once of one server, with an embedder that takes its time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, World};
use crate::server::{Behaviour, Request, Server};

const CALLS: usize = 32;

/// The time that the embedder takes. The goal is set for 200 ms. A program without optimisation, as here, takes as long
/// for the 32 searches themselves as the goal allows, so the embedder takes longer, too.
const DELAY: Duration = Duration::from_millis(if cfg!(debug_assertions) { 400 } else { 200 });

/// Attempts at the measurement: another process may take the processors away during one of them.
const ATTEMPTS: usize = 5;

/// An Ollama that answers after a while.
fn slow(request: &Request, _: usize) -> Behaviour {
    let texts = request.body["input"].as_array().unwrap();
    let vector = |text: &Value| json!([text.as_str().unwrap().len(), 1.0, 0.5]);
    let vectors: Vec<Value> = texts.iter().map(vector).collect();
    Behaviour::Slow(DELAY, Box::new(Behaviour::json(200, json!({"embeddings": vectors}))))
}

/// Asks so many different questions at once; the time until the last answer.
fn ask(client: &mut Client, attempt: usize, calls: usize) -> Duration {
    let begun = Instant::now();
    let ids: Vec<u64> = (0..calls)
        .map(|call| {
            let question = format!("what gives light in room {attempt} {call} {calls}?");
            let arguments = json!({"name": "query_memories", "arguments": {"question": question}});
            client.request("tools/call", arguments)
        })
        .collect();
    let mut waited_for = ids;
    while !waited_for.is_empty() {
        let message = client.receive();
        let Some(id) = message["id"].as_u64() else { continue };
        assert_ne!(message["result"]["isError"], true, "{message}");
        assert!(message["result"]["structuredContent"]["memories"].is_array(), "{message}");
        waited_for.retain(|other| *other != id);
    }
    begun.elapsed()
}

#[test]
fn searches_do_not_wait_for_each_other() {
    let server = Server::deciding(slow);
    let world = World::new(include_str!("story.md"));
    let settings = format!("[search]\nembedder = \"ollama\"\nembedding_url = \"{}\"\n", server.url());
    world.write("memories.toml", &settings);
    let mut client = world.serve(&[]);
    // The first search also embeds the memories.
    ask(&mut client, 0, 1);
    let mut ratios = Vec::new();
    for attempt in 1..=ATTEMPTS {
        let one = ask(&mut client, attempt, 1);
        let many = ask(&mut client, attempt, CALLS);
        ratios.push(many.as_secs_f64() / one.as_secs_f64());
        if many <= one.mul_f64(1.5) {
            break;
        }
    }
    println!("{CALLS} searches at once : one search: {ratios:.2?}");
    assert!(ratios.iter().any(|ratio| *ratio <= 1.5), "{ratios:?}");
}

#[test]
fn searches_that_need_the_same_vectors_ask_for_them_once() {
    let server = Server::deciding(slow);
    let world = World::new(include_str!("story.md"));
    let settings = format!("[search]\nembedder = \"ollama\"\nembedding_url = \"{}\"\n", server.url());
    world.write("memories.toml", &settings);
    let mut client = world.serve(&[]);
    ask(&mut client, 0, CALLS);
    let requests = server.requests();
    let texts: usize = requests.iter().map(|request| request.body["input"].as_array().unwrap().len()).sum();
    let alone = World::new(include_str!("story.md"));
    alone.write("memories.toml", &settings);
    let before = server.requests().len();
    ask(&mut alone.serve(&[]), 0, 1);
    let one: usize = server.requests()[before..]
        .iter()
        .map(|request| request.body["input"].as_array().unwrap().len())
        .sum();
    assert_eq!(texts, one - 1 + CALLS, "the memories once, and each question");
}
