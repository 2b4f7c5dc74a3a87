//! The settings of hooks, `[hooks]`.

use crate::cli::failure::Failure;
use crate::cli::settings::file::{SettingsFiles, size};
use memories_document::types::fields::flag;

/// How hooks behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HookSettings {
    /// If false, every hook is silent.
    pub enabled: bool,
    /// Refuse a command once a session, if it failed and nothing has changed since.
    pub hold: bool,
    /// Budget in tokens at the start of a session.
    pub max_tokens: usize,
}

/// Reads the table; `most` is the highest number of tokens that a file may set.
pub(super) fn read(files: &mut SettingsFiles, most: usize) -> Result<HookSettings, Failure> {
    let mut settings = HookSettings { enabled: true, hold: false, max_tokens: 300 };
    files.set("hooks.enabled", flag, &mut settings.enabled)?;
    files.set("hooks.hold", flag, &mut settings.hold)?;
    files.set("hooks.max_tokens", size, &mut settings.max_tokens)?;
    Ok(HookSettings { max_tokens: settings.max_tokens.min(most), ..settings })
}
