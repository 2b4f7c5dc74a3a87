//! `completions`: prints the completion script of a shell.

use clap_complete::Shell;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::ui::Ui;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories completions bash \\
      > ~/.local/share/bash-completion/completions/memories
  memories completions zsh > ~/.zfunc/_memories
  memories completions fish > ~/.config/fish/completions/memories.fish
  memories completions bash --json         {version, shell, script}")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(ui: &mut Ui, args: &CompletionsArgs, mut program: clap::Command) -> Result<u8, Failure> {
    let CompletionsArgs { shell } = args;
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut program, "memories", &mut script);
    let script = String::from_utf8_lossy(&script);
    ui.answer(&json!({"shell": shell.to_string(), "script": script}), &script)
}
