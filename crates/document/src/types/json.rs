//! The reader of JSON that comes from outside: from a caller, a client, an agent's event or a file.

use serde::Deserialize;

/// The byte order mark that PowerShell and editors of Windows put before UTF-8.
const MARK: &str = "\u{FEFF}";

/// Input without the byte order marks that it begins with.
pub fn without_mark(mut input: &[u8]) -> &[u8] {
    while let Some(rest) = input.strip_prefix(MARK.as_bytes()) {
        input = rest;
    }
    input
}

/// Text without the byte order marks that it begins with.
pub fn text_without_mark(input: &str) -> &str {
    input.trim_start_matches(MARK)
}

/// Reads JSON; a byte order mark before it does not count.
///
/// # Errors
///
/// As `serde_json`.
pub fn read<'a, T: Deserialize<'a>>(input: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_slice(without_mark(input))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_byte_order_mark_before_json_does_not_count() {
        for text in ["[1]", "\u{FEFF}[1]", "\u{FEFF}\r\n [1]\r\n", "\u{FEFF}\u{FEFF}[1]"] {
            assert_eq!(read::<Value>(text.as_bytes()).unwrap(), json!([1]), "{text:?}");
        }
        assert!(read::<Value>("[\u{FEFF}1]".as_bytes()).is_err());
        assert_eq!((text_without_mark("\u{FEFF} a "), text_without_mark(" a ")), (" a ", " a "));
    }
}
