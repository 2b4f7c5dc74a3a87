//! The state that commands share: the running episode, and the request fields that servers of models refuse.
//!
//! Reads `state.json` into a [`State`] and back. Fields that other versions wrote are kept. A damaged
//! file never stops a command: it counts as empty, with a warning.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::StoreError;

/// Counters that outlive a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Version of the file's format.
    pub version: u32,
    /// The running episode.
    pub episode: u64,
    /// Parts of requests that model servers refuse, kept for the crate `memories-llm`; any JSON.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub refusals: Value,
    /// This machine, once it has synced, kept for `memories sync`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_or_none")]
    pub machine: Option<MachineNote>,
    /// The last agreement with each remote copy, kept for `memories sync`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "read_or_none")]
    pub remotes: BTreeMap<String, Agreement>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// This machine at its last sync, with whichever copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineNote {
    /// The name of the machine.
    pub name: String,
    /// The number of its state, by which the file of that state is named.
    pub sequence: u64,
    /// The hash of the text whose changes that state has; its file in `remotes/` is named after it.
    pub seen: String,
    /// Sizes of the texts of the last day, each with its time in seconds since 1970. A size is left out if a later one is
    /// as large.
    pub sizes: Vec<(i64, u64)>,
}

/// A text on which a memory file and a remote copy agreed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agreement {
    /// The hash of the text; its file in `remotes/` is named after it.
    pub text: String,
    /// The version of the copy with this text.
    #[serde(flatten)]
    pub version: RemoteVersion,
    /// The states of machines that are beside the copy: version and number.
    pub states: BTreeMap<String, (RemoteVersion, u64)>,
    /// The number of this machine's last state that was put there.
    pub put: u64,
    /// The hash of a text of unknown origin about which the sync has asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// The version of something in an object store: its ETag, and its generation where the store has such.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteVersion {
    /// The ETag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e_tag: Option<String>,
    /// The generation or version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A field of another form counts as missing.
fn read_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Default for State {
    fn default() -> State {
        State {
            version: 1,
            episode: 1,
            refusals: Value::Null,
            machine: None,
            remotes: BTreeMap::new(),
            other: Map::new(),
        }
    }
}

/// Reads the state from the bytes of its file.
pub(super) fn parse(bytes: &[u8], path: PathBuf) -> Result<State, StoreError> {
    serde_json::from_slice(bytes)
        .map_err(|error| StoreError::DamagedState { path, reason: error.to_string() })
}

pub(super) fn render(state: &State) -> String {
    let mut text = serde_json::to_string(state).expect("a state has only string keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::sidecar::{STATE, Sidecar};

    fn load(text: &str) -> Result<State, StoreError> {
        parse(text.as_bytes(), PathBuf::from("state.json"))
    }

    #[test]
    fn unknown_fields_survive_and_missing_ones_get_their_default() {
        let state = load(r#"{"episode":7,"mood":["grim",{"deep":null}]}"#).unwrap();
        assert_eq!((state.version, state.episode), (1, 7));
        assert_eq!(render(&state), "{\"version\":1,\"episode\":7,\"mood\":[\"grim\",{\"deep\":null}]}\n");
    }

    #[test]
    fn foreign_refusals_do_not_damage_the_state() {
        for refusals in ["7", "[]", "\"x\"", "{\"a\":{\"b\":1}}"] {
            let text = format!("{{\"version\":1,\"episode\":7,\"refusals\":{refusals}}}\n");
            let state = load(&text).unwrap();
            assert_eq!(state.episode, 7, "{refusals}");
            assert_eq!(render(&state), text);
        }
    }

    #[test]
    fn a_damaged_state_is_a_warning_and_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::of(&folder.path().join("Memories.md"));
        assert!(matches!(sidecar.state(), (state, None) if state == State::default()));
        for damage in ["", "{", "[]", "null", r#"{"episode":-1}"#, "\u{0}\u{0}"] {
            sidecar.create().unwrap().create(STATE).unwrap().write_all(damage.as_bytes()).unwrap();
            let (state, warning) = sidecar.state();
            assert_eq!(state, State::default(), "{damage}");
            assert!(matches!(warning, Some(StoreError::DamagedState { .. })), "{damage}");
        }
    }
}
