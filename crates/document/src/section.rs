//! One scope of the file, parsed for readers.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::grammar::{Heading, heading_of};
use crate::notes::Note;
use crate::parser::{ParsedSection, parse_section};
use crate::region::RegionKind;
use crate::types::text::replace_ranges;
use crate::types::{Attempt, Memory, Moment, Persistence, Scope, Way, Witnesses, fold_action, fold_title};

/// A comment that stands above a note of a person.
const NOTE_MARK: &str = "<!-- note by hand -->\n";

/// A section's text with a comment above each note.
pub fn mark_notes(text: &str) -> String {
    let starts = parse_section(text).notes.into_iter().map(|note| note.range.start);
    replace_ranges(text, starts.map(|start| (start..start, NOTE_MARK))).into_owned()
}

/// One scope of the file; several sections of the scope are read as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// The name in the first heading that has one.
    pub name: String,
    /// Number of visits.
    pub visits: u64,
    /// Episodes in which it was visited.
    pub episodes: Vec<u64>,
    /// Episode and turn of the first visit.
    pub first_visit: Option<Moment>,
    /// All memories, in the order of the file.
    pub memories: Vec<Memory>,
    /// Tried actions, in the order of the file.
    pub tried: Vec<Attempt>,
    /// Actions that changed something here; without replies.
    pub worked: Vec<Attempt>,
    /// Actions that only looked, with what they showed.
    pub seen: Vec<Attempt>,
    /// Ways that were walked from here.
    pub ways: Vec<Way>,
    /// Notes of a person outside entries, in the order of the file.
    pub notes: Vec<Note>,
}

impl Section {
    /// Reads the texts of a scope's sections, each with its heading line.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Section {
        let mut section = Section::default();
        let mut scope = Scope::World;
        for text in texts {
            let heading = heading_of(text);
            let parsed = parse_section(text);
            section.memories.extend(parsed.entries.iter().map(|entry| entry.read(text)));
            section.append(heading.as_ref(), &parsed);
            scope = heading.map_or(Scope::World, |heading| heading.scope);
        }
        section.keep_latest(&scope);
        section
    }

    /// Appends the next section of the scope without its memories. [`Section::keep_latest`] ends a row of these.
    pub(super) fn append(&mut self, heading: Option<&Heading>, parsed: &ParsedSection) {
        if let Some(heading) = heading.filter(|_| self.name.is_empty()) {
            self.name.clone_from(&heading.name);
        }
        if let Some((visits, _)) = &parsed.visits {
            self.visits = self.visits.saturating_add(visits.count);
            self.first_visit = self.first_visit.take().or_else(|| visits.first());
            self.episodes.extend(&visits.episodes);
        }
        self.notes.extend(parsed.notes.iter().map(|placed| placed.value.clone()));
        let attempts =
            |kind| parsed.attempts(kind).iter().flat_map(|line| line.value.attempts.iter().cloned());
        self.tried.extend(attempts(RegionKind::Tried));
        self.worked.extend(attempts(RegionKind::Worked));
        self.seen.extend(attempts(RegionKind::Seen));
        self.ways.extend(parsed.ways.iter().map(|line| line.value.way.clone()));
    }

    /// Keeps the later of two lines of evidence about the same action or way, and each episode once.
    pub(super) fn keep_latest(&mut self, scope: &Scope) {
        let mut known = HashSet::new();
        self.episodes.retain(|episode| known.insert(*episode));
        self.keep_latest_by(|attempt| attempt.key(scope), Way::key);
    }

    fn keep_latest_by<K: Hash + Eq>(&mut self, action: impl Fn(&Attempt) -> String, way: impl Fn(&Way) -> K) {
        for list in [&mut self.tried, &mut self.worked, &mut self.seen] {
            keep_latest(list, &action, |attempt| (attempt.episode, attempt.turn));
        }
        keep_latest(&mut self.ways, way, |way| (way.episode, way.turn));
    }

    /// The evidence that somebody knows: of lines about one action with several witnesses, the latest.
    pub fn keep_known(&mut self, scope: &Scope, knows: impl Fn(&Witnesses) -> bool) {
        let attempts = [&self.tried, &self.worked, &self.seen].into_iter().flatten();
        let attempts = attempts.map(|attempt| &attempt.witnesses);
        if attempts.chain(self.ways.iter().map(|way| &way.witnesses)).all(Witnesses::is_everybody) {
            return;
        }
        for list in [&mut self.tried, &mut self.worked, &mut self.seen] {
            list.retain(|attempt| knows(&attempt.witnesses));
        }
        self.ways.retain(|way| knows(&way.witnesses));
        let way = |way: &Way| (fold_action(&way.action), way.to);
        self.keep_latest_by(|attempt| scope.key_of_action(&attempt.action), way);
    }

    /// Adds the same scope's section of the session file; its memories are ephemeral.
    pub fn add_session(&mut self, session: Section) {
        if self.name.is_empty() {
            self.name = session.name;
        }
        let ephemeral = |memory| Memory { persistence: Persistence::Ephemeral, ..memory };
        self.memories.extend(session.memories.into_iter().map(ephemeral));
    }

    /// The actions of one kind; none for a region that lists no actions.
    pub fn attempts(&self, kind: RegionKind) -> &[Attempt] {
        match kind {
            RegionKind::Worked => &self.worked,
            RegionKind::Seen => &self.seen,
            RegionKind::Tried => &self.tried,
            RegionKind::Head | RegionKind::Memories | RegionKind::Ways | RegionKind::Other => &[],
        }
    }

    /// Memories that are neither superseded nor invalidated.
    pub fn live(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter().filter(|memory| memory.is_live())
    }

    /// The first live memory with a title, in whatever case.
    pub fn live_with_title(&self, title: &str) -> Option<&Memory> {
        let folded = fold_title(title);
        self.live().find(|memory| fold_title(&memory.title) == folded)
    }
}

/// Keeps one value of those about the same, the latest, in the place of the first.
pub fn keep_latest<T, K: Hash + Eq, O: PartialOrd>(
    values: &mut Vec<T>,
    key: impl Fn(&T) -> K,
    moment: impl Fn(&T) -> O,
) {
    let mut kept: Vec<T> = Vec::with_capacity(values.len());
    let mut places: HashMap<K, usize> = HashMap::with_capacity(values.len());
    for value in values.drain(..) {
        let place = *places.entry(key(&value)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(other) if moment(&value) >= moment(other) => *other = value,
            Some(_) => {}
            None => kept.push(value),
        }
    }
    *values = kept;
}
