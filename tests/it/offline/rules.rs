//! Each rule on its own: real replies, replies in the style of other games, and arbitrary ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ask, check_shape};

/// A turn at place 1 with some fields replaced.
fn turn(action: &str, response: &str, other: Value) -> Value {
    let mut turn = json!({
        "episode": 1, "turn": 1, "action": action, "response": response,
        "location_before": {"id": 1, "name": "Hall"}, "location_after": {"id": 1, "name": "Hall"},
        "score_before": 0, "score_after": 0, "inventory_before": [], "inventory_after": [],
        "died": false, "world_changed": null,
    });
    for (key, value) in other.as_object().expect("an object") {
        turn[key] = value.clone();
    }
    json!({"turn": turn, "memories": [], "memories_after": []})
}

/// The memories that the rules make of a turn, each as `CATEGORY title | text`.
fn judge(facts: &Value) -> Vec<String> {
    let memories = ask(facts);
    memories.iter().for_each(check_shape);
    let text = |memory: &Value, key: &str| memory[key].as_str().expect("a text").to_owned();
    let line =
        |memory| format!("{} {} | {}", text(memory, "category"), text(memory, "title"), text(memory, "text"));
    memories.iter().map(line).collect()
}

fn judged(action: &str, response: &str, other: Value) -> Vec<String> {
    judge(&turn(action, response, other))
}

/// The memories of a first visit of place 2, which has that name.
fn arrive(name: &str, response: &str) -> Vec<String> {
    let mut facts = turn("north", response, json!({"location_after": {"id": 2, "name": name}}));
    facts["first_visit"] = json!(true);
    judge(&facts)
}

fn known(title: &str, text: &str, category: &str) -> Value {
    json!([{"title": title, "text": text, "category": category, "status": "active"}])
}

const END: &str = "\n\n    ****  You have died  ****\n\nForest\n";

#[test]
fn a_death_is_titled_by_what_killed() {
    let died = json!({"died": true, "score_after": -10, "location_after": {"id": 2, "name": "Forest"}});
    for (action, reply, expected) in [
        (
            "southwest",
            "You can't go that way.\nThe troll neatly removes your head.\nI'm afraid you are dead.",
            "DANGER Fatal: troll neatly removes your head | After `southwest`.",
        ),
        (
            "cross floor",
            "The floor gives way beneath you.",
            "DANGER Fatal: floor gives way beneath you | By `cross floor`.",
        ),
        ("drink vial", "A poison! You drown in foam.", "DANGER Fatal: you drown in foam | By `drink vial`."),
        (
            "wait",
            "A cobra bites your ankle. The caravan heads north, the falls roar, and night falls.",
            "DANGER Fatal: cobra bites your ankle | By `wait`.",
        ),
        (
            "wait",
            "A dart hits you in the throat. A bell rings at the head of the stairs.",
            "DANGER Fatal: dart hits you in the throat | By `wait`.",
        ),
        ("leap", "You fall a long way. The crowd cheers.", "DANGER Fatal: you fall a long way | By `leap`."),
        // Remarks are no cause.
        ("jump", "Nice view, lousy place to jump.", "DANGER Fatal: jump | Nice view, lousy place to jump."),
        (
            "jump",
            "In the movies, your life would be passing before your eyes.",
            "DANGER Fatal: jump | In the movies, your life would be passing before your eyes.",
        ),
        ("west", "You are in a den. Worse, they get angry.", "DANGER Fatal: west | Worse, they get angry."),
        ("", "", "DANGER Fatal | The reply names no cause."),
        // Nobody dies of a look at what is carried.
        (
            "inventory",
            "Days without bread have their price.",
            "DANGER Fatal: Days without bread have their price | By `inventory`.",
        ),
        ("south", "You have died of thirst.", "DANGER Fatal: you have died of thirst | By `south`."),
        ("wait", "Alas.\n\n*** You have starved ***", "DANGER Fatal: you have starved | By `wait`."),
    ] {
        assert_eq!(judged(action, &format!("{reply}{END}"), died.clone()), [expected], "{action}");
    }
    let facts = turn("jump", &format!("Nice view.{END}"), died);
    assert_eq!((&ask(&facts)[0]["importance"], &ask(&facts)[0]["score_change"]), (&json!(900), &json!(-10)));
    let mut again = facts;
    again["memories"] = known("Fatal: jump (Hall)", "Nice view.", "DANGER");
    assert_eq!(judge(&again), [""; 0]);
}

