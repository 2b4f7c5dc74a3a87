//! The answers and errors of each tool.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{STORY, World, alex, assert_says};
use crate::support_authors::note_author;

/// Two entries of the story.
const LANTERN: (&str, &str, &str) =
    ("location:23", "Acquire brass lantern", "Brass lantern is takeable and provides light source.");
const TRAP_DOOR: (&str, &str, &str) = ("location:23", "Trap door shuts", "The trap door shuts behind you.");

#[test]
fn a_place_says_what_recall_prints() {
    let (world, mut client) = alex();
    let printed = world.program().args(["recall", "23"]).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    for named in
        [json!("23"), json!(23), json!("living ROOM"), json!("Location 23"), json!("23: Living Room")]
    {
        assert_eq!(client.says("get_location_memories", json!({"location": named})), printed, "{named}");
    }
    let values = client.values("get_location_memories", json!({"location": "23"}));
    assert_eq!(values["query"], "Living Room (location:23)");
    assert_eq!((&values["visits"], &values["tried"][0]["action"]), (&json!(5), &json!("eat rug")));
    let lantern = &values["memories"][0];
    let expected = json!({
        "content": "Brass lantern is takeable and provides light source.", "relevance": 0.5,
        "scope": "location:23", "title": "Acquire brass lantern", "category": "SUCCESS", "turn": 45, "episode": 1,
        "author": "person",
    });
    assert_eq!(lantern, &expected);
    assert_eq!(
        client.says("get_location_memories", json!({"location": 99})),
        "First visit - no prior experiences\n"
    );
}

#[test]
fn a_place_that_cannot_be_meant_is_refused_with_the_next_step() {
    let world = World::new(&format!("{STORY}\n## Location 1: Maze\n\n## Location 2: Maze\n"));
    let mut client = world.serve(&["--agent", "alex"]);
    let mut refuses = |location: &str| client.refuses("get_location_memories", json!({"location": location}));
    assert_eq!(refuses("Livin Room"), "no place is called `Livin Room`\nhint: did you mean `Living Room`?");
    assert_says(
        &refuses("maze"),
        &["2 places are called `maze`", "say which one: `location:1`, `location:2`"],
    );
    assert_says(&refuses("-3"), &["`-3` is not a location id"]);
    assert_says(&refuses(" "), &["`location` is empty", "hint: name the place"]);
    assert_says(&refuses("agent:jordan"), &["agent:jordan is another agent, you are `alex`"]);
    let unknown = client.says("get_location_memories", json!({"location": "Atlantis"}));
    assert_says(&unknown, &["First visit", "warning: no memories are recorded for `Atlantis`"]);
    let none = client.refuses("get_location_memories", json!({}));
    assert_says(&none, &["`location` is empty"]);
    let misspelt = client.refuses("get_location_memories", json!({"locaton": "23"}));
    assert_eq!(misspelt, "there is no argument `locaton`\nhint: did you mean `location`?");
}

#[test]
fn a_program_gets_the_answer_of_the_command_line() {
    let world = World::new(STORY);
    let mut client = world.serve(&[]);
    for (tool, arguments, command) in [
        ("get_location_memories", json!({"location": "23"}), vec!["recall", "23"]),
        ("get_location_memories", json!({"location": "99"}), vec!["recall", "99"]),
        ("get_top_memories", json!({"limit": 3}), vec!["top", "-n", "3"]),
        ("check_action", json!({"location": "23", "action": "eat rug"}), vec!["tried", "23", "eat rug"]),
        ("check_action", json!({"location": "23", "action": "lantern"}), vec!["tried", "23", "lantern"]),
    ] {
        client.meta = None;
        assert!(client.call(tool, arguments.clone())["_meta"].is_null(), "{tool} was not asked for it");
        client.meta = Some(json!({"memories/answer": true}));
        let mut answer = client.call(tool, arguments)["_meta"]["memories/answer"].clone();
        answer["version"] = json!(1);
        let printed = world.program().arg("--json").args(&command).output().unwrap().stdout;
        assert_eq!(answer, serde_json::from_slice::<Value>(&printed).unwrap(), "{command:?}");
    }
}

#[test]
fn a_refusal_has_the_fields_and_the_code_of_the_command_line() {
    let world = World::new(STORY);
    let mut client = world.serve(&["--lock-timeout", "0s"]);
    let mut error =
        |tool: &str, arguments: Value| client.call(tool, arguments)["_meta"]["memories/error"].clone();
    assert_eq!(
        error("get_location_memories", json!({"location": "Livin Room"})),
        json!({"error": "no place is called `Livin Room`", "hint": "did you mean `Living Room`?", "code": 4})
    );
    assert_eq!(error("get_location_memories", json!({"locaton": "23"}))["code"], 2);
    // The folder with the lock comes with the first write.
    assert!(error("form_memory", json!({"content": "The lamp flickers."})).is_null());
    let lock = std::fs::OpenOptions::new()
        .write(true)
        .open(world.path().join(".memories/Memories.md/lock"))
        .unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    let locked =
        error("record_turn", json!({"location": "23", "action": "wait", "response": "Time passes."}));
    assert_eq!(locked["code"], 3, "{locked}");
}

