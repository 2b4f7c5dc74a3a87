//! Damage beside the memory file, as the client of a server sees it.

use serde_json::json;

use super::client::{STORY, World, assert_says};

#[test]
fn damage_is_told_once_and_refuses_no_call() {
    let world = World::new(STORY);
    let started = world.program().args(["episode", "start", "3"]).status().unwrap();
    assert!(started.success());
    let mut client = world.serve(&[]);
    world.write(".memories/Memories.md/state.json", "{\"epi");
    std::fs::write(world.path().join(".memories/Memories.md/session.md"), b"\xff").unwrap();
    let place = json!({"location": "23"});
    let first = client.says("get_location_memories", place.clone());
    assert_says(&first, &["state.json` is damaged", "session.md` is not UTF-8", "brass lantern"]);
    let second = client.says("get_location_memories", place);
    assert!(!second.contains("damaged") && second.contains("brass lantern"), "{second}");
}
