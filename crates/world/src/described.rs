//! Knowledge of exits beside the ways: exits that descriptions of places name, and directions that were typed there.
//!
//! The journal and the memories enter, then the text of a description; sets of directions leave. A description is read
//! by English words only, so in another language no direction is named.

use std::collections::HashMap;

use crate::graph::Directions;
use memories_document::types::direction::Direction;
use memories_document::types::{Scope, fold_action};
use memories_notebook::Snapshot;
use memories_store::Store;
use memories_store::journal::Journal;
use memories_store::journal::entry::Entry;

/// Descriptions of places, and the directions that were typed there.
#[derive(Debug, Clone, Default)]
pub struct Descriptions {
    places: HashMap<u64, Described>,
}

/// The text of the journal about a place.
#[derive(Debug, Clone, Default)]
struct Described {
    /// The longest reply that showed it since the last look there.
    text: String,
    tried: Directions,
}

impl Descriptions {
    /// Reads the journal of a store, and the memories of places that the journal does not describe. A journal that cannot
    /// be read describes nothing.
    pub fn read(store: &Store, snapshot: &Snapshot) -> Descriptions {
        let mut read = Descriptions::default();
        // If reading fails, the lines read so far are used.
        let journal = Journal::of(store);
        let aside = journal.aside().unwrap_or_default();
        let _ = journal.visit(|line| {
            let entry = line.contains("\"turn\":").then(|| Entry::parse(line)).flatten();
            let counts = |entry: &Entry<'_>| !aside.has(entry.id.as_deref());
            entry.filter(counts).iter().for_each(|entry| read.add(entry));
        });
        read.with_memories(snapshot)
    }

    /// Adds the memories of the places that no turn describes.
    pub fn with_memories(self, snapshot: &Snapshot) -> Descriptions {
        let mut read = self;
        for heading in snapshot.headings() {
            let Scope::Location(id) = heading.scope else { continue };
            let described = read.places.entry(id).or_default();
            if described.text.is_empty() {
                let live = snapshot.section(&heading.scope).live();
                described.text =
                    live.map(|memory| format!("{}.\n{}.\n", memory.title, memory.text)).collect();
            }
        }
        read
    }

    /// Adds what a line of the journal says.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let Some(turn) = &entry.turn else { return };
        let Some(from) = turn.place() else { return };
        let to = turn.location_after.as_ref().and_then(|place| place.id).unwrap_or(from);
        let action = turn.action.as_deref().unwrap_or_default();
        if let Some(direction) = Direction::of(action) {
            self.places.entry(from).or_default().tried.insert(direction);
        }
        let looks = fold_action(action) == "look";
        if (from != to || looks)
            && let Some(reply) = turn.response()
        {
            let described = self.places.entry(to).or_default();
            if looks || reply.len() > described.text.len() {
                described.text = reply;
            }
        }
    }

    /// Directions that were typed at a place, whatever came of it.
    pub(super) fn tried(&self, place: u64) -> Directions {
        self.places.get(&place).map_or(Directions::default(), |described| described.tried)
    }

    /// The exits that the description of a place mentions.
    pub(super) fn exits(&self, place: u64) -> Exits {
        self.places.get(&place).map_or(Exits::default(), |described| Exits::of(&described.text))
    }
}

/// The exits that a description names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Exits {
    /// Directions that a sentence names.
    named: Directions,
    /// Directions that a sentence names as barred, and no other sentence names.
    barred: Directions,
    /// The description says that there are no other exits.
    is_closed: bool,
}

impl Exits {
    fn of(text: &str) -> Exits {
        let mut exits = Exits::default();
        let lower = text.to_lowercase();
        for sentence in lower.split(['.', ';', ':', '!', '?', '\n']) {
            for clause in CONTRASTS.iter().fold(vec![sentence], |clauses, contrast| {
                clauses.into_iter().flat_map(|clause| clause.split(contrast)).collect()
            }) {
                exits.add(clause);
            }
        }
        exits.barred.0 &= !exits.named.0;
        exits
    }

    fn add(&mut self, clause: &str) {
        let words =
            || clause.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
        let says = |list: &str| words().any(|word| list.split(' ').any(|other| other == word));
        let mut found = Directions::default();
        for direction in Direction::ALL {
            if words().any(|word| names(direction, word)) {
                found.insert(direction);
            }
        }
        let is_barred = says(BARRED) || words().any(|word| word.ends_with("n't"));
        let set = if is_barred { &mut self.barred } else { &mut self.named };
        set.0 |= found.0;
        self.is_closed |= found != Directions::default() && says("only") && says(EXITS);
    }

    /// True if the description names a direction as one to go.
    pub(super) fn names(&self, direction: Direction) -> bool {
        self.named.has(direction)
    }

    /// True if the description says that nothing leads there.
    pub(super) fn rules_out(&self, direction: Direction) -> bool {
        !self.names(direction) && (self.barred.has(direction) || self.is_closed)
    }
}

/// Words between which a sentence changes its mind.
const CONTRASTS: [&str; 4] = [" but ", " however ", " though ", " although "];

/// Words of a sentence that says where nobody can go.
const BARRED: &str = "no not never cannot block blocks blocked blocking barred boarded impassable prevent prevents sealed nailed";

/// Words for what leads out of a place.
const EXITS: &str = "exit exits way ways path door passage";

/// True if a word of a description names a direction.
fn names(direction: Direction, word: &str) -> bool {
    let list = match direction {
        Direction::Up => "up upward upwards ascend ascends ascending stair stairs staircase stairway ladder",
        Direction::Down => {
            "down downward downwards descend descends descending stair stairs staircase stairway ladder"
        }
        Direction::In => "enter inside entrance house hut cave building",
        Direction::Out => "out outside exit",
        compass => {
            let rest = word.strip_prefix(compass.name());
            return rest.is_some_and(|rest| matches!(rest, "" | "ern" | "ward" | "wards" | "erly"));
        }
    };
    list.split(' ').any(|other| other == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<&'static str> {
        let exits = Exits::of(text);
        Direction::ALL.into_iter().filter(|direction| exits.names(*direction)).map(Direction::name).collect()
    }

    fn ruled_out(text: &str) -> Vec<&'static str> {
        let exits = Exits::of(text);
        let out = Direction::ALL.into_iter().filter(|direction| exits.rules_out(*direction));
        out.map(Direction::name).collect()
    }

    #[test]
    fn a_description_names_directions() {
        assert_eq!(
            named("A path leads northwest. The EASTERN wall has a ladder."),
            ["east", "northwest", "up", "down"]
        );
        assert_eq!(named("A north-south corridor."), ["north", "south"]);
        assert_eq!(named("Northumberland, 1820. A westerner sits here."), [""; 0]);
    }

    #[test]
    fn a_description_rules_directions_out() {
        let text = "Rubble blocks the way east, but a path leads north. You can't go up.";
        assert_eq!((named(text), ruled_out(text)), (vec!["north"], vec!["east", "up"]));
        let closed = ruled_out("The only exit is to the south.");
        assert!(closed.contains(&"north") && !closed.contains(&"south"), "{closed:?}");
        assert_eq!(ruled_out("Nothing leads east. A door leads east."), [""; 0]);
    }
}
