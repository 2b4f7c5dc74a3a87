//! `query --answer`: a model answers from the memories found. Without a model they are listed.

use serde_json::{Value, json};

use crate::ask::answer::{GroundedAnswer, answer as ask_model};
use crate::cli::commands::common::counted;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::query::hits::{Listing, hit_json, nothing_found};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::llm::{Choice, ModelUse};
use crate::search::{Hit, SearchResults};

/// Answer if the memories do not hold one.
const NO_ANSWER: &str = "The memories do not say.";

/// Why no model answered.
enum Unanswered {
    /// No model is set up.
    NoModel,
    /// The model failed, or its answer did not pass the checks.
    Failed(String),
}

pub(super) fn run(
    mut cli: Cli<'_>,
    model: ModelArgs,
    mut found: SearchResults,
    max_tokens: Option<usize>,
    explain: bool,
) -> Result<u8, Failure> {
    let listing = Listing::take(&mut found, max_tokens, explain);
    let shown = &listing.hits;
    if shown.is_empty() && !cli.ui.json {
        cli.ui.data(nothing_found(&found))?;
        return Ok(0);
    }
    let answer = match shown.is_empty() {
        true => None,
        false => Some(ask(&mut cli, model, &found.question.text, shown)),
    };
    match &answer {
        None => {}
        Some(Ok((answered, _))) => cli.ui.warnings(&answered.warnings),
        Some(Err(Unanswered::NoModel)) => cli.ui.notice(
            "no model is set up, so the memories are listed; set a key or a host, or use `--provider`",
        ),
        Some(Err(Unanswered::Failed(problem))) => {
            cli.ui.warning(&format!("{problem}; the memories are listed instead"));
        }
    }
    if cli.ui.json {
        let memories = shown.iter().map(|(number, hit)| {
            let mut value = hit_json(hit, &found.question, explain);
            value["number"] = json!(number);
            value
        });
        return cli.ui.json_answer(&answer_json(&found.question.text, answer, memories.collect()));
    }
    let Some(Ok((answered, _))) = answer else { return listing.show(cli.ui, &found.question, |_| true) };
    show_answer(&mut cli, &answered, shown.len())?;
    listing.show(cli.ui, &found.question, |number| answered.numbers.contains(&number))
}

fn ask(
    cli: &mut Cli<'_>,
    model: ModelArgs,
    question: &str,
    shown: &[(usize, Hit)],
) -> Result<(GroundedAnswer, ModelUse), Unanswered> {
    let Choice { model, .. } = model.choose(cli).map_err(|failure| Unanswered::Failed(failure.message()))?;
    let Some(model) = model else { return Err(Unanswered::NoModel) };
    let hits: Vec<&Hit> = shown.iter().map(|(_, hit)| hit).collect();
    ask_model(&*model, question, &hits).map_err(|error| Unanswered::Failed(error.to_string()))
}

/// Prints the two lines of the answer. The memories that it is based on follow.
fn show_answer(cli: &mut Cli<'_>, answered: &GroundedAnswer, shown: usize) -> Result<(), Failure> {
    let Some(text) = &answered.text else {
        cli.ui.data(&format!("Relevant memories: none\nAnswer: {NO_ANSWER}\n"))?;
        let found = counted(shown, "memory was", "memories were");
        cli.ui.notice(&format!("{found} found; without `--answer` they are listed"));
        return Ok(());
    };
    let numbers: Vec<String> = answered.numbers.iter().map(|number| format!("#{number}")).collect();
    cli.ui.data(&format!("Relevant memories: {}\nAnswer: {text}\n\n", numbers.join(", ")))?;
    Ok(())
}

fn answer_json(
    question: &str,
    answer: Option<Result<(GroundedAnswer, ModelUse), Unanswered>>,
    memories: Value,
) -> Value {
    let (GroundedAnswer { text, numbers, warnings }, model) = match answer {
        Some(Ok((answered, model))) => (answered, json!(model)),
        Some(Err(Unanswered::Failed(problem))) => (GroundedAnswer::default(), json!({"error": problem})),
        Some(Err(Unanswered::NoModel)) | None => (GroundedAnswer::default(), Value::Null),
    };
    json!({
        "query": question, "answer": text, "relevant": numbers, "model": model, "warnings": warnings,
        "memories": memories,
    })
}
