//! The Model Context Protocol server on stdio.
//!
//! Requests come on stdin, answers leave on stdout; nothing else is written there. The tools are plain
//! functions (`tools`); only `handler` and `calls` use the official Rust SDK `rmcp`. Invariants:
//!
//! * every call sees the current file, even if an editor changed it since the last call;
//! * calls run on threads of their own and may be cancelled, but a write that has begun is completed;
//! * a refused call says what to do next, and a panic ends only its own call.

mod access;
mod answer;
mod arguments;
mod calls;
mod error;
mod group;
mod handler;
mod parameter;
mod prompts;
mod resources;
pub(crate) mod tools;

pub(crate) use access::{Memories, Setup};
pub(crate) use error::ServeError;
pub(crate) use group::Group;

/// Serves one client until it closes stdin, then waits for running calls.
///
/// # Errors
///
/// See [`ServeError`]. A client that leaves is not an error.
pub fn serve(setup: Setup) -> Result<(), ServeError> {
    let server = handler::Server::new(Memories::new(setup)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Dropping the runtime waits for running calls.
    runtime.map_err(ServeError::Begin)?.block_on(handler::run(server))
}
