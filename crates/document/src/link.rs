//! Links between memories, as in a `See also:` line: `[[Location 23 › Acquire brass lantern]]`.
//!
//! Double brackets name a memory of another section, a memory of the same section by its title alone,
//! or a whole section. Which of the last two is meant depends on what exists, so a [`Link`] keeps both
//! readings. Inside the brackets `\[`, `\]` and `\\` mean `[`, `]` and `\`. Text outside of brackets
//! stays as it is.

use std::borrow::Cow;
use std::fmt;

use crate::grammar::{split_heading, write_key};
use crate::text::{SEE_ALSO, unescape};
use crate::types::{Scope, fold_title};

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The section; `None` is the one that holds the link.
    pub scope: Option<Scope>,
    /// The exact title; `None` is the whole section.
    pub title: Option<String>,
    /// The text between the brackets.
    target: String,
}

impl Link {
    /// The link to a memory of a section.
    pub fn to(scope: &Scope, title: &str) -> Link {
        let title = title.trim();
        let written = title.replace('\\', "\\\\").replace(']', "\\]");
        let target = format!("{} › {written}", write_key(scope));
        Link { scope: Some(scope.clone()), title: Some(title.to_owned()), target }
    }

    /// Reads the text between the brackets.
    pub(crate) fn parse(target: &str) -> Link {
        let (key, title) = match target.split_once('›') {
            Some((key, title)) => (key, Some(title)),
            None => (target, None),
        };
        let scope = parse_key(key);
        let title = if scope.is_some() { title } else { Some(target) };
        Link { scope, title: title.map(read_title), target: target.to_owned() }
    }

    /// All links of a line.
    pub fn parse_all(see_also: &str) -> Vec<Link> {
        let mut links = Vec::new();
        let mut rest = see_also;
        while let Some((_, behind)) = rest.split_once("[[") {
            let Some(end) = find_end(behind) else { break };
            links.push(Link::parse(&behind[..end]));
            rest = &behind[end + 2..];
        }
        links
    }

    /// The text between the brackets, read as a title of the same section. A memory whose title looks
    /// like a section's name comes first.
    pub(crate) fn as_title(&self) -> String {
        read_title(&self.target)
    }

    /// The line with this link appended; `None` if it holds the link already.
    pub fn add_to(&self, see_also: Option<&str>) -> Option<String> {
        let see_also = see_also.map(str::trim).filter(|line| !line.is_empty());
        let Some(line) = see_also else { return Some(self.to_string()) };
        let goal = |link: &Link| (link.scope.clone(), link.title.as_deref().map(fold_title));
        let known = Link::parse_all(line).iter().any(|link| goal(link) == goal(self));
        (!known).then(|| format!("{line}, {self}"))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[[{}]]", self.target)
    }
}

/// A text of the file without some links: a link is taken out of its line, and a `See also:` without any other goes with
/// its line.
pub(crate) fn without_links<'a>(text: &'a str, hides: impl Fn(&Link) -> bool) -> Cow<'a, str> {
    if !text.lines().flat_map(links_within).any(|link| hides(&link)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let links: Vec<Link> = links_within(line).collect();
        if !links.iter().any(&hides) {
            out.push_str(line);
            continue;
        }
        let kept: Vec<String> = links.iter().filter(|link| !hides(link)).map(Link::to_string).collect();
        match line.find(SEE_ALSO) {
            Some(_) if kept.is_empty() => {}
            Some(at) => {
                let end = &line[line.trim_end().len()..];
                out.push_str(&format!("{}{SEE_ALSO} {}{end}", &line[..at], kept.join(", ")));
            }
            None => {
                let mut rest = line.to_owned();
                for link in links.iter().filter(|link| hides(link)) {
                    rest = rest.replace(&link.to_string(), "");
                }
                out.push_str(&rest);
            }
        }
    }
    Cow::Owned(out)
}

/// All links of a line, also those behind brackets that are never closed.
fn links_within(line: &str) -> impl Iterator<Item = Link> {
    let target = |(at, open): (usize, &str)| {
        let behind = &line[at + open.len()..];
        Some(&behind[..find_end(behind)?]).filter(|target| !target.contains("[["))
    };
    line.match_indices("[[").filter_map(target).map(Link::parse)
}

/// Reads a scope as headings write it, also followed by a name: `Location 23`, `NPC troll`, `World`.
fn parse_key(text: &str) -> Option<Scope> {
    split_heading(&format!("## {}", text.trim())).map(|(scope, _)| scope)
}

/// Position of the closing brackets.
fn find_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().enumerate().find_map(|(at, byte)| {
        let ends = !escaped && text.as_bytes()[at..].starts_with(b"]]");
        escaped = !escaped && byte == b'\\';
        ends.then_some(at)
    })
}

/// A title as it stands between the brackets.
fn read_title(written: &str) -> String {
    unescape(written.trim(), |c| matches!(c, '[' | ']' | '\\'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn links_to_hidden_sections_are_taken_out() {
        let hides = |link: &Link| matches!(link.scope, Some(Scope::Agent(_)));
        for (text, left) in [
            ("a\nSee also: [[Agent jo › x]]\nb\n", "a\nb\n"),
            (
                "See also: [[Agent jo › x\\]]], [[World › y]] and [[Agent jo]]\r\n",
                "See also: [[World › y]]\r\n",
            ),
            ("~~See also: [[Agent jo › x]]~~", ""),
            ("see [[Agent jo: Jo › x]] there", "see  there"),
            ("[[open\n[[World]] [[y]]\n", "[[open\n[[World]] [[y]]\n"),
            ("[[open\nSee also: [[Agent jo › x]]\n", "[[open\n"),
            ("[[open see [[Agent jo › x]]", "[[open see "),
        ] {
            assert_eq!(without_links(text, hides), left);
        }
    }

    #[test]
    fn links_lead_to_memories_and_sections() {
        let line = "[[Location 23 › Acquire brass lantern]], the [[NPC troll: The Troll]] and [[Way up]] [[";
        let links = Link::parse_all(line);
        let read: Vec<_> = links.iter().map(|link| (link.scope.clone(), link.title.as_deref())).collect();
        let troll = Scope::Npc("troll".to_owned());
        let expected = [
            (Some(Scope::Location(23)), Some("Acquire brass lantern")),
            (Some(troll), None),
            (None, Some("Way up")),
        ];
        assert_eq!(read, expected);
        assert_eq!(links[1].as_title(), "NPC troll: The Troll");
        assert_eq!(Link::parse("no place › x").title.as_deref(), Some("no place › x"));
    }

    #[test]
    fn a_link_is_added_once() {
        let link = Link::to(&Scope::World, "The dam opened");
        let line = link.add_to(None).unwrap();
        assert_eq!(line, "[[World › The dam opened]]");
        assert_eq!(Link::to(&Scope::World, "the DAM opened ").add_to(Some(&line)), None);
        let two = Link::to(&Scope::Location(0), "Way up").add_to(Some(&line)).unwrap();
        assert_eq!(two, "[[World › The dam opened]], [[Location 0 › Way up]]");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(title in "[a\\]\\[›\\\\ .]{1,12}") {
            prop_assume!(!title.trim().is_empty());
            let link = Link::to(&Scope::Agent("alex".to_owned()), &title);
            prop_assert_eq!(Link::parse_all(&format!("see {link}, {link}")), vec![link.clone(), link]);
        }
    }
}
