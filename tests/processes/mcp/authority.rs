//! An agent may contest memories of others, and never changes them.

use serde_json::{Value, json};

use super::client::{STORY, alex, assert_says, text_of};

#[test]
fn what_a_person_wrote_and_what_is_core_is_contested() {
    let (world, mut client) = alex();
    let better = json!({"title": "Trap door shuts", "content": "It stays open.", "importance": 1000});
    let contested = client.call("supersede_memory", better);
    let values = &contested["structuredContent"];
    assert_eq!((&values["outcome"], &values["title"]), (&json!("contested"), &json!("Trap door shuts (2)")));
    assert_eq!(values["contested"][0]["title"], "Trap door shuts");
    assert_says(
        text_of(&contested).as_str(),
        &["\"Trap door shuts\" in location:23 stays: a person wrote it", "importance 1000 lowered to 700"],
    );
    let beside = "**[DANGER - TENTATIVE] Trap door shuts (2)** *(Ep1, importance 700, #contested)*\n\
        It stays open.\nSee also: [[Location 23 › Trap door shuts]]";
    assert_says(&world.text(), &["**[DANGER] Trap door shuts** *(Ep1, T50, importance 900)*", beside]);

    let wrong = |reason: &str| json!({"title": "Who I am", "reason": reason});
    assert_eq!(client.values("invalidate_memory", wrong("I am a cook."))["outcome"], "contested");
    let note = "**[NOTE - TENTATIVE] Contested: Who I am** *(Ep1, #contested)*\nI am a cook.\n";
    assert_says(&world.text(), &["**[IDENTITY - CORE] Who I am**\nAlex is a", note]);
    let before = world.text();
    let again = client.values("invalidate_memory", wrong("I am a baker."));
    assert_eq!((&again["outcome"], &again["title"]), (&json!("duplicate"), &json!("Contested: Who I am")));
    let stronger = client.says("reinforce_memory", json!({"title": "Trap door shuts"}));
    assert_eq!(stronger, "\"Trap door shuts\" in location:23 keeps importance 900: a person wrote it\n");
    let both = client.refuses("associate_memories", json!({"a": "Who I am", "b": "How I speak"}));
    assert_says(&both, &["`Who I am` and `How I speak` stay as they are"]);
    let core = json!({"content": "The lantern is cursed.", "type": "core", "scope": "23", "importance": 900});
    assert_eq!(world.text(), before);
    let lowered = client.says("form_memory", core);
    assert_says(&lowered, &["core lowered to permanent", "importance 900 lowered to 700"]);
    let own = json!({"content": "I never give up.", "type": "core", "importance": 900});
    assert_says(&client.says("form_memory", own), &["importance 900 lowered to 700"]);
    assert_says(&world.text(), &["**[NOTE - CORE] I never give up.** *(2026-01-31, importance 700)*"]);
    let figures = world.program().args(["stats", "--json"]).output().unwrap().stdout;
    let figures: Value = serde_json::from_slice(&figures).unwrap();
    let pairs = figures["contested"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    assert_eq!(pairs[0]["by"], "Trap door shuts (2)");
    let log = world.program().args(["log", "--json"]).output().unwrap().stdout;
    assert_says(&String::from_utf8(log).unwrap(), &["\"contested\":[\"Who I am\"]", "\"author\":\"agent\""]);
}

#[test]
fn no_call_of_an_agent_changes_what_a_person_wrote() {
    let (world, mut client) = alex();
    let entries: Vec<&str> = STORY.split("\n\n").filter(|part| part.starts_with("**[")).collect();
    let titles: Vec<&str> = entries
        .iter()
        .map(|entry| entry[entry.find("] ").unwrap() + 2..].split("**").next().unwrap())
        .collect();
    let texts: Vec<&str> = entries.iter().map(|entry| entry.split_once('\n').unwrap().1).collect();
    for (at, title) in titles.iter().enumerate() {
        let (text, other) = (texts[at], titles[(at + 1) % titles.len()]);
        for scope in ["23", "self", "scene", "dialogue"] {
            let calls = [
                (
                    "supersede_memory",
                    json!({"title": title, "scope": scope, "content": "Quite another thing."}),
                ),
                (
                    "supersede_memory",
                    json!({"title": title, "scope": scope, "content": text, "type": "danger"}),
                ),
                (
                    "supersede_memory",
                    json!({"title": title, "scope": scope, "content": "All is new.", "new_title": other}),
                ),
                ("invalidate_memory", json!({"title": title, "scope": scope, "reason": "It is wrong."})),
                ("reinforce_memory", json!({"title": title, "scope": scope, "amount": 9999})),
                (
                    "form_memory",
                    json!({"content": text, "scope": scope, "importance": 1000, "type": "core", "speaker": "alex"}),
                ),
                ("form_memory", json!({"content": text, "scope": scope, "importance": 1000, "title": title})),
            ];
            for (tool, arguments) in calls {
                client.call(tool, arguments);
            }
        }
        client.call("associate_memories", json!({"a": title, "b": other}));
    }
    let after = world.text();
    for entry in entries {
        assert!(after.contains(&format!("{}\n", entry.trim_end())), "changed: {entry}\n{after}");
    }
    let weights = after.split("importance ").skip(1).map(|rest| rest.split([',', ')']).next().unwrap());
    assert_eq!(weights.filter(|weight| weight.parse::<u16>().unwrap() > 700).collect::<Vec<_>>(), ["900"]);
}
