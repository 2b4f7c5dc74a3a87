//! Reads one message of a client, a line or the body of a request, and answers what is none with the protocol's error.
//!
//! The id of a request is read even where something else in it cannot be, so that its sender does not wait.

use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Codes of JSON-RPC 2.0.
const NOT_JSON: i32 = -32700;
pub(super) const NOT_REQUEST: i32 = -32600;
const WRONG_PARAMS: i32 = -32602;

/// A line of a client.
pub(super) enum Line {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Nothing that gets an answer: an empty line, or a notification or an answer that is not understood.
    Ignored,
    /// The answer to a line that is no message.
    Refused(String),
}

/// The answer to a line that is longer than `limit` bytes. Its id is not looked for.
pub(super) fn too_long(limit: usize) -> String {
    refusal(NOT_REQUEST, &format!("the line is longer than {} MiB", limit >> 20), None)
}

/// Reads a line, with or without its line break.
pub(super) fn read(line: &[u8]) -> Line {
    let line = line.trim_ascii();
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.is_empty() {
        return Line::Ignored;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Line::Message(Box::new(message)),
        Err(_) => refuse(line).map_or(Line::Ignored, Line::Refused),
    }
}

/// The id, as it is written. What stands beside it need not be valid.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
}

/// Tells `null` from nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// An id is a string or a number; any number, for its sender waits for that one.
fn is_id(id: &RawValue) -> bool {
    match id.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(id.get()).is_ok(),
        Some(first) => *first == b'-' || first.is_ascii_digit(),
        None => false,
    }
}

fn refuse(line: &[u8]) -> Option<String> {
    let head: Option<Head<'_>> = serde_json::from_slice(line).ok();
    let id = head.and_then(|head| head.id).filter(|id| is_id(id));
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return Some(refusal(NOT_JSON, &format!("the message is not JSON: {error}"), id)),
    };
    let Value::Object(fields) = value else {
        return Some(refusal(NOT_REQUEST, "a message is one JSON object, on a line of its own", None));
    };
    let method = fields.get("method").and_then(Value::as_str);
    let has = |name| fields.contains_key(name);
    let is_new = fields.get("jsonrpc").is_some_and(|version| version == "2.0");
    let is_usual_id = fields.get("id").is_some_and(|id| id.is_string() || id.is_i64());
    match method {
        Some(_) if !has("id") => None,
        None if !has("method") && (has("result") || has("error")) => None,
        Some(method) if is_new && is_usual_id => {
            Some(refusal(WRONG_PARAMS, &format!("these are not the parameters of `{method}`"), id))
        }
        _ => {
            let problem =
                "a request has `\"jsonrpc\": \"2.0\"`, a method, and a string or a 64-bit integer as its id";
            Some(refusal(NOT_REQUEST, problem, id))
        }
    }
}

/// The answer to what is no message, with the id as it was written.
pub(super) fn refusal(code: i32, problem: &str, id: Option<&RawValue>) -> String {
    let id = id.map_or("null", RawValue::get);
    let error = json!({"code": code, "message": problem});
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code and the id of the answer to a line.
    fn refused(line: &[u8]) -> Option<(i64, String)> {
        match read(line) {
            Line::Refused(refusal) => {
                let value: Value = serde_json::from_str(&refusal).unwrap();
                let (_, rest) = refusal.split_once("\"id\":").unwrap();
                let (id, _) = rest.split_once(",\"error\"").unwrap();
                Some((value["error"]["code"].as_i64().unwrap(), id.to_owned()))
            }
            Line::Ignored => None,
            Line::Message(message) => panic!("{message:?}"),
        }
    }

    #[test]
    fn lines_that_are_not_json_have_the_id_that_can_be_read() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"ping","params":{}"#, "[".repeat(100_000));
        let nested = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\",\"params\":{{\"a\":{}{}}}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        let cases: [(&[u8], &str); 8] = [
            (b"hello", "null"),
            (b"\xff", "null"),
            (b"{", "null"),
            (deep.as_bytes(), "null"),
            (nested.as_bytes(), "3"),
            (br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"a\ud800b"}}"#, "7"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", "\"x\""),
            (br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping","params":{}}"#, "null"),
        ];
        for (line, id) in cases {
            assert_eq!(refused(line), Some((-32700, id.to_owned())), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn what_is_json_and_no_request_is_told_so() {
        for (line, code, id) in [
            ("[]", -32600, "null"),
            ("\"hello\"", -32600, "null"),
            ("{}", -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":5}"#, -32600, "5"),
            (r#"{"id":5,"method":"ping"}"#, -32600, "5"),
            (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, -32600, "5"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, "1.5"),
            (
                r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#,
                -32600,
                "123456789012345678901234567890",
            ),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, -32600, "5"),
            (r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"tools/call","params":[]}"#, -32602, "null"),
            (r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":[1]}"#, -32602, "\"q\""),
            (r#"{"jsonrpc":"2.0","id":5,"method":"no/such","params":[1]}"#, -32602, "5"),
        ] {
            assert_eq!(refused(line.as_bytes()), Some((code, id.to_owned())), "{line}");
        }
    }

    #[test]
    fn notifications_and_answers_get_no_answer() {
        for line in [
            "",
            " \r\n",
            r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":7}"#,
        ] {
            assert_eq!(refused(line.as_bytes()), None, "{line}");
        }
    }
}
