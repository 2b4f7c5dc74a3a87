//! The fields behind a title: `Ep1, T23-24, +5, importance 900, #troll`.
//!
//! A field is recognised by its shape, wherever it stands; fields of unknown shape are kept as they
//! are. Fields that are set are written in the canonical order. `loose_fields` reads those that another hand wrote.

use std::borrow::Cow;

use crate::field::{Field, is_date};
use crate::loose_fields::loose_fields;
use crate::types::text::{percent_decoded, percent_encode};
use crate::types::{Moment, Provenance, Span};

/// Splits the text between ` *(` and `)*` into fields, each as it is written and by its shape. A text that names several
/// fields, `Ep1/T5`, is given once for each.
pub fn split_fields(text: &str) -> impl Iterator<Item = (&str, Field<'_>)> {
    let mut rest = Some(text);
    let mut more: Option<(&str, std::vec::IntoIter<Field<'_>>)> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some((text, fields)) = &mut more
                && let Some(field) = fields.next()
            {
                return Some((*text, field));
            }
            let text = rest.take()?.trim_start();
            if let Some(goal) = text.strip_prefix("Goal:") {
                return Some((text, Field::Goal(goal.trim())));
            }
            let (field, remaining) = match text.split_once(',') {
                Some((field, remaining)) => (field.trim(), Some(remaining)),
                None => (text.trim(), None),
            };
            rest = remaining;
            if field.is_empty() {
                continue;
            }
            if let Some(shape) = shape(field) {
                return Some((field, shape));
            }
            let fields = loose_fields(field);
            if fields.is_empty() {
                return Some((field, Field::Other));
            }
            more = Some((field, fields.into_iter()));
        }
    })
}

/// The field of a known shape that a text is.
fn shape(field: &str) -> Option<Field<'_>> {
    if let Some(tag) = field.strip_prefix('#') {
        return (!tag.is_empty()).then_some(Field::Tag(tag));
    }
    if let Some(source) = field.strip_prefix("source:") {
        return Some(Field::Source(source));
    }
    if let Some((name, value)) = field.split_once(' ') {
        let value = value.trim();
        return match name {
            "importance" => parse_importance(value).map(Field::Importance),
            // `score +5` says a change.
            "score" if !value.starts_with('+') => value.parse().ok().map(Field::Score),
            "moves" => value.parse().ok().map(Field::Moves),
            _ => None,
        };
    }
    if is_date(field) {
        return Some(Field::Date(Cow::Borrowed(field)));
    }
    match field.as_bytes() {
        [b'E', b'p', ..] => parse_number(&field[2..]).map(Field::Episode),
        [b'T', ..] => parse_span(&field[1..], 'T').map(Field::Turns),
        [b'M', ..] => parse_span(&field[1..], 'M').map(Field::Messages),
        [b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            field.parse().ok().map(Field::ScoreChange)
        }
        _ => None,
    }
}

/// Reads the text between ` *(` and `)*`. Of two fields of one shape the second is of unknown form, with all that is
/// written with it.
pub(crate) fn parse_fields(text: &str) -> Provenance {
    let mut fields = Provenance::default();
    for (written, field) in split_fields(text) {
        let is_taken = match field {
            Field::Episode(episode) => set(&mut fields.episode, episode),
            Field::Turns(turns) => set(&mut fields.turns, turns),
            Field::Messages(messages) => set(&mut fields.messages, messages),
            Field::ScoreChange(change) => set(&mut fields.score_change, change),
            Field::Date(date) => set(&mut fields.date, date.into_owned()),
            Field::Importance(importance) => set(&mut fields.importance, importance),
            Field::Score(score) => set(&mut fields.score, score),
            Field::Moves(moves) => set(&mut fields.moves, moves),
            Field::Goal(goal) => set(&mut fields.goal, goal.to_owned()),
            Field::Source(source) => {
                fields.sources.push(percent_decode(source));
                true
            }
            Field::Tag(tag) => {
                fields.tags.push(percent_decode(tag));
                true
            }
            Field::Other => false,
        };
        if !is_taken && fields.other.last().is_none_or(|last| last != written || !is_several(written)) {
            fields.other.push(written.to_owned());
        }
    }
    fields
}

