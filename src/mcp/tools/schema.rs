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
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "memories": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "relevance": {"type": "number"},
                    "turn": {"type": "integer"},
                    "scope": {"type": "string"},
                    "title": {"type": "string"},
                    "category": {"type": "string"},
                },
            }},
        },
        "required": ["query", "memories"],
    })
}

/// The answer of tools that change a memory: outcome and address.
pub(crate) fn change() -> Value {
    object(&[("outcome", "string"), ("scope", "string"), ("title", "string")])
}

/// An object with required fields, each with its type.
pub(crate) fn object(fields: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
