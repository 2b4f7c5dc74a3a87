//! The chat server behind the proxy: its address, and the client that speaks to it.
//!
//! An address as a person gives it enters; the address of each request leaves, with its query.

use axum::http::Uri;
use reqwest::Url;

use memories_llm::{Destination, client_builder, is_loopback};

/// The chat server behind the proxy.
#[derive(Debug, Clone)]
pub struct Upstream {
    base: Url,
}

impl Upstream {
    /// The server at an address, with or without the `/v1` that clients put into their base URL.
    ///
    /// # Errors
    ///
    /// Where it is not the address of a web server; the message has no user and no password.
    pub fn new(address: &str) -> Result<Upstream, String> {
        let wrong = || format!("`{}` is not the address of a web server", shown(address));
        let base = Url::parse(address).map_err(|_| wrong())?;
        let is_web = matches!(base.scheme(), "http" | "https") && base.host_str().is_some();
        let is_plain = base.query().is_none() && base.fragment().is_none();
        if is_web && is_plain { Ok(Upstream { base }) } else { Err(wrong()) }
    }

    /// The address without user and password.
    pub fn shown(&self) -> String {
        let path = self.base.path().trim_end_matches('/');
        format!("{}{path}", self.base.origin().ascii_serialization())
    }

    /// True if keys and chats go to another machine unencrypted.
    pub fn is_in_clear(&self) -> bool {
        self.base.scheme() == "http" && !is_loopback(&self.base)
    }

    /// The other machine that chats go to. The key is the client's.
    pub fn destination(&self) -> Option<Destination> {
        Destination::of(&self.base, false)
    }

    /// The address of a request. A version that both paths have is written once.
    pub(super) fn url_of(&self, uri: &Uri) -> Url {
        let mut url = self.base.clone();
        let base = self.base.path().trim_end_matches('/');
        let base =
            if uri.path().starts_with("/v1/") { base.strip_suffix("/v1").unwrap_or(base) } else { base };
        url.set_path(&format!("{base}{}", uri.path()));
        url.set_query(uri.query());
        url
    }

    /// A client without timeouts: those of the chat client apply.
    pub(super) fn client(&self) -> reqwest::Result<reqwest::Client> {
        client_builder(&self.base).build()
    }
}

/// A text that may be an address, without user and password.
fn shown(address: &str) -> String {
    match (address.find("://"), address.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{}", &address[..scheme + 3], &address[at + 1..])
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_once() {
        let url =
            |base: &str, path: &str| Upstream::new(base).unwrap().url_of(&path.parse().unwrap()).to_string();
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            assert_eq!(url(base, "/v1/chat/completions?a=%20b"), "http://h:1/v1/chat/completions?a=%20b");
        }
        assert_eq!(url("https://h/api/v1", "/v1/models"), "https://h/api/v1/models");
        assert_eq!(url("https://h/api/v1", "/chat/completions"), "https://h/api/v1/chat/completions");
        assert_eq!(url("https://h/v1", "/v1beta/x%2Fy"), "https://h/v1/v1beta/x%2Fy");
    }

    #[test]
    fn chats_go_in_clear_to_other_machines_without_tls() {
        let is_in_clear = |address: &str| Upstream::new(address).unwrap().is_in_clear();
        for here in
            ["http://localhost:1", "http://127.8.0.1", "http://[::1]:1", "https://h", "https://10.0.0.1"]
        {
            assert!(!is_in_clear(here), "{here}");
        }
        for elsewhere in ["http://h", "http://10.0.0.1:1/v1", "http://[fe80::1]", "http://localhost.h"] {
            assert!(is_in_clear(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn an_invalid_address_is_shown_without_its_password() {
        for wrong in ["h:1", "ftp://h", "http://", "http://h?x=1", ""] {
            assert!(Upstream::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            Upstream::new("ftp://me:secret@h").unwrap_err(),
            "`ftp://h` is not the address of a web server"
        );
        assert_eq!(Upstream::new("http://me:secret@h:8/v1/").unwrap().shown(), "http://h:8/v1");
    }
}
