//! Digests: the cursors are kept in the entries alone.

use std::cell::RefCell;
use std::time::Duration;

use memories::chat::ChatError;
use memories::chat::Conversation;
use memories::chat::digest::{DigestReport, Digester, Occasion, PresentCharacter};
use memories::document::Document;
use memories::llm::{Answer, Model, ModelError, Question, Usage};
use memories::notebook::{Clock, Notebook};
use memories::store::Store;
use memories::types::{Scope, Span};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::{data_of, journal_of};

/// A model with one answer for everything, which keeps the messages that it was shown for each subject.
#[derive(Default)]
struct Witness {
    /// The subjects, each with the numbers of the messages.
    shown: RefCell<Vec<(String, Vec<u64>)>>,
    /// Numbers of the requests that fail, counted from 0.
    fails: Vec<usize>,
    /// The number of first requests that it answers with no summary.
    babbles: usize,
    asked: RefCell<usize>,
}

impl Model for Witness {
    fn name(&self) -> String {
        "witness".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let number = *self.asked.borrow();
        *self.asked.borrow_mut() += 1;
        if self.fails.contains(&number) {
            return Err(ModelError::Unavailable { at: "witness".to_owned(), problem: "down".to_owned() });
        }
        if number < self.babbles {
            let text = format!("No {number}.");
            return Ok(Answer { text, model: self.name(), usage: Usage { calls: 1, ..Usage::default() } });
        }
        let facts = data_of(question.prompt);
        let about = match (facts.get("character"), facts.get("event")) {
            (Some(character), _) => character["id"].as_str().unwrap().to_owned(),
            (None, Some(_)) => "world".to_owned(),
            (None, None) => facts["place"]["id"].to_string(),
        };
        let numbers = facts["messages"].as_array().unwrap();
        let numbers = numbers.iter().map(|message| message["number"].as_u64().unwrap()).collect();
        self.shown.borrow_mut().push((about, numbers));
        let text = json!({"summary": "They spoke of the lamp. The door was opened."}).to_string();
        Ok(Answer { text, model: self.name(), usage: Usage { calls: 1, ..Usage::default() } })
    }
}

struct Game {
    _folder: tempfile::TempDir,
    store: Store,
    model: Witness,
}

impl Game {
    fn new(model: Witness) -> Game {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(5)).unwrap();
        Game { _folder: folder, store, model }
    }

    fn digest(&self, conversation: &Conversation, occasion: &Occasion) -> Result<DigestReport, ChatError> {
        let notebook = Notebook::new(self.store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
        let digester = Digester { notebook: &notebook, model: &self.model, tags: &[] };
        digester.digest(conversation, occasion)
    }

    fn shown_of(&self, about: &str) -> Vec<u64> {
        let shown = self.model.shown.borrow();
        shown.iter().filter(|(who, _)| who == about).flat_map(|(_, numbers)| numbers.clone()).collect()
    }

    fn spans(&self, scope: &Scope) -> Vec<Span> {
        let document = Document::parse(self.store.read().unwrap().unwrap_or_default());
        let memories = document.section(scope).unwrap_or_default().memories;
        memories.iter().filter_map(|memory| memory.provenance.messages).collect()
    }
}

fn conversation(messages: &[Value]) -> Conversation {
    let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
    Conversation::read("chat-7", &lines.join("\n")).unwrap()
}

fn troll() -> PresentCharacter {
    PresentCharacter { id: "troll".to_owned(), name: "The Troll".to_owned() }
}

fn said(location: u64, text: &str) -> Value {
    json!({"role": "user", "content": text, "location": location})
}

#[test]
fn a_failed_summary_is_made_the_next_time() {
    // Both attempts of the character's summary fail.
    let game = Game::new(Witness { fails: vec![1, 2], ..Witness::default() });
    let talk = conversation(&[said(1, "Hello, troll!"), said(1, "It growls.")]);
    let exit = Occasion::Exit(1, vec![troll()]);
    let report = game.digest(&talk, &exit).unwrap();
    assert_eq!((report.written.len(), report.failed.len()), (1, 1));
    assert_eq!(report.failed[0].scope, Scope::Npc("troll".to_owned()));
    assert_eq!(game.spans(&Scope::Npc("troll".to_owned())), []);
    let report = game.digest(&talk, &exit).unwrap();
    assert_eq!((report.written.len(), report.failed.len()), (1, 0));
    assert_eq!(game.shown_of("1"), [1, 2]);
    assert_eq!(game.spans(&Scope::Npc("troll".to_owned())), [Span { first: 1, last: 2 }]);
    let report = game.digest(&talk, &exit).unwrap();
    assert!(report.written.is_empty() && report.failed.is_empty() && report.cursor == 2);
}

#[test]
fn an_answer_that_is_no_summary_is_in_the_journal() {
    for (babbles, written) in [(1, 1), (2, 0)] {
        let game = Game::new(Witness { babbles, ..Witness::default() });
        let report = game.digest(&conversation(&[said(1, "Hello!")]), &Occasion::Exit(1, vec![])).unwrap();
        assert_eq!((report.written.len(), report.failed.len()), (written, 1 - written));
        let journal = journal_of(&game.store);
        let rejected = journal.iter().filter(|line| line["outcome"] == "failed");
        let answers: Vec<&Value> = rejected.map(|line| &line["model"]["answer"]).collect();
        assert_eq!(answers, ["No 0.", "No 1."][..babbles].iter().collect::<Vec<_>>());
        let calls = journal.iter().map(|line| line["model"]["calls"].as_u64().unwrap_or(0)).sum::<u64>();
        assert_eq!(calls, 2, "each call is counted once");
    }
}

