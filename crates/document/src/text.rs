//! Texts and titles: their stored form and escaping (strikethrough: `strike`).
//!
//! Escaped text can stand in the file without being read as anything else. Each transformation has an
//! exact inverse on the stored form: `read_title(write_title(t)) == t`,
//! `read_text(write_text(t)) == t`. Lines here end in `\n`; `splice`
//! converts them to the line endings of the file.

use std::borrow::Cow;

use crate::comment_end;
use crate::scan::{self, Block};
use crate::strike::{is_struck, unstrike};
use crate::types::text::{cut_at_sentence, fold_spaces};

/// Longest title, in characters; longer ones are cut.
pub const TITLE_CHARS: usize = 80;

/// Longest reply of a tried action, in characters; longer ones are cut.
pub(crate) const REPLY_CHARS: usize = 64;

pub(crate) const CONTEXT: &str = "Context:";
pub(crate) const SEE_ALSO: &str = "See also:";

/// The stored form of a text: line endings are LF, controls except TAB (C0, DEL, C1) and the separators of lines and
/// paragraphs are U+FFFD, and there are no blank lines around it.
pub fn stored_text(text: &str) -> String {
    let text = replace_controls(text);
    let mut lines: Vec<&str> = text.split('\n').collect();
    while lines.last().is_some_and(scan::is_blank) {
        lines.pop();
    }
    let leading = lines.iter().take_while(|line| scan::is_blank(line)).count();
    lines[leading..].join("\n")
}

/// The stored form of a text on one line: white space, which all separators of lines are, is single spaces.
pub fn stored_line(text: &str) -> String {
    if is_plain_line(text) {
        text.to_owned()
    } else {
        fold_spaces(&replace_controls(&text.replace(['\u{85}', '\u{2028}', '\u{2029}'], " ")))
    }
}

