//! Files of other programs: what `import` and the chat commands find in them.

use std::path::Path;

use serde_json::Value;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::transfer::{TransferSource, source_of};
use memories_formats::{Folder, ForeignConversation, Format, Source, conversations};

/// Titles of conversations that an error lists.
const SHOWN: usize = 5;

/// What another program's file or folder holds, and the name of the format.
pub(crate) struct Foreign {
    pub source: TransferSource,
    pub format: &'static str,
}

/// Reads a folder; none if it holds no notes.
pub(crate) fn read_folder(
    path: &Path,
    from: Option<&str>,
    keep_secrets: bool,
) -> Result<Option<Foreign>, Failure> {
    read(&Source::of_folder(&path.display().to_string(), Folder::read(path)?), from, keep_secrets)
}

/// Reads the bytes of a file; none if no other program wrote it.
pub(crate) fn read_bytes(
    name: &str,
    bytes: &[u8],
    from: Option<&str>,
    keep_secrets: bool,
) -> Result<Option<Foreign>, Failure> {
    let source = Source::of_bytes(name, bytes);
    let chats = if from.is_none() { conversations(&source).len() } else { 0 };
    if chats > 0 {
        let failure = Failure::user(format!("`{name}` holds conversations ({chats}), no memories"));
        return Err(
            failure.hint("`memories chat extract --conversation FILE --id TITLE` takes memories from one")
        );
    }
    read(&source, from, keep_secrets)
}

fn read(source: &Source, from: Option<&str>, keep_secrets: bool) -> Result<Option<Foreign>, Failure> {
    let format = match from {
        Some(name) => Some(name.parse::<Format>().map_err(Failure::usage)?),
        None => Format::find(source),
    };
    let Some(format) = format else { return Ok(None) };
    let found = format.read(source).map_err(|error| {
        let failure = Failure::from(error);
        Failure { cause: failure.cause.context(format!("`{}`", source.name)), ..failure }
    })?;
    let name = Format::NAMES[format as usize];
    Ok(Some(Foreign { source: source_of(found, keep_secrets), format: name }))
}

/// A conversation in a file of another program: its id, and its messages as JSON. None if the file is none.
pub(crate) fn conversation(
    cli: &mut Cli<'_>,
    name: &str,
    text: &str,
    wanted: Option<&str>,
) -> Result<Option<(String, String)>, Failure> {
    let all = conversations(&Source::of_bytes(name, text.as_bytes()));
    let is_wanted = |chat: &ForeignConversation| wanted.is_some_and(|id| chat.id == id || chat.title == id);
    let chosen = match all.as_slice() {
        [] => return Ok(None),
        [only] => only,
        several => several.iter().find(|chat| is_wanted(chat)).ok_or_else(|| which(several, wanted))?,
    };
    if chosen.left_out > 0 {
        let count = chosen.left_out;
        cli.ui.detail(&format!(
            "left out: messages ({count}): they have no words, or belong to another branch"
        ));
    }
    let id = match wanted {
        Some(id) if all.len() == 1 => id.to_owned(),
        _ => chosen.id.clone(),
    };
    Ok(Some((id, Value::Array(chosen.messages.clone()).to_string())))
}

/// Several conversations, and none of that name.
fn which(all: &[ForeignConversation], wanted: Option<&str>) -> Failure {
    let problem = match wanted {
        Some(id) => format!("none of the {} conversations has the id or title `{id}`", all.len()),
        None => format!("the file holds {} conversations", all.len()),
    };
    let shown: Vec<String> =
        all.iter().take(SHOWN).map(|chat| format!("`{}` ({})", chat.id, chat.title)).collect();
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Failure::user(problem).hint(format!("name one with `--id`: {}{more}", shown.join(", ")))
}
