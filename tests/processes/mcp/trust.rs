//! The settings of a found file, under the server.

use serde_json::json;

use super::client::World;
use crate::server::{Behaviour, Server};

#[test]
fn a_host_that_only_a_found_file_names_is_not_reached() {
    let server = Server::start(vec![Behaviour::error(500, "no")]);
    let world = World::new(include_str!("story.md"));
    // Without a file there yet, none is named.
    let mut command = world.program();
    let url = server.base_url();
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nbase_url = \"{url}\"\n[search]\nembedder = \"openai\"\nembedding_url = \"{url}\"\n"
    );
    world.write("memories.toml", &settings);
    command.env("MEMORIES_API_KEY", "key").env("MEMORIES_EMBEDDING_API_KEY", "key");
    let mut client = world.serve_by(command, &[]);
    client.call("query_memories", json!({"question": "where is light?", "answer": true}));
    client.call("record_turn",
        json!({"location": "23", "action": "open case", "response": "Open.", "score_before": 0, "score_after": 5}));
    assert_eq!(server.requests().len(), 0);
}
