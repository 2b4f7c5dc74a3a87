//! Characters with gifted memories: what a seed says of agents and a scene becomes sections of the file.
//!
//! Seed files enter, in TOML, YAML or JSON. The flow of `memories seed`:
//!
//! ```text
//! read    files → Cast           agents, what they are to each other, the scene        (cast, fields, node)
//! plan    Cast → InitialSection           the memories that each section is given               (plan)
//! settle  InitialSection + file → file    new, changed in the seed, changed by a person …       (settle)
//! ```
//!
//! A gifted entry bears `source:seed:` with a short hash of what the seed said when it was last taken
//! over. So it is known which of three spoke last: the entry is as the seed gave it, a person changed
//! it, the seed changed. What a person changed is not overwritten unasked, and a seed that says what it
//! said before changes nothing.

pub(crate) mod cast;
mod error;
mod fields;
mod node;
mod plan;
mod settle;

use crate::document::DocumentError;
use crate::notebook::files::Files;

pub use cast::Cast;
pub use cast::SeedSource;
pub use cast::read;
pub use error::SeedError;
pub use node::SeedFormat;
pub use settle::SeedChange;
pub use settle::SeedOptions;
pub use settle::SeedOutcome;
pub use settle::SeedReport;

/// Gives the cast its memories. The caller writes the files once, and only where the report says that
/// anything changed.
///
/// # Errors
///
/// [`DocumentError`] where the file cannot take an edit; the files are then to be thrown away.
pub fn seed(files: &mut Files, cast: &Cast, options: &SeedOptions) -> Result<SeedReport, DocumentError> {
    let gifts = plan::gifts(cast, &files.lasting);
    settle::settle(files, cast, &gifts, options)
}
