//! Decides what is worth remembering of a turn: a language model or the built-in rules.

use crate::answer::read_answer;
use crate::context::{ModelOutcome, TurnContext};
use crate::proposal::Proposal;
use crate::redaction::redact_proposal;
use crate::report::JudgedBy;
use crate::shown::Shown;
use crate::{prompt, rules};
use memories_llm::redact::redacted;
use memories_llm::{Model, ModelError, ModelUse, Question};

/// Judges turns.
#[derive(Clone, Copy)]
pub enum Judge<'a> {
    /// A language model.
    Model(&'a dyn Model),
    /// The built-in rules of text adventures.
    Rules,
    /// Nobody now: the turn waits for `retry`.
    Later,
}

impl<'a> Judge<'a> {
    /// The model if there is one, else the rules.
    pub fn of(model: Option<&'a dyn Model>) -> Judge<'a> {
        model.map_or(Judge::Rules, Judge::Model)
    }

    /// Judges a turn that is worth it ([`TurnContext::is_judged`]). `language` is the one in which a model
    /// answers; `None` stands for that of the game.
    pub(super) fn judge(self, context: &TurnContext, language: Option<&str>) -> ModelOutcome {
        if !context.is_judged {
            return ModelOutcome::NotAsked;
        }
        let judged = match self {
            Judge::Model(model) => ask(model, context, language),
            Judge::Rules => Ok((rules::judge(context), ModelUse::offline())),
            Judge::Later => return ModelOutcome::PutOff,
        };
        match judged {
            Ok((mut proposal, model)) => {
                redact_proposal(&mut proposal);
                ModelOutcome::Answered(Box::new(proposal), model)
            }
            Err(model) => ModelOutcome::Failed(*model),
        }
    }

    /// The one that judged a turn with that outcome.
    pub(super) fn name(self, judged: &ModelOutcome) -> JudgedBy {
        match (judged, self) {
            (ModelOutcome::NotAsked, _) => JudgedBy::None,
            (ModelOutcome::PutOff, _) => JudgedBy::Later,
            (_, Judge::Rules) => JudgedBy::Rules,
            (_, Judge::Model(_) | Judge::Later) => JudgedBy::Model,
        }
    }
}

/// The model's proposal; on failure, the model and the reason.
fn ask(
    model: &dyn Model,
    context: &TurnContext,
    language: Option<&str>,
) -> Result<(Proposal, ModelUse), Box<ModelUse>> {
    let calls_before = model.calls_made();
    let shown = prompt::numbered(context);
    let answer = model.ask(&Question {
        system: &prompt::system(language),
        examples: &prompt::EXAMPLES,
        prompt: &prompt::prompt(context, &shown),
        schema_name: prompt::SCHEMA_NAME,
        schema: &prompt::schema(),
    });
    // Afterwards, because a provider may learn only by asking which model it has.
    let name = model.name();
    let answer = answer.map_err(|error| {
        let usage = error.usage(model.calls_made().saturating_sub(calls_before));
        let error = Some(redacted(&error.to_string()));
        Box::new(ModelUse { name: name.clone(), usage, error, answer: None })
    })?;
    let used = ModelUse::answered(name, &answer);
    match read_answer(&answer.text, &Shown::of(context, &shown)) {
        Ok(proposal) => Ok((proposal, used)),
        Err(problem) => {
            let error = ModelError::Unusable { used: Box::new(used), problem };
            Err(Box::new(error.rejected().expect("the answer was rejected")))
        }
    }
}
