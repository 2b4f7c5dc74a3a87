//! No tool, resource or prompt gives an agent a word of an entry of other witnesses.
//!
//! The property runs 6 worlds, or as many as `PROPTEST_CASES` says.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::access::{Memories, Setup, Watcher};
use super::group::Group;
use super::tools::Toolbox;
use super::{prompts, resources};
use memories_document::types::Anchor;
use memories_notebook::{AnchoredFiles, Clock, FileState, Notebook};
use memories_record::turn::Turn;
use memories_record::{Judge, RecordSettings, Recorder};
use memories_store::Store;

#[path = "../../tests/support/witnessed_world.rs"]
mod witnessed_world;
use witnessed_world::{AGENTS, Play, World, plays, worlds};

/// A memory outside of any repository.
#[derive(Debug)]
struct NoRepository;

impl AnchoredFiles for NoRepository {
    fn state(&self, _: &str) -> FileState {
        FileState::NotRead
    }

    fn changes(&self, anchors: &[Anchor]) -> Vec<Option<String>> {
        vec![None; anchors.len()]
    }
}

fn serve(store: &Store, agent: &str) -> Memories {
    Memories::new(Setup {
        store: store.clone(),
        agent: Some(agent.to_owned()),
        writer: None,
        groups: Group::VARIANTS.to_vec(),
        read_only: false,
        limits: memories_recall::Limits::default(),
        record: memories_record::RecordSettings::default(),
        search: memories_search::SearchSettings::default(),
        embedding: memories_llm::embedding::EmbedderConfig::default(),
        embedding_environment: memories_llm::embedding::EmbedderEnvironment::default(),
        falls_back: true,
        llm: memories_llm::Config { provider: memories_llm::Provider::Offline, ..Default::default() },
        llm_environment: memories_llm::Environment::default(),
        seed: 0,
        clock: Clock::fixed("2026-01-31T10:40:00Z"),
        anchored: std::sync::Arc::new(NoRepository),
    })
    .unwrap()
}

/// Everything that a call says.
fn said(memories: &Memories, tool: &str, arguments: Value) -> String {
    let all = Toolbox::new(<Group as VariantArray>::VARIANTS, false, true);
    let Value::Object(arguments) = arguments else { return String::new() };
    match all.find(tool).and_then(|tool| tool.call(memories, &Watcher::new(|_| ()), &arguments, true)) {
        Ok(answer) => format!(
            "{}\n{}\n{}\n{:?}",
            answer.text,
            answer.data,
            answer.warnings.join("\n"),
            answer.for_programs
        ),
        Err(refusal) => format!("{}\n{}", refusal.text(), refusal.value()),
    }
}

fn questions() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("get_top_memories", json!({"limit": 20})),
        ("query_memories", json!({"question": "where is the lamp of the troll?", "unsure": true})),
        ("query_memories", json!({"question": "Tq0 Lamp", "unsure": true})),
        ("query_memories", json!({"question": "\"stands where\""})),
        ("query_self", json!({})),
        ("query_background", json!({})),
        ("query_communication_style", json!({})),
        ("query_scene", json!({})),
        ("query_character", json!({"name": "troll"})),
        ("query_character", json!({"name": "jordan"})),
        ("recall_episodes", json!({"query": "the lamp"})),
        ("recall_facts", json!({"topic": "the lamp"})),
        ("recall_interactions", json!({"character": "troll"})),
        ("check_similar_situations", json!({"context": "a lamp stands there"})),
        ("memory_status", json!({})),
        ("check_action", json!({"location": "1", "action": "take lamp"})),
        ("check_action", json!({"location": "2", "action": "open door"})),
        ("unexplored", json!({})),
        ("next_steps", json!({})),
        ("find_path", json!({"to": "3"})),
        ("find_path", json!({"to": "2", "from": "1"})),
        ("unexplored", json!({"from": "1"})),
        ("next_steps", json!({"from": "1"})),
    ];
    calls.extend(World::scopes().map(|scope| ("get_location_memories", json!({"location": scope}))));
    calls
}

