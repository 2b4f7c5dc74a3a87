//! A model that remembers between commands what its server refuses.
//!
//! Settings and a memory file enter; a model leaves. What the server refuses of a request is read from the state
//! beside the file, and written there when it changes. Where that fails, the next command asks again.

use std::sync::Mutex;

use serde_json::Value;

use memories_document::types::lock::lock;
use memories_llm::{Answer, Choice, Config, Environment, Model, ModelError, Question, Refusals};
use memories_notebook::Notebook;

struct RememberingModel {
    model: Box<dyn Model>,
    notebook: Notebook,
    /// The refusals of the server that the state holds.
    kept: Mutex<Value>,
}

/// The model that the settings name, with what is remembered of its server.
///
/// # Errors
///
/// As [`memories_llm::choose`].
pub(crate) fn choose(
    config: &Config,
    environment: &Environment,
    seed: u64,
    notebook: Notebook,
) -> Result<Choice, ModelError> {
    let (state, _) = notebook.store().sidecar().state();
    let refusals = Refusals::from_value(state.refusals);
    let config = Config { refusals: refusals.clone(), ..config.clone() };
    let Choice { model, notice } = memories_llm::choose(&config, environment, seed)?;
    let remembering = |model: Box<dyn Model>| -> Box<dyn Model> {
        let server = model.refusal().map(|(server, _)| server);
        let kept = Mutex::new(server.map_or(Value::Null, |server| refusals.of(&server).clone()));
        Box::new(RememberingModel { model, notebook, kept })
    };
    Ok(Choice { model: model.map(remembering), notice })
}

impl RememberingModel {
    fn keep(&self) {
        let Some((server, refused)) = self.model.refusal() else { return };
        let mut kept = lock(&self.kept);
        if *kept == refused {
            return;
        }
        let change = |value: Value| {
            let mut refusals = Refusals::from_value(value);
            refusals.set(&server, refused.clone());
            refusals.into_value()
        };
        if self.notebook.keep_refusals(change).is_ok() {
            *kept = refused;
        }
    }
}

impl Model for RememberingModel {
    fn name(&self) -> String {
        self.model.name()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let answer = self.model.ask(question)?;
        self.keep();
        Ok(answer)
    }

    fn calls_made(&self) -> u32 {
        self.model.calls_made()
    }

    fn destination(&self) -> Option<memories_llm::Destination> {
        self.model.destination()
    }

    fn refusal(&self) -> Option<(String, Value)> {
        self.model.refusal()
    }
}
