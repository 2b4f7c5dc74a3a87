//! The command line as clap reads it, and the overview that groups its commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::cli::commands::{Command, facts_of};
use crate::cli::facts::Facts;
use crate::cli::ui::{Color, Form};
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
    #[arg(short, long, value_name = "PATH", global = true, env = "MEMORIES_FILE", hide_env_values = true)]
    pub file: Option<PathBuf>,
    /// The settings [default: `memories.toml` beside the memory file or above]
    #[arg(long, value_name = "PATH", global = true, env = "MEMORIES_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print details: the files and the model in use, and reasons
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = Color::Auto)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub color: Color,
    /// Print to the terminal at once, without a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// How long to wait for other writers, such as `500ms` or `1m`
    #[arg(long, value_name = "TIME", global = true, default_value = "10s", value_parser = parse_duration)]
    pub lock_timeout: Duration,
}

impl Global {
    /// The form of the output.
    pub(crate) fn form(&self) -> Form {
        let Global { json, quiet, verbose, color, no_pager, .. } = *self;
        Form { json, quiet, verbose, color, no_pager }
    }
}

/// Heading of the flags that all commands share; it follows the command's own flags.
const GLOBAL_OPTIONS: &str = "Global options";

/// Looks for the flags of output in a command line that clap has not parsed, since it is wrong or asks for help: the
/// answer has that form, too.
pub(crate) fn form_of(arguments: &[OsString]) -> Form {
    let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let color = words.iter().enumerate().find_map(|(at, word)| match *word {
        "--color" => words.get(at + 1).copied(),
        word => word.strip_prefix("--color="),
    });
    let color = color.and_then(|color| Color::from_str(color, false).ok()).unwrap_or_default();
    let has = |flag: &str| words.contains(&flag);
    Form { json: has("--json"), quiet: false, verbose: false, color, no_pager: has("--no-pager") }
}

/// The command line with only those commands that are named in `arguments`, without overview.
///
/// clap copies the global flags into each command, which takes a tenth of a start when all are there.
pub(crate) fn command_of(arguments: &[OsString]) -> clap::Command {
    let all = Command::augment_subcommands(clap::Command::new("memories"));
    let is_named = |command: &&clap::Command| arguments.iter().any(|name| name == command.get_name());
    let named = all.get_subcommands().filter(is_named).cloned();
    Global::augment_args(clap::Command::new("memories").version(env!("CARGO_PKG_VERSION"))).subcommands(named)
}

/// Replaces `help` and `version` as the first argument by their flags: `help COMMAND` becomes `COMMAND --help`. clap's
/// own `help` is a command of its own, with a man page for the help of each other command.
pub(crate) fn with_flags_for_words(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let flag = match arguments.get(1).and_then(|word| word.to_str()) {
        Some("help" | "--help" | "-h") => "--help",
        Some("version") => "--version",
        _ => return arguments,
    };
    arguments.remove(1);
    // Behind a command, `--help` asks for the help of that command.
    let at = if flag == "--help" { arguments.len() } else { 1 };
    arguments.insert(at, flag.into());
    arguments
}

/// The command line with the overview of its commands, which only its help shows.
pub(crate) fn command_with_overview() -> clap::Command {
    let mut built = Arguments::command();
    built.build();
    Arguments::command().after_help(overview(&built))
}

fn overview(command: &clap::Command) -> String {
    let mut out = String::new();
    let mut last = None;
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        if let Some(Facts { group, .. }) = facts_of(name)
            && last.replace(group) != Some(group)
        {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{}:\n", <&str>::from(group)));
        }
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("  {name:<12}{about}\n"));
    }
    out.push_str("\n`memories help COMMAND` shows examples.");
    out.push_str("\n`memories man` explains environment variables, files and exit codes.");
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
    fn words_that_ask_for_help_are_flags() {
        let flags = |words: &[&str]| {
            let words = ["memories"].iter().chain(words).map(Into::into).collect();
            with_flags_for_words(words)[1..].join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(flags(&["help"]), "--help");
        assert_eq!(flags(&["help", "recall"]), "recall --help");
        assert_eq!(flags(&["--help", "recall", "--json"]), "recall --json --help");
        assert_eq!(flags(&["version"]), "--version");
        assert_eq!(flags(&["add", "help", "--help"]), "add help --help");
        assert_eq!(flags(&[]), "");
    }

    #[test]
    fn a_wrong_command_line_says_in_which_form_it_is_refused() {
        let form = |words: &[&str]| {
            let form = form_of(&words.iter().map(Into::into).collect::<Vec<_>>());
            (form.json, form.color)
        };
        assert_eq!(form(&["recal", "--json"]), (true, Color::Auto));
        assert_eq!(form(&["--color", "always", "recal"]), (false, Color::Always));
        assert_eq!(form(&["--color=never", "recal"]), (false, Color::Never));
        assert_eq!(form(&["--color"]), (false, Color::Auto));
    }

    #[test]
    fn every_group_of_the_overview_has_one_title() {
        let overview = command_with_overview().render_help().to_string();
        for (title, first) in [("Every turn", "record"), ("Put right", "supersede"), ("Set up", "init")] {
            assert_eq!(overview.matches(&format!("{title}:\n  {first} ")).count(), 1, "{title}");
        }
        let commands = command_with_overview();
        let stated = commands.get_subcommands().map(|command| facts_of(command.get_name()));
        assert!(stated.into_iter().all(|facts| facts.is_some()));
    }

    #[test]
    fn the_overview_fits_a_terminal_of_80_columns() {
        let mut built = Arguments::command();
        built.build();
        let overview = overview(&built);
        assert_eq!(overview.lines().find(|line| line.len() > 80), None);
        let mut commands: Vec<&clap::Command> = built.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            let laid_out = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long: Vec<&str> = laid_out.lines().filter(|line| line.chars().count() > 80).collect();
            assert_eq!(long, Vec::<&str>::new(), "{}", command.get_name());
            commands.extend(command.get_subcommands());
        }
    }
}
