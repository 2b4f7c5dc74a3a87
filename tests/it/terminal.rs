//! No command prints a character that a terminal obeys or a reader does not see, wherever it comes from.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{memories, skipped, with_input};

/// Sets the clipboard, colours by C1, reverses, hides, ends a line for some readers; tags; DEL.
const HOSTILE: &str =
    "\x1b]52;c;aGFja2Vk\x07\u{9b}31m\u{202e}gnp\u{2066}\u{200b}x\u{feff}\u{2028}y\u{85}\x0c\u{e0041}\x7f";

/// True for the characters of [`HOSTILE`] and all like them.
fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// A memory file with the hostile text in every place that a command prints, as a person may have cloned it.
fn write_files(folder: &Path) {
    // A `]` would end the name of a way's end.
    let name = HOSTILE.replace(']', "");
    let file = format!(
        "# Location Memories\n\n## Location 5: Hall{HOSTILE}\n**Visits:** 2 | **Episodes:** 1\n\nNote {HOSTILE}\n\n\
         ### Memories\n\n**[DANGER] Pit {HOSTILE}** *(Ep1, T3, +5, source:x{HOSTILE}, #t{HOSTILE})*\nIt {HOSTILE} is deep.\n\
         See also: [[World › Big {HOSTILE}]]\nContext: {HOSTILE}\n\n**[NOTE] Broken {HOSTILE}\n\n\
         ### Ways\n\n- `n` → [Cave{name}](#location-6-cave) *(Ep1, T4)*\n\n\
         ### Tried\n\n- `take {HOSTILE}` ×2 *(Ep1, T5)*: No {HOSTILE}.\n- `eat`: x {HOSTILE}\n\n---\n\n\
         ## Location 6: Cave{name}\n**Visits:** 1\n\n---\n\n\
         ## World\n\n**[EVENT] Big {HOSTILE}** *(Ep1)*\nBang {HOSTILE}.\n"
    );
    fs::write(folder.join("Memories.md"), &file).unwrap();
    let backups = folder.join(".memories/Memories.md/backups");
    fs::create_dir_all(&backups).unwrap();
    fs::write(backups.join("1.md"), file.replace("deep", "flat").replace("Bang", "Bong")).unwrap();
    fs::write(folder.join("memories.toml"), "\"x\\u001b]52;c;\\u0007\\u202e\" = 1\n").unwrap();
    fs::write(
        folder.join("bad.json"),
        format!("[{{\"x{}\": 1, \"title\": [\"{}\"]}}]", "\\u001b]52", "\\u202e"),
    )
    .unwrap();
    fs::write(folder.join("raw.json"), format!("[{{\"title\": {HOSTILE}}}]")).unwrap();
}

fn run(folder: &Path, arguments: &[&str], input: &str) -> Output {
    with_input(&mut memories(folder, arguments), input)
}

#[track_caller]
fn assert_visible(bytes: &[u8], arguments: &[&str]) {
    let text = std::str::from_utf8(bytes).unwrap();
    if let Some(c) = text.chars().find(|&c| is_obeyed(c)) {
        panic!("{arguments:?} prints {c:?}:\n{}", text.escape_debug());
    }
}

