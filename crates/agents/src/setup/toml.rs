//! TOML: an entry is a table with a heading of its own, at the end of the text.
//!
//! The edits are made in the text: `toml_edit` changes `\r\n` into `\n`, and ends the last line.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::{Entry, Slot};
use super::piece::line_ending;
use super::problem::Problem;

/// The value of a text.
pub(super) fn value(text: &str) -> Result<Value, Problem> {
    toml::from_str(text)
        .map_err(|error| Problem::at(text, error.span().map_or(0, |span| span.start), error.message()))
}

/// A new entry, which stands behind everything else.
pub(super) fn insertion(text: &str, entry: &Entry) -> Result<String, Problem> {
    let Slot::Member(key) = &entry.slot else {
        return Err(Problem::NotEditable("a list of TOML is not edited"));
    };
    let ending = line_ending(text);
    let heading = entry.path.iter().chain([key]).map(String::as_str).collect::<Vec<_>>().join(".");
    let mut core = format!("[{heading}]");
    for (key, value) in entry.value.as_object().into_iter().flatten() {
        core.push_str(&format!("{ending}{key} = {}", rendered(value)));
    }
    let is_blank = text.trim().is_empty();
    let ends_line = text.is_empty() || text.ends_with('\n');
    let blank_line = [ending, ending].concat();
    let before = match (is_blank, ends_line) {
        (false, false) => &blank_line,
        (true, false) => ending,
        (false, true) if !text.ends_with(&blank_line) => ending,
        _ => "",
    };
    Ok([before, &core, if ends_line { ending } else { "" }].concat())
}

fn rendered(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}

/// The text without the lines of an entry.
pub(super) fn without(text: &str, entry: &Entry) -> Option<String> {
    let Slot::Member(name) = &entry.slot else { return None };
    let parsed = DeTable::parse(text).ok()?;
    let mut table = parsed.get_ref();
    for key in &entry.path {
        table = table.get(key.as_str())?.get_ref().as_table()?;
    }
    let (key, value) = table.get_key_value(name.as_str())?;
    let mut start = line_start(text, key.span().start);
    let end = line_end(text, last_byte(value));
    let blank = text[..start].trim_end_matches(['\n', '\r']).len();
    // The blank line in front goes, too, unless it separates what stands around the entry.
    let is_followed = !text[end..].trim_start_matches(['\n', '\r']).is_empty();
    let blank = line_end(text, blank);
    if blank < start && (!is_followed || text[end..].starts_with(['\n', '\r'])) {
        start = blank;
    }
    Some([&text[..start], &text[end..]].concat())
}

/// The end of the last value of a table.
fn last_byte(value: &Spanned<DeValue<'_>>) -> usize {
    match value.get_ref() {
        DeValue::Table(table) => {
            let ends = table.iter().map(|(key, value)| key.span().end.max(last_byte(value)));
            ends.max().unwrap_or(value.span().end)
        }
        _ => value.span().end,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The byte behind the line ending.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}
