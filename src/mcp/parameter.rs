//! Parameters of tools and prompts: one value declares a parameter in the schema and reads its argument.

use serde_json::{Value, json};

/// The JSON type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentType {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number.
    Integer,
    /// True or false.
    Flag,
}

/// A parameter of a tool or prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the argument.
    pub name: &'static str,
    /// Type of its argument.
    pub kind: ArgumentType,
    /// Description for the model; short, since models read it with every prompt.
    pub about: &'static str,
    /// For a required parameter, the hint shown when its argument is missing.
    pub required: Option<&'static str>,
}

impl Parameter {
    /// An optional parameter with its description.
    pub const fn new(name: &'static str, kind: ArgumentType, about: &'static str) -> Parameter {
        Parameter { name, kind, about, required: None }
    }

    /// Makes it required.
    pub const fn required(self, hint: &'static str) -> Parameter {
        Parameter { required: Some(hint), ..self }
    }

    /// The JSON schema of the argument.
    pub fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ArgumentType::Text => json!({"type": "string"}),
            ArgumentType::Texts => json!({"type": "array", "items": {"type": "string"}}),
            ArgumentType::Integer => json!({"type": "integer"}),
            ArgumentType::Flag => json!({"type": "boolean"}),
        };
        schema["description"] = json!(self.about);
        schema
    }
}
