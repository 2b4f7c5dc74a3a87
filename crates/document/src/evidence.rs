//! Lines of evidence: actions that were tried, that worked or that looked, each line with their common reply.
//!
//! Parsing takes a line without its line ending, writing gives the canonical form, as in
//! [`crate::grammar`].

use std::collections::HashMap;

use crate::comment_end;
use crate::fields::{parse_fields, write_fields};
use crate::text::{stored_line, stored_reply, unescape};
use crate::types::text::{backtick_fence, composed, fold_case};
use crate::types::{Attempt, Provenance, Span, TryResult, Witnesses};
use unicode_normalization::char::is_combining_mark;

/// True if a line is an item of a list, as lines of evidence are.
pub(crate) fn is_list_item(line: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Actions with one reply: a line of `### Tried` or `### Worked`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptLine {
    /// The actions, each with the reply of the line.
    pub attempts: Vec<Attempt>,
    /// True if the attempts say all that the line says. A line that says more is a person's: no program changes it.
    pub is_whole: bool,
}

/// The parts of a line of actions.
struct LineParts<'a> {
    /// Actions, each with its count and what its own mark holds.
    actions: Vec<(&'a str, u64, Option<&'a str>)>,
    /// The rest behind them: the reply, and a comment of a person.
    rest: &'a str,
}

/// Splits a line whose ends of comments were read.
fn split_line(line: &str) -> Option<LineParts<'_>> {
    let mut rest = line.get(2..).filter(|_| is_list_item(line))?.trim();
    let mut actions = Vec::new();
    loop {
        let (action, behind) = match split_code_span(rest) {
            Some(split) => split,
            None if actions.is_empty() => split_bare_action(rest),
            None => return None,
        };
        // An action of only white space would be written as nothing.
        if action.trim().is_empty() {
            return None;
        }
        let (count, behind) = split_count(behind)?;
        let (mark, behind) = split_mark(behind);
        actions.push((action, count, mark));
        rest = behind.trim_start();
        match rest.strip_prefix(',').map(str::trim_start) {
            Some(next) if next.starts_with('`') => rest = next,
            _ if rest.is_empty() || rest.starts_with([':', '<']) => return Some(LineParts { actions, rest }),
            _ => return None,
        }
    }
}

/// The actions of a line, without reading more of it.
pub(crate) fn actions_of(line: &str) -> impl Iterator<Item = &str> {
    // Below an unclosed comment an action may hold its end in another form, which no direction and no way has.
    split_line(line).into_iter().flat_map(|line| line.actions).map(|(action, ..)| action)
}

/// Reads ``- `take window` ×3 *(Ep2, T31)*, `break window` *(T33)*: You can't be serious.`` One action alone may
/// lack the code span.
pub fn parse_attempts(line: &str) -> Option<AttemptLine> {
    let line = comment_end::read(line);
    let LineParts { actions, rest } = split_line(&line)?;
    let (rest, comment) = split_comment(rest);
    let reply = match rest.strip_prefix(':') {
        Some(reply) => unescape(reply.trim(), |c| c.is_ascii_punctuation()),
        None if rest.is_empty() => String::new(),
        None => return None,
    };
    let parts =
        actions.into_iter().map(|(action, count, mark)| (action.to_owned(), count, mark.map(parse_fields)));
    let line = with_marks(parts.collect(), &reply);
    Some(AttemptLine { is_whole: line.is_whole && comment.is_empty(), ..line })
}

/// A comment at the end of a line, which a person wrote: in a reply that the program writes, a `\` stands before
/// `<!--`.
pub(crate) fn split_comment(text: &str) -> (&str, &str) {
    let starts = text.match_indices("<!--").map(|(at, _)| at);
    let mut starts = starts.filter(|&at| !text[..at].ends_with('\\'));
    let at = starts.next().filter(|_| text.trim_end().ends_with("-->")).unwrap_or(text.len());
    (text[..at].trim_end(), &text[at..])
}

