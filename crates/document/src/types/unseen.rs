//! Characters that nobody sees, or that change how the text around them is seen.
//!
//! These are controls (C0 but line break and tab, DEL, C1), bidirectional controls, separators of lines and
//! paragraphs, and characters of no width. A terminal obeys the first, readers and models are deceived by the others.
//! A few belong to writing and count as seen where they stand in their place: the joiners of Arabic and Indic letters
//! and of emoji, variation selectors behind what they vary, and a carriage return before a line break.

use std::borrow::Cow;

use crate::types::text::replace_ranges;

const ZERO_WIDTH_NON_JOINER: char = '\u{200C}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';
const EMOJI_VARIATION: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

/// The unseen characters of a text with their offsets.
pub fn unseen(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            next += next_suspect(&text.as_bytes()[next..])?;
            let at = next;
            let c = text[at..].chars().next()?;
            next += c.len_utf8();
            if is_unseen(c) && !is_in_its_place(c, &text[..at], &text[next..]) {
                return Some((at, c));
            }
        }
    })
}

/// Position of the next byte that may begin an unseen character. Whole chunks of ASCII are passed at once, since this
/// scan looks at every byte that is printed or checked.
fn next_suspect(bytes: &[u8]) -> Option<usize> {
    const CHUNK: usize = 64;
    let is_ascii_text = |chunk: &[u8]| {
        let is_seen = |byte: u8| (b' '..0x7F).contains(&byte) | (byte == b'\n') | (byte == b'\t');
        chunk.iter().fold(true, |all, &byte| all & is_seen(byte))
    };
    let suspect = |(number, chunk): (usize, &[u8])| {
        if is_ascii_text(chunk) {
            None
        } else {
            chunk.iter().position(|&byte| !is_plain(byte)).map(|at| number * CHUNK + at)
        }
    };
    bytes.chunks(CHUNK).enumerate().find_map(suspect)
}

/// True for bytes that begin no unseen character.
fn is_plain(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => true,
        // C0 controls and DEL.
        ..b' ' | 0x7F => false,
        // The first bytes of U+0080, U+0340, U+0600, U+1000, U+2000, U+3000, U+F000, U+10000 and U+C0000.
        0xC2 | 0xCD | 0xD8 | 0xE1..=0xE3 | 0xEF | 0xF0 | 0xF3 => false,
        _ => true,
    }
}

/// True for characters that are not seen wherever they stand, but for the exceptions of [`unseen`].
pub(crate) fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' => true,
        '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' => true,
        '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' => true,
        '\u{E0000}'..='\u{E0FFF}' => true,
        c => c.is_control(),
    }
}

/// True if the writing around a character needs it there.
fn is_in_its_place(c: char, before: &str, behind: &str) -> bool {
    let (before, next) = (before.chars().next_back(), behind.chars().next());
    let is = |c: Option<char>, test: fn(char) -> bool| c.is_some_and(test);
    match c {
        '\r' => next == Some('\n'),
        ZERO_WIDTH_NON_JOINER => is(before, is_joining_letter) && is(next, is_joining_letter),
        ZERO_WIDTH_JOINER => {
            is(before, is_joining_letter) && is(next, is_joining_letter)
                || is(before, |c| is_pictograph(c) || c == EMOJI_VARIATION) && is(next, is_pictograph)
        }
        '\u{FE0E}' | EMOJI_VARIATION => {
            is(before, |c| is_pictograph(c) || is_ideograph(c))
                || is(before, |c| matches!(c, '0'..='9' | '#' | '*')) && next == Some(KEYCAP)
        }
        '\u{FE00}'..='\u{FE0D}' | '\u{E0100}'..='\u{E01EF}' => is(before, is_ideograph),
        _ => false,
    }
}

/// Letters and marks of scripts whose shape depends on their neighbours: Arabic, Syriac, Indic and South-East Asian.
fn is_joining_letter(c: char) -> bool {
    let in_script = matches!(c, '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}')
        || matches!(c, '\u{1780}'..='\u{18AF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}');
    in_script && !is_unseen(c)
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203C}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}')
        && !is_unseen(c)
        || matches!(c, '\u{1F000}'..='\u{1FAFF}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{323AF}')
}

/// A text with unseen characters as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace_ranges(text, unseen(text).map(|(at, c)| (at..at + c.len_utf8(), shown(c))))
}

/// A character by its number: `\u{1b}`.
pub(crate) fn shown(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// JSON with unseen characters as `\u009b`, which means the same, since they stand in its strings only. C0 controls
/// stand between its values only: in strings they are escaped already.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let in_strings = unseen(json).filter(|(_, c)| *c >= ' ').map(|(at, c)| at..at + c.len_utf8());
    replace_ranges(json, in_strings.map(|range| (range.clone(), json_escape(&json[range]))))
}

/// A text by its numbers, as strings of JSON have them: `\u009b`.
pub(crate) fn json_escape(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn controls_and_what_has_no_width_become_visible() {
        for (text, shown) in [
            ("a\tb\nc", "a\tb\nc"),
            ("\x1b]52;c;aGFja2Vk\x07", "\\u{1b}]52;c;aGFja2Vk\\u{7}"),
            ("\0\r\x7f\u{9b}31m\u{85}", "\\u{0}\\u{d}\\u{7f}\\u{9b}31m\\u{85}"),
            ("safe\u{202e}gnp.exe\u{2066}\u{200f}", "safe\\u{202e}gnp.exe\\u{2066}\\u{200f}"),
            ("Troll\u{200b} x\u{feff}\u{2028}\u{e0041}", "Troll\\u{200b} x\\u{feff}\\u{2028}\\u{e0041}"),
            ("line\r\nline", "line\r\nline"),
            ("été 道 🗡", "été 道 🗡"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn the_quick_scan_stops_at_every_unseen_character() {
        for c in (char::MIN..=char::MAX).filter(|&c| is_unseen(c)) {
            assert!(!is_plain(c.to_string().as_bytes()[0]), "{c:?}");
        }
    }

    #[test]
    fn what_writing_needs_stays() {
        let needed = [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👨🏽\u{200d}🚀",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "葛\u{e0100}城",
        ];
        for text in needed {
            assert_eq!(visible(text), text);
        }
        let misplaced =
            ["Tr\u{200d}oll", "a\u{200c}b", "👨\u{200d}x", "x\u{fe0f}", "🔥\u{fe0f}\u{fe0f}", "1\u{fe0f}"];
        for text in misplaced {
            assert_ne!(visible(text), text, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_unseen_character_is_shown_and_json_says_the_same(text in "\\PC{0,6}[\\x00-\\x9f\u{200b}-\u{2070}\u{feff}\u{e0000}-\u{e0080}🔥]{0,12}") {
            prop_assert_eq!(unseen(&visible(&text)).next(), None);
            let json = serde_json::to_string(&text).expect("JSON");
            let shown = visible_json(&json);
            prop_assert_eq!(unseen(&shown).next(), None);
            prop_assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), text);
        }
    }
}
