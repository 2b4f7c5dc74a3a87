//! A fleet to whose store anything happens: all that its workers did is there in the end, and no more.

use proptest::prelude::*;

use crate::error::SyncError;
use crate::tests::bucket::{Fault, InMemory};
use crate::tests::{Dice, HALL, Worker};
use memories_document::types::{Attempt, Category, Memory};
use memories_document::{Document, RegionKind};
use memories_notebook::NotebookError;

/// Three workers that each know what they did.
struct Fleet {
    remote: InMemory,
    workers: Vec<Worker>,
    visits: u64,
    tries: u64,
    /// The words of each fact, by its number; `None` once it was removed.
    facts: Vec<Option<String>>,
    /// Words that no file may have any more.
    gone: Vec<String>,
}

impl Fleet {
    fn new() -> Fleet {
        let workers = (1..=3).map(Worker::new).collect();
        let (facts, gone) = (Vec::new(), Vec::new());
        Fleet { remote: InMemory::default(), workers, visits: 0, tries: 0, facts, gone }
    }

    fn edit(&self, worker: usize, edit: impl Fn(&mut Document)) {
        let edited = self.workers[worker].notebook.edit::<_, NotebookError>("record", |draft| {
            edit(&mut draft.files.lasting);
            Ok(())
        });
        drop(edited.unwrap());
    }

    fn record(&mut self, worker: usize) {
        let turn = self.visits + 1;
        self.edit(worker, |document| {
            document.visit(&HALL, "Hall", worker as u64 + 1, Some(turn)).unwrap();
            let section = document.section(&HALL).unwrap();
            let tried = section.tried.iter().find(|attempt| attempt.action == "push");
            let mut attempt = tried.cloned().unwrap_or_else(new_try);
            attempt.count = tried.map_or(1, |tried| tried.count + 1);
            (attempt.episode, attempt.turn) = (Some(worker as u64 + 1), Some(turn));
            document.put_attempt(&HALL, "Hall", RegionKind::Tried, &attempt, 100).unwrap();
        });
        (self.visits, self.tries) = (self.visits + 1, self.tries + 1);
    }

    fn add(&mut self, worker: usize) {
        // The number of a fact names its owner.
        while self.facts.len() % 3 != worker {
            self.facts.push(None);
        }
        let number = self.facts.len();
        let words = format!("fact {number} of the hall");
        self.edit(worker, |document| {
            document
                .add(&HALL, "Hall", &Memory::new(Category::note(), format!("F{number}"), &*words))
                .unwrap();
        });
        self.facts.push(Some(words));
    }

    /// A fact of this worker's own.
    fn own_fact(&self, worker: usize, choice: usize) -> Option<(usize, String)> {
        let own: Vec<(usize, String)> = self
            .facts
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 3 == worker)
            .filter_map(|(number, words)| Some((number, words.clone()?)))
            .collect();
        own.get(choice.checked_rem(own.len())?).cloned()
    }

    fn remove(&mut self, worker: usize, choice: usize) {
        let Some((number, words)) = self.own_fact(worker, choice) else { return };
        self.edit(worker, |document| document.remove_pieces(|piece| piece.text.ends_with(&words)));
        self.facts[number] = None;
        self.gone.push(words);
    }

    fn reword(&mut self, worker: usize, choice: usize) {
        let Some((number, words)) = self.own_fact(worker, choice) else { return };
        let new = format!("{words} and");
        let text = self.workers[worker].text();
        assert!(text.contains(&format!("{words}\n")), "{words}: {text}");
        self.workers[worker].write(&text.replace(&format!("{words}\n"), &format!("{new}\n")));
        self.facts[number] = Some(new);
        self.gone.push(words);
    }

    /// Syncs, and goes on where the states that say who wrote the copy were set back and the copy was not.
    fn sync(&self, worker: usize) {
        let sync = || self.workers[worker].sync(&self.remote);
        let synced = match sync() {
            Err(SyncError::Strange { .. }) => sync(),
            synced => synced,
        };
        drop(synced.unwrap());
    }

    fn step(&mut self, step: Step) {
        let Step { kind, worker, choice } = step;
        let fault = [Fault::Dropped, Fault::Unanswered, Fault::Late, Fault::Twice][choice % 4];
        match kind {
            0 | 1 => self.record(worker),
            2 => self.add(worker),
            3 => self.remove(worker, choice),
            4 => self.reword(worker, choice),
            5..=8 => self.sync(worker),
            9 | 10 => {
                self.remote.0.fault.set(Some((choice as u32 / 4 % 3, fault)));
                let _ = self.workers[worker].sync(&self.remote);
                self.remote.0.fault.set(None);
            }
            11 => self.remote.set_back(choice % 9 + 1, true, choice % 2 == 0),
            12 => self.remote.set_back(choice % 9 + 1, choice % 2 == 0, true),
            _ => self.remote.arrive(),
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let mut text = String::new();
        // In the first round all see what the others put. A machine whose copy is unchanged does not look whether the
        // store lost its state, and puts that again in the second. The third takes what follows from it to all.
        for _ in 0..3 {
            for worker in 0..3 {
                self.sync(worker);
                text = self.workers[worker].text();
            }
        }
        for worker in &self.workers {
            prop_assert_eq!(&worker.text(), &text);
        }
        prop_assert_eq!(self.remote.text(), text.clone());
        let section = Document::parse(text.clone()).section(&HALL).unwrap_or_default();
        prop_assert_eq!(section.visits, self.visits, "{}", text);
        prop_assert_eq!(section.tried.iter().map(|tried| tried.count).sum::<u64>(), self.tries, "{}", text);
        for words in self.facts.iter().flatten() {
            prop_assert_eq!(text.matches(&format!("{words}\n")).count(), 1, "{}: {}", words, text);
        }
        for words in &self.gone {
            prop_assert!(!text.contains(&format!("{words}\n")), "{}: {}", words, text);
        }
        Ok(())
    }
}

