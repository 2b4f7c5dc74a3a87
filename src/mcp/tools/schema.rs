//! JSON schemas of arguments and answers, kept short because models read them with every prompt.

use serde_json::{Map, Value, json};

use crate::mcp::parameter::Parameter;

/// The schema of arguments.
pub(crate) fn arguments(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
    let required = parameters.iter().filter(|parameter| parameter.required.is_some());
    let required: Vec<&str> = required.map(|parameter| parameter.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Fields of the answer of tools that find memories.
pub(super) const MEMORIES: &[&str] = &["query", "memories"];

/// Fields of the answer of tools that change a memory: outcome and address.
pub(super) const CHANGE: &[&str] = &["outcome", "scope", "title"];

/// The schema of an answer: an object with these fields.
pub(crate) fn answer(fields: &[&str]) -> Value {
    json!({"type": "object", "required": fields})
}
