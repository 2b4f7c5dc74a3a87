//! The two lists of commands: the overview of those that people use, on one screen, and the list of all.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::builder::StyledStr;

use crate::cli::args::{Arguments, asks_for_all};
use crate::cli::commands::facts_of;
use crate::cli::facts::Facts;

/// The commands that people use, with what each does.
const USUAL: &str = "\
Every turn:
  record          Record a turn: the game's facts decide when a model is asked
  recall          Print what matters at a place, within a budget of tokens
  tried           Ask whether an action has been tried in vain at a place
  add             Add a memory that you worded yourself
  episode         Start the next episode, or show the running one
Look inside:
  query           Search all memories by meaning, offline
  show, list      Print a whole section; list all places and other scopes
  top, goals      Show the most important memories; list what gained points
  map             Draw the map; `map path`, `map near`, `map frontier` answer
  route           Print the best run of the game, or what leads to a goal
  report, serve   Write the world as a page; serve it as the play goes on
  log, stats      Show why each decision was taken; show figures
  diff            Show what was added, removed and changed, place by place
Put right:
  supersede       Replace memories by a better one; the old ones are struck
  invalidate      Strike memories that are proven wrong, with the reason
  mark, link      Set status, importance or protection; link two memories
  rename, forget  Give a place another name; remove a memory from the file
  edit, check     Open a section in your editor; report lines that are misread
  restore         Restore the state before the last write, or an earlier one
Share:
  merge, sync     Merge two files that grew from one; sync with a store
  import, export  Read or write JSON, JSONL, SQLite, Markdown
Set up:
  init            Write a memory file that explains itself, and its settings
  setup           Wire coding agents to the memory: MCP server and hooks

Options: -f, --file PATH; --json; -q, --quiet; -v, --verbose; -V, --version
`memories help COMMAND` shows examples. `memories help all` lists all commands,
for programs and set-up, too, and all options.";

/// Stands for the flags that all commands share.
const OPTIONS: &str = "\n\nOptions:\n{options}";

/// Begins both lists.
const HEAD: &str = "{about}\n\n{usage-heading} {usage}{after-help}";

/// The command line with the overview, or with the list of all commands if the arguments ask for it.
pub(crate) fn command_with_help(arguments: &[OsString]) -> clap::Command {
    match arguments {
        [_, flag, words @ ..] if flag == "--help" && asks_for_all(words) => with_all(),
        _ => with_usual(),
    }
}

/// The command line whose help lists the commands that people use.
pub(crate) fn with_usual() -> clap::Command {
    Arguments::command().help_template(HEAD).after_help(USUAL)
}

/// The command line whose help lists all commands and options.
fn with_all() -> clap::Command {
    let mut built = Arguments::command();
    built.build();
    Arguments::command().help_template(format!("{HEAD}{OPTIONS}")).after_help(all(&built))
}

/// Commands with others under them, which are listed by themselves.
const GROUPS: [&str; 2] = ["map", "chat"];

fn shown_under(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn all(command: &clap::Command) -> String {
    let mut out = String::new();
    let mut last = None;
    for subcommand in shown_under(command) {
        let name = subcommand.get_name();
        if let Some(Facts { group, .. }) = facts_of(name)
            && last.replace(group) != Some(group)
        {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{}:\n", <&str>::from(group)));
        }
        let mut line = |name: &str, about: Option<&StyledStr>| {
            let about = about.map(ToString::to_string).unwrap_or_default();
            out.push_str(&format!("  {name:<12} {about}\n"));
        };
        // `chat` alone does nothing.
        if name != "chat" {
            line(name, subcommand.get_about());
        }
        for inner in shown_under(subcommand).filter(|_| GROUPS.contains(&name)) {
            line(&format!("{name} {}", inner.get_name()), inner.get_about());
        }
    }
    out.push_str("\n`memories help COMMAND` shows examples.");
    out.push_str("\n`memories man` explains environment variables, files and exit codes.");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_of_the_list_has_one_title() {
        let list = with_all().render_help().to_string();
        for (title, first) in [("Every turn", "record"), ("Put right", "supersede"), ("Set up", "init")] {
            assert_eq!(list.matches(&format!("{title}:\n  {first} ")).count(), 1, "{title}");
        }
        for name in ["map path", "chat proxy"] {
            assert!(list.contains(&format!("\n  {name} ")), "{name}");
        }
        let commands = Arguments::command();
        let stated = commands.get_subcommands().map(|command| facts_of(command.get_name()));
        assert!(stated.into_iter().all(|facts| facts.is_some()));
    }

    #[test]
    fn the_overview_is_one_screen_and_names_commands_that_exist() {
        let overview = with_usual().render_help().to_string();
        assert!(overview.lines().count() <= 40, "{overview}");
        assert_eq!(overview.lines().find(|line| line.len() > 80 && !line.starts_with("A memory")), None);
        let commands = Arguments::command();
        let lines = USUAL.lines().filter_map(|line| line.strip_prefix("  "));
        let names = lines.flat_map(|line| line.split("  ").next().unwrap_or_default().split(", "));
        let names: Vec<&str> = names.collect();
        assert!(names.len() <= 32, "{names:?}");
        for name in names {
            assert!(commands.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        let mut built = Arguments::command();
        built.build();
        let list = all(&built);
        assert_eq!(list.lines().find(|line| line.len() > 80), None);
        let mut commands: Vec<&clap::Command> = built.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            let laid_out = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long: Vec<&str> = laid_out.lines().filter(|line| line.chars().count() > 80).collect();
            assert_eq!(long, Vec::<&str>::new(), "{}", command.get_name());
            commands.extend(command.get_subcommands());
        }
    }
}
