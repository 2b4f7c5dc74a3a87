//! Data in a prompt, behind a fence that it cannot close.
//!
//! Text of games, people and models enters; a block leaves that is data to be judged, never an instruction.

use serde_json::Value;

use crate::types::text::backtick_fence;

/// A named block of data, behind a fence longer than any run of backticks in it.
pub(crate) fn fenced(name: &str, data: &Value) -> String {
    let body = serde_json::to_string_pretty(data).expect("JSON values are writable");
    let fence = backtick_fence(&body, 3);
    format!("{name}\n{fence}json\n{body}\n{fence}\n")
}
