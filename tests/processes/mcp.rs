//! `memories mcp`, driven over its pipes as a client drives it.
//!
//! Hermetic: the protocol is spoken line by line in `mcp/client.rs`. Clients that others wrote are in
//! `tests/clients/`.
#![cfg(feature = "mcp")]

mod authority;
mod budget;
pub mod client;
mod crowd;
mod damage;
#[cfg(all(feature = "llm", unix))]
mod http;
#[cfg(all(feature = "llm", unix))]
mod http_client;
#[cfg(all(feature = "llm", unix))]
mod http_guard;
mod map;
#[cfg(feature = "llm")]
mod parallel;
mod protocol;
mod tools;
#[cfg(feature = "llm")]
mod trust;
mod viewer;
mod work;