#[test]
fn darkness_kills_who_was_in_the_dark_and_saw_no_light_since() {
    let mut facts = turn("up", &format!("A grue devoured you!{END}"), json!({"died": true}));
    let earlier =
        |reply: &str| json!({"action": "wait", "response": reply, "location": {"id": 1, "name": "Hall"}});
    facts["history"] = json!([earlier("It is pitch black."), earlier("Time passes.")]);
    assert_eq!(judge(&facts), ["DANGER Killed in the dark | `up`: A grue devoured you!"]);
    facts["history"] = json!([earlier("It is pitch black."), earlier("Hall\nA lamp hangs here.")]);
    assert_eq!(judge(&facts), ["DANGER Fatal: grue devoured you | By `up`."]);
}

#[test]
fn losses_are_thefts_gifts_or_nothing() {
    let lost = || json!({"inventory_before": ["brass lamp"], "world_changed": true});
    let reply = "You can't go that way.\nThe thief just left. You may not have noticed that he robbed you blind first.";
    let expected = "DANGER Robbed by the thief | You may not have noticed that he robbed you blind first. Lost: brass lamp.";
    assert_eq!(judged("southeast", reply, lost()), [expected]);
    let mut again = turn("southeast", reply, lost());
    again["memories"] = known("Robbed by the thief", "He robbed you. Lost: sword.", "DANGER");
    assert_eq!(judge(&again), [expected], "the latest robbery counts");
    again["memories"] = known("Robbed by the thief", expected.split_once("| ").unwrap().1, "DANGER");
    assert_eq!(judge(&again), [""; 0]);
    let monkey = "A monkey snatches your lamp.";
    assert_eq!(
        judged("wait", monkey, lost()),
        [format!("DANGER Robbed of brass lamp | {monkey} Lost: brass lamp.")]
    );
    for (action, reply) in [
        ("wait", "The thief parries your lunge, and your brass lamp spins from your hand to the floor."),
        ("stab thief", "The thief parries your lunge, and something clatters to the floor."),
        ("wait", "A sentry stealthily circles you."),
        ("wait", "You steal away into the shadows."),
    ] {
        let expected = format!("FAILURE Lost brass lamp | Gone after `{action}`. {reply}");
        assert_eq!(judged(action, reply, lost()), [expected], "{reply}");
    }
    let quiet = turn("wait", "", lost());
    assert_eq!(judge(&quiet), ["FAILURE Lost brass lamp | Gone after `wait`."]);
    assert_eq!(ask(&quiet)[0]["status"], "tentative");
    for action in ["drop lamp", "put lamp in case", "throw lamp"] {
        assert_eq!(judged(action, "Done.", lost()), [""; 0], "{action}");
    }
    assert_eq!(judged("bury lamp", "Sand.", lost()), [""; 0]);
    let gift = "The giant, who was bored, graciously accepts the gift.";
    assert_eq!(
        judged("give lamp to giant", gift, lost()),
        ["DISCOVERY The giant, who was bored, graciously accepts the gift | By `give lamp to giant`."]
    );
}

#[test]
fn points_are_titled_by_the_action_or_by_the_place_that_it_reached() {
    let reply = "The trap door crashes shut.\n\nCellar\n\n";
    let down = turn("Down", reply, json!({"score_after": 25, "location_after": {"id": 2, "name": "Cellar"}}));
    assert_eq!(judge(&down), ["SUCCESS Reaching Cellar: +25 points | `Down`: The trap door crashes shut."]);
    assert_eq!((&ask(&down)[0]["side"], &ask(&down)[0]["score_change"]), (&json!("Before"), &json!(25)));
    let egg = json!({"score_after": 1, "inventory_after": ["egg"]});
    let reply = "Taken.\nYour score has gone up by one point.";
    assert_eq!(judged("take egg", reply, egg), ["SUCCESS Take egg: +1 point | Gained: egg."]);
    let idol = judged("eat idol", "The idol is gone.", json!({"score_after": -5}));
    assert_eq!(idol, ["FAILURE Eat idol: -5 points | The score was -5 then."]);
    let silent = judged("", "", json!({"score_after": 5}));
    assert_eq!(silent, ["SUCCESS Scored: +5 points | The score was 5 then."]);
}

#[test]
fn an_effect_is_kept_where_the_reply_tells_one() {
    let changed = json!({"world_changed": true});
    for (action, reply, expected) in [
        (
            "open window",
            "With great effort, you open the window far enough to allow entry.",
            "With great effort, you open the window far enough to allow entry | By `open window`.",
        ),
        (
            "move leaves",
            "Done.\nIn disturbing the pile of leaves, a grating is revealed.",
            "In disturbing the pile of leaves, a grating is revealed | By `move leaves`.",
        ),
        (
            "move rug",
            "With a great effort, the rug is moved to one side of the room, revealing the dusty cover of a closed \
             trap door.",
            "Move rug reveals the dusty cover of a closed trap door | By `move rug`.",
        ),
        (
            "turn dial",
            "Click! The safe swings open, and a letter falls out.",
            "The safe swings open, and a letter falls out | By `turn dial`.",
        ),
        ("dig", "You uncover a chest.", "You uncover a chest | By `dig`."),
    ] {
        assert_eq!(judged(action, reply, changed.clone()), [format!("DISCOVERY {expected}")]);
        let mut again = turn(&format!("{action} again"), reply, changed.clone());
        let (title, text) = expected.split_once(" | ").unwrap();
        again["memories"] = known(title, text, "DISCOVERY");
        assert_eq!(judge(&again), [""; 0], "{action}");
        again["memories"] = known("Seen by me", &format!("I think: {reply}"), "FACT");
        assert_eq!(judge(&again), [""; 0], "{action}, in another's words");
    }
}

