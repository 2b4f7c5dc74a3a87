//! `init`: a memory file and settings to begin with.

use std::path::Path;

use serde_json::json;

use crate::cli::Cli;
use crate::cli::failure::Failure;
use crate::cli::settings::TEMPLATE;
use crate::store::{Change, write_new};

/// What a new memory file holds: a title, and the format in a comment.
pub const EXAMPLE: &str = include_str!("../../../Memories.md.example");

/// Write a memory file that explains itself, and settings with every key commented
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files that are there already stay as they are. Nothing needs `init`: the first
`record` makes the memory file.

Examples:
  memories init
  memories init --json

With --json: {version, written: [PATH], kept: [PATH]}.")]
pub struct InitArgs {}

pub(in crate::cli) fn run(cli: Cli<'_>, args: InitArgs) -> Result<u8, Failure> {
    let InitArgs {} = args;
    let store = cli.store()?;
    let update = store.update(|text, _| {
        Ok::<_, Failure>(match text {
            None => Change::to(EXAMPLE.to_owned(), true),
            Some(_) => Change::unchanged(false),
        })
    })?;
    let config = cli.settings.config_path.as_path();
    let config_written = write_new(config, TEMPLATE)?;
    let files: [(&Path, bool); 2] = [(store.path(), update.value), (config, config_written)];
    let names = |wanted: bool| {
        let files = files.iter().filter(move |(_, written)| *written == wanted);
        files.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
    };
    if cli.ui.json {
        cli.ui.json_line(&json!({"version": 1, "written": names(true), "kept": names(false)}))?;
        return Ok(0);
    }
    for path in names(true) {
        cli.ui.data(&format!("wrote {path}\n"))?;
    }
    for path in names(false) {
        cli.ui.data(&format!("kept {path}\n"))?;
    }
    Ok(0)
}
