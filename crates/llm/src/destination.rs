//! The machine that texts are sent to.

use reqwest::Url;

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
        if crate::connect::is_loopback(address) {
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
