//! Characters that were encoded twice: `donâ€™t` for `don’t`.
//!
//! A text enters; places leave at which UTF-8 was read as Windows-1252 (or Latin-1) and encoded
//! again. Precision first: a sequence counts only where the bytes behind its characters are valid
//! UTF-8 and no language is likely to have the characters side by side.

use std::ops::Range;

use memchr::memchr_iter;

/// A run of characters that were encoded twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodedTwice {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// What was meant.
    pub(crate) meant: String,
}

/// What Windows-1252 has at 0x80 to 0x9F. Where it has nothing, the control character stands.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// All runs of such characters, in the order of the text.
pub(crate) fn find_encoded_twice(text: &str) -> Vec<EncodedTwice> {
    let mut found: Vec<EncodedTwice> = Vec::new();
    // All characters that can begin a sequence, U+00C2 to U+00F4, begin with this byte.
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

/// The run at the start of a text: its length and what was meant.
fn run_at(text: &str) -> Option<(usize, String)> {
    let mut length = 0;
    let mut meant = String::new();
    let mut sure = false;
    while let Some((bytes, character)) = sequence_at(&text[length..]) {
        // One letter with a dot or quote behind it may be a word's end; two in a row are not.
        sure |= !meant.is_empty() || is_sure(&text[length..], character);
        length += bytes;
        meant.push(character);
    }
    sure.then_some((length, meant))
}

/// One character that was encoded twice: how long it stands there, and what it was.
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

/// Whether one sequence alone is proof.
fn is_sure(text: &str, meant: char) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        // `Ã` and `Â`: but an upper-case word may end so before a closing quotation mark.
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
