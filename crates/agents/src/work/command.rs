//! A command line as an action: which command lines are the same.
//!
//! A command line enters. Its *wording* leaves, which is the same only for command lines that differ in what cannot
//! change what they do, such as spaces and quotes; and its *action*, which is the same also where the order of flags,
//! redirections, names of temporary files, hashes and line numbers differ.

use xxhash_rust::xxh3::xxh3_64;

use crate::work::effect::{asks_elsewhere, may_change, names_elsewhere, only_shows};
use crate::work::fold::folded;
use crate::work::powershell;
use crate::work::program::{arguments, program_of, unwrapped};
use crate::work::shell::{self, Operator, Simple, Word};
use crate::work::surroundings::is_foreign;
use memories_document::types::text::{composed, fold_spaces};

/// Commands that change the working folder to their argument.
const CHANGES_FOLDER: [&str; 4] = ["cd", "chdir", "set-location", "sl"];

/// Programs behind a pipe that only choose what is shown.
const FILTERS: [&str; 20] = [
    "cat",
    "column",
    "cut",
    "fmt",
    "fold",
    "format-list",
    "format-table",
    "head",
    "less",
    "more",
    "nl",
    "out-host",
    "out-null",
    "out-string",
    "select",
    "select-object",
    "sort",
    "sort-object",
    "tail",
    "tee",
];

/// Programs that change the shell in which the commands behind them run, besides those of [`CHANGES_FOLDER`].
const PREPARING: [&str; 18] = [
    ".",
    "alias",
    "conda",
    "direnv",
    "eval",
    "export",
    "import-module",
    "module",
    "nvm",
    "pop-location",
    "popd",
    "push-location",
    "pushd",
    "pyenv",
    "set",
    "source",
    "using",
    "workon",
];

/// Programs whose exit code 1 is an answer.
const ANSWERS: [&str; 18] = [
    "[", "cmp", "command", "diff", "egrep", "fc", "fgrep", "findstr", "git-diff", "grep", "pgrep", "rg",
    "robocopy", "test", "type", "where", "which", "zgrep",
];

/// The shell whose rules a command line follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// A shell of POSIX.
    Posix,
    /// PowerShell.
    PowerShell,
}

impl Shell {
    /// All of them.
    pub(super) const ALL: [Shell; 2] = [Shell::Posix, Shell::PowerShell];

    /// The simple commands of a line, also where it only gives them to another PowerShell.
    pub(super) fn split(self, text: &str) -> Option<Vec<(Simple, Operator)>> {
        let commands = match self {
            Shell::Posix => shell::split(text)?,
            Shell::PowerShell => powershell::split(text)?,
        };
        let inner = match &commands[..] {
            [(only, Operator::End)] => powershell::inner(only),
            _ => None,
        };
        inner.and_then(|text| powershell::split(&text)).or(Some(commands))
    }
}

/// A command line, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Reads a command line of a shell of POSIX, or one of which nobody says whose it is.
    pub(crate) fn read(text: &str) -> Command {
        Command::read_as(text, Shell::Posix)
    }

    /// Reads a command line of a shell.
    pub(crate) fn read_as(text: &str, shell: Shell) -> Command {
        match shell.split(text).map(without_start) {
            Some((folder, commands)) if !commands.is_empty() => {
                // PowerShell takes both separators, wherever it runs.
                let is_changed = shell == Shell::PowerShell && !cfg!(windows);
                let folder = folder.map(|folder| {
                    if is_changed && !is_foreign(&folder) { folder.replace('\\', "/") } else { folder }
                });
                Command::of(folder, commands)
            }
            _ => Command::opaque(text),
        }
    }

    /// True if a text that is kept is this action, of whatever shell.
    pub(crate) fn is_action(text: &str, action: u64) -> bool {
        Shell::ALL.iter().any(|shell| Command::read_as(text, *shell).action == action)
    }

    /// A command line that is not understood is its own text.
    fn opaque(text: &str) -> Command {
        // White space may be the indentation of a here-document.
        let wording = key(text.trim());
        let asks_elsewhere = names_elsewhere(text);
        let text = fold_spaces(text);
        Command {
            wording,
            action: key(&text),
            may_change: true,
            asks_elsewhere,
            words: text.split(' ').map(str::to_owned).collect(),
            ..Command::default()
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
            [program, folder] if CHANGES_FOLDER.contains(&&*program.plain) => Some(folder.plain.clone()),
            [program, flag, folder]
                if program.plain == "set-location"
                    && ["-path", "-literalpath"].contains(&&*flag.plain.to_lowercase()) =>
            {
                Some(folder.plain.clone())
            }
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
        let counts = match program {
            "head" | "tail" => matches!(before, "-n" | "-c"),
            "select" | "select-object" => matches!(&*before.to_lowercase(), "-first" | "-last"),
            _ => false,
        };
        counts && text.bytes().all(|byte| byte.is_ascii_digit())
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
    program.is_empty()
        || program.starts_with('$')
        || CHANGES_FOLDER.contains(&program)
        || PREPARING.contains(&program)
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
mod tests;
