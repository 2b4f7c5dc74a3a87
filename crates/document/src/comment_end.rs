//! The end of a comment, `-->`, in new text below a comment that is never closed: it is written as `--\>`.
//!
//! A text enters in the form of its line; it leaves in the form of the file, and back. Each `\` that stands before the
//! `>` in the text itself is doubled once more, so `read(write(text)) == text`, and `read(escape(text)) == text` for
//! what `write` gave. Titles need none of this: a `\` before punctuation is no part of them.

use std::borrow::Cow;

use memchr::memmem;

use crate::types::text::replace_ranges;

/// The form of the file: `--\>` of a text gets a further `\`.
pub(crate) fn write(text: &str) -> Cow<'_, str> {
    replace_ranges(text, escaped_ends(text).map(|at| (at..at, "\\")))
}

/// The text itself: one `\` less.
pub fn read(text: &str) -> Cow<'_, str> {
    replace_ranges(text, escaped_ends(text).map(|at| (at - 1..at, "")))
}

/// A line of `write` as it can stand below an unclosed comment.
pub(crate) fn escape(line: &str) -> String {
    line.replace("-->", "--\\>")
}

/// Positions of each `>` before which `--` and at least one `\` stand.
fn escaped_ends(text: &str) -> impl Iterator<Item = usize> {
    // Most lines have no `\`, and looking for one byte takes less time.
    let text = if memchr::memchr(b'\\', text.as_bytes()).is_some() { text } else { "" };
    memmem::find_iter(text.as_bytes(), b"\\>").map(|at| at + 1).filter(|&at| {
        let before = &text[..at];
        before.trim_end_matches('\\').ends_with("--")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_of_comments_are_escaped() {
        assert_eq!(escape("a -->\n--->c"), "a --\\>\n---\\>c");
        assert_eq!((write("x --\\> y"), read("x --\\\\> y")), ("x --\\\\> y".into(), "x --\\> y".into()));
        assert_eq!(write("a \\> b -\\> c"), "a \\> b -\\> c");
        assert_eq!(read("--\\>--\\>"), "-->-->");
    }

    proptest! {
        #[test]
        fn all_texts_come_back(text in r"[-\\>a\n]{0,16}") {
            let written = write(&text);
            prop_assert_eq!(&read(&written), &text);
            let escaped = escape(&written);
            prop_assert!(!escaped.contains("-->"));
            prop_assert_eq!(&read(&escaped), &text);
        }
    }
}
