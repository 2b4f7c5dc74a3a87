//! `query --answer`: a model answers from the memories found. Without a model they are listed.

use anstyle::Style;
use serde_json::{Value, json};

use crate::ask::answer::{GroundedAnswer, answer as ask_model};
use crate::cli::commands::common::counted;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::query::hits::{hit_json, nothing_found, render, within};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::llm::Choice;
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
    let hits = std::mem::take(&mut found.hits);
    let all = hits.len();
    let numbered = hits.into_iter().enumerate().map(|(at, hit)| (at + 1, hit)).collect();
    let shown = within(numbered, max_tokens, |(number, hit)| {
        render(*number, hit, &found.question, explain, Style::new())
    });
    if shown.is_empty() && !cli.ui.json {
        cli.ui.data(nothing_found(&found))?;
        return Ok(0);
    }
    let answer =
        if shown.is_empty() { None } else { Some(ask(&mut cli, model, &found.question.text, &shown)) };
    match &answer {
        None => {}
        Some(Ok(answered)) => answered.warnings.iter().for_each(|warning| cli.ui.warning(warning)),
        Some(Err(Unanswered::NoModel)) => cli.ui.notice(
            "no model is set up, so the memories are listed; set a key or a host, or use `--provider`",
        ),
        Some(Err(Unanswered::Failed(problem))) => {
            cli.ui.warning(&format!("{problem}; the memories are listed instead"));
        }
    }
    if cli.ui.json {
        let memories: Vec<Value> = shown
            .iter()
            .map(|(number, hit)| {
                let mut value = hit_json(hit, &found.question, explain);
                value["number"] = json!(number);
                value
            })
            .collect();
        cli.ui.json_line(&answer_json(&found.question.text, answer.as_ref(), &memories))?;
        return Ok(0);
    }
    let mark = cli.ui.mark();
    let relevant = match answer {
        Some(Ok(answered)) => {
            show_answer(&mut cli, &answered, shown.len())?;
            answered.numbers
        }
        _ => shown.iter().map(|(number, _)| *number).collect(),
    };
    for (number, hit) in shown.iter().filter(|(number, _)| relevant.contains(number)) {
        cli.ui.data(&render(*number, hit, &found.question, explain, mark))?;
    }
    if shown.len() < all {
        let left_out = counted((all - shown.len()) as u64, "more memory", "more memories");
        cli.ui.data(&format!("({left_out} not shown)\n"))?;
    }
    Ok(0)
}

fn ask(
    cli: &mut Cli<'_>,
    model: ModelArgs,
    question: &str,
    shown: &[(usize, Hit)],
) -> Result<GroundedAnswer, Unanswered> {
    let Choice { model, .. } = model.choose(cli).map_err(|failure| Unanswered::Failed(failure.message()))?;
    let Some(model) = model else { return Err(Unanswered::NoModel) };
    let hits: Vec<&Hit> = shown.iter().map(|(_, hit)| hit).collect();
    ask_model(&*model, question, &hits).map_err(|error| Unanswered::Failed(error.to_string()))
}

/// Prints the two lines of the answer. The memories that it is based on follow.
fn show_answer(cli: &mut Cli<'_>, answered: &GroundedAnswer, shown: usize) -> Result<(), Failure> {
    let Some(text) = &answered.text else {
        cli.ui.data(&format!("Relevant memories: none\nAnswer: {NO_ANSWER}\n"))?;
        let found = counted(shown as u64, "memory was", "memories were");
        cli.ui.notice(&format!("{found} found; without `--answer` they are listed"));
        return Ok(());
    };
    let numbers: Vec<String> = answered.numbers.iter().map(|number| format!("#{number}")).collect();
    cli.ui.data(&format!("Relevant memories: {}\nAnswer: {text}\n\n", numbers.join(", ")))?;
    Ok(())
}

fn answer_json(
    question: &str,
    answer: Option<&Result<GroundedAnswer, Unanswered>>,
    memories: &[Value],
) -> Value {
    let (text, numbers, model, warnings) = match answer {
        Some(Ok(answered)) => {
            let GroundedAnswer { text, numbers, model, warnings } = answered.clone();
            (text, numbers, Some(json!(model)), warnings)
        }
        Some(Err(Unanswered::Failed(problem))) => {
            (None, Vec::new(), Some(json!({"error": problem})), Vec::new())
        }
        Some(Err(Unanswered::NoModel)) | None => (None, Vec::new(), None::<Value>, Vec::new()),
    };
    json!({
        "version": 1, "query": question, "answer": text, "relevant": numbers, "model": model,
        "warnings": warnings, "memories": memories,
    })
}
