//! The estimate of tokens against real tokenizers, on what `recall` prints and on hostile text.
//!
//! `cargo test --test it tokens:: -- --nocapture` prints how much the estimate exceeds the true count.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use memories::document::Document;
use memories::llm::{Answer, Model, ModelError, Question, Usage};
use memories::notebook::{Clock, Notebook};
use memories::recall::budget::estimate_tokens;
use memories::recall::{Format, Limits, render};
use memories::record::turn::Turn;
use memories::record::{Judge, RecordSettings, Recorder};
use memories::store::Store;
use memories::types::{Scope, ScopeName, Viewer};
use serde_json::{Value, json};

/// Formats with the options that their users get.
const FORMATS: [Format; 3] = [Format::Text, Format::Markdown, Format::Xml];

/// The larger count of the two tokenizers in use.
fn count_tokens(text: &str) -> usize {
    bpe_openai::cl100k_base().count(text).max(bpe_openai::o200k_base().count(text))
}

/// A folder in memory where there is one: the figures do not depend on the disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(parent).expect("a folder can be made")
}

/// Output of `recall` in five episodes: for the place of every fifth turn and, after each episode, for
/// all places, within several budgets and without one.
fn recall_texts() -> BTreeSet<String> {
    let folder = folder();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("opens");
    let settings = RecordSettings::default();
    let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T12:00:00Z"));
    let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
    let mut texts = BTreeSet::new();
    for episode in 1..=5 {
        let path = PathBuf::from(format!("fixtures/turns/zork1_ep{episode}.jsonl"));
        let turns = std::fs::read_to_string(path).expect("the turns are there");
        for (number, line) in turns.lines().enumerate() {
            let turn = Turn::from_json(line).expect("a turn");
            let id = turn.location_before.as_ref().and_then(|spot| spot.id);
            recorder.record(turn).expect("recorded");
            if let Some(id) = id.filter(|_| number % 5 == 0) {
                texts.insert(recall(&store, &Scope::Location(id), Some(300), Format::Text));
            }
        }
        let text = store.read().expect("readable").expect("there by now");
        for heading in Document::parse(text).headings() {
            for format in FORMATS {
                for budget in [Some(100), Some(300), Some(500), None] {
                    texts.insert(recall(&store, &heading.scope, budget, format));
                }
            }
        }
    }
    texts
}

fn recall(store: &Store, scope: &Scope, max_tokens: Option<usize>, format: Format) -> String {
    let names = [ScopeName::Scope(scope.clone())];
    let limits = Limits { max_tokens, ..Limits::default() };
    let snapshot = memories::recall::read(store, &names).expect("readable");
    render(
        &memories::recall::recall(&snapshot, &Viewer::Person, &names, &limits, format).expect("known"),
        format,
    )
}

#[test]
fn the_estimate_is_hardly_ever_below_the_true_count_of_what_recall_prints() {
    let mut ratios: Vec<f64> = Vec::new();
    let mut below: Vec<(usize, usize, String)> = Vec::new();
    for text in recall_texts() {
        let (estimate, tokens) = (estimate_tokens(&text), count_tokens(&text));
        ratios.push(estimate as f64 / tokens as f64);
        if estimate < tokens {
            below.push((estimate, tokens, text));
        }
    }
    ratios.sort_by(f64::total_cmp);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let at = |part: f64| ratios[((ratios.len() - 1) as f64 * part) as usize];
    println!(
        "estimate / true count of {} texts: least {:.2}, median {:.2}, mean {mean:.2}, 95 % within {:.2}, most {:.2}",
        ratios.len(),
        at(0.0),
        at(0.5),
        at(0.95),
        at(1.0),
    );
    assert!(ratios.len() > 500, "{} texts", ratios.len());
    // A short list of invented words may be above it by a token or two.
    let few = below.len() * 1000 <= ratios.len() && at(0.0) >= 0.97;
    assert!(few, "{} of {}: {:?}", below.len(), ratios.len(), below.first());
}

/// Most tokens of a prompt about a turn, at the median of the recorded turns that ask a model.
const PROMPT_TOKENS: usize = 1300;

/// Most characters / 4 of the same, as other programs estimate tokens.
const PROMPT_QUARTERS: usize = 1250;

/// Keeps the beginning of each reply, as an eager model would, and counts what it was sent: tokens, and characters / 4.
#[derive(Default)]
struct Counter(Mutex<Vec<(usize, usize)>>);

