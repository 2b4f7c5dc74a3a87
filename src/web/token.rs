//! The token that callers must send, and its comparison.

use axum::http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// The header that carries the token. `Authorization` belongs to the server behind the proxy.
pub(super) const TOKEN_HEADER: &str = "x-memories-token";

/// Length of the shortest token, in characters.
const MIN_LENGTH: usize = 16;

/// A secret that callers must send. It is never printed.
#[derive(Debug, Clone)]
pub struct Token(SecretString);

/// A text cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("the token has fewer than {MIN_LENGTH} characters")]
    TooShort,
    /// A header cannot carry it.
    #[error("the token has characters other than visible ASCII")]
    NotVisible,
}

impl Token {
    /// A token, without the white space around it.
    ///
    /// # Errors
    ///
    /// See [`TokenError`].
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotVisible);
        }
        if text.len() < MIN_LENGTH {
            return Err(TokenError::TooShort);
        }
        Ok(Token(SecretString::from(text)))
    }

    /// True if the headers carry the token. The time that this takes does not depend on what is in them.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(TOKEN_HEADER).map_or(&b""[..], |value| value.as_bytes());
        sent.ct_eq(self.0.expose_secret().as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_visible() {
        assert_eq!(Token::new("0123456789abcde").unwrap_err(), TokenError::TooShort);
        assert_eq!(Token::new("").unwrap_err(), TokenError::TooShort);
        assert_eq!(Token::new("0123456789 abcdef").unwrap_err(), TokenError::NotVisible);
        assert_eq!(Token::new("0123456789ábcdef").unwrap_err(), TokenError::NotVisible);
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        assert!(!format!("{token:?}").contains("0123"), "{token:?}");
    }

    #[test]
    fn only_the_whole_token_counts() {
        let token = Token::new("0123456789abcdef").unwrap();
        let is_in = |sent: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(TOKEN_HEADER, sent.parse().unwrap());
            token.is_in(&headers)
        };
        assert!(is_in("0123456789abcdef"));
        for wrong in
            ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0", "Bearer 0123456789abcdef"]
        {
            assert!(!is_in(wrong), "{wrong}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
    }
}
