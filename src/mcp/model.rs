//! A language model whose requests the client hears of.

use crate::mcp::access::Watcher;
use memories_llm::{Answer, Model, ModelError, Question};

/// A model whose requests are reported as progress.
pub(super) struct ReportingModel<'a> {
    pub model: Box<dyn Model>,
    pub watcher: &'a Watcher,
}

impl Model for ReportingModel<'_> {
    fn name(&self) -> String {
        self.model.name()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        self.watcher.report(format!("asking {}", self.model.name()), None);
        let answer = self.model.ask(question);
        self.watcher.report(format!("{} has answered", self.model.name()), None);
        answer
    }
}
