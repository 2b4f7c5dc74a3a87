//! Why an entry stays as it is: the reasons for which a change leaves it alone.

use serde::Serialize;
use strum::{Display, IntoStaticStr};

/// Why an entry stays as it is. It is shown as the end of a sentence: `"Troll" stays: it is pinned`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, Serialize)]
#[serde(into = "&'static str")]
pub enum Protection {
    /// Several writers confirmed it, and the one that asks is among them.
    #[strum(serialize = "others confirmed it")]
    OthersConfirmed,
    /// It is another writer's.
    #[strum(serialize = "another writer wrote it")]
    AnotherWriter,
    /// It names no writer, and a named one asks.
    #[strum(serialize = "it names no writer")]
    NoWriter,
    /// A person wrote it on this machine.
    #[strum(serialize = "a person wrote it")]
    Person,
    /// A seed wrote it.
    #[strum(serialize = "a seed wrote it")]
    Seed,
    /// Its author is unknown, and the built-in rules ask.
    #[strum(serialize = "nobody knows who wrote it")]
    UnknownAuthor,
    /// A person pinned it.
    #[strum(serialize = "it is pinned")]
    Pinned,
    /// It is core.
    #[strum(serialize = "it is core")]
    Core,
    /// It is more important than the new memory may be.
    #[strum(serialize = "it is more important than this may be")]
    MoreImportant,
    /// Nothing in the turn supports the new memory.
    #[strum(serialize = "nothing in the turn bears this out")]
    Unsupported,
    /// It is confirmed, and the new memory is tentative.
    #[strum(serialize = "it is confirmed")]
    Confirmed,
    /// It lasts, and the new memory ends with the episode.
    #[strum(serialize = "it lasts")]
    Lasts,
    /// Others know what it says than would know the new memory.
    #[strum(serialize = "it has other witnesses")]
    Witnesses,
    /// It is an entry of a kind that only grows.
    #[strum(serialize = "it is part of a record")]
    Record,
    /// It contests entries of other writers.
    #[strum(serialize = "it contests what others wrote, and only a person decides")]
    Unconfirmed,
    /// A review is a person's.
    #[strum(serialize = "only a person decides in a review")]
    Review,
    /// Its links name the entries that it contests.
    #[strum(serialize = "its links say what it contests")]
    LinksContest,
    /// It has the highest importance that the caller may give.
    #[strum(serialize = "an agent may give no more")]
    NoMore,
    /// It lasts, and the entry to which it would be linked does not.
    #[strum(serialize = "the other one is ephemeral, and a link to it would soon lead to nothing")]
    OtherPasses,
}
