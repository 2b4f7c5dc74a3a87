//! Errors of syncing, each with the next step.

use thiserror::Error;

use memories_document::DocumentError;
use memories_document::types::hint::{Advice, Hint, RESOLVE};
use memories_store::{Store, StoreError};

/// Why a memory file and its remote copy were not merged. Neither of them has changed.
#[derive(Debug, Error)]
pub enum SyncError {
    /// The text is not an address of an object.
    #[error("this is no address of a remote copy")]
    NoUrl,
    /// The address has a scheme that is not served.
    #[error("`{scheme}://` is not a store that `memories` knows")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The address holds a user, a password or a query.
    #[error("the address holds a user, a password or a query")]
    SecretInUrl,
    /// The settings of the store cannot be used.
    #[error("`{url}` cannot be used: {problem}")]
    Settings {
        /// The address.
        url: String,
        /// The fault, without secrets.
        problem: String,
    },
    /// There is no such bucket.
    #[error("there is no bucket for `{url}`")]
    NoBucket {
        /// The address.
        url: String,
    },
    /// The copy was there at the last sync.
    #[error("`{url}` was there at the last sync, and is gone")]
    Vanished {
        /// The address.
        url: String,
    },
    /// Reading from an address that has nothing.
    #[error("there is nothing at `{url}`")]
    Nothing {
        /// The address.
        url: String,
    },
    /// The store refuses the keys, or there are none.
    #[error("`{url}` refuses: {problem}")]
    Refused {
        /// The address.
        url: String,
        /// The store's answer, without secrets.
        problem: String,
    },
    /// The store cannot be reached, or failed.
    #[error("`{url}` does not answer: {problem}")]
    Unreachable {
        /// The address.
        url: String,
        /// The failure, without secrets.
        problem: String,
    },
    /// The store answers something that is no answer.
    #[error("`{url}` answers wrongly: {problem}")]
    Failed {
        /// The address.
        url: String,
        /// The failure, without secrets.
        problem: String,
    },
    /// A text that no known machine wrote lacks something.
    #[error("no known machine wrote the text of `{url}`, and it lacks or changes {lacking}")]
    Strange {
        /// The address.
        url: String,
        /// The names of the pieces that it lacks.
        lacking: String,
    },
    /// Other writers were always faster.
    #[error("`{url}` kept changing: other writers were faster {tries} times")]
    KeepsChanging {
        /// The address.
        url: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The remote copy is too large.
    #[error("`{url}` has {bytes} bytes: more than 64 MiB")]
    TooLarge {
        /// The address.
        url: String,
        /// Its size.
        bytes: u64,
    },
    /// The remote copy is not UTF-8.
    #[error("`{url}` is not UTF-8: byte {byte}")]
    NotUtf8 {
        /// The address.
        url: String,
        /// The first wrong byte, from 1.
        byte: usize,
    },
    /// The remote copy has conflict markers.
    #[error("`{url}` has a conflict of a merge in line {line}")]
    Conflict {
        /// The address.
        url: String,
        /// The line of the first marker.
        line: usize,
    },
    /// The two texts cannot be merged by what they mean.
    #[error("`{url}` and `{file}` cannot be merged: lines clash where a fence or a comment is not closed")]
    Clash {
        /// The address.
        url: String,
        /// The memory file.
        file: String,
    },
    /// One side would lose more than half of the bytes that it had within a day, which looks like damage.
    #[error(
        "merging would leave `{side}` without {removed} of the {all} bytes that it had within the last day"
    )]
    Shrinks {
        /// The side that would shrink.
        side: String,
        /// Bytes that would be gone.
        removed: u64,
        /// Bytes of its largest state.
        all: u64,
    },
    /// The memory file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory file cannot be edited.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl SyncError {
    /// Lines of the two texts clash.
    pub(super) fn clash(url: String, store: &Store) -> SyncError {
        SyncError::Clash { url, file: store.path().display().to_string() }
    }
}

impl Hint for SyncError {
    fn advice(&self) -> Advice {
        match self {
            SyncError::NoUrl | SyncError::Scheme { .. } => Advice::command_line(
                "write `s3://BUCKET/KEY`, `gs://BUCKET/KEY`, `az://CONTAINER/KEY` or `file:///PATH`",
            ),
            SyncError::SecretInUrl => Advice::command_line(
                "leave it out: keys come from the usual variables and files of each cloud, such as AWS_ACCESS_KEY_ID",
            ),
            SyncError::Settings { .. } => {
                Advice::fix("check the variables of this cloud; `memories help sync` names them")
            }
            SyncError::NoBucket { .. } => Advice::fix("make it first, or check its name and the region"),
            SyncError::Vanished { .. } => Advice::fix("`--create` puts it there anew, from this memory file"),
            SyncError::Nothing { .. } => Advice::fix("`memories sync URL` puts a memory file there"),
            SyncError::Refused { .. } => Advice::fix(
                "check the keys in the environment, when they expire, and whether they may read and write this object",
            ),
            SyncError::Unreachable { .. } => {
                Advice::retry("check the network and the address of the store, and run it again")
            }
            SyncError::Failed { .. } => {
                Advice::fix("see what the store or a proxy before it says, and run it again")
            }
            SyncError::Strange { .. } => Advice::fix(
                "see `--dry-run`; the same command again goes on and keeps what a person wrote, and `--allow-removals` takes all",
            ),
            SyncError::KeepsChanging { .. } => {
                Advice::retry("run it again, or let each worker sync less often")
            }
            SyncError::TooLarge { .. } => Advice::fix("see what stands there; is it a memory file?"),
            SyncError::NotUtf8 { .. } => {
                Advice::fix("see what stands there, and put back a version that was whole")
            }
            SyncError::Conflict { .. } => Advice::fix(RESOLVE),
            SyncError::Clash { .. } => Advice::fix("`memories check` shows where; close it on one side"),
            SyncError::Shrinks { .. } => {
                Advice::fix("see whether one side is damaged; `--allow-removals` if this is what you want")
            }
            SyncError::Store(error) => error.advice(),
            SyncError::Document(error) => error.advice(),
        }
    }
}
