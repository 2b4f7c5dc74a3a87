//! `query --answer`: a model answers from the memories. Without a model those found are listed.

use serde_json::{Value, json};

use crate::ask::answer::{GroundedAnswer, answer as ask_model};
use crate::cli::commands::common::counted;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::query::hits::{HitObjects, Listing, with_missing_phrase};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::types::frame::{INDENT, continued};
use memories_document::types::model_text::ModelText;
use memories_llm::{Choice, ModelUse};
use memories_notebook::{MemoryObjects, Snapshot};
use memories_search::{Hit, SearchResults};

/// Answer if the memories do not hold one.
const NO_ANSWER: &str = "The memories do not say.";

/// Why no model answered.
enum Unanswered {
    /// No model is set up.
    NoModel,
    /// The model failed, or its answer did not pass the checks.
    Failed(String),
}

/// `hits` are the memories to answer from; they begin with those found.
pub(super) fn run(
    mut cli: Cli<'_>,
    model: ModelArgs,
    mut found: SearchResults,
    hits: &[Hit],
    max_tokens: Option<usize>,
    explain: bool,
    files: &Snapshot,
) -> Result<u8, Failure> {
    let listed = found.hits.len();
    let answer = if hits.is_empty() { None } else { Some(ask(&mut cli, model, &found.question.text, hits)) };
    match &answer {
        None => {}
        Some(Ok((answered, _))) => cli.ui.warnings(&answered.warnings),
        Some(Err(Unanswered::NoModel)) if listed > 0 => cli.ui.notice(
            "no model is set up, so the memories are listed; set a key or a host, or use `--provider`",
        ),
        Some(Err(Unanswered::NoModel)) => cli.ui.notice(
            "no model is set up to read the other memories; set a key or a host, or use `--provider`",
        ),
        Some(Err(Unanswered::Failed(problem))) if listed > 0 => {
            cli.ui.warning(&format!("{problem}; the memories are listed instead"));
        }
        Some(Err(Unanswered::Failed(problem))) => cli.ui.warning(problem),
    }
    let based_on: &[usize] = answer.iter().flatten().next().map_or(&[], |(answered, _)| &answered.numbers);
    let numbered = |is_wanted: &dyn Fn(usize) -> bool| numbered(hits, based_on, is_wanted);
    if cli.ui.json {
        let listing =
            Listing::take(numbered(&|number| number <= listed), &found.question, max_tokens, explain);
        let is_shown =
            |number| listing.hits.iter().any(|(shown, _)| *shown == number) || based_on.contains(&number);
        let mut shown = numbered(&is_shown);
        let objects = HitObjects { objects: MemoryObjects::of(files), question: &found.question, explain };
        objects.cut(shown.iter_mut().map(|(_, hit)| hit), max_tokens);
        let memories = shown.into_iter().map(|(number, hit)| {
            let mut value = objects.object(&hit);
            value["number"] = json!(number);
            value
        });
        let memories = memories.collect();
        let value = answer_json(&found.question.text, answer, memories);
        return cli.ui.json_answer(&with_missing_phrase(value, &found));
    }
    let Some(Ok((answered, _))) = &answer else {
        return Listing::of(&mut found, max_tokens, explain).show(cli.ui, &found);
    };
    show_answer(&mut cli, answered, listed)?;
    if answered.text.is_none() {
        return Ok(0);
    }
    let shown = numbered(&|number| based_on.contains(&number));
    Listing::take(shown, &found.question, max_tokens, explain).show(cli.ui, &found)
}

/// The hits with the wanted numbers. Those that an answer is based on are sure: the model has read them.
fn numbered(hits: &[Hit], based_on: &[usize], is_wanted: &dyn Fn(usize) -> bool) -> Vec<(usize, Hit)> {
    let wanted = (1..).zip(hits).filter(|(number, _)| is_wanted(*number));
    let mut wanted: Vec<(usize, Hit)> = wanted.map(|(number, hit)| (number, hit.clone())).collect();
    wanted.iter_mut().for_each(|(number, hit)| hit.is_weak &= !based_on.contains(number));
    wanted
}

fn ask(
    cli: &mut Cli<'_>,
    model: ModelArgs,
    question: &str,
    hits: &[Hit],
) -> Result<(GroundedAnswer, ModelUse), Unanswered> {
    let Choice { model, .. } = model.choose(cli).map_err(|failure| Unanswered::Failed(failure.message()))?;
    let Some(model) = model else { return Err(Unanswered::NoModel) };
    let tokens = cli.settings.llm.max_memory_tokens;
    ask_model(&*model, question, hits, tokens).map_err(|error| Unanswered::Failed(error.to_string()))
}

/// Prints the two lines of the answer. The memories that it is based on follow.
fn show_answer(cli: &mut Cli<'_>, answered: &GroundedAnswer, listed: usize) -> Result<(), Failure> {
    let Some(text) = &answered.text else {
        cli.ui.data(&format!("Relevant memories: none\nAnswer: {NO_ANSWER}\n"))?;
        if listed > 0 {
            let found = counted(listed, "memory was", "memories were");
            cli.ui.notice(&format!("{found} found; without `--answer` they are listed"));
        }
        return Ok(());
    };
    let numbers: Vec<String> = answered.numbers.iter().map(|number| format!("#{number}")).collect();
    let text = ModelText::of(&continued(text, INDENT));
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