/// Calls about an entry that the agent may not see, each with the word that it gives itself.
fn changes(world: &World, at: usize) -> Vec<(&'static str, Value, usize)> {
    let (scope, title, text) = (world.scope(at), world.title(at), world.text(at));
    let near = title.replace("Lamp", "Lamb");
    let scope_or_world = if scope.starts_with("agent:") { "world" } else { scope };
    vec![
        ("form_memory", json!({"content": text, "scope": scope_or_world}), 1),
        (
            "form_memory",
            json!({"content": "Something else is here.", "title": title, "scope": scope_or_world}),
            0,
        ),
        ("supersede_memory", json!({"title": title, "scope": scope, "content": "It is gone."}), 0),
        ("supersede_memory", json!({"title": title, "content": "It is gone."}), 0),
        ("invalidate_memory", json!({"title": title, "scope": scope, "reason": "no"}), 0),
        ("reinforce_memory", json!({"title": title, "scope": scope}), 0),
        ("reinforce_memory", json!({"title": title, "scope": scope, "tell": ["alex", "jordan", "marta"]}), 0),
        ("reinforce_memory", json!({"title": near, "scope": scope}), 0),
        ("associate_memories", json!({"a": format!("{scope} › {title}"), "b": "Tq0k Lamp"}), 0),
        (
            "record_turn",
            json!({"location": 1, "action": "look", "response": "A lamp.", "remember": text, "present": ["jordan"]}),
            1,
        ),
    ]
}

fn look(memories: &Memories, keeps: impl Fn(&str, &str)) {
    for (tool, arguments) in questions() {
        keeps(tool, &said(memories, tool, arguments));
    }
    for section in resources::list(memories).unwrap() {
        let text = resources::read(memories, &section.uri).unwrap().map(String::from).unwrap_or_default();
        keeps(&section.uri, &format!("{}\n{text}", &*section.name));
    }
    let toolbox = Toolbox::new(<Group as VariantArray>::VARIANTS, false, true);
    let arguments =
        json!({"location": "1", "characters": "troll, jordan", "situation": "a lamp", "goal": "the lamp"});
    for prompt in prompts::offered(&toolbox) {
        let wanted = prompt.arguments.iter().map(|one| (one.name.to_owned(), arguments[one.name].clone()));
        let wanted: Map<String, Value> = wanted.collect();
        let text = prompt.render(memories, &Watcher::new(|_| ()), &toolbox, &wanted).unwrap();
        keeps(prompt.name, &text);
    }
}

#[allow(clippy::disallowed_methods, reason = "the file of a test")]
fn check(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    std::fs::write(&path, world.file()).unwrap();
    let store = Store::open(&path, Duration::from_secs(10)).unwrap();
    for agent in AGENTS {
        let memories = serve(&store, agent);
        look(&memories, |door, said| world.assert_kept(agent, door, said));
        let status = said(&memories, "memory_status", json!({}));
        let known = (0..world.entries.len()).filter(|at| world.knows(agent, *at)).count();
        let counted = memories.snapshot().unwrap().entries().len();
        assert_eq!(counted, known, "{status}");
    }
    let agent = "alex";
    let memories = serve(&store, agent);
    let hidden = world.hidden(agent);
    if let Some(&at) = hidden.first() {
        for (tool, arguments, given) in changes(world, at) {
            let own = &World::words(at)[given];
            let said = said(&memories, tool, arguments).to_lowercase().replace(&own.to_lowercase(), "");
            world.assert_kept(agent, tool, &said);
        }
    }
    let after = std::fs::read_to_string(&path).unwrap();
    let of = |text: String| memories_document::Document::parse(text).sections();
    let (before, after) = (of(world.file()), of(after));
    for at in hidden {
        let find = |sections: &[(memories_document::types::Scope, memories_document::Section)]| {
            let all = sections.iter().flat_map(|(_, section)| section.memories.clone());
            let mut found = all.filter(|memory| memory.text.contains(&World::words(at)[1]));
            found.find(|memory| memory.title == world.title(at))
        };
        assert_eq!(find(&before), find(&after), "an agent changes nothing that it may not see");
    }
}

/// Six cases, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    if is_set { default } else { ProptestConfig { cases: 6, ..default } }
}

#[test]
fn no_door_of_an_agent_gives_away_what_others_witnessed() {
    proptest!(cases(), |(world in worlds())| check(&world));
}

fn check_play(play: &Play) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
    let settings = RecordSettings::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
    for line in play.lines().lines() {
        recorder.record(Turn::from_json(line).unwrap()).unwrap();
    }
    for agent in AGENTS {
        look(&serve(&store, agent), |door, said| play.assert_kept(agent, door, said));
    }
    for (action, reply) in [("take lamp", "It is fixed to the wall."), ("open door", "It is locked.")] {
        for (agent, present) in [("alex", &[][..]), ("marta", &["casey"]), ("jordan", &[])] {
            let turn = json!({"location": 1, "action": action, "response": reply, "present": present});
            let said = said(&serve(&store, agent), "record_turn", turn);
            // An agent that records a turn at a place learns the name of the place.
            play.assert_kept(agent, "record_turn", &said.to_lowercase().replace("pq0k", ""));
        }
    }
}

#[test]
fn no_door_of_an_agent_gives_away_what_was_said_in_its_absence() {
    proptest!(cases(), |(play in plays())| check_play(&play));
}
