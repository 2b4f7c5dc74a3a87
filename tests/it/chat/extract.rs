//! Memories extracted from replies: counted for each conversation; nothing is lost with the sidecar.

use std::time::Duration;

use memories::chat::extract::{ExtractInput, ExtractOutcome, ExtractReport, Extractor, read_input};
use memories::chat::{ChatSettings, ExtractMode};
use memories::chat::{Conversation, Message};
use memories::document::Document;
use memories::llm::{Answer, Model, ModelError, Question, Usage};
use memories::notebook::{Clock, Notebook};
use memories::store::Store;
use memories::types::{Memory, Scope};
use serde_json::json;

use crate::chat::{data_of, journal_of};

/// A model with scripted findings for each conversation, which keeps what it was shown.
struct Finder {
    finds: Result<String, &'static str>,
    shown: std::cell::RefCell<Vec<String>>,
}

impl Finder {
    fn of(summaries: &[(&str, u64)]) -> Finder {
        let items: Vec<_> = summaries
            .iter()
            .map(|(summary, importance)| json!({"category": "FACT", "importance": importance, "summary": summary, "context": "At the gate"}))
            .collect();
        Finder { finds: Ok(json!({"memories": items}).to_string()), shown: Default::default() }
    }
}

impl Model for Finder {
    fn name(&self) -> String {
        "finder".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        self.shown.borrow_mut().push(data_of(question.prompt)["messages"].to_string());
        match &self.finds {
            Ok(text) => Ok(Answer { text: text.clone(), model: self.name(), usage: Usage::default() }),
            Err(problem) => Err(ModelError::Unavailable { at: self.name(), problem: (*problem).to_owned() }),
        }
    }
}

struct Chat {
    folder: tempfile::TempDir,
    store: Store,
    settings: ChatSettings,
}

impl Chat {
    fn new(settings: ChatSettings) -> Chat {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(5)).unwrap();
        Chat { folder, store, settings }
    }

    fn extract(&self, model: &Finder, conversation: &Conversation, whole: bool) -> ExtractReport {
        let notebook = Notebook::new(self.store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
        let extractor = Extractor { notebook: &notebook, model: Some(model), settings: &self.settings };
        let input = ExtractInput {
            conversation,
            whole,
            has_history: false,
            saving: false,
            scope: Some(&Scope::World),
            injected: &[],
            tags: &[],
        };
        extractor.extract(input).unwrap()
    }

    fn memories(&self) -> Vec<Memory> {
        let document = Document::parse(self.store.read().unwrap().unwrap_or_default());
        document.section(&Scope::World).unwrap_or_default().memories
    }
}

fn reply(number: usize) -> Conversation {
    read_input("chat-7", &format!("Reply {number}: the captain of the watch walks the wall every night."))
        .unwrap()
}

fn talk(turns: u64) -> Conversation {
    let messages = (1..=turns).flat_map(|turn| {
        let text = format!("Turn {turn}: the captain of the watch walks the wall every night.");
        [Message::plain(2 * turn - 1, "user", "Go on."), Message::plain(2 * turn, "assistant", &text)]
    });
    Conversation { id: "chat-7".to_owned(), messages: messages.collect() }
}

#[test]
fn periodic_counts_replies_one_by_one_and_shows_them_all() {
    let chat = Chat::new(ChatSettings { every: 3, ..ChatSettings::default() });
    let finder = Finder::of(&[("The captain walks the wall at night.", 800)]);
    let outcomes: Vec<(ExtractOutcome, Option<u64>)> = (1..=7)
        .map(|number| chat.extract(&finder, &reply(number), false))
        .map(|r| (r.outcome, r.due_in))
        .collect();
    use ExtractOutcome::{Stored, Waiting};
    let due = |turns| Some(turns);
    assert_eq!(
        outcomes,
        [
            (Waiting, due(2)),
            (Waiting, due(1)),
            (Stored, due(3)),
            (Waiting, due(2)),
            (Waiting, due(1)),
            (Stored, due(3)),
            (Waiting, due(2))
        ]
    );
    let shown = finder.shown.borrow();
    for number in 1..=3 {
        assert!(shown[0].contains(&format!("Reply {number}:")), "{}", shown[0]);
    }
    assert!(shown[1].contains("Reply 6:") && !shown[1].contains("Reply 3:"));
    // The second time it says the same: merged, with both sources.
    let memories = chat.memories();
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].importance(), 700);
    assert_eq!(memories[0].provenance.sources, ["chat:chat-7#T1-3", "chat:chat-7#T4-6"]);
}

