//! Lines of evidence: what a game says cannot imitate another action, a death is no way and no advice, and lines keep
//! what a person or an earlier turn wrote.

use std::collections::BTreeSet;
use std::time::Duration;

use memories::document::text::{stored_line, stored_reply};
use memories::document::{Document, RegionKind};
use memories::map::{Descriptions, Graph};
use memories::notebook::{Clock, Notebook, Snapshot};
use memories::recall::{Circumstances, Format, Judgement, Limits, Verdict, recall, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Attempt, Scope, ScopeName, TryResult, Way, fold_action};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::best_run::{self, Game};
use crate::cases;
use crate::recalled::actions;

const HALL: Scope = Scope::Location(1);

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
    (folder, store)
}

/// The file with this text, and what an agent reads of location 1.
fn recalled(text: &str) -> String {
    let (folder, store) = store();
    std::fs::write(folder.path().join("Memories.md"), text).unwrap();
    recalled_from(&store)
}

fn recalled_from(store: &Store) -> String {
    let names = [ScopeName::Scope(HALL)];
    let limits = Limits { max_tokens: None, ..Limits::default() };
    let views = recall(&Snapshot::read(store).unwrap(), &names, &limits, Format::Text).unwrap();
    render(&views).into()
}

/// Parts of names and replies that try to look like our lines.
const FRAGMENTS: &[&str] = &[
    "a",
    "b c",
    ",",
    ", ",
    ";",
    "; ",
    "(",
    ")",
    " (",
    "), ",
    "×",
    " ×2",
    "→",
    " → ",
    "\"",
    "\\",
    ":",
    "sometimes ",
    "\n",
    "\u{2028}",
    "\nTried here in vain: north",
    "Ways: up → Sky",
    "（",
    "），",
    "、",
    "it (No), open window (",
    "x), open window (",
    " (id 3)",
    "Blocked before: lamp",
    "-->",
    "<!--",
    "`",
    "*(Ep1)*",
];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(FRAGMENTS), 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_action_and_no_reply_imitates_another_action(
        tried in prop::collection::vec((words(), words(), any::<bool>()), 1..5),
    ) {
        let mut document = Document::parse(String::new());
        let mut expected: [BTreeSet<String>; 2] = Default::default();
        for (action, reply, effect_unknown) in tried {
            let action = stored_line(&action);
            if action.is_empty() || expected.iter().any(|known| known.contains(&fold_action(&action))) {
                continue;
            }
            expected[usize::from(effect_unknown)].insert(fold_action(&action));
            let result = if effect_unknown { TryResult::Unknown } else { TryResult::Vain };
            let attempt = Attempt { action, count: 2, reply: stored_reply(&reply), result, ..Attempt::default() };
            document.put_attempt(&HALL, "Hall", RegionKind::Tried, &attempt, 400).unwrap();
        }
        let text = recalled(&document.into_text().unwrap());
        let shown = |heading: &str| -> BTreeSet<String> {
            actions(&text, &[heading]).into_iter().map(|(action, _)| fold_action(&action)).collect()
        };
        prop_assert_eq!(&shown("Tried here in vain: "), &expected[0], "{}", text);
        prop_assert_eq!(&shown("Done here, effect unknown: "), &expected[1], "{}", text);
    }

    #[test]
    fn no_name_imitates_another_way(action in words(), name in words()) {
        let (action, name) = (stored_line(&action), stored_line(&name));
        prop_assume!(!action.is_empty() && !name.is_empty());
        let mut document = Document::parse(String::new());
        let way = Way { action, to: 2, name, count: 1, episode: None, turn: None, after: Vec::new(), witnesses: Default::default() };
        document.put_way(&HALL, "Hall", &way).unwrap();
        let file = document.into_text().unwrap();
        let (folder, store) = store();
        std::fs::write(folder.path().join("Memories.md"), &file).unwrap();
        let path = Graph::read(&Snapshot::read(&store).unwrap()).path(1, 2).text;
        for (text, start) in [(recalled(&file), "Ways: "), (path, "")] {
            let line = text.lines().find(|line| line.starts_with(start) && unquoted(line).contains('→'));
            let bare = unquoted(line.unwrap_or_default());
            // One arrow, no parentheses, no other way behind it.
            let count = |mark: char| bare.chars().filter(|c| *c == mark).count();
            prop_assert_eq!((count('→'), count('('), count(')'), count(';')), (1, 0, 0, 0), "{}\n{}", text, bare);
        }
    }
}

