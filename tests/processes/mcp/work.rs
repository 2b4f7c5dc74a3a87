//! Scopes of work: folders of a repository and topics.

use serde_json::json;

use super::client::{World, assert_says};

#[test]
fn tools_and_resources_take_folders_and_topics() {
    let world = World::new("# Location Memories\n\n## Folder /: All\n\n**[NOTE] Commits**\nSay why.\n");
    let mut client = world.serve(&[]);
    let mut form = |scope: &str, content: &str| {
        client.says("form_memory", json!({"scope": scope, "title": content, "content": content}))
    };
    assert_eq!(form("dir:src//search/", "Run the bench."), "stored \"Run the bench.\" in dir:src/search\n");
    assert_eq!(form("dir:c# code", "No code yet."), "stored \"No code yet.\" in dir:c%23 code\n");
    assert_eq!(form("topic:release", "Tag it."), "stored \"Tag it.\" in topic:release\n");
    assert_says(&world.text(), &["## Folder src/search\n", "## Folder c%23 code\n", "## Topic release:\n"]);

    let printed = world.program().args(["recall", "dir:src/search"]).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    assert_says(&printed, &["Work Memory for Folder src/search:", "Work Memory for All (Folder /):"]);
    for named in ["dir:src/search", "Folder src/search", "dir:src\\search"] {
        assert_eq!(client.says("get_location_memories", json!({"location": named})), printed, "{named}");
    }
    let command = json!({"location": "dir:src/search", "action": "make"});
    assert_says(
        &client.refuses("check_action", command),
        &["is a folder", "`memories tried dir:src/search COMMAND`"],
    );
    let values = client.values("get_location_memories", json!({"location": "dir:src/search"}));
    let scopes: Vec<&str> = values["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["scope"].as_str().unwrap())
        .collect();
    assert_eq!(scopes, ["dir:src/search", "dir:/"]);
    let refused = |client: &mut super::client::Client, location: &str| {
        client.refuses("get_location_memories", json!({"location": location}))
    };
    let hint =
        "hint: name a folder from the root of the repository, such as `dir:src/search`; `dir:/` is the root";
    for (location, problem) in [
        ("dir:./src", "`./src` does not start at the root of the repository"),
        ("dir:/etc", "`/etc` is an absolute path"),
        ("dir:a/../..", "`a/../..` leads out of the repository"),
    ] {
        assert_eq!(refused(&mut client, location), format!("{problem}\n{hint}"));
    }

    let listed = client.ask("resources/list", json!({})).unwrap();
    let uris: Vec<&str> =
        listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let expected = [
        "memories://folder/",
        "memories://folder/src/search",
        "memories://folder/c%23%20code",
        "memories://topic/release",
    ];
    assert_eq!(uris, expected);
    for (uri, text) in expected.into_iter().zip(["Commits", "bench", "No code", "Tag it"]) {
        let read = client.ask("resources/read", json!({"uri": uri})).unwrap();
        assert!(read["contents"][0]["text"].as_str().unwrap().contains(text), "{uri}: {read}");
    }
}