#[test]
fn one_failure_is_tried_again_at_once() {
    let game = Game::new(Witness { fails: vec![0], ..Witness::default() });
    let report = game.digest(&conversation(&[said(1, "Hello!")]), &Occasion::Exit(1, vec![])).unwrap();
    assert_eq!((report.written.len(), report.failed.len()), (1, 0));
}

#[test]
fn what_fails_in_the_middle_of_much_moves_the_cursor_no_further() {
    let messages: Vec<Value> = (0..130).map(|number| said(1, &format!("line {number}"))).collect();
    // The second of three runs fails.
    let game = Game::new(Witness { fails: vec![1, 2], ..Witness::default() });
    let exit = Occasion::Exit(1, vec![]);
    let report = game.digest(&conversation(&messages), &exit).unwrap();
    assert_eq!((report.written.len(), report.failed.len()), (1, 1));
    assert_eq!(game.spans(&Scope::Location(1)), [Span { first: 1, last: 60 }]);
    game.digest(&conversation(&messages), &exit).unwrap();
    assert_eq!(game.shown_of("1"), (1..=130).collect::<Vec<u64>>());
}

#[test]
fn other_conversations_have_cursors_of_their_own() {
    let game = Game::new(Witness::default());
    let exit = Occasion::Exit(1, vec![]);
    let talk = conversation(&[said(1, "Hello!")]);
    game.digest(&talk, &exit).unwrap();
    let other = Conversation { id: "chat (8), the last".to_owned(), ..talk };
    game.digest(&other, &exit).unwrap();
    assert!(game.digest(&other, &exit).unwrap().written.is_empty());
    assert_eq!(game.shown_of("1"), [1, 1]);
}

#[test]
fn an_unknown_place_is_an_error_and_nothing_is_asked() {
    let game = Game::new(Witness::default());
    let error = game.digest(&conversation(&[said(1, "Hello!")]), &Occasion::Exit(2, vec![]));
    assert!(matches!(error, Err(ChatError::UnknownPlace(2))));
    assert_eq!(*game.model.asked.borrow(), 0);
    assert!(game.store.read().unwrap().is_none());
}

/// A message with or without a place, by the troll or not, an instruction or not.
fn any_message() -> impl Strategy<Value = Value> {
    let location =
        prop::sample::select(vec![json!(1), json!("2"), json!("Hall"), json!(null), json!({"id": 1})]);
    let text = prop::sample::select(vec!["Hello.", "The troll growls.", "A trolley.", ""]);
    let role = prop::sample::select(vec!["user", "assistant", "system", "tool"]);
    (location, text, role)
        .prop_map(|(location, text, role)| json!({"role": role, "content": text, "location": location}))
}

proptest! {
    #![proptest_config(crate::cases(40))]

    /// However a conversation is split into digests, each message is summarised at most once for each
    /// scope, and every message at a place is summarised for that place.
    #[test]
    fn any_split_tells_of_everything_once(
        messages in prop::collection::vec(any_message(), 1..25),
        splits in prop::collection::vec((0_usize..25, 0_u8..4), 0..8),
    ) {
        let game = Game::new(Witness::default());
        std::fs::write(game.store.path(), "## Location 1: Hall\n\n## Location 2: Cellar\n").unwrap();
        let mut ends: Vec<(usize, u8)> = splits.into_iter().map(|(end, what)| (end.min(messages.len()), what)).collect();
        ends.sort();
        ends.extend([(messages.len(), 0), (messages.len(), 1), (messages.len(), 3)]);
        for (end, what) in ends {
            if end == 0 {
                continue;
            }
            let part = conversation(&messages[..end]);
            let occasion = match what {
                0 => Occasion::Exit(1, vec![troll()]),
                1 => Occasion::Exit(2, vec![troll()]),
                2 => Occasion::Exit(1, vec![]),
                _ => Occasion::Event { kind: "act_progressed".to_owned(), related: vec![], tags: vec![] },
            };
            game.digest(&part, &occasion).unwrap();
        }
        let all = conversation(&messages);
        let speech = |location: &dyn Fn(&Value) -> bool| -> Vec<u64> {
            let said = all.messages.iter().filter(|message| message.is_speech());
            said.filter(|message| location(&message.fields()["location"])).map(|message| message.number).collect()
        };
        let hall = speech(&|location| *location == json!(1) || *location == json!("Hall") || *location == json!({"id": 1}));
        prop_assert_eq!(game.shown_of("1"), hall);
        prop_assert_eq!(game.shown_of("2"), speech(&|location| *location == json!("2")));
        prop_assert_eq!(game.shown_of("world"), speech(&|_| true));
        let mut troll = game.shown_of("troll");
        let told = troll.len();
        troll.sort_unstable();
        troll.dedup();
        prop_assert_eq!(troll.len(), told, "the troll was told of a message twice");
    }
}
