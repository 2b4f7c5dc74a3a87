//! `memory-tool`: Anthropic's memory tool over the memory file.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::json;

use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::{Cli, SEND_UTF8, utf8};
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_agents::memory_tool::{Answer, answer};
use memories_document::types::hint::Remedy;
use memories_document::types::json::without_mark;
use memories_notebook::Notebook;

/// Longest command, in bytes: a file of 1 MiB of which each byte is escaped, twice.
const MAX_COMMAND: u64 = 16 << 20;

/// Serve Anthropic's memory tool: its commands as JSON on stdin
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
The tool's files are sections and entries of the memory file:
/memories/plans/trip.md is `trip.md` under `## Topic memories-plans`. What a
person wrote or edited can be read, and not changed. /memories/Memories.md is
the whole memory file, to be read.

Examples:
  echo '{\"command\": \"view\", \"path\": \"/memories\"}' | memories memory-tool
  echo '{\"command\": \"create\", \"path\": \"/memories/trip.md\",
         \"file_text\": \"Rome in May.\"}' | memories memory-tool
  memories memory-tool --lines     for a program: a command a line

Exit code: 0 · 4 the command was refused; stdout has the text for the model.

With --json, and with --lines: {version, text, is_error, warnings}.",
    arg_required_else_help = false
)]
pub(crate) struct MemoryToolArgs {
    /// Read a command from each line, and answer each with a line of JSON
    #[arg(long)]
    lines: bool,
    #[command(flatten)]
    writer: WriterArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

pub fn run(mut cli: Cli<'_>, args: MemoryToolArgs) -> Result<u8, Failure> {
    let MemoryToolArgs { lines, writer } = args;
    writer.override_settings(&mut cli);
    let notebook = cli.notebook()?;
    if cli.ui.stdin_is_terminal() {
        let hint = "send a command, such as `{\"command\": \"view\", \"path\": \"/memories\"}`";
        return Err(Failure::usage("no input on stdin").hint(hint));
    }
    if lines {
        return answer_lines(&mut cli, &notebook);
    }
    let json =
        cli.read_input("a command as JSON, such as `{\"command\": \"view\", \"path\": \"/memories\"}`")?;
    let answer = answer(&notebook, &json)?;
    if !cli.ui.json {
        cli.ui.warnings(&answer.warnings);
    }
    cli.ui.answer(&answer, &format!("{}\n", answer.text))?;
    Ok(if answer.is_error { Remedy::Fix.exit_code() } else { 0 })
}

/// Answers each line until there is none any more. A line that is not UTF-8, or whose command fails for another reason than the model's is
/// answered by the error.
fn answer_lines(cli: &mut Cli<'_>, notebook: &Notebook) -> Result<u8, Failure> {
    let mut input = BufReader::new(cli.ui.take_stdin());
    loop {
        let mut line = Vec::new();
        input.by_ref().take(MAX_COMMAND + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(0);
        }
        if line.len() as u64 > MAX_COMMAND {
            let problem = format!("a line has more than {} MiB", MAX_COMMAND >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem).into());
        }
        if without_mark(&line).trim_ascii().is_empty() {
            continue;
        }
        match answer_line(notebook, line) {
            Ok(answer) => cli.ui.json_answer(&answer)?,
            Err(failure) => cli.ui.json_answer(&json!({
                "error": failure.message(),
                "hint": failure.hints.first(),
                "code": failure.exit_code(),
            }))?,
        };
        cli.ui.flush()?;
    }
}

fn answer_line(notebook: &Notebook, line: Vec<u8>) -> Result<Answer, Failure> {
    Ok(answer(notebook, &utf8("the line", line, SEND_UTF8)?)?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use memories_notebook::Clock;
    use memories_store::Store;

    #[test]
    fn a_line_that_is_not_utf8_is_an_error_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Memories.md");
        let store = Store::open(path.clone(), Duration::from_secs(5)).unwrap();
        let notebook = Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z"));
        let line = b"{\"command\":\"create\",\"path\":\"/memories/x\",\"file_text\":\"a\xff\xfeb\"}\n";
        let failure = answer_line(&notebook, line.to_vec()).unwrap_err();
        assert_eq!(failure.message(), "the line is not UTF-8: byte 56");
        assert!(!path.exists());
    }
}
