//! The settings of `[chat]`: how memories are woven into conversations and drawn from them. Their names
//! are those that chat programs have for them.

use crate::chat::{extract, inject};
use crate::cli::failure::Failure;
use crate::cli::settings::reader::Reader;

/// How conversations are treated.
#[derive(Debug)]
pub struct Chat {
    /// `false` only where the settings say so: then `inject`, `extract` and `proxy` pass everything through.
    pub use_memory: bool,
    /// How memories are woven in.
    pub inject: inject::Settings,
    /// How they are drawn.
    pub extract: extract::Settings,
}

/// Reads `[chat]`.
pub(super) fn read(reader: &mut Reader) -> Result<Chat, Failure> {
    let mut inject = inject::Settings::default();
    // Whoever calls one of the commands wants memories; `false` is for baselines.
    let use_memory = reader.flag("chat.useMemory")?.unwrap_or(true);
    if let Some(mode) = reader.text("chat.memoryInjectionMode")? {
        inject.style.mode = mode.parse().map_err(|problem: String| wrong("memoryInjectionMode", problem))?;
    }
    inject.most = reader.count("chat.maxMemoryContext")?.unwrap_or(inject.most);
    inject.max_tokens = reader.count("chat.maxMemoryTokens")?.unwrap_or(inject.max_tokens);
    inject.threshold = reader.part("chat.memorySearchThreshold")?.unwrap_or(inject.threshold);
    let mut text = |key: &str, value: &mut String| -> Result<(), Failure> {
        if let Some(said) = reader.text(key)? {
            *value = said;
        }
        Ok(())
    };
    text("chat.memoryContextPrefix", &mut inject.style.prefix)?;
    text("chat.memoryContextSuffix", &mut inject.style.suffix)?;
    text("chat.memoryFormat", &mut inject.style.template)?;
    let mut extract = extract::Settings::default();
    if let Some(mode) = reader.text("chat.memoryExtractionMode")? {
        extract.mode = mode.parse().map_err(|problem: String| wrong("memoryExtractionMode", problem))?;
    }
    if let Some(every) = reader.count("chat.memoryExtractionInterval")? {
        extract.every = every as u64;
    }
    extract.most = reader.count("chat.maxMemoriesPerExtraction")?.unwrap_or(extract.most);
    extract.most_in_conversation =
        reader.count("chat.maxMemoriesPerConversation")?.unwrap_or(extract.most_in_conversation);
    Ok(Chat { use_memory, inject, extract })
}

/// The failure that a wrong word in a setting is.
fn wrong(key: &str, problem: String) -> Failure {
    Failure::user(anyhow::anyhow!("`chat.{key}`: {problem}"))
        .hint("correct the value, or remove the line for the default")
}
