//! Operations on plain text that every layer needs.

/// The words of a text, separated by single spaces.
pub(crate) fn fold_spaces(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// The first `chars` characters of a text, with `…` appended where more follow.
pub(crate) fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A run of backticks longer than any in the text, and at least `min` long.
pub(crate) fn backtick_fence(text: &str, min: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(min.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_becomes_single_spaces() {
        assert_eq!(fold_spaces(" a\t b\r\n\u{3000}c "), "a b c");
        assert_eq!(fold_spaces(" \n"), "");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(backtick_fence("a ``b`` `c`", 1), "```");
        assert_eq!(backtick_fence("a", 3), "```");
    }

    #[test]
    fn only_longer_texts_are_truncated() {
        assert_eq!(truncate("été", 3), "été");
        assert_eq!(truncate("étés", 3), "été…");
        assert_eq!(truncate(" a ", 2), " a…");
    }
}
