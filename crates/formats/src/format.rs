//! The formats that are read: how each is found, and by whom it is read.

use serde_json::Value;
use strum::{VariantArray, VariantNames};

use crate::found::Found;
use crate::json::Object;
use crate::source::{Content, Source};
use crate::{ai_dungeon, card, charx, claude_code, mem0, notes, novelai, png, server_memory, world_info};
use memories_document::types::hint::Refused;
use memories_document::types::unknown_name;

/// A format of another program that holds memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, VariantNames, VariantArray)]
#[strum(serialize_all = "kebab-case", ascii_case_insensitive)]
#[strum(parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum Format {
    /// The knowledge graph of the MCP server `server-memory`.
    ServerMemory,
    /// The answer of mem0's `get_all`.
    #[strum(to_string = "mem0")]
    Mem0,
    /// A folder with `MEMORY.md`, as Claude Code keeps it.
    ClaudeCode,
    /// An Obsidian vault, or the notes of basic-memory.
    Notes,
    /// SillyTavern's World Info, or a book of a card.
    WorldInfo,
    /// A character card, V1 to V3.
    CharacterCard,
    /// Story cards of AI Dungeon.
    AiDungeon,
    /// A lorebook of NovelAI.
    #[strum(to_string = "novelai")]
    NovelAi,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format of another program", Format::NAMES)
}

impl Format {
    /// Names of all formats.
    pub const NAMES: &'static [&'static str] = <Format as VariantNames>::VARIANTS;

    /// The format of a source, by its content.
    pub fn find(source: &Source) -> Option<Format> {
        <Format as VariantArray>::VARIANTS.iter().copied().find(|format| format.is_format_of(source))
    }

    fn is_format_of(self, source: &Source) -> bool {
        let object =
            |is_one: fn(&Object) -> bool| source.json().and_then(Value::as_object).is_some_and(is_one);
        match self {
            Format::ServerMemory => server_memory::is_one(source),
            Format::Mem0 => source.json().is_some_and(mem0::is_one),
            Format::ClaudeCode => {
                matches!(&source.content, Content::Folder(folder) if claude_code::is_one(folder))
            }
            Format::Notes => matches!(&source.content, Content::Folder(folder) if !folder.files.is_empty()),
            Format::WorldInfo => object(world_info::is_one),
            Format::CharacterCard => {
                matches!(source.content, Content::Png(_) | Content::Zip(_)) || object(card::is_one)
            }
            Format::AiDungeon => source.json().is_some_and(ai_dungeon::is_one),
            Format::NovelAi => object(novelai::is_one),
        }
    }

    /// Reads a source.
    ///
    /// # Errors
    ///
    /// If the source is not in the format.
    pub fn read(self, source: &Source) -> Result<Found, Refused> {
        let mut found = Found::default();
        match (self, &source.content) {
            (Format::CharacterCard, Content::Png(bytes)) => card::read(&mut found, &png::card(bytes)?),
            (Format::CharacterCard, Content::Zip(bytes)) => {
                let value = charx::card(&mut found, bytes)?;
                card::read(&mut found, &value);
            }
            _ if !self.is_format_of(source) => return Err(self.mismatch()),
            (Format::ServerMemory, content) => server_memory::read(&mut found, content),
            (Format::ClaudeCode, Content::Folder(folder)) => claude_code::read(&mut found, folder),
            (Format::Notes, Content::Folder(folder)) => notes::read(&mut found, folder),
            (Format::Mem0, Content::Json(value)) => mem0::read(&mut found, value),
            (Format::WorldInfo, Content::Json(Value::Object(book))) => world_info::read(&mut found, book),
            (Format::CharacterCard, Content::Json(value)) => card::read(&mut found, value),
            (Format::AiDungeon, Content::Json(value)) => ai_dungeon::read(&mut found, value),
            (Format::NovelAi, Content::Json(Value::Object(book))) => novelai::read(&mut found, book),
            _ => return Err(self.mismatch()),
        }
        Ok(found)
    }

    fn mismatch(self) -> Refused {
        let hint = match self {
            Format::ClaudeCode => "give the folder that holds `MEMORY.md`",
            Format::Notes => "give the folder of the notes",
            Format::CharacterCard => "give a card as JSON, PNG or CHARX",
            _ => "give the file as the other program wrote it, or leave `--from` out",
        };
        Refused::fix(format!("it is not in the format {self}"), hint)
    }
}