#[test]
fn no_command_prints_what_a_terminal_obeys() {
    let hall = &format!("Hall{HOSTILE}");
    let pit = &format!("Pit {HOSTILE}");
    let turn = r#"{"location": {"id": 5, "name": "H\u001b]52\u202e"}, "action": "x\u009b", "response": "y", "z\u001b": 1}"#;
    // Arguments, and a part of what they print that shows that the hostile text was met.
    let commands: &[(&[&str], &str)] = &[
        (&["recall", "5"], "deep"),
        (&["recall", "5", "--format", "markdown"], "deep"),
        (&["recall", "5", "--format", "xml"], "deep"),
        (&["recall", "5", "6", "world", "--brief"], "deep"),
        (&["recall", hall], "deep"),
        (&["recall", "Nowhere\x1b]52"], "no place"),
        (&["show", "5"], "deep"),
        (&["show", "--all"], "deep"),
        (&["query", "pit deep", "--explain"], "deep"),
        (&["query", "pit deep", "--color", "never"], "deep"),
        (&["top"], "deep"),
        (&["list"], "Hall"),
        (&["stats"], "Hall"),
        (&["check"], "U+001B"),
        (&["check", "--fix", "--dry-run"], "Pit"),
        (&["fmt", "--check"], "Pit"),
        (&["diff"], "deep"),
        (&["tried", "5", "eat"], "x "),
        (&["path", "6", "5"], ""),
        (&["path", "5", "6"], "n"),
        (&["near", "5"], "Cave"),
        (&["frontier", "5"], "Cave"),
        (&["map"], "Cave"),
        (&["map", "--format", "dot"], "Cave"),
        (&["map", "--format", "svg"], "Cave"),
        (&["record", "--json"], "version"),
        (&["record"], "warning"),
        (&["log"], ""),
        (&["import", "bad.json"], "`title` is"),
        (&["import", "raw.json"], "raw.json"),
        (&["seed", "bad.json"], "bad.json"),
        (&["add", "5", "--title", pit, "--text", HOSTILE], "Pit"),
        (&["invalidate", "5", pit, "--reason", HOSTILE, "--dry-run"], ""),
        (&["forget", "5", "no \x1b]52", "--dry-run"], "no "),
        (&["recall", "\x1b]52;c;\x07", "--nothing\x1b"], "error"),
        (&["\x1b]52"], "error"),
        (&["-f", "no\x1b]52\u{202e}.md", "check"], "no"),
        (&["rename", "6", HOSTILE], ""),
        (&["restore", "--list"], ""),
    ];
    for (arguments, expected) in commands {
        for json in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            write_files(folder.path());
            let mut arguments = arguments.to_vec();
            if json && !arguments.contains(&"--json") {
                arguments.push("--json");
            }
            let output = run(folder.path(), &arguments, turn);
            assert_visible(&output.stdout, &arguments);
            assert_visible(&output.stderr, &arguments);
            let all = [output.stdout, output.stderr].concat();
            let all = String::from_utf8(all).unwrap();
            assert!(json || all.contains(expected), "{arguments:?} prints no {expected}:\n{all}");
            assert_ne!(output.status.code(), Some(70), "{arguments:?}");
        }
    }
}

#[test]
fn programs_get_the_bytes_and_json_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let exported = run(folder.path(), &["export", "-", "--format", "jsonl"], "").stdout;
    let exported = String::from_utf8(exported).unwrap();
    assert!(exported.contains('\u{202e}') && !exported.contains("\\\\u{"), "{exported}");
    let request = format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"a {}\"}}]}}", '\u{202e}');
    assert_eq!(run(folder.path(), &["inject"], &request).stdout, request.as_bytes());
    let shown = run(folder.path(), &["show", "5", "--json"], "").stdout;
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(shown["memories"][0]["title"], format!("Pit {HOSTILE}"));
    let text = "Sign: →\u{202e} north → south.";
    run(folder.path(), &["add", "5", text, "--title", "Sign"], "");
    let logged = run(folder.path(), &["log", "-n", "1", "--json", "--color", "always"], "").stdout;
    let logged: serde_json::Value = serde_json::from_slice(&logged).unwrap();
    assert_eq!(logged["memories"][0]["text"], text);
}

#[test]
fn colours_are_our_own() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let output = run(folder.path(), &["query", "deep pit", "--color", "always"], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\x1b[1m\x1b[4mdeep\x1b[0m"), "{text}");
    let plain = text.replace("\x1b[1m\x1b[4m", "").replace("\x1b[0m", "");
    assert_visible(plain.as_bytes(), &["query"]);
}

#[test]
fn a_terminal_gets_nothing_to_obey_either() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    for command in ["recall 5", "export - --format jsonl"] {
        let line = format!("{} {command} --color never", env!("CARGO_BIN_EXE_memories"));
        let mut script = Command::new("script");
        script.env("TERM", "dumb");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::null());
        let output = match script.output() {
            Ok(output) if output.status.success() => output,
            _ => return skipped("no `script` of util-linux gives a terminal"),
        };
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("deep") && text.contains("\\u{1b}"), "{text}");
        assert_visible(text.replace("\r\n", "\n").as_bytes(), &[command]);
    }
}
