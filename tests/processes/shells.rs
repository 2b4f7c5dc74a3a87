//! Completions and pages of the manual, against the real parser and the programs that read them.

#[cfg(feature = "full")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::skipped;

fn memories(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memories"))
        .args(arguments)
        .env_clear()
        .env("COLUMNS", "200")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every command with its long flags, from the parser's own help.
#[cfg(feature = "full")]
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let list = memories(&["help", "all"]);
    let (list, _) = list.split_once("\nOptions:").unwrap();
    // A name takes the first column, of 12 characters.
    let names = list.lines().filter_map(|line| Some(line.strip_prefix("  ")?[..12].trim_end()));
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
    let names: Vec<&str> = names.filter(is_plain).collect();
    assert!(names.len() >= 18 && names.contains(&"map path") && names.contains(&"man"), "{names:?}");
    let flags = |name: &str| {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        long_flags(&memories(&words))
    };
    names.into_iter().map(|name| (name.to_owned(), flags(name))).collect()
}

/// The flags at the beginning of help's lines: `--json` of `  -x, --json  Answer in JSON`.
#[cfg(feature = "full")]
fn long_flags(help: &str) -> BTreeSet<String> {
    let flag = |line: &str| {
        let line = line.trim_start();
        let line = line.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(line, |(_, long)| long);
        let name = line.strip_prefix("--")?;
        let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let end = name.find(|c| !in_name(c)).unwrap_or(name.len());
        Some(name[..end].to_owned())
    };
    help.lines().filter_map(flag).collect()
}

/// Lets a program of the system read a text from a file; `None` where there is no such program.
fn read_by(program: &str, arguments: &[&str], text: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, text).unwrap();
    let output = Command::new(program).args(arguments).arg(&path).env("LC_ALL", "C.UTF-8").output();
    if output.is_err() {
        eprintln!("`{program}` is not here: skipped");
    }
    output.ok()
}

/// The answer to fish, which needs no variable but one, for a line whose last word is completed.
fn candidates(words: &[&str]) -> Vec<String> {
    let line = [&["--", "memories"], words].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_memories"))
        .args(line)
        .env_clear()
        .env("MEMORIES_COMPLETE", "fish")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[cfg(feature = "full")]
#[test]
fn completions_know_every_command_and_flag() {
    let known = candidates(&[""]);
    for (name, flags) in commands() {
        let words: Vec<&str> = name.split(' ').collect();
        assert!(known.contains(&words[0].to_owned()), "`{name}`");
        let known = candidates(&[&words[..], &["--"]].concat());
        for flag in flags {
            assert!(known.contains(&format!("--{flag}")), "`{name} --{flag}`: {known:?}");
        }
    }
}

/// The values that help lists, by command and flag.
#[test]
fn completions_know_the_values_of_flags() {
    let exported =
        &["json", "jsonl", "sqlite", "markdown", "world-info", "obsidian", "agents-md", "codex"][..];
    for (words, expected) in [
        (&["recall", "23", "--format", ""][..], &["text", "markdown", "xml"][..]),
        (&["map", "--format", ""], &["mermaid", "dot", "json", "svg"]),
        (&["export", "--format", ""], exported),
        (&["seed", "--format", ""], &["toml", "yaml", "json"]),
        (&["import", "--on-conflict", ""], &["refuse", "skip", "revise"]),
        (&["list", "--by", ""], &["visit", "id", "name"]),
        (&["add", "--category", "DAN"], &["DANGER"]),
        (&["add", "--category", "dan"], &["DANGER"]),
        (&["query", "x", "--status", ""], &["active", "tentative", "superseded"]),
        (&["mark", "--persistence", ""], &["core", "permanent", "ephemeral"]),
        (&["--color", ""], &["auto", "always", "never"]),
        (&["completions", ""], &["bash", "elvish", "fish", "powershell", "zsh"]),
        (&["record", "--provider", "off"], &["offline"]),
        (&["log", "--outcome", "s"], &["stored", "superseded", "seeded", "synced"]),
        (&["episode", ""], &["start", "show", "best", "rewind"]),
    ] {
        let known = candidates(words);
        let values: Vec<&str> =
            known.iter().map(String::as_str).filter(|value| !value.starts_with('-')).collect();
        assert_eq!(values, expected, "{words:?}");
    }
}

#[test]
fn a_wrong_question_of_a_shell_is_an_error_and_a_missing_file_none() {
    let ask = |shell: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memories"));
        command.args(["--", "memories", "-f", "/nowhere/Memories.md", "show", ""]).env_clear();
        command.env("MEMORIES_COMPLETE", shell).output().unwrap()
    };
    let wrong = ask("tcsh");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("bash, elvish, fish"), "{wrong:?}");
    let nothing = ask("fish");
    assert!(nothing.status.success() && nothing.stderr.is_empty(), "{nothing:?}");
}

