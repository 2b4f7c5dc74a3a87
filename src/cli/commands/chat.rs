//! `chat`: the commands around conversations and chat requests.

use crate::cli::commands::digest::{self, DigestArgs};
use crate::cli::commands::extract::{self, ExtractArgs};
use crate::cli::commands::inject::{self, InjectArgs};
use crate::cli::commands::proxy::{self, ProxyArgs};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;

/// Remember conversations: digest, extract, inject, proxy
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true, arg_required_else_help = false)]
pub(crate) struct ChatArgs {
    #[command(subcommand)]
    command: ChatCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ChatCommand {
    Digest(DigestArgs),
    Extract(ExtractArgs),
    Inject(InjectArgs),
    Proxy(ProxyArgs),
}

impl ChatArgs {
    /// The facts about the command that is named.
    pub(crate) fn facts(&self) -> Facts {
        match self.command {
            ChatCommand::Digest(_) => digest::FACTS,
            ChatCommand::Extract(_) => extract::FACTS,
            ChatCommand::Inject(_) => inject::FACTS,
            ChatCommand::Proxy(_) => proxy::FACTS,
        }
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Talk);

pub fn run(cli: Cli<'_>, args: ChatArgs) -> Result<u8, Failure> {
    match args.command {
        ChatCommand::Digest(args) => digest::run(cli, args),
        ChatCommand::Extract(args) => extract::run(cli, args),
        ChatCommand::Inject(args) => inject::run(cli, args),
        ChatCommand::Proxy(args) => proxy::run(cli, args),
    }
}
