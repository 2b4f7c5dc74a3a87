//! Edits of a JSON text that keep all bytes that they are not about.

use std::ops::Range;

/// A range of bytes, and what stands in its place.
pub(crate) type Edit = (Range<usize>, String);

/// The byte range of a slice of a text.
pub(crate) fn range_of(text: &str, slice: &str) -> Range<usize> {
    let start = slice.as_ptr() as usize - text.as_ptr() as usize;
    start..start + slice.len()
}

/// The text with all edits.
pub(crate) fn apply_edits(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(&text[done..range.start.max(done)]);
        out.push_str(&new);
        done = range.end.max(done);
    }
    out.push_str(&text[done..]);
    out
}

/// The bytes to remove with an element of a list: up to the next element, or from the end of the previous one.
pub(super) fn without_element(ranges: &[Range<usize>], at: usize) -> Range<usize> {
    match (ranges.get(at + 1), at.checked_sub(1)) {
        (Some(next), _) => ranges[at].start..next.start,
        (None, Some(before)) => ranges[before].end..ranges[at].end,
        (None, None) => ranges[at].clone(),
    }
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is writable as JSON")
}

/// A text as it stands inside of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// Maps an offset in a decoded JSON string to the offset in its source, which includes the quotes.
pub(super) fn raw_offset(raw: &str, decoded: usize) -> usize {
    let unit = |at: usize| raw.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let (mut at, mut passed) = (1, 0);
    while passed < decoded && at + 1 < raw.len() {
        let Some(first) = raw[at..].chars().next() else { break };
        if first != '\\' {
            at += first.len_utf8();
            passed += first.len_utf8();
            continue;
        }
        match (raw.as_bytes().get(at + 1), unit(at)) {
            (Some(b'u'), Some(0xD800..0xDC00)) => {
                at += 12;
                passed += 4;
            }
            (Some(b'u'), Some(unit)) => {
                at += 6;
                passed += char::from_u32(unit).map_or(3, char::len_utf8);
            }
            _ => {
                at += 2;
                passed += 1;
            }
        }
    }
    at
}
