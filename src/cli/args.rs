//! The command line as clap reads it, and the overview that groups its commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::cli::commands::Command;
use crate::cli::ui::Color;
use crate::cli::values::parse_duration;

/// A memory for agents that a person can read: one Markdown file, a section for each place
#[derive(Debug, Parser)]
#[command(
    name = "memories",
    version,
    help_template = "{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}",
    disable_help_subcommand = true,
    propagate_version = false
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub(crate) struct Global {
    /// The memory file [default: `Memories.md` here or above, up to the git root]
    #[arg(short, long, value_name = "PATH", global = true, env = "MEMORIES_FILE", hide_env = true)]
    pub file: Option<PathBuf>,
    /// The settings [default: `memories.toml` beside the memory file or above]
    #[arg(long, value_name = "PATH", global = true, env = "MEMORIES_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print details, such as reasons
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = Color::Auto)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub color: Color,
    /// How long to wait for other writers, such as `500ms` or `1m`
    #[arg(long, value_name = "TIME", global = true, default_value = "10s", value_parser = parse_duration)]
    pub lock_timeout: Duration,
}

/// Heading of the flags that all commands share; it follows the command's own flags.
const GLOBAL_OPTIONS: &str = "Global options";

/// Groups of the overview, in the order of the commands: title and first command of each.
const GROUPS: [(&str, &str); 7] = [
    ("Every turn", "record"),
    ("Look inside", "query"),
    ("Put right", "supersede"),
    ("Characters", "seed"),
    ("Talk", "digest"),
    ("Exchange", "import"),
    ("Set up", "init"),
];

/// The command line with only those commands that are named in `arguments`, without overview.
///
/// clap copies the global flags into each command, which takes a tenth of a start when all 34 are there.
pub(crate) fn command_of(arguments: &[OsString]) -> clap::Command {
    let all = Command::augment_subcommands(clap::Command::new("memories"));
    let is_named = |command: &&clap::Command| arguments.iter().any(|name| name == command.get_name());
    let named = all.get_subcommands().filter(is_named).cloned();
    Global::augment_args(clap::Command::new("memories").version(env!("CARGO_PKG_VERSION"))).subcommands(named)
}

/// The command line with the overview of its commands, which only its help shows.
pub(crate) fn command_with_overview() -> clap::Command {
    let mut built = Arguments::command();
    built.build();
    Arguments::command().after_help(overview(&built))
}

fn overview(command: &clap::Command) -> String {
    let mut out = String::new();
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        if let Some((title, _)) = GROUPS.iter().find(|(_, first)| *first == name) {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{title}:\n"));
        }
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("  {name:<12}{about}\n"));
    }
    out.push_str("\n`memories COMMAND --help` shows examples.");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_group_of_the_overview_has_its_title() {
        let overview = command_with_overview().render_help().to_string();
        for (title, first) in GROUPS {
            assert!(overview.contains(&format!("{title}:\n  {first} ")), "{title}");
        }
    }
}
