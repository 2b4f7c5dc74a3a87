//! Lines that nearly follow the grammar: mistyped headings, visits lines and tried actions (`near_entry` handles
//! entries).
//!
//! A line that the grammar cannot read enters; the nearest right form leaves, and whether it is the only
//! possible reading. Nothing here looks at other lines.

use crate::evidence;
use crate::fields::parse_fields;
use crate::grammar::{self, Heading};
use crate::region::RegionKind;
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
    /// A line of the grammar of which a part is missing.
    pub(crate) const UNCLEAR: Near<T> = Near { form: None, certain: false };

    pub(crate) fn of(form: T, certain: bool) -> Near<T> {
        Near { form: Some(form), certain }
    }

    /// The same, which is certain only on a condition.
    pub(crate) fn only_if(self, condition: bool) -> Near<T> {
        Near { certain: self.certain && condition, ..self }
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

/// Reads the part of a heading behind its keyword, which is exact or not.
type Rest = fn(&str, bool) -> Option<Near<Heading>>;

/// The keywords of headings, and the slips of the hand with which each is recognized. The last four stand alone.
const KEYWORDS: [(&str, usize, Rest); 7] = [
    ("Location", 2, place_heading),
    ("NPC", 0, |rest, _| named_heading(rest, Scope::Npc)),
    ("Agent", 1, |rest, _| named_heading(rest, Scope::Agent)),
    ("World", 0, |rest, _| bare_heading(rest, Scope::World)),
    ("Scene", 0, |rest, _| bare_heading(rest, Scope::Scene)),
    ("Dialogue", 0, |rest, _| bare_heading(rest, Scope::Dialogue)),
    ("Game", 0, |rest, _| bare_heading(rest, Scope::Game)),
];

/// A line that was meant as the heading of a section and is none.
pub(crate) fn heading(line: &str) -> Option<Near<Heading>> {
    if RegionKind::begun_by(line) != RegionKind::Other || grammar::parse_heading(line).is_some() {
        return None;
    }
    let (level, behind) = split_marks(line);
    if !(1..=6).contains(&level) || (level == 1 && !behind.starts_with(is_space)) {
        return None;
    }
    let body = behind.trim_start_matches(is_space);
    let (word, rest) = body.split_at(body.find(|c: char| !c.is_alphabetic()).unwrap_or(body.len()));
    if let Some(near) = work_heading(word, rest).filter(|_| level == 2) {
        return Some(near);
    }
    let keywords = if level == 2 { &KEYWORDS[..] } else { &KEYWORDS[..3] };
    let distances = keywords.iter().map(|keyword| (keyword, edits(word, keyword.0)));
    let (&(keyword, _, read), distance) =
        distances.into_iter().find(|(keyword, distance)| *distance <= keyword.1)?;
    let missing = || {
        let holds_id = rest.contains(':') || rest.bytes().any(|byte| byte.is_ascii_digit());
        let parted = rest.starts_with(|c| is_space(c) || c == ':');
        let named = keyword.len() > 5 || keyword == word;
        (distance == 0 && named && level == 2 && parted && holds_id).then_some(Near::UNCLEAR)
    };
    let near = read(rest, distance == 0).or_else(missing)?;
    Some(near.only_if(distance <= 1))
}

/// The number of `#` that begin a line, and the text behind them.
fn split_marks(line: &str) -> (usize, &str) {
    let line = line.trim_matches(is_space);
    let behind = line.trim_start_matches('#');
    (line.len() - behind.len(), behind)
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
fn named_heading(rest: &str, scope: fn(String) -> Scope) -> Option<Near<Heading>> {
    let (id, name) = rest.split_once(':')?;
    let id = Some(id.trim_matches(is_space).to_lowercase()).filter(|id| is_id(id))?;
    Some(Near::of(Heading { scope: scope(id), name: name.trim_matches(is_space).to_owned() }, true))
}

/// The part of a heading behind a keyword that stands alone.
fn bare_heading(rest: &str, scope: Scope) -> Option<Near<Heading>> {
    let is_empty = rest.chars().all(|c| is_space(c) || c == ':');
    is_empty.then_some(Near::of(Heading { scope, name: String::new() }, true))
}

/// A heading of a folder or a topic: `## Dir ./src`, `## topic Release`.
fn work_heading(word: &str, rest: &str) -> Option<Near<Heading>> {
    let is_mark = |c| is_space(c) || matches!(c, ':' | '`' | '"' | '\'');
    let body = rest.strip_prefix(is_mark)?.trim_start_matches(is_mark);
    let (id, name) = body.split_once(':').unwrap_or((body, ""));
    let id = Some(id.trim_matches(is_mark)).filter(|id| !id.is_empty())?;
    let certain = !id.contains(is_space);
    let scope = match word.to_lowercase().as_str() {
        "folder" | "dir" | "directory" => Scope::Folder(FolderPath::root().join(id).ok()?),
        "topic" => Scope::Topic(Some(id.to_lowercase()).filter(|id| is_id(id))?),
        _ => return None,
    };
    Some(Near::of(Heading { scope, name: name.trim_matches(is_space).to_owned() }, certain))
}

/// A line that was meant as `### Memories` or `### Tried` and is not read as one.
pub(crate) fn part(line: &str) -> Option<RegionKind> {
    let (level, behind) = split_marks(line);
    if !(2..=6).contains(&level) || RegionKind::begun_by(line) != RegionKind::Other {
        return None;
    }
    let word = behind.trim_matches(|c| is_space(c) || matches!(c, ':' | '*' | '_' | '#'));
    let is_near = |part: &RegionKind| edits(word, part.name()) <= 1;
    [RegionKind::Memories, RegionKind::Tried].into_iter().find(is_near)
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
    let (word, rest) = text.split_at(end);
    let is_exact = wanted.starts_with(&word.to_lowercase());
    (edits(word, wanted) <= 1).then_some((rest.trim_start_matches(|c| is_space(c) || c == ':'), is_exact))
}

/// A line under `### Tried` that is read as no action, or with its count as part of the text.
pub(crate) fn attempt(line: &str) -> Option<Near> {
    let inner = line.get(2..)?.trim();
    let (_, rest) = evidence::split_code_span(inner)?;
    let head = &inner[..inner.len() - rest.len()];
    let rest = rest.trim_start();
    let counted = rest.trim_start_matches(['x', 'X', '×']).trim_start();
    let behind = counted.trim_start_matches(|c: char| c.is_ascii_digit());
    let (count, rest) = match &counted[..counted.len() - behind.len()] {
        "" => (String::new(), rest),
        _ if counted.len() == rest.len() => return None,
        digits => (format!(" ×{digits}"), behind.trim_start()),
    };
    let fields = ["*(", "_(", "("].iter().find_map(|start| rest.strip_prefix(start)?.split_once(')'));
    let tail = match fields {
        Some((fields, rest)) if parse_fields(fields).other.is_empty() => {
            format!(" *({fields})*{}", rest.strip_prefix(['*', '_']).unwrap_or(rest))
        }
        _ => rest.to_owned(),
    };
    let line = evidence::parse_attempts(&format!("- {head}{count}{tail}"))?;
    let form = evidence::write_attempts(&line.attempts, |_| false).into_iter().next();
    form.filter(|_| line.is_whole).map(|form| Near::of(form, true))
}

/// Number of slips between two words, whatever their case: letters put in, left out, exchanged or swapped with the
/// next.
pub(crate) fn edits(one: &str, other: &str) -> usize {
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase())
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
        assert_eq!(part("### Tryed"), Some(RegionKind::Tried));
        assert_eq!(part("##Memories:"), Some(RegionKind::Memories));
        assert_eq!(part("### Mine"), None);
        let attempt = |line| attempt(line).and_then(|near| near.form).unwrap_or_default();
        assert_eq!(attempt("- `wait` x3 *(Ep1, T2)*: no"), "- `wait` ×3 *(Ep1, T2)*: no");
        assert_eq!(attempt("- `wait` ×3 _(Ep1, T2)_: no"), "- `wait` ×3 *(Ep1, T2)*: no");
        assert_eq!(attempt("- `wait` often"), "");
        assert_eq!(attempt("- `wait` x3, `up`: no"), "- `wait` ×3, `up`: no");
        assert_eq!(attempt("- `wait` x3, `up` (T4): no"), "", "the second action would be lost");
    }
}
