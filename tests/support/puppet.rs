//! A model for tests of what the program does with an answer.
#![allow(dead_code, reason = "each test program uses a part")]

use std::cell::RefCell;

use memories::llm::{Answer, Model, ModelError, Question, Usage};
use serde_json::Value;

/// A model that gives one answer and keeps what it was asked.
pub struct Puppet {
    answer: Value,
    asked: RefCell<String>,
}

impl Puppet {
    pub fn saying(answer: Value) -> Puppet {
        Puppet { answer, asked: RefCell::default() }
    }

    /// The last prompt; empty where it was not asked.
    pub fn asked(self) -> String {
        self.asked.into_inner()
    }
}

impl Model for Puppet {
    fn name(&self) -> String {
        "puppet".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        question.prompt.clone_into(&mut self.asked.borrow_mut());
        Ok(Answer { text: self.answer.to_string(), model: self.name(), usage: Usage::default() })
    }
}