/// True if a text is fields of known shapes and nothing else.
pub(crate) fn are_fields(text: &str) -> bool {
    let mut fields = split_fields(text).map(|(_, field)| field).peekable();
    fields.peek().is_some() && fields.all(|field| field != Field::Other)
}

/// True if a text names more than one field, and is therefore met more than once.
fn is_several(written: &str) -> bool {
    shape(written).is_none() && loose_fields(written).len() > 1
}

/// Sets a value that is not set yet.
fn set<T>(slot: &mut Option<T>, value: T) -> bool {
    let is_free = slot.is_none();
    if is_free {
        *slot = Some(value);
    }
    is_free
}

/// Reads a number that has only digits.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn parse_importance(text: &str) -> Option<u16> {
    parse_number(text).and_then(|n| u16::try_from(n).ok()).filter(|n| (1..=1000).contains(n))
}

/// Reads `23`, `23-24` or `T23-T24`.
fn parse_span(text: &str, mark: char) -> Option<Span> {
    match text.split_once('-') {
        Some((first, last)) => {
            let last = last.strip_prefix(mark).unwrap_or(last);
            let span = Span { first: parse_number(first)?, last: parse_number(last)? };
            (span.first <= span.last).then_some(span)
        }
        None => parse_number(text).map(Span::one),
    }
}

/// The fields in canonical order, comma-separated; empty if nothing is set.
pub fn write_fields(fields: &Provenance) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(fields.episode.map(|episode| format!("Ep{episode}")));
    parts.extend(fields.turns.map(|turns| turns.marked('T')));
    parts.extend(fields.messages.map(|messages| messages.marked('M')));
    parts.extend(fields.score_change.map(|change| format!("{change:+}")));
    parts.extend(fields.date.clone());
    parts.extend(fields.importance.map(|importance| format!("importance {importance}")));
    parts.extend(fields.score.map(|score| format!("score {score}")));
    parts.extend(fields.moves.map(|moves| format!("moves {moves}")));
    parts.extend(fields.sources.iter().map(|source| format!("source:{}", encode(source))));
    parts.extend(fields.tags.iter().map(|tag| format!("#{}", encode(tag))));
    parts.extend(fields.other.iter().cloned());
    parts.extend(fields.goal.as_ref().map(|goal| format!("Goal: {goal}")));
    parts.join(", ")
}

/// Encodes characters that would end a field: white space, control characters, `,`, `)`, and `%` itself.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || matches!(c, ',' | ')' | '%') {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().for_each(|byte| percent_encode(&mut out, byte));
        } else {
            out.push(c);
        }
    }
    out
}

/// Decodes `%XX`; invalid encodings stay as they are.
pub fn percent_decode(text: &str) -> String {
    String::from_utf8(percent_decoded(text)).unwrap_or_else(|_| text.to_owned())
}

/// Writes the moment of a reference line: `Ep2 T45`.
pub fn write_moment(moment: &Moment) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(moment.episode.map(|episode| format!("Ep{episode}")));
    parts.extend(moment.turn.map(|turn| format!("T{turn}")));
    parts.extend(moment.message.map(|message| format!("M{message}")));
    parts.extend(moment.date.clone());
    parts.join(" ")
}

