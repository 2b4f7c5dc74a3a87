//! Evidence of play: ways, and actions that worked, were tried, or only looked.

use serde::{Deserialize, Serialize};

use crate::types::action::fold_action;
use crate::types::lenient;
use crate::types::scope::Scope;
use crate::types::witness::Witnesses;

/// An action and its last reply: in `### Tried` one after which nothing was seen to change, in `### Worked` one that did
/// change something, without reply, in `### Seen` one that only looked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Attempt {
    /// The action in its first wording.
    pub action: String,
    /// Number of tries.
    pub count: u64,
    /// Episode of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The beginning of the last reply, on one line.
    pub reply: String,
    /// The result of the last try.
    #[serde(skip_serializing_if = "TryResult::is_vain")]
    pub result: TryResult,
    /// Those who know it.
    #[serde(skip_serializing_if = "Witnesses::is_everybody")]
    pub witnesses: Witnesses,
}

impl Attempt {
    /// The key of its line in a section of a scope: the action as it is compared there, with its witnesses.
    pub fn key(&self, scope: &Scope) -> String {
        self.witnesses.keyed(scope.key_of_action(&self.action))
    }
}

/// The result of a tried action: the last field of its mark in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum TryResult {
    /// It was refused, or nothing happened. A line without a field says so.
    #[default]
    #[strum(serialize = "")]
    Vain,
    /// Something that may pass was in the way: a lock, the dark, a guard, or the thing was not there.
    #[strum(serialize = "blocked")]
    Blocked,
    /// It is a direction, and it killed.
    #[strum(serialize = "deadly")]
    Deadly,
    /// It is a direction, and the player died of something that it may have nothing to do with.
    #[strum(serialize = "died")]
    Died,
    /// Nobody knows whether it changed something.
    #[strum(serialize = "effect unknown")]
    Unknown,
    /// The facts of the turn show no change, and the reply is of no known class.
    #[strum(serialize = "no effect seen")]
    Unseen,
}

impl TryResult {
    /// The field in the file; empty for [`TryResult::Vain`].
    pub fn field(self) -> &'static str {
        self.into()
    }

    /// True if the action was refused, or nothing happened.
    pub fn is_vain(&self) -> bool {
        *self == TryResult::Vain
    }

    /// True if it is not known whether the action changed something.
    pub fn is_unknown(self) -> bool {
        matches!(self, TryResult::Unknown | TryResult::Unseen | TryResult::Died)
    }
}

/// A way that was walked: a line of `### Ways`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The action in its first wording.
    pub action: String,
    /// Id of the place to which it led.
    #[serde(deserialize_with = "lenient::count_of")]
    pub to: u64,
    /// Name of that place; may be empty.
    #[serde(default)]
    pub name: String,
    /// How often it led there.
    #[serde(default = "once", deserialize_with = "lenient::count_of")]
    pub count: u64,
    /// Episode of the last time.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub episode: Option<u64>,
    /// Turn of the last time.
    #[serde(default, deserialize_with = "lenient::count_if_any", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Actions at its place that opened it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Those who know it.
    #[serde(default, skip_serializing_if = "Witnesses::is_everybody")]
    pub witnesses: Witnesses,
}

impl Way {
    /// The folded action with its witnesses, and the id of the place to which it led. Two lines with one key are about
    /// the same way, and known to the same.
    pub fn key(&self) -> (String, u64) {
        (self.witnesses.keyed(fold_action(&self.action)), self.to)
    }
}

/// The count of a way that states none.
fn once() -> u64 {
    1
}