/// True if a text is one line of printable ASCII with single spaces, as most are: it is its own stored form.
fn is_plain_line(text: &str) -> bool {
    let is_single = |pair: &[u8]| pair != b"  ";
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.as_bytes().windows(2).all(is_single)
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

/// The stored form of a title: one line of at most [`TITLE_CHARS`] characters.
pub fn stored_title(title: &str) -> String {
    stored_line(title).chars().take(TITLE_CHARS).collect::<String>().trim_end().to_owned()
}

/// The stored form of a reply: on one line, the sentences that fit into `REPLY_CHARS` (64) characters, else the words of
/// the first one.
pub fn stored_reply(reply: &str) -> String {
    cut_at_sentence(&stored_line(reply), REPLY_CHARS)
}

fn replace_controls(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| match c {
            '\r' => '\n',
            '\n' | '\t' => c,
            '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Writes a stored title as it stands between `**` and `**`.
pub fn write_title(title: &str) -> String {
    let mut out = String::with_capacity(title.len() + 4);
    let mut chars = title.chars().peekable();
    while let Some(c) = chars.next() {
        // The next character in the file: of the title, or the closing `**`.
        let escapes = c == '\\' && chars.peek().is_none_or(char::is_ascii_punctuation);
        if c == '*' || escapes {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Reads a title, also one that a person wrote.
pub(crate) fn read_title(written: &str) -> String {
    unescape(written.trim(), |c| c.is_ascii_punctuation())
}

/// Removes every `\` before a character that needs one.
pub(crate) fn unescape(text: &str, needs_escape: impl Fn(char) -> bool) -> String {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = chars.next_if(|&next| c == '\\' && needs_escape(next));
        out.push(escaped.unwrap_or(c));
    }
    out
}

/// Position of the first unescaped `**`.
pub(crate) fn find_unescaped_stars(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
            b'*' if bytes.get(at + 1) == Some(&b'*') => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// How to write code fences that a text opens and closes at column 0. Below an unclosed fence they
/// cannot stay code fences, because they would close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// They stay as they are.
    Keep,
    /// Every fence line is escaped.
    Escape,
}

/// Writes a stored text as it stands in the file: a line that would be read as something else gets a `\`
/// before its first character.
pub(crate) fn write_text(text: &str, fences: Fences) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut out = String::with_capacity(text.len() + 8);
    let mut unclosed: Vec<Block> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let verbatim = match fences {
            Fences::Keep => own_fence(&lines[at..], &mut unclosed),
            Fences::Escape => 0,
        };
        for line in &lines[at..at + verbatim] {
            push_line(&mut out, line);
        }
        at += verbatim;
        if verbatim == 0 {
            let after_text = at == 0 || !scan::is_blank(lines[at - 1]);
            push_line(&mut out, &escape_line(lines[at], after_text));
            at += 1;
        }
    }
    comment_end::write(&out).into_owned()
}

fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(line);
}

/// Number of lines of a closed fence that opens on the first line at column 0; 0 if there is none.
/// `unclosed` collects openers without an end, so that no text costs more than a few passes.
fn own_fence(lines: &[&str], unclosed: &mut Vec<Block>) -> usize {
    let first = lines[0].as_bytes();
    let Some(block @ Block::Fence(mark, _)) = Block::opened_by(first) else { return 0 };
    if first[0] != mark || unclosed.iter().any(|known| known.implies_unclosed(block)) {
        return 0;
    }
    match lines.iter().skip(1).position(|line| block.is_closed_by(line.as_bytes())) {
        Some(distance) => distance + 2,
        None => {
            unclosed.push(block);
            0
        }
    }
}

fn escape_line(line: &str, after_text: bool) -> Cow<'_, str> {
    let Some(rest) = scan::unindent(line.as_bytes()) else { return Cow::Borrowed(line) };
    let indent = line.len() - rest.len();
    let rest = &line[indent..];
    if starts_something(rest, after_text) || unescaped(rest).is_some() {
        Cow::Owned(format!("{}\\{rest}", &line[..indent]))
    } else {
        Cow::Borrowed(line)
    }
}

/// True if a line, without its indentation, would be read as more than text.
fn starts_something(line: &str, after_text: bool) -> bool {
    let bytes = line.as_bytes();
    let Some(&first) = bytes.first() else { return false };
    match first {
        b'#' => scan::heading_level(bytes).is_some() || line.starts_with("##"),
        b'=' => after_text && is_underline(line, '='),
        b'-' => scan::is_thematic_break(line) || (after_text && is_underline(line, '-')) || lists_entry(line),
        b'+' | b'>' if lists_entry(line) => true,
        b'*' => {
            let begins_entry = line.starts_with("**[") || resembles_entry(line) || lists_entry(line);
            begins_entry || scan::is_thematic_break(line)
        }
        b'_' => scan::is_thematic_break(line) || resembles_entry(line),
        b'`' => Block::opened_by(bytes).is_some(),
        b'~' => Block::opened_by(bytes).is_some() || is_struck(line),
        b'<' | b'>' | b'|' if scan::is_conflict_marker(bytes) => true,
        b'<' => bytes.get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?')),
        b'[' => line.starts_with("[Superseded") || line.starts_with("[Invalidated") || resembles_entry(line),
        b'C' => line.starts_with(CONTEXT),
        b'S' => line.starts_with(SEE_ALSO),
        _ => false,
    }
}

/// True if a line is an item of a list, or a quotation, that begins like an entry or resembles a line of evidence.
fn lists_entry(line: &str) -> bool {
    let has_mark = || ["](#location-", "*(Ep", "_(Ep"].iter().any(|mark| line.contains(mark));
    if line[1..].trim_start().starts_with('`') && has_mark() {
        return true;
    }
    let inner = line[1..].trim_start();
    inner.len() < line.len() - 1 && ["**[", "__["].iter().any(|start| inner.starts_with(start))
}

/// True if a line might be taken for an entry that lost some of its marks, or for the fields of one.
fn resembles_entry(line: &str) -> bool {
    let inner = line.trim_start_matches(['*', '_']);
    let marks = line.len() - inner.len();
    if inner.starts_with('(') {
        return marks > 0;
    }
    let bracket = inner.strip_prefix('[');
    let (Some(end), true) = (inner.find(']'), marks >= 2 || bracket.is_some()) else { return false };
    let is_upper = !inner[..end].bytes().any(|byte| byte.is_ascii_lowercase());
    is_upper && line.trim_end().ends_with(['*', '_', ')'])
}

/// True if a line, where it stands unescaped in a text, is of a person: a program would have escaped it.
pub(crate) fn is_escaped_in_text(line: &str) -> bool {
    matches!(escape_line(line, false), Cow::Owned(_))
}

fn is_underline(line: &str, mark: char) -> bool {
    line.trim_end_matches([' ', '\t']).chars().all(|c| c == mark)
}

/// The parsed text of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReadText {
    pub(crate) text: String,
    /// Value of a closing line `Context: …`.
    pub(crate) context: Option<String>,
    /// Value of a closing line `See also: …`.
    pub(crate) see_also: Option<String>,
}

