//! Import and export between the memory file and other formats.
//!
//! [`write()`] turns sections into the bytes of a [`TransferFormat`]. [`read`] turns bytes into
//! `SourceItem`s, each with its line or row, and [`mod@merge`] puts them into the files. Transferred are
//! entries (struck ones too) with all their fields, and names, visits and tried actions of places, but not
//! the text that people wrote between them. An export that is imported again gives the same sections, in
//! their stored form.

#[cfg(feature = "formats")]
mod bridge;
mod json;
mod markdown;
pub mod merge;
mod object;
mod place;
mod secrets;
mod section_entries;
mod source;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::Path;

use strum::VariantNames;

use memories_document::Section;
use memories_document::types::hint::Refused;
use memories_document::types::{Scope, unknown_name};

pub(crate) use place::PlaceReference;
pub(crate) use source::{Item, Origin, SourceItem};
pub use source::{LeftOut, TransferSource};

#[cfg(feature = "formats")]
pub use bridge::source_of;
#[cfg(feature = "formats")]
pub use secrets::mask_sections;

/// Names of the formats of other programs.
#[cfg(feature = "formats")]
pub const FOREIGN: &[&str] = memories_formats::Format::NAMES;

/// Names of the formats of other programs.
#[cfg(not(feature = "formats"))]
pub const FOREIGN: &[&str] = &[];

/// A format of import and export.
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
    /// A memory file.
    #[strum(to_string = "markdown", serialize = "md")]
    Markdown,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", TransferFormat::VARIANTS)
}

/// Reads the bytes of a source. An item that cannot be read carries its own error.
///
/// # Errors
///
/// If the bytes are not in the format.
pub fn read(bytes: &[u8], format: TransferFormat) -> Result<TransferSource, Refused> {
    match format {
        TransferFormat::Json => json::read_json(bytes),
        TransferFormat::Jsonl => Ok(json::read_jsonl(bytes)),
        TransferFormat::Markdown => markdown::read(bytes),
        #[cfg(feature = "sqlite")]
        TransferFormat::Sqlite => sqlite::read_bytes(bytes),
        #[cfg(not(feature = "sqlite"))]
        TransferFormat::Sqlite => Err(no_sqlite()),
    }
}

/// The program was built without SQLite.
#[cfg(not(feature = "sqlite"))]
fn no_sqlite() -> Refused {
    Refused::fix("this build has no SQLite", "build with the feature `sqlite`, or use JSONL")
}

/// Reads a database file, which is opened read-only; other programs may have it open.
///
/// # Errors
///
/// If it is not a database or has no table `memories`.
pub fn read_database(path: &Path) -> Result<TransferSource, Refused> {
    #[cfg(feature = "sqlite")]
    return sqlite::read_file(path);
    #[cfg(not(feature = "sqlite"))]
    {
        let _ = path;
        Err(no_sqlite())
    }
}

/// Writes sections in their order.
///
/// # Errors
///
/// If the format cannot represent them.
pub fn write(sections: &[(Scope, Section)], format: TransferFormat) -> Result<Vec<u8>, Refused> {
    match format {
        TransferFormat::Json => Ok(json::write_json(sections)),
        TransferFormat::Jsonl => Ok(json::write_jsonl(sections)),
        TransferFormat::Markdown => markdown::write(sections),
        #[cfg(feature = "sqlite")]
        TransferFormat::Sqlite => sqlite::write(sections),
        #[cfg(not(feature = "sqlite"))]
        TransferFormat::Sqlite => Err(no_sqlite()),
    }
}
