//! Each rule on its own: real replies, replies in the style of other games, and arbitrary ones.

use memories::llm::offline::Offline;
use memories::llm::{Model, ModelError, Question};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ask, check_shape};

#[test]
fn other_questions_are_refused() {
    let null = Value::Null;
    let question = Question { system: "", prompt: "", schema_name: "summary", schema: &null, facts: &null };
    assert!(matches!(Offline.ask(&question), Err(ModelError::Refused { .. })));
}

/// A turn at place 1, with what differs laid over it, and the memories of place 1.
fn turn(action: &str, response: &str, other: Value, memories: Value) -> Value {
    let mut turn = json!({
        "episode": 1, "turn": 1, "action": action, "response": response,
        "location_before": {"id": 1, "name": "Hall"}, "location_after": {"id": 1, "name": "Hall"},
        "score_before": 0, "score_after": 0, "inventory_before": [], "inventory_after": [],
        "died": false, "world_changed": null,
    });
    for (key, value) in other.as_object().expect("an object") {
        turn[key] = value.clone();
    }
    json!({"turn": turn, "triggers": [], "memories": memories, "memories_after": []})
}

fn judge(action: &str, response: &str, other: Value) -> Value {
    let answer = ask(&turn(action, response, other, json!([])));
    check_shape(&answer);
    answer
}

fn memory(title: &str, text: &str, category: &str, status: &str) -> Value {
    json!([{"title": title, "text": text, "category": category, "status": status}])
}

fn expect(answer: &Value, category: &str, title: &str, text: &str) {
    assert_eq!(answer["should_remember"], json!(true), "{answer}");
    let found = (&answer["category"], &answer["memory_title"], &answer["memory_text"]);
    assert_eq!(found, (&json!(category), &json!(title), &json!(text)));
}

fn expect_declined(answer: &Value) {
    assert_eq!(answer["should_remember"], json!(false), "{answer}");
}

#[test]
fn a_death_tells_what_killed() {
    let reply = "You can't go that way.\nThe troll neatly removes your head.\nIt appears that that last blow was too \
        much for you. I'm afraid you are dead.\n \n    ****  You have died  **** \n\nNow, let's take a look here... \
        \n\nForest\nThis is a forest.\n\n";
    let died = json!({"died": true, "score_after": -10, "location_after": {"id": 2, "name": "Forest"}});
    let answer = judge("southwest", reply, died.clone());
    let text = "The troll neatly removes your head. Beware of the troll here.";
    expect(&answer, "DANGER", "Death by troll after southwest", text);
    assert_eq!((&answer["importance"], &answer["place"]), (&json!(900), &json!("before")));

    let known = memory("Death by troll after southwest", text, "DANGER", "active");
    let again = ask(&turn("west", reply, died.clone(), known));
    expect(&again, "DANGER", "Death by troll after southwest", &format!("{text} Also: `west`."));

    let jump = "Nice view, lousy place to jump.\n \n    ****  You have died  **** \n\nForest\n\n";
    let answer = judge("jump", jump, died.clone());
    expect(&answer, "DANGER", "Death after jump", "Nice view, lousy place to jump. Avoid `jump` here.");
    check_shape(&judge("jump", "", died));
}

#[test]
fn points_say_what_earned_them() {
    let reply = "The trap door crashes shut, and you hear someone barring it.\n\nCellar\nYou are in a dark and damp \
        cellar.\n\n";
    let other = json!({"score_after": 25, "location_after": {"id": 2, "name": "Cellar"}});
    let text = "The trap door crashes shut, and you hear someone barring it. Scored 25 points.";
    expect(&judge("down", reply, other), "SUCCESS", "Down to Cellar", text);
    let other = json!({"score_after": 5, "inventory_after": ["egg"]});
    expect(
        &judge("take egg", "Taken.", other),
        "SUCCESS",
        "Take egg",
        "Taken. Scored 5 points. You get: egg.",
    );
    let answer = judge("eat idol", "The idol is gone.", json!({"score_after": -5}));
    expect(&answer, "DANGER", "Eat idol", "The idol is gone. Lost 5 points.");
}

