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
//! Only [`cli`] reads the environment and the wall clock; for all else time, ids, models and paths are arguments.
//! Only [`cli`] and `mcp` print. `ARCHITECTURE.md` shows where each step lives; `docs/DESIGN.md` leads to the contract.
//!
//! # Example
//!
//! `examples/embed.rs` records two turns with the built-in rules, recalls the place, and asks a question:
//!
#![doc = concat!("```\n", include_str!("../examples/embed.rs"), "```")]
#![cfg_attr(
    not(all(feature = "agents", feature = "mcp", feature = "page", feature = "proxy", feature = "sync")),
    allow(dead_code, reason = "a smaller build leaves out what alone uses some of the rest")
)]

pub mod ask;
pub mod cli;
#[cfg(feature = "mcp")]
mod mcp;
pub mod seed;
pub mod transfer;

pub use memories_chat as chat;
pub use memories_document as document;
pub use memories_document::types;
pub use memories_llm as llm;
pub use memories_notebook as notebook;
pub use memories_recall as recall;
pub use memories_record as record;
pub use memories_search as search;
pub use memories_store as store;
pub use memories_store::journal;
#[cfg(feature = "page")]
pub use memories_web as web;
pub use memories_world as map;

pub use memories_document::types::{Memory, Scope};
pub use memories_notebook::{Clock, Notebook, SharedSnapshot, Snapshot};
pub use memories_record::turn::Turn;
pub use memories_record::{Judge, RecordSettings, Recorder};
pub use memories_search::Searcher;
pub use memories_search::embedded::StaticModel;
pub use memories_search::filter::Filter;
pub use memories_store::Store;