/// Gives each action its mark: its own, or the next one in the line. An episode that is left out is the episode of
/// the action before. The last mark has the result and the witnesses of all actions of the line.
fn with_marks(mut parts: Vec<(String, u64, Option<Provenance>)>, reply: &str) -> AttemptLine {
    let mut is_whole = true;
    let mut next: Option<Provenance> = None;
    let mut marks: Vec<Option<Provenance>> = Vec::with_capacity(parts.len());
    let known = parts.iter().filter_map(|(_, _, mark)| mark.as_ref()).map(Provenance::witnesses);
    let witnesses = known.fold(Witnesses::default(), Witnesses::and);
    let last_mark = parts.last_mut().and_then(|(_, _, mark)| mark.as_mut());
    is_whole &= last_mark.map(|mark| std::mem::take(&mut mark.tags)).unwrap_or_default() == witnesses.tags();
    for (_, _, mark) in parts.iter().rev() {
        next = mark.clone().or(next);
        marks.push(next.clone());
    }
    marks.reverse();
    let last = marks.last().and_then(Option::as_ref).map(result_of).unwrap_or_default();
    let mut before: Option<u64> = None;
    let mut attempts = Vec::with_capacity(parts.len());
    for ((action, count, _), mark) in parts.into_iter().zip(marks) {
        let mark = mark.unwrap_or_default();
        let turn = mark.turns.map(|turns| turns.first);
        let episode = mark.episode.or(before.filter(|_| turn.is_some()));
        before = episode;
        let own = result_of(&mark);
        let result = if own.is_vain() { last } else { own };
        let (reply, witnesses) = (reply.to_owned(), witnesses.clone());
        let attempt = Attempt { action, count, episode, turn, reply, result, witnesses };
        let other = if own.is_vain() { vec![] } else { vec![own.field().to_owned()] };
        is_whole &= Provenance { episode, ..mark } == Provenance { other, ..moment_of(&attempt) };
        attempts.push(attempt);
    }
    is_whole &= reply == stored_reply(reply) && all_share_a_line(&attempts);
    AttemptLine { attempts, is_whole }
}

/// An action without code span, up to its count, its mark or its reply.
fn split_bare_action(line: &str) -> (&str, &str) {
    let end = [" ×", " *(", " _(", ": ", " <!--"].iter().filter_map(|mark| line.find(mark)).min();
    let (action, rest) = line.split_at(end.unwrap_or(line.len()));
    (without_quotes(action.trim_end_matches(':').trim()), rest)
}

/// An action without the curly quotes that a word processor put in place of its code span.
fn without_quotes(action: &str) -> &str {
    let quoted = |(open, close)| action.strip_prefix(open)?.strip_suffix(close).map(str::trim);
    let pairs =
        [('‘', '’'), ('“', '”'), ('‚', '‘'), ('„', '“'), ('«', '»'), ('‹', '›'), ('’', '’'), ('”', '”')];
    let inner = pairs.into_iter().find_map(quoted);
    inner
        .filter(|inner| !inner.is_empty() && !inner.contains(['‘', '’', '“', '”', '«', '»']))
        .unwrap_or(action)
}

