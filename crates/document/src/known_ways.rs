//! The ways of a whole file, read without its entries: a map of 10,000 places has to be there at once.
//!
//! A text enters; sections that borrow from it leave, and lines of actions are only read as far as they are needed. A
//! property of `map::graph` holds that the map is that of whole sections.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;
use strum::VariantArray;

use crate::comment_end;
use crate::evidence::{actions_of, is_list_item, parse_attempts};
use crate::grammar;
use crate::region::RegionKind;
use crate::scan::{self, Event, walk};
use crate::section::Section;
use crate::tree::Document;
use crate::types::{Attempt, Scope, TryResult, Way};
use crate::visits::{may_be_visits, parse_visits};
use crate::ways::parse_way;

/// A section of a place or of the game, as far as a map needs it. Sections of one scope are one.
#[derive(Debug, Clone)]
pub struct KnownSection<'a> {
    /// The scope in the heading.
    pub scope: Scope,
    /// The name in the heading.
    pub name: Cow<'a, str>,
    /// Lines that may be the one of visits: the first that is one counts.
    visits: Vec<&'a str>,
    /// In the order of the file.
    pub ways: Vec<Way>,
    /// Actions that were tried.
    pub tried: Vec<Tries<'a>>,
    /// Actions that worked.
    pub worked: Vec<Tries<'a>>,
}

/// Actions of a section: lines are read on demand.
#[derive(Debug, Clone)]
pub enum Tries<'a> {
    /// The line as it stands in the file.
    Line(&'a str),
    /// The tries of a parsed section.
    Attempts(&'a [Attempt]),
}

impl<'a> KnownSection<'a> {
    /// The same of a section that was read whole.
    pub fn of(scope: &Scope, section: &'a Section) -> KnownSection<'a> {
        KnownSection {
            scope: scope.clone(),
            name: Cow::Borrowed(&section.name),
            visits: Vec::new(),
            ways: section.ways.clone(),
            tried: vec![Tries::Attempts(&section.tried)],
            worked: vec![Tries::Attempts(&section.worked)],
        }
    }

    /// The actions that worked in an episode, each with the last time.
    pub fn worked_in(&self, episode: u64) -> Vec<Attempt> {
        self.worked.iter().flat_map(|tries| tries.done_in(episode)).collect()
    }

    /// True if the place was visited in an episode, as its line of visits says.
    pub fn was_visited_in(&self, episode: u64) -> bool {
        self.visits
            .iter()
            .find_map(|line| parse_visits(line))
            .is_some_and(|it| it.episodes.contains(&episode))
    }
}

impl Tries<'_> {
    /// Calls with each action; one that is not read as written has not been changed in a way that a map cares about.
    pub fn actions(&self, each: impl FnMut(&str)) {
        match self {
            Tries::Line(line) => actions_of(line).for_each(each),
            Tries::Attempts(attempts) => {
                attempts.iter().map(|attempt| attempt.action.as_str()).for_each(each)
            }
        }
    }

    /// True if all these actions were in vain.
    pub fn are_plain(&self) -> bool {
        match self {
            Tries::Line(line) => {
                let mut results = TryResult::VARIANTS.iter().filter(|result| !result.is_vain());
                !results.any(|result| line.contains(result.field()))
            }
            Tries::Attempts(attempts) => attempts.iter().all(|attempt| attempt.result.is_vain()),
        }
    }

    /// The actions whose last time was in an episode. Most lines are of others, and need not be parsed.
    pub fn done_in(&self, episode: u64) -> Vec<Attempt> {
        let attempts = match self {
            Tries::Line(line) if !may_name_episode(line, episode) => return Vec::new(),
            tries => tries.attempts(),
        };
        attempts.iter().filter(|attempt| attempt.episode == Some(episode)).cloned().collect()
    }

    /// The actions with all that is known of them.
    pub fn attempts(&self) -> Cow<'_, [Attempt]> {
        match self {
            Tries::Line(line) => parse_attempts(line).map(|line| line.attempts).unwrap_or_default().into(),
            Tries::Attempts(attempts) => Cow::Borrowed(attempts),
        }
    }
}