impl Model for Counter {
    fn name(&self) -> String {
        "counter".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let examples: String =
            question.examples.iter().map(|(asked, answered)| format!("{asked}{answered}")).collect();
        let sent = format!("{}{examples}{}{}", question.system, question.prompt, question.schema);
        self.0.lock().expect("not poisoned").push((count_tokens(&sent), sent.chars().count() / 4));
        let data = question.prompt.lines().skip(2).take_while(|line| !line.starts_with('`'));
        let turn: Value = serde_json::from_str(&data.collect::<String>()).expect("JSON");
        let said = |field: &str| turn[field].as_str().expect("a text").to_owned();
        let text = said("response").split_whitespace().take(30).collect::<Vec<_>>().join(" ");
        let answer = json!({"should_remember": true, "memory_title": said("action"), "memory_text": text});
        Ok(Answer { text: answer.to_string(), model: self.name(), usage: Usage::default() })
    }
}

#[test]
fn a_prompt_about_a_turn_is_short() {
    let folder = folder();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).expect("opens");
    let settings = RecordSettings::default();
    let notebook = Notebook::new(store, Clock::fixed("2026-01-31T12:00:00Z"));
    let model = Counter::default();
    let recorder = Recorder { notebook: &notebook, judge: Judge::Model(&model), settings: &settings };
    let mut stored = 0;
    for episode in 1..=5 {
        let turns = std::fs::read_to_string(format!("fixtures/turns/zork1_ep{episode}.jsonl"));
        for line in turns.expect("the turns are there").lines() {
            let report = recorder.record(Turn::from_json(line).expect("a turn")).expect("recorded");
            stored += report.memories.len();
        }
    }
    let (mut tokens, mut quarters): (Vec<usize>, Vec<usize>) =
        model.0.into_inner().expect("not poisoned").into_iter().unzip();
    tokens.sort_unstable();
    quarters.sort_unstable();
    let quarter = quarters[(quarters.len() - 1) / 2];
    let at = |part: f64| tokens[((tokens.len() - 1) as f64 * part) as usize];
    println!(
        "tokens of {} prompts (system, examples, turn, schema): least {}, median {} (characters / 4: {quarter}), 95 % \
         within {}, most {}; {stored} stored",
        tokens.len(),
        at(0.0),
        at(0.5),
        at(0.95),
        at(1.0),
    );
    assert!(tokens.len() > 300 && stored > 200, "{} prompts, {stored} memories", tokens.len());
    assert!(at(0.5) <= PROMPT_TOKENS, "{} tokens at the median", at(0.5));
    assert!(quarter <= PROMPT_QUARTERS, "{quarter} characters / 4 at the median");
}

/// Texts that no English game prints, with the least ratio of the estimate to the true count.
#[test]
fn hostile_texts_are_not_far_from_their_estimate() {
    let texts = [
        ("commands", "n; s; e; w; ne; sw; u; d; l; i; x me; z; g; in; out".to_owned(), 1.0),
        ("numbers", "1 2 3 10 200 3000 12,345.67 -9 +10 0x7f".to_owned(), 1.0),
        (
            "Cyrillic",
            "Вы стоите в открытом поле к западу от белого дома с заколоченной дверью.".to_owned(),
            1.0,
        ),
        ("Greek", "Βρίσκεσαι σε ένα ανοιχτό χωράφι δυτικά από ένα λευκό σπίτι.".to_owned(), 0.9),
        ("Chinese", "你站在一座白色房子西边的空地上，前门用木板封着。这里有一个小邮箱。".to_owned(), 1.0),
        (
            "Japanese",
            "あなたは白い家の西の野原に立っています。玄関のドアには板が打ち付けてあります。".to_owned(),
            1.0,
        ),
        ("emoji", "🗝️🚪🐉🧙‍♂️⚔️💎🕯️👻🪙🏰".to_owned(), 1.0),
        ("punctuation", "…—–“”‘’«»·×•→←".to_owned(), 1.0),
        ("marks", "!@#$%^&*()_+{}|:<>?~`-=[]\\;',./".repeat(4), 1.0),
        ("capitals", "YOU ARE STANDING IN AN OPEN FIELD WEST OF A WHITE HOUSE.".to_owned(), 1.0),
        ("hexadecimal", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(), 0.95),
        ("random letters", "xqzvkjwpbfmgthdlrnscyxoqzuvkjiwpebafmgthdlrnscy".to_owned(), 0.4),
        ("spaces", " \t  a   b    c     d\n\n \n\t\tx".to_owned(), 1.0),
        ("line breaks", "a\nb\n\nc.\n\n\nd;\n".repeat(8), 1.0),
    ];
    for (name, text, least) in texts {
        let ratio = estimate_tokens(&text) as f64 / count_tokens(&text) as f64;
        println!("{name}: estimate / true count {ratio:.2}");
        assert!(ratio >= least, "{name}: {ratio:.2}");
    }
}
