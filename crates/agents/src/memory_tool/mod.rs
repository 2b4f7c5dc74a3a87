//! The memory tool of Anthropic's API over the memory file.
//!
//! A command of the tool enters; the text of its result, or of its error, leaves as an [`Answer`]. The tool's files
//! are entries with the tag `#file:PATH`, in a section for each folder. Formats and texts are those of the file-system
//! implementation in Anthropic's SDK for Python.
//!
//! * `command` reads a command from JSON, `path` a path; `content` is a file as an entry, `tree` all files and folders.
//! * `view` shows, `edits` changes them in one transaction each; `lines` has the texts of `str_replace` and `insert`.
//!
//! A model is on the other side: it changes only what a model, an agent or this tool wrote, and its secrets are masked.

mod command;
mod content;
mod edits;
mod error;
mod folders;
mod lines;
mod path;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use crate::memory_tool::command::Command;
use memories_document::types::model_text::ModelText;
use memories_notebook::{Notebook, NotebookError, Written};

/// The result of a command, for the model.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Answer {
    /// The text of the tool's result.
    pub text: ModelText,
    /// True if the command was refused; the text says why.
    pub is_error: bool,
    /// Warnings, such as a backup that could not be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Answer {
    fn refused(text: &str) -> Answer {
        Answer { text: ModelText::of(text), is_error: true, warnings: Vec::new() }
    }
}

/// Reads one command from JSON and carries it out. What the model can mend is an answer with `is_error`.
///
/// # Errors
///
/// When the files cannot be read or written.
pub fn answer(notebook: &Notebook, json: &str) -> Result<Answer, NotebookError> {
    let done = Command::parse(json).and_then(|command| carry_out(notebook, &command));
    match done {
        Err(NotebookError::Refused(refused)) => Ok(Answer::refused(&refused.problem)),
        done => done,
    }
}

fn carry_out(notebook: &Notebook, command: &Command) -> Result<Answer, NotebookError> {
    if let Command::View { path, range } = command {
        let text = view::view(notebook, path, *range)?;
        return Ok(Answer { text: ModelText::of(&text), is_error: false, warnings: Vec::new() });
    }
    let Written { value, warnings, written: _ } =
        notebook.edit("memory-tool", |draft| edits::change(draft, command))?;
    Ok(Answer { text: ModelText::of(&value), is_error: false, warnings })
}
