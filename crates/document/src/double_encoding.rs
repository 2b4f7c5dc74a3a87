//! Finds double-encoded characters: `donâ€™t` for `don’t`.
//!
//! They come from UTF-8 that was read as Windows-1252 (or Latin-1) and encoded again. Precision comes
//! first: a sequence counts only if the bytes behind its characters are valid UTF-8 and the characters
//! are unlikely to stand side by side in any language.

use std::ops::Range;

use memchr::memchr_iter;

/// A run of double-encoded characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodedTwice {
    pub(crate) range: Range<usize>,
    /// The characters that were meant.
    pub(crate) meant: String,
}

/// Windows-1252 from 0x80 to 0x9F. Unassigned bytes map to their control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// All runs of double-encoded characters, in the order of the text.
pub(crate) fn find_encoded_twice(text: &str) -> Vec<EncodedTwice> {
    let mut found: Vec<EncodedTwice> = Vec::new();
    // The first byte of all characters that can begin a sequence, U+00C2 to U+00F4.
    for start in memchr_iter(0xC3, text.as_bytes()) {
        if found.last().is_some_and(|last| start < last.range.end) {
            continue;
        }
        found.extend(
            run_at(&text[start..])
                .map(|(length, meant)| EncodedTwice { range: start..start + length, meant }),
        );
    }
    found
}

/// The run at the start of a text: its length and the characters that were meant.
fn run_at(text: &str) -> Option<(usize, String)> {
    let mut length = 0;
    let mut meant = String::new();
    let mut sure = false;
    while let Some((bytes, character)) = sequence_at(&text[length..]) {
        // A single letter before a dot or quote may be the end of a word; two in a row are not.
        sure |= !meant.is_empty() || is_sure(&text[length..], character);
        length += bytes;
        meant.push(character);
    }
    sure.then_some((length, meant))
}

/// One double-encoded character: its length in the text, and the character that was meant.
fn sequence_at(text: &str) -> Option<(usize, char)> {
    let mut characters = text.chars();
    let lead = byte_of(characters.next()?)?;
    let more = match lead {
        0xC2..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF4 => 3,
        _ => return None,
    };
    let mut bytes = vec![lead];
    for _ in 0..more {
        bytes.push(byte_of(characters.next()?)?);
    }
    let character = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((text.len() - characters.as_str().len(), character))
}

/// True if one sequence alone proves double encoding.
fn is_sure(text: &str, meant: char) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        // An upper-case word may end in `Ã` or `Â` before a closing quotation mark.
        Some('Â' | 'Ã') => {
            !matches!(characters.next(), Some('«' | '»' | '“' | '”' | '’' | '‘' | '…' | '–' | '—'))
        }
        _ => u32::from(meant) >= 0x800,
    }
}

fn byte_of(character: char) -> Option<u8> {
    match u8::try_from(u32::from(character)) {
        Ok(byte @ 0x80..) => Some(byte),
        Ok(_) => None,
        Err(_) => {
            let at = WINDOWS_1252.iter().position(|&other| other == character)?;
            Some(0x80 + u8::try_from(at).expect("one of 32"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> Vec<String> {
        find_encoded_twice(text).into_iter().map(|found| found.meant).collect()
    }

    #[test]
    fn what_was_encoded_twice() {
        assert_eq!(meant("Donâ€™t go â€“ itâ€™s dark"), ["’", "–", "’"]);
        assert_eq!(meant("cafÃ© Â§ 3, â\u{80}\u{9c}small"), ["é", "§", "“"]);
        assert_eq!(meant("Ñ‚Ñ€Ð¾Ð»Ð»ÑŒ ðŸ˜€"), ["тролль", "😀"]);
    }

    #[test]
    fn what_was_not() {
        for text in ["don’t", "É» Spaß» Ñ’ IRMû", "naïve — coöperate", "Àâ‚", "тролль 😀", "A «CAFÉ…»"]
        {
            assert_eq!(meant(text), [""; 0], "{text}");
        }
    }
}