/// Reads the lines of an entry: leaves out comments, removes escapes, and takes the closing lines
/// `See also:` and `Context:` off.
pub(crate) fn read_text<'a>(lines: impl Iterator<Item = (&'a str, bool)>, struck: bool) -> ReadText {
    let mut kept: Vec<(Cow<'a, str>, bool)> = Vec::new();
    for (line, hidden, comment) in mark_comments(lines) {
        if !comment {
            let line = if struck && !hidden { unstrike(line) } else { Cow::Borrowed(line) };
            kept.push((read_ends(line), hidden));
        }
    }
    trim_blank(&mut kept);
    let mut read = ReadText::default();
    while let Some((line, false)) = kept.last() {
        if let Some(value) = line.strip_prefix(CONTEXT).filter(|_| read.context.is_none()) {
            read.context = Some(value.trim().to_owned());
        } else if let Some(value) = line.strip_prefix(SEE_ALSO).filter(|_| read.see_also.is_none()) {
            read.see_also = Some(value.trim().to_owned());
        } else {
            break;
        }
        kept.pop();
        trim_blank(&mut kept);
    }
    let lines: Vec<Cow<'_, str>> =
        kept.into_iter().map(|(line, hidden)| if hidden { line } else { unescape_line(line) }).collect();
    read.text = lines.join("\n");
    read
}

/// Position of the `See also:` line among an entry's lines: the number of the line that it replaces
/// (`true`) or before which it is inserted (`false`).
pub(crate) fn closing_place<'a>(lines: impl Iterator<Item = (&'a str, bool)>) -> (usize, bool) {
    let lines: Vec<(&str, bool, bool)> = mark_comments(lines).collect();
    let mut context = None;
    for (at, (line, hidden, comment)) in lines.iter().enumerate().rev() {
        if *comment || !hidden && scan::is_blank(line) {
            continue;
        }
        if !hidden && line.starts_with(SEE_ALSO) {
            return (at, true);
        }
        if *hidden || !line.starts_with(CONTEXT) || context.is_some() {
            break;
        }
        context = Some(at);
    }
    let behind =
        lines.iter().rposition(|(line, hidden, comment)| !comment && (*hidden || !scan::is_blank(line)));
    // Comments behind the text stay behind it.
    (context.or(behind.map(|at| at + 1)).unwrap_or(0), false)
}

/// Adds to each line, given whether it is hidden, whether it is part of a comment.
pub(crate) fn mark_comments<'a>(
    lines: impl Iterator<Item = (&'a str, bool)>,
) -> impl Iterator<Item = (&'a str, bool, bool)> {
    let mut open: Option<Block> = None;
    lines.map(move |(line, hidden)| {
        let block = open.or_else(|| if hidden { Block::opened_by(line.as_bytes()) } else { None });
        let may_close = open.is_some() || block == Some(Block::Comment);
        open = block.filter(|block| !(may_close && block.is_closed_by(line.as_bytes())));
        (line, hidden, block == Some(Block::Comment))
    })
}

