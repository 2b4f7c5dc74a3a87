//! Lines of the grammar of a memory file: section headings, entries, and references of superseded entries; the line of
//! visits is in [`crate::visits`], those of evidence are in [`crate::evidence`].
//!
//! Each kind has a `parse_` function, which takes a line without its line ending, and a `write_`
//! function, which gives its canonical form. Parsing is tolerant, writing is strict. Other lines are
//! text.

use crate::comment_end;
use crate::fields::{are_fields, parse_fields, parse_moment, parse_number, write_fields, write_moment};
use crate::loose_heading;
use crate::text::{find_unescaped_stars, read_title, stored_line, unescape, write_title};
use crate::types::{
    Category, Cause, FolderPath, Memory, Persistence, Reference, Scope, Status, fold_title, is_id,
};

/// Scope and name of a section heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The scope.
    pub scope: Scope,
    /// The name for people, trimmed; may be empty.
    pub name: String,
}

impl Heading {
    /// True if this is the heading of a location with that name, see [`is_same_name`].
    pub fn is_called(&self, name: &str) -> bool {
        matches!(self.scope, Scope::Location(_)) && is_same_name(&self.name, name)
    }
}

/// True if two names are those of the same place, see [`fold_title`]; and `town-square` is `Town Square`.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let (one, other) = (fold_title(one), fold_title(other));
    let is_text_id = |name: &str| name.contains(['-', '_']) && is_id(name);
    let words = |name: &str| name.replace(['-', '_'], " ");
    one == other || (is_text_id(&one) || is_text_id(&other)) && words(&one) == words(&other)
}

/// The name of a place whose id is a text: its own where that says the same, else the id.
pub fn name_of_text_id(id: &str, name: Option<&str>) -> String {
    name.filter(|name| is_same_name(name, id)).unwrap_or(id).trim().to_owned()
}

/// Reads headings such as `## Location 15: West of House`; also `## Location: West of House (ID: 180)`.
pub fn parse_heading(line: &str) -> Option<Heading> {
    let line = comment_end::read(line);
    split_heading(&line).map(|(scope, name)| Heading { scope, name: name.to_owned() })
}

/// The heading of a scope with which a text begins.
pub(super) fn heading_of(text: &str) -> Option<Heading> {
    parse_heading(text.lines().next()?)
}

/// Reads a heading as [`parse_heading`] does, without copying the name, from a line without escaped ends of comments.
pub fn split_heading(line: &str) -> Option<(Scope, &str)> {
    let rest = line.strip_prefix("##")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    split_named(rest).or_else(|| loose_heading::split_place(rest))
}

/// Reads the text of a heading.
fn split_named(rest: &str) -> Option<(Scope, &str)> {
    // Searching bytes takes a third of the time, and a large file has many headings.
    let find = |text: &str, marks: &[u8]| text.bytes().position(|byte| marks.contains(&byte));
    let (keyword, rest) = match find(rest, b" \t:") {
        Some(at) => (&rest[..at], rest[at..].trim_start()),
        None => (rest, ""),
    };
    let (id, name) = match rest.strip_prefix(':') {
        Some(rest) if keyword == "Location" => {
            let (name, id) = rest.strip_suffix(')')?.rsplit_once("(ID:")?;
            (id.trim(), name.trim())
        }
        _ => find(rest, b":").map_or((rest, ""), |at| (rest[..at].trim(), rest[at + 1..].trim())),
    };
    let scope = match keyword {
        "Location" => Scope::Location(parse_number(id)?),
        "NPC" if is_id(id) => Scope::Npc(id.to_owned()),
        "Agent" if is_id(id) => Scope::Agent(id.to_owned()),
        "World" if rest.is_empty() => Scope::World,
        "Scene" if rest.is_empty() => Scope::Scene,
        "Dialogue" if rest.is_empty() => Scope::Dialogue,
        "Game" if rest.is_empty() => Scope::Game,
        "Folder" => Scope::Folder(FolderPath::canonical(id)?),
        "Topic" if is_id(id) => Scope::Topic(id.to_owned()),
        _ => return None,
    };
    Some((scope, name))
}

