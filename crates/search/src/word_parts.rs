//! The parts of words that are written together: identifiers and quantities.
//!
//! A word enters as it was written; its parts leave, cut where the case changes and between letters and digits:
//! `getUserById` has the parts `get`, `User`, `By` and `Id`, and `12GB` has `12` and `GB`. Texts are indexed by their
//! words and these parts, so that `12 GB` finds `12GB` and the reverse.

use crate::dates::is_date_word;

/// Most parts of a word; one with more is a hash or another number that nobody reads.
const MAX_PARTS: usize = 6;

/// The parts of an ASCII word; none where it is in one piece.
pub(crate) fn parts(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..bytes.len() {
        if is_border(bytes, at) {
            parts.push(&word[start..at]);
            start = at;
        }
    }
    if parts.is_empty() || parts.len() >= MAX_PARTS || is_one(word) {
        return Vec::new();
    }
    parts.push(&word[start..]);
    parts
}

/// True if a part begins at a byte.
fn is_border(bytes: &[u8], at: usize) -> bool {
    let (before, own) = (bytes[at - 1], bytes[at]);
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    before.is_ascii_digit() && own.is_ascii_alphabetic()
        || before.is_ascii_alphabetic() && own.is_ascii_digit()
        || own.is_ascii_uppercase() && before.is_ascii_lowercase()
        // The last capital of `HTTPServer` begins a word, that of `URLs` does not.
        || own.is_ascii_uppercase() && before.is_ascii_uppercase() && is_lower(at + 1) && is_lower(at + 2)
}

/// True for dates as words, for the marks of episodes and turns, and for ordinals.
fn is_one(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_date_word(&word)
        || ["ep", "t"].iter().any(|mark| word.strip_prefix(mark).is_some_and(is_number))
        || ["st", "nd", "rd", "th"].iter().any(|ending| word.strip_suffix(ending).is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_case_and_digits() {
        for (word, expected) in [
            ("getUserById", vec!["get", "User", "By", "Id"]),
            ("HTTPServer", vec!["HTTP", "Server"]),
            ("12GB", vec!["12", "GB"]),
            ("python3", vec!["python", "3"]),
            ("E0502", vec!["E", "0502"]),
            ("StrictMode", vec!["Strict", "Mode"]),
        ] {
            assert_eq!(parts(word), expected, "{word}");
        }
        for word in
            ["", "a", "key", "Key", "KEY", "URLs", "12", "january25", "ep3", "t12", "2nd", "1a2b3c4d5e"]
        {
            assert_eq!(parts(word), [""; 0], "{word}");
        }
    }
}
