//! A question to a model: instructions, and data behind a fence that it cannot close.

use serde_json::Value;

use crate::fence::fenced;
use crate::{Model, ModelError, ModelUse, Question};

/// A question to a model, with its data and the schema of the answer.
pub struct Prompt<'a> {
    /// The role and the task of the model.
    pub system: &'a str,
    /// The name of the answer's schema.
    pub schema_name: &'a str,
    /// The answer's schema.
    pub schema: Value,
    /// The name of the data block, as the instructions use it.
    pub block: &'a str,
    /// The data, without secrets.
    pub data: Value,
}

impl Prompt<'_> {
    /// The text of the answer, and what it cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`].
    pub fn ask(&self, model: &dyn Model) -> Result<(String, ModelUse), ModelError> {
        let answer = model.ask(&Question {
            system: self.system,
            examples: &[],
            prompt: &fenced(self.block, &self.data),
            schema_name: self.schema_name,
            schema: &self.schema,
        })?;
        // Afterwards, because a provider may learn only by asking which model it has.
        let used = ModelUse::answered(model.name(), &answer);
        Ok((answer.text, used))
    }

    /// The answer as `read` understands it, and what it cost.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; an answer that `read` rejects is [`ModelError::Unusable`].
    pub fn ask_and_read<T>(
        &self,
        model: &dyn Model,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<(T, ModelUse), ModelError> {
        let (text, used) = self.ask(model)?;
        match read(&text) {
            Ok(answer) => Ok((answer, used)),
            Err(problem) => Err(ModelError::Unusable { used: Box::new(used), problem }),
        }
    }
}
