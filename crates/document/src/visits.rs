//! The line of visits of a section: `**Visits:** 3 | **Episodes:** 1 (T5), 2, 3`.
//!
//! A line without its line ending enters. It is also read in the words of another hand, `Visits: 5, Episodes: 1-4`, and
//! with a key that stands twice, as an older program leaves it; a canonical line leaves.

use std::borrow::Cow;

use crate::fields::parse_number;
use crate::loose_fields::plain;
use crate::types::Moment;

/// The longest range of episodes that is read.
const MAX_RANGE: u64 = 10_000;

/// A visits line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visits {
    /// Number of visits.
    pub count: u64,
    /// Episodes in which it was visited, as listed.
    pub episodes: Vec<u64>,
    /// Turn of the first visit, in the first of these episodes.
    pub first_turn: Option<u64>,
    /// Further `**Key:** value` parts, as they are.
    pub other: Vec<String>,
}

impl Visits {
    /// Episode and turn of the first visit; `None` where the turn is not known.
    pub(crate) fn first(&self) -> Option<Moment> {
        let turn = Some(self.first_turn?);
        Some(Moment { episode: self.episodes.first().copied(), turn, ..Moment::default() })
    }

    /// Joins what a second list of episodes says.
    fn join(&mut self, episodes: Vec<u64>, turn: Option<u64>) {
        if self.episodes.is_empty() {
            (self.episodes, self.first_turn) = (episodes, turn);
            return;
        }
        let (old, new) = (self.episodes.first().copied(), episodes.first().copied());
        self.episodes.extend(episodes);
        self.episodes.sort_unstable();
        self.episodes.dedup();
        let first = self.episodes.first().copied();
        let turns = [self.first_turn.filter(|_| old == first), turn.filter(|_| new == first)];
        self.first_turn = turns.into_iter().flatten().min();
    }
}

/// True if a line starts like a visits line.
pub(crate) fn looks_like_visits(line: &str) -> bool {
    line.starts_with("**Visits:**")
}

/// Reads `**Visits:** 3 | **Episodes:** 1 (T5), 2, 3`.
pub fn parse_visits(line: &str) -> Option<Visits> {
    if !may_be_visits(line) {
        return None;
    }
    let mut parts = parts(line).into_iter();
    let first = parts.next()?;
    let count = value_of(&first, "visits")?.parse().ok()?;
    let mut visits = Visits { count, ..Visits::default() };
    for part in parts {
        let part = part.trim();
        if let Some((episodes, turn)) = value_of(part, "episodes").and_then(parse_episodes) {
            visits.join(episodes, turn);
        } else if let Some(count) = value_of(part, "visits").and_then(|count| count.parse().ok()) {
            visits.count = visits.count.max(count);
        } else {
            visits.other.push(part.to_owned());
        }
    }
    Some(visits)
}

/// False for most lines that are none, by a look at their beginning.
pub(crate) fn may_be_visits(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '_', '-', '+', ' ']);
    line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("visit"))
}

/// The parts of a line. `|` separates them; in front of `Episodes` another mark may.
fn parts(line: &str) -> Vec<Cow<'_, str>> {
    let mut parts: Vec<Cow<'_, str>> = line.split('|').map(Cow::Borrowed).collect();
    let first = line.split('|').next().unwrap_or_default();
    let lower = first.to_ascii_lowercase();
    if let Some(at) = lower.find("episode") {
        let head = first[..at].trim_end_matches(['*', '_', ' ']);
        let head = head.strip_suffix([',', ';', '·', '•', '/', '-', '–', '—', '(']).unwrap_or(head);
        let tail = first[at..].trim_end_matches(' ');
        let tail = tail.strip_suffix(')').filter(|tail| !tail.contains('(')).unwrap_or(tail);
        parts[0] = Cow::Borrowed(head);
        parts.insert(1, Cow::Borrowed(tail));
    }
    parts
}

/// The value of a part of that key: behind a colon, or behind a key that is set in bold.
fn value_of<'a>(part: &'a str, key: &str) -> Option<&'a str> {
    let part = part.trim_start();
    let part = ["- ", "* ", "+ "].iter().find_map(|mark| part.strip_prefix(mark)).unwrap_or(part);
    let word = part.trim_start_matches(['*', '_']);
    let is_bold = word.len() < part.len();
    let length = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let named = &word[..length];
    if !(named.eq_ignore_ascii_case(key) || named.eq_ignore_ascii_case(&key[..key.len() - 1])) {
        return None;
    }
    let value = word[length..].trim_start_matches(['*', '_', ' ', '\t']);
    let behind = value.strip_prefix([':', '=', '：']);
    let value = behind.or(is_bold.then_some(value)).or((key == "episodes").then_some(value))?;
    Some(value.trim_matches(['*', '_', ' ', '\t', '\u{a0}']))
}

