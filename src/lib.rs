//! A memory for agents that a person can read.

pub mod document;
pub mod llm;
pub mod memory;
pub mod store;
