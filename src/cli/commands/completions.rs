//! `completions`: prints the completion script of a shell.

use clap_complete::Shell;
use serde_json::json;

use crate::cli::completion;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::ui::Ui;

/// Print the script with which a shell completes commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories completions bash \\
      > ~/.local/share/bash-completion/completions/memories
  memories completions zsh > ~/.zfunc/_memories
  memories completions fish > ~/.config/fish/completions/memories.fish
  memories completions bash --json         {version, shell, script}

The shell then asks the program itself: for commands, flags, their values, and
for scopes, places and titles of the memory file. The script stays the same from
one version to the next.")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

pub fn run(ui: &mut Ui, args: &CompletionsArgs) -> Result<u8, Failure> {
    let CompletionsArgs { shell } = args;
    let script = completion::script(&shell.to_string()).expect("every shell has a script");
    ui.answer(&json!({"shell": shell.to_string(), "script": script}), &script)
}
