//! The outcome of a turn, of a command, or for one memory: one list for reports, the journal and `log`.

use std::borrow::Cow;

use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// The outcome of a turn, of a command, or for one memory. The outcome of a turn as a whole is the first, in this
/// order, of all its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[derive(Serialize, Display, EnumString, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// A new memory is on disk.
    Stored,
    /// A memory took the title of another, which was superseded or holds less.
    Revised,
    /// A memory stands, as tentative, beside an entry that it would strike or replace, and may not.
    Contested,
    /// Another memory of other writers says the same, and has this writer now, too.
    Confirmed,
    /// The model failed or is to be asked later; the turn waits for `retry`.
    Queued,
    /// Another memory says the same.
    Duplicate,
    /// The model saw nothing worth keeping.
    Declined,
    /// Nothing changed; the action is noted as tried.
    Tried,
    /// No trigger fired, and nothing was noted as tried.
    #[default]
    NotSignificant,
    /// The turn was recorded already; nothing is changed.
    RecordedBefore,
    /// Corrections were made; each memory has an outcome of its own.
    Corrected,
    /// A new memory took its place.
    Superseded,
    /// It was wrong.
    Invalidated,
    /// Its status, importance or persistence was set.
    Marked,
    /// Its importance was raised.
    Reinforced,
    /// It has more witnesses.
    Told,
    /// It names another memory as related.
    Linked,
    /// It stays as it is.
    Unchanged,
    /// It was removed from the file.
    Forgotten,
    /// The section, or the file of the memory tool, has another name.
    Renamed,
    /// A person accepted it in a review.
    Accepted,
    /// A person rejected it in a review.
    Rejected,
    /// The memories of a section were consolidated.
    Consolidated,
    /// An episode began.
    EpisodeStarted,
    /// The file was brought into the canonical form.
    Formatted,
    /// A person edited a section on the page.
    Edited,
    /// Another version of the file was merged.
    Merged,
    /// Problems that `check` found were mended.
    Fixed,
    /// Turns were set aside.
    Rewound,
    /// The text of a backup took the place of the file's text.
    Restored,
    /// Memories were imported.
    Imported,
    /// Memories were seeded.
    Seeded,
    /// Memories got an author.
    Adopted,
    /// The file was synced with a store.
    Synced,
    /// The answers of the model were rejected.
    Failed,
    /// The file was changed, and the command noted nothing else.
    Changed,
}

impl From<Outcome> for Cow<'_, str> {
    fn from(outcome: Outcome) -> Self {
        Cow::Borrowed(outcome.name())
    }
}

impl Outcome {
    /// The name, as in JSON and in the journal.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
