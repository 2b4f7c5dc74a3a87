//! The flag that names the writer of stored entries, and the one that asks for confirmed memories.

use crate::cli::context::Cli;
use crate::cli::values::parse_number;
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

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ConfirmedArgs {
    /// Leave out entries that name their writers, but fewer than N of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number)]
    confirmed_by: Option<usize>,
}

impl ConfirmedArgs {
    /// Fewest writers of an entry that has some; 0 shows all.
    pub(crate) fn least(&self) -> usize {
        self.confirmed_by.unwrap_or_default()
    }
}
