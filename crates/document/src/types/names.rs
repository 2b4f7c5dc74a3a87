//! Helpers for enums whose names `strum` derives, and for lists of names in messages.

use std::path::Path;
use std::str::FromStr;

/// Error text for a name that an enum does not have: `` `x` is not a mode: use `a` or `b` ``.
pub fn unknown_name(text: &str, what: &str, names: &[&str]) -> String {
    format!("`{text}` is not a {what}: use {}", one_of(names))
}

/// The value whose name is the ending of a file's name: `toml` of `friends.toml`.
pub fn by_file_ending<T: FromStr>(path: &Path) -> Option<T> {
    path.extension()?.to_str()?.parse().ok()
}

/// Names as alternatives: `` `a`, `b` or `c` ``.
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        one_or_none => one_or_none.concat(),
    }
}

/// `did you mean …`, or `None` where nothing is near.
pub fn did_you_mean(nearest: &[String]) -> Option<String> {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}