/// The canonical heading of a section.
pub fn write_heading(scope: &Scope, name: &str) -> String {
    let name = stored_line(name);
    let key = write_key(scope);
    let line = match scope {
        Scope::Folder(_) if name.is_empty() => format!("## {key}"),
        Scope::Location(_) | Scope::Npc(_) | Scope::Agent(_) | Scope::Folder(_) | Scope::Topic(_) => {
            format!("## {key}: {name}")
        }
        Scope::World | Scope::Scene | Scope::Dialogue | Scope::Game => format!("## {key}"),
    };
    comment_end::write(line.trim_end()).into_owned()
}

/// The part of a heading before the name: `Location 15`, `NPC troll`, `World`.
pub fn write_key(scope: &Scope) -> String {
    match scope {
        Scope::Location(id) => format!("Location {id}"),
        Scope::Npc(id) => format!("NPC {id}"),
        Scope::Agent(id) => format!("Agent {id}"),
        Scope::World => "World".to_owned(),
        Scope::Scene => "Scene".to_owned(),
        Scope::Dialogue => "Dialogue".to_owned(),
        Scope::Game => "Game".to_owned(),
        Scope::Folder(path) => format!("Folder {path}"),
        Scope::Topic(id) => format!("Topic {id}"),
    }
}

/// True if a line starts like an entry.
pub(crate) fn looks_like_entry(line: &str) -> bool {
    line.starts_with("**[")
}

/// True if a line starts like an entry in the marks of a formatter or another hand: `__[` or `**\\[`. A program escapes
/// such a line only where its brackets are in upper case, so others are text.
fn looks_like_loose_entry(line: &str) -> bool {
    let inner = line.strip_prefix("__").or_else(|| line.strip_prefix("**"));
    let inner = inner.map(|inner| inner.strip_prefix('\\').unwrap_or(inner));
    let bracket = inner.and_then(|inner| inner.strip_prefix('[')?.split_once(']'));
    bracket.is_some_and(|(bracket, _)| !bracket.bytes().any(|byte| byte.is_ascii_lowercase()))
}

/// The parts of an entry's first line, unread.
#[derive(Debug, Clone, Copy)]
pub struct EntryParts<'a> {
    /// The text in the brackets.
    pub bracket: &'a str,
    /// The title, with its escapes.
    pub title: &'a str,
    /// The fields, without their parentheses.
    pub fields: &'a str,
}

/// Splits `**[CATEGORY] Title** *(fields)*` without copying.
pub(crate) fn split_entry(line: &str) -> Option<EntryParts<'_>> {
    let inner = match line.strip_prefix("**[") {
        Some(inner) => inner,
        None if looks_like_loose_entry(line) => line[2..].trim_start_matches('\\').strip_prefix('[')?,
        None => return None,
    };
    let close = memchr::memchr(b']', inner.as_bytes())?;
    let bracket = inner[..close].strip_suffix('\\').unwrap_or(&inner[..close]);
    let rest = &inner[close + 1..];
    // A link in bold, `**[Map](map.md)**`.
    if rest.starts_with('(') {
        return None;
    }
    let (title, fields) = if line.starts_with("__") {
        rest.rmatch_indices("__").find_map(|(end, _)| Some((&rest[..end], split_tail(&rest[end + 2..])?)))?
    } else {
        let end = find_unescaped_stars(rest)?;
        (&rest[..end], split_tail(&rest[end + 2..])?)
    };
    let has_title = title.bytes().any(|byte| byte.is_ascii_alphanumeric()) || !read_title(title).is_empty();
    has_title.then_some(EntryParts { bracket, title, fields })
}

/// The fields behind a title: ` *(Ep1, T2)*`, also in the marks of a formatter or of another hand.
fn split_tail(tail: &str) -> Option<&str> {
    let tail = tail.trim();
    if tail.is_empty() {
        return Some("");
    }
    if let Some(fields) = tail.strip_prefix("*(").and_then(|inner| inner.strip_suffix(")*")) {
        return Some(fields);
    }
    let marked = tail.strip_prefix(['*', '_']).and_then(|inner| inner.strip_suffix(['*', '_']));
    let inner = marked.unwrap_or(tail).strip_prefix('(')?.strip_suffix(')')?;
    (marked.is_some() || are_fields(inner)).then_some(inner)
}

