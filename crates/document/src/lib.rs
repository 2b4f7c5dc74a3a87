//! The memory file as a text: parse, look up, edit, merge, check and print it.
//!
//! A text enters. Sections, entries and evidence leave as plain values, and so does the edited text. This crate reads
//! and writes no files, knows no clock and calls no model; it depends on no other crate of the workspace. It always
//! holds that
//!
//! * printing what was parsed gives the same bytes, whatever the text;
//! * an edit changes the lines that it is about, and every other byte stays;
//! * damage is reported with its line, and kept.
//!
//! # Where to begin
//!
//! * [`Document`] is the parsed file. It is cut into blocks, each from one level-1 or level-2 heading to the next, and
//!   a block is parsed when it is first looked at. [`Section`] is the part of one scope, for readers.
//! * [`EntryMut`] edits one entry, [`SectionUpdate`] many lines of one section at once.
//! * [`types`] has the values: scope, memory, moment, tried action. [`grammar`] reads and writes single lines;
//!   [`render_entry`] prints an entry.
//! * [`merge`](mod@merge) makes one text of two that grew from one. [`check`] finds problems, [`compare`] and
//!   [`mod@format`] do the work of `diff` and `fmt`.
//!
//! The private modules have one duty each: `scan` decides which lines count, `parser` reads a section, `splice` and
//! `lists` edit its text, `near` and `misread` guess what a line was meant to be.
//!
//! # Example
//!
//! ```
//! use memories_document::Document;
//! use memories_document::types::Scope;
//!
//! let text = "## Location 23: Room\n\n### Memories\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n\n---\n";
//! let mut document = Document::parse(text.to_owned());
//! let scope = Scope::Location(23);
//! assert_eq!(document.section(&scope).unwrap().memories[0].text, "It is under the rug.");
//!
//! document.rename(&scope, "Living Room");
//! assert_eq!(document.into_text()?, text.replace("Room", "Living Room"));
//! # Ok::<(), memories_document::DocumentError>(())
//! ```

pub mod check;
pub mod comment_end;
mod commonmark;
pub mod compare;
pub mod conflict;
pub mod counts;
mod deceptive;
mod double_encoding;
pub mod edits;
mod entry;
pub mod entry_text;
mod error;
pub mod evidence;
pub mod field;
pub mod fields;
mod fold;
pub mod format;
mod free_lines;
pub mod grammar;
mod known_ways;
pub mod link;
mod lists;
mod loose_fields;
mod loose_heading;
pub mod merge;
mod misread;
pub mod near;
mod near_entry;
mod nearest;
mod new_sections;
mod notes;
mod parser;
mod pieces;
mod place_names;
pub mod problem;
mod references;
mod region;
pub mod review;
pub mod run;
pub mod scan;
mod section;
pub mod seen;
mod splice;
mod stored_form;
mod strike;
pub mod text;
mod tree;
pub mod twins;
pub mod types;
mod update;
pub mod version;
pub mod visits;
pub mod ways;

pub use deceptive::look_alike;
pub use entry::EntryMut;
pub use entry::{EntryRef, EntrySpan};
pub use entry_text::EntryText;
pub use error::DocumentError;
pub use known_ways::KnownSection;
pub use known_ways::{Tries, known_ways, may_name_episode};
pub use near_entry::KNOWN_CATEGORIES;
pub use nearest::{nearest, shared_characters, unknown_field};
pub use notes::Note;
pub use pieces::{Piece, PieceKind};
pub use place_names::PlaceNames;
pub use region::RegionKind;
pub use scan::line_number;
pub use section::mark_notes;
pub use section::{Section, keep_latest};
pub use splice::EntryEdit;
pub use splice::render_entry;
pub use stored_form::stored;
pub use text::Fences;
pub use tree::Document;
pub use update::SectionUpdate;
