//! Finds secrets by the place where they stand: behind a name such as `password=`, behind `Bearer`, or in the user
//! part of a URL. The value must look random as well.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::names::{Name, foreign, is_cookie, named, parameter};
use super::random::{is_random, is_said, is_shouted};
use super::secret::Secret;

/// Longest value that is looked at.
const LONGEST: usize = 2048;

/// How much random a value must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The place is one of programs: whatever looks random.
    Plain,
    /// `password=`: capitals and digits alone may be a clue of a game.
    Assigned,
    /// `The password: …`, as a sentence has it: only what no person says.
    Said,
}

/// Adds the secrets that their place gives away.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for at in memchr::memchr3_iter(b'=', b':', b'>', bytes) {
        found.extend(after_separator(bytes, at, at + 1));
        if name_before(bytes, at).is_some_and(|name| is_cookie(&bytes[name])) {
            in_cookies(bytes, at + 1, found);
        }
    }
    // An equals sign or a colon as URLs, JSON and East Asian scripts write it.
    for mark in ["%3D", "%3d", "%3A", "\\u003d", "：", "＝"] {
        for at in memmem::find_iter(bytes, mark) {
            found.extend(after_separator(bytes, at, at + mark.len()));
        }
    }
    for at in memmem::find_iter(bytes, b"--") {
        found.extend(after_option(bytes, at + 2));
    }
    for at in memmem::find_iter(bytes, b"earer") {
        found.extend(after_scheme(bytes, at, at + 5, "bearer token"));
    }
    for at in memmem::find_iter(bytes, b"asic ") {
        found.extend(after_scheme(bytes, at, at + 4, "basic credentials"));
    }
    for at in memmem::find_iter(bytes, b"://") {
        found.extend(in_user_part(bytes, at + 3));
    }
}

/// The secret of `name=value`, `"name": "value"`, `name => value` or `<name>value`.
fn after_separator(bytes: &[u8], separator: usize, value: usize) -> Option<Secret> {
    let range = name_before(bytes, separator);
    // `=>` is found by its equals sign. Without it, `>` ends a tag, or sends the output of a command to a file.
    if bytes[separator] == b'>' {
        range.as_ref().filter(|name| name.end == separator && bytes[..name.start].ends_with(b"<"))?;
    }
    let name = match range {
        Some(range) => parameter(bytes, range.clone()).or_else(|| of_range(bytes, range, separator)),
        None => None,
    };
    let name = name.or_else(|| foreign(&bytes[..separator]))?;
    let more = bytes[value..].iter().take(2).take_while(|byte| matches!(byte, b'=' | b'>' | b':')).count();
    if bytes[separator] == b':' && more > 0 && bytes[value] == b':' {
        return None;
    }
    let look = match bytes[separator] {
        _ if !name.is_word => Look::Plain,
        // The first byte of a colon of East Asian scripts.
        b':' | 0xef => Look::Said,
        b'=' => Look::Assigned,
        _ => Look::Plain,
    };
    value_at(bytes, value + more, name.kind, look).or_else(|| {
        // `Authorization: token VALUE`; `Bearer` and `Basic` are found wherever they stand.
        let start = value + bytes[value..].iter().take_while(|&&byte| byte == b' ').count();
        let scheme = [&b"token "[..], b"Token ", b"SSWS ", b"ApiKey ", b"Key "];
        let scheme = scheme.iter().find(|scheme| bytes[start..].starts_with(scheme))?;
        value_at(bytes, start + scheme.len(), name.kind, look)
    })
}

/// What the name in a range announces. A name in quotes is one of a program.
fn of_range(bytes: &[u8], range: Range<usize>, separator: usize) -> Option<Name> {
    let name = named(&bytes[range.clone()])?;
    let is_quoted = bytes[range.end..separator].iter().any(|byte| b"\"'`".contains(byte));
    Some(Name { is_word: name.is_word && !is_quoted, ..name })
}

