//! Tags, brackets and roles that an agent or a chat takes for its own.
//!
//! A sign of a text enters, with what stands around it; whether it opens such a tag leaves. Capitals, wide signs, spaces and
//! unseen characters in a tag do not hide it.

use crate::types::text::{is_slash, narrow};
use crate::types::unseen::is_unseen;

/// Longest tag that is recognised, in characters.
const TAG_CHARS: usize = 64;

/// Names of tags that belong to a chat or an agent even where they stand alone.
const ALONE: [&str; 11] = [
    "system",
    "memory",
    "memories",
    "instructions",
    "reminder",
    "sys",
    "inst",
    "think",
    "thinking",
    "bos",
    "eos",
];

/// Names whose closing tag alone belongs to a chat or an agent: an opening one is a placeholder, as in `<user>@<host>`.
const ALONE_CLOSING: [&str; 12] = [
    "s",
    "user",
    "assistant",
    "human",
    "developer",
    "tool",
    "tools",
    "function",
    "context",
    "environment",
    "prompt",
    "attachments",
];

/// Words of which one makes a name of several words the agent's or the chat's: `system-reminder`.
const STRONG: [&str; 9] =
    ["system", "reminder", "untrusted", "memory", "memories", "instructions", "hook", "turn", "transcript"];

/// Words of which one is enough in a closing tag of several words, and two in an opening one: `user_query`.
const WEAK: [&str; 30] = [
    "user",
    "assistant",
    "human",
    "developer",
    "tool",
    "tools",
    "function",
    "functions",
    "call",
    "calls",
    "result",
    "results",
    "response",
    "context",
    "environment",
    "prompt",
    "query",
    "request",
    "command",
    "stdout",
    "stderr",
    "session",
    "conversation",
    "snapshot",
    "state",
    "skill",
    "skills",
    "notification",
    "attachment",
    "rules",
];

/// Names in brackets of chat formats.
const BRACKETED: [&str; 6] =
    ["inst", "system_prompt", "available_tools", "tool_calls", "tool_results", "tool_content"];

/// Roles that begin a part of a chat.
const ROLES: [&str; 2] = ["Human", "Assistant"];

/// True for the characters that are looked at: signs before or behind a name, and the wide ones that stand for them.
pub(super) fn is_suspect(c: char) -> bool {
    matches!(c, '<' | '[' | ':' | '\u{FF1C}' | '\u{FE64}' | '\u{FF3B}' | '\u{FF1A}')
}

/// True if a text ends with a role as a word of its own.
pub(super) fn is_role(before: &str) -> bool {
    let mut letters = before.chars().rev().filter(|c| !is_unseen(*c)).map(narrow);
    let word: String = letters.by_ref().take_while(|c| c.is_alphanumeric() || *c == '_').take(10).collect();
    ROLES.iter().any(|role| role.chars().rev().eq(word.chars()))
}

/// True if what follows a bracket is a name of a chat format, with its closing bracket.
pub(super) fn is_bracketed(behind: &str) -> bool {
    let inside =
        behind.chars().take(TAG_CHARS).filter(|c| !is_unseen(*c) && !c.is_whitespace() && !is_slash(*c));
    let inside: String =
        inside.map(narrow).take_while(|c| c.is_alphabetic() || matches!(c, '_' | ']')).collect();
    let name = inside.split_once(']').map(|(name, _)| name.to_ascii_lowercase());
    name.is_some_and(|name| BRACKETED.contains(&&*name))
}

/// True if a sign between these texts opens a tag of an agent or of a chat format.
pub(super) fn is_tag(before: &str, behind: &str) -> bool {
    let seen = behind.chars().take(TAG_CHARS).filter(|c| !is_unseen(*c)).map(narrow);
    let seen: String = seen.take_while(|c| !matches!(c, '>' | '<')).collect();
    // As the memory file has it.
    let seen = seen.replace("\\_", "_");
    if let Some(token) = seen.strip_prefix(is_bar) {
        let name = token.strip_suffix(is_bar).unwrap_or_default();
        return !name.is_empty() && name.chars().all(is_of_name);
    }
    let name = seen.trim_start_matches(|c: char| c.is_whitespace() || is_slash(c) || is_bar(c));
    let is_closing = seen[..seen.len() - name.len()].contains(is_slash);
    if !is_closing && name.len() < seen.len() {
        return false;
    }
    // A closing tag has no attributes, so more words belong to its name. A path of files has none but its first part.
    let is_part = |c: char| is_of_name(c) || c == ' ' && is_closing;
    let name = name.split(|c| !is_part(c)).next().unwrap_or_default();
    let is_type = name.starts_with(char::is_uppercase)
        && name.contains(char::is_lowercase)
        && !name.contains(['-', '_', ' ']);
    // An identifier before the sign makes it a parameter of a type, as in `Vec<Memory>`.
    if !is_closing && is_type && before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
        return false;
    }
    let words = words(name);
    if let [word] = &words[..] {
        return ALONE.contains(&&**word) || is_closing && !is_type && ALONE_CLOSING.contains(&&**word);
    }
    let count = |names: &[&str]| words.iter().filter(|word| names.contains(&&***word)).count();
    let (strong, weak) = (count(&STRONG), count(&WEAK));
    if is_type {
        // Components of pages have such names, too.
        !words.is_empty() && strong + weak == words.len()
    } else {
        strong > 0 || weak > usize::from(!is_closing)
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '\u{2581}')
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '\u{2502}' | '\u{2758}')
}

/// The words of a name in lower case: `user_query`, `user-query`, `userQuery` and `user query` have the same two.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for c in name.chars() {
        let begins = !last.is_some_and(char::is_alphanumeric)
            || c.is_uppercase() && last.is_some_and(char::is_lowercase);
        last = Some(c);
        if !c.is_alphanumeric() {
            continue;
        }
        if begins {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
    }
    words
}
