//! Strikethrough of the lines of a superseded entry. `unstrike(strike(l)) == l` for any line.

use std::borrow::Cow;

use crate::scan::is_blank;

/// Strikes a line: `~~` after its indentation and list marks, and at its end. Blank lines and bare list
/// marks stay as they are.
pub(crate) fn strike(line: &str) -> Cow<'_, str> {
    let (marks, rest) = split_marks(line);
    if rest.is_empty() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(format!("{marks}~~{}~~", escape_tildes(rest)))
}

/// Undoes [`strike`]; other lines stay as they are.
pub(crate) fn unstrike(line: &str) -> Cow<'_, str> {
    let (marks, rest) = split_marks(line);
    let inner = rest.strip_prefix("~~").and_then(|rest| rest.strip_suffix("~~"));
    match inner {
        Some(inner) if !inner.is_empty() => Cow::Owned(format!("{marks}{}", unescape_tildes(inner))),
        _ => Cow::Borrowed(line),
    }
}

/// Splits a line behind its indentation, list marks and quote marks.
fn split_marks(line: &str) -> (&str, &str) {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &line[at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match rest.as_bytes().get(digits) {
            Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
            Some(b'-' | b'*' | b'+' | b'>') if digits == 0 => 1,
            _ => return (&line[..at], rest),
        };
        let bare = rest.len() == mark;
        if !bare && !matches!(rest.as_bytes()[mark], b' ' | b'\t') {
            return (&line[..at], rest);
        }
        at += mark;
    }
}

/// Escapes each `~` of a line, so that it does not end the strikethrough; each run of `\` before a `~`
/// or the end is doubled.
fn escape_tildes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        match c {
            '\\' => backslashes += 1,
            '~' => {
                out.extend(std::iter::repeat_n('\\', backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out.extend(std::iter::repeat_n('\\', backslashes));
    out
}

fn unescape_tildes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        if c == '\\' {
            backslashes += 1;
            continue;
        }
        let kept = if c == '~' { backslashes / 2 } else { backslashes };
        out.extend(std::iter::repeat_n('\\', kept));
        backslashes = 0;
        out.push(c);
    }
    out.extend(std::iter::repeat_n('\\', backslashes / 2));
    out
}

/// True if each line of an entry's text that is not blank is struck. Each line comes with whether it is hidden.
pub(crate) fn is_all_struck<'a>(lines: impl Iterator<Item = (&'a str, bool)>) -> bool {
    let mut lines = lines.filter(|(line, _)| !is_blank(line)).peekable();
    lines.peek().is_some() && lines.all(|(line, hidden)| !hidden && is_struck(split_marks(line).1))
}

/// True if a line is struck from end to end.
pub(crate) fn is_struck(line: &str) -> bool {
    let line = line.trim();
    line.len() > 4 && line.starts_with("~~") && line.ends_with("~~")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::Block;

    #[test]
    fn strikes_keep_marks_in_front() {
        assert_eq!(strike("  - 1. a ~ b"), "  - 1. ~~a \\~ b~~");
        assert_eq!(strike("~~a~~"), "~~\\~\\~a\\~\\~~~");
        assert_eq!(strike("-"), "-");
        assert_eq!(unstrike("~~Troll accepted lunch.~~"), "Troll accepted lunch.");
    }

    proptest! {
        #[test]
        fn struck_lines_come_back(line in r"[ ]{0,3}[\\~\-*>1.)a ]{0,12}") {
            let struck = strike(&line);
            prop_assert_eq!(unstrike(&struck), line.as_str());
            prop_assert!(Block::opened_by(struck.as_bytes()).is_none() || struck == line);
        }
    }
}
