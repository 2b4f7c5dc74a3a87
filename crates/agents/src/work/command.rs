//! A command line as an action: which command lines are the same.
//!
//! A command line enters. Its *wording* leaves, which is the same only for command lines that differ in what cannot
//! change what they do, such as spaces and quotes; and its *action*, which is the same also where the order of flags,
//! redirections, names of temporary files, hashes and line numbers differ.

use xxhash_rust::xxh3::xxh3_64;

use crate::work::effect::{asks_elsewhere, may_change, names_elsewhere, only_shows};
use crate::work::fold::folded;
use crate::work::program::{arguments, program_of, unwrapped};
use crate::work::shell::{Operator, Simple, Word, split};
use memories_document::types::text::{composed, fold_spaces};

/// Programs behind a pipe that only choose what is shown.
const FILTERS: [&str; 12] =
    ["cat", "column", "cut", "fmt", "fold", "head", "less", "more", "nl", "sort", "tail", "tee"];

/// Programs that change the shell in which the commands behind them run.
const PREPARING: [&str; 14] = [
    ".", "alias", "cd", "conda", "direnv", "eval", "export", "module", "nvm", "popd", "pushd", "pyenv",
    "set", "source",
];

/// Programs whose exit code 1 is an answer.
const ANSWERS: [&str; 14] = [
    "[", "cmp", "command", "diff", "egrep", "fgrep", "git-diff", "grep", "pgrep", "rg", "test", "type",
    "which", "zgrep",
];

/// A command line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// The folder to which it changes first, as it is written.
    pub folder: Option<String>,
    /// Equal for command lines that do exactly the same.
    pub wording: u64,
    /// Equal for command lines that differ only in what is another each time.
    pub action: u64,
    /// The actions of the commands of a list of `&&`, where there are several, up to one that prepares the shell for
    /// those behind it.
    pub parts: Vec<u64>,
    /// True if the exit code says nothing of it.
    pub hides_code: bool,
    /// True if its exit code 1 is an answer.
    pub answers: bool,
    /// True if others may find something changed by it.
    pub may_change: bool,
    /// True if it does nothing but show something.
    pub only_shows: bool,
    /// True if another machine or a daemon decides how it ends.
    pub asks_elsewhere: bool,
    /// The words that may name files.
    pub arguments: Vec<String>,
    /// The plain words, without `cd`, by which commands are compared.
    pub words: Vec<String>,
}

impl Command {
    /// Reads a command line.
    pub(crate) fn read(text: &str) -> Command {
        match split(text).map(without_start) {
            Some((folder, commands)) if !commands.is_empty() => Command::of(folder, commands),
            _ => Command::opaque(text),
        }
    }

    /// A command line that is not understood is its own text.
    fn opaque(text: &str) -> Command {
        // White space may be the indentation of a here-document.
        let wording = key(text.trim());
        let asks_elsewhere = names_elsewhere(text);
        let text = fold_spaces(text);
        Command {
            folder: None,
            wording,
            action: key(&text),
            parts: Vec::new(),
            hides_code: false,
            answers: false,
            may_change: true,
            only_shows: false,
            asks_elsewhere,
            arguments: Vec::new(),
            words: text.split(' ').map(str::to_owned).collect(),
        }
    }

