//! What the client's model reads: messages of the protocol, made of text that is fit for a model and of no other.
//!
//! Only this file makes contents, errors and names of the protocol, so a door that forgets the cleaning does not compile.

#![expect(
    deprecated,
    reason = "logging leaves the protocol one day; the versions that clients speak have it"
)]

use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, GetPromptResult, LoggingLevel,
    LoggingMessageNotificationParam, MetaObject, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, Role, object,
};
use serde_json::{Value, json};

use memories_document::types::model_text::{ModelText, ModelValue};

/// Field of `_meta`: `true` in a call asks for the answer of the command line with `--json`, which is then in the
/// result's.
const FOR_PROGRAMS: &str = "memories/answer";

/// The type of the text of all resources.
pub(super) const MIME_TYPE: &str = "text/markdown";

/// True if a call asks for that answer.
pub(super) fn is_for_programs(meta: &MetaObject) -> bool {
    meta.get(FOR_PROGRAMS) == Some(&Value::Bool(true))
}

/// The result of a call. What is for programs is no text for a model, and stays whole.
pub(super) fn answer(text: ModelText, data: ModelValue, for_programs: Option<Value>) -> CallToolResult {
    let mut result = CallToolResult::structured(data.into());
    result.content = vec![ContentBlock::text(text)];
    result.meta = for_programs.map(|answer| MetaObject(object(json!({FOR_PROGRAMS: answer}))));
    result
}

/// The result of a call that is refused.
pub(super) fn refusal(text: ModelText, data: ModelValue) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(MetaObject(object(json!({"memories/error": data}))));
    result
}

/// A line of the log.
pub(super) fn log(level: LoggingLevel, text: &ModelText) -> LoggingMessageNotificationParam {
    LoggingMessageNotificationParam::new(level, json!(text)).with_logger("memories")
}

/// The error of a request other than a call.
pub(super) fn invalid(text: ModelText) -> ErrorData {
    ErrorData::invalid_params(String::from(text), None)
}

/// The error of a request for a method that nobody knows.
pub(super) fn unknown_method(method: &ModelText) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_string(), None)
}

/// The error of a request for a resource, with the address that the client sent.
pub(super) fn no_resource(text: ModelText, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(String::from(text), Some(json!({ "uri": uri })))
}

/// A resource in a list.
pub(super) fn resource(uri: &ModelText, name: &ModelText) -> Resource {
    Resource::new(&**uri, &**name).with_mime_type(MIME_TYPE)
}

/// The text of a resource, with the address that the client sent.
pub(super) fn contents(text: ModelText, uri: String) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MIME_TYPE)])
}

/// A prompt.
pub(super) fn prompt(text: ModelText, about: &str) -> GetPromptResult {
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(about)
}
