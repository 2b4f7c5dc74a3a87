//! `edit`, with programs of the system as the editor.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::program::{former_text, memories, names, text_of};

const FILE: &str = "\u{feff}## Location 23: Living Room\r\n\r\n**[NOTE] Lamp** *(Ep1, T3)*\r\nIt is here.\r\n\r\n---\r\n\r\n\
## Location 24: Cellar\r\n\r\nIt is dark.\r\n\r\n```\r\ncode\r\n```\r\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), FILE).unwrap();
    folder
}

/// Edits with a script as the editor, whose first argument is the file.
fn edit(folder: &Path, arguments: &[&str], script: &str) -> Output {
    let path = folder.join("editor");
    fs::write(&path, format!("{script}\n")).unwrap();
    let arguments = [&["edit"], arguments].concat();
    let mut command = memories(folder, &arguments);
    command
        .env("EDITOR", format!("/bin/sh '{}'", path.display()))
        .env("PATH", std::env::var("PATH").unwrap());
    let output = command.output().unwrap();
    fs::remove_file(path).unwrap();
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The copies that are left beside the memory file.
fn copies(folder: &Path) -> Vec<String> {
    let beside = names(&folder.join(".memories/Memories.md"));
    beside.into_iter().filter(|name| name.starts_with("edit.")).collect()
}

#[test]
fn an_edit_replaces_the_section_as_a_persons_words_and_can_be_undone() {
    let folder = folder();
    let folder = folder.path();
    let output = edit(folder, &["living room"], "sed -i 's/It is here/It hangs here/' \"$1\"");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "replaced the section of location:23 in Memories.md\n");
    assert_eq!(text_of(folder), FILE.replace("It is here", "It hangs here"));
    assert_eq!(former_text(folder), FILE);
    assert!(copies(folder).is_empty());
    let said = memories(folder, &["log", "-n", "1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("edit → edited"), "{said:?}");
    assert!(memories(folder, &["restore"]).output().unwrap().status.success());
    assert_eq!(text_of(folder), FILE);
}

#[test]
fn an_unchanged_copy_changes_nothing_and_json_says_so() {
    let folder = folder();
    let script = "grep -q 'It is dark' \"$1\" && ! grep -q Lamp \"$1\"";
    let output = edit(folder.path(), &["24", "--json"], script);
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["scope"], &answer["changed"]), (&"location:24".into(), &false.into()));
    assert_eq!(text_of(folder.path()), FILE);
    assert!(copies(folder.path()).is_empty());
}

#[test]
fn the_words_of_a_person_are_kept_where_they_cannot_be_taken_over() {
    let meanwhile = "sed -i 's/here/there/' Memories.md; echo 'A new line.' >> \"$1\"";
    let cases = [
        ("echo mine > \"$1\"", "no longer begins with the heading", "mine"),
        ("printf '```\\n' >> \"$1\"", "is not closed", "```"),
        ("echo mine >> \"$1\"; exit 3", "failed", "mine"),
        (meanwhile, "changed by another program", "A new line."),
        ("printf '\\377' >> \"$1\"", "not UTF-8", ""),
    ];
    for (script, problem, words) in cases {
        let folder = folder();
        let output = edit(folder.path(), &["23"], script);
        let said = stderr(&output);
        assert!(output.status.code() == Some(4) && said.contains(problem), "{script}: {said}");
        let copy = copies(folder.path());
        assert!(copy.len() == 1 && said.contains(&copy[0]), "{script}: {said} {copy:?}");
        let kept = fs::read(folder.path().join(".memories/Memories.md").join(&copy[0])).unwrap();
        assert!(String::from_utf8_lossy(&kept).contains(words), "{script}");
        let expected = if script == meanwhile { FILE.replace("here", "there") } else { FILE.to_owned() };
        assert_eq!(text_of(folder.path()), expected, "{script}");
    }
}

#[test]
fn what_another_program_wrote_into_other_sections_meanwhile_stays() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_memories");
    let script = format!("'{program}' -q add 24 'A rat lives here.'; sed -i 's/It is here/It fell/' \"$1\"");
    let output = edit(folder.path(), &["23"], &script);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = text_of(folder.path());
    assert!(text.contains("It fell.") && text.contains("A rat lives here."), "{text}");
}

#[test]
fn problems_of_the_edit_are_warnings_and_a_wrong_editor_or_scope_is_an_error() {
    let folder = folder();
    let output = edit(folder.path(), &["23"], "sed -i 's/NOTE./NOTE/' \"$1\"");
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("warning: Memories.md:3:"), "{said}");
    let output = edit(folder.path(), &["99"], "true");
    assert!(output.status.code() == Some(4) && stderr(&output).contains("no section of location:99"));
    for (editor, problem) in [("/no/such/editor", "cannot run the editor"), ("'unclosed", "names no editor")]
    {
        let output = memories(folder.path(), &["edit", "23"]).env("VISUAL", editor).output().unwrap();
        let said = stderr(&output);
        assert!(output.status.code() == Some(4) && said.contains(problem), "{said}");
        assert!(said.contains("EDITOR=nano"), "{said}");
    }
    assert!(copies(folder.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn later_edits_tidy_the_copies_of_earlier_ones() {
    let folder = folder();
    let folder = folder.path();
    let beside = folder.join(".memories/Memories.md");
    // The editor kills the program: an unchanged copy is left until the next edit, and one with words of its own stays.
    for script in ["kill -9 $PPID", "echo mine >> \"$1\"; kill -9 $PPID"] {
        assert!(!edit(folder, &["23"], script).status.success());
        assert_eq!(copies(folder).len(), 1, "{script}");
    }
    let output = edit(folder, &["24"], "true");
    let (said, left) = (stderr(&output), copies(folder));
    assert!(output.status.success() && left.len() == 1, "{said} {left:?}");
    assert!(
        said.contains(&left[0]) && said.contains("not stored") && !said.contains("the last of"),
        "{said}"
    );
    assert!(fs::read_to_string(beside.join(&left[0])).unwrap().ends_with("mine\n"));
    // A person's words, as often as they could not be stored: the last ones stay.
    for number in 0..12 {
        let script = format!("sed -i 's/here/h{number}/' Memories.md; echo 'Line {number}.' >> \"$1\"");
        fs::write(folder.join("Memories.md"), FILE).unwrap();
        assert_eq!(edit(folder, &["23"], &script).status.code(), Some(4));
    }
    let output = edit(folder, &["24"], "true");
    let (said, left) = (stderr(&output), copies(folder));
    assert!(left.len() == 10 && said.contains("the last of 10"), "{said} {left:?}");
    let kept =
        |words: &str| left.iter().any(|name| fs::read_to_string(beside.join(name)).unwrap().contains(words));
    assert!(kept("Line 11.") && kept("Line 2.") && !kept("mine"), "{left:?}");
}
