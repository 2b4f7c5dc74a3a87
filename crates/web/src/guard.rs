//! Refuses requests that a page of another site makes a browser send.
//!
//! A browser on this machine reaches a server that listens for this machine alone. Such a page can send requests
//! without seeing the answers, or give its own name the address of this machine and see them ("DNS rebinding"). Both
//! are told by headers that the page cannot choose: `Host`, `Origin` and `Sec-Fetch-Site`. A content type of JSON needs
//! a preflight, which no server here answers.

use std::net::{IpAddr, SocketAddr};

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Version, header};

use crate::token::{Callers, TOKEN_HEADER};

/// Characters of a header that are shown to the caller.
const SHOWN_CHARS: usize = 100;

/// A request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the answer.
    pub status: StatusCode,
    /// The reason.
    pub problem: String,
    /// The next step for an honest caller.
    pub hint: String,
}

/// Decides which requests are answered.
#[derive(Debug, Clone)]
pub struct Guard {
    address: SocketAddr,
    names: Vec<String>,
    callers: Callers,
}

impl Guard {
    /// A guard for a server at an address. `names` are further hosts that callers may name, at any port.
    pub fn new(address: SocketAddr, names: &[String], callers: impl Into<Callers>) -> Guard {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Guard { address, names, callers: callers.into() }
    }

    /// Refuses a request that does not name this server, or that another site made a browser send.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status 400 or 403.
    pub fn check(&self, request: &Parts) -> Result<(), Refusal> {
        self.check_host(request)?;
        self.check_site(&request.headers)
    }

    /// Refuses a request without a right token, where one is needed. Returns the name of its caller, if the token has one.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status 401.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
        self.callers.find(headers).ok_or_else(|| {
            let (problem, hint) = match self.callers {
                Callers::Bearer(_) => (
                    "the request does not have a right `Authorization` header".to_owned(),
                    "send `Authorization: Bearer TOKEN` with a token of `MEMORIES_MCP_TOKEN`",
                ),
                _ => (
                    format!("the request does not have the right `{TOKEN_HEADER}` header"),
                    "send the token of `--token-file` or `MEMORIES_PROXY_TOKEN` in it",
                ),
            };
            Refusal { status: StatusCode::UNAUTHORIZED, problem, hint: hint.to_owned() }
        })
    }

    /// Refuses a request whose content is not JSON by its content type.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status 415.
    pub fn check_json(headers: &HeaderMap) -> Result<(), Refusal> {
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            return Ok(());
        }
        let problem = match content_type {
            "" => "the request has no content type".to_owned(),
            other => format!("the content type of the request is `{}`", shown(other)),
        };
        let hint = "send it with the header `Content-Type: application/json`".to_owned();
        Err(Refusal { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, problem, hint })
    }

    /// The request names its server by `Host`, and in its first line if that has the absolute form. Only a program
    /// that speaks HTTP/1.0 may leave it out: every browser sends it.
    fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        let hosts: Vec<_> = request.headers.get_all(header::HOST).iter().collect();
        let is_old = request.version < Version::HTTP_11;
        if hosts.len() > 1 || hosts.is_empty() && !is_old {
            let problem = format!("the request has {} `Host` headers", hosts.len());
            return Err(self.refusal(StatusCode::BAD_REQUEST, problem));
        }
        let hosts = hosts.into_iter().map(|host| host.to_str().unwrap_or_default());
        let named = hosts.chain(request.uri.authority().map(Authority::as_str));
        match named.into_iter().find(|named| !self.is_own(named, 80)) {
            Some(foreign) => {
                let problem = format!("`{}` is not the address of this server", shown(foreign));
                Err(self.refusal(StatusCode::FORBIDDEN, problem))
            }
            None => Ok(()),
        }
    }

    fn check_site(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let texts = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
        if let Some(origin) = texts(header::ORIGIN).find(|origin| !self.is_own_origin(origin)) {
            return Err(from_elsewhere(&format!("`{}`", shown(origin))));
        }
        let is_elsewhere = |site: &str| !matches!(site, "same-origin" | "none");
        match texts(header::HeaderName::from_static("sec-fetch-site")).find(|site| is_elsewhere(site)) {
            Some(_) => Err(from_elsewhere("another site")),
            None => Ok(()),
        }
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let with_port = |scheme, port| Some((origin.strip_prefix(scheme)?, port));
        with_port("http://", 80)
            .or_else(|| with_port("https://", 443))
            .is_some_and(|(authority, port)| self.is_own(authority, port))
    }

    /// True if `host` or `host:port` is this server.
    fn is_own(&self, authority: &str, default_port: u16) -> bool {
        let Some((host, port)) = host_and_port(authority, default_port) else { return false };
        if self.names.contains(&host) {
            return true;
        }
        let own = self.address.ip().to_canonical();
        let is_here = match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
            // An address in numbers cannot be rebound. A server that listens on all of them does not know its own.
            Ok(ip) => ip.is_loopback() || ip == own || own.is_unspecified(),
            Err(_) => host == "localhost",
        };
        is_here && port == self.address.port()
    }

    fn refusal(&self, status: StatusCode, problem: String) -> Refusal {
        let hint = format!("call it as `http://{}`, or start it with `--host NAME`", self.address);
        Refusal { status, problem, hint }
    }
}

