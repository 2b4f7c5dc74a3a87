//! A memory for agents that a person can read: one Markdown file, `Memories.md`, with a section for each place,
//! character or agent. This library is what the program `memories` is made of.
//!
//! There are three flows:
//!
//! * [`record`]: a turn of a game becomes memories. Its facts decide when a model, or the built-in rules, is
//!   asked; the answer decides what is kept.
//! * [`recall`] prints what matters at a place within a budget of tokens; [`search`] finds the memories that
//!   answer a question.
//! * [`document`] and [`store`] read, edit and write the file: without losing a byte that an edit is not
//!   about, one writer at a time, old or new but never half.
//!
//! Nothing here prints, reads the environment or looks at a clock, but for [`cli`]: time, ids, models and
//! paths are arguments. `ARCHITECTURE.md` shows where each step lives; `docs/DESIGN.md` leads to the contract.
//!
//! # Example
//!
//! `examples/embed.rs` records two turns with the built-in rules, recalls the place, and asks a question:
//!
#![doc = concat!("```\n", include_str!("../examples/embed.rs"), "```")]
#![cfg_attr(
    not(all(feature = "llm", feature = "mcp", feature = "proxy", feature = "sqlite", feature = "sync")),
    allow(dead_code, reason = "a smaller build leaves out what alone uses some of the rest")
)]

pub mod ask;
pub mod chat;
pub mod cli;
pub mod document;
pub mod journal;
pub mod llm;
pub mod map;
#[cfg(feature = "mcp")]
mod mcp;
mod memory_tool;
pub mod notebook;
pub mod recall;
pub mod record;
mod redact;
pub mod search;
pub mod seed;
mod setup;
mod stats;
pub mod store;
#[cfg(feature = "sync")]
mod sync;
pub mod transfer;
pub mod types;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "web")]
pub mod web;
mod work;

pub use notebook::{Clock, Notebook, SharedSnapshot, Snapshot};
pub use record::turn::Turn;
pub use record::{Judge, RecordSettings, Recorder};
pub use search::Searcher;
pub use search::embedded::StaticModel;
pub use search::filter::Filter;
pub use store::Store;
pub use types::{Memory, Scope};
