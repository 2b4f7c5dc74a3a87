//! Finds secrets by the place where they stand: behind a name such as `password=`, behind `Bearer`, or in the user
//! part of a URL. The value must look random as well.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::random::is_random;
use super::secret::Secret;

/// A value behind a separator must be at least this long.
const SHORTEST_PASSWORD: usize = 8;
const SHORTEST_KEY: usize = 16;

/// Longest value that is looked at.
const LONGEST: usize = 2048;

/// Endings of names whose values are passwords, without `_`, `-` and `.`, in lower case.
const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "pwd", "dbpass"];

/// Endings of names whose values are keys.
const KEYS: [&str; 18] = [
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "accountkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "licensekey",
    "appkey",
    "clientkey",
    "secret",
    "token",
    "credential",
    "credentials",
    "authorization",
    "presharedkey",
];

/// Endings of names that hold no secret although they end like one.
const HARMLESS: [&str; 8] = [
    "pagetoken",
    "csrftoken",
    "nexttoken",
    "continuationtoken",
    "cancellationtoken",
    "publictoken",
    "synctoken",
    "devicetoken",
];

/// Adds the secrets that their place gives away.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for at in memchr::memchr3_iter(b'=', b':', b'>', bytes) {
        found.extend(after_separator(bytes, at, at + 1));
    }
    for at in memchr_iter(b'%', bytes) {
        // An equals sign or a colon as URLs and JSON write it.
        if bytes[at..].starts_with(b"%3D")
            || bytes[at..].starts_with(b"%3d")
            || bytes[at..].starts_with(b"%3A")
        {
            found.extend(after_separator(bytes, at, at + 3));
        }
    }
    for at in memmem::find_iter(bytes, b"\\u003d") {
        found.extend(after_separator(bytes, at, at + 6));
    }
    for at in memmem::find_iter(bytes, b"--") {
        found.extend(after_option(bytes, at + 2));
    }
    for at in memmem::find_iter(bytes, b"earer") {
        found.extend(after_scheme(bytes, at, b'B', at + 5, "bearer token"));
    }
    for at in memmem::find_iter(bytes, b"asic ") {
        found.extend(after_scheme(bytes, at, b'B', at + 4, "basic credentials"));
    }
    for at in memmem::find_iter(bytes, b"://") {
        found.extend(in_user_part(bytes, at + 3));
    }
}

/// The secret of `name=value`, `"name": "value"`, `name => value` or `<name>value`.
fn after_separator(bytes: &[u8], separator: usize, value: usize) -> Option<Secret> {
    let name = name_before(bytes, separator)?;
    // `=>` is found by its equals sign. Without it, `>` ends a tag, or sends the output of a command to a file.
    if bytes[separator] == b'>' && (name.end < separator || !bytes[..name.start].ends_with(b"<")) {
        return None;
    }
    // The signature of a shared access URL of Azure.
    let signs = bytes[..separator].ends_with(b"&sig") || bytes[..separator].ends_with(b"?sig");
    let kind = if signs { "secret" } else { kind_of(&bytes[name])? };
    let more = bytes[value..].iter().take(2).take_while(|byte| matches!(byte, b'=' | b'>' | b':')).count();
    if bytes[separator] == b':' && more > 0 && bytes[value] == b':' {
        return None;
    }
    value_at(bytes, value + more, kind).or_else(|| {
        // `Authorization: token VALUE`; `Bearer` and `Basic` are found wherever they stand.
        let start = value + bytes[value..].iter().take_while(|&&byte| byte == b' ').count();
        let scheme = [&b"token "[..], b"Token ", b"SSWS ", b"ApiKey ", b"Key "];
        let scheme = scheme.iter().find(|scheme| bytes[start..].starts_with(scheme))?;
        value_at(bytes, start + scheme.len(), kind)
    })
}

/// The secret of `--name value`.
fn after_option(bytes: &[u8], start: usize) -> Option<Secret> {
    let length = bytes[start..].iter().take_while(|byte| in_name(byte)).count();
    let kind = kind_of(&bytes[start..start + length])?;
    (bytes.get(start + length) == Some(&b' ')).then(|| value_at(bytes, start + length, kind))?
}

fn in_name(byte: &u8) -> bool {
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
    (length > 0).then_some(end - length..end)
}

/// The kind of secret that a name announces.
fn kind_of(name: &[u8]) -> Option<&'static str> {
    let mut folded = [0; 64];
    let mut length = 0;
    for &byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *folded.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = &folded[..length];
    let ends = |with: &[&str]| with.iter().any(|ending| folded.ends_with(ending.as_bytes()));
    let shouted = || name.ends_with(b"_KEY") && !name.iter().any(u8::is_ascii_lowercase);
    if ends(&PASSWORDS) {
        Some("password")
    } else if (ends(&KEYS) || shouted()) && !ends(&HARMLESS) {
        Some("secret")
    } else {
        None
    }
}

/// The secret behind a separator, if the value there looks like one.
fn value_at(bytes: &[u8], start: usize, kind: &'static str) -> Option<Secret> {
    let mut start = start;
    start += bytes[start..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if matches!(bytes[start..], [b'\\', b'"' | b'\'', ..]) {
        start += 1;
    }
    let quote = bytes.get(start).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    start += usize::from(quote.is_some());
    let range = match (quote, kind) {
        (Some(quote), "password") => {
            until(bytes, start, |byte| byte != quote && byte != b'\\' && byte.is_ascii_graphic())
        }
        (None, "password") => until(bytes, start, |byte| in_key(byte) || b"!@#$^*?".contains(&byte)),
        _ => until(bytes, start, in_key),
    };
    let shortest = if kind == "password" { SHORTEST_PASSWORD } else { SHORTEST_KEY };
    is_secret(bytes, range, shortest).map(|range| Secret { range, kind })
}

/// The range of a value if it is long enough, stands alone and looks random.
fn is_secret(bytes: &[u8], range: Range<usize>, shortest: usize) -> Option<Range<usize>> {
    let value = &bytes[range.clone()];
    // A call, an index or a path of a program.
    let code = matches!(bytes.get(range.end), Some(b'(' | b'[' | b'{'))
        || matches!(value.first(), Some(b'<' | b'{' | b'('))
        || memmem::find(value, b"::").is_some();
    // An escape such as `%2F` is one character. Where many are escaped, it is something else.
    let escapes = memchr_iter(b'%', value).count();
    let long = value.len() >= shortest + 2 * escapes && value.len() > 6 * escapes;
    // Names in programs are seldom as long as a password, and chance makes more short values look like words.
    let percent = if shortest == SHORTEST_KEY {
        45
    } else if value.len() < 12 {
        50
    } else {
        55
    };
    (long && !code && is_random(value, percent)).then_some(range)
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
fn after_scheme(bytes: &[u8], at: usize, first: u8, end: usize, kind: &'static str) -> Option<Secret> {
    let before = at.checked_sub(1).filter(|&before| bytes[before].eq_ignore_ascii_case(&first))?;
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
    is_secret(bytes, range, if basic { 12 } else { SHORTEST_KEY }).map(|range| Secret { range, kind })
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
    is_secret(bytes, range, SHORTEST_PASSWORD).map(|range| Secret { range, kind: "password" })
}