/// Reads `1 (T5), 4-6`: the episodes, and the turn that stands behind the first.
fn parse_episodes(list: &str) -> Option<(Vec<u64>, Option<u64>)> {
    let list: String = list.chars().map(plain).collect::<String>().to_lowercase().replace(" and ", ",");
    let items = list.split([',', '&', ';']).map(str::trim).filter(|item| !item.is_empty());
    let (mut episodes, mut first_turn) = (Vec::new(), None);
    for (at, item) in items.enumerate() {
        let item = match item.split_once('(') {
            Some((item, turn)) if at == 0 => {
                let turn = turn.strip_suffix(')')?.trim();
                let turn = turn.strip_prefix("turn").or(turn.strip_prefix('t'))?;
                first_turn = Some(number(turn)?);
                item
            }
            _ => item,
        };
        let (first, last) = item.split_once('-').or_else(|| item.split_once(" to ")).unwrap_or((item, item));
        let (first, last) = (episode(first)?, episode(last)?);
        if first > last || last - first > MAX_RANGE {
            return None;
        }
        episodes.extend(first..=last);
    }
    Some((episodes, first_turn))
}

/// Reads `4`, `Ep4` or `episode 4`.
fn episode(text: &str) -> Option<u64> {
    let text = text.trim();
    let named = ["episode", "ep."].iter().find_map(|name| text.strip_prefix(name));
    number(named.or(text.strip_prefix("ep")).unwrap_or(text))
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches('#');
    parse_number(text).filter(|_| !text.is_empty())
}

/// The canonical visits line.
pub fn write_visits(visits: &Visits) -> String {
    let mut parts = vec![format!("**Visits:** {}", visits.count)];
    if !visits.episodes.is_empty() {
        let mut episodes: Vec<String> = visits.episodes.iter().map(u64::to_string).collect();
        if let Some(turn) = visits.first_turn {
            episodes[0].push_str(&format!(" (T{turn})"));
        }
        parts.push(format!("**Episodes:** {}", episodes.join(", ")));
    }
    parts.extend(visits.other.iter().cloned());
    parts.join(" | ")
}

/// The key, in lower case, that stands twice in a visits line; `None` where each stands once.
pub(crate) fn repeated_key(line: &str) -> Option<String> {
    let key = |part: &str| {
        let part = part.trim_matches(|c: char| !c.is_alphanumeric());
        let end = part.find(|c: char| !c.is_alphanumeric() && c != ' ').unwrap_or(part.len());
        part[..end].trim().to_lowercase()
    };
    let parts = parts(line);
    let keys: Vec<String> = parts.iter().map(|part| key(part)).collect();
    let twice = keys.iter().enumerate().find(|(at, key)| !key.is_empty() && keys[..*at].contains(key));
    twice.map(|(_, key)| key.clone())
}

/// The part of a visits line that names episodes and is not read.
pub(crate) fn unread_part(visits: &Visits) -> Option<&String> {
    visits
        .other
        .iter()
        .find(|part| value_of(part, "episodes").is_some() || value_of(part, "visits").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_hands_are_read_as_they_are_meant() {
        for line in [
            "**Visits:** 5 | **Episodes:** 1, 2, 3, 4",
            "**Visits**: 5 | **Episodes**: 1-4",
            "**Visits:** 5 | **Episodes:** 1–4",
            "**Visits** 5 | **Episodes** 1 to 4",
            "Visits: 5 | Episodes: 1, 2, 3 and 4",
            "Visits: 5, Episodes: 1, 2, 3, 4",
            "- **Visits:** 5 | **Episodes:** 1, 2, 3, 4",
            "__Visits:__ 5 | __Episodes:__ 1, 2, 3, 4",
            "*Visits: 5* | *Episodes: Ep1-Ep4*",
            "visits = 5 | episodes = 1-4",
            "**Visits:** 5 | **Episodes:** 1 | **Episodes:** 2-4",
            "**Visits:** 5 | **Episodes:** 1-4 | **Episodes:** 1",
            "**Visits:** 4 | **Visits:** 5 | **Episodes:** 1-4",
            "**Visits:** 5 (Episodes 1-4)",
        ] {
            let visits = parse_visits(line).map(|visits| write_visits(&visits));
            assert_eq!(visits.as_deref(), Some("**Visits:** 5 | **Episodes:** 1, 2, 3, 4"), "{line}");
        }
        let twice = parse_visits("**Visits:** 4 | **Episodes:** 1 | **Episodes:** 1 (T15)").expect("a line");
        assert_eq!(write_visits(&twice), "**Visits:** 4 | **Episodes:** 1 (T15)");
    }

    #[test]
    fn what_is_no_line_of_visits_is_none() {
        for line in [
            "Visits by 3 people",
            "Visitors: 3",
            "**Visits:** many",
            "**Visits:**",
            "visits 3",
            "Visits: about 5",
        ] {
            assert_eq!(parse_visits(line), None, "{line}");
        }
        let visits = parse_visits("**Visits:** 3 | **Episodes:** 4-1 | **Mood:** grim").expect("a line");
        assert_eq!(visits.other, ["**Episodes:** 4-1", "**Mood:** grim"]);
        assert!(unread_part(&visits).is_some());
        assert_eq!(repeated_key("**Visits:** 4 | **Mood:** a | **Mood:** b").as_deref(), Some("mood"));
        assert_eq!(repeated_key("**Visits:** 4 | **Mood:** a | **Mind:** b"), None);
    }
}
