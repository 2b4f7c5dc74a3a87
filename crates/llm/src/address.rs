//! Addresses of servers, for requests and for error messages.
//!
//! A base address enters, with or without version and path; the address of one endpoint leaves.

use reqwest::Url;

use crate::model::ModelError;

/// The address of `call` (such as `/chat/completions`) under a base address with or without a version.
pub(super) fn versioned_endpoint(base: &str, call: &str) -> Result<Url, ModelError> {
    let mut url = parse_base(base)?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(call).unwrap_or(path);
    let is_version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let versioned = path.split('/').any(|part| part.strip_prefix('v').is_some_and(is_version));
    let version = if versioned { "" } else { "/v1" };
    let path = format!("{path}{version}{call}");
    url.set_path(&path);
    Ok(url)
}

/// The address of `call` (such as `/api/chat`) at an Ollama server, which may be given as a host alone,
/// as the address that it listens on, or as its OpenAI-compatible address.
pub(super) fn ollama_endpoint(host: &str, call: &str) -> Result<Url, ModelError> {
    const PORT: u16 = 11434;
    let host = host.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    let mut url = match host.split_once("://") {
        Some(_) => parse_base(host)?,
        None if host.starts_with(':') => parse_base(&format!("http://127.0.0.1{host}"))?,
        None => {
            let mut url = parse_base(&format!("http://{host}"))?;
            let authority = host.split('/').next().unwrap_or(host);
            if url.port().is_none() && !authority.ends_with(":80") {
                // A host without a scheme gets Ollama's port; one with a scheme gets the scheme's.
                url.set_port(Some(PORT)).map_err(|()| no_address())?;
            }
            url
        }
    };
    // A server that listens on all interfaces is reached by loopback.
    let loopback = match url.host_str() {
        Some("0.0.0.0") => Some("127.0.0.1"),
        Some("[::]") => Some("[::1]"),
        _ => None,
    };
    if let Some(loopback) = loopback {
        url.set_host(Some(loopback)).map_err(|_| no_address())?;
    }
    let mut path = url.path().trim_end_matches('/');
    for call in ["/api/chat", "/api/embed", "/api/embeddings", "/api", "/v1"] {
        path = path.strip_suffix(call).unwrap_or(path);
    }
    let path = format!("{path}{call}");
    url.set_path(&path);
    Ok(url)
}

/// The address that errors show: without user, password, query and the fixed end of the endpoint.
pub(super) fn display_address(endpoint: &Url, call: &str) -> String {
    let origin = endpoint.origin().ascii_serialization();
    let path = endpoint.path();
    format!("{origin}{}", path.strip_suffix(call).unwrap_or(path))
}

fn parse_base(base: &str) -> Result<Url, ModelError> {
    let mut url = Url::parse(base).map_err(|_| no_address())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(no_address());
    }
    url.set_fragment(None);
    Ok(url)
}

fn no_address() -> ModelError {
    ModelError::Settings {
        problem: "`base_url` is not an address of a web server".to_owned(),
        hint: "write it like `http://localhost:8080/v1`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_addresses() {
        for (base, endpoint) in [
            ("http://localhost:8080", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1//", "http://localhost:8080/v1/chat/completions"),
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
            ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/v1?api-version=2", "https://h/v1/chat/completions?api-version=2"),
        ] {
            assert_eq!(versioned_endpoint(base, "/chat/completions").unwrap().as_str(), endpoint);
        }
        for base in ["localhost:8080", "not an address", "ftp://h", "file:///etc"] {
            let result = versioned_endpoint(base, "/chat/completions");
            assert!(matches!(result, Err(ModelError::Settings { .. })), "{base}");
        }
        let endpoint = versioned_endpoint("https://h/anthropic", "/messages").unwrap();
        assert_eq!(endpoint.as_str(), "https://h/anthropic/v1/messages");
    }

    #[test]
    fn ollama_hosts() {
        for (host, base) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            (":8000", "http://127.0.0.1:8000"),
            ("[::]:8000", "http://[::1]:8000"),
            ("box.local", "http://box.local:11434"),
            ("box.local:80", "http://box.local"),
            (" \"box.local:1/\" ", "http://box.local:1"),
            ("http://box.local", "http://box.local"),
            ("http://0.0.0.0:11434/", "http://127.0.0.1:11434"),
            ("https://box.local/ollama/", "https://box.local/ollama"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
            ("http://127.0.0.1:11434/api/", "http://127.0.0.1:11434"),
        ] {
            let endpoint = ollama_endpoint(host, "/api/chat").unwrap();
            assert_eq!(endpoint.as_str(), format!("{base}/api/chat"), "{host}");
        }
        for host in ["", "ftp://h", "h:99999", "a b"] {
            assert!(ollama_endpoint(host, "/api/chat").is_err(), "{host}");
        }
    }

    #[test]
    fn displayed_addresses_hold_no_secrets() {
        let endpoint = versioned_endpoint("https://user:word@h:81/v1?key=word", "/chat/completions").unwrap();
        assert_eq!(display_address(&endpoint, "/chat/completions"), "https://h:81/v1");
    }
}