#[test]
fn a_client_that_sends_its_last_turns_only_is_counted_too() {
    let chat = Chat::new(ChatSettings::default());
    let finder = Finder::of(&[("The captain walks the wall at night.", 8)]);
    let outcome = |turns| chat.extract(&finder, &talk(turns), false).outcome;
    assert_eq!(
        [outcome(3), outcome(3), outcome(3)],
        [ExtractOutcome::Waiting, ExtractOutcome::Waiting, ExtractOutcome::Stored]
    );
    assert_eq!(outcome(4), ExtractOutcome::Waiting);
}

#[test]
fn a_whole_file_is_not_counted_twice() {
    let chat = Chat::new(ChatSettings::default());
    let finder = Finder::of(&[("The captain walks the wall at night.", 8)]);
    let of = |turns| chat.extract(&finder, &talk(turns), true);
    assert_eq!((of(4).outcome, of(4).turns), (ExtractOutcome::Waiting, 4));
    assert_eq!((of(6).outcome, of(6).turns), (ExtractOutcome::Stored, 6));
    assert_eq!(finder.shown.borrow().len(), 1);
    assert!(finder.shown.borrow()[0].contains("Turn 1:"));
}

#[test]
fn without_what_is_beside_the_file_nothing_stored_is_lost() {
    let chat = Chat::new(ChatSettings { mode: ExtractMode::EveryTurn, ..ChatSettings::default() });
    let finder = Finder::of(&[("The captain walks the wall at night.", 8)]);
    assert_eq!(chat.extract(&finder, &reply(1), false).outcome, ExtractOutcome::Stored);
    std::fs::remove_dir_all(chat.folder.path().join(".memories")).unwrap();
    assert_eq!(chat.memories().len(), 1);
    assert_eq!(chat.extract(&finder, &reply(2), false).outcome, ExtractOutcome::Stored);
    assert_eq!(chat.memories().len(), 1);
}

#[test]
fn an_answer_without_a_memory_is_in_the_journal() {
    let chat = Chat::new(ChatSettings { mode: ExtractMode::EveryTurn, ..ChatSettings::default() });
    let said = |text: &str| Finder { finds: Ok(text.to_owned()), shown: Default::default() };
    let useless = chat.extract(&said("Nothing to tell."), &reply(1), false);
    assert_eq!(useless.outcome, ExtractOutcome::Failed);
    let empty = chat.extract(&said(r#"{"memories": []}"#), &reply(2), false);
    assert_eq!(empty.outcome, ExtractOutcome::Nothing);
    let journal = journal_of(&chat.store);
    let kept: Vec<(&str, &str)> = journal
        .iter()
        .map(|entry| (entry["outcome"].as_str().unwrap(), entry["model"]["answer"].as_str().unwrap()))
        .collect();
    assert_eq!(kept, [("failed", "Nothing to tell."), ("declined", r#"{"memories": []}"#)]);
}

#[test]
fn a_model_that_fails_costs_no_turn() {
    let chat = Chat::new(ChatSettings { every: 2, ..ChatSettings::default() });
    let down = Finder { finds: Err("down"), shown: Default::default() };
    assert_eq!(chat.extract(&down, &reply(1), false).outcome, ExtractOutcome::Waiting);
    let report = chat.extract(&down, &reply(2), false);
    assert_eq!(report.outcome, ExtractOutcome::Failed);
    assert!(report.failure.is_some() && chat.memories().is_empty());
    let finder = Finder::of(&[("The captain walks the wall at night.", 8)]);
    assert_eq!(chat.extract(&finder, &reply(3), false).outcome, ExtractOutcome::Stored);
    let shown = finder.shown.borrow();
    assert!((1..=3).all(|number| shown[0].contains(&format!("Reply {number}:"))), "{}", shown[0]);
}

#[test]
fn a_conversation_gives_no_more_than_it_may() {
    let settings =
        ChatSettings { mode: ExtractMode::EveryTurn, max_per_conversation: 3, ..ChatSettings::default() };
    let chat = Chat::new(settings);
    let facts =
        ["Kira likes tea.", "Marcus owns a boat.", "The dam is old.", "Wolves fear fire.", "Gold is heavy."];
    for (number, fact) in facts.iter().enumerate() {
        let report = chat.extract(&Finder::of(&[(fact, 5)]), &reply(number), false);
        assert_eq!(report.outcome, if number < 3 { ExtractOutcome::Stored } else { ExtractOutcome::Full });
    }
    assert_eq!(chat.memories().len(), 3);
}

#[test]
fn no_model_is_asked_of_what_says_nothing() {
    let chat = Chat::new(ChatSettings { mode: ExtractMode::EveryTurn, ..ChatSettings::default() });
    let finder = Finder::of(&[("The captain walks the wall at night.", 8)]);
    let greeting =
        read_input("c", "Hello and welcome back! How can I help you today? It is good to see you.").unwrap();
    assert_eq!(chat.extract(&finder, &greeting, false).outcome, ExtractOutcome::Nothing);
    assert!(finder.shown.borrow().is_empty());
}
