//! The parts of sections: memories, evidence and notes, each different one once.
//!
//! A section's text enters; the numbers of its parts leave, in the order of the file. Most parts of a section are those
//! of its version before, so each is looked up by its text first. A part is kept as the JSON that `page/unpack.js`
//! reads: an object for a memory, which has texts of its own, and a short list for everything else, because a turn adds
//! one or two of them.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::evidence::{self, Item, LISTS};
use crate::strings::Strings;
use memories_document::fields::write_fields;
use memories_document::grammar::write_reference;
use memories_document::types::{Attempt, Category, Memory, Persistence, Scope, Status, Way};
use memories_document::{Document, EntryText, Note, RegionKind, Section, keep_latest};

/// The evidence of one list that was read so far.
#[derive(Debug, Default)]
struct KnownEvidence {
    /// The ways or actions of each line; `None` for a line that cannot be read by itself.
    items_of_line: HashMap<String, Option<Vec<Item>>, FixedState>,
    /// A line of many actions is a new one at each turn, most of its actions are not.
    item_of_attempt: HashMap<Attempt, Item, FixedState>,
}

/// A section without its lines of evidence and visits.
#[derive(Debug)]
struct Rest {
    text: String,
    name: String,
    is_game: bool,
    /// The numbers of memories and notes.
    numbers: Vec<u32>,
}

/// All parts that the sections ever had.
#[derive(Debug, Default)]
pub(super) struct Parts {
    list: Vec<Box<RawValue>>,
    /// The actions, and the game's replies to them.
    texts: Strings,
    /// By the lines of the file.
    number_of_entry: HashMap<String, u32, FixedState>,
    /// By the number of the list in [`LISTS`], and whether it is the game's.
    evidence: [[KnownEvidence; 2]; LISTS.len()],
    /// The last one by the heading of its section.
    rests: HashMap<String, Rest, FixedState>,
    /// The actions and ways of items, as they are compared.
    keys: Strings,
    /// By its JSON.
    number_of_other: HashMap<String, u32, FixedState>,
    #[cfg(test)]
    rests_read: usize,
}

/// A section as it stood at a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SectionParts {
    /// The name in its heading.
    pub(super) name: String,
    /// The numbers of its parts: visits, memories, notes, ways, actions that worked, tries, what was seen.
    pub(super) numbers: Vec<u32>,
}

/// A memory of a section.
#[derive(Serialize)]
struct MemoryPart<'a> {
    k: &'static str,
    category: &'a Category,
    status: Status,
    persistence: Persistence,
    title: &'a str,
    text: &'a str,
    importance: u16,
    #[serde(skip_serializing_if = "String::is_empty")]
    fields: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    episode: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    see_also: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writers: Vec<&'a str>,
}

impl Parts {
    /// The parts of a scope's sections, given as one text; `None` where it has no section.
    pub(super) fn of_section(&mut self, text: String) -> Option<SectionParts> {
        self.of_lines(&text).or_else(|| self.of_whole(text))
    }

    /// The same, with each line of evidence and that of visits read by itself. `None` where lines do not stand for themselves.
    fn of_lines(&mut self, text: &str) -> Option<SectionParts> {
        let evidence::Cut { rest, visits, lines } = evidence::cut(text)?;
        let heading = text.split_inclusive('\n').next()?;
        if self.rests.get(heading).is_none_or(|last| last.text != rest) {
            let rest = self.read_rest(rest)?;
            self.rests.insert(heading.to_owned(), rest);
        }
        let mut numbers = Vec::new();
        if let Some(visits) = visits {
            numbers.push(self.number_of_visits_line(heading, visits)?);
        }
        let Rest { name, is_game, numbers: of_rest, .. } = self.rests.get(heading)?;
        numbers.extend(of_rest);
        let (name, is_game) = (name.clone(), *is_game);
        let mut lists = [const { Vec::new() }; LISTS.len()];
        for (list, line) in lines {
            lists[list].extend_from_slice(self.items(heading, is_game, list, line)?);
        }
        for mut list in lists {
            keep_latest(&mut list, |item| item.key, |item| item.moment);
            numbers.extend(list.iter().map(|item| item.number));
        }
        Some(SectionParts { name, numbers })
    }

    /// Reads a section without its lines of evidence and visits. `None` where some are left in it.
    fn read_rest(&mut self, text: String) -> Option<Rest> {
        let document = Document::parse(text.clone());
        let scope = &document.headings().next()?.scope;
        let section = document.section_without_memories(scope)?;
        let has_evidence = LISTS.iter().any(|list| evidence::count(*list, &section) > 0);
        if has_evidence || self.number_of_visits(&section).is_some() {
            return None;
        }
        #[cfg(test)]
        {
            self.rests_read += 1;
        }
        let numbers = self.numbers_of_rest(&document, scope, &section);
        Some(Rest { text, name: section.name, is_game: *scope == Scope::Game, numbers })
    }

