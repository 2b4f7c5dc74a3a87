//! The settings of consolidation, `[consolidate]`.

use crate::cli::failure::Failure;
use crate::cli::settings::file::SettingsFiles;
use memories_document::types::fields::{count, flag};

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
    let (mut auto, mut max_calls) = (false, 2_u64);
    files.set("consolidate.auto", flag, &mut auto)?;
    files.set("consolidate.max_calls", count, &mut max_calls)?;
    Ok(ConsolidateSettings { auto, max_calls: u32::try_from(max_calls).unwrap_or(u32::MAX) })
}
