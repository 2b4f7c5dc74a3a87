//! The result of a recall for one scope, with its rendered pieces.

use crate::actions::Actions;
use crate::fit::Piece;
use crate::format::Format;
use memories_document::Note;
use memories_document::types::{Memory, Scope};

/// The memories and tried actions of one scope that fit into the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The scope shown.
    pub scope: Scope,
    /// The format in which it is rendered.
    pub(super) format: Format,
    /// True for a folder that is shown because one below it was asked for.
    pub is_parent: bool,
    /// Its name; may be empty.
    pub name: String,
    /// Number of visits.
    pub visits: u64,
    /// The episodes with a visit.
    pub episodes: Vec<u64>,
    /// Memories shown, in the order of the file; texts may be cut.
    pub memories: Vec<Piece<Memory>>,
    /// Memories of other sections to which these link by `See also:`.
    pub linked: Vec<Piece<Linked>>,
    /// Ways, actions that worked, what was seen, and tries that are shown.
    pub actions: Actions,
    /// Notes of a person outside entries, in the order of the file; texts may be cut.
    pub notes: Vec<Piece<Note>>,
    /// Line of the section's heading, where it is misread and so nothing is known of its memories.
    pub misread_line: Option<usize>,
    /// Live memories that are not shown.
    pub memories_left_out: usize,
    /// Ways that are not shown.
    pub ways_left_out: usize,
    /// Actions that worked and are not shown.
    pub worked_left_out: usize,
    /// Looks that are not shown.
    pub seen_left_out: usize,
    /// Tried actions that are not shown.
    pub tried_left_out: usize,
    /// Notes that are not shown.
    pub notes_left_out: usize,
}

/// A memory of another section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// The scope of its section.
    pub scope: Scope,
    /// The name of that section; may be empty.
    pub name: String,
    /// The memory; its text may be cut.
    pub memory: Memory,
}
