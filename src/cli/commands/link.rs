//! `link`: links two memories to each other.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP, target};
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_document::types::Moment;
use memories_notebook::correct::Correction;

/// Link two memories to each other, so that one recalls the other
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Each of the two gets a line `See also:` that leads to the other one. `recall` of
one scope then shows the linked memory of the other scope too.

Examples:
  memories link 23 'Trophy case scores' 'Troll guards the way' --in 5
  memories link 23 'Rug hides a trap door' 'Trap door shuts'
  memories link npc:marta 'Likes tea' 'Kettle on the stove' --in Kitchen

{JSON_HELP}"))]
pub(crate) struct LinkArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "title")]
    scope: Option<String>,
    /// The exact title
    #[arg(value_name = "TITLE", requires = "other")]
    title: Option<String>,
    /// The exact title of the other memory
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// The scope of the other memory [default: the same]
    #[arg(long = "in", value_name = "SCOPE", allow_negative_numbers = true, requires = "other")]
    other_scope: Option<String>,
    /// Line of the other entry, if several entries share its title
    #[arg(long, value_name = "N", requires = "other")]
    other_line: Option<usize>,
    #[command(flatten)]
    correction: CorrectionArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[("TITLE", Candidates::Titles), ("OTHER", Candidates::Titles)],
    ..Facts::of(Group::Correct)
};

pub fn run(cli: Cli<'_>, args: LinkArgs) -> Result<u8, Failure> {
    let LinkArgs { scope, title, other, other_scope, other_line, correction } = args;
    let line = correction.line;
    let other_scope = other_scope.map(|name| cli.scope(&name)).transpose()?;
    correct::run(cli, CorrectionName::Link, correction, scope, |scope| {
        let other_scope = other_scope.unwrap_or_else(|| scope.clone());
        let one = target(&scope, &title.unwrap_or_default(), line);
        let other = target(&other_scope, &other.unwrap_or_default(), other_line);
        Ok((Correction::Link(one, other), Moment::default()))
    })
}
