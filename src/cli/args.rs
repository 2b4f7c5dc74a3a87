//! The command line as clap reads it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::commands::Command;
use crate::cli::ui::{Color, Form};
use crate::cli::values::parse_duration;

/// A memory for agents that a person can read: one Markdown file, a section for each place
#[derive(Debug, Parser)]
#[command(name = "memories", version, disable_help_subcommand = true, propagate_version = false)]
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
    #[command(flatten)]
    pub form: Form,
    /// How long to wait for other writers, such as `500ms` or `1m`
    #[arg(long, value_name = "TIME", global = true, default_value = "10s", value_parser = parse_duration)]
    pub lock_timeout: Duration,
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

/// True if the words behind `help` ask for the list of all commands.
pub(crate) fn asks_for_all(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| word == "all")
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
    // Behind a command, `--help` asks for the help of that command. `all` is none.
    let at = if flag == "--help" && !asks_for_all(&arguments[1..]) { arguments.len() } else { 1 };
    arguments.insert(at, flag.into());
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

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
        assert_eq!(flags(&["help", "all"]), "--help all");
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
}
