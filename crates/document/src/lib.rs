//! The memory file as a tree: parse, look up, edit, print.
//!
//! A text is cut into blocks, each from one level-1 or level-2 heading to the next. A block is parsed
//! when it is first looked at, at most once for each version of its text. A block that no edit touches
//! is printed byte for byte as it was read; an edited one is spliced. So printing what was parsed gives
//! the same bytes, whatever the text. Nothing here reads or writes files.
//!
//! * [`Document`] is the tree, [`Section`] one scope of it for readers, [`EntryMut`] one of its
//!   entries, open for edits, and [`SectionUpdate`] many edits of one section at once.
//! * `scan` decides which lines count; `grammar`, `evidence`, `ways`, `fields` (with `loose_fields`), `visits` and
//!   `text` read and write single lines, with `comment_end`; `parser` reads a section; `splice` and `lists` edit its text.
//! * `near` and `near_entry` guess what a line was meant to be; `misread` finds such lines in a file and says which
//!   can be corrected.
//! * `run` reads and writes the best run of a game, the text of an entry.
//! * `version` is the version of the format that a file states.
//! * `edits` finds the removals and insertions between two texts.
//! * `merge` makes one text of two that grew from one.
//! * `check` (with `deceptive`), `compare` and `format` (with `fold`) are the work of the commands `check`, `diff` and
//!   `fmt`; `twins` finds parts that a merge by lines leaves twice, `review` makes the text that git compares.

pub mod check;
pub mod comment_end;
mod commonmark;
pub mod compare;
pub mod conflict;
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
mod place_names;
pub mod problem;
mod references;
pub mod review;
pub mod run;
pub mod scan;
mod section;
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

pub use entry::EntryMut;
pub use entry::{EntryRef, EntrySpan};
pub use entry_text::EntryText;
pub use error::DocumentError;
pub use known_ways::KnownSection;
pub use known_ways::{Tries, known_ways, may_name_episode};
pub use near_entry::KNOWN_CATEGORIES;
pub use nearest::{nearest, unknown_field};
pub use notes::Note;
pub use parser::RegionKind;
pub use place_names::PlaceNames;
pub use scan::line_number;
pub use section::Section;
pub use section::mark_notes;
pub use splice::EntryEdit;
pub use splice::render_entry;
pub use stored_form::stored;
pub use text::Fences;
pub use tree::Document;
pub use update::SectionUpdate;
