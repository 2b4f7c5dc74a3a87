//! A file of the tool as an entry: its text, and tags for white space that a text of the memory file cannot have.
//!
//! A text has no blank lines around it, and the entry says nothing of the end of its last line. A file ends with one
//! line break unless `#file-end:` says otherwise: `none`, a number of line breaks, or the white space itself.
//! `#file-start:` has the blank lines before the text in the same way. A file that is empty, or has only white space,
//! has the text `(empty)` and the tag `#file-empty`.

use std::borrow::Cow;

use memories_document::EntryText;
use memories_document::comment_end;
use memories_document::field::Field;
use memories_document::fields::{percent_decode, split_fields};
use memories_document::text::stored_text;
use memories_document::types::{Category, Memory};

/// Largest file, in bytes.
pub(super) const MAX_CONTENT: usize = 1 << 20;

/// Most white space other than line breaks, before and behind a text, in bytes.
const MAX_SPACE: usize = 500;

const FILE: &str = "file:";
const START: &str = "file-start:";
const END: &str = "file-end:";
const EMPTY: &str = "file-empty";

/// The text of an entry whose file has none.
const NOTHING: &str = "(empty)";

/// The path in the tags of an entry, as the tag has it; `None` for an entry that is no file. Its text is not read.
pub(super) fn path_of(entry: &EntryText<'_>) -> Option<String> {
    let fields = comment_end::read(entry.parts().fields);
    split_fields(&fields).find_map(|(_, field)| match field {
        Field::Tag(tag) => percent_decode(tag).strip_prefix(FILE).map(str::to_owned),
        _ => None,
    })
}

/// The entry of a new file.
pub(super) fn new_entry(title: &str, path: &str, content: &str) -> Memory {
    with_content(Memory::new(Category::note(), title, ""), path, content)
}

/// The entry with another path and content.
pub(super) fn with_content(mut memory: Memory, path: &str, content: &str) -> Memory {
    let text = stored_text(content);
    let start = content.len() - content.trim_start_matches(is_space).len();
    let start =
        if text.is_empty() { content.len() } else { content[..start].rfind('\n').map_or(0, |at| at + 1) };
    let (before, behind) = (&content[..start], content.get(start + text.len()..).unwrap_or_default());
    let is_own = |tag: &String| tag == EMPTY || [FILE, START, END].iter().any(|mark| tag.starts_with(mark));
    let mut tags = vec![format!("{FILE}{path}")];
    if text.is_empty() {
        tags.push(EMPTY.to_owned());
    }
    if !before.is_empty() {
        tags.push(format!("{START}{}", write_space(before)));
    }
    if !text.is_empty() && behind != "\n" {
        tags.push(format!("{END}{}", write_space(behind)));
    }
    tags.extend(memory.provenance.tags.into_iter().filter(|tag| !is_own(tag)));
    memory.provenance.tags = tags;
    memory.text = if text.is_empty() { NOTHING.to_owned() } else { text };
    memory
}

/// The content of a file, also where a person changed the text of its entry.
pub(super) fn content_of(memory: &Memory) -> String {
    let tagged = |mark: &str| {
        let written = memory.provenance.tags.iter().find_map(|tag| tag.strip_prefix(mark));
        written.and_then(read_space)
    };
    let start = tagged(START).unwrap_or_default();
    let is_empty = memory.text == NOTHING && memory.has_tag(EMPTY);
    if is_empty {
        start.into_owned()
    } else {
        format!("{start}{}{}", memory.text, tagged(END).unwrap_or(Cow::Borrowed("\n")))
    }
}

