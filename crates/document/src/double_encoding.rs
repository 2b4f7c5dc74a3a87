//! Finds double-encoded characters: `donâ€™t` for `don’t`.
//!
//! They come from UTF-8 that was read as Windows-1252 (or Latin-1) and encoded again. Precision comes
//! first: a sequence counts only if the bytes behind its characters are valid UTF-8 and the characters
//! are unlikely to stand side by side in any language.

use memchr::memchr_iter;

use crate::problem::{Kind, Problem};
use crate::scan::LineNumbers;

/// Windows-1252 from 0x80 to 0x9F. Unassigned bytes map to their control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The lines with double-encoded characters, each once, with the first run of such characters.
pub(crate) fn encoded_twice(source: &str, numbers: &LineNumbers) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut end = 0;
    // The first byte of all characters that can begin a sequence, U+00C2 to U+00F4.
    for start in memchr_iter(0xC3, source.as_bytes()) {
        if start < end {
            continue;
        }
        let Some((length, meant)) = run_at(&source[start..]) else { continue };
        end = start + length;
        if problems.last().is_none_or(|last| last.line != numbers.line(start)) {
            let kind = Kind::EncodedTwice { seen: source[start..end].to_owned(), meant };
            problems.push(Problem::at(source, numbers, start, kind));
        }
    }
    problems
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
    let mut bytes = Vec::new();
    for (at, character) in text.char_indices().take(4) {
        bytes.push(byte_of(character)?);
        if let Ok(meant) = std::str::from_utf8(&bytes) {
            return Some((at + character.len_utf8(), meant.chars().next()?));
        }
    }
    None
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

/// The byte beyond ASCII that stands for a character.
fn byte_of(character: char) -> Option<u8> {
    let known = (0x80..).zip(WINDOWS_1252).find(|&(_, other)| other == character);
    u8::try_from(known.map_or(u32::from(character), |(byte, _)| byte)).ok().filter(|byte| *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of a text that holds double-encoded characters, as it was meant.
    fn meant(text: &str) -> Vec<String> {
        let meant = |problem: Problem| match problem.kind {
            Kind::EncodedTwice { meant, .. } => meant,
            kind => panic!("{kind}"),
        };
        encoded_twice(text, &LineNumbers::of(text)).into_iter().map(meant).collect()
    }

    #[test]
    fn what_was_encoded_twice() {
        assert_eq!(meant("Donâ€™t go\nâ€“ itâ€™s\nitâ€™s dark"), ["’", "–", "’"]);
        assert_eq!(meant("cafÃ©\nÂ§ 3\nâ\u{80}\u{9c}small"), ["é", "§", "“"]);
        assert_eq!(meant("Ñ‚Ñ€Ð¾Ð»Ð»ÑŒ\nðŸ˜€"), ["тролль", "😀"]);
    }

    #[test]
    fn what_was_not() {
        for text in ["don’t", "É» Spaß» Ñ’ IRMû", "naïve — coöperate", "Àâ‚", "тролль 😀", "A «CAFÉ…»"]
        {
            assert_eq!(meant(text), [""; 0], "{text}");
        }
    }
}
