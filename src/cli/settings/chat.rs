//! The settings of `[chat]`: insertion of memories into chat requests, and extraction from replies. The
//! keys have the names that chat programs use.

use crate::cli::failure::Failure;
use crate::cli::settings::file::{SettingsFiles, fraction, size};
use memories_chat::{extract, inject};
use memories_document::types::fields::{count, flag, named, text};
use memories_record::turn::importance_scale;

#[derive(Debug)]
pub(crate) struct ChatSettings {
    /// If false, `inject`, `extract` and `proxy` pass everything through. The default is true.
    pub use_memory: bool,
    pub inject: inject::InjectSettings,
    pub extract: extract::ExtractSettings,
}

/// Reads `[chat]`.
pub(super) fn read(file: &mut SettingsFiles) -> Result<ChatSettings, Failure> {
    let mut inject = inject::InjectSettings::default();
    // A call of one of these commands asks for memories; `false` is for baselines in comparisons.
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
    file.set("record.importance_scale", importance_scale, &mut extract.importance_scale)?;
    Ok(ChatSettings { use_memory, inject, extract })
}
