//! Effects of programs: which commands may change something that others find, and which depend on another machine.
//!
//! A simple command enters; an answer leaves. A program that is not known may change something.

use crate::work::program::{arguments, is_assignment, program_of};
use crate::work::shell::Simple;

/// Programs that change nothing, but for some flags.
const READERS: [&str; 70] = [
    "[",
    "awk",
    "basename",
    "cat",
    "cmp",
    "column",
    "cut",
    "date",
    "df",
    "diff",
    "dir",
    "dirname",
    "du",
    "echo",
    "egrep",
    "fgrep",
    "file",
    "findstr",
    "fmt",
    "fold",
    "format-list",
    "format-table",
    "gc",
    "gci",
    "get-childitem",
    "get-command",
    "get-content",
    "get-item",
    "get-location",
    "get-process",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "less",
    "ls",
    "md5sum",
    "measure-object",
    "more",
    "nl",
    "out-host",
    "out-null",
    "out-string",
    "pgrep",
    "printf",
    "ps",
    "pwd",
    "pytest",
    "readlink",
    "realpath",
    "rg",
    "select-object",
    "select-string",
    "sha256sum",
    "sls",
    "sort",
    "sort-object",
    "stat",
    "tail",
    "test",
    "test-path",
    "tree",
    "true",
    "type",
    "uname",
    "wc",
    "where-object",
    "write-host",
    "write-output",
];

/// Commands of programs that change nothing others depend on, by their first arguments.
const READING: [(&str, &[&str]); 8] = [
    ("cargo", &["bench", "check", "clippy", "metadata", "test", "tree"]),
    ("git", &["blame", "diff", "grep", "log", "ls-files", "remote", "rev-parse", "show", "status"]),
    ("go", &["env", "list", "test", "vet", "version"]),
    ("npm", &["ls", "outdated", "view"]),
    ("pnpm", &["ls", "outdated"]),
    ("yarn", &["info", "list"]),
    ("pip", &["freeze", "list", "show"]),
    ("python", &["-V", "--version"]),
];

/// Programs that ask another machine or a daemon.
const ELSEWHERE: [&str; 38] = [
    "aws",
    "az",
    "curl",
    "docker",
    "docker-compose",
    "gcloud",
    "gh",
    "glab",
    "helm",
    "invoke-command",
    "invoke-restmethod",
    "invoke-webrequest",
    "irm",
    "iwr",
    "kubectl",
    "mongosh",
    "mysql",
    "mysqldump",
    "nc",
    "pg_dump",
    "pg_restore",
    "ping",
    "podman",
    "podman-compose",
    "psql",
    "redis-cli",
    "rsync",
    "scp",
    "sftp",
    "ssh",
    "telnet",
    "terraform",
    "test-connection",
    "test-netconnection",
    "tofu",
    "websocat",
    "wget",
    "xh",
];

/// Commands of git that ask another repository.
const REMOTE: [&str; 5] = ["clone", "fetch", "ls-remote", "pull", "push"];

/// Programs that run what their arguments say.
const RUNNERS: [&str; 23] = [
    "bash",
    "cmd",
    "dash",
    "env",
    "eval",
    "exec",
    "find",
    "iex",
    "invoke-expression",
    "nice",
    "nohup",
    "parallel",
    "powershell",
    "pwsh",
    "saps",
    "sh",
    "start-process",
    "sudo",
    "time",
    "timeout",
    "watch",
    "xargs",
    "zsh",
];

/// True if others may find something changed by a command.
pub(super) fn may_change(command: &Simple) -> bool {
    let program = program_of(command);
    let words = behind_program(command);
    let first = words.first().copied().unwrap_or_default();
    let is_reading = READING.iter().any(|(known, commands)| *known == program && commands.contains(&first));
    let reads = is_reading || READERS.contains(&program);
    command.writes || !reads || writes_by_arguments(program, &words) || runs_another(command)
}

/// True if a command changes nothing, and is no test or check either.
pub(super) fn only_shows(command: &Simple) -> bool {
    let first = behind_program(command).first().copied().unwrap_or_default();
    let checks = match program_of(command) {
        "cargo" | "go" => matches!(first, "bench" | "check" | "clippy" | "test" | "vet"),
        program => program == "pytest",
    };
    !checks && !may_change(command)
}

/// The plain words behind the program.
fn behind_program(command: &Simple) -> Vec<&str> {
    let words = arguments(command).iter().skip_while(|word| is_assignment(word)).skip(1);
    words.map(|word| word.plain.as_str()).collect()
}

/// True if a program that reads otherwise changes something because of its arguments.
fn writes_by_arguments(program: &str, words: &[&str]) -> bool {
    let has = |is_so: fn(&str) -> bool| words.iter().any(|word| is_so(word));
    match program {
        "awk" => has(|word| word.contains(['>', '|']) || word.contains("system")),
        "cargo" | "go" | "pytest" => has(|word| {
            word.ends_with("-fix") || word.contains("update") || matches!(word, "--bless" | "-w" | "-u")
        }),
        "date" => has(|word| word.starts_with("-s") || word.starts_with("--s")),
        "git" if words.first() == Some(&"remote") => {
            !matches!(words.get(1), None | Some(&("-v" | "--verbose" | "show" | "get-url")))
        }
        "git" => has(|word| word.starts_with("--output")),
        "hostname" => has(|word| !word.starts_with('-')),
        "less" | "tree" => has(|word| word.starts_with("-o") || word.starts_with("-O")),
        "sort" => has(|word| match word.strip_prefix("--") {
            Some(long) => long.starts_with('o'),
            None => word.starts_with('-') && word.contains('o'),
        }),
        _ => false,
    }
}

/// True if a word holds a command that the shell runs first, or a block of them.
fn runs_another(command: &Simple) -> bool {
    let is_block = |text: &str| text.starts_with('{') && text.contains(' ');
    let holds = |text: &str| text.contains(['`', '(']) || is_block(text);
    command.words.iter().any(|word| word.is_expanded && holds(&word.plain))
}

/// True if another machine or a daemon decides how a command ends.
pub(super) fn asks_elsewhere(command: &Simple) -> bool {
    let program = program_of(command);
    let runs = RUNNERS.contains(&program) && command.words.iter().any(|word| names_elsewhere(&word.plain));
    let expanded = command.words.iter().filter(|word| word.is_expanded && word.plain.contains(['`', '(']));
    let mut words = behind_program(command).into_iter();
    let subcommand = loop {
        match words.next() {
            Some("-C" | "-c") => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            other => break other.unwrap_or_default(),
        }
    };
    ELSEWHERE.contains(&program)
        || program == "git" && REMOTE.contains(&subcommand)
        || runs
        || expanded.into_iter().any(|word| names_elsewhere(&word.plain))
}

/// True if a text that is not split into commands names a program that asks elsewhere.
pub(super) fn names_elsewhere(text: &str) -> bool {
    let is_border = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let words: Vec<&str> = text.split(is_border).filter(|word| !word.is_empty()).collect();
    words.iter().any(|word| ELSEWHERE.contains(word))
        || words.windows(2).any(|pair| pair[0] == "git" && REMOTE.contains(&pair[1]))
}
