//! Reads one message of a client, a line or the body of a request, and answers what is none with the protocol's error.
//!
//! The id of a request is read even where something else in it cannot be, so that its sender does not wait.

use rmcp::model::{ClientRequest, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use memories_document::types::fields::{Expected, FieldError, Fields, text};
use memories_document::types::json::without_mark;

/// Codes of JSON-RPC 2.0.
const NOT_JSON: i32 = -32700;
pub(super) const NOT_REQUEST: i32 = -32600;
const NO_METHOD: i32 = -32601;
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
    let line = without_mark(line.trim_ascii()).trim_ascii();
    if line.is_empty() {
        return Line::Ignored;
    }
    match serde_json::from_slice(line) {
        Ok(message) => match refusal_of(&message, line) {
            Some(refusal) => Line::Refused(refusal),
            None => Line::Message(Box::new(message)),
        },
        Err(_) => refuse(line).map_or(Line::Ignored, Line::Refused),
    }
}

/// The answer to a request that the SDK would not answer rightly: it says of wrong parameters that there is no such
/// method, and answers methods which the version of the protocol that the request names no longer has.
fn refusal_of(message: &RxJsonRpcMessage<RoleServer>, line: &[u8]) -> Option<String> {
    let RxJsonRpcMessage::<RoleServer>::Request(request) = message else { return None };
    let (request, method) = (&request.request, request.request.method());
    let refuse = |code: i32, problem: &str| {
        let head: Option<Head<'_>> = serde_json::from_slice(line).ok();
        Some(refusal(code, problem, head.and_then(|head| head.id)))
    };
    if REMOVED.contains(&method) && is_of_new_protocol(line) {
        return refuse(NO_METHOD, &format!("`{method}` is no method of this version of the protocol"));
    }
    match request {
        ClientRequest::CustomRequest(request) => {
            refuse(WRONG_PARAMS, &wrong_params(method, request.params.as_ref())?)
        }
        // The SDK passes over a cursor that it cannot read, and would begin the list anew.
        _ if method.ends_with("/list") => {
            let value: Value = serde_json::from_slice(line).ok()?;
            let cursor =
                value["params"].get("cursor").filter(|cursor| !cursor.is_null() && !cursor.is_string())?;
            refuse(WRONG_PARAMS, &FieldError::new("cursor", cursor, "a text").to_string())
        }
        _ => None,
    }
}

/// True for a request that names a version of the protocol from 2026-07-28 on.
fn is_of_new_protocol(line: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let version = value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Methods that the protocol has no longer since 2026-07-28.
const REMOVED: [&str; 4] = ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The methods, each with the parameters that it needs and with those that it may have.
const METHODS: [(&str, &[Param], &[Param]); 13] = [
    ("completion/complete", &[("ref", Kind::Object), ("argument", Kind::Object)], &[]),
    (
        "initialize",
        &[("protocolVersion", Kind::Text), ("capabilities", Kind::Object), ("clientInfo", Kind::Object)],
        &[],
    ),
    ("logging/setLevel", &[("level", Kind::Text)], &[]),
    ("ping", &[], &[]),
    ("prompts/get", &[("name", Kind::Text)], &[("arguments", Kind::Object)]),
    ("prompts/list", &[], &[("cursor", Kind::Text)]),
    ("resources/list", &[], &[("cursor", Kind::Text)]),
    ("resources/read", &[("uri", Kind::Text)], &[]),
    ("resources/subscribe", &[("uri", Kind::Text)], &[]),
    ("resources/templates/list", &[], &[("cursor", Kind::Text)]),
    ("resources/unsubscribe", &[("uri", Kind::Text)], &[]),
    ("tools/call", &[("name", Kind::Text)], &[("arguments", Kind::Object)]),
    ("tools/list", &[], &[("cursor", Kind::Text)]),
];

/// A parameter and what it is.
type Param = (&'static str, Kind);

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
}

impl Kind {
    fn read(self, value: &Value) -> Result<(), Expected> {
        match self {
            Kind::Text => text(value).map(|_| ()),
            Kind::Object if value.is_object() => Ok(()),
            Kind::Object => Err("an object".into()),
        }
    }
}

/// The fault in the parameters of a method; `None` for a method that is not known.
fn wrong_params(method: &str, params: Option<&Value>) -> Option<String> {
    let (_, needed, others) = METHODS.iter().find(|(known, ..)| *known == method)?;
    let nothing = Map::new();
    let params = match params {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(params)) => params,
        Some(other) => return Some(FieldError::new("params", other, "an object").to_string()),
    };
    let fields = Fields::of(params);
    let missing = needed.iter().find(|(name, _)| fields.get(name).is_none());
    let mut known = needed.iter().chain(*others);
    Some(match missing {
        Some((name, _)) => format!("`{name}` is missing in the parameters of `{method}`"),
        None => match known.find_map(|(name, kind)| fields.read(name, |value| kind.read(value)).err()) {
            Some(error) => error.to_string(),
            None => format!("these are not the parameters of `{method}`"),
        },
    })
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
            let problem = wrong_params(method, fields.get("params"));
            let problem = problem.unwrap_or_else(|| format!("these are not the parameters of `{method}`"));
            Some(refusal(WRONG_PARAMS, &problem, id))
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
    fn wrong_parameters_are_named_and_unknown_methods_are_left_to_the_sdk() {
        let answer = |method: &str, params: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{params}}}"#);
            match read(line.as_bytes()) {
                Line::Refused(refusal) => {
                    let value: Value = serde_json::from_str(&refusal).unwrap();
                    assert_eq!(value["id"], "a");
                    Some((
                        value["error"]["code"].as_i64().unwrap(),
                        value["error"]["message"].as_str().unwrap().to_owned(),
                    ))
                }
                _ => None,
            }
        };
        let wrong = |problem: &str| Some((-32602, problem.to_owned()));
        for (method, params, problem) in [
            ("tools/call", r#"{"name":"top","arguments":[]}"#, "`arguments` is [], expected an object"),
            ("tools/call", r#"{"name":"top","arguments":"{}"}"#, "`arguments` is \"{}\", expected an object"),
            ("tools/call", r#"{"name":7}"#, "`name` is 7, expected a text"),
            ("tools/call", "{}", "`name` is missing in the parameters of `tools/call`"),
            ("tools/call", "null", "`name` is missing in the parameters of `tools/call`"),
            ("tools/call", "[]", "`params` is [], expected an object"),
            ("tools/list", "\"x\"", "`params` is \"x\", expected an object"),
            ("tools/list", r#"{"cursor":[]}"#, "`cursor` is [], expected a text"),
            ("prompts/get", r#"{"arguments":{}}"#, "`name` is missing in the parameters of `prompts/get`"),
            ("resources/read", r#"{"uri":5}"#, "`uri` is 5, expected a text"),
            ("initialize", "{}", "`protocolVersion` is missing in the parameters of `initialize`"),
        ] {
            assert_eq!(answer(method, params), wrong(problem), "{method} {params}");
        }
        for (method, params) in
            [("tools/call", r#"{"name":"x","arguments":null}"#), ("tools/list", "null"), ("no/such", "{}")]
        {
            assert_eq!(answer(method, params), None, "{method} {params}");
        }
        let meta = |version: &str| {
            format!(
                r#"{{"uri":"a","level":"debug","_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"}}}}"#
            )
        };
        for method in REMOVED {
            assert_eq!(answer(method, &meta("2026-07-28")).map(|(code, _)| code), Some(-32601), "{method}");
            assert_eq!(answer(method, &meta("2025-11-25")), None, "{method}");
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
