//! Lines of `### Ways`: where an action led.

use crate::comment_end;
use crate::evidence::{
    AttemptLine, is_list_item, parse_attempts, split_code_span, split_comment, split_count, write_code_span,
    write_count, write_mark,
};
use crate::fields::{parse_fields, parse_number, write_fields};
use crate::text::{stored_line, unescape};
use crate::types::text::escape;
use crate::types::{Provenance, Span, Way, may_name_witnesses};

/// The last field of a way as it was written once; the names of items follow. It is read over, and goes when the line is
/// written anew.
const REFUSED_WITHOUT: &str = "refused without:";

/// The beginning of the last field of a way; what opened it follows.
const AFTER: &str = "after ";

/// Characters that are escaped in an action of that field: each would end the action, begin a comment or be read as
/// emphasis.
const AFTER_ESCAPES: [char; 4] = ['\\', ';', '<', '*'];

/// A way, and whether its line says no more than that. One that says more is a person's: no program changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayLine {
    /// The way.
    pub way: Way,
    /// True if the way says all that the line says.
    pub is_whole: bool,
}

/// Reads ``- `north` → [North of House](#location-137-north-of-house) ×5 *(Ep5, T12)*``; also
/// ``- `north` -> Location 137: North of House``.
pub fn parse_way(line: &str) -> Option<WayLine> {
    let line = comment_end::read(line);
    let line = line.get(2..).filter(|_| is_list_item(&line))?.trim();
    let (action, rest) = split_code_span(line)?;
    let (rest, comment) = split_comment(rest.trim_start());
    let rest = rest.strip_prefix('→').or_else(|| rest.strip_prefix("->"))?.trim_start();
    let (to, name, rest) = split_link(rest).or_else(|| split_place(rest))?;
    let (count, rest) = split_count(rest)?;
    let rest = rest.trim();
    let fields = match rest.strip_prefix("*(").or_else(|| rest.strip_prefix("_(")) {
        Some(fields) => fields.strip_suffix(if rest.starts_with('*') { ")*" } else { ")_" })?,
        None if rest.is_empty() => "",
        None => return None,
    };
    let all = fields;
    let (fields, after) = split_after(fields);
    let fields = fields.find(REFUSED_WITHOUT).map_or(fields, |at| &fields[..at]);
    let behind = &all[fields.len()..];
    let fields = parse_fields(fields);
    let turn = fields.turns.map(|turns| turns.last);
    let mut witnesses = fields.witnesses();
    if may_name_witnesses(behind) {
        // A tag behind the openers is a slip, and names nobody.
        let slip = Provenance { goal: Some(behind.to_owned()), ..Provenance::default() };
        witnesses = witnesses.and(slip.witnesses());
    }
    let known = Provenance {
        episode: fields.episode,
        turns: turn.map(Span::one),
        tags: witnesses.tags(),
        ..Provenance::default()
    };
    let is_whole = fields == known && comment.is_empty();
    let action = (!action.trim().is_empty()).then_some(action)?.to_owned();
    let way = Way { action, to, name, count, episode: fields.episode, turn, after, witnesses };
    Some(WayLine { way, is_whole })
}

/// True if a line can only be one of a list of evidence: a way to a place, or tries with their episodes and turns.
pub(crate) fn is_evidence_line(line: &str) -> bool {
    if !is_list_item(line) || !line.contains('`') {
        return false;
    }
    let is_try = |line: AttemptLine| {
        line.is_whole
            && line.attempts.iter().all(|attempt| attempt.episode.is_some() && attempt.turn.is_some())
    };
    parse_way(line).is_some_and(|way| way.is_whole) || parse_attempts(line).is_some_and(is_try)
}

