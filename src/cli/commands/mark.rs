//! `mark`: sets status, importance, persistence or protection of a memory.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP, target};
use crate::cli::commands::moment_args::MomentArgs;
use crate::cli::commands::viewer_args::WitnessArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::values::parse_own_importance;
use memories_document::types::{Persistence, Status};
use memories_notebook::correct::{Correction, Marks};

/// Set a memory's status, importance, persistence or protection
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Examples:
  memories mark 23 'Trophy case may score' --status active
  memories mark 23 'Troll attacks after gifts' --importance 900 \\
      --persistence core
  memories mark 23 'Door stands open' --persistence permanent
  memories mark 23 'Gift for the troll' --pin
  memories mark 23 'Secret door' --witness marta --told-by jordan
  memories mark 23 'Door is shut' --status superseded --episode 2 --turn 40

{JSON_HELP}"))]
pub(crate) struct MarkArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "title")]
    scope: Option<String>,
    /// The exact title
    #[arg(value_name = "TITLE")]
    title: Option<String>,
    /// `active` (confirms or revives), `tentative` or `superseded`
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// 1 to 1000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_own_importance)]
    importance: Option<u16>,
    /// `permanent` or `core`; a lasting memory never becomes ephemeral
    #[arg(long, value_name = "PERSISTENCE")]
    persistence: Option<Persistence>,
    /// No model or agent strikes or replaces it (tag `#pinned`)
    #[arg(long)]
    pin: bool,
    /// Models and agents may strike it again
    #[arg(long, conflicts_with = "pin")]
    unpin: bool,
    #[command(flatten)]
    witnesses: WitnessArgs,
    #[command(flatten)]
    moment: MomentArgs,
    #[command(flatten)]
    correction: CorrectionArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("TITLE", Candidates::Titles)], ..Facts::of(Group::Correct) };

pub fn run(cli: Cli<'_>, args: MarkArgs) -> Result<u8, Failure> {
    let MarkArgs { scope, title, status, importance, persistence, pin, unpin, witnesses, moment, correction } =
        args;
    let line = correction.line;
    correct::run(cli, CorrectionName::Mark, correction, scope, |scope| {
        let marks = Marks { status, importance, persistence, pinned: (pin || unpin).then_some(pin) };
        let target = target(&scope, &title.unwrap_or_default(), line);
        let moment = moment.into_moment()?;
        match witnesses.telling() {
            None => Ok((Correction::Mark(target, marks), moment)),
            Some(telling) if marks == Marks::default() => Ok((Correction::Tell(target, telling), moment)),
            Some(_) => Err(Failure::usage("`--witness` tells a memory, and sets nothing else")
                .hint("give the other flags to a command of their own")),
        }
    })
}
