//! Operations on plain text that every layer needs.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// A text in NFC, the normal form in which texts are compared. What is written keeps the form in which it came.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// A text in NFKC: characters of full width, of other styles and in one piece are the plain ones.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// A text in NFC and in lower case: the form in which names, titles, tags and words are compared.
pub fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        composed(&composed(text).to_lowercase()).into_owned()
    }
}

/// The words of a text, separated by single spaces.
pub fn fold_spaces(text: &str) -> String {
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
pub fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The sentences of a text that fit into a number of characters; where not even the first does, its words.
pub fn cut_at_sentence(text: &str, chars: usize) -> String {
    let Some((limit, _)) = text.char_indices().nth(chars) else { return text.to_owned() };
    let ends = text.split_sentence_bound_indices().map(|(start, sentence)| start + sentence.trim_end().len());
    match ends.take_while(|end| *end <= limit).last() {
        Some(end) => text[..end].to_owned(),
        None => format!("{}…", cut_at_word(text, chars.saturating_sub(1))),
    }
}

/// The words of a text that fit into a number of characters; where not even the first does, its beginning.
pub fn cut_at_word(text: &str, chars: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(chars) else { return text };
    let begun = text[..limit].trim_end();
    if text[begun.len()..].starts_with(char::is_whitespace) {
        return begun;
    }
    begun.rfind(char::is_whitespace).map_or(begun, |end| begun[..end].trim_end())
}

/// A text with ranges replaced, which are given in their order and do not overlap.
pub(crate) fn replace_ranges<T: AsRef<str>>(
    text: &str,
    changes: impl IntoIterator<Item = (Range<usize>, T)>,
) -> Cow<'_, str> {
    let mut changes = changes.into_iter().peekable();
    if changes.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for (range, new) in changes {
        out.push_str(&text[copied..range.start]);
        out.push_str(new.as_ref());
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// A text with `\` before each of the marks.
pub fn escape(text: &str, marks: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if marks.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The bytes of a text in which `%23` is `#`. A `%` without two digits behind it is itself.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = match behind {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high * 16 + low);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

/// Appends a byte as [`percent_decoded`] reads it.
pub(crate) fn percent_encode(out: &mut String, byte: u8) {
    out.push_str(&format!("%{byte:02X}"));
}

/// A run of backticks longer than any in the text, and at least `min` long.
pub fn backtick_fence(text: &str, min: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(min.max(longest + 1))
}

/// A text as content or attribute of XML 1.0, which has no place for some characters.
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\u{FFFE}' | '\u{FFFF}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// A text as content or attribute of XML 1.0 that stays on one line.
pub fn escape_xml_line(text: &str) -> String {
    escape_xml(&text.replace(char::is_control, " "))
}

/// The ASCII character that a wide one stands for.
pub(crate) fn narrow(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        c => c,
    }
}

/// True for a slash of any kind.
pub(crate) fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\' | '\u{FF0F}' | '\u{2044}' | '\u{2215}')
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
    fn long_texts_are_cut_at_a_sentence_and_titles_at_a_word() {
        assert_eq!(cut_at_sentence("One two. Three.", 15), "One two. Three.");
        assert_eq!(cut_at_sentence("One two. Three four.", 15), "One two.");
        assert_eq!(cut_at_sentence("One two three four.", 10), "One two…");
        assert_eq!(cut_at_sentence("Oné", 2), "O…");
        assert_eq!(cut_at_word("rug and the trap door", 16), "rug and the trap");
        assert_eq!(cut_at_word("rug and the trap door", 15), "rug and the");
        assert_eq!((cut_at_word("trapdoor", 4), cut_at_word("a b", 3)), ("trap", "a b"));
    }

    #[test]
    fn only_longer_texts_are_truncated() {
        assert_eq!(truncate("été", 3), "été");
        assert_eq!(truncate("étés", 3), "été…");
        assert_eq!(truncate(" a ", 2), " a…");
    }

    #[test]
    fn escaped_text_has_only_characters_that_xml_has() {
        assert_eq!(escape_xml("a <b> & \"c\"\n\té🗡"), "a &lt;b&gt; &amp; &quot;c&quot;\n\té🗡");
        assert_eq!(escape_xml("\0\u{1b}[1m\r\u{7f}\u{FFFE}\u{FFFF}\u{FFFD}"), "��[1m�����");
    }
}