#[test]
fn what_says_no_more_than_that_it_worked_or_failed_is_no_memory() {
    for (action, reply) in [
        ("take lamp", "Taken."),
        ("open door", "You open the door."),
        ("turn on lamp", "The brass lamp is now on."),
        ("open door", "It is already open, and you know it well enough."),
        ("press button", "Click.\nThe water rises to your knees, cold and brown."),
        ("frotz lamp", "I don't know the word \"frotz\", or any word like it at all."),
        ("attack guard", "A furious exchange, and your sword strikes the wall."),
        ("take all", "lamp: The guard takes the lamp back with a sneer."),
        ("wait", "A distant bell rings out over the wide grey sea."),
        ("eat lunch", "Thank you very much. It really hit the spot."),
        ("dig", ", is revealed."),
        ("dig", "You find a."),
        ("juggle bell", "You juggle the bell, but don't achieve much."),
        ("search wall", "You discover nothing of interest in the south wall."),
        ("polish bell", "The bell on the table is as shiny as ever."),
        ("dig", "A reveals ."),
        ("open box", "You find the box."),
    ] {
        assert_eq!(judged(action, reply, json!({"world_changed": true})), [""; 0], "{action}");
    }
    let gained = json!({"inventory_after": ["tin kettle"]});
    assert_eq!(judged("grab kettle", "You tuck the tin kettle under your left arm.", gained), [""; 0]);
}

#[test]
fn an_answer_is_kept_where_it_is_long_and_none_where_it_refuses() {
    let sign = "\"BEWARE!\n\nThe bridge over the gorge has been closed since the flood. Travellers take the ferry at dawn, \
        and pay with salt.\"";
    assert_eq!(
        judged("read sign", sign, json!({})),
        [
            "DISCOVERY Read sign: bridge over the gorge has been closed since the flood | \"BEWARE! Travellers take the \
          ferry at dawn, and pay with salt.\""
        ]
    );
    let refused = format!("You can't make out the letters. {}", "They are too small for you. ".repeat(5));
    assert_eq!(judged("read sign", &refused, json!({})), [""; 0]);
    assert_eq!(judged("read sign", "Beware.", json!({})), [""; 0]);
}

#[test]
fn a_won_fight_is_kept() {
    let reply = "The unconscious troll cannot defend himself: He dies.\nA black fog lifts.";
    let expected = "SUCCESS Kill troll with sword | The unconscious troll cannot defend himself: He dies.";
    assert_eq!(judged("kill troll with sword", reply, json!({"world_changed": true})), [expected]);
    for reply in [
        "The orc is not dead yet.",
        "The orc isn’t killed so easily.",
        "The orc almost dies.",
        "You are nearly killed.",
        "A deadly blow whistles past the undead orc.",
    ] {
        assert_eq!(judged("attack orc", reply, json!({"world_changed": true})), [""; 0], "{reply}");
    }
}

#[test]
fn a_place_is_described_once_in_its_own_sentences() {
    let zork = "Living Room\nYou are in the living room. A doorway leads east.\nAbove the case hangs a sword.\n\
        Your sword is glowing.\n\n";
    assert_eq!(arrive("Living Room", zork), ["NOTE Doorway leads east | Above the case hangs a sword."]);
    let inform = "\n[Office]\nA dim little office, its blinds drawn against\nthe rain. A cabinet stands in the corner.\n\n\
        You can see a telephone here.\n\n[Your score has just gone up by one point.]\n\n>";
    assert_eq!(
        arrive("Office", inform),
        ["NOTE Dim little office, its blinds drawn against the rain | You can see a telephone here."]
    );
    let bold =
        "> go east\n**Tower**\nA spiral stair climbs into gloom.\nOn the sill lies a silver spell scroll.\n>";
    assert_eq!(
        arrive("Tower", bold),
        ["NOTE Spiral stair climbs into gloom | On the sill lies a silver spell scroll."]
    );
    let plain = "-= Maze =-\nThis is a maze of dim little passages.\n";
    assert_eq!(arrive("Maze", plain), ["NOTE Maze of dim little passages | Reached by `north`."]);
    assert_eq!(
        arrive("Wood", "Wood\nThis is a dimly lit wood of tall firs.\n"),
        [""; 0],
        "no thing and no way"
    );
    assert_eq!(arrive("Kitchen", "You walk north."), [""; 0]);

    let mut back = turn("look", zork, json!({"location_after": {"id": 1, "name": "Living Room"}}));
    assert_eq!(judge(&back).len(), 1, "`look` describes a place that has no description");
    back["memories"] = known("Whatever I call it", "Mine now.", "NOTE");
    assert_eq!(judge(&back), [""; 0], "a description that somebody changed stays");
}

