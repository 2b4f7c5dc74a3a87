//! Formats of the text of a recall.

use strum::VariantNames as _;

use crate::types::unknown_name;

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum Format {
    /// Plain text, for a prompt.
    #[default]
    Text,
    /// Markdown with a heading for each scope.
    Markdown,
    /// XML elements, for prompts that are built of them.
    Xml,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", Format::VARIANTS)
}

/// A text as content or attribute of XML 1.0, which has no place for some characters.
pub(super) fn escape(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_has_only_characters_that_xml_has() {
        assert_eq!(escape("a <b> & \"c\"\n\té🗡"), "a &lt;b&gt; &amp; &quot;c&quot;\n\té🗡");
        assert_eq!(escape("\0\u{1b}[1m\r\u{7f}\u{FFFE}\u{FFFF}\u{FFFD}"), "��[1m�����");
    }
}