#[test]
fn things_found_at_a_place_share_one_memory() {
    let lantern = json!({"inventory_after": ["brass lantern"]});
    let first = judge("take lamp", "Taken.\n\n", lantern);
    expect(&first, "SUCCESS", "Items found here", "take lamp → brass lantern");
    let known = memory("Items found here", "take lamp → brass lantern", "SUCCESS", "active");
    let sword = json!({"inventory_before": ["x"], "inventory_after": ["x", "sword"]});
    let second = ask(&turn("take sword", "Taken.\n\n", sword, known.clone()));
    expect(&second, "SUCCESS", "Items found here", "take lamp → brass lantern; take sword");
    let again = json!({"inventory_after": ["brass lantern"]});
    expect_declined(&ask(&turn("take lantern", "Taken.", again, known)));
}

#[test]
fn losses_are_thefts_gifts_or_nothing() {
    let lost = json!({"inventory_before": ["sword"]});
    let reply = "You can't go that way.\nThe thief just left, still carrying his large bag. You may not have noticed \
        that he robbed you blind first.\n\n";
    let text = "You may not have noticed that he robbed you blind first.";
    expect(&judge("southeast", reply, lost.clone()), "DANGER", "Robbed of sword", text);
    expect_declined(&judge("drop sword", "Dropped.", lost.clone()));
    let gift = judge("give sword to troll", "The troll graciously accepts the gift.", lost);
    expect(&gift, "NOTE", "Give sword to troll", "The troll graciously accepts the gift.");
    assert_eq!(gift["status"], json!("tentative"));
}

#[test]
fn a_place_is_described_once_and_lit_later() {
    let arrive = json!({"location_after": {"id": 2, "name": "Attic"}});
    let lit = "Attic\nThis is the attic. The only exit is a stairway leading down.\nA large coil of rope is lying in \
        the corner.\n\n";
    let answer = judge("up", lit, arrive.clone());
    expect(&answer, "DISCOVERY", "Place and ways", "A large coil of rope is lying in the corner.");
    assert_eq!(answer["place"], json!("after"));

    let dark =
        "You have moved into a dark place.\nIt is pitch black. You are likely to be eaten by a grue.\n\n";
    let answer = judge("up", dark, arrive.clone());
    expect(&answer, "DANGER", "Place and ways", "It is pitch black.");
    assert_eq!(answer["status"], json!("tentative"));

    let mut facts = turn("up", lit, arrive, json!([]));
    let known = "It is pitch black. Ways: down → Hall";
    facts["memories_after"] = memory("Place and ways", known, "DANGER", "tentative");
    let text = "A large coil of rope is lying in the corner. Dark without a light. Ways: down → Hall";
    let answer = ask(&facts);
    expect(&answer, "DISCOVERY", "Place and ways", text);
    assert_eq!(answer["status"], json!("active"));
}

