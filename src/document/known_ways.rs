//! The ways of a whole file, read without its entries: a map of 10,000 places has to be there at once.
//!
//! A property of `map::graph` holds that the map is that of whole sections.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::document::evidence::{is_list_item, parse_attempts};
use crate::document::grammar::{self, Heading};
use crate::document::parser::RegionKind;
use crate::document::scan::{self, Event, walk};
use crate::document::section::Section;
use crate::document::ways::parse_way;
use crate::types::direction::Direction;
use crate::types::{Scope, Way};

/// The sections of all places and of the game, as far as a map needs them: names, ways, and those lines of tried
/// actions and of actions that worked which hold a direction or the action of a way. Sections of one scope are one.
pub(crate) fn known_ways(text: &str) -> Vec<(Scope, Section)> {
    let mut reader = Reader {
        sections: Vec::new(),
        positions: HashMap::default(),
        open: None,
        region: RegionKind::Head,
        in_entry: false,
        attempts: Vec::new(),
    };
    walk(text.as_bytes(), |event| {
        if let Event::Visible(offset, line) = event {
            let end = offset as usize + line.len();
            let start = end - scan::first_line_without_bom(offset, line).len();
            if matches!(text.as_bytes().get(start), Some(b'#' | b' ' | b'-' | b'*' | b'+' | b'_')) {
                let line = &text[start..end];
                reader.read(line.strip_suffix('\r').unwrap_or(line));
            }
        }
    });
    reader.finish()
}

struct Reader<'a> {
    sections: Vec<(Scope, Section)>,
    positions: HashMap<Scope, usize, FixedState>,
    /// Position of the section that is read.
    open: Option<usize>,
    region: RegionKind,
    in_entry: bool,
    /// Lines of actions, each with its section.
    attempts: Vec<(usize, RegionKind, &'a str)>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, line: &'a str) {
        if scan::is_section_boundary(line.as_bytes()) {
            (self.region, self.in_entry) = (RegionKind::Head, false);
            self.open = grammar::parse_heading(line).and_then(|heading| self.section_of(heading));
            return;
        }
        let Some(at) = self.open else { return };
        if scan::is_thematic_break(line) {
            (self.region, self.in_entry) = (RegionKind::Other, false);
        } else if scan::unindent(line.as_bytes()).and_then(scan::heading_level).is_some() {
            (self.region, self.in_entry) = (RegionKind::begun_by(line), false);
        } else if !self.region.is_evidence() || self.in_entry {
            // An entry lasts until the next heading.
        } else if grammar::parse_entry(line).is_some() {
            self.in_entry = true;
        } else if is_list_item(line) {
            match self.region {
                RegionKind::Ways => self.sections[at].1.ways.extend(parse_way(line).map(|line| line.way)),
                RegionKind::Worked | RegionKind::Tried => self.attempts.push((at, self.region, line)),
                _ => {}
            }
        }
    }

    /// The position of the section of a heading; `None` where it is neither of a place nor of the game.
    fn section_of(&mut self, heading: Heading) -> Option<usize> {
        let Heading { scope, name } = heading;
        if !matches!(scope, Scope::Location(_) | Scope::Game) {
            return None;
        }
        let at = *self.positions.entry(scope.clone()).or_insert(self.sections.len());
        match self.sections.get_mut(at) {
            None => self.sections.push((scope, Section { name, ..Section::default() })),
            Some((_, section)) if section.name.is_empty() => section.name = name,
            Some(_) => {}
        }
        Some(at)
    }

    fn finish(mut self) -> Vec<(Scope, Section)> {
        for (at, region, line) in self.attempts {
            let section = &mut self.sections[at].1;
            if may_concern(line, &section.ways) {
                let list = if region == RegionKind::Tried { &mut section.tried } else { &mut section.worked };
                list.extend(parse_attempts(line).into_iter().flat_map(|line| line.attempts));
            }
        }
        self.sections.iter_mut().for_each(|(_, section)| section.keep_latest());
        self.sections
    }
}

/// False if no action of a line is a direction or the action of one of these ways.
fn may_concern(line: &str, ways: &[Way]) -> bool {
    let is_simple = |action: &str| action.is_ascii() && action.trim() == action && !action.contains("  ");
    if !line.contains('`') || line.contains("``") || !ways.iter().all(|way| is_simple(&way.action)) {
        return true;
    }
    let mut actions = line.split('`').skip(1).step_by(2);
    actions.any(|action| {
        let is_of_way = |way: &Way| way.action.eq_ignore_ascii_case(action);
        !is_simple(action) || Direction::of(action).is_some() || ways.iter().any(is_of_way)
    })
}
