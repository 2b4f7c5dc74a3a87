//! The groups of tools that a server can be started with.

use strum::VariantNames;

use memories_document::types::unknown_name;

/// A group of tools. Choosing groups shortens the tool list that the client's model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_group)]
pub(crate) enum Group {
    /// Memories of places, and the turns played there.
    Places,
    /// An agent's identity, its scene and the characters it knows.
    #[strum(to_string = "self")]
    Self_,
    /// Adding, reinforcing, linking and correcting memories.
    Shaping,
    /// Looking back at episodes, facts and interactions.
    Recalling,
    /// The state of the memory file.
    Status,
}

fn unknown_group(text: &str) -> String {
    unknown_name(text, "group of tools", Group::VARIANTS)
}
