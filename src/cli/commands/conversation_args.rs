//! Input of conversations: a file or stdin, and the conversation's id.

use std::path::Path;

#[cfg(feature = "formats")]
use crate::cli::commands::foreign;
use crate::cli::context::{Cli, utf8};
use crate::cli::failure::Failure;
use memories_chat::Conversation;

/// Reads a conversation; `-` is stdin. Its id is the given one, else the file's name without extension.
pub(crate) fn read_conversation(
    cli: &mut Cli<'_>,
    file: &Path,
    id: Option<String>,
) -> Result<Conversation, Failure> {
    let is_stdin = file == Path::new("-");
    let given = given_id(id);
    let id = match given.clone() {
        Some(id) => id,
        None if is_stdin => {
            return Err(Failure::usage("a conversation on stdin has no name").hint("give it one with `--id`"));
        }
        None => file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    };
    let name = if is_stdin { "stdin".to_owned() } else { format!("`{}`", file.display()) };
    let bytes = cli.read_file(file, "give a file of messages, such as `--conversation chat-7.jsonl`")?;
    let text = utf8(&name, bytes, SHAPES)?;
    #[cfg(feature = "formats")]
    let (id, text) = foreign::conversation(cli, &id, &text, given.as_deref())?.unwrap_or((id, text));
    Conversation::read(&id, &text).map_err(|problem| no_conversation(&name, problem))
}

/// The given id of a conversation, unless it is blank.
pub(crate) fn given_id(id: Option<String>) -> Option<String> {
    id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Hint that shows the accepted forms of a conversation.
const SHAPES: &str = "send one message a line, such as {\"role\": \"user\", \"content\": \"Hello\"}, a JSON array of \
                      messages, or a request or response of a chat server";

/// The failure for a text that is not a conversation.
pub(crate) fn no_conversation(name: &str, problem: String) -> Failure {
    Failure::caused(format!("{name} holds no conversation"), anyhow::Error::msg(problem)).hint(SHAPES)
}
