//! How similar texts are, and suggestions for a name that was not found.

use std::collections::HashSet;

use similar::TextDiff;

use crate::types::text::{fold_case, truncate};

/// Longest unknown name that a warning shows, in characters.
const NAME_CHARS: usize = 60;

/// The candidates most similar to a text, best first, at most `limit`; dissimilar ones are left out.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    nearest_of(text, &candidates.filter(|name| !name.is_empty()).collect::<Vec<&str>>(), limit)
}

// Not generic and not inlined: otherwise each crate that calls it would contain a copy of the library's code.
#[inline(never)]
fn nearest_of(text: &str, candidates: &[&str], limit: usize) -> Vec<String> {
    let wanted = fold_case(text.trim());
    let mut known: HashSet<String> = HashSet::new();
    let mut names: Vec<(String, &str)> = Vec::new();
    for name in candidates {
        let folded = fold_case(name);
        if known.insert(folded.clone()) {
            names.push((folded, name));
        }
    }
    let folded: Vec<&str> = names.iter().map(|(folded, _)| folded.as_str()).collect();
    let close = similar::get_close_matches(wanted.as_str(), &folded, limit, 0.55);
    let longer = folded.iter().copied().filter(|name| wanted.len() > 2 && name.contains(&wanted));
    let mut found: Vec<&str> = close;
    found.extend(longer.filter(|name| !found.contains(name)).collect::<Vec<_>>());
    found.truncate(limit);
    let original =
        |close: &str| names.iter().find(|(folded, _)| folded == close).map(|(_, name)| (*name).to_owned());
    found.into_iter().filter_map(original).collect()
}

/// The share of characters that stand in two texts in the same order, 0 to 1: twice those that both have, divided by
/// all, as the ratio of Python's `difflib`.
#[inline(never)]
pub fn shared_characters(one: &str, other: &str) -> f32 {
    TextDiff::from_chars(one, other).ratio()
}

/// The warning about a field that its reader does not know, with the most similar one that it knows.
pub fn unknown_field(name: &str, of: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied(), 1);
    let near = near.first().map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
    format!("unknown field `{}` of {of} is ignored{near}", truncate(name, NAME_CHARS))
}
