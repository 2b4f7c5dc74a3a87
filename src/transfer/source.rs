//! The content of a source of an import: items, each with its position.

use std::fmt;

use serde::Serialize;

use crate::transfer::place::PlaceReference;
use memories_document::Section;
use memories_document::types::Memory;

/// The position of an item in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A line, from 1.
    Line(usize),
    /// A row of a database's table `memories`, by its id or, without one, its number from 1.
    Row(i64),
    /// A row of the table `places` or `tried`, by its number from 1.
    Other(&'static str, usize),
    /// A memory of a JSON document, by its number from 1.
    Memory(usize),
    /// A section of a JSON document, by its number from 1.
    Section(usize),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Line(line) => write!(f, "line {line}"),
            Origin::Row(row) => write!(f, "row {row}"),
            Origin::Other(table, row) => write!(f, "row {row} of `{table}`"),
            Origin::Memory(number) => write!(f, "memory {number}"),
            Origin::Section(number) => write!(f, "section {number}"),
        }
    }
}

/// One item of a source, or the problem with it.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceItem {
    /// Its position.
    pub at: Origin,
    /// The item.
    pub item: Result<Item, String>,
}

/// An item of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A memory.
    Memory {
        /// The place it belongs to.
        place: PlaceReference,
        /// The memory. Without a title in the source, the first words of the text become its title.
        memory: Box<Memory>,
    },
    /// A section without its memories.
    Section {
        /// The place.
        place: PlaceReference,
        /// Its visits and evidence.
        section: Box<Section>,
    },
}

/// The content of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TransferSource {
    /// The items, in order.
    pub items: Vec<SourceItem>,
    /// Unknown keys and columns, each once; they are ignored.
    pub unknown: Vec<String>,
    /// Parts of the input from which no item was made.
    pub left_out: Vec<LeftOut>,
}

/// Content of a source that is not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The name of the part: "`mood`", "rows of the table `notes`".
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// The reason.
    pub why: &'static str,
}

impl TransferSource {
    /// Notes content of which no item is made.
    pub(super) fn leave_out(&mut self, what: String, count: u64, why: &'static str) {
        match self.left_out.iter_mut().find(|other| other.what == what) {
            Some(other) => other.count += count,
            None if count > 0 => self.left_out.push(LeftOut { what, count, why }),
            None => {}
        }
    }

    /// Notes a value of a key or column that is not known.
    pub(super) fn leave_out_key(&mut self, key: &str) {
        if !self.unknown.iter().any(|other| other == key) {
            self.unknown.push(key.to_owned());
        }
        self.leave_out(format!("`{key}`"), 1, "no memory and no place has such a field");
    }

    /// Appends an item.
    pub(super) fn push(&mut self, at: Origin, item: Result<Item, String>) {
        self.items.push(SourceItem { at, item });
    }
}
