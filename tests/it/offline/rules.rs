//! Each rule on its own: real replies, replies in the style of other games, and arbitrary ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ask, check_shape};

/// A turn at place 1 with some fields replaced, and the memories of place 1.
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

fn memory(title: &str, text: &str) -> Value {
    json!([{"title": title, "text": text, "category": "NOTE", "status": "active", "episode": 1}])
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
fn the_deaths_of_a_place_are_one_memory() {
    let reply = "You can't go that way.\nThe troll neatly removes your head.\nIt appears that that last blow was too \
        much for you. I'm afraid you are dead.\n \n    ****  You have died  **** \n\nNow, let's take a look here... \
        \n\nForest\nThis is a forest.\n\n";
    let died = json!({"died": true, "score_after": -10, "location_after": {"id": 2, "name": "Forest"}});
    let answer = judge("southwest", reply, died.clone());
    let text = "`southwest`: The troll neatly removes your head.";
    expect(&answer, "DANGER", "Deaths", text);
    assert_eq!((&answer["importance"], &answer["place"]), (&json!(900), &json!("before")));

    let known = memory("Deaths", text);
    expect_declined(&ask(&turn("southwest", reply, died.clone(), known.clone())));
    let again = ask(&turn("west", reply, died.clone(), known.clone()));
    expect(&again, "DANGER", "Deaths", &format!("{text} Also `west`."));
    let jump = "Nice view, lousy place to jump.\n \n    ****  You have died  **** \n\nForest\n\n";
    let other = ask(&turn("jump", jump, died.clone(), known));
    expect(&other, "DANGER", "Deaths", &format!("{text} `jump`: Nice view, lousy place to jump."));
    check_shape(&judge("jump", "", died.clone()));

    let mut text = String::new();
    for number in 0..9 {
        let reply = format!("Trap number {number} of the long and winding hall snaps shut behind you.");
        let answer = ask(&turn(&format!("step {number}"), &reply, died.clone(), memory("Deaths", &text)));
        check_shape(&answer);
        text = answer["memory_text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with('`') && text.ends_with("behind you."), "{text}");
    }
}

#[test]
fn the_points_of_a_place_are_one_memory() {
    let reply = "The trap door crashes shut.\n\nCellar\nYou are in a dark and damp cellar.\n\n";
    let other = json!({"score_after": 25, "location_after": {"id": 2, "name": "Cellar"}});
    let text = "down: +25 points (Cellar)";
    expect(&judge("Down", reply, other.clone()), "SUCCESS", "Points", text);
    let known = memory("Points", text);
    expect_declined(&ask(&turn("down", reply, other, known.clone())));
    let egg = turn("take egg", "Taken.", json!({"score_after": 5, "inventory_after": ["egg"]}), known);
    expect(&ask(&egg), "SUCCESS", "Points", "down: +25 points (Cellar); take egg: +5 points");
    let answer = judge("eat idol", "The idol is gone.", json!({"score_after": -5}));
    expect(&answer, "DANGER", "Points lost", "eat idol: -5 points");
}

#[test]
fn losses_are_thefts_gifts_or_nothing() {
    let lost = json!({"inventory_before": ["sword"]});
    let reply = "You can't go that way.\nThe thief just left, still carrying his large bag. You may not have noticed \
        that he robbed you blind first.\n\n";
    let text = "You may not have noticed that he robbed you blind first.";
    expect(&judge("southeast", reply, lost.clone()), "DANGER", "Robbed of sword", text);
    let quiet = judge("wait", "", lost.clone());
    expect(&quiet, "NOTE", "Lost sword", "Gone after `wait`.");
    assert_eq!(quiet["status"], json!("tentative"));
    expect_declined(&judge("drop sword", "Dropped.", lost));
    let given = json!({"inventory_before": ["sword"], "world_changed": true});
    let gift = judge("give sword to troll", "The troll graciously accepts the gift.", given);
    expect(&gift, "NOTE", "Here", "Worked: give sword to troll");
}

#[test]
fn what_worked_is_listed_with_what_it_gave() {
    let changed = json!({"world_changed": true});
    let window = judge("open  window", "With great effort, you open the window.", changed.clone());
    expect(&window, "NOTE", "Here", "Worked: open window");
    let known = memory("Here", "n: Kitchen. Worked: open window");
    let lantern = json!({"inventory_after": ["brass lantern"]});
    let lamp = ask(&turn("take lamp", "Taken.", lantern.clone(), known.clone()));
    expect(&lamp, "NOTE", "Here", "n: Kitchen. Worked: open window; take lamp: brass lantern");
    let lantern = ask(&turn("take lantern", "Taken.", lantern, known.clone()));
    expect(&lantern, "NOTE", "Here", "n: Kitchen. Worked: open window; take lantern");
    expect_declined(&ask(&turn("OPEN window", "It opens.", changed.clone(), known)));
    let reply = "Done.\nIn disturbing the pile of leaves, a grating is revealed.";
    expect(&judge("move leaves", reply, changed.clone()), "NOTE", "Here", "Worked: move leaves: grating");
    let reply = "You lift the lid, revealing a silver key.";
    expect(&judge("open chest", reply, changed.clone()), "NOTE", "Here", "Worked: open chest: silver key");
    expect_declined(&judge("wait", "Time passes...", changed.clone()));
    expect_declined(&judge("open it: now", "It opens.", changed));
}

#[test]
fn what_failed_while_the_world_went_on_is_listed_too() {
    let changed = json!({"world_changed": true});
    expect_declined(&judge("north", "You can't go that way.", changed.clone()));
    let known = memory("Here", "s: Hall");
    let text = "s: Hall. In vain: north";
    expect(&ask(&turn("north", "You can't go that way.", changed.clone(), known)), "NOTE", "Here", text);
    let heavy = ask(&turn("take trunk", "It is too heavy.", changed.clone(), memory("Here", text)));
    expect(&heavy, "NOTE", "Here", "s: Hall. In vain: north; take trunk");
    let known = memory("Here", "s: Hall. In vain: open door");
    expect(
        &ask(&turn("open door", "It opens.", changed, known)),
        "NOTE",
        "Here",
        "s: Hall. Worked: open door",
    );
}

#[test]
fn a_place_is_described_in_a_later_episode() {
    let back = json!({"episode": 2, "location_after": {"id": 2, "name": "Attic"}});
    let lit = "Attic\nThis is the attic. The only exit is a stairway leading down.\nThere is a coil of rope here.\n\n";
    let mut facts = turn("up", lit, back, memory("Here", "u: Attic"));
    expect_declined(&ask(&facts));
    facts["memories_after"] = memory("Here", "d: Hall");
    let answer = ask(&facts);
    expect(&answer, "NOTE", "Here", "d: Hall. Seen: There is a coil of rope here.");
    assert_eq!(answer["place"], json!("after"));
    facts["memories_after"][0]["episode"] = json!(2);
    expect_declined(&ask(&facts));
    facts["turn"]["response"] = json!("It is pitch black. You are likely to be eaten by a grue.\n\n");
    let answer = ask(&facts);
    expect(&answer, "NOTE", "Here", "Dark. d: Hall");
    facts["memories_after"] = memory("Here", "Dark. d: Hall");
    expect_declined(&ask(&facts));
}

#[test]
fn ways_grow_and_stay_bounded() {
    let to = |id: i64, name: &str| json!({"location_after": {"id": id, "name": name}});
    let first = |action: &str, reply: &str, place: Value, known: Value| {
        let mut facts = turn(action, reply, place, known);
        facts["triggers"] = json!(["first_visit"]);
        ask(&facts)
    };
    let none = || json!([]);
    expect(&first("n", "Kitchen\n\n", to(2, "Kitchen"), none()), "NOTE", "Here", "n: Kitchen");
    let dark = first("down", "It is pitch dark, and you can't see a thing.", to(2, "Vault"), none());
    expect(&dark, "NOTE", "Here", "d: Vault (dark)");
    let known = memory("Here", "n: Kitchen");
    expect_declined(&ask(&turn("south", "Yard\n\n", to(3, "Yard"), known.clone())));
    let hall = first("south", "Hall\n\n", to(3, "Hall"), known.clone());
    expect(&hall, "NOTE", "Here", "n: Kitchen; s: Hall 3");
    expect_declined(&first("go north", "Kitchen\n\n", to(2, "Kitchen"), known.clone()));
    expect_declined(&first("enter kitchen", "Kitchen\n\n", to(2, "Kitchen"), known));
    let mut back = turn("south", "Yard\n\n", to(3, "Yard"), none());
    expect(&ask(&back), "NOTE", "Here", "s: Yard");
    back["memories_after"] = memory("Here", "n: Hall");
    expect_declined(&ask(&back));
    let scored = memory("Points", "enter yard: +5 points (Yard)");
    expect_declined(&ask(&turn("south", "Yard\n\n", to(3, "Yard"), scored)));

    let mut text = String::from("Dark");
    for number in 0..40 {
        let place = format!("Cave {number} below the mountains");
        let answer = first(&format!("squeeze {number}"), "", to(number + 10, &place), memory("Here", &text));
        check_shape(&answer);
        text = answer["memory_text"].as_str().expect("a text").to_owned();
        assert!(text.starts_with("Dark. squeeze") && text.chars().count() <= 200, "{text}");
    }
}

#[test]
fn a_fight_is_one_memory_when_it_is_won() {
    let changed = json!({"world_changed": true});
    let blow = "A quick stroke, but the troll is on guard.\nThe axe sweeps past as you jump aside.\n\n";
    expect_declined(&judge("kill troll with sword", blow, changed.clone()));
    let won = "It's curtains for the troll as your sword removes his head.";
    let title = "Kill troll with sword";
    expect(&judge("kill troll with sword", won, changed.clone()), "SUCCESS", title, won);
    expect_declined(&ask(&turn("kill troll with sword", won, changed, memory(title, won))));
}

#[test]
fn what_is_only_read_is_left_to_the_list_of_tries() {
    let reply = "\"WELCOME TO ZORK!\n\nZORK is a game of adventure, danger, and low cunning. In it you will explore \
        some of the most amazing territory ever seen by mortals.\"\n\n";
    expect_declined(&judge("read leaflet", reply, json!({})));
    let look = format!("Hall\n{}", "A broad hall with a rug and a long description. ".repeat(4));
    expect_declined(&judge("look", &look, json!({})));
}

#[test]
fn other_games_print_otherwise() {
    let seen = |reply: &str, name: &str| {
        let mut facts =
            turn("in", reply, json!({"location_after": {"id": 2, "name": name}}), memory("Here", "in: X"));
        facts["memories_after"] = memory("Here", "out: Hall");
        facts["turn"]["episode"] = json!(2);
        ask(&facts)["memory_text"].as_str().expect("a text").to_owned()
    };
    let inform = "\n[Office]\nA dim little office, its blinds drawn against\nthe rain. A filing cabinet stands in the \
        corner.\n\nYou can see a telephone here.\n\n[Your score has just gone up by one point.]\n\n>";
    assert_eq!(seen(inform, "Office"), "out: Hall. Seen: You can see a telephone here.");
    let bold =
        "> go east\n**Tower**\nA spiral stair climbs into gloom.\nOn the sill lies a silver spell scroll.\n>";
    assert_eq!(seen(bold, "Tower"), "out: Hall. Seen: On the sill lies a silver spell scroll.");
    let dead = "The floor gives way beneath you.\r\n\r\n    *** You have died ***\r\n\r\nIn that game you scored 0 out \
        of a possible 100.";
    let answer = judge("cross floor", dead, json!({"died": true}));
    expect(&answer, "DANGER", "Deaths", "`cross floor`: The floor gives way beneath you.");
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
    let titles = prop::sample::select(vec!["Here", "Points", "Deaths", "Kill troll", ""]);
    let one = (
        titles,
        "(Dark)?(n: .{0,9}; ){0,3}.{0,60}( (Worked|In vain|Seen): (`?.{0,9}`?: .{0,9}; ){0,30})?",
        any::<bool>(),
    )
        .prop_map(|(title, text, tentative)| {
            let status = if tentative { "tentative" } else { "active" };
            json!({"title": title, "text": text, "category": "SUCCESS", "status": status})
        });
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
    #![proptest_config(crate::cases(512))]

    #[test]
    fn any_turn_gives_a_bounded_answer(facts in any_facts()) {
        let answer = ask(&facts);
        check_shape(&answer);
        prop_assert_eq!(answer, ask(&facts));
    }
}
