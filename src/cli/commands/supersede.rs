//! `supersede`: replaces memories by a better one, in one write.

use crate::cli::commands::correct::{self, CorrectionArgs, CorrectionName, JSON_HELP, targets};
use crate::cli::commands::memory_args::MemoryArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_document::types::Moment;
use memories_notebook::correct::Correction;

/// Replace memories by a better one; the old ones are struck
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
The new title may be the old one: that is a revision.

Examples:
  memories supersede 23 'Troll accepts lunch gift' --category DANGER \\
      --title 'Troll attacks after gifts' --text 'Lunch only delays it.'
  memories supersede 23 'Case may score' --title 'Case may score' \\
      --text 'It does.'

{JSON_HELP}"))]
pub(crate) struct SupersedeArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a known place
    #[arg(value_name = "SCOPE", requires = "titles")]
    scope: Option<String>,
    /// Exact titles of the memories that it replaces
    #[arg(value_name = "TITLE", requires = "text")]
    titles: Vec<String>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    correction: CorrectionArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    synonyms: &["update", "replace", "change"],
    completes: &[("TITLE", Candidates::Titles)],
    ..Facts::of(Group::Correct)
};

pub fn run(cli: Cli<'_>, args: SupersedeArgs) -> Result<u8, Failure> {
    let SupersedeArgs { scope, titles, memory, correction } = args;
    let line = correction.line;
    correct::run(cli, CorrectionName::Supersede, correction, scope, |scope| {
        let memory = memory.into_memory()?;
        let turn = memory.provenance.turns.map(|turns| turns.last);
        let moment = Moment { episode: memory.provenance.episode, turn, ..Moment::default() };
        Ok((Correction::Supersede(targets(&scope, &titles, line), Box::new(memory)), moment))
    })
}