fn read_ends(line: Cow<'_, str>) -> Cow<'_, str> {
    match line {
        Cow::Borrowed(line) => comment_end::read(line),
        Cow::Owned(line) => Cow::Owned(comment_end::read(&line).into_owned()),
    }
}

fn trim_blank(lines: &mut Vec<(Cow<'_, str>, bool)>) {
    while lines.last().is_some_and(|(line, hidden)| !hidden && scan::is_blank(line.as_bytes())) {
        lines.pop();
    }
    let leading =
        lines.iter().take_while(|(line, hidden)| !hidden && scan::is_blank(line.as_bytes())).count();
    lines.drain(..leading);
}

/// Writes the closing lines of an entry.
pub(crate) fn write_closing_lines(see_also: Option<&str>, context: Option<&str>) -> String {
    let mut out = String::new();
    for (mark, value) in [(SEE_ALSO, see_also), (CONTEXT, context)] {
        if let Some(value) = value {
            out.push_str(&format!("{mark} {}\n", comment_end::write(&stored_line(value))));
        }
    }
    out
}

pub(crate) fn unescape_line(line: Cow<'_, str>) -> Cow<'_, str> {
    let Some(rest) = scan::unindent(line.as_bytes()) else { return line };
    let indent = line.len() - rest.len();
    match unescaped(&line[indent..]) {
        Some(rest) => Cow::Owned(format!("{}{rest}", &line[..indent])),
        None => line,
    }
}

/// The line without its leading escape; `None` if it has none.
fn unescaped(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('\\')?;
    let escapes = rest.starts_with(|c: char| c.is_ascii_punctuation())
        || rest.starts_with(CONTEXT)
        || rest.starts_with(SEE_ALSO);
    escapes.then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(written: &str, struck: bool) -> ReadText {
        let lines = scan::lines(written);
        read_text(lines.iter().map(|line| (line.text(written), line.hidden)), struck)
    }

    #[test]
    fn stored_forms() {
        assert_eq!(stored_text("\n \r\na\rb\u{0}c\t\n\n"), "a\nb\u{FFFD}c\t");
        assert_eq!(
            stored_text("a\u{7f}b\u{9b}31mc\u{85}d\u{2028}e\u{2029}f"),
            "a\u{FFFD}b\u{FFFD}31mc\u{FFFD}d\u{FFFD}e\u{FFFD}f"
        );
        assert_eq!(stored_title("a\u{7f}b\u{9b}c\u{85}d\u{2028}e"), "a\u{FFFD}b\u{FFFD}c d e");
        assert_eq!(stored_text(" \n"), "");
        assert_eq!(stored_title(" a \n b\u{2028}c "), "a b c");
        assert_eq!(stored_title(&"x".repeat(90)).chars().count(), 80);
    }

    #[test]
    fn only_lines_that_need_it_are_escaped() {
        let text = "# a\n#b\n- list\n---\n**[X] y**\nContext: z\n<b>\n< c\n\n==\nx\n==\n\\# d\n\\d\n    # e\n<<<<<<< a\n>>>>>>>";
        let written = "\\# a\n#b\n- list\n\\---\n\\**[X] y**\n\\Context: z\n\\<b>\n< c\n\n==\nx\n\\==\n\\\\# d\n\\d\n    # e\n\\<<<<<<< a\n>>>>>>>";
        assert_eq!(write_text(text, Fences::Keep), written);
        assert_eq!(read(written, false).text, text);
    }

    #[test]
    fn closed_fences_stay_and_open_ones_are_escaped() {
        let text = "```\n## a\n```\n~~~\n# b";
        assert_eq!(write_text(text, Fences::Keep), "```\n## a\n```\n\\~~~\n\\# b");
        assert_eq!(write_text(text, Fences::Escape), "\\```\n\\## a\n\\```\n\\~~~\n\\# b");
    }

    #[test]
    fn comments_of_people_are_not_part_of_the_text() {
        let read = read("a\n<!-- one\ntwo -->\n<!-- three -->\nb\nSee also: c\nContext: d\n", false);
        assert_eq!(read.text, "a\nb");
        assert_eq!(read.see_also.as_deref(), Some("c"));
        assert_eq!(read.context.as_deref(), Some("d"));
    }

    fn hostile() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            r"[ ]{0,5}[\\#=\-*_`~<>\[\]!:.a-cSC0-9\t ]{0,12}",
            Just("```".to_owned()),
            Just("<!--".to_owned()),
            Just("-->".to_owned()),
            Just("Context: x".to_owned()),
            Just("[Superseded at T1 by \"x\"]".to_owned()),
            Just("**[NOTE] x** *(Ep1)*".to_owned()),
            "\\PC{0,20}",
        ];
        prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn titles_come_back(title in "[\\\\*a `\\]\\PC]{0,90}") {
            let stored = stored_title(&title);
            let written = write_title(&stored);
            prop_assert_eq!(find_unescaped_stars(&format!("{written}** x")), Some(written.len()));
            prop_assert_eq!(read_title(&written), stored);
        }

        #[test]
        fn texts_come_back(text in hostile(), keep: bool) {
            let stored = stored_text(&text);
            prop_assert_eq!(stored_text(&stored), stored.clone());
            let fences = if keep { Fences::Keep } else { Fences::Escape };
            let written = write_text(&stored, fences);
            let back = read(&written, false);
            prop_assert_eq!(back, ReadText { text: stored, ..ReadText::default() });
        }
    }
}
