//! What the list of tools costs every prompt of every client.

use serde_json::{Value, json};

use crate::client::World;

/// The true count: of the tokenizers in use, that which needs more.
fn tokens(value: &Value) -> usize {
    let text = value.to_string();
    bpe_openai::cl100k_base().count(&text).max(bpe_openai::o200k_base().count(&text))
}

fn cost(arguments: &[&str]) -> usize {
    let world = World::new("");
    let mut client = world.serve(arguments);
    let tools = client.tools();
    tokens(&json!(tools))
}

#[test]
fn the_list_of_tools_is_short() {
    let all = cost(&[]);
    let places = cost(&["--tools", "places"]);
    let own = cost(&["--tools", "self"]);
    println!("tokens of the tool list: {all} in all, {places} of places, {own} of self");
    assert!(all <= 3500, "{all} tokens for all tools");
    assert!(places <= 1000, "{places} tokens for `places`");
}
