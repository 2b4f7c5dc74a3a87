//! The output of a command: its line about a failure, and the files that it names.
//!
//! A text enters; one line leaves, the kind of the failure, and words that may be paths.

use memories_document::types::text::fold_spaces;

/// Characters of a reply.
const REPLY_CHARS: usize = 100;

/// Bytes that are read at either end of an output.
const READ: usize = 32 * 1024;

/// Words that are named at most.
const NAMES: usize = 200;

/// Parts of lines that say why a command failed, in lower case; the first kind that occurs counts.
const MARKS: [&[&str]; 2] = [
    &[
        "error:",
        "error[",
        "err!",
        "fatal:",
        "exception:",
        "command not found",
        "no such file",
        "permission denied",
    ],
    &[
        "error",
        "failed",
        "failure",
        "not found",
        "cannot",
        "can't",
        "unable to",
        "unknown",
        "missing",
        "denied",
        "panicked",
    ],
];

/// Parts of outputs that speak of trouble of the moment, in lower case.
const PASSING: [&str; 54] = [
    "401 unauthorized",
    "403 forbidden",
    "address already in use",
    "another git process",
    "are you root",
    "authentication failed",
    "bad gateway",
    "blocking waiting for file lock",
    "broken pipe",
    "cannot connect to",
    "connection refused",
    "connection reset",
    "connection timed out",
    "could not connect",
    "could not get lock",
    "could not read from remote",
    "could not resolve host",
    "couldn't connect",
    "database is locked",
    "deadline exceeded",
    "eai_again",
    "econnrefused",
    "econnreset",
    "enospc",
    "enotfound",
    "err_connection",
    "err_name_not_resolved",
    "etimedout",
    "exceeded its progress",
    "gateway time",
    "index.lock",
    "is overloaded",
    "is the server running",
    "killed",
    "network is unreachable",
    "no route to host",
    "no space left",
    "no such host",
    "not logged in",
    "out of memory",
    "overloaded_error",
    "permission denied (publickey",
    "port is already allocated",
    "quota exceeded",
    "rate limit",
    "resource temporarily unavailable",
    "returned error: 5",
    "service unavailable",
    "socket hang up",
    "temporary failure",
    "timed out",
    "too many open files",
    "too many requests",
    "unable to connect",
];

/// Exit codes of commands that a time limit or a signal ended: 124 of `timeout`, else 128 and the number of the signal.
/// 130 is not among them, since a command that Ctrl-C ended has no known effect.
const ENDED: [i64; 4] = [124, 137, 141, 143];

/// The line of an output that says most of a failure, on one line.
pub(crate) fn reply_of(output: &str) -> String {
    let text = ends_of(output);
    let lines = || text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let marked = |marks: &&[&str]| {
        lines().find(|line| {
            let line = line.to_lowercase();
            marks.iter().any(|mark| line.contains(mark))
        })
    };
    let line = MARKS.iter().find_map(marked).or_else(|| lines().next_back()).unwrap_or_default();
    fold_spaces(line).chars().take(REPLY_CHARS).collect()
}

/// True if an exit code or an output speaks of trouble that may be over the next time.
pub(crate) fn is_passing(code: Option<i64>, output: &str) -> bool {
    if code.is_some_and(|code| ENDED.contains(&code)) {
        return true;
    }
    let text = ends_of(output).to_lowercase();
    PASSING.iter().any(|mark| text.contains(mark))
}

