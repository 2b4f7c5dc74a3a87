//! A memory for agents that a person can read.

pub mod ask;
pub mod chat;
pub mod cli;
pub mod document;
pub mod llm;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod notebook;
pub mod recall;
pub mod record;
pub mod redact;
pub mod search;
pub mod seed;
pub mod stats;
pub mod store;
pub mod transfer;
pub mod types;