/// Why a content cannot be stored as it is.
pub(super) fn problem_of(content: &str) -> Option<String> {
    if content.len() > MAX_CONTENT {
        return Some(format!("it has {} bytes, and a file may have {MAX_CONTENT}", content.len()));
    }
    let is_forbidden =
        |c: char| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    if let Some((at, forbidden)) = content.char_indices().find(|(_, c)| is_forbidden(*c)) {
        let line = content[..at].matches('\n').count() + 1;
        let name = match forbidden {
            '\r' => "a carriage return",
            '\0' => "a NUL",
            '\u{1b}' => "an escape",
            _ => "a control character",
        };
        let code = u32::from(forbidden);
        return Some(format!(
            "line {line} has {name} (U+{code:04X}). Of control characters, a file has only tabs and \\n"
        ));
    }
    let outer = |text: &str| text.chars().filter(|c| *c != '\n').count();
    let trimmed = content.trim_matches(is_space);
    (outer(content) - outer(trimmed) > MAX_SPACE)
        .then(|| format!("it has more than {MAX_SPACE} spaces and tabs before or behind its text"))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n')
}

fn write_space(space: &str) -> Cow<'_, str> {
    match space {
        "" => Cow::Borrowed("none"),
        space if space.bytes().all(|byte| byte == b'\n') => Cow::Owned(space.len().to_string()),
        space => Cow::Borrowed(space),
    }
}

/// Reads what [`write_space`] wrote; `None` for anything else.
fn read_space(written: &str) -> Option<Cow<'_, str>> {
    match written {
        "none" => Some(Cow::Borrowed("")),
        space if !space.is_empty() && space.chars().all(is_space) => Some(Cow::Borrowed(space)),
        number => {
            let number = number.parse().ok().filter(|number| *number <= MAX_CONTENT)?;
            Some(Cow::Owned("\n".repeat(number)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use memories_document::stored;

    #[test]
    fn tags_tell_what_a_text_does_not() {
        for (content, text, tags) in [
            ("a\n", "a", &["file:x"][..]),
            ("a", "a", &["file:x", "file-end:none"]),
            ("\n\n  a\n\n\n", "  a", &["file:x", "file-start:2", "file-end:3"]),
            (" \na \t\n ", "a \t", &["file:x", "file-start: \n", "file-end:\n "]),
            ("", "(empty)", &["file:x", "file-empty"]),
            ("\n", "(empty)", &["file:x", "file-empty", "file-start:1"]),
            ("(empty)", "(empty)", &["file:x", "file-end:none"]),
        ] {
            let memory = new_entry("x", "x", content);
            assert_eq!(
                (memory.text.as_str(), memory.provenance.tags.as_slice()),
                (text, &tags.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
                "{content:?}"
            );
            assert_eq!(content_of(&memory), content);
        }
    }

    #[test]
    fn what_a_person_wrote_in_its_place_is_the_content() {
        let empty = Memory { text: "Now it has words.".to_owned(), ..new_entry("x", "x", "") };
        assert_eq!(content_of(&empty), "Now it has words.\n");
        let mut odd = new_entry("x", "x", "a");
        odd.provenance.tags =
            vec!["file:x".to_owned(), "file-end:many".to_owned(), "file-start:99999999".to_owned()];
        assert_eq!(content_of(&odd), "a\n");
    }

    #[test]
    fn what_a_text_cannot_have_is_told_with_its_line() {
        assert!(problem_of("a\nb\r\n").unwrap().starts_with("line 2 has a carriage return (U+000D)"));
        assert!(problem_of("\u{2028}").unwrap().starts_with("line 1 has a control character"));
        assert!(problem_of(&"a".repeat(MAX_CONTENT + 1)).is_some());
        assert!(problem_of(&" ".repeat(501)).is_some());
        assert_eq!(problem_of(&"\n".repeat(MAX_CONTENT)), None);
        assert_eq!(problem_of("\ta\n\u{fe0f}😀"), None);
    }

    proptest! {
        #[test]
        fn a_content_comes_back(content in "[ \t\na#*`<>!\\\\-]{0,40}") {
            let memory = stored(&new_entry("x", "x", &content));
            prop_assert_eq!(content_of(&memory), content);
        }
    }
}
