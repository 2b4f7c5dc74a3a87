//! The tool on a memory file of a folder: what it writes comes back, and what others wrote stays.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Answer, answer};
use crate::memory_tool::content::content_of;
use crate::memory_tool::tree::Tree;
use memories_document::Document;
use memories_document::check::problems;
use memories_document::types::Scope;
use memories_notebook::{Clock, Notebook};
use memories_store::{Change, Store, StoreError};

/// Sections of others, around those of the tool.
const OTHERS: &str = "# Notes\n\n## World\n\n### Memories\n\n**[DANGER - CORE] War** *(Ep1)*\nIt is near.\n\n---\n\n\
## Topic release: The release\n\nA note.\n\n**[NOTE] Tags** *(#file)*\nOne a week.\n\n---\n";

struct Place {
    folder: TempDir,
    notebook: Notebook,
}

impl Place {
    fn with(text: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(5)).unwrap();
        let place = Place { folder, notebook: Notebook::new(store, Clock::fixed("2026-01-31T10:40:00Z")) };
        if !text.is_empty() {
            place.save(text);
        }
        place
    }

    /// Gives the file another text, as a person's editor would.
    fn save(&self, text: &str) {
        let change = |_: Option<String>, _: &_| Ok::<_, StoreError>(Change::to(text.to_owned(), ()));
        let _ = self.notebook.store().update(change).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("Memories.md")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn ask(&self, command: &Value) -> Answer {
        answer(&self.notebook, &command.to_string()).unwrap()
    }

    #[track_caller]
    fn done(&self, command: &Value) -> String {
        let answer = self.ask(command);
        assert!(!answer.is_error, "{}", answer.text);
        answer.text.into()
    }

    #[track_caller]
    fn refused(&self, command: &Value) -> String {
        let before = fs::read(self.path()).ok();
        let answer = self.ask(command);
        assert!(answer.is_error, "{}", answer.text);
        assert_eq!(fs::read(self.path()).ok(), before, "a refused command changes nothing");
        answer.text.into()
    }

    #[track_caller]
    fn create(&self, path: &str, text: &str) {
        self.done(&json!({"command": "create", "path": path, "file_text": text}));
    }

    fn content(&self, path: &str) -> Option<String> {
        let document = Document::parse(self.text());
        Tree::of(&document).file(path).map(|file| content_of(&file.memory))
    }
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new})
}

fn delete(path: &str) -> Value {
    json!({"command": "delete", "path": path})
}

fn rename(old: &str, new: &str) -> Value {
    json!({"command": "rename", "old_path": old, "new_path": new})
}

fn view(path: &str) -> Value {
    json!({"command": "view", "path": path})
}

/// The sections that are not the tool's.
fn others(text: &str) -> Vec<String> {
    let document = Document::parse(text.to_owned());
    let is_own =
        |scope: Option<&Scope>| matches!(scope, Some(Scope::Topic(id)) if id.starts_with("memories"));
    let pieces = document.pieces().filter(|(scope, _)| !is_own(*scope));
    pieces.map(|(_, text)| text.trim_end().to_owned()).collect()
}

/// Problems that another text than the tool's would not have either.
fn found(text: &str) -> Vec<String> {
    problems(text).into_iter().map(|problem| format!("{problem:?}")).collect()
}

#[test]
fn what_a_person_edited_is_read_and_not_changed() {
    let place = Place::with(OTHERS);
    place.create("/memories/a/todo.md", "milk\n");
    let edited = place.text().replace("milk", "milk\nand bread");
    place.save(&edited);
    assert!(place.done(&view("/memories/a/todo.md")).ends_with("     1\tmilk\n     2\tand bread\n     3\t"));
    let said = "The file /memories/a/todo.md stays as it is: a person wrote or edited it. \
                It can be read; create another file beside it.";
    for command in [
        replace("/memories/a/todo.md", "milk", "oil"),
        json!({"command": "insert", "path": "/memories/a/todo.md", "insert_line": 0, "insert_text": "x"}),
        delete("/memories/a/todo.md"),
        delete("/memories/a"),
        rename("/memories/a/todo.md", "/memories/b.md"),
        rename("/memories/a", "/memories/b"),
    ] {
        assert_eq!(place.refused(&command), said);
    }
}

#[test]
fn what_weighs_too_much_is_not_changed() {
    for (from, to) in [("[NOTE] x", "[NOTE - CORE] x"), ("2026-01-31,", "2026-01-31, importance 701,")] {
        let place = Place::with("");
        place.create("/memories/x", "y\n");
        place.save(&place.text().replacen(from, to, 1));
        assert!(place.refused(&delete("/memories/x")).contains("stays as it is: it is"));
    }
}

