//! Seeding: descriptions of agents and a scene become sections of the memory file.
//!
//! The memories that an agent has before its first turn are its *initial* memories; users and the MCP
//! prompt `gifted_memories` also call them gifted. `memories seed` reads them from TOML, YAML or JSON:
//!
//! ```text
//! read    files → Cast                     agents, their relationships, the scene      (cast, fields, node)
//! plan    Cast → InitialSections           the memories of each section                (plan)
//! merge   InitialSections + file → file    keeps what people changed                   (merge)
//! ```
//!
//! A seeded entry carries `source:seed:` with a short hash of the seed's text at the last write. Comparing
//! it with the hashes of the entry and of the seed shows which of the two changed since. A person's
//! changes are only overwritten with `force`, and seeding the same files again changes nothing.

pub(crate) mod cast;
mod error;
mod fields;
mod format;
mod merge;
mod node;
mod plan;
mod yaml;

use memories_document::DocumentError;
use memories_notebook::files::Files;

pub use cast::{Cast, SeedSource, read};
pub use format::SeedFormat;
pub use merge::{SeedChange, SeedOptions, SeedOutcome, SeedReport};

/// Merges the cast's initial memories into the files. The caller writes them, if
/// [`SeedReport::changes_the_file`].
///
/// # Errors
///
/// [`DocumentError`] if the file cannot be edited; discard `files` then.
pub fn seed(files: &mut Files, cast: &Cast, options: &SeedOptions) -> Result<SeedReport, DocumentError> {
    let sections = plan::initial_sections(cast, &files.lasting);
    merge::merge(files, cast, &sections, options)
}
