//! Finds secrets that stand without a name: behind the flags of command lines, in netrc and in the lines of pgpass.

use memchr::{memchr_iter, memmem};

use super::named::{Look, in_cookies, in_name, password, secret_in, value_at};
use super::names::named;
use super::secret::Secret;

/// What stands behind a flag.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// `user:password`.
    Pair,
    /// A password.
    Password,
    /// Cookies, as a header has them.
    Cookies,
    /// The name of a variable, and its value.
    Variable,
}

/// Flags of programs: the end of the text before, if it matters, the flag, and what stands behind it.
const FLAGS: [(&[u8], &[u8], Form); 12] = [
    (b"", b"-u", Form::Pair),
    (b"", b"-U", Form::Pair),
    (b"", b"-a", Form::Pair),
    (b"", b"--user", Form::Pair),
    (b"", b"--proxy-user", Form::Pair),
    (b"", b"--auth", Form::Pair),
    (b"", b"-b", Form::Cookies),
    (b"", b"--cookie", Form::Cookies),
    (b"", b"-e", Form::Variable),
    (b"", b"--env", Form::Variable),
    (b"sshpass", b"-p", Form::Password),
    (b"redis-cli", b"-a", Form::Password),
];

/// Words before the name of a variable and its value.
const VARIABLES: [&[u8]; 4] = [b"ENV ", b"ARG ", b"setx ", b"setenv "];

/// Words of netrc that stand before a password, and how far before.
const NETRC: [&[u8]; 3] = [b"login", b"machine", b"account"];
const NETRC_BYTES: usize = 200;

/// Adds the secrets of these places.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for at in memchr_iter(b'-', bytes).filter(|&at| begins(bytes, at)) {
        for (before, flag, form) in FLAGS {
            if bytes[at..].starts_with(flag) && bytes[..at].trim_ascii_end().ends_with(before) {
                behind_flag(bytes, at + flag.len(), form, found);
            }
        }
    }
    for word in VARIABLES {
        memmem::find_iter(bytes, word).for_each(|at| found.extend(variable(bytes, at + word.len())));
    }
    for at in memmem::find_iter(bytes, b"password") {
        found.extend(in_netrc(bytes, at));
    }
    for at in memchr_iter(b':', bytes) {
        found.extend(in_pgpass(bytes, at));
    }
}

/// True at the start of a word of a command line.
fn begins(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .is_none_or(|before| bytes[before].is_ascii_whitespace() || b"\"'`[".contains(&bytes[before]))
}

fn behind_flag(bytes: &[u8], start: usize, form: Form, found: &mut Vec<Secret>) {
    let skipped = bytes[start..].iter().take(4).take_while(|byte| b" =\"'\\,".contains(byte)).count();
    let start = start + skipped;
    match form {
        Form::Cookies => in_cookies(bytes, start, found),
        Form::Variable if skipped > 0 => found.extend(variable(bytes, start)),
        Form::Variable => {}
        Form::Password => found.extend(value_at(bytes, start, "password", Look::Plain)),
        Form::Pair => {
            let user =
                bytes[start..].iter().take(64).take_while(|byte| in_name(byte) || **byte == b'@').count();
            if user > 0 && matches!(bytes.get(start + user), Some(b':' | b'%')) {
                found.extend(value_at(bytes, start + user + 1, "password", Look::Plain));
            }
        }
    }
}

/// The secret of `NAME value`.
fn variable(bytes: &[u8], start: usize) -> Option<Secret> {
    let length = bytes[start..].iter().take(64).take_while(|byte| in_name(byte)).count();
    let name = named(&bytes[start..start + length]).filter(|name| !name.is_word)?;
    (bytes.get(start + length) == Some(&b' '))
        .then(|| value_at(bytes, start + length, name.kind, Look::Plain))?
}

/// The secret of `machine HOST login USER password SECRET`.
fn in_netrc(bytes: &[u8], at: usize) -> Option<Secret> {
    let end = at + b"password".len();
    let before = &bytes[at.saturating_sub(NETRC_BYTES)..at];
    let is_netrc = begins(bytes, at)
        && bytes.get(end).is_some_and(u8::is_ascii_whitespace)
        && NETRC.iter().any(|word| memmem::find(before, word).is_some());
    is_netrc.then(|| value_at(bytes, end, "password", Look::Said))?
}

/// The secret of `host:port:database:user:secret`, whose first colon stands at `at`.
fn in_pgpass(bytes: &[u8], at: usize) -> Option<Secret> {
    let field = |start: usize, holds: fn(&u8) -> bool| {
        let length = bytes[start..].iter().take(64).take_while(|byte| holds(byte)).count();
        (length > 0 && bytes.get(start + length) == Some(&b':')).then_some(start + length + 1)
    };
    let in_field: fn(&u8) -> bool = |byte| in_name(byte) || *byte == b'*';
    let has_host = at > 0 && in_field(&bytes[at - 1]);
    let port = field(at + 1, |byte| byte.is_ascii_digit() || *byte == b'*').filter(|_| has_host)?;
    let user = field(port, in_field)?;
    let start = field(user, in_field)?;
    let range = password(bytes, start);
    secret_in(bytes, range, "password", Look::Assigned)
}
