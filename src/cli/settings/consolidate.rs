//! The settings of consolidation, `[consolidate]`.

use crate::cli::failure::Failure;
use crate::cli::settings::file::{SettingsFiles, small};
use memories_document::types::fields::flag;

/// What is consolidated without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConsolidateSettings {
    /// If true, scopes that grew are consolidated when a session or an episode ends.
    pub auto: bool,
    /// Most requests to a model about scopes that grew.
    pub max_calls: u32,
}

/// Reads the table.
pub(super) fn read(files: &mut SettingsFiles) -> Result<ConsolidateSettings, Failure> {
    let mut settings = ConsolidateSettings { auto: false, max_calls: 2 };
    files.set("consolidate.auto", flag, &mut settings.auto)?;
    files.set("consolidate.max_calls", small, &mut settings.max_calls)?;
    Ok(settings)
}
