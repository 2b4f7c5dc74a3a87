//! The writers: their links lead to notes, and the entries of others stay.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Folder, Format, Source, for_agents, vault, with_section, world_info};
use memories_document::types::{Attempt, Category, FolderPath, Memory, Scope, Way};
use memories_document::{Document, Section};

fn sections(text: &str) -> Vec<(Scope, Section)> {
    Document::parse(text.to_owned()).sections()
}

const WORLD: &str = "## Location 1: The Ford\n\n### Memories\n\n**[NOTE] Ferry**\nIt runs at dusk.\n\
                     See also: [[NPC ilse › Bell]]\n\n---\n\n## NPC ilse: Ilse\n\n### Memories\n\n**[NOTE] Bell**\nShe rings it.\n\n---\n\n\
                     ## Agent jo: Jo\n\n### Memories\n\n**[NOTE] Secret**\nNobody knows.\n\n---\n";

#[test]
fn a_book_brings_its_own_entries_up_to_date_and_leaves_all_others() {
    let first = world_info(None, &sections(WORLD), true).unwrap();
    assert_eq!((first.entries, first.gone, first.text.contains("Nobody")), (2, 0, false));
    let mut book: Value = serde_json::from_str(&first.text).unwrap();
    let theirs = json!({"uid": 7, "key": ["x"], "content": "theirs", "odd": {"a": [1.5, null]}});
    book["entries"]["7"] = theirs.clone();
    book["entries"]["0"]["key"] = json!(["ford", "river"]);
    book["entries"]["0"]["sticky"] = json!(3);
    book["top"] = json!({"kept": true});
    let changed = sections(&WORLD.replace("at dusk", "at dawn"));
    let second = world_info(Some(&book.to_string()), &changed, true).unwrap();
    let read: Value = serde_json::from_str(&second.text).unwrap();
    let mut expected = book.clone();
    expected["entries"]["0"]["content"] = json!("Ferry: It runs at dawn.");
    assert_eq!(read, expected);
    assert_eq!(world_info(Some(&second.text), &changed, true).unwrap().text, second.text);
    let without = sections(WORLD.split("## NPC").next().unwrap());
    let third = world_info(Some(&second.text), &without, true).unwrap();
    assert_eq!((third.gone, world_info(Some(&second.text), &without, false).unwrap().gone), (1, 0));
    let read: Value = serde_json::from_str(&third.text).unwrap();
    assert_eq!(read["entries"]["1"]["disable"], true);
    let back = world_info(Some(&third.text), &changed, true).unwrap();
    assert_eq!(back.text, second.text, "a section that is back is switched on");
    // An import of this book takes the entries of others alone.
    let found = Format::WorldInfo.read(&Source::of_bytes("x", back.text.as_bytes())).unwrap();
    assert_eq!(found.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["theirs"]);
    assert!(
        world_info(Some("[]"), &changed, true).is_err()
            && world_info(Some("{\"entries\": 1}"), &changed, true).is_err()
    );
}

#[test]
fn a_vault_keeps_the_notes_of_people() {
    let world = sections(WORLD);
    let first = vault(&world, &Folder::of_text("The Ford.md", "my own"));
    let paths: Vec<&str> = first.write.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["The Ford (location 1).md", "Ilse.md"]);
    let (path, text) = &first.write[0];
    assert!(text.contains("See also: [[Ilse#Bell]]"), "{text}");
    let again = vault(&world, &Folder::of_text(path, text));
    assert_eq!((again.same, again.write.len()), (1, 1));
    let by_hand = Folder::of_text(path, &format!("{text}\nby hand\n"));
    assert_eq!(vault(&world, &by_hand).changed, std::slice::from_ref(path));
    let moved = vault(&sections(&WORLD.replace("dusk", "dawn")), &Folder::of_text("Places/ford.md", text));
    assert_eq!(moved.write[0].0, "Places/ford.md", "a note that a person moved is brought up to date there");
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z .]{0,6}",
        "\\PC{0,12}",
        prop::sample::select(vec![
            "../../etc/passwd",
            "CON",
            "a/b",
            "[[x]]",
            "a#b|c",
            "\u{202e}gpj",
            "..",
            "The Ford",
            "the ford"
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn links_of_a_vault_lead_to_its_notes(
        places in prop::collection::vec((name(), name(), "[a-z\\[\\]|#\n-]{1,12}", 0u64..6), 1..6),
    ) {
        let sections: Vec<(Scope, Section)> = (0u64..).zip(&places).map(|(id, (called, title, text, to))| {
            let mut memory = Memory::new(Category::note(), title.clone(), text.clone());
            memory.see_also = Some(format!("[[Location {to} › {title}]], [[Location 99]]"));
            let ways = vec![Way {
                action: "north".to_owned(), to: *to, name: String::new(), count: 1, episode: None, turn: None, after: Vec::new(), witnesses: Default::default(),
            }];
            (Scope::Location(id), Section { name: called.clone(), memories: vec![memory], ways, ..Section::default() })
        }).collect();
        let vault = vault(&sections, &Folder::default());
        let paths: Vec<&str> = vault.write.iter().map(|(path, _)| path.trim_end_matches(".md")).collect();
        let mut folded: Vec<String> = paths.iter().map(|path| path.to_lowercase()).collect();
        folded.sort();
        folded.dedup();
        prop_assert_eq!(folded.len(), sections.len());
        for path in &paths {
            prop_assert!(!path.is_empty() && !path.contains(['/', '\\', '\0', '[', '|', '#', '.', ':']), "{:?}", path);
        }
        for (_, text) in &vault.write {
            let links = text.replace("\\[\\[", "");
            for target in crate::markdown::wiki_links(&links) {
                prop_assert!(paths.contains(&target), "{:?} in {}", target, text);
            }
        }
        // A second export of the same changes nothing.
        let (path, text) = &vault.write[0];
        prop_assert_eq!(crate::vault(&sections, &Folder::of_text(path, text)).same, 1);
    }

    /// Some hexadecimal numbers read as decimal ones, of which `123e456` is infinite.
    #[test]
    fn a_note_that_was_written_is_known_again(id in 0u64..1_000_000) {
        let sections = [(Scope::Location(id), Section::default())];
        let (path, text) = &vault(&sections, &Folder::default()).write[0];
        prop_assert_eq!(vault(&sections, &Folder::of_text(path, text)).same, 1);
        let infinite = text.replace("memories: ", "id: 536607117e452199\nmemories: ");
        prop_assert_eq!(vault(&sections, &Folder::of_text(path, &infinite)).changed.len(), 1);
    }

    #[test]
    fn no_text_closes_the_marks(action in "\\PC{1,20}", reply in "[a-z<>!\\-:` \n]{0,40}", tail in "(<!-- memories: (begin|end) -->\n){0,2}") {
        let tried = vec![Attempt { action, count: 2, reply: format!("{reply}\n{tail}"), ..Attempt::default() }];
        let folder = Scope::Folder(FolderPath::parse("src").unwrap());
        let body = for_agents(&[(folder, Section { tried, ..Section::default() })]);
        let once = with_section(Some("mine\n"), &body).unwrap();
        prop_assert_eq!(with_section(Some(&once), &body).unwrap(), once);
    }
}