#[test]
fn ways_grow_and_stay_bounded() {
    let to = |id: i64, name: &str| json!({"location_after": {"id": id, "name": name}});
    expect(&judge("n", "Kitchen\n\n", to(2, "Kitchen")), "NOTE", "Place and ways", "Ways: north → Kitchen");
    let known = memory("Place and ways", "A rug. Ways: north → Kitchen", "DISCOVERY", "active");
    let answer = ask(&turn("south", "Hall\n\n", to(3, "Hall"), known.clone()));
    expect(&answer, "DISCOVERY", "Place and ways", "A rug. Ways: north → Kitchen; south → Hall (3)");
    expect_declined(&ask(&turn("go north", "Kitchen\n\n", to(2, "Kitchen"), known.clone())));
    expect_declined(&ask(&turn("enter kitchen", "Kitchen\n\n", to(2, "Kitchen"), known)));

    let mut text = String::from("A rug.");
    for number in 0..40 {
        let known = memory("Place and ways", &text, "DISCOVERY", "active");
        let place = format!("Cave {number}, far below the mountains");
        let answer = ask(&turn(&format!("squeeze {number}"), "", to(number + 10, &place), known));
        check_shape(&answer);
        text = answer["memory_text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with("A rug. Ways: ") && text.matches('→').count() <= 10, "{text}");
    }
}

#[test]
fn a_way_that_leads_on_is_not_a_way() {
    let reply = "Bat Room\nYou are in a small room.\nThere is an exquisite jade figurine here.\nA large vampire bat, \
        hanging from the ceiling, swoops down at you!\n\n    Fweep!\n    Fweep!\n\nThe bat grabs you by the scruff of \
        your neck and lifts you away....\n\nCoal Mine\nThis is a nondescript part of a coal mine.\n\n";
    let answer = judge("north", reply, json!({"location_after": {"id": 2, "name": "Coal Mine"}}));
    let text = "The bat grabs you by the scruff of your neck and lifts you away.... You end up at Coal Mine.";
    expect(&answer, "DANGER", "Going north does not end there", text);
    assert_eq!(answer["place"], json!("before"));
}

#[test]
fn what_changes_the_world_is_named_by_its_action() {
    let changed = json!({"world_changed": true});
    let reply = "With great effort, you open the window far enough to allow entry.";
    expect(&judge("open  window", reply, changed.clone()), "SUCCESS", "Open window", reply);
    let known = memory("Move rug", "The rug is moved to one side.", "SUCCESS", "active");
    let twin = ask(&turn("push rug", "The rug is moved to one side.", changed.clone(), known.clone()));
    expect(&twin, "SUCCESS", "Move rug", "The rug is moved to one side. Also: `push rug`.");
    expect_declined(&ask(&turn("move rug", "It moves no further.", changed.clone(), known)));
    expect_declined(&judge("north", "You can't go that way.", changed.clone()));
    expect_declined(&judge("wait", "Time passes...", changed.clone()));
    let heavy = judge("take trunk", "Your load is too heavy.\nA man leans on the wall.", changed);
    expect(&heavy, "FAILURE", "Take trunk", "Your load is too heavy.");
}

#[test]
fn a_fight_is_one_memory_until_it_is_won() {
    let changed = json!({"world_changed": true});
    let blow = "A quick stroke, but the troll is on guard.\nThe axe sweeps past as you jump aside.\n\n";
    let first = judge("kill troll with sword", blow, changed.clone());
    assert_eq!((&first["category"], &first["status"]), (&json!("NOTE"), &json!("tentative")));
    let known = json!([{"title": first["memory_title"], "text": first["memory_text"], "category": "NOTE",
        "status": "tentative"}]);
    let next = "A good slash, but it misses the troll by a mile.";
    expect_declined(&ask(&turn("kill troll with sword", next, changed.clone(), known.clone())));
    expect_declined(&ask(&turn("hit troll", next, changed.clone(), known.clone())));
    let won = "It's curtains for the troll as your sword removes his head.";
    expect(
        &ask(&turn("kill troll with sword", won, changed, known)),
        "SUCCESS",
        "Kill troll with sword",
        won,
    );
}

#[test]
fn long_replies_are_kept_when_they_tell_something() {
    let reply = "\"WELCOME TO ZORK!\n\nZORK is a game of adventure, danger, and low cunning. In it you will explore \
        some of the most amazing territory ever seen by mortals.\"\n\n";
    let text = "\"WELCOME TO ZORK! ZORK is a game of adventure, danger, and low cunning.";
    expect(&judge("read leaflet", reply, json!({})), "DISCOVERY", "Read leaflet", text);
    let score = "Your score is 35 (total of 350 points), in 45 moves.\nThis gives you the rank of Amateur Adventurer \
        and much honour.";
    expect_declined(&judge("score", score, json!({})));
    let known = memory("Place and ways", "A rug.", "DISCOVERY", "active");
    let look = format!("Hall\n{}", "A broad hall with a rug and a long description. ".repeat(4));
    expect_declined(&ask(&turn("look", &look, json!({}), known)));
    expect_declined(&judge("enter gate", &format!("You can't do that{}.", ", really".repeat(20)), json!({})));
}

#[test]
fn other_games_print_otherwise() {
    let to = |name: &str| json!({"location_after": {"id": 2, "name": name}});
    let inform = "\n[Office]\nA dim little office, its blinds drawn against\nthe rain. A filing cabinet stands in the \
        corner.\n\nYou can see a telephone here.\n\n[Your score has just gone up by one point.]\n\n>";
    let text = "You can see a telephone here.";
    expect(&judge("enter office", inform, to("Office")), "DISCOVERY", "Place and ways", text);
    let bold =
        "> go east\n**Tower**\nA spiral stair climbs into gloom.\nOn the sill lies a silver spell scroll.\n>";
    let text = "On the sill lies a silver spell scroll.";
    expect(&judge("go east", bold, to("Tower")), "DISCOVERY", "Place and ways", text);
    let darkness = "Darkness\nIt is pitch dark, and you can't see a thing.\n";
    let answer = judge("down", darkness, to("Vault"));
    expect(&answer, "DANGER", "Place and ways", "It is pitch dark, and you can't see a thing.");
    let dead = "The floor gives way beneath you.\r\n\r\n    *** You have died ***\r\n\r\nIn that game you scored 0 out \
        of a possible 100.";
    let answer = judge("cross floor", dead, json!({"died": true}));
    let text = "The floor gives way beneath you. Beware of the floor here.";
    expect(&answer, "DANGER", "Death by floor after cross floor", text);
}

#[test]
fn hostile_and_missing_parts_do_no_harm() {
    for facts in [json!(null), json!([]), json!({"turn": 3}), json!({"turn": {"action": 7, "died": true}})] {
        check_shape(&ask(&facts));
    }
    let endless = "Something happens, ".repeat(600);
    check_shape(&judge("poke it", &endless, json!({"world_changed": true})));
    check_shape(&judge("", "Nothing.", json!({"world_changed": true, "died": true})));
    check_shape(&judge(&"x→; ".repeat(200), "Ping.", json!({"location_after": {"id": -4, "name": ""}})));
    check_shape(&judge("北 “now”", "å\u{0}\u{1b}[1m**Bold**", json!({"world_changed": true})));
    let extreme = json!({"score_before": i64::MIN, "score_after": i64::MAX});
    check_shape(&judge("win", "You win.", extreme));
}

fn any_memories() -> impl Strategy<Value = Value> {
    let titles =
        prop::sample::select(vec!["Place and ways", "Items found here", "Open door", "Kill troll", ""]);
    let one = (titles, ".{0,60}( Ways: (n → .{0,9}; ){0,3})?", any::<bool>()).prop_map(
        |(title, text, tentative)| {
            let status = if tentative { "tentative" } else { "active" };
            json!({"title": title, "text": text, "category": "SUCCESS", "status": status})
        },
    );
    prop::collection::vec(one, 0..4).prop_map(Value::from)
}

fn any_facts() -> impl Strategy<Value = Value> {
    let reply = "([A-Z][a-z]{1,9}\\PC{0,9}[.!?:;\"*>\\[\\]() …→]{0,4}(\n|\r\n|  | )){0,40}";
    let place = prop::option::of((any::<i64>(), ".{0,12}"));
    let things = prop::option::of(prop::collection::vec(".{0,12}", 0..4));
    let turn = (
        "(take|kill|open|n|put|go up|look|\\PC{0,8}) ?.{0,20}",
        reply,
        place.clone(),
        place,
        (things.clone(), things),
        (any::<i64>(), any::<i64>()),
        any::<(bool, Option<bool>)>(),
    );
    (turn, any_memories(), any_memories()).prop_map(|(turn, memories, memories_after)| {
        let (action, response, before, after, things, score, (died, world_changed)) = turn;
        let place = |place: Option<(i64, String)>| place.map(|(id, name)| json!({"id": id, "name": name}));
        json!({
            "turn": {
                "action": action, "response": response, "location_before": place(before),
                "location_after": place(after), "inventory_before": things.0, "inventory_after": things.1,
                "score_before": score.0, "score_after": score.1, "died": died, "world_changed": world_changed,
            },
            "triggers": ["first_visit"], "memories": memories, "memories_after": memories_after,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_turn_gives_a_bounded_answer(facts in any_facts()) {
        let answer = ask(&facts);
        check_shape(&answer);
        prop_assert_eq!(answer, ask(&facts));
    }
}
