//! The flags that name characters: the one that asks, and those who know what is written.

use crate::cli::as_of::AsOfArgs;
use crate::cli::context::Cli;
use memories_document::types::{Viewer, character_id};
use memories_notebook::Telling;

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ViewerArgs {
    /// Only what this character knows: its own section, what it witnessed, and what has no witnesses
    #[arg(long = "as", value_name = "ID", value_parser = character_id)]
    viewer: Option<String>,
}

impl ViewerArgs {
    /// Lets the memory file be read for the character; to be called before it is read.
    pub(crate) fn read_for(self, cli: &mut Cli<'_>) {
        cli.viewer = Viewer::of(self.viewer.as_deref());
    }
}

/// The flags of a question: the moment that it is about, and the character that asks.
#[derive(Debug, clap::Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub as_of: AsOfArgs,
    #[command(flatten)]
    viewer: ViewerArgs,
}

impl ViewArgs {
    /// Lets the memory file be read for the character; to be called before it is read.
    pub(crate) fn read_for(self, cli: &mut Cli<'_>) {
        self.viewer.read_for(cli);
    }
}

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WitnessArgs {
    /// A character who knows it, and nobody else (tag `#witness:ID`); repeatable, or with commas
    #[arg(long = "witness", value_name = "ID", value_delimiter = ',', value_parser = character_id)]
    witnesses: Vec<String>,
    /// A character who told it to one of them (tag `#told-by:ID`); repeatable, or with commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = character_id, requires = "witnesses")]
    told_by: Vec<String>,
}

impl WitnessArgs {
    /// Who is told, and by whom; `None` where nobody is.
    pub(crate) fn telling(self) -> Option<Telling> {
        let WitnessArgs { witnesses: to, told_by: by } = self;
        (!to.is_empty()).then_some(Telling { to, by })
    }

    /// Adds the tags to those of a memory.
    pub(crate) fn tag(self, tags: &mut Vec<String>) {
        tags.extend(self.telling().iter().flat_map(Telling::tags));
    }
}
