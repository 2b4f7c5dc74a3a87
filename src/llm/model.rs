//! A language model as the rest of the program sees it: a question, an answer, what it cost.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::types::hint::{Advice, Hint};
use crate::types::text::{fold_spaces, truncate};

/// What a model is asked. The same question serves every provider.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Who the model is and what it must do.
    pub system: &'a str,
    /// The matter itself.
    pub prompt: &'a str,
    /// A name for the schema, `[a-z_]+`.
    pub schema_name: &'a str,
    /// JSON schema of the answer; every string in it is bounded.
    pub schema: &'a Value,
}

impl Question<'_> {
    /// The prompt with the demand for JSON behind it, for whatever cannot take the schema apart
    /// from the text.
    pub fn prompt_with_schema(&self) -> String {
        format!(
            "{}\n\nAnswer with one JSON object and nothing else: no explanation, no code fence. \
             It must be valid against this JSON schema:\n{}",
            self.prompt, self.schema
        )
    }
}

/// What a model said, word for word.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, still to be parsed.
    pub text: String,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What it cost.
    pub usage: Usage,
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Usage {
    /// Requests made, retries included.
    pub calls: u32,
    /// Tokens read, where the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, where the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Price in US dollars, where the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Which model was asked, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelUse {
    /// Provider and model.
    pub name: String,
    /// What it cost.
    #[serde(flatten)]
    pub usage: Usage,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ModelUse {
    /// Built-in rules in place of a model, under the name of the provider that stands for them.
    pub fn offline() -> ModelUse {
        ModelUse { name: "offline".to_owned(), usage: Usage::default(), error: None }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The settings cannot work, whatever the server does.
    #[error("{problem}")]
    Settings {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// No server, or none that answered in time: later may be better.
    #[error("the model at {at} cannot be reached: {problem}")]
    Unreachable {
        /// Address or program, without secrets.
        at: String,
        /// What happened.
        problem: String,
    },
    /// The server answered and refused: wrong key, wrong model, too long a context.
    #[error("the model at {at} refused: {problem}")]
    Refused {
        /// Address or program, without secrets.
        at: String,
        /// What it said.
        problem: String,
    },
    /// The server answered with something that is no answer.
    #[error("the model at {at} gave no usable answer: {problem}")]
    Garbled {
        /// Address or program, without secrets.
        at: String,
        /// What was wrong.
        problem: String,
    },
}

impl Hint for ModelError {
    fn advice(&self) -> Advice {
        match self {
            ModelError::Settings { hint, .. } => Advice::fix(hint),
            ModelError::Unreachable { .. } => Advice::retry("try again when it answers"),
            ModelError::Refused { .. } => Advice::fix("check the model's name, its key and its limits"),
            ModelError::Garbled { .. } => Advice::fix("try again, or another model with `--model`"),
        }
    }
}

/// Something that answers questions; it may be asked in another thread than the one it was made in.
pub trait Model: Send {
    /// How the provider and model are called in reports and the journal: `openai/gpt-4.1-mini`.
    fn name(&self) -> String;

    /// Asks once; retries of what may pass are the provider's own affair.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]. An answer that is not what was asked for is not an error here.
    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError>;
}

/// The moment at which a question has to end; limits beyond a day count as a day.
pub(super) fn deadline_after(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(Duration::from_secs(24 * 60 * 60))
}

/// A foreign text as one line of an error: control characters and line breaks become spaces, and
/// what goes beyond 300 characters is cut.
pub(super) fn one_line(text: &str) -> String {
    const LIMIT: usize = 300;
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LIMIT * 8).collect();
    truncate(&fold_spaces(&clean), LIMIT)
}
