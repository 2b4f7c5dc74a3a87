//! Notes of other programs as items of an import: subjects get scopes, and titles stay unique.

use std::collections::{HashMap, HashSet};

use memories_formats::{Found, LeftOut as NotRead, Note, Subject};
use xxhash_rust::xxh3::xxh3_64;

use crate::transfer::place::PlaceReference;
use crate::transfer::source::{Item, Origin, TransferSource};
use memories_document::Section;
use memories_document::grammar::write_key;
use memories_document::text::{TITLE_CHARS, stored_title};
use memories_document::types::text::truncate;
use memories_document::types::{Category, FolderPath, Memory, Persistence, Scope, fold_title};
use memories_llm::redact::redacted;

/// Most letters of an id.
const ID_CHARS: usize = 48;

/// Ids of names; each kind of scope has its own.
#[derive(Default)]
struct Ids {
    /// The name that has an id, by kind and id.
    owners: HashMap<(&'static str, String), String>,
    keep_secrets: bool,
}

/// The items of what another program's file holds.
pub fn source_of(found: Found, keep_secrets: bool) -> TransferSource {
    let mut ids = Ids { keep_secrets, ..Ids::default() };
    let mut source = TransferSource::default();
    let known: HashSet<Subject> =
        found.subjects.iter().chain(found.notes.iter().map(|note| &note.subject)).cloned().collect();
    let with_notes: HashSet<&Subject> = found.notes.iter().map(|note| &note.subject).collect();
    let mut named = HashSet::new();
    let mut is_new = |subject: &&Subject| !with_notes.contains(*subject) && named.insert((*subject).clone());
    for (number, subject) in (1..).zip(found.subjects.iter().filter(|subject| is_new(subject))) {
        let at = Origin::Section(number);
        source
            .push(at, Ok(Item::Section { place: ids.place(subject), section: Box::new(Section::default()) }));
    }
    let mut titles = Titles::default();
    for (number, note) in (1..).zip(&found.notes) {
        let place = ids.place(&note.subject);
        let links = note.links.iter().filter(|link| known.contains(link));
        let links: Vec<String> = links.filter_map(|link| ids.link(link)).collect();
        let mut memory = memory_of(note);
        memory.see_also = (!links.is_empty()).then(|| links.join(", "));
        if let Some(title) = &note.title {
            memory.title = titles.unique(&note.subject, title, &note.text);
        }
        source.push(Origin::Memory(number), Ok(Item::Memory { place, memory: Box::new(memory) }));
    }
    for NotRead { what, count, why } in found.left_out {
        source.leave_out(what, count, why);
    }
    source
}

/// A memory without title and links.
fn memory_of(note: &Note) -> Memory {
    let category = note.category.as_deref().and_then(Category::new);
    let mut memory =
        Memory::new(category.clone().unwrap_or_else(Category::note), String::new(), note.text.clone());
    memory.context = note.context.clone();
    memory.provenance.date = note.date.clone();
    memory.provenance.tags = note.tags.clone();
    if let (None, Some(word)) = (category, &note.category) {
        memory.provenance.tags.push(word.clone());
    }
    if note.is_core {
        memory.persistence = Persistence::Core;
    }
    memory
}

impl Ids {
    fn place(&mut self, subject: &Subject) -> PlaceReference {
        match subject {
            Subject::Place(name) if !name.is_empty() => PlaceReference::Named(name.clone()),
            Subject::Person(name) | Subject::Agent(name) | Subject::Topic(name) => self
                .scope(subject)
                .map_or(PlaceReference::Unsaid, |scope| PlaceReference::Scope(scope, name.clone())),
            _ => {
                let scope = self.scope(subject);
                scope.map_or(PlaceReference::Unsaid, |scope| PlaceReference::Scope(scope, String::new()))
            }
        }
    }

    /// The scope of a subject; none for a place, whose id is found by its name, and for none that is said.
    fn scope(&mut self, subject: &Subject) -> Option<Scope> {
        Some(match subject {
            Subject::World => Scope::World,
            Subject::Project => Scope::Folder(FolderPath::root()),
            Subject::Person(name) => Scope::Npc(self.id("npc", name)),
            Subject::Agent(name) => Scope::Agent(self.id("agent", name)),
            Subject::Topic(name) => Scope::Topic(self.id("topic", name)),
            Subject::Place(_) | Subject::Unsaid => return None,
        })
    }

    fn link(&mut self, subject: &Subject) -> Option<String> {
        self.scope(subject).map(|scope| format!("[[{}]]", write_key(&scope)))
    }

    /// The id of a name: its letters and digits in lower case. A number made of the name follows where signs of it are
    /// lost, or another name has the id.
    fn id(&mut self, kind: &'static str, name: &str) -> String {
        let name = if self.keep_secrets { fold_title(name) } else { fold_title(&redacted(name)) };
        let words =
            name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let plain: String = words.collect::<Vec<_>>().join("-").chars().take(ID_CHARS).collect();
        let is_whole = !plain.is_empty() && plain == name.replace(' ', "-");
        let number = format!("{:06x}", xxh3_64(name.as_bytes()) & 0xff_ffff);
        let long = if plain.is_empty() { format!("n-{number}") } else { format!("{plain}-{number}") };
        let id = if is_whole { plain } else { long.clone() };
        let owner = self.owners.entry((kind, id.clone())).or_insert_with(|| name.clone());
        if *owner == name { id } else { long }
    }
}

/// Titles of each subject, with the texts that have them.
#[derive(Default)]
struct Titles<'a> {
    texts: HashMap<(&'a Subject, String), Vec<&'a str>>,
}

impl<'a> Titles<'a> {
    /// The title; a further text of it gets a number.
    fn unique(&mut self, subject: &'a Subject, title: &str, text: &'a str) -> String {
        let texts = self.texts.entry((subject, fold_title(&stored_title(title)))).or_default();
        let number = texts.iter().position(|other| *other == text).unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        });
        match number {
            0 => title.to_owned(),
            _ => format!("{} ({})", truncate(title, TITLE_CHARS - 8), number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_ids_that_no_other_name_has() {
        let mut ids = Ids::default();
        for (name, id) in [("Marta", "marta"), ("The Troll", "the-troll"), ("a_b-c 1", "a_b-c-1")] {
            assert_eq!(ids.id("npc", name), id);
            assert_eq!(ids.id("npc", &name.to_uppercase()), id);
        }
        let all: Vec<String> =
            ["C", "C++", "C#", "Café", "тролль", "!", ""].iter().map(|name| ids.id("topic", name)).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
        assert!(all.iter().all(|id| memories_document::types::is_id(id)), "{all:?}");
        assert_eq!(
            ids.id("npc", "the-troll"),
            format!("the-troll-{:06x}", xxh3_64(b"the-troll") & 0xff_ffff)
        );
    }
}