/// Adds the values of cookies that look like keys.
pub(super) fn in_cookies(bytes: &[u8], start: usize, found: &mut Vec<Secret>) {
    let rest = &bytes[start..bytes.len().min(start + 2 * LONGEST)];
    let end = rest.iter().position(|byte| b"\r\n`".contains(byte)).unwrap_or(rest.len());
    for at in memchr_iter(b'=', &rest[..end]) {
        let range = until(bytes, start + at + 1, in_key);
        found.extend(secret_in(bytes, range, "cookie", Look::Plain));
    }
}

/// The secret of `--name value`.
fn after_option(bytes: &[u8], start: usize) -> Option<Secret> {
    let length = bytes[start..].iter().take_while(|byte| in_name(byte)).count();
    let name = named(&bytes[start..start + length])?;
    (bytes.get(start + length) == Some(&b' '))
        .then(|| value_at(bytes, start + length, name.kind, Look::Plain))?
}

pub(super) fn in_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The name that ends before a separator, possibly in quotes and brackets.
fn name_before(bytes: &[u8], separator: usize) -> Option<Range<usize>> {
    let mut end = separator;
    for skipped in [&b" \t"[..], b"]", b"\"'`", b"\\"] {
        let count = bytes[..end].iter().rev().take(8).take_while(|byte| skipped.contains(byte)).count();
        end -= count;
    }
    let length = bytes[..end].iter().rev().take(64).take_while(|byte| in_name(byte)).count();
    let mut start = end - length;
    // The letters of an escape such as `\\n` do not belong to it.
    if bytes[..start].ends_with(b"\\") && length > 1 {
        start += if bytes[start..end].starts_with(b"u00") { 5.min(length - 1) } else { 1 };
    }
    (length > 0).then_some(start..end)
}