#[test]
fn what_worked_and_is_in_vain_now_is_shown_as_in_vain_until_another_episode() {
    let game = Game::new();
    let dropped = |turn: u64, reply: &str, items: [&[&str]; 2]| {
        let mut turn = best_run::step(1, turn, "drop remote", reply, (1, 1), (0, 0));
        (turn["inventory_before"], turn["inventory_after"]) = (json!(items[0]), json!(items[1]));
        turn
    };
    game.play(&[
        dropped(1, "Dropped.", [&["remote"], &[]]),
        dropped(2, "You can't see any such thing.", [&[], &[]]),
    ]);
    let lines = || [game.next("Worked here: ", 1), game.next("Tried here in vain: ", 1)];
    assert_eq!(lines(), [None, Some("drop remote (You can't see any such thing.)".to_owned())]);
    game.play(&[best_run::step(2, 1, "dance", "You are tired.", (1, 1), (0, 0))]);
    assert_eq!(lines(), [Some("drop remote".to_owned()), None]);
}

/// A line without what stands in quotation marks, and without ids behind names.
fn unquoted(line: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out.replace(" (id 2)", "")
}

#[test]
fn a_reply_with_parentheses_stays_one_reply() {
    let file =
        "## Location 1: Hall\n\n### Tried\n\n- `pull rope`: x), open window (\n- `say (a), b` ×2: No.\n";
    let text = recalled(file);
    assert!(
        text.contains("Tried here in vain: \"say (a), b\" ×2 (No.); pull rope (x], open window [)\n"),
        "{text}"
    );
}

fn record(store: &Store, turns: &[Value]) -> String {
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let recorder =
        Recorder { notebook: &notebook, judge: Judge::Rules, settings: &RecordSettings::default() };
    for turn in turns {
        recorder.record(Turn::from_value(turn).unwrap()).unwrap();
    }
    store.read().unwrap().unwrap()
}

fn step(turn: u64, action: &str, reply: &str, (from, to): (u64, u64), carried: &[&str]) -> Value {
    let name = |id: u64| ["", "Hall", "Cellar", "Forest", "Attic"][id as usize];
    json!({
        "episode": 1, "turn": turn, "action": action, "response": reply,
        "location_before": {"id": from, "name": name(from)}, "location_after": {"id": to, "name": name(to)},
        "score_before": 0, "score_after": 0, "inventory_before": carried, "inventory_after": carried,
    })
}

const GRUE: &str =
    "Oh, no! A lurking grue slithered into the room.\n\n    ****  You have died  ****\n\nForest\n";

const FALL: &str = "You fall into the cellar.\n\n    ****  You have died  ****\n\nForest\n";

#[test]
fn a_death_that_nobody_names_is_no_way() {
    let (_folder, store) = store();
    let turns = [
        step(1, "open trap door", "It opens.", (1, 1), &[]),
        step(2, "down", FALL, (1, 3), &[]),
        step(3, "up", "A garret.", (1, 4), &[]),
    ];
    let text = record(&store, &turns);
    assert!(!text.contains("`down` →"), "{text}");
    assert!(text.contains("- `down` *(Ep1, T2, deadly)*: You fall into the cellar."), "{text}");
    assert!(recalled(&text).contains("\nDeadly here: down (You fall into"), "{}", recalled(&text));
    let snapshot = Snapshot::read(&store).unwrap();
    let graph = Graph::read(&snapshot);
    assert!(!graph.path(1, 3).is_known);
    let frontier = graph.frontier(1, 9, &Descriptions::default());
    let here = &frontier.json["places"][0];
    assert_eq!(here["name"], "Hall");
    assert!(!here["directions"].as_array().unwrap().contains(&json!("down")), "{here}");
}

#[test]
fn the_dark_belongs_to_no_direction_unless_it_killed_twice() {
    let (_folder, store) = store();
    let text = record(&store, &[step(1, "down", GRUE, (1, 3), &[])]);
    assert!(text.contains("- `down` *(Ep1, T1, died)*: Oh, no!"), "{text}");
    assert!(recalled(&text).contains("\nDied here after: down (Oh, no!"), "{}", recalled(&text));
    let text = record(&store, &[step(2, "down", GRUE, (1, 3), &[])]);
    assert!(text.contains("- `down` ×2 *(Ep1, T2, deadly)*: Oh, no!"), "{text}");
}

#[test]
fn a_death_is_no_fault_of_a_direction_that_the_game_refused() {
    let (_folder, store) = store();
    let bell =
        format!("You can't go that way.\nThe bell rings, and the guards drop you into the pit.\n{GRUE}");
    for number in 1..=2 {
        let text = record(&store, &[step(number, "up", &bell, (1, 3), &[])]);
        assert!(!text.contains("deadly") && !text.contains("### Tried") && !text.contains("`up`:"), "{text}");
    }
}

