//! Lines of dialogue, stored as memories of `## Dialogue`.
//!
//! [`speaker`] looks a person up in the files; [`spoken`] makes a memory that reads as reported speech:
//! `Alex said: …`. Dialogue only grows: a line with a title in use gets a number, and a line that was
//! said before is stored again.

use crate::files::Files;
use memories_document::text::{stored_line, stored_text};
use memories_document::types::{Category, Memory, Scope, fold_title, is_id};

/// A person who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// Name for people.
    pub name: String,
    /// The id, for the tag `#speaker:ID`. For a person without a section it is made from the name; `None`
    /// if the name gives no valid id.
    pub id: Option<String>,
}

/// Looks up an id or a name: the agent, else the character, whose section has it; else a new person,
/// whose name is capitalized.
pub(crate) fn speaker(files: &Files, called: &str) -> Speaker {
    let called = stored_line(called);
    let folded = fold_title(&called);
    let people = files.headings().filter_map(|heading| match &heading.scope {
        Scope::Agent(id) => Some((0, id, &heading.name)),
        Scope::Npc(id) => Some((1, id, &heading.name)),
        _ => None,
    });
    let called_so = people.filter(|(_, id, name)| **id == folded || fold_title(name) == folded);
    // An agent before a character, and an id before a name.
    let found = called_so.min_by_key(|(kind, id, _)| (*kind, **id != folded));
    match found.map(|(_, id, name)| (id, name)) {
        Some((id, name)) if !name.is_empty() => Speaker { name: name.clone(), id: Some(id.clone()) },
        Some((id, _)) => Speaker { name: capitalized(id), id: Some(id.clone()) },
        None => {
            let id = folded.split(' ').collect::<Vec<_>>().join("-");
            Speaker { name: capitalized(&called), id: is_id(&id).then_some(id) }
        }
    }
}

/// Makes a dialogue memory of `line`, whose text is what was said. A missing title becomes one such as
/// `Ep1 T3 Alex`; the other fields stay.
pub(crate) fn spoken(speaker: &Speaker, line: Memory) -> Memory {
    let said = stored_text(&line.text).trim().to_owned();
    let name = &speaker.name;
    let text = if said.starts_with(&format!("{name} said:")) { said } else { format!("{name} said: {said}") };
    let mut memory = Memory { category: Category::dialogue(), text, ..line };
    let fields = &mut memory.provenance;
    if memory.title.trim().is_empty() {
        let episode = fields.episode.map(|episode| format!("Ep{episode} ")).unwrap_or_default();
        let turn = fields.turns.map(|turns| format!("T{} ", turns.first)).unwrap_or_default();
        memory.title = format!("{episode}{turn}{name}");
    }
    let tag = speaker.id.as_ref().map(|id| format!("speaker:{id}"));
    fields.tags.extend(tag.filter(|tag| !fields.tags.contains(tag)));
    memory
}

fn capitalized(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::Document;
    use memories_document::types::Span;

    fn files(text: &str) -> Files {
        Files::new(Document::parse(text.to_owned()), Document::parse(String::new()))
    }

    #[test]
    fn a_speaker_is_whom_the_file_knows_by_id_or_name() {
        let files =
            files("## NPC troll: The Troll\n\n## NPC alex: Other\n\n## Agent alex: Alex Ō\n\n## Agent bo\n");
        let known = |called: &str| {
            let Speaker { name, id } = speaker(&files, called);
            (name, id.unwrap_or_default())
        };
        let pair = |name: &str, id: &str| (name.to_owned(), id.to_owned());
        assert_eq!(known("alex"), pair("Alex Ō", "alex"));
        assert_eq!(known(" ALEX ō "), pair("Alex Ō", "alex"));
        assert_eq!(known("the troll"), pair("The Troll", "troll"));
        assert_eq!(known("bo"), pair("Bo", "bo"));
        assert_eq!(known("old man"), pair("Old man", "old-man"));
        assert_eq!(known("émile"), pair("Émile", ""));
    }

    #[test]
    fn a_line_reads_as_people_report_speech() {
        let alex = Speaker { name: "Alex".to_owned(), id: Some("alex".to_owned()) };
        let mut line = Memory::new(Category::note(), "", " I love\nItalian food ");
        line.provenance.turns = Some(Span::one(3));
        let once = spoken(&alex, line.clone());
        assert_eq!((once.title.as_str(), once.text.as_str()), ("T3 Alex", "Alex said: I love\nItalian food"));
        assert_eq!(
            (once.category.as_str(), once.provenance.tags.as_slice()),
            ("DIALOGUE", ["speaker:alex".to_owned()].as_slice())
        );
        line.provenance.episode = Some(2);
        assert_eq!(spoken(&alex, line).title, "Ep2 T3 Alex");
        let again = spoken(&alex, Memory { title: "Toast".to_owned(), ..once.clone() });
        assert_eq!(
            (again.text, again.title.as_str(), again.provenance.tags),
            (once.text, "Toast", once.provenance.tags)
        );
    }
}
