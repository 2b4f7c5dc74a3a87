//! `retry --follow`: works off the queue beside a game, as turns come, until it is interrupted.
//!
//! A worker thread asks the model and writes; this one prints what the worker reports, and ends the program when
//! it is interrupted: at once while a model is asked, and after the write while one is under way. Of several
//! followers of a file one works at a time, so that no turn is asked twice; the others wait for it.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::interrupt::on_interrupt;
use memories_document::types::lock::lock;
use memories_llm::Model;
use memories_notebook::Notebook;
use memories_record::retry::{MAX_FAILURES, Offer, Queue, Wanted, waiting};
use memories_record::{Judge, RecordError, RecordSettings, Recorder};
use memories_store::StoreError;
use memories_store::journal::Journal;

/// Interval between two looks at the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Longest pause after failures.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// An event that another thread reports to the one that prints.
enum Event {
    /// A turn was offered; its label, and the result.
    Offered(String, Result<Offer, RecordError>),
    /// The queue cannot be read.
    Broken(StoreError),
    /// The user or a supervisor ends the program.
    Interrupted,
}

/// Follows the queue until interrupted.
pub(super) fn follow(cli: Cli<'_>, notebook: Notebook, model: Option<Box<dyn Model>>) -> Result<u8, Failure> {
    let (events, happened) = channel();
    let writing = Arc::new(Mutex::new(()));
    let interrupted = events.clone();
    on_interrupt(move || drop(interrupted.send(Event::Interrupted)))?;
    let settings = cli.settings.record.clone();
    let first_pause = cli.settings.llm.limits.retry_delay;
    let worker = Worker { notebook, model, settings, first_pause, events, writing: Arc::clone(&writing) };
    std::thread::spawn(move || {
        if let Err(error) = worker.run() {
            let _ = worker.events.send(Event::Broken(error));
        }
    });
    let (mut done, mut last_problem) = (0, String::new());
    for event in happened {
        match event {
            Event::Offered(turn, Ok(Offer::Done(report))) => {
                (done, last_problem) = (done + 1, String::new());
                for warning in &report.warnings {
                    cli.ui.warning(&format!("{turn}: {warning}"));
                }
                let outcome = <&str>::from(report.outcome);
                cli.ui.answer(&json!({"turn": turn, "outcome": outcome}), &format!("{turn}: {outcome}\n"))?;
                cli.ui.flush()?;
            }
            Event::Offered(_, Ok(Offer::Gone)) => {}
            Event::Offered(turn, failed) => {
                let problem = match failed {
                    Ok(Offer::Failed(problem)) => problem,
                    Ok(_) => continue,
                    Err(error) => Failure::from(error).message(),
                };
                // A server that is down says the same at each attempt.
                if problem != last_problem {
                    cli.ui.warning(&format!("{turn}: {problem}; it waits"));
                    last_problem = problem;
                }
            }
            Event::Broken(error) => return Err(error.into()),
            Event::Interrupted => break,
        }
    }
    // Held until the program ends: no write begins any more, and the running one is over.
    let _held = lock(&writing);
    cli.ui.notice(&format!("stopped: {}", counted(done, "turn done", "turns done")));
    Ok(0)
}

/// Asks the model about queued turns, and writes its answers.
struct Worker {
    notebook: Notebook,
    model: Option<Box<dyn Model>>,
    settings: RecordSettings,
    /// The pause after the first failure; it doubles with each further one.
    first_pause: Duration,
    events: Sender<Event>,
    /// Held while an answer is written.
    writing: Arc<Mutex<()>>,
}

impl Worker {
    /// Works until the program ends.
    fn run(&self) -> Result<(), StoreError> {
        let (_, mut follower) = Journal::of(self.notebook.store()).follow(0, |_| false)?;
        let (mut is_due, mut failures) = (true, 0);
        loop {
            if is_due {
                match self.work_off()? {
                    Pass::Complete => (is_due, failures) = (false, 0),
                    Pass::Failed => failures += 1,
                    Pass::OtherWorks => {}
                }
            }
            std::thread::sleep(self.pause(failures));
            is_due |= follower.poll()?.iter().any(|line| line.contains("\"queued\""));
        }
    }

    fn pause(&self, failures: u32) -> Duration {
        match failures {
            0 => POLL_INTERVAL,
            more => self.first_pause.saturating_mul(1 << (more - 1).min(16)).clamp(POLL_INTERVAL, MAX_PAUSE),
        }
    }

    /// Offers all queued turns, in order, until the model fails repeatedly.
    fn work_off(&self) -> Result<Pass, StoreError> {
        let store = self.notebook.store();
        let Some(_turn_to_work) = store.try_lock_queue()? else { return Ok(Pass::OtherWorks) };
        let judge = Judge::of(self.model.as_deref());
        let recorder = Recorder { notebook: &self.notebook, judge, settings: &self.settings };
        let (mut in_a_row, mut pass) = (0, Pass::Complete);
        let Queue { turns, mut resolved, damage: _ } =
            waiting(store, Wanted::Queued, self.settings.history_window)?;
        for turn in turns {
            let offered = recorder.ask_again(&turn).and_then(|asked| {
                let _writing = lock(&self.writing);
                recorder.write_answer(&turn, &mut resolved, asked)
            });
            let is_settled = matches!(offered, Ok(Offer::Done(_) | Offer::Gone));
            let _ = self.events.send(Event::Offered(turn.label.clone(), offered));
            in_a_row = if is_settled { 0 } else { in_a_row + 1 };
            if !is_settled {
                pass = Pass::Failed;
            }
            if in_a_row >= MAX_FAILURES {
                break;
            }
        }
        Ok(pass)
    }
}

/// The result of working the queue off.
enum Pass {
    /// No turn waits any more.
    Complete,
    /// Some turns still wait.
    Failed,
    /// Another follower is at work.
    OtherWorks,
}
