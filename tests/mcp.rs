//! `memories mcp`, driven over its pipes as a client drives it.
//!
//! Hermetic: the protocol is spoken line by line in `mcp/client.rs`. Clients that others wrote are in
//! `clients/`.
#![cfg(feature = "mcp")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and figures are for --nocapture"
)]
#![expect(clippy::disallowed_methods, reason = "a test writes the files that are served")]

#[path = "mcp/budget.rs"]
mod budget;
#[path = "mcp/client.rs"]
mod client;
#[path = "mcp/crowd.rs"]
mod crowd;
#[path = "mcp/protocol.rs"]
mod protocol;
#[path = "mcp/tools.rs"]
mod tools;
