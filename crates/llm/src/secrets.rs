//! The secrets that a model's server or program knows, and their removal from everything that is shown.
//!
//! A server may repeat the secrets of a request: the key, or user and password of its address in the form in which a
//! header carries them. These are removed exactly, and other secrets by their shape.

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::redact::redacted;

/// Stands for a secret.
const MASK: &str = "****";

/// Shorter secrets may be a part of other words, so they are removed only where they stand alone.
const MIN_LENGTH_ANYWHERE: usize = 4;

/// Secrets, the longest first, because one may be a part of another.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<SecretString>);

impl Secrets {
    /// These secrets.
    pub(super) fn of(texts: impl IntoIterator<Item = String>) -> Secrets {
        let mut texts: Vec<String> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Secrets(texts.into_iter().map(SecretString::from).collect())
    }

    /// The key of a server, and what its address holds: user and password, also as in a header, and the values of the
    /// query.
    pub(super) fn of_server(key: Option<&SecretString>, address: &Url) -> Secrets {
        use base64::Engine;
        use base64::engine::general_purpose::STANDARD_NO_PAD;
        use percent_encoding::percent_decode_str;

        let mut texts: Vec<String> = key.map(|key| key.expose_secret().to_owned()).into_iter().collect();
        let (user, password) = (address.username(), address.password().unwrap_or_default());
        if !user.is_empty() || !password.is_empty() {
            let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            let pair = format!("{}:{}", decoded(user), decoded(password));
            texts.extend([STANDARD_NO_PAD.encode(&pair), pair, format!("{user}:{password}")]);
            // Some services take the key as the name of a user without a password.
            let secret = if password.is_empty() { user } else { password };
            texts.extend([secret.to_owned(), decoded(secret)]);
        }
        texts.extend(address.query_pairs().map(|(_, value)| value.into_owned()));
        Secrets::of(texts)
    }

    /// The text without these secrets and without anything that has the shape of one.
    pub(super) fn mask(&self, text: &str) -> String {
        let masked = self.0.iter().fold(text.to_owned(), |text, secret| mask(text, secret.expose_secret()));
        redacted(&masked)
    }
}

fn mask(text: String, secret: &str) -> String {
    if secret.len() >= MIN_LENGTH_ANYWHERE {
        return text.replace(secret, MASK);
    }
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        let continues = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if at >= done && !continues(text[..at].chars().next_back()) && !continues(text[end..].chars().next())
        {
            out.push_str(&text[done..at]);
            out.push_str(MASK);
            done = end;
        }
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_secrets_are_removed_anywhere_and_short_ones_as_words() {
        let masked = |secret: &str, text: &str| Secrets::of([secret.to_owned()]).mask(text);
        assert_eq!(masked("sk-abc", "key sk-abc, sk-abcd"), "key ****, ****d");
        assert_eq!(masked("sk", "ask sk, sks `sk`"), "ask ****, sks `****`");
        assert_eq!(masked("é", "é été é"), "**** été ****");
        assert_eq!(masked(" ", "a b"), "a b");
    }

    #[test]
    fn an_address_s_secrets_are_removed_in_each_of_their_forms() {
        let address = Url::parse("https://user:p%40ss%2Fword@h/v1?key=query-secret&a=b").unwrap();
        let key = SecretString::from("sk-abc");
        let secrets = Secrets::of_server(Some(&key), &address);
        // `printf 'user:p@ss/word' | base64`
        for text in
            ["sk-abc", "p%40ss%2Fword", "p@ss/word", "user:p@ss/word", "dXNlcjpwQHNzL3dvcmQ", "query-secret"]
        {
            let masked = secrets.mask(&format!("Basic {text}=="));
            assert!(!masked.contains(text) && masked.contains("***"), "{text}: {masked}");
        }
        assert_eq!(secrets.mask("abba user"), "abba user");
        let keyed = Secrets::of_server(None, &Url::parse("https://key-as-user@h").unwrap());
        // `printf 'key-as-user:' | base64`
        assert_eq!(keyed.mask("key-as-user a2V5LWFzLXVzZXI6"), "**** ****");
    }
}