impl EntryParts<'_> {
    /// Reads the brackets; `None` if they name no category, so that the line is no entry.
    pub(crate) fn read_bracket(&self) -> Option<(Category, Persistence, Status)> {
        parse_bracket(self.bracket)
    }

    /// The episode, if it is the first field, as in the canonical form.
    pub(crate) fn first_field_as_episode(&self) -> Option<u64> {
        parse_number(self.fields.split(',').next()?.trim().strip_prefix("Ep")?)
    }
}

/// Reads `**[CATEGORY] Title** *(fields)*`: a memory without a text.
pub fn parse_entry(line: &str) -> Option<Memory> {
    let parts = split_entry(line)?;
    let (category, persistence, status) = parts.read_bracket()?;
    let provenance = parse_fields(&comment_end::read(parts.fields));
    Some(Memory { persistence, status, provenance, ..Memory::new(category, read_title(parts.title), "") })
}

/// Reads `CATEGORY`, `CATEGORY - CORE`, `CATEGORY - PERMANENT - ACTIVE` …
fn parse_bracket(bracket: &str) -> Option<(Category, Persistence, Status)> {
    let mut persistence = Persistence::default();
    let mut status = Status::default();
    let mut rest = bracket.trim();
    while let Some((before, word)) = rest.rsplit_once(" - ") {
        if let Ok(named) = word.trim().parse() {
            persistence = named;
        } else if let Ok(named) = word.trim().parse() {
            status = named;
        } else {
            break;
        }
        rest = before.trim_end();
    }
    Some((Category::new(rest)?, persistence, status))
}

/// The canonical first line of an entry.
pub fn write_entry(memory: &Memory) -> String {
    let (persistence, status) = (bracket_word(memory.persistence), bracket_word(memory.status));
    let title = write_title(&memory.title);
    let mut line = format!("**[{}{persistence}{status}] {title}**", memory.category);
    let fields = write_fields(&memory.provenance);
    if !fields.is_empty() {
        line.push_str(&format!(" *({})*", comment_end::write(&fields)));
    }
    line
}

/// A persistence or status behind the category, such as ` - CORE`; nothing for the usual one.
fn bracket_word<T: Default + PartialEq + Into<&'static str>>(value: T) -> String {
    if value == T::default() { String::new() } else { format!(" - {}", value.into().to_uppercase()) }
}

/// Reads `[Superseded at Ep2 T45 by "title"]` or `[Invalidated at Ep2 T45: "reason"]`.
pub fn parse_reference(line: &str) -> Option<Reference> {
    let line = comment_end::read(line);
    let inner = line.trim().strip_prefix('[')?.strip_suffix("\"]")?;
    let (superseded, rest) = match inner.strip_prefix("Superseded") {
        Some(rest) => (true, rest),
        None => (false, inner.strip_prefix("Invalidated")?),
    };
    let (moment, quoted) = rest.split_once('"')?;
    let moment = moment.trim_end();
    let moment = moment.strip_suffix(if superseded { "by" } else { ":" })?.trim();
    let at = match moment.strip_prefix("at ") {
        Some(moment) => parse_moment(moment)?,
        None if moment.is_empty() => parse_moment("")?,
        None => return None,
    };
    let text = unescape(quoted, |c| matches!(c, '\\' | '"'));
    let cause = if superseded { Cause::SupersededBy(text) } else { Cause::Invalidated(text) };
    Some(Reference { at, cause })
}

/// The canonical reference line.
pub fn write_reference(reference: &Reference) -> String {
    let moment = write_moment(&reference.at);
    let at = if moment.is_empty() { String::new() } else { format!(" at {moment}") };
    let line = match &reference.cause {
        Cause::SupersededBy(title) => format!("[Superseded{at} by \"{}\"]", quote(title)),
        Cause::Invalidated(reason) => format!("[Invalidated{at}: \"{}\"]", quote(reason)),
    };
    comment_end::write(&line).into_owned()
}

