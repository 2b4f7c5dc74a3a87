//! The tools that read the map.

use serde_json::json;

use super::client::World;

#[track_caller]
fn assert_says(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

#[test]
fn the_map_is_read_by_name_and_from_the_last_turn() {
    let world = World::new(
        "## Location 1: Hall\n\n### Ways\n\n- `up` → [Attic](#location-2-attic) *(Ep1, T3)*\n\n### Tried\n\n- `up` *(Ep1, T4, blocked)*: It is dark.\n\n\
         ## Location 2: Attic\n\n## Location 3: Attic\n",
    );
    let mut client = world.serve(&["--tools", "places"]);
    let refused = client.refuses("find_path", json!({"to": "2"}));
    assert_says(&refused, "no turn of this episode was recorded");
    assert_says(&refused, "hint: name the place to start from as `from`");
    let path = client.values("find_path", json!({"from": "Hall", "to": "Attic (id 2)"}));
    assert_eq!((&path["known"], &path["actions"]), (&json!(true), &json!(["up"])));
    assert_eq!(path["steps"][0]["refused_since"]["reply"], "It is dark.");
    assert_says(&client.refuses("find_path", json!({"from": "1", "to": "Attic"})), "2 places are called");
    assert_says(&client.refuses("find_path", json!({"from": "1", "to": "world"})), "`world` is not a place");
    client.says(
        "record_turn",
        json!({"location": "2", "action": "out", "response": "No.", "location_after": "1"}),
    );
    let text = client.says("find_path", json!({"to": "2"}));
    assert_says(
        &text,
        "From Hall to Attic (id 2), 1 step:\nup → Attic (id 2) (refused at Ep1 T4: It is dark.)\n",
    );
    let none = client.says("find_path", json!({"to": "3"}));
    assert_says(&none, "No way is known from Hall to Attic (id 3).\n");
    let open = client.values("unexplored", json!({}));
    let places: Vec<_> = open["places"].as_array().unwrap().iter().map(|place| &place["id"]).collect();
    assert_eq!(places, [1, 2, 3]);
    assert!(!open["places"][0]["directions"].as_array().unwrap().contains(&json!("up")));
}

#[test]
fn the_best_run_is_followed_from_where_the_last_turn_ended() {
    let world = World::new(include_str!("../../../fixtures/worlds/goals/Memories.md"));
    let mut client = world.serve(&["--tools", "places"]);
    assert_says(&client.refuses("next_steps", json!({"from": "world"})), "`world` is not a place");
    let program = |arguments: &[&str]| world.program().args(arguments).output().unwrap();
    assert!(program(&["episode", "start"]).status.success());
    let all = client.says("next_steps", json!({}));
    assert_eq!(all.as_bytes(), program(&["route"]).stdout);
    assert_says(&client.says("find_path", json!({"to": "Cellar"})), "From Hall to Cellar");
    client.says(
        "record_turn",
        json!({"location": "1", "action": "open chest", "response": "It opens.", "world_changed": true}),
    );
    assert_eq!(client.says("next_steps", json!({})), "unlock trap door\ndown  (+5 at Cellar)\n");
    assert_eq!(
        client.values("next_steps", json!({"goal": "trap door"}))["actions"],
        json!(["unlock trap door"])
    );
    let kitchen = client.values("next_steps", json!({"from": "Kitchen", "goal": "+5"}));
    assert_eq!(
        (&kitchen["back"], &kitchen["actions"]),
        (&json!(["south"]), &json!(["unlock trap door", "down"]))
    );
    let done = client.says("next_steps", json!({"goal": "lamp"}));
    assert_says(&done, "Neither the best run nor a known way leads there.");
}

#[test]
fn a_file_without_a_best_run_says_so() {
    let mut client = World::new("").serve(&["--tools", "places"]);
    assert_says(&client.says("next_steps", json!({})), "No run of this game is known that gained anything.");
    assert_eq!(client.values("next_steps", json!({"goal": "lamp"}))["known"], json!(false));
}
