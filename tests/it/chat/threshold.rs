//! The usual threshold for a neural encoder's cosine, converted to similarities of the embedded model:
//! shares of questions that keep their answer, and of unrelated messages that get no memory.

use std::time::Duration;

use memories::chat::inject::Injector;
use memories::chat::{CALIBRATED, ChatSettings, USUAL_THRESHOLD};
use memories::notebook::SharedSnapshot;
use memories::search::SearchSettings;
use memories::search::embedded::StaticModel;
use memories::store::{Change, Store};
use memories::types::{Category, Memory, Scope, Span};
use serde_json::{Value, json};

/// Messages to a chat program that are unrelated to a game of caves.
const UNRELATED: [&str; 24] = [
    "Hi there, how was your weekend?",
    "Please translate this sentence into French.",
    "Can you recommend a good pasta recipe?",
    "My invoice from March was never paid.",
    "Refactor this function so that it returns early.",
    "What time zone is Nairobi in?",
    "I feel a bit tired today.",
    "Thanks, that was very helpful!",
    "Write a haiku about spring rain.",
    "Which vaccine do I need before travelling?",
    "The printer says that it is out of toner.",
    "Explain inflation to a child of ten.",
    "Our quarterly sales went up by nine percent.",
    "Who won the match last night?",
    "Could you shorten the second paragraph?",
    "My sister's wedding is in June.",
    "How many calories does an avocado have?",
    "The train to Lyon was late again.",
    "Suggest a name for my new bakery.",
    "I have forgotten my password for the bank.",
    "What does mitochondria do in a cell?",
    "Let us schedule the meeting for Thursday.",
    "Summarise this article about solar panels.",
    "Is it better to rent or to buy?",
];

fn lines(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/search").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_threshold_parts_what_is_related_from_what_is_not() {
    let [questions, paraphrases, silent] = measured(&[CALIBRATED])[0];
    // A little below what the contract says.
    assert!(questions >= 0.97 && paraphrases >= 0.5 && silent >= 0.5, "{questions} {paraphrases} {silent}");
}

#[test]
#[ignore = "takes half a minute; prints the figures that the choice rests on"]
fn other_likenesses() {
    measured(&[0.15, 0.20, 0.25, 0.30, 0.35, 0.40]);
}

/// For each similarity the shares of questions and of paraphrases that keep their answer, and of
/// unrelated messages that get no memory.
fn measured(likenesses: &[f32]) -> Vec<[f64; 3]> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(5)).unwrap();
    let documents = lines("documents.jsonl");
    let update = store.update(|_, _| {
        let mut document = memories::document::Document::parse(String::new());
        for value in &documents {
            let text = |name: &str| value[name].as_str().unwrap();
            let mut memory =
                Memory::new(Category::new(text("category")).unwrap(), text("title"), text("text"));
            memory.provenance.episode = value["episode"].as_u64();
            memory.provenance.turns = value["turn"].as_u64().map(Span::one);
            document.add(&Scope::Location(value["location"].as_u64().unwrap()), text("place"), &memory)?;
        }
        Ok::<_, Box<dyn std::error::Error>>(Change::to(document.into_text()?, ()))
    });
    assert!(update.unwrap().written);
    let injector =
        Injector::new(SharedSnapshot::new(store), &SearchSettings::default(), Box::new(StaticModel::new()));
    let mut figures = Vec::new();
    for &likeness in likenesses {
        let threshold = threshold_of(likeness);
        let settings =
            ChatSettings { threshold, max_injected: 10, max_tokens: 5000, ..ChatSettings::default() };
        let told = |said: &str| -> Vec<String> {
            let request = json!({"messages": [{"role": "user", "content": said}]}).to_string();
            let injected =
                injector.inject(request.as_bytes(), &settings, None, "2026-01-31T10:40:00Z").unwrap();
            injected.memories.into_iter().map(|memory| memory.summary).collect()
        };
        let kept = |name: &str| {
            let questions = lines(name);
            let kept = questions.iter().filter(|question| {
                let id = &question["relevant"][0];
                let answer = documents.iter().find(|document| document["id"] == *id).unwrap();
                let text = answer["text"].as_str().unwrap();
                told(question["question"].as_str().unwrap()).iter().any(|summary| summary.ends_with(text))
            });
            kept.count() as f64 / questions.len() as f64
        };
        let (questions, paraphrases) = (kept("questions.jsonl"), kept("paraphrases.jsonl"));
        let silent = UNRELATED.iter().filter(|said| told(said).is_empty()).count();
        let silent = silent as f64 / UNRELATED.len() as f64;
        println!(
            "likeness {likeness:.2}: questions {questions:.2}, paraphrases {paraphrases:.2}, silent {silent:.2}"
        );
        figures.push([questions, paraphrases, silent]);
    }
    figures
}

/// The threshold that corresponds to a similarity.
fn threshold_of(likeness: f32) -> f32 {
    if likeness <= CALIBRATED {
        likeness / CALIBRATED * USUAL_THRESHOLD
    } else {
        USUAL_THRESHOLD + (likeness - CALIBRATED) / (1.0 - CALIBRATED) * (1.0 - USUAL_THRESHOLD)
    }
}