/// A count such as `×3`; 1 where there is none, `None` for one that is no number.
pub(crate) fn split_count(text: &str) -> Option<(u64, &str)> {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix('×') else { return Some((1, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((rest[..digits].parse().ok()?, rest[digits..].trim_start()))
}

/// The fields between ` *(` and `)*`, and the rest.
pub(crate) fn split_mark(text: &str) -> (Option<&str>, &str) {
    let starred = text.strip_prefix("*(").and_then(|rest| rest.split_once(")*"));
    match starred.or_else(|| text.strip_prefix("_(").and_then(|rest| rest.split_once(")_"))) {
        Some((mark, rest)) => (Some(mark), rest),
        None => (None, text),
    }
}

/// The content of a code span at the start of a line, and the rest of the line.
pub(crate) fn split_code_span(line: &str) -> Option<(&str, &str)> {
    let fence = line.bytes().take_while(|&byte| byte == b'`').count();
    if fence == 0 {
        return None;
    }
    let mut at = fence;
    loop {
        at += line[at..].find('`')?;
        let run = line[at..].bytes().take_while(|&byte| byte == b'`').count();
        if run == fence {
            let content = &line[fence..at];
            let padded = content.starts_with(' ') && content.ends_with(' ') && !content.trim().is_empty();
            let content = if padded { &content[1..content.len() - 1] } else { content };
            return Some((content, &line[at + run..]));
        }
        at += run;
    }
}

/// A reply without the words of its action: `You can't see any _ here!`. Replies of one template say the same.
pub(crate) fn template(action: &str, reply: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c) || c == '\'';
    let of_action: Vec<&str> = action.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let mut out = String::with_capacity(reply.len());
    let mut rest = reply;
    while !rest.is_empty() {
        let (word, behind) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let is_named = of_action.iter().any(|named| is_same_word(named, word));
        out.push_str(if is_named { "_" } else { word });
        let (gap, next) = behind.split_at(behind.find(is_word).unwrap_or(behind.len()));
        out.push_str(gap);
        rest = next;
    }
    out
}

/// True if two words are the same, see [`fold_case`].
fn is_same_word(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        one.eq_ignore_ascii_case(other)
    } else {
        fold_case(one) == fold_case(other)
    }
}

/// True if a reply to an action is the reply of the list, which may be written as a template.
pub fn is_same_reply(listed: &Attempt, reply: &str) -> bool {
    let reply = stored_reply(reply);
    let is_listed = |reply: &str| composed(&listed.reply) == composed(reply);
    is_listed(&reply) || is_listed(&template(&listed.action, &reply))
}

/// The canonical lines of actions: those with the same reply and the same kinds of fields in one line, in the
/// order of the first of each line. `worked` tells which actions have worked here, whose reply is therefore not final.
pub fn write_attempts(attempts: &[Attempt], worked: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines: Vec<Vec<&Attempt>> = Vec::new();
    let mut known: HashMap<LineKey, usize> = HashMap::new();
    for attempt in attempts {
        let at = *known.entry(line_key(attempt)).or_insert(lines.len());
        match lines.get_mut(at) {
            Some(line) => line.push(attempt),
            None => lines.push(vec![attempt]),
        }
    }
    lines.into_iter().map(|line| write_line(&line, &worked)).collect()
}

/// The canonical line of one action.
pub fn write_attempt(attempt: &Attempt) -> String {
    write_line(&[attempt], |_| false)
}

/// Actions of one key stand in one line: their replies have one template, the same know them, and no mark can be read as
/// the mark of another action.
pub(crate) type LineKey = (bool, bool, bool, TryResult, String);

/// The key of an action's line.
pub(crate) fn line_key(attempt: &Attempt) -> LineKey {
    let Attempt { action, episode, turn, reply, result, witnesses, .. } = attempt;
    let is_bare = episode.is_none() && turn.is_none() && result.is_vain();
    let reply = witnesses.keyed(template(action, &stored_reply(reply)));
    (episode.is_some(), turn.is_some(), is_bare, *result, reply)
}

/// True if these actions stand in one line.
fn all_share_a_line(attempts: &[Attempt]) -> bool {
    let [first, others @ ..] = attempts else { return true };
    // Most lines have one action, and a key takes time.
    let key = (!others.is_empty()).then(|| line_key(first));
    others.iter().all(|other| Some(line_key(other)) == key)
}

/// Actions with one reply from which on they share a mark.
const SHARED_MARK: usize = 3;

/// The mark that the actions of a line share, the earliest. Where the moment of each counts they share none: where it
/// may be over what was in the way, somebody died, or the action has worked.
fn shared_mark(attempts: &[&Attempt], worked: impl Fn(&str) -> bool) -> Option<(Option<u64>, Option<u64>)> {
    if attempts.len() < SHARED_MARK || attempts[0].reply.is_empty() {
        return None;
    }
    let may_share = |attempt: &&Attempt| {
        let is_timeless = matches!(attempt.result, TryResult::Vain | TryResult::Unknown | TryResult::Unseen);
        attempt.turn.is_some() && is_timeless && !worked(&attempt.action)
    };
    let marks = attempts.iter().map(|attempt| (attempt.episode, attempt.turn));
    marks.min().filter(|_| attempts.iter().all(may_share))
}

fn write_line(attempts: &[&Attempt], worked: impl Fn(&str) -> bool) -> String {
    let shared = shared_mark(attempts, worked);
    let mut before = None;
    let item = |(at, attempt): (usize, &&Attempt)| {
        let is_last = at + 1 == attempts.len();
        let mut fields = moment_of(attempt);
        if let Some((episode, turn)) = shared {
            let mark = Provenance { episode, turns: turn.map(Span::one), ..Provenance::default() };
            fields = if is_last { mark } else { Provenance::default() };
        } else if fields.episode == before && attempt.turn.is_some() {
            fields.episode = None;
        }
        if is_last {
            fields.tags = attempt.witnesses.tags();
        }
        if is_last && !attempt.result.is_vain() {
            fields.other.push(attempt.result.field().to_owned());
        }
        before = attempt.episode;
        let action = write_code_span(&stored_line(&attempt.action));
        format!("{action}{}{}", write_count(attempt.count), write_mark(&write_fields(&fields)))
    };
    let items: Vec<String> = attempts.iter().enumerate().map(item).collect();
    let same = attempts.iter().all(|attempt| attempt.reply == attempts[0].reply);
    let reply = stored_reply(&attempts[0].reply);
    let reply = if same { reply } else { template(&attempts[0].action, &reply) };
    let reply = if reply.is_empty() { reply } else { format!(": {}", escape_reply(&reply)) };
    comment_end::write(&format!("- {}{reply}", items.join(", "))).into_owned()
}

/// A reply as it stands in a line: what a viewer or a formatter would take for emphasis is escaped, and so is the start
/// of a comment, and a `\` that would be read as an escape.
fn escape_reply(reply: &str) -> String {
    let is_pair = reply.matches('_').count() > 1;
    let mut out = String::with_capacity(reply.len());
    for (at, c) in reply.char_indices() {
        let behind = &reply[at + c.len_utf8()..];
        let escapes = match c {
            '\\' => behind.starts_with(|c: char| c.is_ascii_punctuation()),
            '*' => true,
            '_' => is_pair,
            '<' => behind.starts_with("!--"),
            _ => false,
        };
        if escapes {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

pub(crate) fn write_count(count: u64) -> String {
    if count == 1 { String::new() } else { format!(" ×{count}") }
}

pub(crate) fn write_mark(fields: &str) -> String {
    if fields.is_empty() { String::new() } else { format!(" *({fields})*") }
}

/// The fields of an action that say when it was done last.
fn moment_of(attempt: &Attempt) -> Provenance {
    let Attempt { episode, turn, .. } = *attempt;
    Provenance { episode, turns: turn.map(Span::one), ..Provenance::default() }
}

/// The result of the actions of a mark, by its fields.
fn result_of(mark: &Provenance) -> TryResult {
    mark.other
        .iter()
        .filter(|field| !field.is_empty())
        .find_map(|field| field.parse().ok())
        .unwrap_or_default()
}

/// A text in a code span whose fence is longer than any run of backticks in it.
pub(crate) fn write_code_span(text: &str) -> String {
    let fence = backtick_fence(text, 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strum::VariantArray;

    use super::*;

    fn attempt(action: &str, count: u64, at: (u64, u64), reply: &str) -> Attempt {
        let (episode, turn) = (Some(at.0), Some(at.1));
        Attempt { action: action.into(), count, episode, turn, reply: reply.into(), ..Attempt::default() }
    }

    #[test]
    fn actions_with_the_same_reply_share_a_line() {
        let no = "You can't go that way.";
        let attempts = [
            attempt("southwest", 1, (1, 12), no),
            attempt("eat mailbox", 2, (1, 13), "No: really."),
            attempt("up", 2, (1, 154), no),
            attempt("down", 1, (2, 3), no),
        ];
        let lines = write_attempts(&attempts, |_| false);
        let expected = [
            "- `southwest`, `up` ×2, `down` *(Ep1, T12)*: You can't go that way.",
            "- `eat mailbox` ×2 *(Ep1, T13)*: No: really.",
        ];
        assert_eq!(lines, expected);
        let read: Vec<Attempt> =
            lines.iter().flat_map(|line| parse_attempts(line).unwrap().attempts).collect();
        let first = |at: usize| Attempt { episode: Some(1), turn: Some(12), ..attempts[at].clone() };
        assert_eq!(read, [first(0), first(2), first(3), attempts[1].clone()]);
        assert_eq!(write_attempts(&read, |_| false), expected);
        let two = write_attempts(&attempts[2..], |_| false);
        assert_eq!(two, ["- `up` ×2 *(Ep1, T154)*, `down` *(Ep2, T3)*: You can't go that way."]);
    }

    #[test]
    fn replies_that_name_their_action_share_a_line() {
        let see = |what: &str, turn| {
            attempt(&format!("take {what}"), 1, (1, turn), &format!("You can't see any {what} here!"))
        };
        let lines = write_attempts(&[see("sword", 1), see("rope", 2), see("elvish knife", 3)], |_| false);
        let line = "- `take sword` *(Ep1, T1)*, `take rope` *(T2)*: You can't see any _ here!";
        assert_eq!(lines[0], line);
        assert!(lines[1].ends_with("You can't see any elvish knife here!"));
        let read = parse_attempts(line).unwrap().attempts;
        assert_eq!(write_attempts(&read, |_| false), [line]);
        assert!(is_same_reply(&read[1], "You can't see any rope here!"));
        assert!(!is_same_reply(&read[1], "You can't see any sword here!"));
        assert_eq!(template("go 北", "北? I can't go there's"), "_? I can't _ there's");
    }

    #[test]
    fn a_mark_counts_for_the_actions_before_it() {
        let line = parse_attempts("- `a`, `b` ×2, `c` *(Ep1, T12-154)*: no").unwrap();
        assert_eq!(line.attempts, [("a", 1), ("b", 2), ("c", 1)].map(|(a, n)| attempt(a, n, (1, 12), "no")));
        assert!(!line.is_whole, "the range would be lost");
    }

    #[test]
    fn a_line_of_replies_that_differ_is_not_written_anew() {
        let is_whole = |line: &str| parse_attempts(line).unwrap().is_whole;
        assert!(is_whole("- `up`, `down` *(Ep1, T2)*: You can't go that way."));
        let of_one = "- `take lamp`, `take rope` *(Ep1, T2)*: You can't see any lamp here!";
        assert!(!is_whole(of_one), "the reply to the second was another");
    }

    #[test]
    fn attempts_of_other_hands() {
        let only = |line: &str| parse_attempts(line).expect("a line").attempts.remove(0);
        let eat = only("- eat mailbox ×2 *(Ep1, T12)*: No. Really: no.");
        assert_eq!(eat, attempt("eat mailbox", 2, (1, 12), "No. Really: no."));
        assert_eq!(only("- eat mailbox").action, "eat mailbox");
        assert_eq!(only("- eat: no").reply, "no");
        assert_eq!(only("- `eat`: `a`, `b`").reply, "`a`, `b`");
        assert_eq!((parse_attempts("- ` `"), parse_attempts("- `a`, b: no")), (None, None));
    }

    proptest! {
        #[test]
        fn evidence_comes_back(
            actions in prop::collection::vec(("[`a ×*():,]{1,12}", 1u64..5, prop::option::of(0u64..3), any::<Option<u64>>(), prop::sample::select(TryResult::VARIANTS),
                prop::option::of(prop::collection::vec("[a-c]", 0..3))), 1..5),
            reply in "[`a:*(), ]{0,9}",
        ) {
            let attempts: Vec<Attempt> = actions
                .into_iter()
                .map(|(action, count, episode, turn, result, witnesses)| {
                    let witnesses = Witnesses::from(witnesses);
                    let (action, reply) = (stored_line(&action), stored_reply(&reply));
                    Attempt { action, count, episode, turn, reply, result, witnesses }
                })
                .filter(|attempt| !attempt.action.is_empty())
                .collect();
            let mut read: Vec<Attempt> = Vec::new();
            for line in write_attempts(&attempts, |_| false) {
                let line = parse_attempts(&line).expect("what was written is read");
                prop_assert!(line.is_whole);
                read.extend(line.attempts);
            }
            prop_assert_eq!(read.len(), attempts.len());
            let kept = |attempt: &Attempt| read.iter().any(|read| {
                let earlier = Attempt { episode: read.episode, turn: read.turn, reply: read.reply.clone(), ..attempt.clone() };
                *read == earlier
                    && (read.episode, read.turn) <= (attempt.episode, attempt.turn)
                    && is_same_reply(read, &attempt.reply)
            });
            prop_assert!(attempts.iter().all(kept), "{:?} of {:?}", read, attempts);
        }
    }
}
