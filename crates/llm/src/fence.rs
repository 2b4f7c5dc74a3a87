//! Data in a prompt, behind a fence that it cannot close.
//!
//! Text of games, people and models enters; a block leaves that is data to be judged, never an instruction.

use serde_json::{Value, json};

use memories_document::types::model_text::ModelText;
use memories_document::types::text::backtick_fence;

/// A named block of data, behind a fence longer than any run of backticks in it. Each field of the data, and
/// each item of a list that is a field, has a line of its own. What is not fit for a model is escaped
/// as JSON has it.
pub fn fenced(name: &str, data: &Value) -> String {
    let body = match data {
        Value::Object(fields) => {
            let lines =
                fields.iter().map(|(field, value)| format!("  {}: {}", json!(field), lines_of(value)));
            format!("{{\n{}\n}}", lines.collect::<Vec<_>>().join(",\n"))
        }
        other => lines_of(other),
    };
    let body = ModelText::of_json(&body);
    let fence = backtick_fence(&body, 3);
    format!("{name}\n{fence}json\n{body}\n{fence}\n")
}

/// A list with one item a line, and anything else on one line: white space costs tokens.
fn lines_of(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let lines = items.iter().map(Value::to_string);
            format!("[\n{}\n]", lines.collect::<Vec<_>>().join(",\n"))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_items_have_lines_and_the_data_stays_the_same() {
        let data = json!({"a": "x\n```", "list": [{"b": 1}, "c"], "none": [], "o": {"d": null}});
        let block = fenced("DATA", &data);
        let lines: Vec<&str> = block.lines().collect();
        assert_eq!(lines[..2], ["DATA", "````json"]);
        assert_eq!(lines[4..8], ["  \"list\": [", "{\"b\":1},", "\"c\"", "],"]);
        let body = lines[2..lines.len() - 1].join("\n");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), data);
    }
}
