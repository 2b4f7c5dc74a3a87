//! Recording: one turn of a game becomes memories. The whole flow is on this page.
//!
//! A [`Turn`] enters. The game's state decides *when* something may be worth remembering ([`triggers`]); a model, or
//! the built-in [`rules`], decides *what* ([`Judge`]). A [`RecordReport`] leaves: what was done, and why. It always
//! holds that
//!
//! * the result is on disk before the report leaves;
//! * visits and tried actions are written whatever the judge decides;
//! * the lock is never held while a model is asked, and a turn that needs no model is one transaction;
//! * a model that fails is not an error: the turn is queued, and [`retry`] offers it again;
//! * secrets are redacted before anything else looks at a turn.
//!
//! # Where to begin
//!
//! * [`Recorder::record`] records one turn, [`many::ManyTurns`] many of them, in groups that are written at once.
//! * [`triggers::Trigger`] names the facts that make a turn worth judging; `triggers::fired` decides which ones fired,
//!   and `once::is_repeat` whether the turn repeats another one, which is not judged again.
//! * [`effect::Effect`] says what a turn did, from facts, the class of the reply ([`replies`]) and the engine's flag.
//! * [`stats`] reads the journal again: figures of an episode, and the reason for each decision.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_notebook::{Clock, Notebook};
//! use memories_record::turn::Turn;
//! use memories_record::{Judge, RecordSettings, Recorder};
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10))?;
//! let notebook = Notebook::new(store.clone(), Clock::fixed("2026-01-31T10:40:00Z"));
//! let settings = RecordSettings::default();
//! let recorder = Recorder { notebook: &notebook, judge: Judge::Rules, settings: &settings };
//! let turn = r#"{"action": "take rug", "response": "It is too heavy.", "location": {"id": 23, "name": "Room"}}"#;
//! recorder.record(Turn::from_json(turn)?)?;
//! assert!(store.read()?.unwrap().contains("take rug"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
mod answer_fields;
mod apply;
mod begin;
pub mod best_run;
pub mod changes;
mod context;
mod death;
mod doubts;
pub mod effect;
mod evidence;
mod judge;
pub mod many;
mod once;
mod opening;
pub mod places;
pub mod prompt;
pub(crate) mod proposal;
mod redaction;
mod remember;
pub mod replies;
pub mod report;
pub mod retry;
pub mod rules;
pub mod shown;
pub mod stats;
mod surroundings;
pub mod triggers;
pub mod turn;

use std::collections::BTreeSet;

use memories_document::Document;
use memories_document::types::{Author, ImportanceScale, Memory, Viewer};
use memories_notebook::add::{AddReport, Claim, store_memory};
pub use memories_notebook::authority::Authority;
use memories_notebook::files::Files;
use memories_notebook::titles::stored_under_free_title;
use memories_notebook::{Draft, Notebook};
use memories_store::journal::entry::{Entry, RECORD};
use memories_store::journal::text::Text;
use memories_store::journal::{EarlierTurn, Journal};

use best_run::BestRun;
use changes::Changes;
use context::ModelOutcome;
use effect::{Effect, effect_of};
use evidence::{TurnEvidence, earlier};
use once::{Begun, Checked, is_repeat, recorded_before};
use opening::Leaving;
use replies::Replies;
use triggers::{Switches, fired};
use turn::Turn;

pub use context::{PlaceMemories, TurnContext};
pub use judge::Judge;
pub use places::RecordError;
pub use report::RecordReport;
use report::entry;
pub use surroundings::Surroundings;
use surroundings::Visits;

pub use places::Place;

/// Settings of recording.
#[derive(Debug, Clone)]
pub struct RecordSettings {
    /// Which triggers may fire.
    pub switches: Switches,
    /// Earlier turns that a model is shown.
    pub history_window: usize,
    /// Actions of one kind that are kept of a place.
    pub tried_per_place: usize,
    /// Phrases by which replies are classed.
    pub replies: Replies,
    /// Write date, score and moves into entries.
    pub provenance: bool,
    /// The scale of the importances that programs state.
    pub importance_scale: ImportanceScale,
    /// The language that a model is to answer in; `None` stands for the language of the game.
    pub language: Option<String>,
    /// Ids or names of places that a run without score is measured by, the furthest last.
    pub goals: Vec<String>,
    /// An unknown name makes a new place.
    pub new_place: bool,
    /// A turn that was recorded before is recorded again.
    pub again: bool,
    /// Before a turn whose number was recorded with other words, that turn and what followed it are set aside.
    pub rewind: bool,
    /// Ids of the game's places; a place that is not among them is a warning.
    pub map: Option<BTreeSet<u64>>,
}

