//! The settings of `[chat]`: insertion of memories into chat requests, and extraction from replies. The
//! keys have the names that chat programs use.

use crate::cli::failure::Failure;
use crate::cli::settings::file::{SettingsFiles, fraction, size};
use memories_chat::ChatSettings;
use memories_document::types::fields::{count, flag, named, text};
use memories_record::turn::importance_scale;

/// Reads `[chat]`. A call of one of the chat commands asks for memories, so that `useMemory` is true unless a file
/// says `false`, for baselines in comparisons.
pub(super) fn read(file: &mut SettingsFiles) -> Result<ChatSettings, Failure> {
    let mut settings = ChatSettings::default();
    file.set("chat.useMemory", flag, &mut settings.use_memory)?;
    file.set("chat.memoryInjectionMode", named, &mut settings.style.mode)?;
    file.set("chat.maxMemoryContext", size, &mut settings.max_injected)?;
    file.set("chat.maxMemoryTokens", size, &mut settings.max_tokens)?;
    file.set("chat.memorySearchThreshold", fraction, &mut settings.threshold)?;
    file.set("chat.memoryContextPrefix", text, &mut settings.style.prefix)?;
    file.set("chat.memoryContextSuffix", text, &mut settings.style.suffix)?;
    file.set("chat.memoryFormat", text, &mut settings.style.template)?;
    file.set("chat.memoryExtractionMode", named, &mut settings.mode)?;
    file.set("chat.memoryExtractionInterval", count, &mut settings.every)?;
    file.set("chat.maxMemoriesPerExtraction", size, &mut settings.max_extracted)?;
    file.set("chat.maxMemoriesPerConversation", size, &mut settings.max_per_conversation)?;
    file.set("record.importance_scale", importance_scale, &mut settings.importance_scale)?;
    Ok(settings)
}