    fn of(folder: Option<String>, commands: Vec<(Simple, Operator)>) -> Command {
        let keeps_code = commands.iter().any(|(command, _)| sets_pipefail(command));
        let before = commands.len();
        let wording = wording(&commands);
        let may_change = commands.iter().any(|(command, _)| !sets_pipefail(command) && may_change(command));
        let asks_elsewhere = commands.iter().any(|(command, _)| asks_elsewhere(command));
        let mut commands = without_filters(commands, |_| true);
        let is_filtered = commands.len() < before && !keeps_code;
        commands.retain(|(command, _)| !sets_pipefail(command));
        if commands.is_empty() {
            return Command::opaque("set -o pipefail");
        }
        let is_list =
            |operator: Operator| commands[..commands.len() - 1].iter().all(|(_, own)| *own == operator);
        let each = commands.iter().map(|(command, operator)| format!("{} {operator:?}", canonical(command)));
        let action = each.collect::<Vec<_>>().join(" ");
        let part = |command: &Simple| key(&format!("{} End", canonical(command)));
        let is_in_background = commands.iter().any(|(command, _)| command.is_in_background);
        let last = commands.last().map(|(command, _)| program_of(command)).unwrap_or_default();
        let parts = if is_list(Operator::And) && commands.len() > 1 {
            let alone = commands.iter().take_while(|(command, _)| !prepares(command));
            alone.map(|(command, _)| part(command)).collect()
        } else {
            Vec::new()
        };
        let plain =
            || commands.iter().flat_map(|(command, _)| arguments(command)).map(|word| word.plain.clone());
        let inputs = commands.iter().flat_map(|(command, _)| command.inputs.iter().cloned());
        Command {
            folder,
            wording: key(&wording),
            action: key(&action),
            parts,
            hides_code: is_filtered
                || is_in_background
                || !is_list(Operator::And) && !is_list(Operator::Pipe),
            answers: ANSWERS.contains(&last) || last == "git" && plain().any(|word| word == "diff"),
            may_change,
            only_shows: commands.iter().all(|(command, _)| only_shows(command)),
            asks_elsewhere,
            arguments: plain().filter(|word| !word.starts_with('-')).chain(inputs).collect(),
            words: plain().collect(),
        }
    }
}

/// A list without the `cd` that it begins with, and where that leads.
fn without_start(mut commands: Vec<(Simple, Operator)>) -> (Option<String>, Vec<(Simple, Operator)>) {
    let folder = match commands.first() {
        Some((command, Operator::And | Operator::End)) if commands.len() > 1 => match &command.words[..] {
            [program, folder] if program.plain == "cd" => Some(folder.plain.clone()),
            _ => None,
        },
        _ => None,
    };
    if folder.is_some() {
        commands.remove(0);
    }
    (folder, commands)
}

/// A list without those filters behind pipes for which `is_left_out` holds.
fn without_filters(
    commands: Vec<(Simple, Operator)>,
    is_left_out: fn(&Simple) -> bool,
) -> Vec<(Simple, Operator)> {
    let mut kept: Vec<(Simple, Operator)> = Vec::with_capacity(commands.len());
    for (command, operator) in commands {
        let is_filter = FILTERS.contains(&program_of(&command)) && is_left_out(&command);
        match kept.last_mut() {
            Some((_, before)) if *before == Operator::Pipe && is_filter => *before = operator,
            _ => kept.push((command, operator)),
        }
    }
    kept
}

/// True for a filter that only chooses what is shown: it has no words but flags and numbers of lines, and touches no
/// file.
fn only_filters(command: &Simple) -> bool {
    let (wrappers, words) = unwrapped(command);
    let program = program_of(command);
    let is_flag = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            && !(program == "sort" && text.contains('o'))
    };
    let is_number = |before: &str, text: &str| {
        matches!(program, "head" | "tail")
            && matches!(before, "-n" | "-c")
            && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_choice = |pair: &[Word]| is_flag(&pair[1].plain) || is_number(&pair[0].plain, &pair[1].plain);
    command.files.is_empty() && wrappers.is_empty() && words.windows(2).all(is_choice)
}

/// The text of a list with all that can make a difference.
fn wording(commands: &[(Simple, Operator)]) -> String {
    let commands = without_filters(commands.to_vec(), only_filters);
    let mut text = String::new();
    for (command, operator) in &commands {
        if sets_pipefail(command) {
            continue;
        }
        let (wrappers, words) = unwrapped(command);
        let words = wrappers.into_iter().chain(words).map(Word::canonical);
        // Only what reads the output of another command sees to which stream it went.
        let copies = command.copies.iter().filter(|_| *operator == Operator::Pipe).cloned();
        let all = words.chain(command.files.iter().cloned()).chain(copies).collect::<Vec<_>>().join(" ");
        let background = if command.is_in_background { " &" } else { "" };
        text.push_str(&format!("{all}{background} {operator:?} "));
    }
    text
}

/// True if the commands behind this one find another shell: by a program, or by an assignment alone.
fn prepares(command: &Simple) -> bool {
    let program = program_of(command);
    program.is_empty() || PREPARING.contains(&program)
}