#[test]
fn the_most_important_come_first_and_other_agents_stay_their_own() {
    let (world, mut client) = alex();
    assert_eq!(client.titles("get_top_memories", json!({"limit": 1})), ["Trap door shuts"]);
    let all = client.values("get_top_memories", json!({"limit": 500}));
    let scopes: Vec<&Value> =
        all["memories"].as_array().unwrap().iter().map(|memory| &memory["scope"]).collect();
    assert_eq!(scopes.len(), 8);
    assert!(!scopes.contains(&&json!("agent:jordan")));
    let refused = client.refuses("get_top_memories", json!({"limit": "many"}));
    assert_says(&refused, &["`limit` is \"many\", expected a whole number"]);
    let mut anybody = world.serve(&[]);
    assert_eq!(anybody.titles("get_top_memories", json!({"limit": 20})).len(), 9);
    let empty = World::new("");
    let mut empty = empty.serve(&[]);
    assert_eq!(empty.says("get_top_memories", json!({})), "No memories recorded yet.\n");
}

#[test]
fn a_question_finds_what_answers_it() {
    let (_world, mut client) = alex();
    assert_eq!(
        client.titles("query_memories", json!({"question": "where is light?"}))[0],
        "Acquire brass lantern"
    );
    let nothing = client.call("query_memories", json!({"question": "\"quantum physics\""}));
    assert_eq!(nothing["structuredContent"]["memories"], json!([]));
    assert_eq!(nothing["content"][0]["text"], "No relevant memories found.\n");
    let empty = client.refuses("query_memories", json!({"question": "  "}));
    assert_says(&empty, &["`question` is empty", "hint: ask in words"]);
    assert_says(&client.refuses("query_memories", json!({"question": "?!"})), &["has no word in it"]);
    // Without a model the memories themselves are the answer, and the answer says so.
    let unanswered = client.says("query_memories", json!({"question": "where is light?", "answer": true}));
    assert_says(&unanswered, &["Acquire brass lantern", "warning: no model is set up to answer"]);
}

