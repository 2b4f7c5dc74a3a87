//! A recall for a character has no word of entries or lines that only others witnessed, and nor has the snapshot.
//!
//! The property runs 64 worlds, or as many as `PROPTEST_CASES` says.

use std::time::Duration;

use proptest::prelude::*;

use crate::{Circumstances, Evidence, Format, Limits, brief, json, owned_sections, recall, render};
use memories_document::types::{ScopeName, Viewer};
use memories_notebook::{MemoryObjects, Snapshot};
use memories_store::Store;

#[path = "../../../../tests/support/witnessed_world.rs"]
mod witnessed_world;
use witnessed_world::{AGENTS, World, worlds};

#[allow(clippy::disallowed_methods, reason = "the file of a test")]
fn check(world: &World) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Memories.md");
    std::fs::write(&path, world.file()).unwrap();
    let store = Store::open(&path, Duration::from_secs(10)).unwrap();
    for agent in AGENTS {
        let snapshot = Snapshot::read(&store.clone().for_viewer(Viewer::of(Some(agent)))).unwrap();
        world.assert_kept(agent, "the snapshot", snapshot.text());
        let known = (0..world.entries.len()).filter(|at| world.knows(agent, *at)).count();
        assert_eq!(snapshot.entries().len(), known, "all that is known stays: {world:?}");
        for at in (0..world.entries.len()).filter(|at| world.knows(agent, *at)) {
            assert!(snapshot.text().contains(&world.text(at)));
        }
        for at in (0..world.lines.len()).filter(|at| world.knows_line(agent, *at)) {
            assert!(
                world.words_of_line(at).iter().all(|word| snapshot.text().contains(word)),
                "{at}: {world:?}"
            );
        }
        let names: Vec<ScopeName> = World::scopes().map(|scope| scope.parse().unwrap()).collect();
        for format in [Format::Text, Format::Markdown, Format::Xml] {
            let views = recall(&snapshot, &names, &Limits::default(), format).unwrap();
            let objects = MemoryObjects::of(&snapshot);
            let values: Vec<_> = views.iter().map(|view| json::view(&objects, view)).collect();
            world.assert_kept(agent, "recall", &render(&views));
            world.assert_kept(agent, "recall --json", &serde_json::json!(values).to_string());
        }
        let sections = owned_sections(&snapshot, &names).unwrap();
        let of = |(scope, section): &(_, memories_document::Section)| {
            (Clone::clone(scope), section.name.clone(), brief::newest(section, 9))
        };
        let briefs: Vec<_> = sections.iter().map(of).collect();
        world.assert_kept(agent, "recall --brief", &brief::render_brief(&briefs));
        let section = &sections[0].1;
        let circumstances = Circumstances::of(section, 1, snapshot.text());
        let evidence = Evidence::of(section, &circumstances, "take lamp");
        world.assert_kept(agent, "tried", &evidence.render("", "Hall"));
        world.assert_kept(agent, "a warning", &snapshot.warning().unwrap_or_default());
    }
    let all = Snapshot::read(&store).unwrap();
    assert_eq!((all.text(), all.entries().len()), (&*world.file(), world.entries.len()));
}

#[test]
fn no_recall_gives_away_what_others_witnessed() {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let config = if is_set { default } else { ProptestConfig { cases: 64, ..default } };
    proptest!(config, |(world in worlds())| check(&world));
}
