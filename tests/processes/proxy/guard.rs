//! Requests that a page in a browser makes, and requests without the token, written to the socket as they are.

use super::*;
use crate::server::raw;

const TOKEN: &str = "a-token-of-24-characters";

/// A chat with these headers; the connection ends after it.
fn chat(headers: &str) -> String {
    let body = question().to_string();
    let length = body.len();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn a_page_of_another_site_reaches_nothing() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.url());
    let own = proxy.address;
    let json = "Content-Type: application/json\r\n";
    let attempts = [
        // The name of the page's own server, which now has this machine's address.
        (403, chat(&format!("Host: evil.example:{}\r\n{json}", own.port()))),
        (403, chat(&format!("Host: {own}\r\nOrigin: http://evil.example\r\n{json}"))),
        (403, chat(&format!("Host: {own}\r\nOrigin: null\r\n{json}"))),
        (403, chat(&format!("Host: {own}\r\nSec-Fetch-Site: cross-site\r\n{json}"))),
        (403, chat(&format!("Host: {own}\r\nSec-Fetch-Site: same-site\r\n{json}"))),
        // A request without preflight, from a browser too old to say where it comes from.
        (415, chat(&format!("Host: {own}\r\nContent-Type: text/plain\r\n"))),
        (415, chat(&format!("Host: {own}\r\n"))),
        (400, chat(json)),
        (400, chat(&format!("Host: {own}\r\nHost: evil.example\r\n{json}"))),
        (
            403,
            format!("GET http://evil.example/v1/models HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        ),
        (403, format!("CONNECT evil.example:443 HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n")),
        (403, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".to_owned()),
        (
            403,
            format!(
                "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
            ),
        ),
    ];
    for (expected, attempt) in attempts {
        let (status, head, body) = raw(own, &attempt);
        assert_eq!(status, expected, "{attempt}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert!(!head.contains("access-control-"), "{head}");
        let error = &serde_json::from_str::<Value>(&body).unwrap()["error"];
        assert_eq!((&error["type"], &error["code"]), (&json!("memories_proxy"), &json!(status)));
        assert!(error["message"].as_str().unwrap().contains("\nhint: "), "{error}");
    }
    assert!(upstream.requests().is_empty());
    assert!(proxy.told.try_recv().is_err());
}

#[test]
fn programs_get_through_whatever_they_call_this_machine() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::before(&upstream.url());
    let (own, port) = (proxy.address, proxy.address.port());
    let json = "Content-Type: application/json; charset=utf-8\r\n";
    for host in [own.to_string(), format!("LocalHost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(raw(own, &chat(&format!("Host: {host}\r\n{json}"))).0, 200, "{host}");
        assert_eq!(proxy.told().2["content"], "Hello.");
    }
    let page =
        format!("Host: {own}\r\nOrigin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n{json}");
    assert_eq!(raw(own, &chat(&page)).0, 200);
    let absolute = format!("GET http://{own}/v1/models HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
    assert_eq!(raw(own, &absolute).0, 200);
    assert_eq!(raw(own, "GET /healthz HTTP/1.0\r\n\r\n").0, 200);
    assert_eq!(upstream.requests().len(), 5);
}

#[test]
fn the_server_behind_cannot_let_other_sites_read() {
    let upstream = Server::start(vec![
        Behaviour::says("Hello.")
            .with_header("Access-Control-Allow-Origin", "http://evil.example")
            .with_header("access-control-allow-credentials", "true")
            .with_header("Access-Control-Allow-Private-Network", "true")
            .with_header("X-Upstream", "yes"),
    ]);
    let proxy = Proxy::before(&upstream.url());
    let own = proxy.address;
    let preflight = format!(
        "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: {own}\r\nAccess-Control-Request-Method: POST\r\n\
         Connection: close\r\n\r\n"
    );
    for request in [chat(&format!("Host: {own}\r\nContent-Type: application/json\r\n")), preflight] {
        let (status, head, _) = raw(own, &request);
        assert_eq!(status, 200);
        assert!(head.contains("x-upstream: yes") && !head.contains("access-control-"), "{head}");
    }
}

#[test]
fn a_token_is_demanded_and_goes_no_further() {
    let upstream = Server::start(vec![Behaviour::says("Hello.")]);
    let proxy = Proxy::with(&upstream.url(), Some(TOKEN), Limits::default());
    let send = |token: Option<&str>| {
        let request = proxy.chat(&question()).header("Authorization", "Bearer sk-key");
        token
            .into_iter()
            .fold(request, |request, token| request.header("X-Memories-Token", token))
            .send()
            .unwrap()
    };
    for wrong in [None, Some(""), Some("a-token-of-24-character"), Some("Bearer a-token-of-24-characters")] {
        let reply = send(wrong);
        assert_eq!(reply.status(), 401, "{wrong:?}");
        assert!(reply.headers().contains_key("www-authenticate"));
        let text = reply.text().unwrap();
        assert!(text.contains("hint: ") && !text.contains(TOKEN), "{text}");
    }
    assert_eq!(http_client().get(proxy.url("/v1/models")).send().unwrap().status(), 401);
    assert!(upstream.requests().is_empty());
    assert_eq!(send(Some(TOKEN)).status(), 200);
    let up = upstream.requests().remove(0);
    assert_eq!(up.header("authorization"), Some("Bearer sk-key"));
    assert!(up.headers.iter().all(|(name, value)| !name.starts_with("x-memories") && !value.contains(TOKEN)));

    let health = |request: RequestBuilder| request.send().unwrap().json::<Value>().unwrap();
    let get = || http_client().get(proxy.url("/healthz"));
    assert_eq!(health(get()), json!({"version": 1, "status": "ok"}));
    let known = health(get().header("X-Memories-Token", TOKEN));
    assert_eq!(known["upstream"], upstream.url());
}

#[test]
fn health_does_not_tell_the_password_of_the_server_behind() {
    let proxy = Proxy::before("http://me:secret-password@127.0.0.1:1/v1");
    let health = http_client().get(proxy.url("/healthz")).send().unwrap().text().unwrap();
    assert!(health.contains("http://127.0.0.1:1/v1") && !health.contains("secret-password"), "{health}");
}