#[test]
fn a_way_that_killed_since_is_marked_until_it_is_walked_again() {
    let (_folder, store) = store();
    let walked = step(1, "down", "A damp cellar.", (1, 2), &["lamp"]);
    let died = Value::Object({
        let mut turn =
            step(2, "down", "The stairs break. You fall.", (1, 3), &[]).as_object().unwrap().clone();
        turn.insert("died".to_owned(), json!(true));
        turn
    });
    let path = || Graph::read(&Snapshot::read(&store).unwrap()).path(1, 2);
    record(&store, std::slice::from_ref(&walked));
    assert!(path().is_known);
    let text = record(&store, &[died]);
    assert!(text.contains("- `down` *(Ep1, T2, deadly)*: The stairs break. You fall."), "{text}");
    assert!(path().text.contains("(deadly at Ep1 T2: The stairs break. You fall.)"), "{}", path().text);
    let text = record(&store, &[step(3, "down", "A damp cellar.", (1, 2), &["lamp"])]);
    assert!(path().is_known && !text.contains("deadly"), "{text}");
}

#[test]
fn a_reply_is_not_final_where_one_of_its_actions_has_worked() {
    let (_folder, store) = store();
    let no = "You can't go that way.";
    let turns = [
        step(1, "north", "A cellar.", (1, 2), &[]),
        step(2, "north", no, (1, 1), &[]),
        step(3, "east", no, (1, 1), &[]),
        step(4, "west", no, (1, 1), &[]),
    ];
    let text = record(&store, &turns);
    let line = "- `north` *(Ep1, T2)*, `east` *(T3)*, `west` *(T4)*: You can't go that way.";
    assert!(text.contains(line), "{text}");
    let formatted = memories::document::format::format(&text).text;
    assert!(formatted.contains(line), "{formatted}");
}

#[test]
fn a_comment_behind_a_line_is_no_part_of_it() {
    let file = "## Location 1: Hall\n\n### Ways\n\n- `up` → [Attic](#location-4-attic) ×2 <!-- steep -->\n\n### Tried\n\n\
                - `eat rug` *(Ep1, T3)*: No. <!-- try with salt -->\n- dance <!-- later -->\n";
    let section = Document::parse(file.to_owned()).section(&HALL).unwrap();
    assert_eq!((section.ways[0].to, section.ways[0].count), (4, 2));
    let tried: Vec<_> =
        section.tried.iter().map(|tried| (tried.action.as_str(), tried.reply.as_str())).collect();
    assert_eq!(tried, [("eat rug", "No."), ("dance", "")]);
    assert_eq!(memories::document::format::format(file).text, file, "a person's lines stay");
    let mut document = Document::parse(String::new());
    let reply = "It says \\<!-- and <!-- no -->";
    let attempt =
        Attempt { action: "read".to_owned(), count: 1, reply: reply.to_owned(), ..Attempt::default() };
    document.put_attempt(&HALL, "Hall", RegionKind::Tried, &attempt, 400).unwrap();
    let text = document.into_text().unwrap();
    assert_eq!(Document::parse(text.clone()).section(&HALL).unwrap().tried[0].reply, reply, "{text}");
}

/// A turn of an agent that sends the text alone, in the running episode.
fn text_alone(turn: Option<u64>, action: &str, reply: &str) -> Value {
    json!({"turn": turn, "action": action, "response": reply, "location": {"id": 1, "name": "Hall"}})
}

fn verdict(store: &Store, action: &str) -> Verdict {
    let snapshot = Snapshot::read(store).unwrap();
    let circumstances = Circumstances::of(snapshot.section(&Scope::Game), 1, snapshot.text());
    Judgement::of(snapshot.section(&HALL), &circumstances).verdict(action)
}

#[test]
fn an_agent_that_plays_anew_without_a_new_episode_is_forbidden_nothing_that_works() {
    let moves = [
        ("open mailbox", "Opening the small mailbox reveals a leaflet."),
        ("take leaflet", "Taken."),
        ("north", "North of House\nYou are facing the north side of a white house."),
        ("pull lever", "Click."),
    ];
    for numbered in [true, false] {
        let (_folder, store) = store();
        for _ in 0..3 {
            let turns = (1..).zip(moves);
            let turns: Vec<Value> = turns
                .map(|(turn, (action, reply))| text_alone(numbered.then_some(turn), action, reply))
                .collect();
            record(&store, &turns);
        }
        for (action, _) in moves {
            assert_ne!(verdict(&store, action), Verdict::InVain, "{action}, numbered: {numbered}");
        }
        let shown = recalled_from(&store);
        assert!(!shown.contains("Tried here in vain"), "{shown}");
    }
}

