//! Lines that are nearly of our grammar: what a slip of a person's hand makes of a heading, a visits line
//! or a tried action (`near_entry` does so for entries).
//!
//! A line that the grammar cannot read enters; the nearest right form leaves, and whether it is the only
//! possible reading. Nothing here looks at other lines.

use crate::evidence;
use crate::fields::parse_fields;
use crate::grammar::{self, Heading};
use crate::parser::RegionKind;
use crate::scan::{self, Event, walk};
use crate::types::{FolderPath, Scope, is_id};
use crate::visits;

/// The most likely meaning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Near<T = String> {
    /// The nearest right form; `None` where a part of it is missing.
    pub(crate) form: Option<T>,
    /// True if nothing else can be meant.
    pub(crate) certain: bool,
}

impl<T> Near<T> {
    pub(crate) fn of(form: T, certain: bool) -> Near<T> {
        Near { form: Some(form), certain }
    }
}

/// White space that a person does not see: also a no-break space or a byte order mark.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}')
}

/// Marks that people write between an id and a name.
fn is_separator(c: char) -> bool {
    matches!(c, ':' | '-' | '–' | '—' | '.' | ',' | ';')
}

/// The scopes of headings that are misread, with the lines at which they stand. Such a heading leads an entry or
/// a visits line; one of a person's own that only names a place leads neither.
pub fn misread_sections(source: &str) -> Vec<(Scope, usize)> {
    let (mut found, mut last) = (Vec::new(), None);
    walk(source.as_bytes(), |event| {
        let Event::Visible(offset, line) = event else { return };
        let line = scan::first_line_without_bom(offset, line);
        let Ok(text) = std::str::from_utf8(line) else { return };
        if text.trim_start_matches(is_space).starts_with('#') {
            if let Some(heading) = heading(text).and_then(|near| near.form) {
                let start = usize::try_from(offset).expect("an offset into memory fits");
                last = Some((heading.scope, scan::line_number(source, start)));
            } else if RegionKind::begun_by(text) == RegionKind::Other {
                last = None;
            }
        } else if grammar::looks_like_entry(text) || visits::looks_like_visits(text) {
            found.extend(last.take());
        }
    });
    found
}

/// A line that was meant as the heading of a section and is none.
pub(crate) fn heading(line: &str) -> Option<Near<Heading>> {
    if RegionKind::begun_by(line) != RegionKind::Other || grammar::parse_heading(line).is_some() {
        return None;
    }
    let line = line.trim_matches(is_space);
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let spaced = line[level..].starts_with(is_space);
    if !(1..=6).contains(&level) || (level == 1 && !spaced) {
        return None;
    }
    let body = line[level..].trim_start_matches(is_space);
    let end = body.find(|c: char| !c.is_alphabetic()).unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    if let Some(near) = work_heading(word, rest).filter(|_| level == 2) {
        return Some(near);
    }
    let (keyword, distance) = ["Location", "NPC", "Agent", "World", "Scene", "Dialogue", "Game"]
        .into_iter()
        .map(|keyword| (keyword, edits(&word.to_lowercase(), &keyword.to_lowercase())))
        .find(|&(keyword, distance)| distance <= slips(keyword))?;
    let exact = distance == 0;
    let found = match keyword {
        "Location" => place_heading(rest, exact),
        "NPC" | "Agent" => named_heading(keyword, rest),
        _ if level == 2 && rest.chars().all(|c| is_space(c) || c == ':') => {
            let scope = [Scope::World, Scope::Scene, Scope::Dialogue, Scope::Game];
            let scope = scope.into_iter().find(|scope| grammar::write_key(scope) == keyword)?;
            Some(Near::of(Heading { scope, name: String::new() }, true))
        }
        _ => None,
    };
    let missing = || {
        let holds_id = rest.contains(':') || rest.bytes().any(|byte| byte.is_ascii_digit());
        let parted = rest.starts_with(|c| is_space(c) || c == ':');
        let named = keyword.len() > 5 || keyword == word;
        (exact && named && level == 2 && parted && holds_id).then_some(Near { form: None, certain: false })
    };
    let near = found.or_else(missing)?;
    Some(Near { certain: near.certain && distance <= 1, ..near })
}

/// How many slips of the hand a keyword may have and still be recognized.
fn slips(keyword: &str) -> usize {
    match keyword {
        "Location" => 2,
        "Agent" => 1,
        _ => 0,
    }
}

