//! Completions at a terminal: what shells fill in, as a person types.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::program::skipped;

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
    session: PtySession,
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
        let session = spawn_command(command, Some(30_000)).unwrap();
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
