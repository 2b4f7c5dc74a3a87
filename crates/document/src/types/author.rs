//! The author of a memory.

use serde::{Deserialize, Serialize};

/// The author of a memory, as JSON answers and the log of authors name it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Author {
    /// Nobody saw who wrote it: a clone, a file that was there before, another program.
    #[default]
    Unknown,
    /// A person, by a command or an editor.
    Person,
    /// A language model.
    Model,
    /// The built-in rules.
    Rules,
    /// An agent: a client of MCP, or a player that says what to remember.
    Agent,
    /// A seed of characters, which a person gave.
    Seed,
    /// One of the programs above; older versions did not write which.
    Program,
}
