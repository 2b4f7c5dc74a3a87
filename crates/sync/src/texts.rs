//! The texts of both sides: read, merged, and refused where they look damaged.

use crate::error::SyncError;
use crate::options::Options;
use crate::remote::Remote;
use memories_document::Document;
use memories_document::conflict::conflicts;
use memories_document::merge::merge_keeping_both;
use memories_document::types::{CONTESTED_TAG, Moment};
use memories_notebook::Notebook;
use memories_notebook::confirm::settle;
use memories_notebook::files::Files;

/// A text below this size in bytes may shrink as it likes.
const SMALL: usize = 1024;

/// The merged text, unless a side lost more than half of its bytes, which looks like damage.
pub(super) fn merged(
    notebook: &Notebook,
    remote: &dyn Remote,
    [base, ours, theirs]: [&str; 3],
    options: Options,
) -> Result<String, SyncError> {
    let file = notebook.store().path().display().to_string();
    let clash = || SyncError::Clash { url: remote.to_string(), file: file.clone() };
    let merged = merge_keeping_both(base, ours, theirs).ok_or_else(clash)?.text;
    let merged = settled(notebook, merged)?;
    for (side, text) in [(format!("`{file}`"), ours), (format!("`{remote}`"), theirs)] {
        if !options.allow_removals && text.len() > SMALL && merged.len() < text.len() / 2 {
            return Err(SyncError::Shrinks { side, removed: text.len() - merged.len(), all: text.len() });
        }
    }
    Ok(merged)
}

/// The text after contests that now have enough writers struck what they contest.
fn settled(notebook: &Notebook, text: String) -> Result<String, SyncError> {
    if !text.contains(CONTESTED_TAG) {
        return Ok(text);
    }
    let mut files = Files::new(Document::parse(text), Document::parse(String::new()));
    let at = Moment { episode: Some(notebook.state().episode), ..Moment::default() };
    settle(&mut files, &at)?;
    Ok(files.lasting.into_text()?)
}

/// The text of the memory file; empty where there is none.
pub(super) fn local_text(notebook: &Notebook) -> Result<String, SyncError> {
    Ok(notebook.read()?.lasting.into_text()?)
}

/// The text of a remote copy.
pub(super) fn text_of(remote: &dyn Remote, bytes: Vec<u8>) -> Result<String, SyncError> {
    let text = String::from_utf8(bytes).map_err(|error| SyncError::NotUtf8 {
        url: remote.to_string(),
        byte: error.utf8_error().valid_up_to() + 1,
    })?;
    match conflicts(&text) {
        Some(found) => Err(SyncError::Conflict { url: remote.to_string(), line: found.lines[0] }),
        None => Ok(text),
    }
}
