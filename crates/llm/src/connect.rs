//! HTTP clients with the settings that every connection to a model needs, and the machines that they reach.

use std::net::IpAddr;

use reqwest::Url;

/// A client for one server. It follows no redirects, because they could carry the key to another host, and
/// it reaches a server on this machine without a proxy.
pub fn client_builder(server: &Url) -> reqwest::ClientBuilder {
    install_tls();
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    if is_loopback(server) { builder.no_proxy() } else { builder }
}

/// Chooses the TLS implementation of this process.
pub fn install_tls() {
    // An error means that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// True if a server is on this machine.
pub fn is_loopback(server: &Url) -> bool {
    let host = server.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Another machine, by which the texts of a person leave this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its name or address, without scheme and port.
    pub host: String,
    /// True if a key or a password is sent to it without encryption.
    pub exposes_key: bool,
}

impl Destination {
    /// The machine behind an address, `None` for this one.
    pub fn of(address: &Url, has_key: bool) -> Option<Destination> {
        if is_loopback(address) {
            return None;
        }
        let has_password = !address.username().is_empty() || address.password().is_some();
        let exposes_key = address.scheme() == "http" && (has_key || has_password);
        Some(Destination { host: address.host_str()?.to_owned(), exposes_key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_name_and_its_addresses() {
        let loopback = |address: &str| is_loopback(&Url::parse(address).unwrap());
        for address in
            ["http://localhost:1/v1", "http://127.0.0.1", "http://127.1.2.3:80", "http://[::1]:8080"]
        {
            assert!(loopback(address), "{address}");
        }
        for address in ["http://localhost.h", "http://127.h", "http://128.0.0.1", "http://[::2]", "https://h"]
        {
            assert!(!loopback(address), "{address}");
        }
    }

    #[test]
    fn only_other_machines_are_destinations() {
        let of = |address: &str, has_key| Destination::of(&Url::parse(address).unwrap(), has_key);
        let to = |exposes_key| Some(Destination { host: "h".to_owned(), exposes_key });
        for address in ["http://127.0.0.1:8080/v1", "http://localhost", "http://[::1]:1"] {
            assert_eq!(of(address, true), None, "{address}");
        }
        assert_eq!(of("https://h/v1", true), to(false));
        assert_eq!(of("http://h:8080", false), to(false));
        assert_eq!(of("http://h:8080", true), to(true));
        assert_eq!(of("http://user:word@h:8080", false), to(true));
    }
}