impl Default for RecordSettings {
    fn default() -> RecordSettings {
        RecordSettings {
            switches: Switches::default(),
            history_window: 3,
            tried_per_place: 400,
            replies: Replies::default(),
            provenance: false,
            importance_scale: ImportanceScale::default(),
            language: None,
            goals: Vec::new(),
            new_place: false,
            again: false,
            rewind: false,
            map: None,
        }
    }
}

/// The number of a turn that was sent without one.
fn number_after(last: Option<&EarlierTurn>) -> u64 {
    last.and_then(|turn| turn.number).map_or(1, |last| last.saturating_add(1))
}

/// Turns of the journal as they were played.
fn turns_of<'a>(earlier: impl IntoIterator<Item = &'a EarlierTurn>) -> Vec<Turn> {
    earlier.into_iter().filter_map(|earlier| Turn::from_value(&earlier.turn).ok()).collect()
}

/// The earlier turns that everybody knows who knows a turn.
fn known_to(turn: &Turn, mut earlier: Vec<Turn>) -> Vec<Turn> {
    let present = turn.witnesses();
    earlier.retain(|earlier| earlier.witnesses().cover(&present));
    earlier
}

/// Records turns in one file.
pub struct Recorder<'a> {
    /// The memory file.
    pub notebook: &'a Notebook,
    /// Judges a turn for which a trigger fires, unless the turn repeats another one.
    pub judge: Judge<'a>,
    /// The settings.
    pub settings: &'a RecordSettings,
}

