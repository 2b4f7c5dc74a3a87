//! Errors of writing entries into configuration files.

use std::path::PathBuf;

use super::problem::Problem;
use memories_document::types::hint::{Advice, Hint};
use memories_store::StoreError;

/// The reason why a configuration file was not written. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The file is not valid, or cannot be edited.
    #[error("`{}` is left as it is: {problem}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: Problem,
    },
    /// Links lead out of the folder that the file must be in.
    #[error("`{}` leads out of `{}`, to `{}`", path.display(), within.display(), target.display())]
    Outside {
        /// The file as it is named.
        path: PathBuf,
        /// The folder.
        within: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Another program changed the file each time between reading and writing.
    #[error("`{}` was changed by another program during each of {tries} tries", path.display())]
    KeepsChanging {
        /// The file.
        path: PathBuf,
        /// How often we tried.
        tries: u32,
    },
    /// The record of what was written is damaged.
    #[error("`{}` is damaged: {reason}", path.display())]
    DamagedRecord {
        /// The record.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for SetupError {
    fn advice(&self) -> Advice {
        match self {
            SetupError::Text { problem: Problem::Invalid { .. }, .. } => {
                Advice::fix("correct the file, and run this again")
            }
            SetupError::Text { .. } => {
                Advice::fix("write the entry by hand: docs/guide/agents.md shows it for each agent")
            }
            SetupError::Outside { .. } => {
                Advice::fix("make it a file of its own, or write the entry by hand")
            }
            SetupError::KeepsChanging { .. } => Advice::retry("close the agent, and run this again"),
            SetupError::DamagedRecord { .. } => {
                Advice::fix("remove that file: entries are then known by their text alone")
            }
            SetupError::Store(error) => error.advice(),
        }
    }
}
