//! Fields in the words of other hands: `Episode 1, Turn 20`, `T23–24`, `+5 points`, `Ep1/T5`.
//!
//! A field that is not in its canonical form enters; its value leaves, if it can mean only one thing. A text
//! without a digit says nothing here. Nothing is guessed: a text of which a word is left over is not read.

use crate::field::{Field, is_date};
use crate::types::Span;
use crate::types::text::narrow;

/// The longest text that is looked at, in bytes. Longer ones are prose.
const MAX_BYTES: usize = 80;

/// Marks of emphasis, of code and of escapes, which say nothing of a field.
const DECORATION: [char; 4] = ['*', '_', '`', '\\'];

/// Brackets and spaces that may stand around the fields.
const BRACKETS: [char; 5] = ['[', ']', '(', ')', ' '];

/// The fields that a text names; empty where one of its words is of no field.
pub(crate) fn loose_fields(text: &str) -> Vec<Field<'static>> {
    let may_name = |c: char| c.is_ascii_digit() || ('\u{FF10}'..='\u{FF19}').contains(&c);
    if text.len() > MAX_BYTES || !text.contains(may_name) {
        return Vec::new();
    }
    let plain: String = text.chars().filter(|c| !DECORATION.contains(c)).map(plain).collect();
    let plain = plain.trim_matches(BRACKETS).to_lowercase();
    if is_date(&plain) && plain.len() == 10 {
        return vec![Field::Date(plain.into())];
    }
    let fields = read_all(&words(&plain)).unwrap_or_default();
    let kinds = fields.iter().map(std::mem::discriminant);
    let is_twice = |(at, kind)| kinds.clone().skip(at + 1).any(|other| other == kind);
    if kinds.clone().enumerate().any(is_twice) { Vec::new() } else { fields }
}

/// A character as a keyboard has it: dashes and the minus sign are `-`, full-width forms are ASCII, spaces are ` `.
pub(crate) fn plain(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => '-',
        c if c.is_whitespace() => ' ',
        c => narrow(c),
    }
}

/// A word of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word<'a> {
    Letters(&'a str),
    Number(u64),
    Mark(char),
    /// A `-` behind a space and before a digit: of a change, or of a range that is set oddly.
    Minus,
}

/// Splits a text into words; the spaces between them say nothing. A number that is too large ends the list with a mark.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut is_apart = false;
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let run = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, length) = if first.is_ascii_digit() {
            let length = run(|c| c.is_ascii_digit());
            (rest[..length].parse().map_or(Word::Mark('?'), Word::Number), length)
        } else if first.is_alphabetic() {
            let length = run(char::is_alphabetic);
            (Word::Letters(&rest[..length]), length)
        } else if first == '-' && is_apart && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            (Word::Minus, 1)
        } else {
            (Word::Mark(first), first.len_utf8())
        };
        words.push(word);
        is_apart = rest[length..].starts_with(' ');
        rest = rest[length..].trim_start();
    }
    words
}