/// Words of an output that may name files, each once.
pub(crate) fn names(output: &str) -> Vec<String> {
    let text = ends_of(output);
    let is_border = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|=*".contains(c);
    let mut names: Vec<String> = Vec::new();
    for word in text.split(is_border) {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let mut parts = word.splitn(2, ':');
        // `src/lib.rs:12:5` names a file, and a URL does not.
        let name = parts.next().unwrap_or_default();
        let is_url = parts.next().is_some_and(|rest| rest.starts_with("//"));
        let looks_so = name.contains('/')
            || name.rsplit_once('.').is_some_and(|(stem, ending)| {
                !stem.is_empty()
                    && (1..=8).contains(&ending.len())
                    && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        if looks_so && !is_url && name.len() <= 200 && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        if names.len() == NAMES {
            break;
        }
    }
    names
}

/// The lines at the start and at the end of a long output, without those that are cut: half of a secret is not known as
/// one. They are more than is read in the end, for marks of a terminal are still among them.
pub(super) fn whole_lines(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= 4 * READ {
        return text.into();
    }
    let bytes = text.as_bytes();
    let (first, last) = (2 * READ, text.len() - 2 * READ);
    let first = memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |at| at + 1);
    let last = memchr::memchr(b'\n', &bytes[last..]).map_or(text.len(), |at| last + at + 1);
    format!("{}{}", &text[..first], &text[last..]).into()
}

/// The start and the end of a text, where it is long.
fn ends_of(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= 2 * READ {
        return text.into();
    }
    let (first, last) = (text.floor_char_boundary(READ), text.ceil_char_boundary(text.len() - READ));
    format!("{}\n{}", &text[..first], &text[last..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_whole_lines_are_read() {
        let short = "x\n".repeat(2 * READ);
        assert_eq!(whole_lines(&short), short);
        let long = format!("first\n{}\nlast", "é".repeat(4 * READ));
        assert_eq!(whole_lines(&long), "first\nlast");
        assert_eq!(whole_lines(&"a".repeat(8 * READ)), "");
    }

    #[test]
    fn the_line_that_says_most() {
        for (output, reply) in [
            (
                "   Compiling a v0.1\nerror[E0432]: unresolved import `b`\n --> src/lib.rs:1:5\n",
                "error[E0432]: unresolved import `b`",
            ),
            ("npm ERR! Missing script: \"test\"\nnpm ERR! \n", "npm ERR! Missing script: \"test\""),
            ("bash: foo: command not found", "bash: foo: command not found"),
            ("1 passed\n2 failed\nsee above", "2 failed"),
            ("one\ntwo\n\n---\n", "two"),
            ("", ""),
        ] {
            assert_eq!(reply_of(output), reply);
        }
    }

    #[test]
    fn trouble_of_the_moment() {
        for output in [
            "curl: (7) Failed to connect: Connection refused",
            "curl: (7) Failed to connect to x port 80: Couldn't connect to server",
            "net::ERR_CONNECTION_RESET at http://localhost:3000",
            "getaddrinfo EAI_AGAIN registry.npmjs.org",
            "The requested URL returned error: 502",
            "502 Bad Gateway",
            "dial tcp: lookup x: no such host",
            "context deadline exceeded",
            "Error: socket hang up",
            "Bind for 0.0.0.0:80 failed: port is already allocated",
            "E: Unable to acquire the dpkg frontend lock, are you root?",
            "OSError: [Errno 24] Too many open files",
            "{\"type\": \"overloaded_error\"}",
        ] {
            assert!(is_passing(Some(1), output), "{output}");
        }
        for output in ["error: unresolved import", "error: call of overloaded 'f(int)' is ambiguous"] {
            assert!(!is_passing(Some(1), output), "{output}");
        }
        assert!(is_passing(Some(124), "") && is_passing(Some(137), "") && !is_passing(None, ""));
    }

    #[test]
    fn words_that_may_be_files() {
        let output = "error: a\n --> src/lib.rs:1:5\nsee `Cargo.toml`, https://x.org/a.b and (src/foo.rs). Version 1.2 e.g. src/lib.rs";
        assert_eq!(names(output), ["src/lib.rs", "Cargo.toml", "src/foo.rs", "1.2", "e.g"]);
    }

    #[test]
    fn a_long_output_is_read_at_its_ends() {
        let output = format!("{}error: ä\n{}", "x y\n".repeat(50_000), "ü\n".repeat(20_000));
        assert_eq!(reply_of(&output), "ü");
        assert_eq!(reply_of(&format!("fatal: no\n{output}")), "fatal: no");
    }
}
