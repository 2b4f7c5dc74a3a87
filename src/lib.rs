//! A memory for agents that a person can read.

pub mod character;
pub mod cli;
pub mod conversation;
pub mod document;
pub mod exchange;
pub mod llm;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod memory;
pub mod recall;
pub mod record;
pub mod reflect;
pub mod review;
pub mod search;
pub mod secrets;
pub mod store;
