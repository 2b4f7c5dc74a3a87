//! The command line as clap reads it, and the overview that groups its commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::cli::commands::{
    add, check, completions, consolidate, diff, digest, episode, export, extract, fmt, forget, import, init,
    inject, invalidate, list, log, man, mark, mcp, proxy, query, recall, record, rename, restore, retry,
    seed, show, stats, summarize, supersede, top, tried,
};
use crate::cli::ui::Color;

/// A memory for agents that a person can read: one Markdown file, a section for each place
#[derive(Debug, Parser)]
#[command(
    name = "memories",
    version,
    help_template = "{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}",
    disable_help_subcommand = true,
    propagate_version = false
)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub struct Global {
    /// The memory file [default: `Memories.md` here or above, up to the git root]
    #[arg(short, long, value_name = "PATH", global = true, env = "MEMORIES_FILE", hide_env = true)]
    pub file: Option<PathBuf>,
    /// The settings [default: `memories.toml` beside the memory file or above]
    #[arg(long, value_name = "PATH", global = true, env = "MEMORIES_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but the answer, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say why
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

/// The commands. The arguments of each are only built when it is the one that is called.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    Record(record::RecordArgs),
    Recall(recall::RecallArgs),
    Query(query::QueryArgs),
    Top(top::TopArgs),
    Summarize(summarize::SummarizeArgs),
    Add(add::AddArgs),
    Tried(tried::TriedArgs),
    Check(check::CheckArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Diff(diff::DiffArgs),
    Stats(stats::StatsArgs),
    Log(log::LogArgs),
    Supersede(supersede::SupersedeArgs),
    Invalidate(invalidate::InvalidateArgs),
    Mark(mark::MarkArgs),
    Forget(forget::ForgetArgs),
    Rename(rename::RenameArgs),
    Consolidate(consolidate::ConsolidateArgs),
    Episode(episode::EpisodeArgs),
    Fmt(fmt::FmtArgs),
    Restore(restore::RestoreArgs),
    Retry(retry::RetryArgs),
    Seed(seed::SeedArgs),
    Digest(digest::DigestArgs),
    Inject(inject::InjectArgs),
    Extract(extract::ExtractArgs),
    Proxy(proxy::ProxyArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Mcp(mcp::McpArgs),
    Init(init::InitArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// What stands above the flags of every command, below a command's own.
const GLOBAL_OPTIONS: &str = "Global options";

/// Commands in the groups of the overview; the first is the daily work.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Every turn", &["record", "recall", "add", "tried", "check"]),
    ("Look inside", &["query", "top", "summarize", "list", "show", "stats", "log", "diff"]),
    (
        "Put right",
        &["supersede", "invalidate", "mark", "forget", "rename", "consolidate", "fmt", "restore", "retry"],
    ),
    ("Characters", &["seed"]),
    ("Talk", &["digest", "inject", "extract", "proxy"]),
    ("Exchange", &["import", "export"]),
    ("Set up", &["init", "mcp", "episode", "completions", "man"]),
];

/// A time span as people write it: `10s`, `500ms`, `1m`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let spelled =
        if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() };
    let duration: Result<jiff::SignedDuration, _> = spelled.parse();
    let duration = duration.ok().and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| "write a time such as `10s`, `500ms` or `1m`".to_owned())
}

/// A whole number from 0 up.
pub fn parse_count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 up"))
}

/// A whole number.
pub fn parse_integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

/// An importance as a person gives it; it is brought into its bounds later.
pub fn parse_importance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| !number.is_nan());
    number.ok_or_else(|| format!("`{text}` is not a number"))
}

/// The command with no more subcommands than the arguments name.
pub fn command_of(arguments: &[OsString]) -> clap::Command {
    let all = Command::augment_subcommands(clap::Command::new("memories"));
    let named =
        all.get_subcommands().filter(|command| arguments.iter().any(|name| name == command.get_name()));
    Global::augment_args(clap::Command::new("memories")).subcommands(named.cloned())
}

/// The command with the overview of its commands; building it is only worth it when it is shown.
pub fn command_with_overview() -> clap::Command {
    let mut built = Arguments::command();
    built.build();
    Arguments::command().after_help(overview(&built))
}

fn overview(command: &clap::Command) -> String {
    let about = |name: &str| {
        let subcommand = command.find_subcommand(name).and_then(clap::Command::get_about);
        subcommand.map(ToString::to_string).unwrap_or_default()
    };
    let mut out = String::new();
    for (title, names) in GROUPS {
        let gap = if out.is_empty() { "" } else { "\n" };
        out.push_str(&format!("{gap}{title}:\n"));
        for name in names {
            out.push_str(&format!("  {name:<12}{}\n", about(name)));
        }
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
    fn the_overview_names_every_command_once() {
        let command = Arguments::command();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(all, grouped);
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("3"), Ok(Duration::from_secs(3)));
        assert!(parse_duration("-3s").is_err());
        assert!(parse_duration("soon").is_err());
    }
}
