//! The flag that names the writer of stored entries.

use crate::cli::context::Cli;
use memories_document::types::Writer;

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WriterArgs {
    /// Who writes, where several share the file: `#by:NAME` goes into each entry
    #[arg(long, value_name = "NAME", env = "MEMORIES_WRITER", hide_env_values = true)]
    writer: Option<Writer>,
}

impl WriterArgs {
    /// Replaces the writer of the settings by the writer of the flag or the environment.
    pub(crate) fn override_settings(self, cli: &mut Cli<'_>) {
        let WriterArgs { writer } = self;
        cli.settings.writer = writer.or(cli.settings.writer.take());
    }
}