    /// The parts of sections that are read as a whole.
    fn of_whole(&mut self, text: String) -> Option<SectionParts> {
        let document = Document::parse(text);
        let scope = &document.headings().next()?.scope;
        let section = document.section_without_memories(scope)?;
        let mut numbers: Vec<u32> = self.number_of_visits(&section).into_iter().collect();
        numbers.extend(self.numbers_of_rest(&document, scope, &section));
        numbers.extend(section.ways.iter().map(|way| self.number_of_way(way)));
        for list in LISTS {
            numbers
                .extend(section.attempts(list).iter().map(|attempt| self.number_of_attempt(list, attempt)));
        }
        Some(SectionParts { name: section.name, numbers })
    }

    /// Memories and notes.
    fn numbers_of_rest(&mut self, document: &Document, scope: &Scope, section: &Section) -> Vec<u32> {
        let mut numbers: Vec<u32> =
            document.entries(scope).map(|entry| self.number_of_memory(&entry.text())).collect();
        numbers.extend(section.notes.iter().map(|Note { heading, text }| {
            let gap = if heading.is_empty() { "" } else { ": " };
            self.number(json!(["n", format!("{heading}{gap}{text}")]).to_string())
        }));
        numbers
    }

    /// The visits of a section; `None` where there are none.
    fn number_of_visits(&mut self, section: &Section) -> Option<u32> {
        let is_visited = section.visits > 0 || !section.episodes.is_empty();
        is_visited.then(|| self.number(json!(["v", section.visits, section.episodes]).to_string()))
    }

    /// The visits of a line below a heading; `None` where the line says something else, too.
    fn number_of_visits_line(&mut self, heading: &str, line: &str) -> Option<u32> {
        let document = Document::parse(format!("{heading}{line}"));
        let section = document.section_without_memories(&document.headings().next()?.scope)?;
        if section.notes.is_empty() { self.number_of_visits(&section) } else { None }
    }

    /// The ways or actions of a line of evidence, which stands below the heading of its section. Actions of a game are
    /// compared in their own way, so a line of its section is another one.
    fn items(&mut self, heading: &str, is_game: bool, list: usize, line: &str) -> Option<&[Item]> {
        let game = usize::from(is_game);
        if !self.evidence[list][game].items_of_line.contains_key(line) {
            let items = self.read_line(heading, list, line);
            self.evidence[list][game].items_of_line.insert(line.to_owned(), items);
        }
        self.evidence[list][game].items_of_line.get(line)?.as_deref()
    }

    fn read_line(&mut self, heading: &str, list: usize, line: &str) -> Option<Vec<Item>> {
        let kind = LISTS[list];
        let document = Document::parse(format!("{heading}{}\n{line}", kind.heading()));
        let scope = &document.headings().next()?.scope;
        let section = document.section_without_memories(scope)?;
        let is_read = LISTS.iter().all(|other| (evidence::count(*other, &section) > 0) == (kind == *other));
        if !is_read || !section.notes.is_empty() {
            return None;
        }
        let of_way = |way: &Way| Item {
            number: self.number_of_way(way),
            key: self.keys.number(&format!("{:?}", way.key())),
            moment: (way.episode, way.turn),
        };
        let mut items: Vec<Item> = section.ways.iter().map(of_way).collect();
        items.extend(section.attempts(kind).iter().map(|attempt| self.item_of(scope, list, attempt)));
        Some(items)
    }

    /// The item of an action, which is made once.
    fn item_of(&mut self, scope: &Scope, list: usize, attempt: &Attempt) -> Item {
        let game = usize::from(*scope == Scope::Game);
        if let Some(item) = self.evidence[list][game].item_of_attempt.get(attempt) {
            return *item;
        }
        let item = Item {
            number: self.number_of_attempt(LISTS[list], attempt),
            key: self.keys.number(&scope.key_of_action(&attempt.action)),
            moment: (attempt.episode, attempt.turn),
        };
        self.evidence[list][game].item_of_attempt.insert(attempt.clone(), item);
        item
    }

    /// All parts so far, by their numbers.
    pub(super) fn list(&self) -> &[Box<RawValue>] {
        &self.list
    }

    /// The texts that evidence names by number.
    pub(super) fn texts(&self) -> &[String] {
        self.texts.list()
    }

    fn number_of_memory(&mut self, entry: &EntryText<'_>) -> u32 {
        if let Some(number) = self.number_of_entry.get(entry.text()) {
            return *number;
        }
        let part = memory_part(&entry.read());
        let number = self.push(part);
        self.number_of_entry.insert(entry.text().to_owned(), number);
        number
    }

    fn number_of_attempt(&mut self, list: RegionKind, attempt: &Attempt) -> u32 {
        let Attempt { action, count, episode, turn, reply, result, witnesses: _ } = attempt;
        let action = self.texts.number(action);
        let reply = self.texts.number(reply);
        let result = (!result.is_vain()).then_some(result);
        self.number(short(json!([evidence::letter(list), action, count, episode, turn, reply, result])))
    }

