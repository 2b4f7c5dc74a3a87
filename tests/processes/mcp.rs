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
#[cfg(unix)]
mod http;
#[cfg(unix)]
mod http_client;
#[cfg(unix)]
mod http_guard;
mod map;
mod methods;
mod parallel;
mod protocol;
mod tools;
mod trust;
mod viewer;
mod work;
