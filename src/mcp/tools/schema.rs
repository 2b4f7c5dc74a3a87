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

/// The answer of tools that find memories.
pub(crate) fn memories() -> Value {
    object(&["query", "memories"])
}

/// The answer of tools that change a memory: outcome and address.
pub(crate) fn change() -> Value {
    object(&["outcome", "scope", "title"])
}

/// An object with required fields.
pub(crate) fn object(fields: &[&str]) -> Value {
    json!({"type": "object", "required": fields})
}