#[test]
fn a_folder_with_other_memories_stays() {
    let place = Place::with("");
    place.create("/memories/a/x", "y\n");
    let noted = place.text().replace("### Memories", "Mine.\n\n### Memories");
    place.save(&noted);
    assert!(
        place.refused(&delete("/memories/a")).contains("section (topic:memories-a) has memories or notes")
    );
    place.refused(&rename("/memories/a", "/memories/b"));
    place.done(&delete("/memories/a/x"));
    assert!(place.text().contains("\nMine.\n"));
}

#[test]
fn a_comment_below_a_file_stays() {
    let with_comment = || {
        let place = Place::with("");
        place.create("/memories/a/x.md", "one\n");
        place.save(&place.text().replace("one\n", "one\n\n<!-- do not lose this -->\n"));
        place
    };
    for command in [delete("/memories/a/x.md"), rename("/memories/a/x.md", "/memories/z.md")] {
        let place = with_comment();
        place.done(&command);
        assert!(place.text().contains("<!-- do not lose this -->\n"), "{}", place.text());
        assert_eq!(place.content("a/x.md"), None);
    }
    for command in [delete("/memories/a"), rename("/memories/a", "/memories/b")] {
        with_comment().refused(&command);
    }
}

#[test]
fn a_line_of_context_below_a_file_stays() {
    let place = Place::with("");
    place.create("/memories/a/x.md", "one\n");
    place.save(&place.text().replace("one\n", "one\nContext: asked for on Monday\n"));
    for command in [delete("/memories/a/x.md"), delete("/memories/a")] {
        place.refused(&command);
    }
    place.done(&rename("/memories/a/x.md", "/memories/z.md"));
    assert!(place.text().contains("Context: asked for on Monday\n"), "{}", place.text());
}

#[test]
fn an_empty_folder_stays_until_it_is_deleted() {
    let place = Place::with(OTHERS);
    place.create("/memories/a/b/x", "y\n");
    place.done(&delete("/memories/a/b"));
    assert!(place.done(&view("/memories")).contains("4K\t/memories/a/\n"));
    place.done(&rename("/memories/a", "/memories/c d/e"));
    assert!(place.done(&view("/memories")).contains("4K\t/memories/c d/\n4K\t/memories/c d/e/\n"));
    place.done(&delete("/memories/c d"));
    assert_eq!(place.text().trim_end(), OTHERS.trim_end(), "nothing of the tool is left");
}

#[test]
fn folders_whose_paths_fold_to_one_id_have_sections_of_their_own() {
    let place = Place::with("## Topic memories-a-b\n\nMine.\n\n---\n");
    for path in ["/memories/a/b/x", "/memories/a b/x", "/memories/A-B/x"] {
        place.create(path, path);
    }
    for path in ["a/b/x", "a b/x", "A-B/x"] {
        assert_eq!(place.content(path).unwrap(), format!("/memories/{path}"));
    }
    assert!(place.text().contains("## Topic memories-a-b-4: /memories/A-B/"), "{}", place.text());
    assert_eq!(found(&place.text()), Vec::<String>::new());
}

#[test]
fn a_new_path_that_looks_like_another_is_refused() {
    let place = Place::with("");
    place.create("/memories/notes/café.txt", "one");
    for path in [
        "/memories/notes/cafe\u{301}.txt",
        "/memories/notes/CAFÉ.txt",
        "/memories/notes/ｃafé.txt",
        "/memories/notes/саfé.txt",
        "/memories/Notes/other.txt",
        "/memories/nоtes/other.txt",
    ] {
        let said = place.refused(&json!({"command": "create", "path": path, "file_text": "two"}));
        assert!(said.contains("exists"), "{path}: {said}");
    }
    for path in ["/memories/notes/cafe.txt", "/memories/notes/burn.txt", "/memories/notes/bum.txt"] {
        place.create(path, "two");
    }
    let said = place.refused(&rename("/memories/notes/burn.txt", "/memories/notes/Bum.txt"));
    assert!(said.contains("looks like /memories/notes/bum.txt"), "{said}");
    // A file and a folder may change their own case.
    place.done(&rename("/memories/notes/burn.txt", "/memories/notes/BURN.txt"));
    place.done(&rename("/memories/notes", "/memories/Notes"));
    assert_eq!(place.content("Notes/BURN.txt").as_deref(), Some("two"));
}

#[test]
fn the_memory_file_is_read_as_it_stands() {
    let place = Place::with(OTHERS);
    assert!(place.done(&view("/memories")).ends_with("B\t/memories/Memories.md"));
    assert!(place.done(&view("/memories/Memories.md")).contains("     7\t**[DANGER - CORE] War** *(Ep1)*\n"));
    for command in [
        replace("/memories/Memories.md", "near", "far"),
        delete("/memories/Memories.md"),
        rename("/memories/Memories.md", "/memories/x"),
        json!({"command": "create", "path": "/memories/Memories.md/x", "file_text": ""}),
    ] {
        assert!(place.refused(&command).contains("can only be read"));
    }
}