fn sets_pipefail(command: &Simple) -> bool {
    program_of(command) == "set" && command.words.last().is_some_and(|word| word.plain == "pipefail")
}

/// The number by which a text is compared: the normal form of Unicode does not count.
fn key(text: &str) -> u64 {
    xxh3_64(composed(text).as_bytes())
}

/// The text of a command in which flags are sorted behind all else, without what is another each time.
fn canonical(command: &Simple) -> String {
    let write = |word: &Word| folded(&word.canonical());
    let words = arguments(command);
    let end = words.iter().position(|word| word.plain == "--").unwrap_or(words.len());
    let is_flag = |word: &&Word| word.plain.starts_with('-') && word.plain.len() > 1;
    let (mut flags, others): (Vec<&Word>, Vec<&Word>) = words[..end].iter().partition(is_flag);
    flags.sort_by_key(|word| word.canonical());
    let all = others.into_iter().chain(flags).chain(&words[end..]);
    all.map(write).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(text: &str) -> u64 {
        Command::read(text).action
    }

    #[test]
    fn nearly_equal_commands_are_one_action() {
        for (one, other) in [
            ("cargo test --lib -p a", "cargo  test -p a --lib"),
            ("pytest -x tests/a.py", "pytest tests/a.py -x"),
            ("cargo test 2>&1 | tail -5", "cargo test"),
            ("cd src && make all", "make all"),
            ("time make all", "make all >/dev/null"),
            ("timeout 60 make all", "make all # again"),
            ("git show 1a2b3c4", "git show ffe0912bcd"),
            ("cat /tmp/tmp.X7f9Qz/log.txt", "cat /tmp/tmp.aB12cd/log.txt"),
            ("vim src/lib.rs:12:5", "vim src/lib.rs:99"),
            ("echo 'a b'", "echo \"a b\""),
            ("x 123e4567-e89b-12d3-a456-426614174000", "x 00000000-e89b-12d3-a456-4266141740ff"),
            ("A=1 B=2 make", "A=1 B=2  make"),
        ] {
            assert_eq!(action(one), action(other), "{one} | {other}");
        }
    }

    #[test]
    fn other_commands_are_other_actions() {
        for (one, other) in [
            ("git branch -d x", "git branch -D x"),
            ("cargo test a", "cargo test b"),
            ("cp a b", "cp b a"),
            ("npm test", "npm test -- --watch"),
            ("x -- -a -b", "x -- -b -a"),
            ("a && b", "a || b"),
            ("a | wc -l", "a"),
            ("python /tmp/first.py", "python /tmp/second.py"),
            ("curl http://localhost:8080", "curl http://localhost:8081"),
            ("echo $A", "echo '$A'"),
            ("A=1 make", "A=2 make"),
            ("kill 1234567", "kill 1234568"),
        ] {
            assert_ne!(action(one), action(other), "{one} | {other}");
        }
    }

    fn wording(text: &str) -> u64 {
        Command::read(text).wording
    }

    #[test]
    fn nothing_that_makes_a_difference_is_the_same_wording() {
        for (one, other) in [
            ("psql app < 1.sql", "psql app < 2.sql"),
            ("psql app", "psql app </dev/null"),
            ("pg_dump app > /var/b/app.sql", "pg_dump app > app.sql"),
            ("make >> log", "make > log"),
            ("make > log", "make 2> log"),
            ("make", "make > 1"),
            ("apt-get install x", "sudo apt-get install x"),
            ("timeout 5 make", "timeout 300 make"),
            ("timeout 5 make", "make"),
            ("cargo --release build", "cargo build --release"),
            ("python app.py -v", "python -v app.py"),
            ("docker run app --rm", "docker run --rm app"),
            ("pytest -k slow -m unit", "pytest -m slow -k unit"),
            ("find . -not -empty -print", "find . -empty -not -print"),
            ("make | tee a", "make | tee b"),
            ("make | cat a", "make"),
            ("make | tee 1", "make"),
            ("make | sort -oa", "make"),
            ("make | sort > a", "make"),
            ("make | python x.py", "make 2>&1 | python x.py"),
            ("make | python x.py", "make |& python x.py"),
            ("make", "make &"),
            ("git show 1a2b3c4", "git show ffe0912"),
        ] {
            assert_ne!(wording(one), wording(other), "{one} | {other}");
        }
    }

    #[test]
    fn what_makes_no_difference_is_the_same_wording() {
        for (one, other) in [
            ("cargo test 2>&1 | tail -5", "cargo  test"),
            ("cargo test | tail -n 5 | cat", "cargo 'test'"),
            ("cd src && time make", "make >/dev/null 2>&1"),
            ("set -o pipefail; make | tail", "make"),
            ("env A=1 make < x", "A=1 make <x"),
            ("make 2>&1 | python x.py", "make |& python x.py"),
        ] {
            assert_eq!(wording(one), wording(other), "{one} | {other}");
        }
    }

    #[test]
    fn a_file_that_is_read_may_be_named() {
        assert_eq!(Command::read("psql app < 1.sql > out").arguments, ["psql", "app", "1.sql"]);
    }

    #[test]
    fn what_the_exit_code_says() {
        let hides = |text: &str| Command::read(text).hides_code;
        for text in ["cargo test | tail -5", "make || true", "make; echo done", "make &"] {
            assert!(hides(text), "{text}");
        }
        for text in
            ["cargo test", "a && b", "cargo test | grep x", "set -o pipefail; make | tail", "cd x; make"]
        {
            assert!(!hides(text), "{text}");
        }
        assert!(Command::read("ls | grep x").answers && Command::read("git diff --exit-code").answers);
        assert!(!Command::read("grep x y && make").answers);
    }

    #[test]
    fn a_list_has_parts() {
        let list = Command::read("cargo  build && cargo test");
        assert_eq!(list.parts, [action("cargo build"), action("cargo test")]);
        assert_eq!(Command::read("cd a && make").parts, [0; 0]);
        for text in
            ["source .venv/bin/activate && pytest", ". x && make", "A=1 && make", "export A=1 && make && ls"]
        {
            assert_eq!(Command::read(text).parts, [0; 0], "{text}");
        }
        assert_eq!(Command::read("make && cd web && npm test").parts, [action("make")]);
        assert_eq!(Command::read("cd a && make").folder.as_deref(), Some("a"));
    }

    #[test]
    fn what_may_change_something() {
        let changes = |text: &str| Command::read(text).may_change;
        for text in [
            "rm x",
            "npm install",
            "echo a > b",
            "git commit -m x",
            "sed -i s/a/b/ x",
            "ls && touch a",
            "for a in b; do c; done",
            "make -n | tee list",
            "ls | tee list",
            "ls | sort > list",
            "sort -o x x",
            "sort -uo x x",
            "awk '{ print > \"x\" }' y",
            "echo $(touch x)",
            "git remote add origin x",
            "git diff --output=x",
            "cargo build",
            "cargo doc",
            "cargo clippy --fix",
            "go build ./...",
            "go env -w A=1",
            "npm test",
            "yarn test",
            "pnpm run build",
        ] {
            assert!(changes(text), "{text}");
        }
        for text in [
            "ls -la",
            "git status",
            "git remote -v",
            "cargo test --lib",
            "/bin/cat x 2>/dev/null",
            "set -o pipefail; A=1 cargo test 2>&1 | tail -5",
            "sort --reverse x | fmt",
            "go env",
        ] {
            assert!(!changes(text), "{text}");
        }
    }

    #[test]
    fn what_others_decide() {
        let asks = |text: &str| Command::read(text).asks_elsewhere;
        for text in [
            "curl localhost:8080",
            "A=1 sudo docker ps",
            "timeout -k 1 5 curl x",
            "sudo -u postgres psql app < x.sql",
            "git -C web push",
            "git fetch --all",
            "echo a | /usr/bin/ssh host",
            "bash -c 'sleep 1; curl x'",
            "echo $(kubectl get pods)",
            "psql app <<END\nselect 1\nEND",
            "for x in a b; do git pull $x; done",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in ["cargo test", "git commit -m push", "cat curl", "ls docker", "for x in a; do make; done"]
        {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn white_space_of_a_here_document_makes_a_difference() {
        let [one, other] =
            ["python <<X\nif a:\n  b\nc\nX", "python <<X\nif a:\n  b\n  c\nX"].map(Command::read);
        assert_ne!(one.wording, other.wording);
        assert_eq!(one.action, other.action);
    }
}
