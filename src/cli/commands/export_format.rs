//! The format of an export: one of the program's own, or that of another program.

use std::str::FromStr;

use crate::transfer::TransferFormat;
use memories_document::types::unknown_name;

/// A format that other programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::Display, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", ascii_case_insensitive)]
pub(crate) enum ForeignTarget {
    /// World Info of SillyTavern.
    WorldInfo,
    /// A vault of notes.
    Obsidian,
    /// A marked section of `AGENTS.md` or `CLAUDE.md`.
    AgentsMd,
    /// An extension of Codex' memories.
    Codex,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// One that `import` restores exactly.
    Own(TransferFormat),
    /// One of another program.
    Foreign(ForeignTarget),
}

/// Names of all formats of an export.
pub(crate) const TARGETS: &[&str] =
    &["json", "jsonl", "sqlite", "markdown", "world-info", "obsidian", "agents-md", "codex"];

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<ExportFormat, String> {
        if let Ok(format) = text.parse() {
            return Ok(ExportFormat::Own(format));
        }
        text.parse().map(ExportFormat::Foreign).map_err(|_| unknown_name(text, "format", TARGETS))
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;

    #[test]
    fn all_formats_are_listed() {
        let all: Vec<&str> =
            TransferFormat::VARIANTS.iter().chain(ForeignTarget::VARIANTS).copied().collect();
        assert_eq!(all, TARGETS);
    }
}
