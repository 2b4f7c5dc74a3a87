//! The report of a sync: everything that came to each side, changed there, or vanished.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::texts::{Guard, name_of};
use memories_document::counts::{Counts, add_counts};
use memories_document::types::{Attempt, fold_title};
use memories_document::{Document, Piece, PieceKind};

/// Numbers of things, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Kinds {
    /// Memories.
    pub memories: u64,
    /// Lines of people.
    pub lines: u64,
    /// Names of places and other sections.
    pub names: u64,
    /// Times that an action was tried or worked; among changes, actions with another reply or result.
    pub actions: u64,
    /// Times that a way was walked.
    pub ways: u64,
    /// Visits.
    pub visits: u64,
}

impl Kinds {
    /// The words for it; `None` where there is nothing.
    pub fn words(&self) -> Option<String> {
        let Kinds { memories, lines, names, actions, ways, visits } = *self;
        // Each try and each walk is part of a visit: visits are named only if there is nothing else to name.
        let visits = if memories + lines + names + actions + ways > 0 { 0 } else { visits };
        let parts = [
            (memories, "memory", "memories"),
            (lines, "line", "lines"),
            (names, "name", "names"),
            (actions, "action", "actions"),
            (ways, "way", "ways"),
            (visits, "visit", "visits"),
        ];
        let parts = parts.iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The result of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// New in the memory file.
    pub received: Kinds,
    /// New in the remote copy.
    pub sent: Kinds,
    /// Changed in the memory file.
    pub changed_here: Kinds,
    /// Changed in the remote copy.
    pub changed_there: Kinds,
    /// Removed from the memory file.
    pub removed_here: Kinds,
    /// Removed from the remote copy.
    pub removed_there: Kinds,
    /// Protected pieces that one side no longer has as they were.
    pub protected: Vec<String>,
    /// Pieces that the copy lacks or changed, and that stay: no known machine removed them.
    pub kept: Vec<String>,
    /// Times that another writer was faster.
    pub lost_races: u32,
    /// Requests to the store, without those for credentials and those that the client repeated by itself.
    pub requests: u64,
    /// Bytes of texts that were fetched, without the states of machines.
    pub received_bytes: u64,
    /// Bytes of texts that were put, or tried to be, without the states of machines.
    pub sent_bytes: u64,
}

impl SyncReport {
    /// Sets what the merged text brings to each side.
    pub(super) fn compare(&mut self, guard: &Guard, [ours, theirs, merged]: [&str; 3]) {
        let of_merged = Contents::of(merged);
        let here = Difference::between(ours, merged, &of_merged);
        let there = Difference::between(theirs, merged, &of_merged);
        (self.received, self.changed_here, self.removed_here) = (here.came, here.changed, here.removed);
        (self.sent, self.changed_there, self.removed_there) = (there.came, there.changed, there.removed);
        let gone = here.gone.iter().chain(&there.gone).filter(|piece| guard.protects(piece));
        self.protected = gone.map(name_of).collect::<BTreeSet<String>>().into_iter().collect();
    }