fn quote(text: &str) -> String {
    stored_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headings_of_all_kinds() {
        let read = |line| parse_heading(line).map(|heading| (heading.scope, heading.name));
        let location = |id, name: &str| Some((Scope::Location(id), name.to_owned()));
        assert_eq!(read("## Location 15: West of House"), location(15, "West of House"));
        assert_eq!(read("## Location 0:  a: \"b\"/c  "), location(0, "a: \"b\"/c"));
        assert_eq!(read("## Location 7:"), location(7, ""));
        assert_eq!(read("## Location 7"), location(7, ""));
        assert_eq!(read("## Location: West of House (ID: 180)"), location(180, "West of House"));
        assert_eq!(read("## NPC troll: The Troll"), Some((Scope::Npc("troll".into()), "The Troll".into())));
        assert_eq!(read("## World"), Some((Scope::World, String::new())));
        let folder = |path: &str, name: &str| {
            Some((Scope::Folder(FolderPath::parse(path).expect("a path")), name.to_owned()))
        };
        assert_eq!(read("## Folder src/search"), folder("src/search", ""));
        assert_eq!(read("## Folder my notes/c%23:  Notes: all "), folder("my notes/c#", "Notes: all"));
        assert_eq!(read("## Folder /"), folder("/", ""));
        assert_eq!(read("## Topic release:"), Some((Scope::Topic("release".into()), String::new())));
        assert_eq!(write_heading(&Scope::Folder(FolderPath::root()), " a\nb "), "## Folder /: a b");
        for other in [
            "## Folder",
            "## Folder: src",
            "## Folder src/",
            "## Folder ./src",
            "## Folder src\\search",
            "## Folder c#",
            "## Folder %73rc",
            "## Folder 'src'",
            "## Folders src",
            "## Topic Release",
            "## Topic a b",
            "## Topic",
            "## Location -1: x",
            "## Location x: y",
            "## Locations",
            "## World peace",
            "## NPC Troll: x",
            "##Location 1: x",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn entries_of_other_hands() {
        let entry =
            parse_entry("**[NOTE - PERMANENT - ACTIVE] a \\* b** *(Ep1, T23-24, +0)*  ").expect("an entry");
        assert_eq!(entry.title, "a * b");
        assert_eq!(entry.provenance.score_change, Some(0));
        assert_eq!(parse_entry("**[X - Y - CORE] t**").expect("an entry").category.as_str(), "X - Y");
    }

    #[test]
    fn references() {
        let line = "[Superseded at Ep2 T45 by \"a \\\"b\\\" c\\\\\"]";
        let reference = parse_reference(line).expect("a reference");
        assert_eq!(reference.cause, Cause::SupersededBy("a \"b\" c\\".into()));
        assert_eq!(write_reference(&reference), line);
        assert!(parse_reference("[Invalidated at T25: \"no\"]").is_some());
        assert!(parse_reference("[Invalidated at noon: \"no\"]").is_none());
    }

    proptest! {
        #[test]
        fn headings_come_back(id: u64, path in "[a-z/. %#:]{0,12}|\\PC{0,12}", name in "\\PC{0,30}") {
            let name = stored_line(&name);
            for scope in [
                Scope::Location(id),
                Scope::Topic(format!("t-{id}")),
                FolderPath::parse(&path).map_or(Scope::World, Scope::Folder),
            ] {
                let name = if scope == Scope::World { String::new() } else { name.clone() };
                let heading = Heading { scope, name };
                prop_assert_eq!(parse_heading(&write_heading(&heading.scope, &heading.name)), Some(heading));
            }
        }

        #[test]
        fn references_come_back(reason in "\\PC{0,30}") {
            let cause = Cause::Invalidated(stored_line(&reason));
            let reference = Reference { at: parse_moment("Ep1 T2").expect("a moment"), cause };
            prop_assert_eq!(parse_reference(&write_reference(&reference)), Some(reference));
        }
    }
}
