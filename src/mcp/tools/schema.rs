//! JSON schemas, as short as they can be: every client's model reads them with every prompt.

use serde_json::{Map, Value, json};

/// An argument: its name, its type, whether it must be there, and a word about it where the name does
/// not say it all.
pub struct Parameter(pub &'static str, pub &'static str, pub bool, pub &'static str);

/// The schema of arguments.
pub fn arguments(parameters: &[Parameter]) -> Value {
    let mut properties = Map::new();
    for Parameter(name, kind, _, about) in parameters {
        let mut property = match kind.strip_suffix("[]") {
            Some(items) => json!({"type": "array", "items": {"type": items}}),
            None => json!({"type": kind}),
        };
        if !about.is_empty() {
            property["description"] = json!(about);
        }
        properties.insert((*name).to_owned(), property);
    }
    let required: Vec<&str> = parameters
        .iter()
        .filter(|Parameter(_, _, required, _)| *required)
        .map(|parameter| parameter.0)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The answer of all that find memories.
pub fn memories() -> Value {
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
                "required": ["content", "relevance", "scope", "title", "category"],
            }},
        },
        "required": ["query", "memories"],
    })
}

/// The answer of all that change a memory: what became of which one.
pub fn change() -> Value {
    object(&[("outcome", "string"), ("scope", "string"), ("title", "string")])
}

/// An object with fields that are always there, each with its type.
pub fn object(fields: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
