//! `forget`: removes a memory from the file; the journal keeps it.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP, target};
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_document::types::Moment;
use memories_notebook::correct::Correction;

/// Remove a memory from the file; the journal keeps it
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Prefer `invalidate` for a wrong memory: the entry stays, struck out with the
reason, so that the error is not learned again.

Examples:
  memories forget 23 'Read leaflet'

{JSON_HELP}"))]
pub(crate) struct ForgetArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "title")]
    scope: Option<String>,
    /// The exact title
    #[arg(value_name = "TITLE")]
    title: Option<String>,
    #[command(flatten)]
    correction: CorrectionArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    synonyms: &["rm", "remove", "delete", "del", "drop", "erase"],
    completes: &[("TITLE", Candidates::Titles)],
    ..Facts::of(Group::Correct)
};

pub fn run(cli: Cli<'_>, args: ForgetArgs) -> Result<u8, Failure> {
    let ForgetArgs { scope, title, correction } = args;
    let line = correction.line;
    correct::run(cli, CorrectionName::Forget, correction, scope, |scope| {
        Ok((Correction::Forget(target(&scope, &title.unwrap_or_default(), line)), Moment::default()))
    })
}
