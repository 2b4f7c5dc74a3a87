//! The tokens of a prompt about a turn, as they are estimated; with the feature `checks` also as they are counted, and
//! the estimate against the count.

#[cfg(feature = "checks")]
mod counted;

use std::sync::Mutex;

use memories::llm::{Answer, Model, ModelError, Question, Usage};
use memories::notebook::{Clock, Notebook};
use memories::recall::budget::estimate_tokens;
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use serde_json::{Value, json};

use crate::episodes;
use crate::replay::player::temporary_folder;

/// A folder in memory where there is one: the figures do not depend on the disk.
fn folder() -> tempfile::TempDir {
    temporary_folder().expect("a folder can be made")
}

/// Most tokens of a prompt about a turn, at the median of the recorded turns that ask a model: as estimated, and as counted.
const PROMPT_TOKENS: [usize; 2] = [2000, 1300];

/// Most characters / 4 of the same, as other programs estimate tokens.
const PROMPT_QUARTERS: usize = 1250;

/// Keeps the beginning of each reply, as an eager model would, and what it was sent.
#[derive(Default)]
struct Counter(Mutex<Vec<String>>);

impl Model for Counter {
    fn name(&self) -> String {
        "counter".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let examples: String =
            question.examples.iter().map(|(asked, answered)| format!("{asked}{answered}")).collect();
        let sent = format!("{}{examples}{}{}", question.system, question.prompt, question.schema);
        self.0.lock().expect("not poisoned").push(sent);
        let data = question.prompt.lines().skip(2).take_while(|line| !line.starts_with('`'));
        let turn: Value = serde_json::from_str(&data.collect::<String>()).expect("JSON");
        let said = |field: &str| turn[field].as_str().expect("a text").to_owned();
        let text = said("response").split_whitespace().take(30).collect::<Vec<_>>().join(" ");
        let answer = json!({"should_remember": true, "memory_title": said("action"), "memory_text": text});
        Ok(Answer { text: answer.to_string(), model: self.name(), usage: Usage::default() })
    }
}

/// The median of a figure over all prompts.
fn median(prompts: &[String], figure: impl Fn(&str) -> usize) -> usize {
    let mut figures: Vec<usize> = prompts.iter().map(|prompt| figure(prompt)).collect();
    figures.sort_unstable();
    figures[(figures.len() - 1) / 2]
}

#[test]
#[ignore = "takes long; the gate runs it"]
fn a_prompt_about_a_turn_is_short() {
    let folder = folder();
    let notebook = Notebook::new(episodes::open(&folder), Clock::fixed("2026-01-31T12:00:00Z"));
    let settings = RecordSettings::default();
    let model = Counter::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Model(&model), settings: &settings };
    let mut stored = 0;
    // The first two episodes have a few hundred prompts, and short files.
    let episodes = if cfg!(feature = "checks") { 5 } else { 2 };
    for path in &episodes::turns()[..episodes] {
        for line in std::fs::read_to_string(path).expect("the turns are there").lines() {
            let report = recorder.record(Turn::from_json(line).expect("a turn")).expect("recorded");
            stored += report.memories.len();
        }
    }
    let prompts = model.0.into_inner().expect("not poisoned");
    let quarter = median(&prompts, |prompt| prompt.chars().count() / 4);
    let estimate = median(&prompts, estimate_tokens);
    println!(
        "{} prompts (system, examples, turn, schema), at the median: {estimate} tokens as estimated, characters / 4: \
         {quarter}; {stored} stored",
        prompts.len(),
    );
    assert!(
        prompts.len() > 60 * episodes && stored > 40 * episodes,
        "{} prompts, {stored} memories",
        prompts.len()
    );
    assert!(estimate <= PROMPT_TOKENS[0], "{estimate} tokens at the median");
    assert!(quarter <= PROMPT_QUARTERS, "{quarter} characters / 4 at the median");
    #[cfg(feature = "checks")]
    {
        let count = median(&prompts, counted::count_tokens);
        println!("{count} tokens as counted");
        assert!(count <= PROMPT_TOKENS[1], "{count} tokens at the median");
    }
}