/// The part of a heading behind `Location`.
fn place_heading(rest: &str, exact: bool) -> Option<Near<Heading>> {
    let id = rest.trim_start_matches(|c| is_space(c) || matches!(c, ':' | '#'));
    let loose = rest[..rest.len() - id.len()].contains(':');
    let digits = id.bytes().take_while(u8::is_ascii_digit).count();
    let number = id[..digits].parse().ok().filter(|_| digits > 0)?;
    let behind = &id[digits..];
    let spaced = behind.trim_start_matches(is_space);
    let name = spaced.strip_prefix(is_separator).unwrap_or(spaced).trim_matches(is_space);
    let parted = name.len() < spaced.trim_end_matches(is_space).len() || name.is_empty();
    if !(parted || exact && spaced.len() < behind.len()) {
        return None;
    }
    let ambiguous = name.starts_with(|c: char| c.is_ascii_digit() || is_separator(c));
    let heading = Heading { scope: Scope::Location(number), name: name.to_owned() };
    Some(Near::of(heading, !loose && !ambiguous))
}

/// The part of a heading behind `NPC` or `Agent`.
fn named_heading(keyword: &str, rest: &str) -> Option<Near<Heading>> {
    let (id, name) = rest.split_once(':')?;
    let id = id.trim_matches(is_space).to_lowercase();
    let name = name.trim_matches(is_space).to_owned();
    is_id(&id).then_some(())?;
    let scope = if keyword == "NPC" { Scope::Npc(id) } else { Scope::Agent(id) };
    Some(Near::of(Heading { scope, name }, true))
}

/// A heading of a folder or a topic: `## Dir ./src`, `## topic Release`.
fn work_heading(word: &str, rest: &str) -> Option<Near<Heading>> {
    let is_mark = |c| is_space(c) || matches!(c, ':' | '`' | '"' | '\'');
    let body = rest.strip_prefix(is_mark)?.trim_start_matches(is_mark);
    let (id, name) = body.split_once(':').unwrap_or((body, ""));
    let id = id.trim_matches(is_mark);
    let certain = !id.contains(is_space);
    let scope = match word.to_lowercase().as_str() {
        _ if id.is_empty() => return None,
        "folder" | "dir" | "directory" => Scope::Folder(FolderPath::root().join(id).ok()?),
        "topic" => Scope::Topic(Some(id.to_lowercase()).filter(|id| is_id(id))?),
        _ => return None,
    };
    Some(Near::of(Heading { scope, name: name.trim_matches(is_space).to_owned() }, certain))
}

/// A line that was meant as `### Memories` or `### Tried` and is not read as one.
pub(crate) fn part(line: &str) -> Option<&'static str> {
    let trimmed = line.trim_matches(is_space);
    let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
    let word = trimmed[level..].trim_matches(|c| is_space(c) || matches!(c, ':' | '*' | '_' | '#'));
    if !(2..=6).contains(&level) || RegionKind::begun_by(line) != RegionKind::Other {
        return None;
    }
    let near = |part: &&str| edits(&word.to_lowercase(), &part[4..].to_lowercase()) <= 1;
    ["### Memories", "### Tried"].into_iter().find(near)
}

/// A line that was meant as a visits line and is not read as one.
pub(crate) fn visits(line: &str) -> Option<Near> {
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '_')).collect();
    let mut parts = plain.split('|').map(|part| part.trim_matches(is_space));
    let (count, certain) = after_word(parts.next()?, "visits")?;
    let count: u64 = count.parse().ok()?;
    let mut visits = visits::Visits { count, ..visits::Visits::default() };
    if let Some(part) = parts.next() {
        let (list, _) = after_word(part, "episodes")?;
        let numbers = list.split(',').map(|number| number.trim().parse().ok());
        visits.episodes = numbers.collect::<Option<Vec<u64>>>()?;
    }
    Some(Near::of(visits::write_visits(&visits), certain && parts.next().is_none()))
}

/// The text behind a word and its colon, and true if the word is exact but for case.
fn after_word<'a>(text: &'a str, wanted: &str) -> Option<(&'a str, bool)> {
    let end = text.find(|c: char| !c.is_alphabetic())?;
    let distance = edits(&text[..end].to_lowercase(), wanted);
    let rest = text[end..].trim_start_matches(|c| is_space(c) || c == ':');
    (distance <= 1).then_some((rest, distance == 0 || wanted.starts_with(&text[..end].to_lowercase())))
}

/// A line under `### Tried` that is read as no action, or with its count as part of the text.
pub(crate) fn attempt(line: &str) -> Option<String> {
    let inner = line.get(2..)?.trim();
    let (_, rest) = evidence::split_code_span(inner)?;
    let head = &inner[..inner.len() - rest.len()];
    let rest = rest.trim_start();
    let counted = rest.trim_start_matches(['x', 'X', '×']).trim_start();
    let digits = counted.bytes().take_while(u8::is_ascii_digit).count();
    let (count, rest) = match digits {
        0 => (String::new(), rest),
        _ if counted.len() < rest.len() => {
            (format!(" ×{}", &counted[..digits]), counted[digits..].trim_start())
        }
        _ => return None,
    };
    let fields = ["*(", "_(", "("].iter().find_map(|start| rest.strip_prefix(start)?.split_once(')'));
    let tail = match fields {
        Some((fields, rest)) if parse_fields(fields).other.is_empty() => {
            format!(" *({fields})*{}", rest.strip_prefix(['*', '_']).unwrap_or(rest))
        }
        _ => rest.to_owned(),
    };
    let form = format!("- {head}{count}{tail}");
    let line = evidence::parse_attempts(&form)?;
    evidence::write_attempts(&line.attempts, |_| false).into_iter().next().filter(|_| line.is_whole)
}

