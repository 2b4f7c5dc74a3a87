//! Headers that one side sends and the other side gets.

use axum::http::{HeaderMap, HeaderName, header};

/// Prefix of the headers that are meant for the proxy, and not passed on.
pub(super) const OWN_PREFIX: &str = "x-memories-";

/// Prefix of the headers by which a server lets pages of other sites read its replies.
const CROSS_ORIGIN_PREFIX: &str = "access-control-";

/// Headers of one connection (hop by hop), which are not passed on.
const HOP_BY_HOP: [HeaderName; 10] = [
    header::CONNECTION,
    header::EXPECT,
    header::HOST,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The content type; empty where there is none.
pub(super) fn content_type(headers: &HeaderMap) -> &str {
    headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The headers of a request that go to the server.
pub(super) fn passed_up(headers: &HeaderMap) -> HeaderMap {
    passed_on(headers, |name| !name.starts_with(OWN_PREFIX))
}

/// The headers of a reply that go to the client. The server's leave for pages of other sites does not: they would
/// read the memories that were inserted.
pub(super) fn passed_down(headers: &HeaderMap) -> HeaderMap {
    passed_on(headers, |name| !name.starts_with(OWN_PREFIX) && !name.starts_with(CROSS_ORIGIN_PREFIX))
}

/// The headers that are not of one connection and that `wants` takes by their names.
fn passed_on(headers: &HeaderMap, wants: impl Fn(&str) -> bool) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase()).collect();
    let is_passed_on = |name: &HeaderName| {
        let text = name.as_str();
        !HOP_BY_HOP.contains(name) && !named.iter().any(|named| named == text) && wants(text)
    };
    let kept = headers.iter().filter(|(name, _)| is_passed_on(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