/// The fields without the last one, and the actions which that one lists: `Ep1, after unlock door; open door`.
fn split_after(fields: &str) -> (&str, Vec<String>) {
    let at = if fields.starts_with(AFTER) {
        Some(0)
    } else {
        fields.match_indices(AFTER).map(|(at, _)| at).find(|at| fields[..*at].ends_with(", "))
    };
    let Some(at) = at else { return (fields, Vec::new()) };
    let mut actions = Vec::new();
    let mut rest = &fields[at + AFTER.len()..];
    while !rest.is_empty() {
        let mut is_escaped = false;
        let end = rest.find(|c| {
            let ends = c == ';' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let (action, others) = end.map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
        actions.push(unescape(action.trim(), |c| c.is_ascii_punctuation()));
        rest = others;
    }
    actions.retain(|action| !action.is_empty());
    (fields[..at].trim_end_matches(", "), actions)
}

/// A link to the section of a place: its id, its name, and the rest of the line.
pub(crate) fn split_link(text: &str) -> Option<(u64, String, &str)> {
    let inner = text.strip_prefix('[')?;
    let (mut escaped, mut open) = (false, 0_usize);
    let end = inner.char_indices().find_map(|(at, c)| {
        let is_mark = |mark| c == mark && !escaped;
        // A formatter may take the escapes from brackets that are in pairs.
        let ends = is_mark(']') && (open == 0 || inner[at + 1..].starts_with("(#location-"));
        open = if is_mark('[') { open + 1 } else { open - usize::from(is_mark(']') && open > 0) };
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })?;
    let (anchor, rest) = inner[end + 1..].strip_prefix("(#location-")?.split_once(')')?;
    let digits = anchor.bytes().take_while(u8::is_ascii_digit).count();
    let to = parse_number(&anchor[..digits]).filter(|_| digits > 0)?;
    let name = unescape(&inner[..end], |c| c.is_ascii_punctuation());
    let is_nameless = name.strip_prefix("Location ") == Some(&anchor[..digits]);
    Some((to, if is_nameless { String::new() } else { name }, rest))
}

/// A place as its heading names it, up to the count or the fields.
fn split_place(text: &str) -> Option<(u64, String, &str)> {
    let text = text.strip_prefix("Location ")?;
    let end = [" ×", " *(", " _("].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    let (id, name) = text[..end].split_once(':').unwrap_or((&text[..end], ""));
    let id = id.trim();
    Some((parse_number(id).filter(|_| !id.is_empty())?, name.trim().to_owned(), &text[end..]))
}

/// The canonical line of a way.
pub fn write_way(way: &Way) -> String {
    let Way { action, to, name, count, episode, turn, after, witnesses } = way;
    let name = stored_line(name);
    let (turns, tags) = (turn.map(Span::one), witnesses.tags());
    let fields = Provenance { episode: *episode, turns, tags, ..Provenance::default() };
    let mut fields = write_fields(&fields);
    if !after.is_empty() {
        let after: Vec<String> = after.iter().map(|one| escape(&stored_line(one), &AFTER_ESCAPES)).collect();
        let comma = if fields.is_empty() { "" } else { ", " };
        fields.push_str(&format!("{comma}{AFTER}{}", after.join("; ")));
    }
    let action = write_code_span(&stored_line(action));
    let line =
        format!("- {action} → {}{}{}", write_link(*to, &name), write_count(*count), write_mark(&fields));
    comment_end::write(&line).into_owned()
}

/// A link to the section of a place.
pub(crate) fn write_link(to: u64, name: &str) -> String {
    let label = match name {
        "" => format!("Location {to}"),
        name => escape(name, &['\\', '[', ']', '*']),
    };
    format!("[{label}](#{})", anchor(&format!("Location {to}: {name}")))
}

/// The anchor that Markdown viewers give a heading: lower case, hyphens for spaces, no punctuation.
pub fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::Witnesses;

    #[test]
    fn ways_are_links() {
        let way = Way {
            action: "north".into(),
            to: 137,
            name: "North of [the] House".into(),
            count: 5,
            episode: Some(5),
            turn: Some(12),
            after: Vec::new(),
            witnesses: Witnesses::default(),
        };
        let line = "- `north` → [North of \\[the\\] House](#location-137-north-of-the-house) ×5 *(Ep5, T12)*";
        assert_eq!(write_way(&way), line);
        let old = line.replace("T12)", "T12, refused without: lamp; a\\; b)");
        assert_eq!(parse_way(&old), parse_way(line), "the items are read over");
        assert_eq!(parse_way(line), Some(WayLine { way, is_whole: true }));
        assert!(!parse_way("- `n` → Location 3: Hall *(beware, Ep1, T3-9)*").unwrap().is_whole);
        let by_hand = parse_way("- `n` -> Location 3: Hall ×2").unwrap().way;
        assert_eq!((by_hand.to, by_hand.name.as_str(), by_hand.count), (3, "Hall", 2));
        let opened =
            parse_way("- `n` → Location 3: Hall *(Ep1, after unlock door; say \"a\\; b\")*").unwrap();
        assert!(opened.is_whole);
        assert_eq!(opened.way.after, ["unlock door", "say \"a; b\""]);
        for broken in
            ["- `n`: no", "- `n` → Hall", "- n → Location 3", "- `n` → [Hall](#hall)", "- `n` → Location x"]
        {
            assert_eq!(parse_way(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn ways_come_back(
            action in "[`a →]{1,5}",
            name in "\\PC{0,12}",
            to: u64,
            after in prop::collection::vec("\\PC{1,8}|[a;,<>!)* -]{1,8}|refused without", 0..3),
            episode: Option<u64>,
            witnesses in prop::option::of(prop::collection::vec("[a-c]", 0..3)),
        ) {
            let (action, name) = (stored_line(&action), stored_line(&name));
            prop_assume!(!action.is_empty() && name != format!("Location {to}"));
            let after: Vec<String> = after.iter().map(|action| stored_line(action)).collect();
            prop_assume!(after.iter().all(|action| !action.is_empty()));
            let witnesses = Witnesses::from(witnesses);
            let way = Way { action, to, name, count: 1, episode, turn: None, after, witnesses };
            prop_assert_eq!(parse_way(&write_way(&way)), Some(WayLine { way, is_whole: true }));
        }
    }
}
