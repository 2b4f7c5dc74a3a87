//! Uses the library in a program of its own: record two turns, recall the place, ask a question.
//!
//! ```sh
//! cargo run --example embed
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::sync::Arc;
use std::time::Duration;

use memories::recall::{Format, Limits, recall, render};
use memories::search::SearchSettings;
use memories::{
    Clock, Filter, Judge, Notebook, RecordSettings, Recorder, Searcher, SharedSnapshot, StaticModel, Store,
    Turn,
};

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;

    // After each turn. The built-in rules judge it; `Judge::Model` asks a language model instead.
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
    let settings = RecordSettings::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
    let turns = [
        r#"{"action": "take rug", "response": "It is too heavy.", "location": {"id": 23, "name": "Living Room"}}"#,
        r#"{"action": "move rug", "response": "The rug is moved to one side, revealing a closed trap door.", "location": 23, "world_changed": true}"#,
    ];
    for turn in turns {
        let report = recorder.record(Turn::from_json(turn)?)?;
        println!("{}", report.outcome);
    }

    // Before the next turn there.
    let files = Arc::new(SharedSnapshot::new(store));
    let views = recall(&*files.current()?, &["23".parse()?], &Limits::default(), Format::Text)?;
    println!("{}", render(&views));

    // At any time, about all places.
    let searcher = Searcher::new(files, SearchSettings::default(), Box::new(StaticModel::new()));
    let found = searcher.query("what is under the carpet?", &Filter::default(), 3)?;
    for hit in found.hits {
        println!("{:.2} {}: {}", hit.relevance, hit.memory.title, hit.memory.text);
    }
    Ok(())
}
