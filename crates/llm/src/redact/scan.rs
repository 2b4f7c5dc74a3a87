//! Finds the secrets of the table of formats in a text.
//!
//! Ordinary text costs next to nothing: every format is at least twenty characters without a space, so only every
//! twentieth character is examined until such a run is found.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use super::formats::{Alphabet, FORMATS, Format, Part};
use super::random::{different_bytes, is_example, is_wordy};
use super::secret::Secret;

/// Length of the shortest format of the table, in bytes.
pub(super) const SHORTEST: usize = 20;

/// Marks of emphasis and dashes that may follow a secret.
const MARKS: usize = 16;

/// Longest header of a JSON web token that is looked at.
const HEADER: usize = 512;

/// Adds the secrets whose format is in the table, and JSON web tokens.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let mut at = SHORTEST - 1;
    while at < bytes.len() {
        if !in_run(bytes[at]) {
            at += SHORTEST;
            continue;
        }
        let start = bytes[..at].iter().rposition(|&byte| !in_run(byte)).map_or(0, |before| before + 1);
        let end =
            bytes[at..].iter().position(|&byte| !in_run(byte)).map_or(bytes.len(), |length| at + length);
        if end - start >= SHORTEST {
            in_one_run(&bytes[..end], start, found);
        }
        at = end + SHORTEST;
    }
}

/// The characters that secrets of the table consist of, and those that join them to an address.
fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b':' | b'=' | b'$' | b'%')
}

/// Finds secrets between `start` and the end of `bytes`, a run of characters without a space.
fn in_one_run(bytes: &[u8], start: usize, found: &mut Vec<Secret>) {
    let by_first_byte = &*BY_FIRST_BYTE;
    let mut free = start;
    let mut at = start;
    while at < bytes.len() {
        let secret = by_first_byte[usize::from(bytes[at] & 127)]
            .iter()
            .find_map(|(prefix, format)| Some((format.kind, matched(format, prefix, bytes, free, at)?)))
            .or_else(|| web_token(bytes, at));
        match secret {
            Some((kind, range)) => {
                at = range.end;
                free = at;
                found.push(Secret { range, kind });
            }
            None => at += 1,
        }
    }
}

/// The range of a secret whose prefix stands at `at`. What stands before `free` is taken.
fn matched(format: &Format, prefix: &str, bytes: &[u8], free: usize, at: usize) -> Option<Range<usize>> {
    let body = bytes[at..].strip_prefix(prefix.as_bytes())?;
    let start = match &format.before {
        Some(part) => {
            let length = bytes[free..at]
                .iter()
                .rev()
                .take(part.max)
                .take_while(|&&byte| part.alphabet.holds(byte))
                .count();
            let mut starts = (part.min..=length).rev().map(|length| at - length);
            starts.find(|&start| format.anywhere || begins_word(bytes, start))?
        }
        None if format.anywhere || begins_word(bytes, at) => at,
        None => return None,
    };
    let mut end = at + prefix.len();
    for (number, part) in format.parts.iter().enumerate() {
        let last = number + 1 == format.parts.len();
        end +=
            part.joint.len() + length_of(part, &body[end - at - prefix.len()..], last && !format.anywhere)?;
    }
    let body = &bytes[at + prefix.len()..end];
    let fits = memmem::find(body, format.contains.as_bytes()).is_some()
        && is_mixed(format, prefix, &bytes[start..end]);
    fits.then_some(start..end)
}

/// The length of a part at the start of `rest`, without its joint. The last part of a format that is not unmistakable
/// must end where its alphabet ends; but an emphasis mark or a dash after it is not part of it.
fn length_of(part: &Part, rest: &[u8], bounded: bool) -> Option<usize> {
    let rest = rest.strip_prefix(part.joint.as_bytes())?;
    let near = &rest[..rest.len().min(part.max.saturating_add(MARKS))];
    let length = part.alphabet.length(near);
    let taken = length.min(part.max);
    let ends = !bounded || rest[taken..length].iter().all(|byte| !byte.is_ascii_alphanumeric());
    (taken >= part.min && ends).then_some(taken)
}

/// True if a word begins at `at`: after a space or mark, and after an escape such as `\n`, `%3D`, `\u0020` or a
/// colour of a terminal. An underscore before it is a mark of emphasis where nothing stands before that.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let before = &bytes[..at];
    let Some(&last) = before.last() else { return true };
    if !in_word(last) {
        return true;
    }
    if last == b'_' {
        return begins_word(before, at - 1);
    }
    let hex = |count: usize| before.len() > count && before[at - count..].iter().all(u8::is_ascii_hexdigit);
    let follows = |count: usize, mark: &[u8]| before[..at - count].ends_with(mark);
    let escaped = matches!(last, b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'0') && follows(1, b"\\");
    let colour = last == b'm' && {
        let digits = before[..at - 1].iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';');
        let count = digits.count() + 1;
        count < at && follows(count, b"[")
    };
    escaped || colour || hex(2) && (follows(2, b"%") || follows(2, b"\\x")) || hex(4) && follows(4, b"\\u")
}

/// True if a key looks random. A repeated character, or words alone, are an example.
fn is_mixed(format: &Format, prefix: &str, key: &[u8]) -> bool {
    let body = key.strip_prefix(prefix.as_bytes()).unwrap_or(key);
    let has = |class: fn(&u8) -> bool| body.iter().any(class);
    let letters = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let digits = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    // One in 28 random keys of 16 characters of base 32 has no digit.
    let capitals = format.parts.iter().all(|part| part.alphabet == Alphabet::Upper);
    let random = different_bytes(body) >= 6 && (letters || digits || capitals);
    // A number before the prefix may hold `12345`.
    let secret = if format.before.as_ref().is_some_and(|part| part.alphabet == Alphabet::Digits) {
        &body[body.iter().take_while(|byte| byte.is_ascii_digit()).count()..]
    } else {
        body
    };
    random && (format.anywhere || !is_wordy(secret, 65) && !is_example(secret))
}

/// Recognises a signed JSON web token (RFC 7519): three parts, of which the first two are JSON objects in base 64.
fn web_token(bytes: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = bytes[at..].strip_prefix(b"eyJ")?;
    let length =
        |rest: &[u8]| rest.iter().position(|&byte| !Alphabet::Base64Url.holds(byte)).unwrap_or(rest.len());
    let header = length(&rest[..rest.len().min(HEADER)]);
    let payload = rest.get(header..)?.strip_prefix(b".ey")?;
    let claims = length(payload);
    let signature = length(payload.get(claims..)?.strip_prefix(b".")?);
    let whole = 3 + header + 3 + claims + 1 + signature;
    (header >= 14 && claims >= 14 && signature >= 20).then_some(("JSON web token", at..at + whole))
}

/// For each byte the prefixes that begin with it, each with its format, in the order of the table.
static BY_FIRST_BYTE: LazyLock<[Vec<(&str, &Format)>; 128]> = LazyLock::new(|| {
    let mut found = [const { Vec::new() }; 128];
    for format in FORMATS {
        for prefix in format.prefixes {
            found[usize::from(prefix.as_bytes()[0] & 127)].push((*prefix, format));
        }
    }
    found
});