/// Number of slips between two words: letters put in, left out, exchanged or swapped with the next.
pub(crate) fn edits(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > 2 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (at, c) in one.iter().enumerate() {
        let mut row = vec![at + 1];
        for (to, d) in other.iter().enumerate() {
            let mut least = (rows[at][to] + usize::from(c != d)).min(rows[at][to + 1] + 1).min(row[to] + 1);
            if at > 0 && to > 0 && *c == other[to - 1] && one[at - 1] == *d {
                least = least.min(rows[at - 1][to - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_are_nearly_ours() {
        let near = |line: &str| {
            let near = heading(line)?;
            let form = near.form.map(|heading| grammar::write_heading(&heading.scope, &heading.name));
            Some((form.unwrap_or_default(), near.certain))
        };
        let west = |certain| Some(("## Location 15: West of House".to_owned(), certain));
        for line in [
            "## Locaton 15: West of House",
            "##Location 15: West of House",
            "### Location 15: West of House",
            "# Location 15: West of House",
            "## Location\u{a0}15: West of House",
            "##\u{a0}Location 15: West of House",
            "\u{FEFF}## Location 15: West of House",
            " ## Location 15: West of House",
            "## Location 15 West of House",
        ] {
            assert_eq!(near(line), west(true), "{line}");
        }
        assert_eq!(near("## Loction15: West of House"), west(true));
        assert_eq!(near("## Lcaton 15: West of House"), west(false));
        assert_eq!(near("## Location: West of House"), Some((String::new(), false)));
        assert_eq!(near("## Location fifteen: West"), Some((String::new(), false)));
        assert_eq!(near("## Location 15-16: Maze"), Some(("## Location 15: 16: Maze".to_owned(), false)));
        assert_eq!(near("## npc Troll: The Troll"), Some(("## NPC troll: The Troll".to_owned(), true)));
        for (line, form) in [
            ("## Folder: src", "## Folder src"),
            ("## folder src: Code", "## Folder src: Code"),
            ("## Dir src/search", "## Folder src/search"),
            ("## Directory `src\\search\\`", "## Folder src/search"),
            ("## Folder ./src//search/", "## Folder src/search"),
            ("## Folder c#", "## Folder c%23"),
            ("## topic Release: The release", "## Topic release: The release"),
        ] {
            assert_eq!(near(line), Some((form.to_owned(), true)), "{line}");
        }
        assert_eq!(near("## dir my notes"), Some(("## Folder my notes".to_owned(), false)));
        for line in [
            "## Folder",
            "## Folders and files",
            "### dir src",
            "## Topic of the day",
            "## Directory",
            "# Location Memories",
            "## Locations",
            "## Worlds",
            "## World peace",
            "### Scene",
            "#Location 15",
            "## Kitchen",
            "## Location of the treasure",
            "## Locations 15 and 16",
        ] {
            assert_eq!(near(line), None, "{line}");
        }
    }

    #[test]
    fn other_lines_that_are_nearly_ours() {
        let visits = |line| visits(line).map(|near| (near.form.expect("a form"), near.certain));
        assert_eq!(visits("**Visits** 3"), Some(("**Visits:** 3".to_owned(), true)));
        assert_eq!(
            visits("Visits: 3 | Episodes: 1, 2"),
            Some(("**Visits:** 3 | **Episodes:** 1, 2".to_owned(), true))
        );
        assert_eq!(visits("Visits by 3 people"), None);
        assert_eq!(part("### Tryed"), Some("### Tried"));
        assert_eq!(part("##Memories:"), Some("### Memories"));
        assert_eq!(part("### Mine"), None);
        let attempt = |line| attempt(line).unwrap_or_default();
        assert_eq!(attempt("- `wait` x3 *(Ep1, T2)*: no"), "- `wait` ×3 *(Ep1, T2)*: no");
        assert_eq!(attempt("- `wait` ×3 _(Ep1, T2)_: no"), "- `wait` ×3 *(Ep1, T2)*: no");
        assert_eq!(attempt("- `wait` often"), "");
        assert_eq!(attempt("- `wait` x3, `up`: no"), "- `wait` ×3, `up`: no");
        assert_eq!(attempt("- `wait` x3, `up` (T4): no"), "", "the second action would be lost");
    }
}
