//! New text below a comment that is never closed does not close it, and is read back as it was.

use memories::document::text::stored_line;
use memories::document::{Document, EntryEdit, RegionKind, stored};
use memories::types::{Attempt, Category, Cause, Memory, Moment, Reference, Scope, Way};
use proptest::prelude::*;

use super::memory;

const PLACE: Scope = Scope::Location(5);

/// Files whose comment opens before, within and behind the section that is written.
const FILES: [&str; 4] = [
    "<!-- never closed\n\n## Location 5: Hall\n\n### Memories\n\n**[NOTE] Old**\nIt stays.\n\n---\n",
    "## Location 5: Hall\n\n### Memories\n\n**[NOTE] Old**\nIt stays.\n<!-- done -->\n<!-- never closed\nmore\n\n---\n",
    "## Location 5: Hall\n\n### Memories\n\n**[NOTE] Old**\nA -> b.\n\n---\n\n<!-- never closed\n",
    "# Location Memories\n\n<!-- never closed\n",
];

/// Words with ends of comments, and what looks like an escaped one.
fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", " ", "-", "--", "-->", "--\\>", "--\\\\>", "\\", ">", "\"", "~", "!"]),
        1..8,
    )
    .prop_map(|words| stored_line(&format!("x{}y", words.concat())))
}

fn reopened(document: Document) -> Document {
    let text = document.into_text().unwrap();
    let open = text.rfind("<!--").unwrap();
    assert!(!text[open..].contains("-->"), "the comment is closed:\n{text}");
    Document::parse(text)
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn all_that_is_written_comes_back(
        file in prop::sample::select(&FILES[..]),
        memory in memory(),
        [title, text, context, goal, name] in [words(), words(), words(), words(), words()],
        [action, reply, item, reason] in [words(), words(), words(), words()],
    ) {
        let mut document = Document::parse(file.to_owned());
        let plain = Memory { context: Some(context), ..Memory::new(Category::note(), &title, format!("{text}\n{text}")) };
        let mut plain = Memory { see_also: Some(format!("[[{name}]]")), ..plain };
        plain.provenance.goal = Some(goal);
        let elsewhere = Scope::Location(7);
        for memory in [&memory, &plain] {
            document.add(&elsewhere, &name, memory).unwrap();
        }
        let attempt = Attempt { action: action.clone(), count: 1, episode: None, turn: None, reply, ..Attempt::default() };
        document.put_attempt(&PLACE, "Hall", RegionKind::Tried, &attempt, 400).unwrap();
        let way = Way { action, to: 7, name: name.clone(), count: 1, episode: None, turn: None, after: Vec::new(), witnesses: Default::default() };
        document.put_way(&PLACE, "Hall", &way).unwrap();
        let seen = Attempt { action: format!("x {item}"), ..attempt.clone() };
        document.put_attempt(&PLACE, "Hall", RegionKind::Seen, &seen, 400).unwrap();
        let reference = Reference { at: Moment { episode: Some(1), ..Moment::default() }, cause: Cause::Invalidated(reason) };
        document.add(&PLACE, "Hall", &Memory { title: "Struck".to_owned(), ..plain.clone() }).unwrap();
        let struck = document.section(&PLACE).unwrap().memories.len() - 1;
        let mut entry = document.entry_mut(&PLACE, struck).unwrap();
        entry.edit(EntryEdit::Supersede(Some(reference.clone())));

        let after = reopened(document);
        let section = after.section(&elsewhere).unwrap();
        prop_assert_eq!(&section.name, &name);
        prop_assert_eq!(&section.memories, &[stored(&memory), stored(&plain)]);
        let hall = after.section(&PLACE).unwrap();
        prop_assert_eq!((&hall.tried, &hall.ways), (&vec![attempt], &vec![way]));
        prop_assert_eq!(&hall.seen, &vec![seen]);
        let found = &hall.memories[struck];
        prop_assert_eq!((&found.reference, &found.text), (&Some(reference), &plain.text));
        prop_assert!(hall.memories.iter().all(|memory| memory.title != "Old" || !memory.text.is_empty()));
        // The canonical form keeps it all, and a new name as well.
        let formatted = Document::parse(memories::document::format::format(&after.clone().into_text().unwrap()).text);
        prop_assert_eq!(&reopened(formatted).section(&elsewhere).unwrap().memories, &section.memories);
        let mut renamed = after;
        prop_assert!(renamed.rename(&elsewhere, &title));
        let renamed = reopened(renamed);
        prop_assert_eq!(&renamed.section(&elsewhere).unwrap().name, &title);
    }
}