impl Recorder<'_> {
    /// Records one turn.
    ///
    /// # Errors
    ///
    /// See [`RecordError`]. A model that fails is not an error: the turn is queued.
    pub fn record(&self, mut turn: Turn) -> Result<RecordReport, RecordError> {
        let notes = redaction::redact_turn(&mut turn);
        // Nobody is asked about a turn that was recorded before.
        let before = match self.judge {
            Judge::Model(_) if !self.settings.again && !turn.rewind => {
                let running = self.notebook.state().episode;
                recorded_before(&Journal::of(self.notebook.store()), &turn, &self.notebook.read()?, running)?
            }
            _ => None,
        };
        let mut report = match before {
            Some(report) => report,
            None => self.record_new(&turn, Checked::NotYet).map_err(|error| self.as_seen(error))?,
        };
        report.warnings.extend(notes);
        Ok(report)
    }

    /// An error that names only places which the viewer knows.
    fn as_seen(&self, error: RecordError) -> RecordError {
        match error {
            RecordError::UnknownPlace { name, nearest } => {
                let seen = self.notebook.read();
                let nearest = seen.map_or(nearest, |seen| places::similar(&seen.lasting, &name));
                RecordError::UnknownPlace { name, nearest }
            }
            error => error,
        }
    }

    /// Records a turn whose secrets are redacted. While a model is asked, nobody has to wait for the lock: the answer
    /// is written in a transaction of its own.
    fn record_new(&self, turn: &Turn, checked: Checked) -> Result<RecordReport, RecordError> {
        let context = match self.judge {
            Judge::Rules | Judge::Later => None,
            Judge::Model(_) => self.notebook.preview(|draft| match self.begin(draft, turn, checked)? {
                Begun::Before(_) => Ok::<_, RecordError>(None),
                Begun::New(_) => Ok(Some(self.gather(draft, turn.clone())?)),
            })?,
        };
        let language = self.settings.language.as_deref();
        let asked = context.map(|context| {
            let judged = self.judge.judge(&context, language);
            (context, judged)
        });
        let done = self.notebook.edit(RECORD, |draft| {
            let rewound = match self.begin(draft, turn, checked)? {
                Begun::Before(report) => return Ok::<_, RecordError>(*report),
                Begun::New(rewound) => rewound,
            };
            let report = match &asked {
                Some((context, judged)) => self.write(draft, context.clone(), judged, checked)?,
                None => {
                    let context = self.gather(draft, turn.clone())?;
                    let judged = match self.judge {
                        // Another process has set it aside since.
                        Judge::Model(_) => ModelOutcome::PutOff,
                        Judge::Rules | Judge::Later => self.judge.judge(&context, language),
                    };
                    self.write(draft, context, &judged, checked)?
                }
            };
            Ok(RecordReport { rewound, ..report })
        })?;
        let mut report = done.value;
        report.warnings.extend(done.warnings);
        Ok(report)
    }

    /// The warnings about a turn. A journal that cannot be read causes none.
    fn doubts(&self, files: &Files, journal: &Journal, turn: &Turn, episode: u64) -> Vec<String> {
        let writer = files.writer.as_ref().map(|writer| writer.name());
        let find = |number: Option<u64>| {
            let is_it = |turn: &EarlierTurn| number.is_none_or(|number| turn.number == Some(number));
            journal.last_turn_by(episode, writer, is_it).ok().flatten()
        };
        let last = if self.settings.again || turn.turn.is_none() { None } else { find(None) };
        doubts::doubts(turn, episode, last.as_ref(), |number| find(Some(number)).is_some())
    }

    /// Everything that the files say about a turn. They stay as they are.
    fn gather(&self, draft: &mut Draft<'_>, turn: Turn) -> Result<TurnContext, RecordError> {
        let running = draft.state()?.episode;
        let episode = turn.episode.unwrap_or(running);
        if episode <= running {
            return self.gather_from(&draft.files, draft.journal(), turn, episode);
        }
        // The session ends with its episode.
        let session = std::mem::replace(&mut draft.files.session, Document::parse(String::new()));
        let context = self.gather_from(&draft.files, draft.journal(), turn, episode);
        draft.files.session = session;
        context
    }

    /// The parts of the files with which a turn is judged, by a model or by the built-in rules.
    fn shown_to_judge(
        &self,
        files: &Files,
        journal: &Journal,
        turn: &Turn,
        before: &Place,
        after: &Place,
    ) -> (PlaceMemories, Surroundings) {
        let memories = || PlaceMemories::of(files, before, after, turn);
        match self.judge {
            Judge::Model(_) => {
                let visits = Visits::of(journal).unwrap_or_default();
                let seen = visits.seen(before.id, after.id);
                (memories(), Surroundings::of(files, before, &turn.witnesses(), seen))
            }
            Judge::Rules => (memories(), Surroundings::default()),
            _ => Default::default(),
        }
    }

    fn gather_from(
        &self,
        files: &Files,
        journal: &Journal,
        mut turn: Turn,
        episode: u64,
    ) -> Result<TurnContext, RecordError> {
        // A journal that cannot be read withholds no memory; appending to it fails with a warning.
        let mut history = journal.last_turns(self.settings.history_window.max(1)).unwrap_or_default();
        let number = turn.turn.unwrap_or_else(|| number_after(history.last()));
        turn.notes = self.doubts(files, journal, &turn, episode);
        history.retain(|turn| turn.episode == Some(episode));
        evidence::complete(&mut turn, turns_of(history.last()).last());
        if self.settings.history_window == 0 {
            history.clear();
        }
        let (before, after) = places::resolve(&files.lasting, &turn, self.settings.new_place)?;
        let changes = Changes::of(&turn, before.id != after.id);
        let reached = turn.location_after.as_ref().map_or(&before, |_| &after);
        let first_visit = !files.lasting.headings().any(|heading| heading.scope == reached.scope());
        let present = turn.witnesses();
        let section = files.evidence_known_to(&before.scope(), &present);
        let earlier = earlier(&files.lasting, &section, &turn, changes, episode);
        let effect = effect_of(&turn, changes, &self.settings.replies, earlier, None);
        let leaving = Leaving {
            journal,
            document: &files.lasting,
            here: &section,
            before: &before,
            after: &after,
            episode,
            action: &turn.action,
            present: &present,
        };
        let opened_by = if changes.location { leaving.opened_by()? } else { Vec::new() };
        let triggers = fired(&turn, changes, effect, first_visit, &self.settings.switches);
        let is_repeat = !effect.is_success() && is_repeat(journal, &turn, &before, &section)?;
        let is_judged = !triggers.is_empty() && !is_repeat;
        let (memories, surroundings) = if is_judged {
            self.shown_to_judge(files, journal, &turn, &before, &after)
        } else {
            Default::default()
        };
        let history = known_to(&turn, turns_of(&history));
        Ok(TurnContext {
            turn,
            episode,
            number,
            before,
            after,
            changes,
            effect,
            triggers,
            is_judged,
            opened_by,
            memories,
            history,
            surroundings,
        })
    }

    /// Writes everything that follows from the turn. A turn that was sent without a number gets it here, under the
    /// lock: another process may have recorded one since the context was gathered.
    fn write(
        &self,
        draft: &mut Draft<'_>,
        mut context: TurnContext,
        judged: &ModelOutcome,
        checked: Checked,
    ) -> Result<RecordReport, RecordError> {
        if context.turn.turn.is_none() {
            let last = draft.journal().last_turns(1).unwrap_or_default();
            context.number = number_after(last.last());
        }
        let damaged_end = draft.journal().damaged_end();
        let now = draft.now.clone();
        let (running, ended) = draft.reach_episode(context.episode)?;
        let mut report = self.edit(&mut draft.files, &context, judged, &now, running)?;
        let (files, journal) = draft.files_and_journal();
        let goals = &best_run::goals(&files.lasting, &self.settings.goals);
        let best = BestRun { episode: context.episode, number: context.number, goals };
        // There is one best run, also where the one who records may not see it.
        let viewer = std::mem::replace(&mut files.viewer, Viewer::Person);
        let kept = best.keep(files, journal, &context, report.effect.unwrap_or_default());
        files.viewer = viewer;
        report.best_run = kept?;
        let ended = ended.filter(|ended| ended.memories > 0);
        report.ephemeral_ended = ended.as_ref().map(|ended| ended.memories);
        let source_line = match checked {
            Checked::IsNew { line } => line.map(|line| format!("{line:016x}").into()),
            Checked::NotYet => None,
        };
        draft.note(Entry {
            source_line,
            ephemeral_ended: report.ephemeral_ended,
            session: ended.and_then(|ended| ended.text).map(Text::from),
            ..entry(&context, &report)
        });
        report.warnings.extend(damaged_end);
        Ok(report)
    }

    fn edit(
        &self,
        files: &mut Files,
        context: &TurnContext,
        judged: &ModelOutcome,
        now: &str,
        running: u64,
    ) -> Result<RecordReport, RecordError> {
        let TurnContext { turn, episode, .. } = context;
        let document = &mut files.lasting;
        places::name_the_nameless(document, turn);
        let (before, after) = places::resolve(document, turn, self.settings.new_place)?;
        let mut warnings = places::name_warnings(document, turn, &before, &after);
        warnings.extend(turn.notes.iter().cloned());
        if let Some(map) = &self.settings.map {
            warnings.extend(places::map_warnings(map, &before, &after));
        }
        places::count_visits(document, &before, &after, *episode, context.number)?;
        let limit = self.settings.tried_per_place;
        let effect = self.effect_as_judged(document, context, &before, judged);
        let (before, after) = (&before, &after);
        let tried = TurnEvidence { document, context, effect, before, after, limit }.write()?;
        let memories = self.remember(files, context, before, now, &mut warnings)?.into_iter().collect();
        let report = RecordReport {
            memories,
            tried,
            warnings,
            effect: Some(effect),
            queued: matches!(judged, ModelOutcome::PutOff | ModelOutcome::Failed(_)),
            ..RecordReport::of(context, before.clone())
        };
        let applying = self.applying(context, before, after, now, running);
        Ok(self.apply_judged(files, &applying, judged, report)?)
    }

    /// The effect of a turn, by what the model says of it where it says so.
    fn effect_as_judged(
        &self,
        document: &Document,
        context: &TurnContext,
        before: &Place,
        judged: &ModelOutcome,
    ) -> Effect {
        let TurnContext { turn, episode, changes, .. } = context;
        match judged {
            ModelOutcome::Answered(proposal, _) if proposal.effect.is_some() => {
                let section = document.evidence_known_to(&before.scope(), &turn.witnesses());
                let earlier = earlier(document, &section, turn, *changes, *episode);
                effect_of(turn, *changes, &self.settings.replies, earlier, proposal.effect)
            }
            _ => context.effect,
        }
    }

    /// Stores what the caller asked to remember of a turn.
    fn remember(
        &self,
        files: &mut Files,
        context: &TurnContext,
        before: &Place,
        now: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Option<AddReport>, RecordError> {
        let Some(remember) = &context.turn.remember else { return Ok(None) };
        let mut memory = Memory::new(remember.category.clone(), "", &remember.text);
        memory.provenance.importance = Some(remember.importance);
        let memory = self.with_provenance(memory, context, now, false);
        let memory = stored_under_free_title(files, &before.scope(), &memory);
        files.authorship.set_author(Author::Agent);
        let at = context.moment();
        let claim = Claim { at: &at, ..Claim::of(Authority::Turn(context.changes.proof())) };
        Ok(Some(store_memory(files, &before.scope(), &before.name, &memory, claim, warnings)?))
    }
}
