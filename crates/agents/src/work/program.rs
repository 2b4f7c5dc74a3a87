//! The program that a simple command runs, and its arguments.
//!
//! A simple command enters; parts of it leave, without programs such as `sudo` that only run another one.

use crate::work::shell::{Simple, Word};

/// Programs that run another program. Only `sudo` changes what that does.
const WRAPPERS: [&str; 7] = ["command", "env", "exec", "nice", "nohup", "sudo", "time"];

/// Assignments, program and arguments, without programs that only run them; and of those the words that make a
/// difference.
pub(super) fn unwrapped(command: &Simple) -> (Vec<&Word>, &[Word]) {
    let mut kept = Vec::new();
    let mut words = &command.words[..];
    while let [wrapper, next, ..] = words {
        let is_wrapper = WRAPPERS.contains(&wrapper.plain.as_str());
        if wrapper.plain == "timeout" && words.len() > 2 && !next.plain.starts_with('-') {
            kept.extend([wrapper, next]);
            words = &words[2..];
        } else if is_wrapper && !next.plain.starts_with('-') {
            kept.extend((wrapper.plain == "sudo").then_some(wrapper));
            words = &words[1..];
        } else {
            break;
        }
    }
    (kept, words)
}

/// Assignments, program and arguments, without programs that only run them.
pub(super) fn arguments(command: &Simple) -> &[Word] {
    unwrapped(command).1
}

pub(super) fn is_assignment(word: &Word) -> bool {
    let name = word.plain.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The program of a command, without its folder.
pub(super) fn program_of(command: &Simple) -> &str {
    let program = arguments(command).iter().find(|word| !is_assignment(word));
    let name = program.map_or("", |word| word.plain.rsplit(['/', '\\']).next().unwrap_or_default());
    name.strip_suffix(".exe").unwrap_or(name)
}
