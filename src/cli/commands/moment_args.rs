//! The time of a correction, for the reference line of a struck entry.

use crate::cli::commands::memory_args::episode_number;
use crate::cli::failure::Failure;
use crate::cli::values::parse_count;
use memories_document::types::Moment;

/// Episode and turn of a correction.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct MomentArgs {
    /// Episode of the correction [default: the running one]
    #[arg(long, value_name = "EPISODE", requires = "scope")]
    episode: Option<String>,
    /// Turn of the correction [default: the last that was recorded in that episode]
    #[arg(long, value_name = "N", requires = "scope", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<u64>)]
    turn: Option<u64>,
}

impl MomentArgs {
    /// The moment, as far as it is given.
    pub(crate) fn into_moment(self) -> Result<Moment, Failure> {
        let episode = self.episode.as_deref().map(episode_number).transpose()?;
        Ok(Moment { episode, turn: self.turn, ..Moment::default() })
    }
}
