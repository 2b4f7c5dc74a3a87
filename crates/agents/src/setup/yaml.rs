//! YAML is only read: a person pastes the entry. The library that edits YAML (`yaml-edit`, 0.3) is young.

use serde_json::Value;

use super::entry::Entry;
use super::problem::Problem;

/// The value of a text, null where it is blank.
pub(super) fn value(text: &str) -> Result<Value, Problem> {
    serde_saphyr::from_str(text).map_err(|error| {
        let at = error.location().and_then(|location| location.span().byte_offset());
        let at = at.and_then(|at| at.try_into().ok()).unwrap_or_default();
        Problem::at(text, at, &error.without_snippet().to_string())
    })
}

/// The lines that a person pastes.
pub(super) fn block(entry: &Entry) -> String {
    let mut lines = String::new();
    let mut indent = String::new();
    let name = entry.name();
    for key in name.split('.') {
        lines.push_str(&format!("{indent}{key}:\n"));
        indent.push_str("  ");
    }
    for (key, value) in entry.value.as_object().into_iter().flatten() {
        lines.push_str(&format!("{indent}{key}: {value}\n"));
    }
    lines
}

/// The number of the line in which a pasted entry begins; none where it stands between brackets.
pub(super) fn line(text: &str, entry: &Entry) -> Option<usize> {
    let key = format!("{}:", entry.name().rsplit('.').next()?);
    text.lines().position(|line| line.trim_start().starts_with(&key)).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_that_multiply_are_refused_before_they_fill_the_memory() {
        let list = |item: &str| [item; 10].join(", ");
        let mut text = format!("a0: &a0 [{}]\n", list("x"));
        for level in 1..9 {
            text.push_str(&format!("a{level}: &a{level} [{}]\n", list(&format!("*a{}", level - 1))));
        }
        assert!(value(&text).is_err());
        for deep in ["- ".repeat(5_000), "[".repeat(5_000), "? ".repeat(5_000)] {
            assert!(value(&deep).is_err());
        }
    }
}
