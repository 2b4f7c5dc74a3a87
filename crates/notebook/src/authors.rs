//! The memories of a JSON answer with their authors, made in one place for all commands; tools of MCP have a form of
//! their own.
//!
//! Texts in answers may be cut, so a memory is looked up by section and title in the file that it was read from.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::authorship::{Line, log_of, number_of, parse_line};
use crate::snapshot::Snapshot;
use memories_document::types::{Author, Memory, MemoryObject, Scope, ScopeName};
use memories_store::Sidecar;

/// Fields that may hold the text of a memory.
const TEXTS: [&str; 2] = ["text", "content"];

/// Adds `author` to every memory of a tool's answer: every object with a scope, a title, a category and a text.
pub fn name_authors(snapshot: &Snapshot, answer: &mut Value) {
    let authors = Authors::read(snapshot.sidecar());
    authors.name(snapshot, answer);
}

/// Makes the objects of memories that were read from a snapshot.
pub struct MemoryObjects<'a> {
    snapshot: &'a Snapshot,
    authors: Authors,
}

impl<'a> MemoryObjects<'a> {
    /// The objects of a snapshot's memories, with the authors as they are now.
    pub fn of(snapshot: &'a Snapshot) -> MemoryObjects<'a> {
        MemoryObjects { snapshot, authors: Authors::read(snapshot.sidecar()) }
    }

    /// The object of a memory, whose text may be cut.
    pub fn object(&self, scope: &Scope, name: &str, memory: &Memory) -> MemoryObject {
        let whole = if memory.text.starts_with('…') || memory.text.ends_with('…') {
            entry_of(self.snapshot, scope, &memory.title, &memory.text)
        } else {
            None
        };
        MemoryObject::of(scope, name, memory, self.authors.of(scope, whole.unwrap_or(memory)))
    }

    /// The objects of the memories of a section.
    pub fn list(&self, section: (&Scope, &str), memories: &[Memory]) -> Vec<MemoryObject> {
        memories.iter().map(|memory| self.object(section.0, section.1, memory)).collect()
    }
}

/// The entry of a section that has a title and a text, which may be cut.
fn entry_of<'a>(snapshot: &'a Snapshot, scope: &Scope, title: &str, said: &str) -> Option<&'a Memory> {
    let kept = said.trim_end_matches('…').trim_end();
    let titled = || snapshot.section(scope).memories.iter().filter(|memory| memory.title == title);
    let whole = titled().find(|memory| memory.text == said);
    let found = whole.or_else(|| titled().find(|memory| memory.text.starts_with(kept)));
    found.or_else(|| titled().next())
}

/// The authors of all entries of a memory file, for answers that show many of them; `None` where nobody can read them.
#[derive(Debug)]
pub struct Authors(Option<HashMap<u64, Author>>);

impl Authors {
    /// The authors as they are now. What cannot be read counts as a person's.
    pub fn read(sidecar: &Sidecar) -> Authors {
        let mut authors = HashMap::new();
        let visited = log_of(sidecar).visit(|line| {
            let Some(Line { hash, author }) = parse_line(line) else { return };
            let Ok(hash) = u64::from_str_radix(hash, 16) else { return };
            authors.insert(hash, author);
        });
        Authors(visited.is_ok().then_some(authors))
    }

    /// The author of an entry.
    pub fn of(&self, scope: &Scope, memory: &Memory) -> Author {
        let Some(authors) = &self.0 else { return Author::Person };
        authors.get(&number_of(scope, memory)).copied().unwrap_or_default()
    }

    fn name(&self, snapshot: &Snapshot, value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.name(snapshot, value)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.name(snapshot, value));
                if let Some(author) = self.of_shown(snapshot, value) {
                    value["author"] = json!(author);
                }
            }
            _ => {}
        }
    }

    /// The author of a memory as it is shown; `None` for an object that is none.
    fn of_shown(&self, snapshot: &Snapshot, shown: &Value) -> Option<Author> {
        let text = |name: &str| shown.get(name).and_then(Value::as_str);
        text("category")?;
        let (title, said) = (text("title")?, TEXTS.iter().find_map(|name| text(name))?);
        let Ok(ScopeName::Scope(scope)) = text("scope")?.parse() else { return None };
        Some(self.of(&scope, entry_of(snapshot, &scope, title, said)?))
    }
}
