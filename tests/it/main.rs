//! Tests of the library and of single commands: no server, no second process beside the command.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test writes files, may panic, and prints figures"
)]

mod aliases;
mod anchors;
mod architecture;
mod as_of;
mod ask;
mod authors;
mod best_run;
mod chat;
mod corrections;
#[path = "../support/dice.rs"]
mod dice;
#[cfg(feature = "full")]
mod documents;
mod episodes;
mod evidence;
mod frames;
mod frontier;
mod golden;
mod growth;
mod hand_edits;
mod history;
#[cfg(all(feature = "agents", unix))]
mod hooks;
mod hostile;
#[path = "../support/invented_world.rs"]
mod invented_world;
mod journal;
mod languages;
mod laws;
mod map;
#[cfg(feature = "full")]
mod mistakes;
mod of_others;
mod offline;
mod opening;
mod other_hands;
mod outside;
mod poison;
#[path = "../support/program.rs"]
mod program;
mod prompt;
#[path = "../support/puppet.rs"]
mod puppet;
#[cfg(all(feature = "full", unix))]
mod readme;
#[path = "../support/recalled.rs"]
mod recalled;
mod recorded_once;
mod replay;
mod retrieval;
mod retry;
mod rewind;
mod schemas;
mod search;
mod seed;
#[cfg(feature = "agents")]
mod setup;
mod simulator;
mod standing;
#[path = "../support/authors.rs"]
mod support_authors;
mod terminal;
mod tokens;
mod transfer;
mod trust;
mod witnesses;
mod words;
mod work;
#[path = "../support/world.rs"]
mod world;
mod zorkgpt_files;

use std::path::Path;

use proptest::prelude::ProptestConfig;

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// How a property is run: with this many cases, or as many as `PROPTEST_CASES` says.
fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { default } else { ProptestConfig { cases, ..default } }
}