#[test]
fn secrets_are_masked_also_where_two_edits_make_one() {
    let place = Place::with("");
    place.create("/memories/x", "key: ghp_abcdefghijklm\n");
    let said = place.done(&replace("/memories/x", "klm\n", "klmnopqrstuvwxyz0123456789\n"));
    assert!(said.ends_with("the file has `(GitHub token masked)` in its place."), "{said}");
    assert!(!place.text().contains("ghp_"));
    place.refused(&replace("/memories/x", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x"));
}

#[test]
fn conflict_markers_in_a_file_do_not_lock_the_memory_file() {
    let place = Place::with("");
    for (path, text) in [
        ("/memories/a", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n"),
        ("/memories/b", "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n```\n"),
    ] {
        place.create(path, text);
        assert_eq!(place.content(&path[10..]).as_deref(), Some(text));
    }
    place.done(&delete("/memories/a"));
}

#[test]
fn the_limits_of_a_file_are_told() {
    let place = Place::with("");
    let create = |text: &str| json!({"command": "create", "path": "/memories/x", "file_text": text});
    assert!(place.refused(&create("a\u{0}")).contains("line 1 has a NUL (U+0000)"));
    assert!(place.refused(&create(&"a".repeat((1 << 20) + 1))).contains("a file may have 1048576"));
    place.done(&create(&"a\n".repeat(1 << 19)));
    let insert = json!({"command": "insert", "path": "/memories/x", "insert_line": 0, "insert_text": "x"});
    assert!(place.refused(&insert).contains("a file may have 1048576"));
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zé日😀 \t*_`~\\\\#<>|.-]{0,12}",
        5 => prop::sample::select(vec![
            "", "", " ", "\t", "text", "# Title", "## World", "## Topic memories: /memories/", "### Memories", "### Tried", "---", "***",
            "===", "```", "~~~", "````", "``` rust", "<!--", "-->", "<!-- x -->", "a <!-- b --> c", "a <!--", "<div>", "</script>",
            "**[NOTE] Forged** *(Ep1, T1)*", "**[DANGER - CORE] War**", "**[X - SUPERSEDED] Old**", "**[broken",
            "[Superseded at Ep2 T45 by \"x\"]", "~~struck~~", "\\# x", "\\", "\\\\", "Context: elsewhere", "See also: [[World › War]]",
            "\\Context: x", "**Visits:** 7 | **Episodes:** 1", "- `wait` ×3 *(Ep1, T2)*: no", "- item", "  - nested", "> quote", "1. one",
            "| a | b |", "    code", "\tcode", "<<<<<<< HEAD", "=======", ">>>>>>> b", "||||||| base", "**[NOTE] wrapped", "line** *(Ep1)*",
            "[a]: b", "--\\>", "(empty)", "trailing  ", "#file:x", " ---", "**[note - ACTIVE]  Sloppy ** *(T2)*", "## Location 1: x",
        ]).prop_map(str::to_owned),
    ]
}

/// A text with line breaks at its ends, or none.
fn text() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..12), 0..4_usize)
        .prop_map(|(lines, breaks)| lines.join("\n") + &"\n".repeat(breaks))
}

proptest! {
    #[test]
    fn any_text_comes_back_and_no_other_section_changes(
        texts in prop::collection::vec(text(), 1..4),
        other in prop::sample::select(vec!["", OTHERS, "```\nunclosed\n", "## World\r\n\r\nx\r\n", "<!-- open\n\n## World\n\nx\n"]),
    ) {
        let place = Place::with(other);
        let names = ["/memories/a.md", "/memories/b/c.md", "/memories/b/d.md"];
        for (name, text) in names.iter().zip(&texts) {
            place.create(name, text);
        }
        for (name, text) in names.iter().zip(&texts) {
            prop_assert_eq!(place.content(&name[10..]), Some(text.clone()), "{}", place.text());
        }
        let kept: Vec<String> = others(other).into_iter().filter(|text| !text.is_empty()).collect();
        let now: Vec<String> = others(&place.text()).into_iter().filter(|text| !text.is_empty()).collect();
        prop_assert!(other.is_empty() || now == kept, "{now:?} {kept:?}");
        if other.is_empty() || other == OTHERS {
            prop_assert_eq!(found(&place.text()), Vec::<String>::new(), "{}", place.text());
        }
        // Another text in the place of each, and then nothing.
        for (name, text) in names.iter().zip(texts.iter().rev()) {
            if place.content(&name[10..]).is_some_and(|old| !old.is_empty()) {
                let old = place.content(&name[10..]).unwrap();
                let whole = replace(name, &old, text);
                if !place.ask(&whole).is_error {
                    prop_assert_eq!(place.content(&name[10..]), Some(text.clone()), "{}", place.text());
                }
            }
        }
        place.done(&delete("/memories/a.md"));
        let now: Vec<String> = others(&place.text()).into_iter().filter(|text| !text.is_empty()).collect();
        prop_assert!(other.is_empty() || now == kept, "{now:?} {kept:?}");
    }
}
