//! The facts of a memory file, as sets that a merge must keep.

use std::collections::{BTreeMap, BTreeSet};

use memories::document::evidence::parse_attempts;
use memories::document::ways::parse_way;
use memories::document::{Document, Section};
use memories::types::{Memory, Scope, fold_action, fold_title};

use super::by_hand::{Block, blocks};
use super::changes::HAND;

/// The tag of an entry that a merge gave another title.
pub(super) const SAME_TITLE: &str = "same-title";

/// A text with what it says.
pub(super) struct Facts {
    pub(super) text: String,
    pub(super) sections: BTreeMap<Scope, Section>,
    /// The texts of the sections of one scope, or of one heading.
    pub(super) blocks: BTreeMap<String, Vec<String>>,
    /// The headings of sections in their order.
    pub(super) order: Vec<String>,
    /// All that the text says, a line each.
    pub(super) said: BTreeSet<String>,
    /// Actions and ways with a line that says more than 2.1, or with several lines, by `counted`.
    pub(super) uncounted: BTreeSet<String>,
}

/// A title without the ` (2)` that a merge may have added.
pub(super) fn bare_title(title: &str) -> String {
    let title = title.trim();
    let number = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    fold_title(number.filter(|(_, number)| is_number(number)).map_or(title, |(title, _)| title))
}

impl Facts {
    pub(super) fn of(text: &str) -> Facts {
        let sections: BTreeMap<Scope, Section> =
            Document::parse(text.to_owned()).sections().into_iter().collect();
        let all = blocks(text);
        let mut by_key: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for block in &all {
            by_key.entry(block.key()).or_default().push(block.text());
        }
        let mut said: BTreeSet<String> =
            sections.iter().flat_map(|(scope, section)| said_by(scope, section)).collect();
        said.extend(all.iter().flat_map(lines_by_hand));
        Facts {
            text: text.to_owned(),
            order: all.iter().map(Block::key).collect(),
            uncounted: uncounted(&all),
            blocks: by_key,
            said,
            sections,
        }
    }

    /// The number of entries that say a fact: a struck one and a live one may have the same words.
    pub(super) fn entries(&self, fact: &str) -> usize {
        let says = |(scope, section): (&Scope, &Section)| {
            section.memories.iter().filter(|memory| entry_key(scope, memory) == fact).count()
        };
        self.sections.iter().map(says).sum()
    }

    pub(super) fn section(&self, scope: &Scope) -> Section {
        self.sections.get(scope).cloned().unwrap_or_default()
    }

    /// Counts of visits, actions and ways.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        let of = |(scope, section): (&Scope, &Section)| {
            let mut counts = vec![(format!("{scope} visits"), section.visits)];
            for (list, attempts) in [("tried", &section.tried), ("worked", &section.worked)] {
                counts.extend(attempts.iter().map(|one| (counted(scope, list, &one.action), one.count)));
            }
            counts.extend(section.ways.iter().map(|way| (way_key(scope, &way.action, way.to), way.count)));
            counts
        };
        self.sections.iter().flat_map(of).collect()
    }
}

/// The name of an action in a list of its place.
fn counted(scope: &Scope, list: &str, action: &str) -> String {
    format!("{scope} {list} {}", fold_action(action))
}

fn way_key(scope: &Scope, action: &str, to: u64) -> String {
    counted(scope, "way", action) + &format!(" to {to}")
}

/// An entry is identified by its title and its text.
pub(super) fn entry_key(scope: &Scope, memory: &Memory) -> String {
    format!("{scope} entry {:?} {:?}", bare_title(&memory.title), memory.text)
}

fn said_by(scope: &Scope, section: &Section) -> Vec<String> {
    let mut said = vec![format!("{scope}")];
    for memory in &section.memories {
        said.push(entry_key(scope, memory));
        let tags = memory.provenance.tags.iter().filter(|tag| *tag != SAME_TITLE);
        said.extend(tags.map(|tag| format!("{scope} tag of {:?}: {tag}", bare_title(&memory.title))));
        let sources = memory.provenance.sources.iter();
        said.extend(sources.map(|uri| format!("{scope} source of {:?}: {uri}", bare_title(&memory.title))));
    }
    said.extend(section.tried.iter().map(|one| counted(scope, "tried", &one.action)));
    said.extend(section.worked.iter().map(|one| counted(scope, "worked", &one.action)));
    said.extend(section.ways.iter().map(|way| way_key(scope, &way.action, way.to)));
    said.extend(section.episodes.iter().map(|episode| format!("{scope} episode {episode}")));
    said.extend(section.seen.iter().map(|one| counted(scope, "seen", &one.action)));
    said
}

/// Lines of a person; each bears a number of its own.
fn lines_by_hand(block: &Block) -> Vec<String> {
    let key = block.key();
    let by_hand = block.lines.iter().filter(|line| line.contains(HAND));
    // Only the comment behind a line of evidence counts: the other side may have written the actions before it anew.
    let own = |line: &str| line.rfind("<!--").map_or(line, |at| &line[at..]).trim().to_owned();
    by_hand.map(|line| format!("{key} line {:?}", own(line))).collect()
}

/// Actions and ways whose lines are a person's, or that have several.
fn uncounted(blocks: &[Block]) -> BTreeSet<String> {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for block in blocks {
        let Some(scope) = block.scope() else { continue };
        let mut list = "";
        for (at, line) in block.lines.iter().enumerate() {
            let line = line.trim_end_matches(['\r', '\n']);
            list = match line {
                "### Tried" => "tried",
                "### Worked" => "worked",
                "### Ways" => "way",
                _ if line.starts_with('#') => "",
                _ => list,
            };
            let goes_on = block
                .lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with([' ', '\t']) && !next.trim().is_empty());
            let (keys, is_whole): (Vec<String>, bool) = match list {
                "way" => match parse_way(line) {
                    Some(line) => (vec![way_key(&scope, &line.way.action, line.way.to)], line.is_whole),
                    None => continue,
                },
                "" => continue,
                _ => match parse_attempts(line) {
                    Some(line) => (
                        line.attempts.iter().map(|one| counted(&scope, list, &one.action)).collect(),
                        line.is_whole,
                    ),
                    None => continue,
                },
            };
            for key in keys {
                if !is_whole || goes_on || !seen.insert(key.clone()) {
                    found.insert(key);
                }
            }
        }
    }
    found
}

/// A merged text without its conflicts, and the same with both versions of each and no markers.
pub(super) fn without_conflicts(text: &str) -> (String, String) {
    #[derive(PartialEq)]
    enum At {
        Outside,
        Version,
        Base,
    }
    let (mut outside, mut both, mut at) = (String::new(), String::new(), At::Outside);
    for line in text.split_inclusive('\n') {
        let is_middle = line.trim_end() == "=======";
        match at {
            At::Outside if line.starts_with("<<<<<<<") => at = At::Version,
            At::Outside => {
                outside.push_str(line);
                both.push_str(line);
            }
            _ if line.starts_with(">>>>>>>") => at = At::Outside,
            _ if line.starts_with("|||||||") => at = At::Base,
            _ if is_middle => at = At::Version,
            At::Version => both.push_str(line),
            At::Base => {}
        }
    }
    (outside, both)
}