/// False for most lines without a mark of an episode. Marks of another hand, `ep 1`, are read whatever they name.
pub fn may_name_episode(line: &str, episode: u64) -> bool {
    let bytes = line.as_bytes();
    let is_loose = |at: usize| {
        let named = bytes[at..].get(..2).is_some_and(|word| word.eq_ignore_ascii_case(b"ep"));
        named
            && (bytes[at] != b'E'
                || bytes[at + 1] != b'p'
                || !bytes.get(at + 2).is_some_and(u8::is_ascii_digit))
    };
    line.contains(&format!("Ep{episode}"))
        || memchr::memchr2_iter(b'E', b'e', bytes).any(is_loose)
        // Full-width letters begin with this byte.
        || memchr::memchr(0xEF, bytes).is_some()
}

/// The sections of all places and of the game.
pub fn known_ways(text: &str) -> Vec<KnownSection<'_>> {
    let mut reader = Reader::default();
    reader.read_text(text);
    reader.sections
}

impl Document {
    /// The section in these blocks, which are all of one scope, as [`known_ways`] reads it. `None` where there are none, or
    /// the scope is neither a place nor the game.
    pub fn known_section_in(&self, blocks: &[usize]) -> Option<KnownSection<'_>> {
        let mut reader = Reader::default();
        blocks.iter().for_each(|&at| reader.read_text(self.block_text(at)));
        reader.sections.pop()
    }
}

struct Reader<'a> {
    sections: Vec<KnownSection<'a>>,
    positions: HashMap<Scope, usize, FixedState>,
    /// Position of the section that is read.
    open: Option<usize>,
    region: RegionKind,
    in_entry: bool,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        let (sections, positions) = (Vec::new(), HashMap::default());
        Reader { sections, positions, open: None, region: RegionKind::Head, in_entry: false }
    }
}

impl<'a> Reader<'a> {
    fn read_text(&mut self, text: &'a str) {
        walk(text.as_bytes(), |event| {
            if let Event::Visible(offset, line) = event {
                let end = offset as usize + line.len();
                let start = end - scan::first_line_without_bom(offset, line).len();
                if matches!(
                    text.as_bytes().get(start),
                    Some(b'#' | b' ' | b'-' | b'*' | b'+' | b'_' | b'V' | b'v')
                ) {
                    let line = &text[start..end];
                    self.read(line.strip_suffix('\r').unwrap_or(line));
                }
            }
        });
    }

    fn read(&mut self, line: &'a str) {
        if scan::is_section_boundary(line.as_bytes()) {
            (self.region, self.in_entry) = (RegionKind::Head, false);
            self.open = self.section_of(line);
            return;
        }
        let Some(at) = self.open else { return };
        if line.starts_with("- ") && !line.starts_with("- -") {
            // The most frequent kind of line, and neither a break nor a heading.
        } else if scan::is_thematic_break(line) {
            (self.region, self.in_entry) = (RegionKind::Other, false);
            return;
        } else if scan::unindent(line.as_bytes()).and_then(scan::heading_level).is_some() {
            (self.region, self.in_entry) = (RegionKind::begun_by(line), false);
            return;
        }
        if self.region == RegionKind::Head {
            if may_be_visits(line) {
                self.sections[at].visits.push(line);
            }
        } else if !self.region.is_evidence() || self.in_entry {
            // An entry lasts until the next heading.
        } else if line.starts_with(['*', '_', ' ']) && grammar::parse_entry(line).is_some() {
            self.in_entry = true;
        } else if is_list_item(line) {
            let section = &mut self.sections[at];
            match self.region {
                RegionKind::Ways => section.ways.extend(parse_way(line).map(|line| line.way)),
                RegionKind::Worked => section.worked.push(Tries::Line(line)),
                RegionKind::Tried => section.tried.push(Tries::Line(line)),
                _ => {}
            }
        }
    }

    /// The position of the section of a heading; `None` where it is neither of a place nor of the game.
    fn section_of(&mut self, line: &'a str) -> Option<usize> {
        let (scope, name) = match comment_end::read(line) {
            Cow::Borrowed(line) => {
                grammar::split_heading(line).map(|(scope, name)| (scope, Cow::Borrowed(name)))
            }
            Cow::Owned(line) => {
                grammar::split_heading(&line).map(|(scope, name)| (scope, Cow::Owned(name.to_owned())))
            }
        }?;
        if !matches!(scope, Scope::Location(_) | Scope::Game) {
            return None;
        }
        let at = *self.positions.entry(scope.clone()).or_insert(self.sections.len());
        match self.sections.get_mut(at) {
            None => {
                let (visits, ways, tried, worked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
                self.sections.push(KnownSection { scope, name, visits, ways, tried, worked });
            }
            Some(section) if section.name.is_empty() => section.name = name,
            Some(_) => {}
        }
        Some(at)
    }
}