    fn number_of_way(&mut self, way: &Way) -> u32 {
        let Way { action, to, name: _, count, episode, turn, after, witnesses: _ } = way;
        let action = self.texts.number(action);
        let after: Vec<_> = after.iter().map(|opener| self.texts.number(opener)).collect();
        self.number(short(json!(["w", action, to, count, episode, turn, after])))
    }

    fn number(&mut self, part: String) -> u32 {
        if let Some(number) = self.number_of_other.get(&part) {
            return *number;
        }
        let raw = RawValue::from_string(part.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let number = self.push(raw);
        self.number_of_other.insert(part, number);
        number
    }

    fn push(&mut self, part: Box<RawValue>) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(part);
        number
    }
}

fn memory_part(memory: &Memory) -> Box<RawValue> {
    let Memory {
        category, persistence, status, title, text, context, see_also, provenance, reference, ..
    } = memory;
    let reference = reference.as_ref().map(|reference| {
        let line = write_reference(reference);
        line.trim_start_matches('[').trim_end_matches(']').to_owned()
    });
    let part = MemoryPart {
        k: "memory",
        category,
        status: *status,
        persistence: *persistence,
        title,
        text,
        importance: memory.importance(),
        fields: write_fields(provenance),
        episode: provenance.episode,
        turn: provenance.turns.map(|turns| turns.first),
        see_also: see_also.as_deref(),
        context: context.as_deref(),
        reference,
        tags: &provenance.tags,
        writers: memory.writers(),
    };
    to_raw_value(&part).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A list as JSON, without what says nothing at its end.
fn short(mut list: Value) -> String {
    let says_nothing = |value: &mut Value| value.is_null() || *value == 0 || *value == json!([]);
    if let Some(list) = list.as_array_mut() {
        while list.pop_if(says_nothing).is_some() {}
    }
    list.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_way_names_its_openers_as_texts() {
        let mut parts = Parts::default();
        let ways = "- `n` → Location 2: B *(after open </script>; say <!-- hi)*\n- `s` → Location 2: B\n";
        parts.of_section(format!("## Location 1: A\n\n### Ways\n\n{ways}")).unwrap();
        let lists: Vec<Value> =
            parts.list().iter().map(|part| serde_json::from_str(part.get()).unwrap()).collect();
        assert_eq!(lists[0][6].as_array().map(Vec::len), Some(2));
        let text = |number: &Value| parts.texts()[number.as_u64().unwrap() as usize].as_str();
        assert_eq!((text(&lists[0][6][0]), text(&lists[0][6][1])), ("open </script>", "say <!-- hi"));
        assert_eq!(lists[1].as_array().map(Vec::len), Some(4), "a way without them says nothing of them");
    }

    const LINES: [&str; 15] = [
        "## Location 1: A\n",
        "# T\n",
        "## Notes\n",
        "### Memories\n",
        "### Tried\n",
        "### Ways\n",
        "#### Seen\n",
        "**Visits:** 3 | **Episodes:** 1, 2\n",
        "**[NOTE] a** *(Ep1, T3)*\n",
        "text\n",
        "\n",
        "- `n` → [B](#location-2-b) ×2 *(Ep1, T3)*\n",
        "- `eat x`, `take y` ×2 *(Ep2, T1)*: No.\r\n",
        "- `eat x` *(Ep1, T9)*: `no` <!-- x -->\n",
        "  more\n",
    ];

    proptest! {
        #[test]
        fn lines_read_by_themselves_are_the_section_read_as_a_whole(
            heading in prop::sample::select(&["## Location 1: A\n", "## Game\n"][..]),
            lines in prop::collection::vec(prop::sample::select(&LINES[..]), 0..14),
        ) {
            let text = format!("{heading}{}", lines.concat());
            let mut parts = Parts::default();
            let by_line = parts.of_lines(&text);
            let whole = parts.of_whole(text.clone());
            prop_assert!(by_line.is_none() || by_line == whole, "{text}\n{by_line:?}\n{whole:?}");
            let again = parts.of_section(text);
            prop_assert_eq!(again, whole);
        }
    }

    #[test]
    fn a_turn_lets_a_place_be_read_but_for_its_own_lines() {
        let mut parts = Parts::default();
        for turn in 1..50 {
            let text = format!(
                "## Location 1: A\n**Visits:** {turn} | **Episodes:** 1\n\n### Memories\n\n**[NOTE] a**\nx\n\n\
                 ### Tried\n\n- `a` *(Ep1, T{turn})*: No.\n"
            );
            let section = parts.of_section(text.clone());
            assert_eq!(section, parts.of_whole(text));
        }
        assert_eq!(parts.rests_read, 1);
    }

    #[test]
    fn the_lines_of_a_recorded_place_are_read_by_themselves() {
        let text = "## Location 1: A\n**Visits:** 3\n\n### Ways\n- `n` → Location 2: B\n\n### Tried\n- `a`, `b`: No.\n- `c`: No.\n";
        let mut parts = Parts::default();
        assert_eq!(parts.of_lines(text).map(|section| section.numbers), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(parts.of_whole(text.to_owned()), parts.of_lines(text));
    }
}
