//! The Model Context Protocol server, on stdio or over HTTP.
//!
//! On stdio requests come on stdin and answers leave on stdout; nothing else is written there. Over HTTP many clients
//! share one server ([`http`]). The tools are plain functions (`tools`); only `handler`, `methods`, `said`, `calls`, `http` and `sessions`
//! use the official Rust SDK `rmcp`. Invariants:
//!
//! * every call sees the current file, even if an editor changed it since the last call;
//! * calls run on threads of their own and may be cancelled, but a write that has begun is completed;
//! * a refused call says what to do next, and a panic ends only its own call.

mod access;
mod answer;
mod arguments;
mod calls;
mod character;
mod error;
mod group;
mod handler;
mod http;
mod methods;
mod model;
mod parameter;
mod prompts;
mod resources;
mod said;
mod sessions;
#[cfg(test)]
mod tests;
pub(crate) mod tools;

pub(crate) use access::{Memories, Setup};
pub(crate) use error::ServeError;
pub(crate) use group::Group;
pub(crate) use http::{HttpSettings, PATH as HTTP_PATH};

/// Calls that run at the same time, each on a thread of its own; others wait.
const MAX_THREADS: usize = 64;

/// Serves one client until it closes stdin, then waits for running calls.
///
/// # Errors
///
/// See [`ServeError`]. A client that leaves is not an error.
pub fn serve(setup: Setup) -> Result<(), ServeError> {
    let server = handler::Server::new(Memories::new(setup)?);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.max_blocking_threads(MAX_THREADS).enable_all().build();
    // Dropping the runtime waits for running calls.
    runtime.map_err(ServeError::Begin)?.block_on(handler::run(server))
}

/// Serves many clients over HTTP until `until` is ready, then lets running calls end. What has begun to write is
/// written whole. Returns the number of connections that were cut off.
///
/// # Errors
///
/// See [`ServeError`]. A client that leaves is not an error.
pub fn serve_http(
    setup: Setup,
    settings: HttpSettings,
    until: impl Future<Output = ()> + Send + 'static,
) -> Result<usize, ServeError> {
    let server = handler::Server::new(Memories::new(setup)?);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).max_blocking_threads(MAX_THREADS).enable_all().build();
    // Dropping the runtime waits for running calls.
    runtime.map_err(ServeError::Begin)?.block_on(http::run(server, settings, until))
}
