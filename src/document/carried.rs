//! Lines of `### Carried`: what came and went in an episode.

use crate::document::comment_end;
use crate::document::evidence::is_list_item;
use crate::document::fields::parse_number;
use crate::document::text::{stored_line, unescape};
use crate::types::{Carried, CarriedChange};

/// Reads `- Ep1: T12 +leaflet; T15 +brass lantern, -sword`.
pub fn parse_carried(line: &str) -> Option<Carried> {
    let line = comment_end::read(line);
    let line = line.get(2..).filter(|_| is_list_item(&line))?.trim();
    let (episode, rest) = line.strip_prefix("Ep")?.split_once(':')?;
    let mut changes = Vec::new();
    for part in split_names(rest, ';') {
        let (turn, items) = part.trim().strip_prefix('T')?.split_once(' ')?;
        let (mut gained, mut lost) = (Vec::new(), Vec::new());
        for item in split_names(items, ',') {
            match item.trim().split_at_checked(1)? {
                ("+", name) => gained.push(read_name(name)),
                ("-", name) => lost.push(read_name(name)),
                _ => return None,
            }
        }
        changes.push(CarriedChange { turn: parse_number(turn).filter(|_| !turn.is_empty())?, gained, lost });
    }
    let episode = parse_number(episode.trim()).filter(|_| !episode.trim().is_empty())?;
    Some(Carried { episode, changes })
}

/// The canonical line of what was carried in an episode.
pub fn write_carried(carried: &Carried) -> String {
    let change = |change: &CarriedChange| {
        let gained = write_names(&change.gained, "+", ", ");
        let lost = write_names(&change.lost, "-", ", ");
        let items: Vec<String> = [gained, lost].into_iter().filter(|items| !items.is_empty()).collect();
        format!("T{} {}", change.turn, items.join(", "))
    };
    let changes: Vec<String> = carried.changes.iter().map(change).collect();
    let line = format!("- Ep{}: {}", carried.episode, changes.join("; "));
    comment_end::write(line.trim_end()).into_owned()
}

/// Names with a mark before each, and a gap between them.
pub(crate) fn write_names(names: &[String], mark: &str, gap: &str) -> String {
    let names = names.iter().map(|name| format!("{mark}{}", escape(&stored_line(name), &['\\', ',', ';'])));
    names.collect::<Vec<_>>().join(gap)
}

/// Splits at a character that no `\` precedes; empty parts are left out.
pub(crate) fn split_names(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if c == separator && !escaped {
            parts.push(&text[start..at]);
            start = at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

pub(crate) fn read_name(text: &str) -> String {
    unescape(text.trim(), |c| matches!(c, '\\' | ',' | ';'))
}

/// A text with `\` before each of the marks.
pub(crate) fn escape(text: &str, marks: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if marks.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_carried() {
        let line = "- Ep2: T12 +leaflet; T15 +brass lantern, -leaflet; T40 +leaflet";
        let carried = parse_carried(line).unwrap();
        assert_eq!(write_carried(&carried), line);
        assert_eq!((carried.at(12), carried.at(15)), (vec![], vec!["leaflet".to_owned()]));
        assert_eq!((carried.at(16), carried.now().len()), (vec!["brass lantern".to_owned()], 2));
        assert_eq!(parse_carried("- Ep2: T12 leaflet"), None);
    }

    proptest! {
        #[test]
        fn items_come_back(items in prop::collection::vec("\\PC{1,9}", 1..3)) {
            let items: Vec<String> = items.iter().map(|item| stored_line(item)).filter(|item| !item.is_empty()).collect();
            prop_assume!(!items.is_empty());
            let changes = vec![
                CarriedChange { turn: 3, gained: items.clone(), lost: Vec::new() },
                CarriedChange { turn: 4, gained: Vec::new(), lost: items },
            ];
            let carried = Carried { episode: 1, changes };
            prop_assert_eq!(parse_carried(&write_carried(&carried)), Some(carried));
        }
    }
}
