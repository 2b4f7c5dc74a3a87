//! A JSON schema in the subset that Anthropic's structured output accepts.
//!
//! Any schema enters; one without the keywords that the server refuses leaves. Their content is kept in
//! the description, where the model reads it.

use serde_json::{Map, Value, json};

/// Keywords that the server accepts; it refuses the whole request for any other.
const TAKEN: [&str; 12] = [
    "type",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "items",
    "title",
    "description",
];

/// The schema with every object closed and every bound written in the description.
pub(super) fn accepted(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    let mut kept = Map::new();
    let mut notes = Vec::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "properties" | "$defs" => each_field(value),
            "items" => accepted(value),
            "anyOf" | "allOf" => each_item(value),
            "additionalProperties" => continue,
            name if TAKEN.contains(&name) => value.clone(),
            name => {
                notes.push(format!("{name}: {value}"));
                continue;
            }
        };
        kept.insert(name.clone(), value);
    }
    if fields.get("type").is_some_and(|kind| kind == "object") {
        kept.insert("additionalProperties".to_owned(), json!(false));
    }
    if !notes.is_empty() {
        let described = kept.get("description").and_then(Value::as_str).map(|text| format!("{text} "));
        let description = format!("{}({})", described.unwrap_or_default(), notes.join(", "));
        kept.insert("description".to_owned(), json!(description));
    }
    Value::Object(kept)
}

fn each_field(schemas: &Value) -> Value {
    let fields = schemas.as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, schema)| (name.clone(), accepted(schema))).collect())
}

fn each_item(schemas: &Value) -> Value {
    Value::Array(schemas.as_array().into_iter().flatten().map(accepted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_become_words_and_objects_are_closed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "maxLength": {"type": "string", "maxLength": 80},
                "n": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many."},
                "list": {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3},
                "inner": {"type": "object", "properties": {}},
                "kind": {"type": "string", "enum": ["a", "b"]},
            },
            "required": ["n"],
        });
        assert_eq!(
            accepted(&schema),
            json!({
                "type": "object",
                "properties": {
                    "maxLength": {"type": "string", "description": "(maxLength: 80)"},
                    "n": {"type": "integer", "description": "How many. (minimum: 1, maximum: 9)"},
                    "list": {
                        "type": "array",
                        "items": {"type": "string", "description": "(maxLength: 9)"},
                        "description": "(maxItems: 3)",
                    },
                    "inner": {"type": "object", "properties": {}, "additionalProperties": false},
                    "kind": {"type": "string", "enum": ["a", "b"]},
                },
                "required": ["n"],
                "additionalProperties": false,
            })
        );
    }
}
