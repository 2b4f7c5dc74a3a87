//! The program at a terminal of its own: colours, the pager, completions.

mod shells;

use std::fs;
use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::program::memories;

const FILE: &str = "## Location 23: Living Room\n\n**[DANGER] Grue** *(Ep1, T3)*\nIt lurks.\n";

/// A command of the program at a terminal with these variables.
fn at_terminal(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> PtySession {
    let mut command: Command = memories(folder, arguments);
    command.env("PATH", std::env::var("PATH").unwrap());
    for (name, value) in variables {
        command.env(name, value);
    }
    spawn_command(command, Some(30_000)).unwrap()
}

/// The output of a command at a terminal, until it ends.
fn printed(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut session = at_terminal(folder, arguments, variables);
    let said = session.exp_eof().unwrap();
    let ended = format!("{:?}", session.process().wait().unwrap());
    assert!(ended.starts_with("Exited(") && ended.ends_with(", 0)"), "{arguments:?}: {ended}: {said}");
    said
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Memories.md"), FILE).unwrap();
    folder
}

#[test]
fn long_answers_go_through_the_pager_that_the_environment_names() {
    let folder = folder();
    let pager = [("TERM", "xterm"), ("PAGER", "sed 's/^/page: /'")];
    for arguments in [
        &["list"][..],
        &["show", "23"],
        &["recall", "23"],
        &["query", "grue"],
        &["top"],
        &["stats"],
        &["check"],
        &["--help"],
        &["help", "recall"],
        &[],
    ] {
        let said = printed(folder.path(), arguments, &pager);
        assert!(arguments == ["check"] || said.contains("page: "), "{arguments:?}: {said}");
    }
    for arguments in [
        &["list", "--no-pager"][..],
        &["list", "--json"],
        &["--version"],
        &["episode", "show"],
        &["--help", "--no-pager"],
    ] {
        let said = printed(folder.path(), arguments, &pager);
        assert!(!said.contains("page: "), "{arguments:?}: {said}");
    }
    for variables in [
        &[("TERM", "dumb"), ("PAGER", "sed 's/^/page: /'")][..],
        &[("PAGER", "sed 's/^/page: /'")],
        &[("TERM", "xterm"), ("PAGER", "")],
        &[("TERM", "xterm"), ("PAGER", "cat")],
        &[("TERM", "xterm"), ("PAGER", "no-such-pager -x")],
        &[("TERM", "xterm"), ("PAGER", "'unclosed")],
    ] {
        let said = printed(folder.path(), &["list"], variables);
        assert!(said.contains("Living Room") && !said.contains("page: "), "{variables:?}: {said}");
    }
}

#[test]
fn messages_wait_for_the_pager_and_who_leaves_it_early_sees_no_error() {
    let folder = folder();
    fs::write(folder.path().join("Memories.md"), format!("{FILE}\n## Locaton 5: Attic\n")).unwrap();
    let said = printed(folder.path(), &["list"], &[("TERM", "xterm"), ("PAGER", "sed 's/^/page: /;$aends'")]);
    let (paged, message) = (said.find("ends").unwrap(), said.find("Locaton"));
    assert!(message.is_none_or(|message| message > paged), "{said}");
    let text: String = (0..20_000).map(|id| format!("## Location {id}: Room {id}\n\n---\n\n")).collect();
    fs::write(folder.path().join("Memories.md"), text).unwrap();
    let said = printed(folder.path(), &["list"], &[("TERM", "xterm"), ("PAGER", "head -n 1")]);
    assert!(said.lines().count() < 4 && !said.contains("error"), "{said}");
}

/// A person leaves `less` by its key, and Ctrl-C does not leave it behind.
#[test]
fn less_is_the_usual_pager_and_outlives_an_interrupt() {
    if Command::new("less").arg("--version").output().is_err() {
        return crate::program::skipped("`less` is not here");
    }
    let folder = folder();
    let text: String = (0..400).map(|id| format!("## Location {id}: Room {id}\n\n---\n\n")).collect();
    fs::write(folder.path().join("Memories.md"), text).unwrap();
    let mut session = at_terminal(folder.path(), &["list", "--by", "id"], &[("TERM", "xterm")]);
    session.exp_string("Room 5").unwrap();
    session.send_control('c').unwrap();
    // It rings the bell, and what is typed before that is dropped.
    session.exp_string("\u{7}").unwrap();
    session.send("G").unwrap();
    session.flush().unwrap();
    session.exp_string("Room 399").unwrap();
    session.send("q").unwrap();
    session.flush().unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn answers_have_colours_that_change_no_word() {
    let folder = folder();
    let plain = |arguments: &[&str]| {
        let output = memories(folder.path(), arguments).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    plain(&["add", "23", "The lamp is here."]);
    for arguments in [
        &["list"][..],
        &["recall", "23"],
        &["show", "23"],
        &["diff"],
        &["log"],
        &["stats"],
        &["--help"],
        &["help", "add"],
        &["recal"],
    ] {
        let colored = plain(&[arguments, &["--color", "always"]].concat());
        assert!(colored.contains("\x1b["), "{arguments:?}: {colored}");
        let text = anstream::adapter::strip_str(&colored).to_string();
        assert_eq!(text, plain(&[arguments, &["--color", "never"]].concat()), "{arguments:?}");
    }
    let bare = [("TERM", "xterm"), ("PAGER", "")];
    assert!(printed(folder.path(), &["list"], &bare).contains("\x1b["));
    assert!(!printed(folder.path(), &["list"], &[("TERM", "dumb")]).contains("\x1b["));
    assert!(!printed(folder.path(), &["list"], &[bare[0], bare[1], ("NO_COLOR", "1")]).contains("\x1b["));
}
