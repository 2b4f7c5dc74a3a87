//! Suggestions for a name that was not found.

/// The candidates most similar to a text, best first, at most `limit`; dissimilar ones are left out.
pub(crate) fn nearest<'a>(
    text: &str,
    candidates: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<String> {
    let wanted = text.trim().to_lowercase();
    let mut names: Vec<(String, &str)> = Vec::new();
    for name in candidates.filter(|name| !name.is_empty()) {
        let folded = name.to_lowercase();
        if !names.iter().any(|(other, _)| *other == folded) {
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
