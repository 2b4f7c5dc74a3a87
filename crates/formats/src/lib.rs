//! The formats of other programs: what people already have comes in, and what other programs read goes out.
//!
//! A file or a folder enters as a [`Source`], and [`Found`] leaves: notes as plain values, each with its subject, and
//! what was left out. Writers take the sections of a memory file and the text that is there, and give the new text. It
//! always holds that
//!
//! * nothing is lost in silence: what no note is made of is counted, with the reason;
//! * no input makes a reader fail in another way than by an error; size, depth and unpacked size have limits;
//! * no link of a folder is followed, and nothing outside of it is read;
//! * a writer keeps every byte that it did not write itself.
//!
//! # Where to begin
//!
//! * [`Source`] recognizes the kind of a file; [`Format`] names the formats, finds the one of a source and reads it. Each
//!   format has a file of its own.
//! * [`Note`] and [`Subject`] are what comes in. The caller gives subjects their scopes.
//! * [`conversations`] reads what holds messages instead of memories.
//!
//! # Example
//!
//! ```
//! use memories_formats::{Format, Source, Subject};
//!
//! let text = r#"{"type":"entity","name":"Marta","entityType":"person","observations":["Keeps the inn."]}"#;
//! let source = Source::of_bytes("memory.jsonl", text.as_bytes());
//! let format = Format::find(&source).unwrap();
//! let found = format.read(&source).unwrap();
//! assert_eq!(format, Format::ServerMemory);
//! assert_eq!(found.notes[0].subject, Subject::Person("Marta".to_owned()));
//! assert_eq!(found.notes[0].text, "Keeps the inn.");
//! ```

mod ai_dungeon;
mod card;
mod charx;
mod chats;
mod claude_code;
mod failures;
mod folder;
mod format;
mod found;
mod json;
mod kind;
mod lore;
mod markdown;
mod marked;
mod mem0;
mod notes;
mod novelai;
mod png;
mod said;
mod server_memory;
mod source;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_writers;
mod vault;
mod world_info;
mod world_info_out;

pub use chats::{ForeignConversation, conversations};
pub use failures::{for_agents, for_codex};
pub use folder::Folder;
pub use format::Format;
pub use found::{Found, LeftOut, Note, Subject};
pub use marked::with_section;
pub use source::{Content, Source};
pub use vault::{Vault, vault};
pub use world_info_out::{WorldInfo, world_info};