#[test]
fn a_model_answers_where_there_is_one() {
    let world = World::new(STORY);
    world.write(
        "answer.json",
        "{\"relevant\": [1], \"known\": true, \"answer\": \"The brass lantern gives light.\"}",
    );
    world.write(
        "memories.toml",
        "[llm]\nprovider = \"command\"\ncommand = [\"sh\", \"-c\", \"cat > /dev/null; cat answer.json\"]\n",
    );
    let mut client = world.serve(&[]);
    let result = client.call("query_memories", json!({"question": "where is light?", "answer": true}));
    assert_says(
        result["content"][0]["text"].as_str().unwrap(),
        &["Answer: The brass lantern gives light.\n\n1. [SUCCESS]"],
    );
    assert_eq!(result["structuredContent"]["answer"], "The brass lantern gives light.");
    assert_eq!(result["structuredContent"]["relevant"], json!([1]));
    // No memory shares a word with the question: the model reads them all, and what it names is shown.
    let unlike = json!({"question": "zyxw", "answer": true});
    assert_eq!(client.says("query_memories", json!({"question": "zyxw"})), "No relevant memories found.\n");
    world.write(
        "answer.json",
        "{\"relevant\": [3, 99], \"known\": true, \"answer\": \"The brass lantern gives light.\"}",
    );
    let values = client.values("query_memories", unlike);
    assert_eq!(values["relevant"], json!([1]), "the number in this answer");
    assert_eq!(values["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_key_of_the_client_is_not_spent_where_only_a_configured_model_may_be_asked() {
    let world = World::new(STORY);
    let question = json!({"question": "where is light?", "answer": true});
    let with_key = || {
        let mut program = world.program();
        // Nobody listens there.
        program.env("OPENAI_API_KEY", "sk-1234567890").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
        program
    };
    let asks = |arguments: &[&str]| {
        let said = world.serve_by(with_key(), arguments).says("query_memories", question.clone());
        !said.contains("no model is set up to answer")
    };
    assert!(asks(&[]), "the key chooses a model");
    assert!(!asks(&["--configured-model"]));
    assert!(asks(&["--configured-model", "--provider", "openai"]));
    world.write("memories.toml", "[llm]\nbase_url = \"http://127.0.0.1:9/v1\"\nmax_retries = 0\n");
    assert!(asks(&["--configured-model"]), "an address names a model");
    world.write("memories.toml", "[llm]\nprovider = \"auto\"\n");
    assert!(!asks(&["--configured-model"]));
}

#[test]
fn one_search_finds_what_is_known_of_the_troll_in_every_scope() {
    let world = World::new(
        "## Location 5: Bridge\n\n**[DANGER] Toll** *(Ep1, T3)*\nThe troll wants a toll.\n\n\
         **[NOTE] Rope** *(Ep1, T1)*\nA rope lies here.\n\n**[NOTE] Echo**\nIt echoes.\n\n\
         ## Location 6: Kitchen\n\n**[NOTE] Sack**\nThe sack smells of hot peppers.\n\n\
         **[SUCCESS] Water**\nThe bottle holds water.\n\n\
         ## NPC troll: The Troll\n\n**[NOTE] Gifts**\nAccepts gifts.\n\n\
         ## World\n\n**[EVENT] Axe** *(Ep1, T4)*\nThe axe of the troll fell.\n\n\
         ## Agent alex: Alex\n\n**[KNOWLEDGE] A debt** *(#about:troll)*\nI owe the troll a lunch.\n\n\
         ## Agent jordan: Jordan\n\n**[KNOWLEDGE] Fear**\nThe troll frightens me.\n\n\
         ## Dialogue\n\n**[DIALOGUE] Ep1 T5 Jordan** *(Ep1, T5)*\nJordan said: Beware of the troll!\n",
    );
    let mut client = world.serve(&["--agent", "alex"]);
    let values = client.values("query_memories", json!({"question": "troll"}));
    let scopes =
        values["memories"].as_array().unwrap().iter().map(|memory| memory["scope"].as_str().unwrap());
    let scopes: BTreeSet<&str> = scopes.collect();
    let known: BTreeSet<&str> = ["agent:alex", "dialogue", "location:5", "npc:troll", "world"].into();
    assert!(scopes.is_superset(&known) && !scopes.contains("agent:jordan"), "{scopes:?}");
    // The group of an agent in a story has it, too, and once.
    let mut own = world.serve(&["--agent", "alex", "--tools", "self"]);
    let count = own.tools().iter().filter(|tool| tool["name"] == "query_memories").count();
    assert_eq!((count, own.titles("query_memories", json!({"question": "debt"}))[0].as_str()), (1, "A debt"));
    let earlier = own.says("query_memory", json!({"query": "troll"}));
    assert_eq!(earlier, own.says("query_memories", json!({"question": "troll"})));
}

#[test]
fn the_shared_scene_is_there_for_every_agent() {
    let (world, mut client) = alex();
    assert_eq!(client.titles("query_memories", json!({"question": "where are we?"}))[0], "Where");
    assert_eq!(client.titles("query_scene", json!({})), ["Where"]);
    let asked = world.program().args(["query", "where are we?", "--agent", "alex", "-n", "1"]).output();
    let said = String::from_utf8(asked.unwrap().stdout).unwrap();
    assert_says(&said, &["1. [scene] Where"]);
}

#[test]
fn a_turn_without_facts_has_an_unknown_effect() {
    let (_world, mut client) = alex();
    let turn = |more: Value| {
        let mut turn = json!({"location": "23", "action": "pull lever", "response": "Click."});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        turn
    };
    let result = client.call("record_turn", turn(json!({})));
    let said = result["content"][0]["text"].as_str().unwrap();
    assert_says(
        said,
        &["1 time at Living Room (location:23), effect unknown\n", "send world_changed, or score"],
    );
    assert_eq!(result["structuredContent"]["effect_unknown"], true);
    // A memory is made of it; its effect is unknown all the same.
    let kept = client.says("record_turn", turn(json!({"action": "push button", "remember": "It clicks."})));
    assert_says(&kept, &["stored \"It clicks.\"", "effect is unknown"]);
    for facts in [
        json!({"action": "turn knob", "world_changed": false}),
        json!({"action": "turn wheel", "world_changed": true}),
        json!({"action": "take lamp", "inventory_before": [], "inventory_after": ["lamp"]}),
        json!({"action": "north", "location_after": "24:Attic"}),
    ] {
        let result = client.call("record_turn", turn(facts.clone()));
        assert!(result["structuredContent"].get("effect_unknown").is_none(), "{facts}: {result}");
        assert!(!result["content"][0]["text"].as_str().unwrap().contains("unknown"), "{facts}: {result}");
    }
}

#[test]
fn an_importance_is_one_of_1000_whatever_the_settings_say() {
    let world = World::new(STORY);
    world.write("memories.toml", "[record]\nimportance_scale = 10\n");
    let mut client = world.serve(&["--agent", "alex"]);
    client.says("form_memory", json!({"title": "Bell", "content": "The bell rings.", "importance": 8}));
    client.says(
        "record_turn",
        json!({"location": "23", "action": "wait", "response": "Time passes.", "remember": "A clock strikes.",
            "remember_importance": 9}),
    );
    let text = world.text();
    assert_says(&text, &["importance 8)", "importance 9)"]);
}

#[test]
fn a_client_may_have_ids_of_its_own_for_places() {
    let world = World::new(STORY);
    let mut client = world.serve(&[]);
    let square = json!({"location": "location:town-square"});
    assert_eq!(client.says("get_location_memories", square.clone()), "First visit - no prior experiences\n");
    let unknown = json!({"location": "location:town-square", "action": "dig"});
    assert_says(&client.says("check_action", unknown.clone()), &["may be tried", "at town-square"]);
    let turn = json!({
        "location": "location:town-square", "action": "north", "response": "You walk to the harbour.",
        "location_after": "location:harbour",
    });
    assert_eq!(client.values("record_turn", turn)["place"]["name"], "town-square");
    let formed = json!({"content": "Ships lie at anchor.", "scope": "location:lighthouse"});
    assert_eq!(client.values("form_memory", formed)["scope"], "location:26");
    assert_says(&client.says("get_location_memories", square), &["Location 24", "north → harbour"]);
    let way = json!({"from": "location:town-square", "to": "location:harbour"});
    assert_eq!(client.values("find_path", way)["actions"], json!(["north"]));
    let read = client.ask("resources/read", json!({"uri": "memories://location/town-square"})).unwrap();
    assert!(read["contents"][0]["text"].as_str().unwrap().starts_with("## Location 24: town-square\n"));
    // Tools that need a known place do not make one.
    let before = world.text();
    let lost = client.refuses("find_path", json!({"to": "location:pier"}));
    assert_says(&lost, &["no place is called `pier`"]);
    let lost = json!({"title": "x", "scope": "location:pier", "reason": "y"});
    assert_says(&client.refuses("invalidate_memory", lost), &["no place is called `pier`"]);
    client.ask("resources/read", json!({"uri": "memories://location/pier"})).unwrap_err();
    let spoken = json!({"content": "x", "scope": "location:pier", "speaker": "jo"});
    assert_says(
        &client.refuses("form_memory", spoken),
        &["`speaker` is only for `dialogue`, not for a place"],
    );
    assert_eq!(world.text(), before);
}

#[test]
fn an_action_was_tried_or_not() {
    let (_world, mut client) = alex();
    let yes = client.values("check_action", json!({"location": "23", "action": "EAT  rug"}));
    assert_eq!(
        (&yes["verdict"], &yes["tried"], &yes["count"], &yes["reply"]),
        (&json!("in_vain"), &json!(true), &json!(2), &json!("I don't think so."))
    );
    assert_says(
        &client.says("check_action", json!({"location": "23", "action": "eat the rug."})),
        &["leave it: \"eat rug\" 2 times at Living Room (location:23)"],
    );
    let no = client.says("check_action", json!({"location": "23", "action": "open case"}));
    assert_says(
        &no,
        &["may be tried: \"open case\" is not among what was tried at Living Room (location:23)"],
    );
    assert_says(&client.refuses("check_action", json!({"location": "23"})), &["`action` is empty"]);
}

#[test]
fn a_turn_is_recorded_as_the_command_does_it() {
    let (world, mut client) = alex();
    let turn = json!({
        "location": "23", "action": "take sword", "response": "Taken.", "score_before": 0, "score_after": 5,
        "inventory_before": [], "inventory_after": ["sword"], "remember": "The sword glows near danger.",
        "remember_importance": 800, "episode": 3, "turn": 7,
    });
    let values = client.values("record_turn", turn);
    assert_eq!(
        (&values["outcome"], &values["turn"], &values["place"]["id"]),
        (&json!("stored"), &json!(7), &json!(23))
    );
    assert_says(&world.text(), &["The sword glows near danger.", "*(Ep3, T7", "importance 800"]);
    let tried =
        client.values("record_turn", json!({"location": "Living Room", "action": "sing", "response": "La."}));
    assert_eq!(tried["outcome"], "tried");
    let unknown =
        client.refuses("record_turn", json!({"location": "Livin Room", "action": "x", "response": "y"}));
    let hints = ["did you mean `Living Room`?", "`location:livin-room`", "`new_place` gives"];
    assert_says(&unknown, &["no place is called `Livin Room`", hints[0], hints[1], hints[2]]);
    assert!(!unknown.contains("--new-place"), "{unknown}");
    let new = json!({"location": "Attic", "action": "look", "response": "A dark attic.", "new_place": true});
    client.values("record_turn", new);
    assert_says(&world.text(), &["## Location 24: Attic"]);
    let named =
        json!({"location": "80:Garden", "action": "look", "response": "Flowers.", "location_after": "81"});
    client.values("record_turn", named);
    assert_says(&world.text(), &["## Location 80: Garden"]);
    assert_says(
        &client.refuses("record_turn", json!({"location": "1", "response": "y"})),
        &["`action` is empty"],
    );
    let broken = json!({"location": "1", "action": "x", "response": "y", "score_after": "many"});
    assert_says(
        &client.refuses("record_turn", broken),
        &["`score_after` is \"many\", expected a whole number"],
    );
}

/// A model begins an episode with the first turn of a game, and is told where it forgot to.
#[test]
fn the_first_turn_of_a_game_begins_an_episode() {
    let world = World::new("");
    let mut client = world.serve(&[]);
    let turn = |action: &str, more: Value| {
        let mut turn = json!({"location": "4:Attic", "action": action, "response": "Nothing happens."});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        turn
    };
    let values = client.values("record_turn", turn("sing", json!({"new_episode": true})));
    assert_eq!(values["episode"], 1);
    client.values("record_turn", turn("wave", json!({})));
    let said = client.says("record_turn", turn("dance", json!({"turn": 1})));
    assert_says(&said, &["warning: the turn numbers of episode 1 go back", "`new_episode` by MCP"]);
    let values = client.values("record_turn", turn("sing", json!({"turn": 1, "new_episode": true})));
    assert_eq!((&values["episode"], &values["warnings"]), (&json!(2), &Value::Null));
    let both = client.refuses("record_turn", turn("sing", json!({"episode": 7, "new_episode": true})));
    assert_says(&both, &["`new_episode` is the next episode", "send only one of them"]);
}

#[test]
fn agents_find_themselves_by_asking() {
    let (_world, mut client) = alex();
    assert_says(&client.says("query_self", json!({})), &["IDENTITY: Alex is a pragmatic project manager.\n"]);
    assert_eq!(client.titles("query_communication_style", json!({})), ["How I speak"]);
    assert_eq!(client.titles("query_background", json!({})), [""; 0]);
    assert_eq!(client.titles("query_scene", json!({})), ["Where"]);
    for name in ["jordan", "Jordan", "agent:jordan"] {
        assert_eq!(client.titles("query_character", json!({"name": name})), ["Jordan"], "{name}");
    }
    let stranger = client.refuses("query_character", json!({"name": "Jordn"}));
    assert_eq!(stranger, "nobody called `Jordn` is known\nhint: did you mean `jordan`?");
    let stranger = client.refuses("query_character", json!({"name": "Zed"}));
    assert_says(&stranger, &["nobody called `Zed` is known", "hint: known are ", "jordan"]);
    assert_says(&client.refuses("query_character", json!({"name": ""})), &["`name` is empty"]);
    let said = client.values("query_memories", json!({"question": "what did Jordan say about food?"}));
    assert_eq!(said["memories"][0]["content"], "Jordan said: I love Italian food.");
    assert_eq!(said["memories"][0]["turn"], 1);
    // Initial memories are not episodes.
    let titles = client.titles("recall_episodes", json!({"query": "Jordan is a dreamer who loves food"}));
    assert!(!titles.contains(&"Jordan".to_owned()), "{titles:?}");
}

#[test]
fn without_an_agent_nobody_is_self() {
    let world = World::new(STORY);
    let mut nobody = world.serve(&[]);
    let offered: Vec<String> =
        nobody.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    for own in ["query_self", "query_background", "query_communication_style"] {
        assert!(!offered.contains(&own.to_owned()));
        let refused = nobody.refuses(own, json!({}));
        assert_says(&refused, &["is not offered here", "without `--agent ID`"]);
    }
    let prompts = nobody.ask("prompts/list", json!({})).unwrap();
    let prompts: Vec<&str> = prompts["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(prompts, ["consult_memory_first", "explore_with_memory"]);
    let refused = nobody.ask("prompts/get", json!({"name": "gifted_memories"})).unwrap_err();
    assert_says(
        refused["message"].as_str().unwrap(),
        &["`gifted_memories` is not offered here", "`--agent ID`"],
    );
    // Without a scope a memory goes to the world.
    let formed = nobody.values("form_memory", json!({"content": "The dam has opened.", "type": "episodic"}));
    assert_eq!(formed["scope"], "world");
    assert_eq!(nobody.titles("recall_episodes", json!({"query": "dam"}))[0], "The dam has opened.");
    let refused = nobody.refuses("form_memory", json!({"content": "x", "scope": "self"}));
    assert_says(&refused, &["started without an agent", "hint: name a `scope`", "`--agent ID`"]);
    assert_says(&nobody.says("memory_status", json!({})), &["no agent: all sections are seen"]);
    let refused = world.serve(&["--agent", "alec"]).refuses("query_self", json!({}));
    assert_says(&refused, &["no section of agent:alec", "`memories seed`", "`memories list`"]);
    // A character may be asked about by anybody.
    assert_eq!(world.serve(&[]).titles("query_character", json!({"name": "Jordan"})), ["Jordan"]);
}

#[test]
fn memories_are_formed_in_ones_own_section() {
    let (world, mut client) = alex();
    let promise =
        json!({"content": "I promised Jordan to cook.", "type": "episodic", "importance": 700, "turn": 3});
    let formed = client.values("form_memory", promise.clone());
    assert_eq!((&formed["outcome"], &formed["scope"]), (&json!("stored"), &json!("agent:alex")));
    assert_says(&world.text(), &["**[EVENT] I promised Jordan to cook.** *(Ep1, T3, importance 700)*"]);
    assert_eq!(
        client.titles("query_memories", json!({"question": "promise to cook"}))[0],
        "I promised Jordan to cook."
    );
    let fact = json!({"content": "The case is worth points.", "scope": "Living Room", "title": "Case", "type": "semantic"});
    assert_eq!(client.values("form_memory", fact.clone())["scope"], "location:23");
    assert_eq!(client.values("form_memory", fact)["outcome"], "duplicate");
    let other = json!({"content": "Quite another thing to know.", "scope": "23", "title": "case"});
    let refused = client.refuses("form_memory", other);
    assert_says(&refused, &["a memory of location:23 is called `Case` already", "or supersede that memory"]);
    assert_says(&client.refuses("form_memory", json!({"content": ""})), &["`content` is empty"]);
    assert_says(
        &client.refuses("form_memory", json!({"content": "x", "type": "a, b"})),
        &["not a type of memory"],
    );
    let foreign = json!({"content": "Jordan owes me money.", "scope": "agent:jordan"});
    assert_says(&client.refuses("form_memory", foreign), &["agent:jordan is another agent"]);
    let passing = json!({"content": "The door stands open just now.", "type": "ephemeral"});
    client.values("form_memory", passing);
    assert!(!world.text().contains("stands open"));
    let eight = json!({"content": "Pepper burns.", "title": "Pepper", "importance": 8});
    client.values("form_memory", eight);
    assert!(world.text().contains("importance 8)"), "nothing is guessed from a value: {}", world.text());
    let high = json!({"content": "Salt melts ice.", "title": "Salt", "importance": 800});
    assert_says(&client.says("form_memory", high), &["importance 800 lowered to 700"]);
    let more = json!({"title": "Salt", "content": "Salt melts thin ice.", "importance": 5000});
    assert_says(&client.says("supersede_memory", more), &["importance 5000 is out of range: 1000 is used"]);
    assert_says(
        &world.text(),
        &["Salt** *(2026-01-31, importance 700)*", "importance 700)*\nSalt melts thin ice."],
    );
    let secret = json!({"content": format!("The key is ghp_{}.", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")});
    assert_says(&client.says("form_memory", secret), &["warning: what looks like a secret was masked"]);
    assert!(!world.text().contains("a1B2c3D4"));
    let (code, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_reinforced_never_becomes_less_important() {
    let (world, mut client) = alex();
    note_author(&world.file(), "agent", LANTERN);
    let lantern = || json!({"title": "Acquire brass lantern", "scope": "23"});
    assert_eq!(client.values("reinforce_memory", lantern())["importance"], 600);
    let much = json!({"title": "[Acquire brass lantern]", "scope": "23", "amount": 9999});
    assert_eq!(client.values("reinforce_memory", much)["importance"], 700);
    let before = world.text();
    let again = client.values("reinforce_memory", lantern());
    assert_eq!((&again["outcome"], &again["importance"]), (&json!("unchanged"), &json!(700)));
    assert_eq!(world.text(), before);
    // Without a scope, the title is looked for in all sections.
    assert_eq!(
        client.values("reinforce_memory", json!({"title": "trap door shuts"}))["scope"],
        "location:23"
    );
    let near = client.refuses("reinforce_memory", json!({"title": "Trap door shut"}));
    assert_eq!(near, "no live memory is called `Trap door shut`\nhint: did you mean `Trap door shuts`?");
    let own = client.values("reinforce_memory", json!({"title": "Who I am"}));
    assert_eq!(own["scope"], "agent:alex");
    let negative = json!({"title": "Trap door shuts", "amount": -100});
    assert_says(
        &client.refuses("reinforce_memory", negative),
        &["`amount` is -100, expected a whole number"],
    );
}

#[test]
fn linked_memories_recall_each_other() {
    let (world, mut client) = alex();
    note_author(&world.file(), "agent", LANTERN);
    let pair = json!({"a": "Location 23 › Acquire brass lantern", "b": "agent:alex › How I speak"});
    let values = client.values("associate_memories", pair.clone());
    assert_eq!(
        values["linked"],
        json!(["[[Location 23 › Acquire brass lantern]]", "[[Agent alex › How I speak]]"])
    );
    let text = world.text();
    assert_says(&text, &["light source.\nSee also: [[Agent alex › How I speak]]\n"]);
    assert_says(&text, &["to the point.\n\n"]);
    assert_eq!(client.values("associate_memories", pair)["outcome"], "unchanged");
    assert_eq!(world.text(), text);
    client.values(
        "associate_memories",
        json!({"a": "[[Location 23 › Acquire brass lantern]]", "b": "Trap door shuts"}),
    );
    assert_says(
        &world.text(),
        &["See also: [[Agent alex › How I speak]], [[Location 23 › Trap door shuts]]"],
    );
    assert_eq!(world.program().arg("check").output().unwrap().status.code(), Some(0));
    let place = client.values("get_location_memories", json!({"location": "23"}));
    let linked: Vec<&Value> =
        place["linked"].as_array().unwrap().iter().map(|memory| &memory["title"]).collect();
    assert_eq!(linked, ["How I speak"]);
    let itself = json!({"a": "Trap door shuts", "b": "Location 23 › trap door shuts"});
    assert_says(&client.refuses("associate_memories", itself), &["cannot be linked to itself"]);
    let lost = json!({"a": "Trap door shuts", "b": "Location 23 › Trap dor shuts"});
    assert_says(
        &client.refuses("associate_memories", lost),
        &["is called `Trap dor shuts`", "`Trap door shuts`"],
    );
}

#[test]
fn what_is_superseded_or_invalid_is_struck_and_gone() {
    let world = World::new(&STORY.replace("importance 900", "importance 600"));
    note_author(&world.file(), "model", LANTERN);
    note_author(&world.file(), "agent", TRAP_DOOR);
    let mut client = world.serve(&["--agent", "alex"]);
    let better = json!({
        "title": "Trap door shuts", "scope": "23", "content": "It shuts and is barred from above.",
        "new_title": "Trap door is barred",
    });
    let values = client.values("supersede_memory", better);
    assert_eq!(
        (&values["outcome"], &values["superseded"]),
        (&json!("superseded"), &json!(["Trap door shuts"]))
    );
    // Fields that were not given stay: category, importance.
    assert_says(
        &world.text(),
        &["**[DANGER] Trap door is barred** *(Ep1, importance 600)*", "~~The trap door shuts behind you.~~"],
    );
    let revised = json!({"title": "Trap door is barred", "content": "It shuts and is barred; bring an axe."});
    assert_eq!(
        client.says("supersede_memory", revised),
        "\"Trap door is barred\" in location:23 has a new text; the old one is struck\n"
    );
    assert_says(
        &world.text(),
        &["~~It shuts and is barred from above.~~", "It shuts and is barred; bring an axe."],
    );
    let gone = client
        .refuses("supersede_memory", json!({"title": "Trap door shuts", "scope": "23", "content": "x"}));
    assert_says(
        &gone,
        &["no live memory of location:23 is called `Trap door shuts`", "`Trap door is barred`"],
    );
    let wrong = json!({"title": "Acquire brass lantern", "reason": "Its battery is dead."});
    assert_eq!(client.values("invalidate_memory", wrong.clone())["outcome"], "invalidated");
    assert_says(&world.text(), &["[Invalidated at Ep1: \"Its battery is dead.\"]"]);
    assert_says(
        &client.refuses("invalidate_memory", wrong),
        &["no live memory is called `Acquire brass lantern`"],
    );
    let why = client.refuses("invalidate_memory", json!({"title": "Trap door is barred", "reason": " "}));
    assert_says(&why, &["`reason` is empty"]);
    assert_eq!(client.titles("query_memories", json!({"question": "brass lantern"})), [""; 0]);
}

#[test]
fn looking_back() {
    let (_world, mut client) = alex();
    assert_eq!(
        client.titles("recall_episodes", json!({"query": "dinner food"})),
        ["Ep1 T1 Jordan", "Ep1 T2 Alex"]
    );
    let late = json!({"query": "dinner food", "time_range": "2-9"});
    assert_eq!(client.titles("recall_episodes", late), ["Ep1 T2 Alex"]);
    let weighty = json!({"query": "door", "importance_threshold": 800});
    assert_eq!(client.titles("recall_episodes", weighty), ["Trap door shuts"]);
    for range in ["soon", "9-2", "2026-02-03..2026-01-31", "2026-13-01"] {
        let wrong = client.refuses("recall_episodes", json!({"query": "x", "time_range": range}));
        assert_says(&wrong, &[&format!("`{range}` is not a time range"), "hint: write turns `3-8`"]);
    }
    let facts = client.values("recall_facts", json!({"topic": "trap door"}));
    assert_eq!(facts["memories"][0]["title"], "Trap door shuts");
    assert_eq!(facts["memories"][0]["confidence"], facts["memories"][0]["relevance"]);
    assert_eq!(
        client.titles("recall_interactions", json!({"character": "Jordan"})),
        ["Jordan", "Ep1 T1 Jordan"]
    );
    assert_says(
        &client.refuses("recall_interactions", json!({"character": "Zoe"})),
        &["nobody called `Zoe`"],
    );
    let alike = client.titles("check_similar_situations", json!({"context": "a door that shuts behind me"}));
    assert_eq!(alike[0], "Trap door shuts");
    assert_says(&client.refuses("check_similar_situations", json!({})), &["`context` is empty"]);
}

#[test]
fn a_character_is_named_by_more_than_an_article() {
    let world = World::new(
        "## NPC troll: The Troll\n\n**[NOTE] Gifts**\nAccepts gifts.\n\n## NPC old-man: Old Man\n\n\
         ## Location 5: Bridge\n\n**[DANGER] Toll** *(Ep1, T5)*\nA goblin and the troll want a toll.\n\n\
         ## World\n\n**[EVENT] Dam** *(Ep1, T1)*\nThe dam opened.\n\n**[EVENT] Ship** *(Ep1, T2)*\nAn old ship \
         sank.\n\n**[EVENT] Axe** *(Ep1, T3)*\nThe axe of a troll fell.\n\n## Dialogue\n\n\
         **[DIALOGUE] Ep1 T4 Old Man** *(Ep1, T4)*\nOld Man said: The sun is shining.\n",
    );
    let mut client = world.serve(&[]);
    let mut with = |name: &str| client.titles("recall_interactions", json!({"character": name}));
    assert_eq!(
        (with("The Troll"), with("troll")),
        (
            ["Gifts", "Axe", "Toll"].map(str::to_owned).into(),
            ["Gifts", "Axe", "Toll"].map(str::to_owned).into()
        )
    );
    assert_eq!(with("Old Man"), ["Ep1 T4 Old Man"]);
    assert_eq!(with("Goblin"), ["Toll"]);
    for nobody in ["the", "Gob", "dragon"] {
        let refused = client.refuses("recall_interactions", json!({"character": nobody}));
        assert_says(&refused, &[&format!("nobody called `{nobody}` is known")]);
    }
    let refused = client.refuses("recall_interactions", json!({"character": "the"}));
    assert_says(&refused, &["nobody called `the` is known"]);
}

#[test]
fn what_is_said_and_done_has_the_time_of_the_last_turn() {
    let (world, mut client) = alex();
    client.values(
        "record_turn",
        json!({"location": 23, "action": "wait", "response": "Time passes.", "episode": 2, "turn": 7}),
    );
    client.values("form_memory", json!({"content": "I fed the hungry dragon.", "type": "episodic"}));
    client.values("form_memory", json!({"content": "Supper is ready.", "scope": "dialogue"}));
    client.values(
        "form_memory",
        json!({"content": "At last!", "scope": "dialogue", "speaker": "jordan", "turn": 8}),
    );
    assert_eq!(client.titles("recall_episodes", json!({"query": "dragon"})), ["I fed the hungry dragon."]);
    assert_says(
        &world.text(),
        &[
            "**[EVENT] I fed the hungry dragon.** *(Ep2, T7)*",
            "**[DIALOGUE] Ep2 T7 Alex** *(Ep2, T7, #speaker:alex)*\nAlex said: Supper is ready.",
            "**[DIALOGUE] Ep2 T8 Jordan** *(Ep2, T8, #speaker:jordan)*\nJordan said: At last!",
        ],
    );
    let elsewhere = client.refuses("form_memory", json!({"content": "x", "speaker": "alex"}));
    assert_says(&elsewhere, &["`speaker` is only for `dialogue`, not for agent:alex"]);
    let wrong =
        client.refuses("form_memory", json!({"content": "x", "scope": "dialogue", "type": "semantic"}));
    assert_says(&wrong, &["`type` is FACT, but what is said is DIALOGUE"]);
    let nobody = world.serve(&[]).refuses("form_memory", json!({"content": "x", "scope": "dialogue"}));
    assert_says(&nobody, &["nobody is named who says this", "hint: name the `speaker`"]);
}

#[test]
fn what_is_tentative_is_less_certain() {
    let world = World::new(
        "## Location 1: A\n\n**[DISCOVERY - TENTATIVE] Case may score**\nThe trophy case may score.\n",
    );
    let facts = world.serve(&[]).values("recall_facts", json!({"topic": "trophy case"}));
    let (confidence, relevance) =
        (facts["memories"][0]["confidence"].as_f64(), facts["memories"][0]["relevance"].as_f64());
    let ratio = confidence.unwrap() / relevance.unwrap();
    assert!((ratio - 0.6).abs() < 0.01, "{ratio}");
    assert_eq!(facts["memories"][0]["status"], "tentative");
}

#[test]
fn the_status_says_what_there_is() {
    let world = World::new(STORY);
    let values = world
        .serve(&["--agent", "agent:Alex", "--read-only", "--tools", "status,self"])
        .values("memory_status", json!({}));
    assert_eq!(values["file"], "Memories.md");
    assert_eq!(
        (&values["memories"], &values["places"], &values["superseded"]),
        (&json!(8), &json!(1), &json!(0))
    );
    assert_eq!((&values["agents"], &values["agent"]), (&json!(["alex"]), &json!("alex")));
    let all = world.serve(&[]).values("memory_status", json!({}));
    assert_eq!((&all["agents"], &all["memories"]), (&json!(["alex", "jordan"]), &json!(9)));
    assert_eq!((&values["read_only"], &values["groups"]), (&json!(true), &json!(["status", "self"])));
    let nothing = World::new("");
    std::fs::remove_file(nothing.file()).unwrap();
    let mut client = nothing.serve(&[]);
    assert_eq!(client.values("memory_status", json!({}))["exists"], false);
    assert_eq!(client.titles("query_memories", json!({"question": "anything"})), [""; 0]);
}