/// Reads a moment; `None` if a word of it has an unknown shape.
pub(crate) fn parse_moment(text: &str) -> Option<Moment> {
    let mut moment = Moment::default();
    for word in text.split_whitespace() {
        let numbers = [("Ep", &mut moment.episode), ("T", &mut moment.turn), ("M", &mut moment.message)];
        let number = numbers.into_iter().find_map(|(mark, slot)| Some((word.strip_prefix(mark)?, slot)));
        let known = match number {
            Some((digits, slot)) => parse_number(digits).is_some_and(|number| set(slot, number)),
            None => is_date(word) && set(&mut moment.date, word.to_owned()),
        };
        if !known {
            return None;
        }
    }
    Some(moment)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn canonical_order() {
        let text = "#troll, importance 900, T45-46, Ep2, -10, 2026-01-31, whatever, Goal: win, at (last)";
        let fields = parse_fields(text);
        assert_eq!(fields.goal.as_deref(), Some("win, at (last)"));
        let canonical =
            "Ep2, T45-46, -10, 2026-01-31, importance 900, #troll, whatever, Goal: win, at (last)";
        assert_eq!(write_fields(&fields), canonical);
    }

    #[test]
    fn unknown_shapes_are_kept() {
        let fields = parse_fields("Ep1, Ep2, importance 0, T, moved twice");
        assert_eq!(fields.episode, Some(1));
        assert_eq!(fields.other, ["Ep2", "importance 0", "T", "moved twice"]);
    }

    #[test]
    fn fields_of_other_hands_are_read_as_they_are_meant() {
        for (written, canonical) in [
            ("T23–24", "T23-24"),
            ("T23—24", "T23-24"),
            ("T23‑T24", "T23-24"),
            ("T41 to T43", "T41-43"),
            ("turns 41..43", "T41-43"),
            ("T41 through 43", "T41-43"),
            ("−10", "-10"),
            ("－10", "-10"),
            ("– 10 points", "-10"),
            ("+5 points", "+5"),
            ("+1 point", "+1"),
            ("+5 pts", "+5"),
            ("Score: +5", "+5"),
            ("score +5", "+5"),
            ("Score change: -3", "-3"),
            ("score change 4", "+4"),
            ("Points: +5", "+5"),
            ("Score: 40", "score 40"),
            ("score -10", "score -10"),
            ("Episode 1", "Ep1"),
            ("Turn 20", "T20"),
            ("Turn #20", "T20"),
            ("ep. 1", "Ep1"),
            ("EP1", "Ep1"),
            ("Ep 1", "Ep1"),
            ("Episode: 1", "Ep1"),
            ("Ep1/T5", "Ep1, T5"),
            ("Ep1 T5", "Ep1, T5"),
            ("Ep1T5", "Ep1, T5"),
            ("Ep1-T5", "Ep1, T5"),
            ("Ep1:T5", "Ep1, T5"),
            ("Ep1; T5; +5", "Ep1, T5, +5"),
            ("Ep1 T5 +5", "Ep1, T5, +5"),
            ("T23 - T24", "T23-24"),
            ("Episode 1 at turn 5", "Ep1, T5"),
            ("Ｅｐ１", "Ep1"),
            ("Ｔ２３－２４", "T23-24"),
            ("**Ep1**", "Ep1"),
            ("[T5]", "T5"),
            ("`T5`", "T5"),
            ("\\+5", "+5"),
            ("messages 3–4", "M3-4"),
            ("Importance: 900", "importance 900"),
            ("importance=900", "importance 900"),
            ("importance 900/1000", "importance 900"),
            ("Moves: 12", "moves 12"),
            ("2026–01–31", "2026-01-31"),
        ] {
            let read = parse_fields(written);
            assert_eq!((write_fields(&read).as_str(), read.other.len()), (canonical, 0), "{written}");
        }
    }

    #[test]
    fn what_may_mean_two_things_is_kept_as_it_stands() {
        for written in [
            "Ep1-3",
            "Episodes 1 and 2",
            "Ep1 & Ep2",
            "Ep1/2",
            "T24-T23",
            "T1-2-3",
            "T5/6",
            "T5 -10",
            "T5 & 6",
            "Score: 5/350",
            "Score: −5",
            "5 points",
            "5",
            "lost 10 points",
            "importance 9000",
            "importance 8/10",
            "E1",
            "about T5",
            "T5ish",
            "T99999999999999999999",
            "5 moves",
            "31.01.2026",
            "January 31 2026",
            "+5 7",
            "+-5",
        ] {
            let read = parse_fields(written);
            let kept = read.other == [written] || written.contains('&') || written.contains("and");
            assert!(kept && write_fields(&read).contains(written), "{written}: {read:?}");
        }
    }

    proptest! {
        #[test]
        fn tags_come_back(tag in "[a-z%,) é\u{2028}]{1,12}") {
            let fields = Provenance { tags: vec![tag], ..Provenance::default() };
            prop_assert_eq!(parse_fields(&write_fields(&fields)), fields);
        }

        #[test]
        fn reading_what_was_written_changes_nothing(text in "\\PC{0,60}") {
            let once = write_fields(&parse_fields(&text));
            prop_assert_eq!(write_fields(&parse_fields(&once)), once);
        }
    }
}