fn read_all(mut words: &[Word<'_>]) -> Option<Vec<Field<'static>>> {
    let mut fields = Vec::new();
    loop {
        let (field, rest) = read_one(words)?;
        fields.push(field);
        words = match rest {
            [] => return Some(fields),
            [Word::Mark('/' | ';' | '|' | ':' | '-' | '.' | '·' | '•' | '&'), rest @ ..] => rest,
            [Word::Letters("and" | "at"), rest @ ..] => rest,
            // `Ep1T5` and `T5 +1`, but not `+5 7`.
            [Word::Letters(_) | Word::Mark('+'), ..] => rest,
            _ => return None,
        };
    }
}

/// Reads the field at the start.
fn read_one<'w, 't>(words: &'w [Word<'t>]) -> Option<(Field<'static>, &'w [Word<'t>])> {
    if let [Word::Mark(sign @ ('+' | '-')), Word::Number(size), rest @ ..] = words {
        let rest = match rest {
            [Word::Letters("point" | "points" | "pt" | "pts" | "score"), rest @ ..] => rest,
            rest => rest,
        };
        return Some((change(*sign, *size)?, rest));
    }
    let [Word::Letters(name), rest @ ..] = words else { return None };
    match *name {
        "ep" | "eps" | "episode" | "episodes" => {
            let (number, rest) = number(rest)?;
            (!is_range(rest)).then_some((Field::Episode(number), rest))
        }
        "t" | "turn" | "turns" => {
            span(rest, &["t", "turn", "turns"]).map(|(s, rest)| (Field::Turns(s), rest))
        }
        "m" | "msg" | "message" | "messages" => {
            span(rest, &["m", "msg", "message", "messages"]).map(|(s, rest)| (Field::Messages(s), rest))
        }
        "score" | "points" => {
            let (is_change, rest) = match rest {
                [Word::Letters("change" | "delta"), rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            match (unnamed(rest), *name) {
                ([Word::Mark('+'), Word::Number(size), rest @ ..], _) => Some((change('+', *size)?, rest)),
                ([Word::Mark('-') | Word::Minus, Word::Number(size), rest @ ..], _) if is_change => {
                    Some((change('-', *size)?, rest))
                }
                ([Word::Number(size), rest @ ..], "score") if !is_fraction(rest) => {
                    if is_change {
                        Some((change('+', *size)?, rest))
                    } else {
                        Some((Field::Score(i64::try_from(*size).ok()?), rest))
                    }
                }
                _ => None,
            }
        }
        "moves" => {
            let (number, rest) = number(rest)?;
            Some((Field::Moves(i64::try_from(number).ok()?), rest))
        }
        "importance" => {
            let (number, rest) = number(rest)?;
            let rest = match rest {
                [Word::Mark('/'), Word::Number(1000), rest @ ..] => rest,
                rest if is_fraction(rest) => return None,
                rest => rest,
            };
            let importance = u16::try_from(number).ok().filter(|number| (1..=1000).contains(number))?;
            Some((Field::Importance(importance), rest))
        }
        _ => None,
    }
}

fn change(sign: char, size: u64) -> Option<Field<'static>> {
    let size = i64::try_from(size).ok()?;
    Some(Field::ScoreChange(if sign == '-' { -size } else { size }))
}

/// The words behind a name and the mark that may follow it: `Episode: 1`, `turn #20`, `importance=900`.
fn unnamed<'w, 't>(words: &'w [Word<'t>]) -> &'w [Word<'t>] {
    match words {
        [Word::Mark(':' | '=' | '.' | '#'), Word::Mark('#'), rest @ ..] => rest,
        [Word::Mark(':' | '=' | '.' | '#'), rest @ ..] => rest,
        rest => rest,
    }
}

/// The number behind a name.
fn number<'w, 't>(words: &'w [Word<'t>]) -> Option<(u64, &'w [Word<'t>])> {
    match unnamed(words) {
        [Word::Number(number), rest @ ..] => Some((*number, rest)),
        _ => None,
    }
}

/// A number or a range behind a name; the name may stand before the second number, too.
fn span<'w, 't>(words: &'w [Word<'t>], names: &[&str]) -> Option<(Span, &'w [Word<'t>])> {
    let (first, rest) = number(words)?;
    let Some(behind) = behind_range_mark(rest) else { return Some((Span::one(first), rest)) };
    let named = match behind {
        [Word::Letters(name), rest @ ..] if names.contains(name) => rest,
        behind => behind,
    };
    match number(named) {
        Some((last, rest)) if first <= last && behind_range_mark(rest).is_none() => {
            Some((Span { first, last }, rest))
        }
        // `T23-T9` and `T1-2-3` say nothing that could be kept; `T5-Ep1` begins another field.
        Some(_) => None,
        None => Some((Span::one(first), rest)),
    }
}

/// The words behind a mark of a range: `-`, `to`, `..`, `~`.
fn behind_range_mark<'w, 't>(words: &'w [Word<'t>]) -> Option<&'w [Word<'t>]> {
    match words {
        [Word::Mark('.'), Word::Mark('.'), Word::Mark('.'), rest @ ..]
        | [Word::Mark('.'), Word::Mark('.'), rest @ ..]
        | [Word::Mark('-' | '~' | '…' | '→'), rest @ ..]
        | [Word::Letters("to" | "through" | "until"), rest @ ..] => Some(rest),
        _ => None,
    }
}

/// True if a number is the first of a range, or of a list, which this field cannot hold.
fn is_range(rest: &[Word<'_>]) -> bool {
    let behind = behind_range_mark(rest);
    let named = matches!(behind, Some([Word::Letters("ep" | "eps" | "episode" | "episodes"), ..]));
    named || behind.is_some_and(|rest| number(rest).is_some()) || is_fraction(rest)
}

/// True if a number is one of two that a slash or the like separates: `5/350`, `1 & 2`.
fn is_fraction(rest: &[Word<'_>]) -> bool {
    matches!(rest, [Word::Mark('/' | '&' | ';' | '.' | '|' | ':'), Word::Number(_), ..])
}
