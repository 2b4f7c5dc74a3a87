//! Tokens that the tools and prompts cost a model that reads them: as they are estimated, and with the feature `checks`
//! as the tokenizers in use count them.
//!
//! `cargo test --features checks --test processes budget -- --nocapture` prints the figures.

use serde_json::{Value, json};

use super::client::{Client, World};

/// The larger count of the two tokenizers in use.
#[cfg(feature = "checks")]
fn tokens(text: &str) -> usize {
    bpe_openai::cl100k_base().count(text).max(bpe_openai::o200k_base().count(text))
}

#[cfg(not(feature = "checks"))]
fn tokens(text: &str) -> usize {
    memories::recall::budget::estimate_tokens(text)
}

/// Most tokens of the whole list of tools, and of `places`: the estimate is far above the count of JSON.
const TOOL_TOKENS: [usize; 2] = if cfg!(feature = "checks") { [3500, 1050] } else { [5100, 2000] };

fn tool_list(arguments: &[&str]) -> String {
    let world = World::new("");
    let mut client = world.serve(arguments);
    json!(client.tools()).to_string()
}

#[test]
fn the_list_of_tools_is_short() {
    let list = tool_list(&["--agent", "alex"]);
    let (all, characters) = (tokens(&list), list.chars().count());
    let places = tokens(&tool_list(&["--tools", "places"]));
    let own = tokens(&tool_list(&["--agent", "alex", "--tools", "self"]));
    println!(
        "tokens of the tool list: {all} in all ({characters} characters), {places} of places, {own} of self"
    );
    assert!(characters <= 14_000, "{characters} characters for all tools");
    assert!(all <= TOOL_TOKENS[0], "{all} tokens for all tools");
    assert!(places <= TOOL_TOKENS[1], "{places} tokens for `places`");
}

/// The friends of the example, seeded.
fn dinner() -> World {
    let world = World::new("");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dinner/");
    let seeds = ["friends.yaml", "evening.toml"].map(|name| format!("{examples}{name}"));
    assert!(world.program().arg("seed").args(seeds).output().unwrap().status.success());
    world
}

/// Ten turns: who speaks, what is asked of memory before, and what is said.
const TURNS: [(&str, &str, &str); 10] = [
    ("alex", "", "Hello! Let us plan Casey's birthday. I would love Italian food."),
    ("jordan", "", "There is a cheap place by the harbour with a piano."),
    ("casey", "", "I am happy with anything that has no meat in it."),
    ("alex", "what did Casey say about meat?", "Then a kitchen with good vegetables. What may it cost?"),
    ("jordan", "what did Alex ask about cost?", "Twenty each, and I bring the wine."),
    ("casey", "which place did Jordan mention?", "The place with the piano sounds lovely."),
    ("alex", "what did we say about the place?", "I will call the harbour place by Tuesday."),
    ("jordan", "who will call whom?", "Ask them for the table next to the piano."),
    ("casey", "what is decided so far?", "May I invite my grandmother?"),
    ("alex", "whom does Casey want to invite?", "Of course. So we are four, at seven."),
];

#[test]
fn a_gifted_agent_needs_half_the_prompt_of_one_that_is_told_everything() {
    let world = dinner();
    let mut narrator = world.serve(&[]);
    let scene = texts(&mut narrator, "scene", &[]);
    let cast: Vec<String> = ["alex", "jordan", "casey"]
        .map(|id| texts(&mut narrator, &format!("agent:{id}"), &["KNOWLEDGE"]))
        .into();
    let (mut asked, mut own, mut pasted) = (0, 0, 0);
    for (number, (agent, question, said)) in TURNS.iter().enumerate() {
        let mut client = world.serve(&["--agent", agent, "--tools", "self", "--read-only"]);
        let prompt = client.ask("prompts/get", json!({"name": "gifted_memories"})).unwrap();
        asked += tokens(prompt["messages"][0]["content"]["text"].as_str().unwrap());
        let calls: Vec<(&str, Value)> = if question.is_empty() {
            ["query_self", "query_background", "query_communication_style", "query_scene"]
                .map(|tool| (tool, json!({})))
                .into()
        } else {
            vec![("query_memories", json!({"question": question}))]
        };
        for (tool, arguments) in calls {
            asked += tokens(&client.says(tool, arguments));
        }
        let everything = format!("{}\n{scene}", cast.join("\n"));
        pasted += tokens(&everything);
        own += tokens(&format!("{}\n{scene}", texts(&mut narrator, &format!("agent:{agent}"), &[])));
        let line = json!({
            "content": said, "speaker": agent, "scope": "dialogue", "turn": number + 1,
        });
        narrator.values("form_memory", line);
    }
    println!(
        "tokens over ten turns: {asked} by asking; {pasted} with the whole cast pasted ({:.0} %), {own} with what the \
         speaker knows pasted ({:.0} %)",
        100.0 * asked as f64 / pasted as f64,
        100.0 * asked as f64 / own as f64,
    );
    assert!(asked * 2 <= pasted, "{asked} of {pasted}");
}

#[test]
fn a_search_shows_the_best_passages_of_long_texts() {
    let world = World::new(include_str!("../../../fixtures/worlds/long_texts/Memories.md"));
    let whole = world.text().len();
    let mut client = world.serve(&["--tools", "places"]);
    let said = client.says("query_memories", json!({"question": "where is the silver bell?"}));
    assert!(whole > 6000 && said.len() < 4200, "{} of {whole} bytes", said.len());
    assert!(said.contains("The silver bell hangs in the tower") && said.contains('…'), "{said}");
}

/// The texts of a section's memories, without some categories.
fn texts(client: &mut Client, scope: &str, without: &[&str]) -> String {
    let uri = format!("memories://{}", scope.replace(':', "/"));
    let read = client.ask("resources/read", json!({"uri": uri})).unwrap();
    let section = read["contents"][0]["text"].as_str().unwrap();
    let entries = section.split("\n**[").skip(1);
    let wanted = entries.filter(|entry| !without.iter().any(|category| entry.starts_with(category)));
    let text = |entry: &str| {
        entry.split_once('\n').map(|(_, text)| text.trim_end_matches("\n---\n").trim().to_owned())
    };
    wanted.filter_map(text).collect::<Vec<_>>().join("\n")
}
