//! A language model as the rest of the program sees it: a question, an answer, its cost.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::connect::Destination;
use crate::redact::redacted;
use memories_document::types::hint::{Advice, Hint};
use memories_document::types::text::{fold_spaces, truncate};

/// A question to a model. It has the same form for every provider.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The role and the task of the model.
    pub system: &'a str,
    /// Questions of this kind with the answers that they should get, in the answer's own schema.
    pub examples: &'a [(&'a str, &'a str)],
    /// The question itself.
    pub prompt: &'a str,
    /// Name of the schema, `[a-z_]+`.
    pub schema_name: &'a str,
    /// JSON schema of the answer; every string in it is bounded.
    pub schema: &'a Value,
}

impl Question<'_> {
    /// The examples and then this prompt, as messages of the form that servers share. The constant part comes first, so
    /// that a server can cache it.
    pub(crate) fn messages(&self, prompt: &str) -> Vec<Value> {
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let examples = self.examples.iter();
        let mut messages: Vec<Value> = examples
            .flat_map(|(asked, answered)| [message("user", asked), message("assistant", answered)])
            .collect();
        messages.push(message("user", prompt));
        messages
    }

    /// The prompt, followed by the request for JSON under the schema: for servers and programs that
    /// take no schema of their own.
    pub(crate) fn prompt_with_schema(&self) -> String {
        format!(
            "{}\n\nAnswer with one JSON object and nothing else: no explanation, no code fence. \
             It must be valid against this JSON schema:\n{}",
            self.prompt, self.schema
        )
    }
}

/// The answer of a model, word for word.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, not yet parsed.
    pub text: String,
    /// The model that answered, by the provider's name for it.
    pub model: String,
    /// The cost.
    pub usage: Usage,
}

/// The cost of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Usage {
    /// Requests made, retries included.
    pub calls: u32,
    /// Tokens read, if the provider reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, if the provider reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Price in US dollars, if the provider reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl std::ops::Add for Usage {
    type Output = Usage;

    /// The usage of both; a figure that only one of them has counts alone.
    fn add(self, other: Usage) -> Usage {
        fn add<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        Usage {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: add(self.input_tokens, other.input_tokens),
            output_tokens: add(self.output_tokens, other.output_tokens),
            cost: add(self.cost, other.cost),
        }
    }
}

/// The model that was asked, and the cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelUse {
    /// Provider and model.
    pub name: String,
    /// The cost.
    #[serde(flatten)]
    pub usage: Usage,
    /// The reason why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The text of the answer, for the journal: without secrets, and no longer than `ANSWER_CHARS`.
    #[serde(skip)]
    pub answer: Option<String>,
}

/// Longest text of an answer that the journal keeps, in characters.
const ANSWER_CHARS: usize = 4000;

impl ModelUse {
    /// Built-in rules instead of a model, under the name of the provider that stands for them.
    pub fn offline() -> ModelUse {
        ModelUse { name: "offline".to_owned(), usage: Usage::default(), error: None, answer: None }
    }

    /// The use of a model that gave this answer.
    pub fn answered(name: String, answer: &Answer) -> ModelUse {
        let text = truncate(redacted(&answer.text).trim(), ANSWER_CHARS);
        ModelUse { name, usage: answer.usage, error: None, answer: Some(text) }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The settings cannot work, whatever the server does.
    #[error("{problem}")]
    Settings {
        /// The problem.
        problem: String,
        /// The next step for the user.
        hint: String,
    },
    /// No answer for now: no connection, none in time, or a server that fails. Trying later may help.
    #[error("the model at {at} {problem}")]
    Unavailable {
        /// Address or program, without secrets.
        at: String,
        /// The reason why there is no answer: `did not answer within 60 s`.
        problem: String,
    },
    /// The server answered and refused: wrong key, wrong model, too long a context.
    #[error("the model at {at} refused: {problem}")]
    Refused {
        /// Address or program, without secrets.
        at: String,
        /// The reason that it gave.
        problem: String,
    },
    /// The answer came and was rejected.
    #[error("the model {} gave no usable answer: {problem}", used.name)]
    Unusable {
        /// The model, with its answer.
        used: Box<ModelUse>,
        /// The problem.
        problem: String,
    },
    /// The server answered, but not with a usable answer.
    #[error("the model at {at} gave no usable answer: {problem}")]
    Garbled {
        /// Address or program, without secrets.
        at: String,
        /// The problem.
        problem: String,
    },
}

impl ModelError {
    /// The cost of a question that failed with this error. `counted` is the number of requests that the model counted.
    pub fn usage(&self, counted: u32) -> Usage {
        let asked = !matches!(self, ModelError::Settings { .. });
        Usage { calls: counted.max(asked.into()), ..Usage::default() }
    }

    /// The use of a model whose answer was rejected, with the reason.
    pub fn rejected(&self) -> Option<ModelUse> {
        let ModelError::Unusable { used, .. } = self else { return None };
        Some(ModelUse { error: Some(redacted(&self.to_string())), ..(**used).clone() })
    }
}

impl Hint for ModelError {
    fn advice(&self) -> Advice {
        match self {
            ModelError::Settings { hint, .. } => Advice::fix(hint),
            ModelError::Unavailable { .. } => Advice::retry("try again when it answers"),
            ModelError::Refused { .. } => {
                Advice::fix("check the model's name (`--model`), its key and its limits")
            }
            ModelError::Unusable { .. } | ModelError::Garbled { .. } => {
                Advice::fix("try again, or another model with `--model`")
            }
        }
    }
}

/// A model that answers questions. It may be asked in another thread than the one that created it.
pub trait Model: Send {
    /// Provider and model, as in reports and the journal: `openai/gpt-4.1-mini`.
    fn name(&self) -> String;

    /// Asks once; the provider itself retries after failures that may be temporary.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]. An answer that does not follow the schema is not an error here.
    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError>;

    /// Requests made so far, those of failed questions too, where the model counts them.
    fn calls_made(&self) -> u32 {
        0
    }

    /// The other machine that questions are sent to, if they leave this one.
    fn destination(&self) -> Option<Destination> {
        None
    }

    /// Parts of a request that the server refuses, by address and model, to be handed in with [`Refusals`] later;
    /// `null` where it refuses nothing.
    ///
    /// [`Refusals`]: crate::Refusals
    fn refusal(&self) -> Option<(String, Value)> {
        None
    }
}

/// The deadline of a question; limits of more than a day count as a day.
pub(super) fn deadline_after(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(Duration::from_secs(24 * 60 * 60))
}

/// A foreign text as one line of an error: control characters and line breaks become spaces, and
/// everything after 300 characters is cut.
pub(super) fn one_line(text: &str) -> String {
    const LIMIT: usize = 300;
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LIMIT * 8).collect();
    truncate(&fold_spaces(&clean), LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_added() {
        let usage = |calls, input_tokens| Usage { calls, input_tokens, ..Usage::default() };
        assert_eq!(usage(1, Some(3)) + usage(2, Some(4)), usage(3, Some(7)));
        assert_eq!(usage(1, None) + usage(2, Some(4)), usage(3, Some(4)));
    }
}
