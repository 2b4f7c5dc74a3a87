//! Knowledge of exits beside the ways: exits that descriptions of places name, and directions that were typed there.
//!
//! The journal and the memories enter, then the text of a description; sets of directions leave. A description is read
//! by English words only, so in another language no direction is named.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use crate::graph::Directions;
use memories_document::types::direction::Direction;
use memories_document::types::{Scope, Viewer, fold_action};
use memories_notebook::Snapshot;
use memories_store::Store;
use memories_store::journal::entry::Entry;
use memories_store::journal::{EarlierTurn, Journal};

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
    /// The exits that the text names. They are read when they are first asked for.
    exits: OnceCell<Exits>,
    tried: Directions,
}

impl Described {
    fn set(&mut self, text: String) {
        (self.text, self.exits) = (text, OnceCell::new());
    }
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
            let counts =
                |entry: &Entry<'_>| !aside.has(entry.id.as_deref()) && knows_turn(store.viewer(), line);
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
                described.set(live.map(|memory| format!("{}.\n{}.\n", memory.title, memory.text)).collect());
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
                described.set(reply);
            }
        }
    }

    /// Directions that were typed at a place, whatever came of it.
    pub(super) fn tried(&self, place: u64) -> Directions {
        self.places.get(&place).map_or(Directions::default(), |described| described.tried)
    }

    /// The exits that the description of a place mentions.
    pub(super) fn exits(&self, place: u64) -> Exits {
        let read = |described: &Described| *described.exits.get_or_init(|| Exits::of(&described.text));
        self.places.get(&place).map_or(Exits::default(), read)
    }
}

/// True if a viewer knows the turn of a line.
fn knows_turn(viewer: &Viewer, line: &str) -> bool {
    let turn = || EarlierTurn::of(&Entry::parse(line)?);
    let names_some = *viewer != Viewer::Person && line.contains("\"present\":");
    !names_some || turn().is_some_and(|turn| viewer.knows(&turn.witnesses()))
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

#[cfg(test)]
thread_local! {
    /// Descriptions that this thread read, for tests.
    static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Exits {
    fn of(text: &str) -> Exits {
        #[cfg(test)]
        READ.with(|read| read.set(read.get() + 1));
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
        let (mut found, mut is_barred, mut says_only, mut says_exits) = (0, false, false, false);
        for word in clause.split(|c: char| !c.is_alphanumeric() && c != '\'') {
            let known = WORDS.get(word).copied().unwrap_or_default();
            found |= known.directions;
            is_barred |= known.bars || word.ends_with("n't");
            says_only |= word == "only";
            says_exits |= known.is_exit;
        }
        let set = if is_barred { &mut self.barred } else { &mut self.named };
        set.0 |= found;
        self.is_closed |= found != 0 && says_only && says_exits;
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

/// Words for a direction; those of the compass have their names, with these endings.
fn words_for(direction: Direction) -> Vec<String> {
    let list = match direction {
        Direction::Up => "up upward upwards ascend ascends ascending stair stairs staircase stairway ladder",
        Direction::Down => {
            "down downward downwards descend descends descending stair stairs staircase stairway ladder"
        }
        Direction::In => "enter inside entrance house hut cave building",
        Direction::Out => "out outside exit",
        compass => {
            let name = compass.name();
            return ["", "ern", "ward", "wards", "erly"].map(|ending| format!("{name}{ending}")).into();
        }
    };
    list.split(' ').map(str::to_owned).collect()
}

/// The meaning of a word in a description.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The directions that it names, as the bits of [`Directions`].
    directions: u16,
    bars: bool,
    is_exit: bool,
}

/// All words that say something.
static WORDS: LazyLock<HashMap<String, Known, FixedState>> = LazyLock::new(|| {
    let mut words: HashMap<String, Known, FixedState> = HashMap::default();
    for direction in Direction::ALL {
        for word in words_for(direction) {
            words.entry(word).or_default().directions |= 1 << direction as u16;
        }
    }
    BARRED.split(' ').for_each(|word| words.entry(word.to_owned()).or_default().bars = true);
    EXITS.split(' ').for_each(|word| words.entry(word.to_owned()).or_default().is_exit = true);
    words
});

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
    fn a_description_is_read_once() {
        let describe = |text: &str| {
            let mut described = Described::default();
            described.set(text.to_owned());
            described
        };
        let mut descriptions =
            Descriptions { places: HashMap::from([(1, describe("A door leads north.")), (2, describe(""))]) };
        let read = READ.get();
        for _ in 0..3 {
            assert!(descriptions.exits(1).names(Direction::North));
            assert_eq!(descriptions.exits(2), Exits::default());
        }
        assert_eq!(READ.get() - read, 2);
        descriptions.places.get_mut(&1).unwrap().set("A door leads east.".to_owned());
        assert!(descriptions.exits(1).names(Direction::East), "a text that is new is read anew");
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
