//! Import and export: what a memory file says, in the forms of other programs, and back.
//!
//! Going out, the sections of a file enter and the bytes of one [`TransferFormat`] leave. Coming in, bytes
//! enter and leave as [`SourceItem`] items, each with the line or row it came from; [`merge`] then puts
//! them into the files. What is exchanged is what the grammar knows: entries, struck ones too, with
//! all their fields; names, visits and tried actions of places. What people wrote around them stays
//! where it is. Out and in again gives the same sections, in their stored form.

mod error;
mod json;
mod markdown;
pub mod merge;
mod object;
mod place;
mod settle;
mod source;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

use strum::VariantNames;

use crate::document::Section;
use crate::types::{Scope, unknown_name};

pub(crate) use error::TransferError;
pub(crate) use place::PlaceReference;
pub use source::TransferSource;
pub(crate) use source::{Item, Origin, SourceItem};

/// A form of exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::Display, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum TransferFormat {
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
    unknown_name(text, "format", TransferFormat::VARIANTS)
}

/// Reads the bytes of a source.
///
/// # Errors
///
/// [`TransferError`] where they are not of that form; what is wrong with a single item stands in it.
pub fn read(bytes: &[u8], format: TransferFormat) -> Result<TransferSource, TransferError> {
    match format {
        TransferFormat::Json => json::read_json(bytes),
        TransferFormat::Jsonl => Ok(json::read_jsonl(bytes)),
        TransferFormat::Markdown => markdown::read(bytes),
        #[cfg(feature = "sqlite")]
        TransferFormat::Sqlite => sqlite::read_bytes(bytes),
        #[cfg(not(feature = "sqlite"))]
        TransferFormat::Sqlite => Err(TransferError::NoSqlite),
    }
}

/// Reads a database in place, as other programs that have it open see it; nothing is changed in it.
///
/// # Errors
///
/// [`TransferError`] where it is none, or has no table `memories`.
pub fn read_database(path: &Path) -> Result<TransferSource, TransferError> {
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
pub fn write(sections: &[(Scope, Section)], format: TransferFormat) -> Result<Vec<u8>, TransferError> {
    match format {
        TransferFormat::Json => Ok(json::write_json(sections)),
        TransferFormat::Jsonl => Ok(json::write_jsonl(sections)),
        TransferFormat::Markdown => markdown::write(sections),
        #[cfg(feature = "sqlite")]
        TransferFormat::Sqlite => sqlite::write(sections),
        #[cfg(not(feature = "sqlite"))]
        TransferFormat::Sqlite => Err(TransferError::NoSqlite),
    }
}
