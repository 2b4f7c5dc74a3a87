//! `invalidate`: strikes memories that are proven wrong.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP, targets};
use crate::cli::commands::moment_args::MomentArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_notebook::correct::Correction;

/// Strike memories that are proven wrong, with the reason
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Examples:
  memories invalidate 23 'Troll is friendly' --reason 'It attacked at once.'
  memories invalidate 23 'Door is locked' 'Key is needed' \\
      --reason 'The door was only stuck.'
  memories invalidate 23 'Lamp is eternal' --reason 'It went out.' \\
      --episode 2 --turn 310

{JSON_HELP}"))]
pub(crate) struct InvalidateArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "titles")]
    scope: Option<String>,
    /// Exact titles
    #[arg(value_name = "TITLE", requires = "reason")]
    titles: Vec<String>,
    /// Reason why they are wrong
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    moment: MomentArgs,
    #[command(flatten)]
    correction: CorrectionArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("TITLE", Candidates::Titles)], ..Facts::of(Group::Correct) };

pub fn run(cli: Cli<'_>, args: InvalidateArgs) -> Result<u8, Failure> {
    let InvalidateArgs { scope, titles, reason, moment, correction } = args;
    let line = correction.line;
    correct::run(cli, CorrectionName::Invalidate, correction, scope, |scope| {
        let correction = Correction::Invalidate(targets(&scope, &titles, line), reason.unwrap_or_default());
        Ok((correction, moment.into_moment()?))
    })
}
