//! Texts of `view`, `str_replace` and `insert`, with the numbers of lines.

use std::ops::Range;

use crate::memory_tool::error::refused;
use memories_document::types::model_text::find_shown;
use memories_notebook::NotebookError;

/// Most lines of a file that is shown.
const MAX_LINES: usize = 999_999;

/// Columns of a line number.
const NUMBER_WIDTH: usize = 6;

/// Most lines that an error names.
const MAX_NAMED_LINES: usize = 1000;

/// A file for the model: all its lines, or those of a range, with their numbers.
///
/// # Errors
///
/// Refuses a file of too many lines.
pub(super) fn numbered_file(
    named: &str,
    content: &str,
    range: Option<(i64, i64)>,
) -> Result<String, NotebookError> {
    let lines: Vec<&str> = content.split('\n').collect();
    if lines.len() > MAX_LINES {
        return refused(format!("File {named} exceeds maximum line limit of 999,999 lines."));
    }
    let (first, end) = match range {
        None => (0, lines.len()),
        Some((first, last)) => {
            let end = match last {
                -1 => lines.len(),
                last if last < 0 => lines.len().saturating_sub(clamped(last.saturating_neg())),
                last => clamped(last).min(lines.len()),
            };
            (clamped(first.max(1) - 1), end)
        }
    };
    let shown = lines.get(first..end).unwrap_or_default();
    Ok(format!("Here's the content of {named} with line numbers:\n{}", numbered(shown, first)))
}

fn clamped(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Lines with their numbers; `first` of the file stand before them.
fn numbered(lines: &[&str], first: usize) -> String {
    let numbered =
        lines.iter().zip(first + 1..).map(|(line, number)| format!("{number:>NUMBER_WIDTH$}\t{line}"));
    numbered.collect::<Vec<_>>().join("\n")
}

/// The content with a text replaced that it has exactly once, and the offset of the new text.
///
/// # Errors
///
/// Refuses a text that the content has not, or several times.
pub(super) fn replaced(
    named: &str,
    content: &str,
    old: &str,
    new: &str,
) -> Result<(String, usize), NotebookError> {
    let mut found: Vec<Range<usize>> =
        content.match_indices(old).take(2).map(|(at, _)| at..at + old.len()).collect();
    // The model may send what it was shown.
    if found.is_empty() {
        found = find_shown(content, old);
    }
    match &found[..] {
        [] => refused(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {named}."
        )),
        [one] => Ok((format!("{}{new}{}", &content[..one.start], &content[one.end..]), one.start)),
        _ => {
            let lines = lines_with(content, &content[found[0].clone()]);
            refused(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            ))
        }
    }
}

/// The line of each place where a text stands, also of those that overlap. Of very many, the first.
fn lines_with(content: &str, text: &str) -> String {
    let (mut lines, mut line, mut from) = (Vec::new(), 1, 0);
    while let Some(found) = content[from..].find(text) {
        if lines.len() == MAX_NAMED_LINES {
            lines.push("…".to_owned());
            break;
        }
        let at = from + found;
        line += content[from..at].matches('\n').count();
        lines.push(line.to_string());
        let Some(next) = content[at..].chars().next() else { break };
        line += usize::from(next == '\n');
        from = at + next.len_utf8();
    }
    lines.join(", ")
}

/// The answer to a replacement: the lines around it.
pub(super) fn snippet(content: &str, at: usize) -> String {
    let lines: Vec<&str> = content.split('\n').collect();
    let changed = content[..at].matches('\n').count();
    let (first, end) = (changed.saturating_sub(2), (changed + 3).min(lines.len()));
    let shown = numbered(&lines[first..end], first);
    format!(
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"
    )
}

/// The content with lines inserted behind one of its lines.
///
/// # Errors
///
/// Refuses a line that the content has not.
pub(super) fn inserted(content: &str, line: i64, text: &str) -> Result<String, NotebookError> {
    let mut lines: Vec<&str> = content.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len());
    let Some(at) = at else {
        let last = lines.len();
        return refused(format!(
            "Invalid `insert_line` parameter: {line}. It should be within the range [0, {last}]."
        ));
    };
    lines.insert(at, text.trim_end_matches('\n'));
    let mut content = lines.join("\n");
    if !content.ends_with('\n') {
        content.push('\n');
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(content: &str, range: (i64, i64)) -> String {
        let shown = numbered_file("f", content, Some(range)).unwrap();
        shown.lines().skip(1).map(|line| line.trim_start().replace('\t', ":")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_range_is_cut_to_the_file() {
        let text = "a\nb\nc\nd\n";
        for (range, shown) in [
            ((1, 2), "1:a 2:b"),
            ((0, 1), "1:a"),
            ((-5, 1), "1:a"),
            ((4, -1), "4:d 5:"),
            ((2, -2), "2:b 3:c"),
            ((3, 99), "3:c 4:d 5:"),
            ((3, 2), ""),
            ((9, -1), ""),
            ((i64::MAX, i64::MIN), ""),
        ] {
            assert_eq!(view(text, range), shown, "{range:?}");
        }
        assert!(numbered_file("f", &"\n".repeat(999_999), None).is_err());
    }

    #[test]
    fn overlapping_places_are_named() {
        let lines = |content: &str, old: &str| replaced("f", content, old, "x").unwrap_err().to_string();
        assert!(lines("aaa\naa", "aa").contains("in lines: 1, 1, 2. Please"));
        assert!(lines("é\n", "").contains("in lines: 1, 1, 2. Please"));
        assert!(lines(&"a\n".repeat(2000), "a").contains("999, 1000, …. Please"));
        assert_eq!(replaced("f", "aaa", "aa", "x").unwrap(), ("xa".to_owned(), 0));
        assert_eq!(replaced("f", "", "", "x").unwrap(), ("x".to_owned(), 0));
    }

    #[test]
    fn inserted_lines_end_with_one_line_break() {
        assert_eq!(inserted("", 0, "a\n\n").unwrap(), "a\n");
        assert_eq!(inserted("a", 1, "b").unwrap(), "a\nb\n");
        assert_eq!(inserted("a\n", 0, "").unwrap(), "\na\n");
        assert!(inserted("a\n", 2, "").is_err() && inserted("a", -1, "").is_err());
    }
}