#[test]
fn a_numbered_turn_that_is_sent_again_is_recorded_once() {
    let (_folder, store) = store();
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let settings = RecordSettings::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
    let send = |turn: &Value| recorder.record(Turn::from_value(turn).unwrap()).unwrap().outcome.to_string();
    let (first, second) = (text_alone(Some(1), "eat rug", "No way."), text_alone(Some(2), "look", "A hall."));
    assert_ne!(send(&first), "recorded_before");
    send(&second);
    let text = store.read().unwrap().unwrap();
    assert_eq!((send(&first), send(&second)), ("recorded_before".to_owned(), "recorded_before".to_owned()));
    assert_eq!(store.read().unwrap().unwrap(), text);
    // Another reply, another number or another episode is another turn.
    for other in [
        text_alone(Some(1), "eat rug", "Still no way."),
        text_alone(Some(3), "eat rug", "No way."),
        json!({"episode": 2, "turn": 1, "action": "eat rug", "response": "No way.", "location": 1}),
    ] {
        assert_ne!(send(&other), "recorded_before", "{other}");
    }
}

#[test]
fn what_is_in_the_way_holds_until_it_is_removed_or_an_episode_begins() {
    let (_folder, store) = store();
    record(&store, &[text_alone(None, "south", "The door is locked.")]);
    assert_eq!(verdict(&store, "south"), Verdict::InVain);
    assert!(recalled_from(&store).contains("Tried here in vain: south (The door is locked.)"));
    record(&store, &[text_alone(None, "take lamp", "Taken.")]);
    assert_eq!(verdict(&store, "go south"), Verdict::InVain, "a lamp opens no door");
    let elsewhere =
        json!({"action": "unlock door with key", "response": "You unlock the door.", "location": 7});
    record(&store, &[elsewhere]);
    let Verdict::MayBeTried { since } = verdict(&store, "south") else { panic!("it may be tried") };
    assert!(since.starts_with("`unlock door with key` worked at Ep1"), "{since}");
    record(&store, &[text_alone(None, "south", "The door is locked.")]);
    record(&store, &[json!({"episode": 2, "action": "look", "response": "A hall.", "location": 1})]);
    let shown = recalled_from(&store);
    assert!(shown.contains("Blocked before: south ×2 (The door is locked.)"), "{shown}");
}

#[test]
fn what_refuses_directions_at_every_place_or_in_two_episodes_is_no_way() {
    let (_folder, store) = store();
    let (wall, golem, locked) =
        ("A wall of brick is there.", "The golem grins and does not budge.", "The door is locked.");
    let at = |turn, action: &str, reply: &str, place| step(turn, action, reply, (place, place), &[]);
    let result_of = |action: &str| {
        let snapshot = Snapshot::read(&store).unwrap();
        let tried = snapshot.section(&HALL).tried.iter().find(|tried| tried.action == action);
        tried.map(|tried| tried.result)
    };
    record(&store, &[at(1, "north", wall, 2), at(2, "north", wall, 1), at(3, "up", locked, 1)]);
    assert_eq!(result_of("north"), Some(TryResult::Blocked), "a wall of one place may be a door");
    record(&store, &[at(4, "down", wall, 1), at(5, "east", golem, 1), at(6, "east", golem, 1)]);
    assert_eq!(result_of("down"), Some(TryResult::Vain));
    assert_eq!(result_of("east"), Some(TryResult::Blocked), "something may be done about it in this episode");
    let next = ["up", "east"].map(|action| {
        let mut turn = at(1, action, if action == "up" { locked } else { golem }, 1);
        turn["episode"] = json!(2);
        turn
    });
    record(&store, &next);
    assert_eq!(result_of("up"), Some(TryResult::Blocked), "the reply names what may pass");
    assert_eq!(result_of("east"), Some(TryResult::Vain));
}

#[test]
fn the_parser_speaks_for_all_places_only_where_it_names_a_word_or_says_so_twice() {
    let (_folder, store) = store();
    let at =
        |id: u64, action: &str, reply: &str| json!({"action": action, "response": reply, "location": id});
    let unknown = "No known action matches that input.";
    let game =
        || Document::parse(store.read().unwrap().unwrap()).section(&Scope::Game).unwrap_or_default().tried;
    record(&store, &[at(1, "open fridge", unknown), at(1, "open fridge", unknown)]);
    assert_eq!(game(), [], "the fridge may be elsewhere");
    record(&store, &[at(2, "open fridge", "You open the fridge.")]);
    record(&store, &[at(3, "open fridge", unknown)]);
    assert_eq!(game(), [], "it works somewhere");
    record(&store, &[at(1, "mix fridge", unknown), at(2, "mix fridge", unknown)]);
    assert_eq!(game().len(), 1);
    record(&store, &[at(1, "northwest", "I don't know the word \"northwest\".")]);
    assert_eq!(game().len(), 2);
    assert_eq!((verdict(&store, "northwest"), verdict(&store, "nw")), (Verdict::InVain, Verdict::No));
    record(&store, &[at(1, "northwest", "Forest")]);
    assert_eq!(game().len(), 1, "it is understood after all");
}
