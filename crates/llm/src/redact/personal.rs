//! Finds personal data of four kinds: mail addresses, telephone numbers, payment cards and IBANs.
//!
//! Cards and IBANs have check digits. A telephone number counts with a `+`, with an area code in brackets, or with a
//! leading 0 and at least eight digits in groups.

use std::ops::Range;

use memchr::memchr_iter;

use super::secret::Secret;

/// Adds the personal data of a text.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for at in memchr_iter(b'@', bytes) {
        found.extend(mail(bytes, at).map(|range| Secret { range, kind: "mail address" }));
    }
    let mut at = 0;
    while at < bytes.len() {
        let free = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let secret = if free { number(bytes, at) } else { None };
        at = secret.as_ref().map_or(at + 1, |secret| secret.range.end);
        found.extend(secret);
    }
}

/// The mail address around an `@`. `git@` is no person.
fn mail(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let in_local =
        |byte: &&u8| byte.is_ascii_alphanumeric() || b".!#$&*+-/=?^_~'%".contains(byte) || !byte.is_ascii();
    let in_domain = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-".contains(byte) || !byte.is_ascii();
    let local = bytes[..at].iter().rev().take(64).take_while(in_local).count();
    let domain = &bytes[at + 1..];
    let length = domain.iter().take(253).take_while(in_domain).count();
    let length = domain[..length].iter().rposition(u8::is_ascii_alphabetic).map_or(0, |last| last + 1);
    let ending = domain[..length].rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_domain = ending.len() >= 2 && ending.len() < length;
    let name = &bytes[at - local..at];
    (local > 0 && is_domain && name != b"git").then(|| at - local..at + 1 + length)
}

/// The IBAN, card or telephone number that begins at `at`.
fn number(bytes: &[u8], at: usize) -> Option<Secret> {
    let kind = |kind: &'static str| move |length: usize| Secret { range: at..at + length, kind };
    let rest = &bytes[at..];
    match rest[0] {
        b'A'..=b'Z' => iban(rest).map(kind("IBAN")),
        b'3'..=b'6' | b'2' => card(rest).map(kind("payment card")),
        b'+' | b'(' | b'0' => telephone(rest).map(kind("telephone number")),
        _ => None,
    }
}

/// The characters of a number and its length in the text: one separator may stand between two of them.
fn grouped(text: &[u8], separators: &[u8], holds: fn(&u8) -> bool, most: usize) -> (Vec<u8>, usize) {
    let (mut taken, mut at) = (Vec::new(), 0);
    while let Some(byte) = text.get(at).filter(|_| taken.len() <= most) {
        if holds(byte) {
            taken.push(*byte);
            at += 1;
        } else if at > 0 && separators.contains(byte) && text.get(at + 1).is_some_and(holds) {
            at += 1;
        } else {
            break;
        }
    }
    (taken, at)
}

/// The length of an IBAN (ISO 13616), whose check digits make it 1 modulo 97.
fn iban(text: &[u8]) -> Option<usize> {
    let is_head = |head: &[u8]| {
        head[..2].iter().all(u8::is_ascii_uppercase) && head[2..].iter().all(u8::is_ascii_digit)
    };
    text.get(..4).filter(|head| is_head(head))?;
    let (digits, _) = grouped(text, b" ", |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(), 34);
    let remainder = |digits: &[u8]| {
        let turned = digits[4..].iter().chain(&digits[..4]);
        turned.fold(0_u32, |sum, byte| match byte {
            b'A'..=b'Z' => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
            _ => (sum * 10 + u32::from(byte - b'0')) % 97,
        })
    };
    // A word in capitals may follow.
    let count = (15..=digits.len().min(34)).rev().find(|&count| remainder(&digits[..count]) == 1)?;
    let places = text.iter().enumerate().filter(|(_, byte)| **byte != b' ');
    places
        .map(|(place, _)| place + 1)
        .nth(count - 1)
        .filter(|&end| !text.get(end).is_some_and(u8::is_ascii_alphanumeric))
}

/// The length of the number of a payment card, whose check digit is that of Luhn.
fn card(text: &[u8]) -> Option<usize> {
    let (digits, length) = grouped(text, b" -", u8::is_ascii_digit, 19);
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0') * (1 + place as u32 % 2);
            if digit > 9 { digit - 9 } else { digit }
        })
        .sum();
    let ends = !text.get(length).is_some_and(u8::is_ascii_alphanumeric);
    ((13..=19).contains(&digits.len()) && sum.is_multiple_of(10) && ends).then_some(length)
}

/// The length of a telephone number.
fn telephone(text: &[u8]) -> Option<usize> {
    let skipped = usize::from(matches!(text[0], b'+' | b'('));
    text.get(skipped).filter(|byte| byte.is_ascii_digit())?;
    // `(0)` after the country, and the bracket of an area code, stand between digits.
    let (mut digits, mut end) = (0, skipped);
    for (place, byte) in text.iter().enumerate().skip(skipped).take(32) {
        match byte {
            b'0'..=b'9' => (digits, end) = (digits + 1, place + 1),
            b' ' | b'-' | b'/' | b'.' | b'(' | b')' if place - end < 2 => {}
            _ => break,
        }
    }
    let inside = &text[skipped..end];
    let in_groups = inside.iter().any(|byte| !byte.is_ascii_digit());
    let fits = match text[0] {
        b'+' => (8..=15).contains(&digits),
        b'(' => (8..=15).contains(&digits) && inside.contains(&b')'),
        _ => (8..=13).contains(&digits) && in_groups && !inside.contains(&b'.'),
    };
    let ends = !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
    (fits && ends).then_some(end)
}