/// Host in lower case, without the brackets of IPv6, and port. Nothing where there is a user, or a port that is none.
fn host_and_port(authority: &str, default_port: u16) -> Option<(String, u16)> {
    let parsed: Authority = authority.parse().ok()?;
    let host = parsed.host();
    let port = match authority.strip_prefix(host)? {
        "" => default_port,
        port => port.strip_prefix(':')?.parse().ok()?,
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some((host.to_ascii_lowercase(), port))
}

fn from_elsewhere(site: &str) -> Refusal {
    Refusal {
        status: StatusCode::FORBIDDEN,
        problem: format!("a page of {site} in a browser sent the request"),
        hint: "call it from a program; pages of other sites may not use it".to_owned(),
    }
}

fn shown(header: &str) -> String {
    header.chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().unwrap(), &["Memories.Example".to_owned()], Callers::Anyone)
    }

    /// The status of the refusal of a request with that `Host`; 200 where there is none.
    fn host(guard: &Guard, host: &str) -> u16 {
        status(guard, Request::post("/v1/chat/completions").header("Host", host))
    }

    fn status(guard: &Guard, request: axum::http::request::Builder) -> u16 {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard.check(&parts).err().map_or(200, |refusal| refusal.status.as_u16())
    }

    #[test]
    fn the_host_is_this_server() {
        let local = guard("127.0.0.1:4141");
        for own in ["127.0.0.1:4141", "localhost:4141", "LOCALHOST:4141", "[::1]:4141", "127.8.9.10:4141"] {
            assert_eq!(host(&local, own), 200, "{own}");
        }
        for named in ["memories.example", "memories.example:8080", "MEMORIES.example:443"] {
            assert_eq!(host(&local, named), 200, "{named}");
        }
        for foreign in [
            "evil.example",
            "evil.example:4141",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "localhost:4142",
            "",
            "localhost.evil.example:4141",
            "127.0.0.1.evil.example:4141",
            "192.168.1.5:4141",
            "0.0.0.0:4141",
            "user@localhost:4141",
            "localhost:4141@evil.example",
            "localhost:4141/x",
            "localhost:04141x",
            "[::1]4141",
            "localhost:",
            "localhost:70000",
            "127.1:4141",
            "a.memories.example",
            "memories.example.evil",
        ] {
            assert_eq!(host(&local, foreign), 403, "{foreign}");
        }
        assert_eq!(host(&guard("127.0.0.1:80"), "localhost"), 200);
    }

    #[test]
    fn a_server_of_all_addresses_has_any_address_and_no_other_name() {
        for all in [guard("0.0.0.0:4141"), guard("[::]:4141")] {
            for own in ["192.168.1.5:4141", "[fe80::1]:4141", "localhost:4141", "memories.example"] {
                assert_eq!(host(&all, own), 200, "{own}");
            }
            for foreign in ["192.168.1.5:80", "evil.example:4141"] {
                assert_eq!(host(&all, foreign), 403, "{foreign}");
            }
        }
        let one = guard("192.168.1.5:4141");
        assert_eq!((host(&one, "192.168.1.5:4141"), host(&one, "192.168.1.6:4141")), (200, 403));
        assert_eq!(host(&guard("[::ffff:127.0.0.1]:4141"), "127.0.0.1:4141"), 200);
    }

    #[test]
    fn the_first_line_counts_too_and_only_old_programs_may_name_no_host() {
        let local = guard("127.0.0.1:4141");
        let own = || Request::get("http://localhost:4141/v1/models");
        assert_eq!(status(&local, own().header("Host", "localhost:4141")), 200);
        assert_eq!(status(&local, own().header("Host", "evil.example")), 403);
        let foreign = Request::get("http://evil.example/v1/models").header("Host", "localhost:4141");
        assert_eq!(status(&local, foreign), 403);
        assert_eq!(status(&local, Request::get("/healthz")), 400);
        assert_eq!(status(&local, own()), 400);
        assert_eq!(status(&local, Request::get("/healthz").version(Version::HTTP_10)), 200);
        let old = Request::get("/healthz").version(Version::HTTP_10).header("Host", "evil.example");
        assert_eq!(status(&local, old), 403);
        let two = Request::get("/").header("Host", "localhost:4141").header("Host", "localhost:4141");
        assert_eq!(status(&local, two), 400);
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let local = guard("127.0.0.1:4141");
        let with = |name: &str, value: &str| {
            status(&local, Request::post("/").header("Host", "localhost:4141").header(name, value))
        };
        for own in ["http://localhost:4141", "http://127.0.0.1:4141", "https://memories.example"] {
            assert_eq!(with("Origin", own), 200, "{own}");
        }
        for foreign in [
            "http://evil.example",
            "null",
            "",
            "http://localhost:3000",
            "https://localhost",
            "file://",
            "localhost:4141",
            "http://localhost:4141@evil.example",
            "http://localhost:4141/",
            "chrome-extension://abc",
            "http://h\u{e9}",
        ] {
            assert_eq!(with("Origin", foreign), 403, "{foreign}");
        }
        for (site, expected) in
            [("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403), ("new", 403)]
        {
            assert_eq!(with("Sec-Fetch-Site", site), expected, "{site}");
        }
        let both =
            Request::post("/").header("Host", "localhost:4141").header("Origin", "http://localhost:4141");
        assert_eq!(status(&local, both.header("Origin", "http://evil.example")), 403);
    }

    #[test]
    fn a_chat_is_json() {
        let status = |content_type: Option<&'static str>| {
            let headers = content_type.map(|value| (header::CONTENT_TYPE, value.parse().unwrap()));
            Guard::check_json(&headers.into_iter().collect())
                .err()
                .map_or(200, |refusal| refusal.status.as_u16())
        };
        for json in ["application/json", "Application/JSON; charset=utf-8", " application/json ;x=y"] {
            assert_eq!(status(Some(json)), 200, "{json}");
        }
        for other in [
            "text/plain",
            "text/plain; x=application/json",
            "application/json-seq",
            "",
            "application/x-www-form-urlencoded",
        ] {
            assert_eq!(status(Some(other)), 415, "{other}");
        }
        assert_eq!(status(None), 415);
    }
}
