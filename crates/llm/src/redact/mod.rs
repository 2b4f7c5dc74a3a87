//! Redacts keys, tokens and passwords.
//!
//! A text enters; it leaves with every recognised secret replaced. Three things give a secret away:
//!
//! * its format, as its issuer documents it: a prefix, an alphabet and a length (`formats`);
//! * its frame: the lines around a private key (`private_key`);
//! * its place: behind `password=`, `Authorization:` or in the user part of a URL (`named`). There the value must
//!   also look random (`random`), because programs and manuals are full of `password = read_password()`.
//!
//! Words alone give a recovery phrase away (`phrase`). A sentence of a game that tells a password stays as it is.
//!
//! A long random word without any of these is left alone. Precision comes first, because a false positive destroys a
//! memory; `examples/secrets.rs` measures it over folders of texts. This module imports nothing of the others.

mod formats;
mod named;
mod names;
mod personal;
mod phrase;
mod places;
mod private_key;
mod random;
mod scan;
mod secret;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

pub use secret::Secret;

/// True if personal data is masked, too.
static PERSONAL: AtomicBool = AtomicBool::new(false);

/// Masks mail addresses, telephone numbers, payment cards and IBANs in this process as well, or no longer. One switch
/// serves all doors, so that none is forgotten.
pub fn mask_personal(on: bool) {
    PERSONAL.store(on, Ordering::Relaxed);
}

/// A text whose secrets are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text, with `(GitHub token masked)` in place of a GitHub token.
    pub text: String,
    /// The kinds of secrets found, each once.
    pub kinds: Vec<&'static str>,
}

/// Replaces all secrets in a text; `None` if there are none.
pub fn redact(text: &str) -> Option<Redacted> {
    let found = find(text);
    if found.is_empty() {
        return None;
    }
    let mut redacted = Redacted { text: String::with_capacity(text.len()), kinds: Vec::new() };
    let mut done = 0;
    for secret in found {
        redacted.text.push_str(&text[done..secret.range.start]);
        redacted.text.push_str(&format!("({} masked)", secret.kind));
        done = secret.range.end;
        if !redacted.kinds.contains(&secret.kind) {
            redacted.kinds.push(secret.kind);
        }
    }
    redacted.text.push_str(&text[done..]);
    Some(redacted)
}

/// A text with all secrets replaced.
pub fn redacted(text: &str) -> String {
    redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}

/// Finds all secrets, in the order of the text. They do not overlap.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = private_key::find(text);
    scan::find(text, &mut found);
    named::find(text, &mut found);
    places::find(text, &mut found);
    phrase::find(text, &mut found);
    if PERSONAL.load(Ordering::Relaxed) {
        personal::find(text, &mut found);
    }
    // The sort must be stable: where two overlap, the one with the more exact description counts.
    found.sort_by_key(|secret| secret.range.start);
    let mut apart: Vec<Secret> = Vec::new();
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
            }
            _ => apart.push(secret),
        }
    }
    apart
}
