//! The Model Context Protocol server on stdio: the same file, for any client.
//!
//! A [`Setup`] enters, requests come on stdin, and answers leave on stdout; nothing else is ever written
//! there. The tools are plain functions ([`tools`]); the official Rust SDK `rmcp` speaks the protocol,
//! in `handler` and `calls` alone. It always holds that
//!
//! * what is read is read fresh: a person's editor may have changed the file since the last call;
//! * what takes long runs on threads of its own, and its caller may leave; what it had begun to write is
//!   written whole;
//! * a tool that fails says what to do next, and one that panics ends nothing but its own call.

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

/// Serves one client until it closes stdin, then ends what was begun.
///
/// # Errors
///
/// See [`ServeError`]. A client that leaves is none.
pub fn serve(setup: Setup) -> Result<(), ServeError> {
    let server = handler::Server::new(Memories::new(setup)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Dropping the runtime waits for calls that still write.
    runtime.map_err(ServeError::Begin)?.block_on(handler::run(server))
}