#[test]
fn shells_accept_their_completions() {
    for (shell, arguments) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if let Some(output) = read_by(shell, &[arguments], &memories(&["completions", shell])) {
            assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The shells themselves, at a terminal: a line with a tab in it is typed, and the command runs with what was completed.
#[test]
fn shells_complete_values_places_and_titles_at_a_terminal() {
    let registrations = [
        ("bash", vec!["--noprofile", "--norc", "-i"], "source <(memories completions bash)"),
        ("zsh", vec!["-f", "-i"], "autoload -U compinit; compinit -u -D; source <(memories completions zsh)"),
        ("fish", vec!["--no-config", "-i"], "memories completions fish | source"),
    ];
    for (shell, arguments, registration) in registrations {
        if Command::new(shell).arg("-c").arg("true").output().is_err() {
            skipped(&format!("`{shell}` is not here"));
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Memories.md"), WORLD).unwrap();
        let mut session = AtTerminal::start(shell, &arguments, folder.path());
        session.type_line(registration);
        for (typed, expected) in [
            // A place by its name, which has a space, and by its id; a scope behind a colon, at which bash splits words.
            ("memories show Liv\t | grep -c lantern | sed s/^/count:/", "count:3"),
            ("memories show 2\t | grep -c lantern | sed s/^/count:/", "count:3"),
            ("memories show npc:m\t | grep -c tea | sed s/^/count:/", "count:1"),
            // The value of a flag.
            ("memories recall 23 --format xm\t | grep -c '<memory scope' | sed s/^/count:/", "count:1"),
            // The title of another scope.
            ("memories link 23 --in npc:marta --dry-run Bra\t Te\t", "would be linked \"Tea\""),
            // A title, quoted whatever it holds, so that the shell runs nothing of it.
            ("memories mark 23 Bra\t --importance 700", "marked \"Brass lantern\""),
            ("memories mark 23 Tro\t --importance 700", "marked \"Troll's `axe`: \"big\"\""),
            ("memories mark 23 Wa\t --importance 700", "marked \"Wait; $(touch pwned) & * > x\""),
        ] {
            session.expect(typed, expected);
        }
        let names: BTreeSet<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [".memories", "Memories.md"].map(Into::into).into(), "{shell}");
        // It ignores the signal with which the terminal would end it.
        session.session.send_line("exit").unwrap();
        session.session.exp_eof().unwrap();
    }
}

/// Titles that a shell would run or take apart.
const WORLD: &str = "\
## Location 23: Living Room

**[NOTE] Brass lantern**
The lantern hangs here. A lantern is light.
It is a lantern.

**[NOTE] Troll's `axe`: \"big\"**
It hurts.

**[NOTE] Wait; $(touch pwned) & \\* \\> x**
No word.

---

## NPC marta

**[NOTE] Tea**
She likes tea.
";

/// An interactive shell at a terminal of its own.
struct AtTerminal {
    shell: String,
    session: rexpect::session::PtySession,
    lines: usize,
}

impl AtTerminal {
    fn start(shell: &str, arguments: &[&str], folder: &Path) -> AtTerminal {
        let program = Path::new(env!("CARGO_BIN_EXE_memories")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell);
        command.args(arguments).current_dir(folder).env_clear().env("PATH", path).env("HOME", folder);
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env("XDG_DATA_HOME", folder.join(".memories"));
        command.env("XDG_CONFIG_HOME", folder.join(".memories")).env("HISTFILE", "/dev/null");
        let session = rexpect::session::spawn_command(command, Some(30_000)).unwrap();
        AtTerminal { shell: shell.to_owned(), session, lines: 0 }
    }

    /// Types a line, and waits until the shell has run it.
    fn type_line(&mut self, line: &str) {
        self.lines += 1;
        // The shell shows what is typed, and only its answer has the number in one piece.
        self.session.send_line(&format!("{line}; echo 'done ''{}'", self.lines)).unwrap();
        self.session.exp_string(&format!("done {}", self.lines)).unwrap();
    }

    fn expect(&mut self, line: &str, expected: &str) {
        self.lines += 1;
        let end = format!("done {}", self.lines);
        self.session.send_line(&format!("{line}; echo 'done ''{}'", self.lines)).unwrap();
        let said =
            self.session.exp_string(&end).unwrap_or_else(|error| panic!("{}: {line:?}: {error}", self.shell));
        assert!(said.contains(expected), "{}: {line:?}: {said:?}", self.shell);
    }
}

#[cfg(feature = "full")]
#[test]
fn the_manual_has_a_page_for_every_command_and_flag() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let pages = pages.to_str().unwrap();
    let told = memories(&["man", pages]);
    let page_of = |name: &str| fs::read_to_string(Path::new(pages).join(name)).unwrap();
    let main = page_of("memories.1");
    assert_eq!(main, memories(&["man"]));
    for (name, flags) in commands() {
        let page = page_of(&format!("memories-{}.1", name.replace(' ', "-")));
        let first = name.split(' ').next().unwrap();
        assert!(main.contains(&format!("memories\\-{first}(1)")), "the main page does not name `{name}`");
        for flag in flags {
            let written = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&written), "the page of `{name}` does not know --{flag}");
        }
    }
    assert_eq!(told.lines().count(), fs::read_dir(pages).unwrap().count());
    assert!(told.contains("memories-episode-start.1"));
    assert!(memories(&["man", pages]).lines().all(|line| line.starts_with("kept ")));
    fs::write(Path::new(pages).join("memories.1"), "of an older version").unwrap();
    let replaced = memories(&["man", pages, "--force"]);
    assert_eq!(replaced.lines().filter(|line| line.starts_with("wrote ")).count(), 1);
    assert_eq!(page_of("memories.1"), main);
}

#[test]
fn the_manual_is_read_without_complaint() {
    let folder = tempfile::tempdir().unwrap();
    memories(&["man", folder.path().to_str().unwrap()]);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let Some(output) = read_by("groff", &["-k", "-man", "-Tutf8", "-ww", "-b"], &text) else { return };
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaints: Vec<&str> =
            complaints.lines().filter(|line| line.contains("warning") || line.contains("error")).collect();
        assert!(output.status.success() && complaints.is_empty(), "{complaints:#?}");
    }
}
