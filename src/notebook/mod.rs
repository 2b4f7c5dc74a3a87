//! The memory file as it is edited: what is added, corrected or said, and when two texts are the same.
//!
//! Two files together are one notebook: `Memories.md`, which lasts, and `session.md`, which ends with
//! its episode.

pub mod add;
pub mod correct;
pub mod dialogue;
pub mod duplicates;
pub mod files;
pub mod near_duplicates;
