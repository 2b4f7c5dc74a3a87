//! Edits of the memory files: add, correct, note a line of dialogue, and recognise near-duplicates.
//!
//! Two files together are one notebook: `Memories.md`, which lasts, and `session.md`, which ends with
//! its episode.

pub mod add;
pub mod correct;
pub mod dialogue;
pub mod files;
pub mod near_duplicates;