    /// Words for everything that came, changed or vanished; `None` if nothing did.
    pub fn words(&self) -> Option<String> {
        let all = [
            ("received", &self.received),
            ("changed here", &self.changed_here),
            ("removed here", &self.removed_here),
            ("sent", &self.sent),
            ("changed there", &self.changed_there),
            ("removed there", &self.removed_there),
        ];
        let parts: Vec<String> =
            all.iter().filter_map(|(verb, kinds)| Some(format!("{verb} {}", kinds.words()?))).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// True if the memory file lost something, or says something otherwise.
    pub fn took_away(&self) -> bool {
        self.changed_here != Kinds::default() || self.removed_here != Kinds::default()
    }
}

/// The parts of a text that are compared.
struct Contents {
    pieces: BTreeMap<String, Piece>,
    counts: Counts,
    /// The reply and the result of each action, and the step before each way, without counts.
    said: BTreeMap<String, String>,
}

impl Contents {
    fn of(text: &str) -> Contents {
        let document = Document::parse(text.to_owned());
        let pieces = document.each_piece().into_iter().map(|piece| (piece.key(), piece)).collect();
        let mut said = BTreeMap::new();
        for (scope, section) in document.each_section() {
            for attempt in section.tried.iter().chain(&section.worked).chain(&section.seen) {
                let Attempt { reply, result, .. } = attempt;
                said.insert(format!("{scope} {}", attempt.key(&scope)), format!("{reply} {result:?}"));
            }
            for way in &section.ways {
                said.insert(format!("{scope} {:?}", way.key()), format!("{:?}", way.after));
            }
        }
        Contents { pieces, counts: document.counts(), said }
    }
}

/// The difference between two texts.
#[derive(Default)]
struct Difference {
    came: Kinds,
    changed: Kinds,
    removed: Kinds,
    /// Pieces that are not there as they were.
    gone: Vec<Piece>,
}

impl Difference {
    fn between(before: &str, after: &str, of_after: &Contents) -> Difference {
        if before == after {
            return Difference::default();
        }
        let of_before = Contents::of(before);
        let mut found = Difference::default();
        found.compare_pieces(&of_before, of_after);
        found.compare_counts(&of_before.counts, &of_after.counts);
        let is_other =
            |(key, said): &(&String, &String)| of_after.said.get(*key).is_some_and(|new| new != *said);
        let is_counted = found.came.actions + found.came.ways > 0;
        let others = of_before.said.iter().filter(is_other).count() as u64;
        // A new try may bring a new reply: then it is named as a try only.
        found.changed.actions = if is_counted { 0 } else { others };
        let all = [found.came, found.changed, found.removed];
        if all.iter().all(|kinds| *kinds == Kinds::default()) && words(before) != words(after) {
            found.changed.lines = 1;
        }
        found
    }

    fn compare_pieces(&mut self, before: &Contents, after: &Contents) {
        let slot = |piece: &Piece| match (&piece.memory, piece.kind) {
            (Some(memory), _) => format!("{} {}", piece.section, fold_title(&memory.title)),
            (None, kind) => format!("{} {kind:?}", piece.section),
        };
        let new = after.pieces.iter().filter(|(key, _)| !before.pieces.contains_key(*key));
        let mut new: BTreeMap<String, Vec<&Piece>> = new.fold(BTreeMap::new(), |mut new, (_, piece)| {
            new.entry(slot(piece)).or_default().push(piece);
            new
        });
        for (_, piece) in before.pieces.iter().filter(|(key, _)| !after.pieces.contains_key(*key)) {
            let successor =
                new.get_mut(&slot(piece)).filter(|_| piece.kind != PieceKind::Line).and_then(Vec::pop);
            let kinds = if successor.is_some() { &mut self.changed } else { &mut self.removed };
            *field(kinds, piece.kind) += 1;
            self.gone.push(piece.clone());
        }
        for piece in new.values().flatten() {
            *field(&mut self.came, piece.kind) += 1;
        }
        // A new section is not named besides its content.
        self.came.names = 0;
    }

    fn compare_counts(&mut self, before: &Counts, after: &Counts) {
        let mut more = after.clone();
        add_counts(&mut more, before, -1);
        for (key, more) in more.values().flatten() {
            let kinds = if *more > 0 { &mut self.came } else { &mut self.removed };
            let field = match key.split(' ').next() {
                Some("visits") => &mut kinds.visits,
                Some("way") => &mut kinds.ways,
                _ => &mut kinds.actions,
            };
            *field += more.unsigned_abs();
        }
    }
}

fn field(kinds: &mut Kinds, kind: PieceKind) -> &mut u64 {
    match kind {
        PieceKind::Entry => &mut kinds.memories,
        PieceKind::Line => &mut kinds.lines,
        PieceKind::Name => &mut kinds.names,
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
