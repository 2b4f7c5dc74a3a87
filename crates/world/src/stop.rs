//! An action of a route: its place, the place where it leads, and its gain.

use memories_document::types::frame::list_item;

/// An action of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Number of the gain that it belongs to.
    pub leg: usize,
    /// Its number in the route.
    pub(super) number: usize,
    /// The action.
    pub action: String,
    /// The action as it is compared.
    pub(super) folded: String,
    /// Where it is taken; `None` where no known way says so.
    pub place: Option<u64>,
    /// The gain that it makes, as the file writes it: `+10`.
    pub gain: Option<String>,
    /// Where it leads; `None` where no known way says so.
    pub to: Option<u64>,
    /// It only leads from place to place.
    pub(super) is_walk: bool,
    /// It was done in the running episode.
    pub is_done: bool,
}

impl Stop {
    /// The action, with what it gains.
    pub fn label(&self) -> String {
        let action = list_item(&self.action);
        match &self.gain {
            Some(gain) => format!("{action} ({gain})"),
            None => action.into_owned(),
        }
    }
}
