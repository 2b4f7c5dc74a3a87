//! The tokens that callers must send, and their comparison.

use axum::http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// The header of a proxy's token. `Authorization` belongs to the server behind the proxy.
pub const TOKEN_HEADER: &str = "x-memories-token";

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

    /// The token itself, for whom it is given to.
    pub fn text(&self) -> &str {
        self.0.expose_secret()
    }

    /// True if these bytes are the token. The time that this takes depends on nothing but their number.
    pub fn is(&self, sent: &[u8]) -> bool {
        sent.ct_eq(self.0.expose_secret().as_bytes()).into()
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        self.is(other.0.expose_secret().as_bytes())
    }
}

/// Somebody who may call, by a token.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The name that goes with the token, if there are several.
    pub name: Option<String>,
    /// The token.
    pub token: Token,
}

/// The callers whose requests are answered.
#[derive(Debug, Clone)]
pub enum Callers {
    /// Everybody who can connect.
    Anyone,
    /// Callers that send this token as `X-Memories-Token`.
    Header(Token),
    /// Callers that send one of these tokens as `Authorization: Bearer TOKEN`.
    Bearer(Vec<Caller>),
}

impl From<Option<Token>> for Callers {
    fn from(token: Option<Token>) -> Callers {
        token.map_or(Callers::Anyone, Callers::Header)
    }
}

impl Callers {
    /// True if the headers carry a token of these callers; the name that goes with it.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Option<&str>> {
        match self {
            Callers::Anyone => Some(None),
            Callers::Header(token) => {
                let sent = headers.get(TOKEN_HEADER).map_or(&b""[..], |value| value.as_bytes());
                token.is(sent).then_some(None)
            }
            Callers::Bearer(callers) => {
                let sent = bearer(headers).unwrap_or_default();
                let mut found = None;
                // All are compared, so that the time does not say which one was nearly right.
                for caller in callers {
                    if caller.token.is(sent) {
                        found = Some(caller.name.as_deref());
                    }
                }
                found
            }
        }
    }
}

/// The token of the only `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (first, None) = (all.next()?.as_bytes(), all.next()) else { return None };
    let (scheme, token) = first.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "0123456789abcdef";

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
        let callers = Callers::from(Token::new(RIGHT).ok());
        let is_in = |sent: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(TOKEN_HEADER, sent.parse().unwrap());
            callers.find(&headers).is_some()
        };
        assert!(is_in("0123456789abcdef"));
        for wrong in
            ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0", "Bearer 0123456789abcdef"]
        {
            assert!(!is_in(wrong), "{wrong}");
        }
        assert!(callers.find(&HeaderMap::new()).is_none());
        assert_eq!(Callers::from(None).find(&HeaderMap::new()), Some(None));
    }

    #[test]
    fn a_bearer_is_known_by_the_token() {
        let caller =
            |name: &str, token| Caller { name: Some(name.to_owned()), token: Token::new(token).unwrap() };
        let callers = Callers::Bearer(vec![caller("one", RIGHT), caller("two", "fedcba9876543210")]);
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            callers.find(&headers).map(|name| name.unwrap().to_owned())
        };
        assert_eq!(with(&["Bearer 0123456789abcdef"]).as_deref(), Some("one"));
        assert_eq!(with(&["bearer  fedcba9876543210 "]).as_deref(), Some("two"));
        let (one, two) = ("Bearer 0123456789abcdef", "Bearer fedcba9876543210");
        for wrong in
            [&[][..], &[""], &["Bearer"], &["Bearer "], &[RIGHT], &["Basic 0123456789abcdef"], &[one, two]]
        {
            assert_eq!(with(wrong), None, "{wrong:?}");
        }
        assert_eq!(with(&["Bearer one=0123456789abcdef"]), None);
    }
}
