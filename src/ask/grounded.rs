//! Answers of a few sentences that cite the memories they rest on.
//!
//! A question over numbered memories goes to the model; text and numbers come back, or the reason why
//! the answer is rejected. Only numbers that were shown count; a text that cites none is rejected.

use serde_json::{Value, json};

use memories_document::text::stored_line;
use memories_document::types::sentences::first_sentences;
use memories_document::types::text::truncate;
use memories_llm::answer::{flag_of, parse_object, text_of, text_problem};
use memories_llm::prompt::Prompt;
use memories_llm::redact::redacted;
use memories_llm::{Model, ModelError, ModelUse};

/// Longest text of an answer, in characters; the rest is cut.
const MAX_CHARS: usize = 600;

/// Longest number of a memory in an answer, in characters.
const NUMBER_CHARS: usize = 8;

/// A question over numbered memories.
pub(super) struct GroundedQuestion<'a> {
    /// The role and the task of the model.
    pub(super) system: &'a str,
    /// Name of the schema, and of the field that holds the text.
    pub(super) field: &'a str,
    /// The name of the data block, as the instructions use it.
    pub(super) block: &'a str,
    /// The data, without secrets.
    pub(super) data: Value,
    /// Number of memories in the data, numbered from 1.
    pub(super) shown: usize,
    /// Sentences of the text that are kept.
    pub(super) max_sentences: usize,
}

/// An answer that cites memories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GroundedAnswer {
    /// The sentences on one line; `None` where the memories do not say.
    pub(crate) text: Option<String>,
    /// Numbers of the memories that they rest on, from 1, each once, in the model's order; empty where
    /// there is no text.
    pub(crate) numbers: Vec<usize>,
    /// Parts of the answer that were dropped or cut.
    pub(crate) warnings: Vec<String>,
}

impl GroundedQuestion<'_> {
    /// Asks the model; the second value tells which, and the cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; a rejected answer is [`ModelError::Unusable`].
    pub(super) fn ask(mut self, model: &dyn Model) -> Result<(GroundedAnswer, ModelUse), ModelError> {
        let (data, schema) = (self.data.take(), schema(self.field, self.shown));
        let prompt = Prompt { system: self.system, schema_name: self.field, schema, block: self.block, data };
        prompt.ask_and_read(model, |answer| self.read(answer))
    }

    /// Reads an answer under [`schema`]; the error says why it is rejected.
    fn read(&self, answer: &str) -> Result<GroundedAnswer, String> {
        let answer = parse_object(answer)?;
        if answer.get("known").and_then(flag_of) == Some(false) {
            return Ok(GroundedAnswer::default());
        }
        let said = stored_line(&text_of(&answer, self.field));
        if let Some(problem) = text_problem(&said, self.system) {
            return Err(problem.to_owned());
        }
        let mut warnings = Vec::new();
        let numbers = read_numbers(answer.get("relevant"), self.shown, &mut warnings);
        if numbers.is_empty() {
            return Err("it names no memory that was shown".to_owned());
        }
        let safe = redacted(&said);
        if safe != said {
            warnings.push("the model's text held what looks like a secret, masked".to_owned());
        }
        let kept = first_sentences(&safe, self.max_sentences);
        if kept.len() < safe.len() {
            warnings.push(format!(
                "the model said more than {} sentences: the first are shown",
                self.max_sentences
            ));
        }
        Ok(GroundedAnswer { text: Some(truncate(kept, MAX_CHARS)), numbers, warnings })
    }
}

fn schema(field: &str, shown: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "relevant": {
                "type": "array",
                "items": {"type": "string", "maxLength": NUMBER_CHARS},
                "maxItems": shown,
            },
            "known": {"type": "boolean"},
            field: {"type": "string", "maxLength": MAX_CHARS},
        },
        "required": ["relevant", "known", field],
        "additionalProperties": false,
    })
}

/// Numbers in the forms that models use: `"m3"`, `3`, `"3"`, `"#3"`, one or a list, `"m3, m7"`.
fn read_numbers(value: Option<&Value>, shown: usize, warnings: &mut Vec<String>) -> Vec<usize> {
    let mut said: Vec<String> = Vec::new();
    let mut add = |value: &Value| match value {
        Value::String(text) => said.extend(text.split(',').map(|part| part.trim().to_owned())),
        Value::Null => {}
        other => said.push(other.to_string()),
    };
    match value {
        Some(Value::Array(items)) => items.iter().for_each(&mut add),
        Some(value) => add(value),
        None => {}
    }
    let mut numbers = Vec::new();
    for said in said.iter().filter(|said| !said.is_empty()) {
        let digits = said.trim_start_matches(['#', '[', 'm', 'M']).trim_end_matches(']');
        match digits.strip_suffix(".0").unwrap_or(digits).parse::<usize>() {
            Ok(number) if (1..=shown).contains(&number) => {
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
            _ => {
                let said = truncate(&stored_line(digits), 20);
                warnings.push(format!("the model named #{said}, which was not shown: dropped"));
            }
        }
    }
    warnings.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> GroundedQuestion<'static> {
        let system = "Answer the question in one or two sentences.";
        GroundedQuestion { system, field: "answer", block: "", data: Value::Null, shown: 3, max_sentences: 2 }
    }

    fn read(answer: &Value) -> Result<GroundedAnswer, String> {
        question().read(&answer.to_string())
    }

    #[test]
    fn only_numbers_that_were_shown_count() {
        let grounded =
            read(&json!({"relevant": [3, "#1", 9, -1, 3], "answer": "In the attic."})).expect("read");
        assert_eq!(grounded.numbers, [3, 1]);
        assert_eq!(
            grounded.warnings,
            [
                "the model named #9, which was not shown: dropped",
                "the model named #-1, which was not shown: dropped"
            ]
        );
        for forms in [json!("#2, #3"), json!(["m2", "M3"]), json!("[m2], [m3]"), json!(["2", 3.0])] {
            let listed = read(&json!({"relevant": forms, "answer": "In the attic."})).expect("read");
            assert_eq!(listed.numbers, [2, 3], "{forms}");
        }
    }

    #[test]
    fn a_text_that_rests_on_nothing_is_not_believed() {
        for relevant in [json!([]), json!(null), json!([7]), json!("none")] {
            let answer = json!({"relevant": relevant, "known": true, "answer": "The troll is kind."});
            assert_eq!(read(&answer).unwrap_err(), "it names no memory that was shown");
        }
        let rubbish = |text: &str| read(&json!({"relevant": [1], "answer": text})).unwrap_err();
        assert_eq!(rubbish(" … "), "it has no text");
        assert_eq!(rubbish("string"), "its text is a name of the schema");
        assert!(question().read("no idea").is_err());
    }

    #[test]
    fn not_to_know_is_an_answer() {
        let grounded = read(&json!({"relevant": [1], "known": "no", "answer": "The troll."})).expect("read");
        assert_eq!(grounded, GroundedAnswer::default());
    }

    #[test]
    fn more_sentences_than_were_asked_for_are_cut() {
        let long =
            read(&json!({"relevant": [1], "answer": "A key.\nAn egg.\u{1b}[31m A sword."})).expect("read");
        assert_eq!(long.text.as_deref(), Some("A key. An egg.\u{FFFD}[31m A sword."));
        let long = read(&json!({"relevant": [1], "answer": "A key.\n\nAn egg. A sword."})).expect("read");
        assert_eq!(long.text.as_deref(), Some("A key. An egg."));
        assert_eq!(long.warnings, ["the model said more than 2 sentences: the first are shown"]);
    }
}
