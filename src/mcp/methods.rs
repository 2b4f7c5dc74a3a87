//! The methods of the protocol's versions: which were removed, and what is wrong with a request that was not read.

#![expect(
    deprecated,
    reason = "logging leaves the protocol one day; the versions that clients speak have it"
)]

use rmcp::model::{
    CallToolRequestParams, CustomRequest, ErrorData, GetPromptRequestParams, InitializeRequestParams,
    ProtocolVersion, ReadResourceRequestParams, SetLevelRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::mcp::said;
use memories_document::types::model_text::ModelText;

/// Methods that a client asked for until the version without sessions.
const REMOVED: [&str; 6] =
    ["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe", "roots/list"];

/// Reads parameters only to say what is wrong with them.
type Problem = fn(Value) -> Option<serde_json::Error>;

/// Methods that are answered and have parameters without which they are not.
const PARAMETERS: [(&str, Problem); 5] = [
    ("initialize", problem::<InitializeRequestParams>),
    ("logging/setLevel", problem::<SetLevelRequestParams>),
    ("prompts/get", problem::<GetPromptRequestParams>),
    ("resources/read", problem::<ReadResourceRequestParams>),
    ("tools/call", problem::<CallToolRequestParams>),
];

fn problem<T: DeserializeOwned>(parameters: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(parameters).err()
}

/// True for a request in a version without sessions: it says its version itself.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version().or_else(|| context.protocol_version());
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The error of a method that the version of the request has no longer.
///
/// # Errors
///
/// If it was removed.
pub(super) fn check(method: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let is_removed = is_stateless(context) && REMOVED.contains(&method);
    if is_removed { Err(unknown(method, context)) } else { Ok(()) }
}

/// The error of a method that is not answered.
pub(super) fn unknown(method: &str, context: &RequestContext<RoleServer>) -> ErrorData {
    let problem = if is_stateless(context) && REMOVED.contains(&method) {
        format!("the method `{method}` was removed from the protocol in 2026-07-28")
    } else {
        format!("this server has no method `{method}`")
    };
    said::unknown_method(&ModelText::of(&problem))
}

/// The error of a request that the SDK could not read: its method is not known, or its parameters are wrong.
pub(super) fn unread(request: CustomRequest, context: &RequestContext<RoleServer>) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    if let Err(removed) = check(&method, context) {
        return removed;
    }
    let Some((_, problem)) = PARAMETERS.iter().find(|(known, _)| *known == method) else {
        return unknown(&method, context);
    };
    let wrong = match params {
        None => "there are none".to_owned(),
        Some(params) => problem(params).map_or_else(String::new, |error| error.to_string()),
    };
    said::invalid(ModelText::of(&format!("these are not the parameters of `{method}`: {wrong}")))
}
