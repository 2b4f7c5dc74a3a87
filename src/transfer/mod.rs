//! Import and export: what a memory file says, in the forms of other programs, and back.
//!
//! Going out, the sections of a file enter and the bytes of one [`Format`] leave. Coming in, bytes
//! enter and leave as [`Found`] items, each with the line or row it came from; [`merge`] then puts
//! them into the files. What is exchanged is what the grammar knows: entries, struck ones too, with
//! all their fields; names, visits and tried actions of places. What people wrote around them stays
//! where it is. Out and in again gives the same sections, in their stored form.

mod json;
mod markdown;
pub mod merge;
mod object;
mod place;
mod settle;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::path::Path;

use strum::VariantNames;

use crate::document::Section;
use crate::types::hint::{Advice, Hint};
use crate::types::{Attempt, Memory, Scope, unknown_name};

pub use place::Whereabouts;

/// A form of exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::Display, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum Format {
    /// One JSON document.
    Json,
    /// One JSON object a line.
    #[strum(to_string = "jsonl", serialize = "ndjson")]
    Jsonl,
    /// An SQLite database.
    #[strum(to_string = "sqlite", serialize = "sqlite3", serialize = "db")]
    Sqlite,
    /// A memory file such as this program's and its kin's.
    #[strum(to_string = "markdown", serialize = "md")]
    Markdown,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", Format::VARIANTS)
}

/// Why a source cannot be read, or a form not written, at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// The bytes are not of that form.
    #[error("{problem}")]
    Unreadable {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The program was built without SQLite.
    #[error("this build has no SQLite")]
    NoSqlite,
}

impl Hint for TransferError {
    fn advice(&self) -> Advice {
        match self {
            TransferError::Unreadable { hint, .. } => Advice::fix(*hint),
            TransferError::NoSqlite => Advice::fix("build with the feature `sqlite`, or use JSONL"),
        }
    }
}

/// Where in a source something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A line, from 1.
    Line(usize),
    /// A row of a database's table `memories`, by its id or, without one, its number from 1.
    Row(i64),
    /// A row of the table `places` or `tried`, by its number from 1.
    Other(&'static str, usize),
    /// A memory of a JSON document, by its number from 1.
    Memory(usize),
    /// A section of a JSON document, by its number from 1.
    Section(usize),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Line(line) => write!(f, "line {line}"),
            Origin::Row(row) => write!(f, "row {row}"),
            Origin::Other(table, row) => write!(f, "row {row} of `{table}`"),
            Origin::Memory(number) => write!(f, "memory {number}"),
            Origin::Section(number) => write!(f, "section {number}"),
        }
    }
}

/// One thing of a source, or why it cannot be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where it stands.
    pub at: Origin,
    /// What it says.
    pub item: Result<Item, String>,
}

/// What a source speaks of.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A memory.
    Memory {
        /// Where it belongs.
        place: Whereabouts,
        /// What it says.
        memory: Box<Memory>,
        /// Whether the source gave it a title; else it gets its text's first words.
        titled: bool,
    },
    /// What is known of a place besides its memories.
    Section {
        /// Which.
        place: Whereabouts,
        /// How often it was visited.
        visits: u64,
        /// In which episodes.
        episodes: Vec<u64>,
        /// What was tried there.
        tried: Vec<Attempt>,
    },
}

/// All that a source says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Source {
    /// Its items in their order.
    pub items: Vec<Found>,
    /// Names of keys and columns that mean nothing here, each once: they are left out.
    pub unknown: Vec<String>,
}

/// Reads the bytes of a source.
///
/// # Errors
///
/// [`TransferError`] where they are not of that form; what is wrong with a single item stands in it.
pub fn read(bytes: &[u8], format: Format) -> Result<Source, TransferError> {
    match format {
        Format::Json => json::read_json(bytes),
        Format::Jsonl => Ok(json::read_jsonl(bytes)),
        Format::Markdown => markdown::read(bytes),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => sqlite::read_bytes(bytes),
        #[cfg(not(feature = "sqlite"))]
        Format::Sqlite => Err(TransferError::NoSqlite),
    }
}

/// Reads a database in place, as other programs that have it open see it; nothing is changed in it.
///
/// # Errors
///
/// [`TransferError`] where it is none, or has no table `memories`.
pub fn read_database(path: &Path) -> Result<Source, TransferError> {
    #[cfg(feature = "sqlite")]
    return sqlite::read_file(path);
    #[cfg(not(feature = "sqlite"))]
    {
        let _ = path;
        Err(TransferError::NoSqlite)
    }
}

/// Writes sections, in their order, in a form.
///
/// # Errors
///
/// [`TransferError`] where the form cannot hold them.
pub fn write(sections: &[(Scope, Section)], format: Format) -> Result<Vec<u8>, TransferError> {
    match format {
        Format::Json => Ok(json::write_json(sections)),
        Format::Jsonl => Ok(json::write_jsonl(sections)),
        Format::Markdown => markdown::write(sections),
        #[cfg(feature = "sqlite")]
        Format::Sqlite => sqlite::write(sections),
        #[cfg(not(feature = "sqlite"))]
        Format::Sqlite => Err(TransferError::NoSqlite),
    }
}