/// The secret behind a separator, if the value there looks like one.
pub(super) fn value_at(bytes: &[u8], start: usize, kind: &'static str, look: Look) -> Option<Secret> {
    let mut start = start;
    start += bytes[start..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if look != Look::Said
        && let Some(line) = next_line(bytes, start)
    {
        return on_line(bytes, line, kind, look);
    }
    if matches!(bytes[start..], [b'\\', b'"' | b'\'', ..]) {
        start += 1;
    }
    let quote = bytes.get(start).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    start += usize::from(quote.is_some());
    let range = match (quote, kind) {
        (Some(quote), "password") => {
            until(bytes, start, |byte| byte != quote && byte != b'\\' && byte.is_ascii_graphic())
        }
        (None, "password") => password(bytes, start),
        _ => until(bytes, start, in_key),
    };
    secret_in(bytes, range, kind, look)
}

/// The range of a password without quotes. A `&` before the next parameter of an address ends it.
pub(super) fn password(bytes: &[u8], start: usize) -> Range<usize> {
    let range = until(bytes, start, |byte| in_key(byte) || b"!@#$^*?&".contains(&byte));
    let value = &bytes[range.clone()];
    let ends = |&at: &usize| {
        let rest = &value[at + 1..];
        let name = rest.iter().take_while(|byte| in_name(byte)).count();
        rest.starts_with(b"amp;") || name > 0 && rest.get(name) == Some(&b'=') || rest.is_empty()
    };
    let length = memchr_iter(b'&', value).find(ends).unwrap_or(value.len());
    start..start + length
}

/// The start of the next line, where nothing but the mark of a block of YAML stands before it.
fn next_line(bytes: &[u8], start: usize) -> Option<usize> {
    let mut start = start;
    start += bytes[start..].iter().take(2).take_while(|byte| b"|>-\\".contains(byte)).count();
    let ends: [&[u8]; 3] = [b"\r\n", b"\n", b"n"];
    let end = ends.iter().find(|end| bytes[start..].starts_with(end))?;
    // A written `\n`.
    if **end == b"n"[..] && !bytes[..start].ends_with(b"\\") {
        return None;
    }
    start += end.len();
    Some(start + bytes[start..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// The secret that is all of a line.
fn on_line(bytes: &[u8], start: usize, kind: &'static str, look: Look) -> Option<Secret> {
    let range = password(bytes, start);
    let value = &bytes[range.clone()];
    // The next name with its value.
    let is_pair = value.trim_ascii_end().strip_suffix(b"=").unwrap_or(value).contains(&b'=')
        || memmem::find(value, b"://").is_some();
    let is_alone = bytes.get(range.end).is_none_or(|byte| b"\r\n\\\"'`, &%<\x1b".contains(byte));
    (is_alone && !is_pair).then(|| secret_in(bytes, range, kind, look))?
}

/// The secret of a kind in a range, if the value there is long enough, stands alone and looks random.
pub(super) fn secret_in(bytes: &[u8], range: Range<usize>, kind: &'static str, look: Look) -> Option<Secret> {
    let value = &bytes[range.clone()];
    // Names in programs are seldom as long as a password, and chance makes more short values look like words.
    let (shortest, percent) = match kind {
        "password" => (8, if value.len() < 12 { 50 } else { 55 }),
        "basic credentials" => (12, 55),
        _ => (16, 45),
    };
    // A call, an index or a path of a program.
    let code = matches!(bytes.get(range.end), Some(b'(' | b'[' | b'{'))
        || matches!(value.first(), Some(b'<' | b'{' | b'('))
        || memmem::find(value, b"::").is_some();
    // An escape such as `%2F` is one character. Where many are escaped, it is something else.
    let escapes = memchr_iter(b'%', value).count();
    let long = value.len() >= shortest + 2 * escapes && value.len() > 6 * escapes;
    let fits = match look {
        Look::Plain => true,
        Look::Assigned => !is_shouted(value),
        Look::Said => !is_said(value),
    };
    (long && !code && fits && is_random(value, percent)).then_some(Secret { range, kind })
}

/// The characters of keys: those of both kinds of base 64, of escapes in URLs, and what joins them.
fn in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~%:|".contains(&byte)
}

fn until(bytes: &[u8], start: usize, holds: impl Fn(u8) -> bool) -> Range<usize> {
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let length = rest.iter().position(|&byte| !holds(byte)).unwrap_or(rest.len());
    // The next parameter of a URL that is itself a parameter.
    let length = memmem::find(&rest[..length], b"%26").unwrap_or(length);
    // The end of a sentence.
    let length = rest[..length].iter().rposition(|byte| !b".:".contains(byte)).map_or(0, |last| last + 1);
    start..start + length
}

/// The secret behind `Bearer` or `Basic`, whose first letter stands before `at`.
fn after_scheme(bytes: &[u8], at: usize, end: usize, kind: &'static str) -> Option<Secret> {
    let before = at.checked_sub(1).filter(|&before| bytes[before].eq_ignore_ascii_case(&b'B'))?;
    if before > 0 && bytes[before - 1].is_ascii_alphabetic() && !bytes[..before].ends_with(b"\\n") {
        return None;
    }
    let spaces = bytes[end..].iter().take(3).take_while(|byte| matches!(byte, b' ' | b'+')).count();
    let start = end + spaces + if bytes[end..].starts_with(b"%20") { 3 } else { 0 };
    let range = until(bytes, start, in_key);
    let value = &bytes[range.clone()];
    let basic = kind == "basic credentials";
    if start == end || (basic && !is_user_and_password(value)) {
        return None;
    }
    secret_in(bytes, range, kind, Look::Plain)
}

/// True for the base 64 of `user:password`.
fn is_user_and_password(value: &[u8]) -> bool {
    let mut decoded = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for &byte in value.iter().take_while(|&&byte| byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push((bits >> held) as u8);
        }
    }
    // «Aladdin» is the example of RFC 7617.
    decoded.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
        && decoded.contains(&b':')
        && !decoded.starts_with(b"Aladdin:")
}

/// The password of `scheme://user:password@host`.
fn in_user_part(bytes: &[u8], start: usize) -> Option<Secret> {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'`<>\\".contains(byte);
    let rest = &bytes[start..bytes.len().min(start + 512)];
    let rest = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let end = rest.iter().rposition(|&byte| byte == b'@')?;
    let colon = rest[..end].iter().position(|&byte| byte == b':')?;
    let range = start + colon + 1..start + end;
    secret_in(bytes, range, "password", Look::Plain)
}
