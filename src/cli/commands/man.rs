//! `man`: prints or writes the manual pages, one per command.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use serde_json::json;

use crate::cli::commands::common::show_written;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::settings::VARIABLES;
use crate::cli::ui::Ui;
use memories_store::{Existing, create_folder, write_file};

/// Print the manual's main page, or write the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories man | man -l -
  memories man ~/.local/share/man/man1
  memories man DIR --json            {version, written: [PATH], kept: [PATH]}
  memories man --json                {version, page}")]
pub(crate) struct ManArgs {
    /// Write a page for each command to this folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Replace existing files that differ
    #[arg(long, requires = "folder")]
    force: bool,
}

/// The files that the program reads and writes.
const FILES: [(&str, &str); 5] = [
    ("Memories.md", "The memory file, here or above, up to the git root."),
    (
        ".memories/",
        "Beside it: former states, the running episode, the journal of turns, ephemeral memories, the index of the search. \
         It may be deleted while no command runs.",
    ),
    ("memories.toml", "The settings, beside the memory file or above."),
    ("~/.config/memories/memories.toml", "Your own settings, which count where the project's say nothing."),
    ("~/.config/memories/trusted", "The settings that `memories trust` allows more."),
];

/// The exit codes of all commands.
const EXIT_CODES: [(&str, &str); 6] = [
    ("0", "Done; yes; nothing to do."),
    ("1", "No: only from the questions tried, map path, route, check and diff."),
    ("2", "The command line is wrong."),
    (
        "3",
        "Try again: another writer holds the lock, a model cannot be reached, or the command was interrupted.",
    ),
    ("4", "Refused or failed; you can mend it."),
    ("70", "A fault of the program."),
];

struct Page {
    file_name: String,
    text: String,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

pub fn run(ui: &mut Ui, args: &ManArgs, program: clap::Command) -> Result<u8, Failure> {
    let ManArgs { folder, force } = args;
    let pages = pages(program)?;
    match folder {
        Some(folder) => write_pages(ui, folder, &pages, *force),
        None => ui.answer(&json!({"page": pages[0].text}), &pages[0].text),
    }
}

/// Writes all pages, or none if one of them would overwrite a different file.
fn write_pages(ui: &mut Ui, folder: &Path, pages: &[Page], force: bool) -> Result<u8, Failure> {
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for page in pages {
        let path = folder.join(&page.file_name);
        match std::fs::read(&path) {
            Ok(there) if there == page.text.as_bytes() => kept.push(path.display().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => written.push((path, page)),
            _ if force => written.push((path, page)),
            _ => {
                let failure = Failure::user(format!("`{}` exists and is not this page", path.display()));
                return Err(failure.hint("`--force` replaces it, for example a page of an older version"));
            }
        }
    }
    create_folder(folder)?;
    for (path, page) in &written {
        write_file(path, page.text.as_bytes(), Existing::Replace)?;
    }
    let written: Vec<String> = written.iter().map(|(path, _)| path.display().to_string()).collect();
    show_written(ui, &written, &kept)
}

/// The pages of the program and of each of its commands, the program's first.
fn pages(mut program: clap::Command) -> io::Result<Vec<Page>> {
    program.build();
    let mut pages = Vec::new();
    collect(&program, &mut pages)?;
    pages[0].text.push_str(&about_all_commands());
    Ok(pages)
}

/// Sections that hold for all commands.
fn about_all_commands() -> String {
    let sections: [(&str, &[(&str, &str)]); 3] =
        [("ENVIRONMENT", &VARIABLES), ("FILES", &FILES), ("EXIT STATUS", &EXIT_CODES)];
    let mut out = String::new();
    for (title, items) in sections {
        let _ = writeln!(out, ".SH {title}");
        for (name, text) in items {
            let _ = writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(name), escaped(text));
        }
    }
    out
}

fn collect(command: &clap::Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let examples = command.get_after_help().map(|text| examples(&text.to_string())).unwrap_or_default();
    // The text is laid out by hand; the generator would join its lines.
    let man = clap_mangen::Man::new(command.clone().after_help(Resettable::Reset));
    let mut page = Vec::new();
    man.render(&mut page)?;
    let text = format!("{}{examples}", String::from_utf8_lossy(&page));
    pages.push(Page { file_name: man.get_filename(), text });
    command.get_subcommands().filter(|inner| !inner.is_hide_set()).try_for_each(|inner| collect(inner, pages))
}

/// A section of the page whose lines are printed unchanged.
fn examples(text: &str) -> String {
    let mut out = String::from(".SH NOTES\n.nf\n");
    for line in text.lines() {
        let _ = writeln!(out, "{}", escaped(line));
    }
    out.push_str(".fi\n");
    out
}

/// A line as roff prints it unchanged.
fn escaped(line: &str) -> String {
    // A dot or an apostrophe at the start of a line would be a request.
    let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    format!("{guard}{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laid_out_text_stays_as_it_is() {
        assert_eq!(
            examples(".a 'b'\n  c\\d --e"),
            ".SH NOTES\n.nf\n\\&.a \\(aqb\\(aq\n  c\\ed \\-\\-e\n.fi\n"
        );
    }
}
