//! Merges three ways: two texts that grew from one become one text.
//!
//! The base and both sides enter; the merged text leaves, with its conflicts. Sections, entries and evidence are
//! merged by what they mean (DESIGN 4.14), a person's lines by lines. No entry, action or way of either side is lost but
//! one that the other side removed while this one left it as it was.

mod entries;
mod entry;
mod evidence;
mod lines;
mod parts;
mod result;
mod scope;
mod sections;
mod values;

pub use result::{Labels, MergeConflict, Merged};

/// Merges two sides into one text.
pub fn merge(base: &str, ours: &str, theirs: &str, labels: Labels<'_>) -> Merged {
    if ours == theirs || theirs == base {
        return Merged { text: ours.to_owned(), ..Merged::default() };
    }
    if ours == base {
        return Merged { text: theirs.to_owned(), ..Merged::default() };
    }
    let by_meaning = sections::merge_sections(base, ours, theirs, labels);
    by_meaning.unwrap_or_else(|| lines::merge_lines(base, ours, theirs, labels))
}
