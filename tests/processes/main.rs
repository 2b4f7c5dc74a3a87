//! Tests with servers, threads and several processes: model servers, MCP, the proxy, writers that are
//! killed, shells.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test writes files, may panic, and prints figures"
)]

mod ask;
#[cfg(feature = "checks")]
mod at_terminal;
mod chat;
#[path = "../support/dice.rs"]
mod dice;
mod edit;
mod embedding;
#[cfg(unix)]
mod git;
#[cfg(all(feature = "agents", unix))]
mod hooks_at_once;
mod hostile_doors;
#[cfg(unix)]
mod inputs;
#[cfg(all(feature = "proxy", unix))]
mod later;
#[cfg(unix)]
mod limits;
mod llm;
#[cfg(unix)]
mod many_turns;
mod mcp;
mod models;
mod processes;
#[path = "../support/program.rs"]
mod program;
mod proxy;
#[cfg(feature = "mcp")]
#[path = "../support/puppet.rs"]
mod puppet;
mod secrets;
mod server;
mod shells;
mod stats;
#[cfg(unix)]
mod store;
#[cfg(any(feature = "mcp", unix))]
#[path = "../support/authors.rs"]
mod support_authors;
#[cfg(feature = "sync")]
mod sync;
mod trust;
#[cfg(feature = "page")]
mod view;
#[cfg(all(feature = "agents", unix))]
mod work_sessions;
#[cfg(feature = "mcp")]
mod writers;