fn new_try() -> Attempt {
    let (action, reply) = ("push".to_owned(), "No.".to_owned());
    Attempt { action, count: 1, episode: None, turn: None, reply, ..Attempt::default() }
}

#[derive(Debug, Clone, Copy)]
struct Step {
    kind: usize,
    worker: usize,
    choice: usize,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_store_does_counts_are_exact_and_nothing_is_lost_or_comes_back(
        steps in prop::collection::vec(
            (0..14_usize, 0..3_usize, 0..1000_usize).prop_map(|(kind, worker, choice)| Step { kind, worker, choice }),
            1..30,
        ),
    ) {
        let mut fleet = Fleet::new();
        for step in steps {
            fleet.step(step);
        }
        fleet.check()?;
    }
}

#[test]
fn what_a_person_does_to_one_file_arrives_in_all() {
    let (mut fleet, mut dice) = (Fleet::new(), Dice(3));
    for worker in 0..3 {
        for _ in 0..6 {
            fleet.add(worker);
        }
    }
    fleet.check().unwrap();
    let mut name = "Hall".to_owned();
    for number in 0..60 {
        let worker = dice.roll(3);
        let choice = dice.roll(1000);
        match dice.roll(6) {
            0 => fleet.remove(worker, choice),
            1 | 2 => fleet.reword(worker, choice),
            3 => {
                let (old, new) = (format!("1: {name}\n"), format!("1: Hall {number}\n"));
                let text = fleet.workers[worker].text();
                fleet.workers[worker].write(&text.replace(&old, &new));
                name = format!("Hall {number}");
            }
            4 => {
                let text = fleet.workers[worker].text();
                let line = "I was here.\n\n";
                let new = if text.contains(line) {
                    text.replace(line, "")
                } else {
                    text.replace("### Memories", &format!("{line}### Memories"))
                };
                fleet.workers[worker].write(&new);
                fleet.check().unwrap();
                assert_eq!(fleet.remote.text().contains(line), new.contains(line), "{number}");
            }
            _ => fleet.add(worker),
        }
        fleet.workers[worker].sync(&fleet.remote).unwrap();
        fleet.check().unwrap();
        assert!(fleet.remote.text().contains(&format!("1: {name}\n")), "{number}: {}", fleet.remote.text());
    }
}

#[test]
fn a_store_that_lost_all_states_but_not_the_copy_counts_no_play_twice() {
    let mut fleet = Fleet::new();
    fleet.record(1);
    fleet.record(2);
    fleet.sync(2);
    fleet.sync(1);
    fleet.remote.set_back(4, false, true);
    fleet.check().unwrap();
}
