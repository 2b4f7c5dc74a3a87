//! Entries in the configuration files of agents.
//!
//! The folders of a person and of a repository enter; exact edits of the texts of files leave. Nothing but the entries
//! changes: comments, order and line endings stay, and after a removal the file has its former bytes. Installed
//! agents are found by looking into folders; no program is started.

mod agent;
pub mod change;
mod difference;
mod edit;
mod entry;
mod error;
mod json;
mod piece;
mod problem;
mod record;
mod toml;
mod yaml;

pub use agent::{Agent, Folders, Target};
pub use change::{Action, Change, Options, change};
pub use entry::{Entry, State};

#[cfg(test)]
mod tests;
