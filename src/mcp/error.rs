//! Errors of the server itself.

use std::io;

use memories_document::types::hint::{Advice, Hint};
use memories_llm::ModelError;

/// The server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The settings are unusable.
    #[error(transparent)]
    Settings(#[from] ModelError),
    /// The system has no threads or pipes left.
    #[error("the server cannot begin")]
    Begin(#[source] io::Error),
    /// The socket cannot be used.
    #[error("the server cannot listen")]
    Listen(#[source] io::Error),
    /// The client broke the protocol before its first request.
    #[error("the client did not begin as the protocol has it: {0}")]
    Protocol(String),
}

impl Hint for ServeError {
    fn advice(&self) -> Advice {
        match self {
            ServeError::Settings(error) => error.advice(),
            ServeError::Begin(_) => Advice::fix("try again with fewer programs running"),
            ServeError::Listen(_) => Advice::fix("choose another address with `--http`"),
            ServeError::Protocol(_) => {
                Advice::fix("this command is for MCP clients; `memories --help` shows those for people")
            }
        }
    }
}
