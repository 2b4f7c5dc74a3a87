//! The settings of `[chat]`: how memories are woven into conversations and drawn from them. Their names
//! are those that chat programs have for them.

use crate::chat::{extract, inject};
use crate::cli::failure::Failure;
use crate::cli::settings::file::{SettingsFile, fraction, size};
use crate::types::fields::{count, flag, named, text};

/// How conversations are treated.
#[derive(Debug)]
pub(crate) struct Chat {
    /// `false` only where the settings say so: then `inject`, `extract` and `proxy` pass everything through.
    pub use_memory: bool,
    /// How memories are woven in.
    pub inject: inject::InjectSettings,
    /// How they are drawn.
    pub extract: extract::ExtractSettings,
}

/// Reads `[chat]`.
pub(super) fn read(file: &mut SettingsFile) -> Result<Chat, Failure> {
    let mut inject = inject::InjectSettings::default();
    // Whoever calls one of the commands wants memories; `false` is for baselines.
    let use_memory = file.read("chat.useMemory", flag)?.unwrap_or(true);
    file.set("chat.memoryInjectionMode", named, &mut inject.style.mode)?;
    file.set("chat.maxMemoryContext", size, &mut inject.max_memories)?;
    file.set("chat.maxMemoryTokens", size, &mut inject.max_tokens)?;
    file.set("chat.memorySearchThreshold", fraction, &mut inject.threshold)?;
    file.set("chat.memoryContextPrefix", text, &mut inject.style.prefix)?;
    file.set("chat.memoryContextSuffix", text, &mut inject.style.suffix)?;
    file.set("chat.memoryFormat", text, &mut inject.style.template)?;
    let mut extract = extract::ExtractSettings::default();
    file.set("chat.memoryExtractionMode", named, &mut extract.mode)?;
    file.set("chat.memoryExtractionInterval", count, &mut extract.every)?;
    file.set("chat.maxMemoriesPerExtraction", size, &mut extract.max_memories)?;
    file.set("chat.maxMemoriesPerConversation", size, &mut extract.max_per_conversation)?;
    Ok(Chat { use_memory, inject, extract })
}
