//! How data stands in a prompt: behind a fence that it cannot close, and no longer than is useful.
//!
//! What games, people and models wrote enters; a block leaves that is data to be judged, never an
//! instruction.

use serde_json::Value;

/// A block of data under a name, behind a fence longer than any run of backticks in it.
pub fn fenced(name: &str, data: &Value) -> String {
    let body = serde_json::to_string_pretty(data).expect("JSON values are writable");
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{name}\n{fence}json\n{body}\n{fence}\n")
}