#[test]
fn darkness_and_threats_are_facts_of_their_own() {
    let dark =
        "You have moved into a dark place.\nIt is pitch black. You are likely to be eaten by a grue.\n\n";
    assert_eq!(arrive("Attic", dark), ["DISCOVERY Attic is dark | Reached by `north`."]);
    let guarded = "Gate\nA gravel yard lies before the gate.\nA large dog, growling softly, guards the gate and the yard \
        behind it, and it looks hungry.\n";
    let expected = [
        "NOTE Gravel yard lies before the gate | Reached by `north`.",
        "DANGER Large dog guards the gate and the yard behind it, and it looks hungry | A large dog, growling softly, \
         guards the gate and the yard behind it, and it looks hungry.",
    ];
    assert_eq!(arrive("Gate", guarded), expected);
    for calm in [
        "Nobody guards the door here, and nothing attacks you.",
        "The dog no longer guards the door.",
        "The dog doesn't look like one that attacks.",
        "A heavy oak door bars the way to the cellar.",
        "A sentry guards the door and blocks the way.",
    ] {
        let told = arrive("Gate", &format!("Gate\nA gravel yard lies before the gate.\n{calm}\n"));
        assert!(told.iter().all(|memory| !memory.starts_with("DANGER")), "{told:?}");
    }
}

#[test]
fn a_text_holds_the_whole_sentence_of_a_cut_title_and_what_is_listed() {
    let sentence = "You are at the end of a long shed, with a workbench under the window, a row of hooks along the wall, and a \
        low door to the south.";
    let reply = format!("Shed\n{sentence} It smells of tar.\nOn the bench lies a saw.\n");
    let expected = format!(
        "NOTE End of a long shed, with a workbench under the window, a row of hooks | {sentence} On the bench lies a saw."
    );
    assert_eq!(arrive("Shed", &reply), [expected]);
    let items = (1..=60).map(|number| format!("a jar of kind {number}")).collect::<Vec<_>>().join(", ");
    let told = arrive("Shed", &format!("Shed\nYou see here: {items}.\nThere is a saw.\n"));
    assert!(told[0].ends_with(", and more. There is a saw."), "{told:?}");
}

#[test]
fn what_was_told_before_is_no_effect_and_no_answer() {
    let told = "The old clock on the tower strikes seven times.";
    let mut facts = turn("push crate", told, json!({"world_changed": true}));
    assert_eq!(judge(&facts).len(), 1);
    facts["history"] = json!([{"action": "wait", "response": format!("Time passes. {told}"), "location": 1}]);
    assert_eq!(judge(&facts), [""; 0]);
    let reply = "The tag names a town that you know, and the year of the great flood. A seal of red wax hangs from it.";
    let mut facts = turn("read tag", reply, json!({}));
    facts["memories"] = known("Read tag: it is torn", "The tag is torn.", "DISCOVERY");
    assert_eq!(judge(&facts), [""; 0], "one answer an action");
}

#[test]
fn hostile_and_missing_parts_do_no_harm() {
    for facts in [json!(null), json!([]), json!({"turn": 3}), json!({"turn": {"action": 7, "died": true}})] {
        judge(&facts);
    }
    judged("poke it", &"Something happens, ".repeat(600), json!({"world_changed": true}));
    judged("", "Nothing.", json!({"world_changed": true, "died": true}));
    judged(&"x→; ".repeat(200), "Ping.", json!({"location_after": {"id": -4, "name": ""}}));
    judged("北 “now”", "å\u{0}\u{1b}[1m**Bold**", json!({"world_changed": true}));
    judged("win", "You win.", json!({"score_before": i64::MIN, "score_after": i64::MAX}));
}

fn any_memories() -> impl Strategy<Value = Value> {
    let titles = prop::sample::select(vec!["Here", "Robbed by the thief", "Fatal: jump", "Kill troll", ""]);
    let one = (titles, ".{0,60}", any::<bool>()).prop_map(|(title, text, tentative)| {
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
            "first_visit": true, "memories": memories, "memories_after": memories_after,
        })
    })
}

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn any_turn_gives_a_bounded_answer(facts in any_facts()) {
        let answer = ask(&facts);
        answer.iter().for_each(check_shape);
        prop_assert_eq!(answer, ask(&facts));
    }
}
