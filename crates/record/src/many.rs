//! Many turns, one after the other: lines of JSON enter, their reports and a summary leave.
//!
//! Lines that wait are recorded in groups: each group is one transaction, which reads the file once and writes it once.
//! A turn that is refused leaves the others alone: where it was edited already, those before it are written without it.
//! An error of the store ends the work: it concerns every line.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use crate::doubts::kind_of;
use crate::once::{Begun, Checked, key_of, other_with_id};
use crate::redaction::redact_turn;
use crate::turn::Turn;
use crate::{Judge, RecordError, RecordReport, Recorder};
use memories_document::types::{ImportanceScale, Scope};
use memories_document::{Document, DocumentError};
use memories_notebook::{Draft, Written};
use memories_store::StoreError;
use memories_store::journal::Journal;
use memories_store::journal::entry::RECORD;
use memories_store::journal::recorded::{Known, RecordedTurns, TurnKey};

/// Turns that are written together at most, in a file that is read and written at once.
const GROUP: usize = 64;

/// How many times as large a group may be where the file is large.
const MAX_FACTOR: usize = 4;

/// Bytes of a file that is read and written at once.
const SMALL: usize = 8 << 20;

/// Turns that are written together at most.
pub const MAX_GROUP: usize = MAX_FACTOR * GROUP;

/// Time of work on the turns of such a group, after which no more are added: other writers wait.
const WORK: Duration = Duration::from_millis(50);

/// Time for which the lock is free between groups that follow at once.
const PAUSE: Duration = Duration::from_millis(1);

/// A line of the input, and its number.
pub type Line = (usize, Vec<u8>);

/// Gives the report on the turn of a line, or `None` where it is refused.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(usize, Option<&RecordReport>);

/// The result of recording many turns.
#[derive(Debug, Clone, Default)]
pub struct TurnSummary {
    /// Lines that were read.
    pub lines: usize,
    /// How many turns had each outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Lines that were refused, and why.
    pub refused: Vec<(usize, String)>,
    /// Different warnings, in the order in which they came.
    pub warnings: Vec<LineWarning>,
    /// Errors of the model, and how many turns wait because of each.
    pub model_errors: BTreeMap<String, u64>,
    /// Where each warning is in the list.
    places: HashMap<String, usize>,
}

/// A warning about one line or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineWarning {
    /// The first of the lines.
    pub line: usize,
    /// The lines after it with the same warning.
    pub more: u64,
    /// The warning.
    pub text: String,
}

/// Turns that are recorded one after the other.
pub struct ManyTurns<'a> {
    recorder: &'a Recorder<'a>,
    reader: LineReader<'a>,
    summary: TurnSummary,
    /// True if the last group ended although further lines waited.
    is_pressed: bool,
}

/// Reads lines, and knows which turns were recorded before.
struct LineReader<'a> {
    /// The file of the lines, by which a turn without number and id is known; `None` for a stream.
    file: Option<&'a str>,
    /// Turns that were recorded before are recorded again.
    again: bool,
    /// The scale of importances that name none.
    scale: ImportanceScale,
    recorded: RecordedTurns,
}

/// The outcome of a line: the report on its turn, or why it is refused.
type Done = Result<RecordReport, String>;

/// A line that was read.
enum Pending {
    /// Its turn is to be recorded.
    New(Box<NewTurn>),
    /// Nothing is to be written.
    Done(Box<Done>),
}

impl Pending {
    /// True if its turn is of a later episode than the running one.
    fn is_later_than(&self, running: u64) -> bool {
        matches!(self, Pending::New(new) if new.turn.episode.is_some_and(|episode| episode > running))
    }
}

struct NewTurn {
    turn: Turn,
    key: TurnKey,
    /// Warnings about the line.
    notes: Vec<String>,
}

/// Lines in their order, each with its number.
type Lines = VecDeque<(usize, Pending)>;

/// Why a group is not written.
pub enum Failure {
    /// The memory file cannot be read or written.
    Store(StoreError),
    /// The turn of that line of the group cannot be written. The draft has a part of it.
    Turn(usize, String),
    /// With all turns of the group, the file would not be read as it was meant.
    Whole(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Failure {
        Failure::Whole(error.to_string())
    }
}

impl<'a> ManyTurns<'a> {
    /// Reads which turns the journal has. `file` is the absolute path of the file of the lines, if they are in one.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn begin(recorder: &'a Recorder<'a>, file: Option<&'a str>) -> Result<ManyTurns<'a>, StoreError> {
        let store = recorder.notebook.store();
        store.complete_last_change()?;
        let recorded = Journal::of(store).recorded_turns()?;
        let mut summary = TurnSummary::default();
        if !recorded.is_complete() {
            let text = "the file `recorded` was lost: turns before those of the journal are unknown, so they are recorded \
                        again";
            summary.warnings.push(LineWarning { line: 1, more: 0, text: text.to_owned() });
        }
        let reader = LineReader {
            file,
            again: recorder.settings.again,
            scale: recorder.settings.importance_scale,
            recorded,
        };
        Ok(ManyTurns { recorder, reader, summary, is_pressed: false })
    }

    /// Records the turn of a line, and with it those of the lines that `more` has by then. Tells of each turn when it
    /// is on disk.
    ///
    /// # Errors
    ///
    /// Errors of the store, with the first line that is not recorded.
    pub fn record(
        &mut self,
        line: Line,
        more: &mut dyn FnMut() -> Option<Line>,
        tell: Tell<'_>,
    ) -> Result<(), (usize, StoreError)> {
        let notebook = self.recorder.notebook;
        let mut lines = Lines::from([self.reader.read(line, || notebook.state().episode)]);
        let mut limit = MAX_GROUP;
        while let Some((number, pending)) = lines.pop_front() {
            let failed = |error| (number, error);
            match (pending, self.recorder.judge) {
                (Pending::Done(done), _) => self.finish_line(number, *done, tell),
                (Pending::New(new), Judge::Model(_)) => {
                    let done = self.record_alone(&new).map_err(failed)?;
                    self.finish_line(number, done, tell);
                }
                (new, Judge::Rules | Judge::Later) => {
                    lines.push_front((number, new));
                    limit = self.record_group(&mut lines, limit, more, tell).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// The summary of all lines.
    pub fn finish(self) -> TurnSummary {
        self.summary
    }

    /// Records a turn that a model may be asked about.
    fn record_alone(&mut self, new: &NewTurn) -> Result<Done, StoreError> {
        match self.recorder.record_new(&new.turn, new.checked()) {
            Ok(report) => {
                self.reader.recorded.add_id(&new.key);
                self.reader.forget(&new.key, &report);
                Ok(Ok(new.noted(report)))
            }
            Err(RecordError::Store(error)) => Err(error),
            Err(problem) => Ok(Err(problem.to_string())),
        }
    }

    /// Records at most `limit` of the lines in one transaction, and removes them from `lines`. If a turn makes the
    /// transaction fail, the lines before it form the next group, and that turn the one after. Returns the limit of
    /// the next group.
    fn record_group(
        &mut self,
        lines: &mut Lines,
        limit: usize,
        more: &mut dyn FnMut() -> Option<Line>,
        tell: Tell<'_>,
    ) -> Result<usize, StoreError> {
        let done = match self.write_group(lines, limit, more) {
            Ok(done) => done,
            Err(Failure::Store(error)) => return Err(error),
            Err(Failure::Turn(at @ 1.., _)) => return Ok(at),
            Err(Failure::Whole(_)) if lines.len().min(limit) > 1 => return Ok(lines.len().min(limit) / 2),
            Err(Failure::Turn(0, problem) | Failure::Whole(problem)) => vec![Err(problem)],
        };
        let numbers: Vec<usize> = lines.drain(..done.len()).map(|(number, _)| number).collect();
        for (number, done) in numbers.into_iter().zip(done) {
            self.finish_line(number, done, tell);
        }
        Ok(MAX_GROUP)
    }

    /// Records at most `limit` lines in one transaction: first from `lines`, then from `more`. The first line is a
    /// new turn.
    fn write_group(
        &mut self,
        lines: &mut Lines,
        limit: usize,
        more: &mut dyn FnMut() -> Option<Line>,
    ) -> Result<Vec<Done>, Failure> {
        if std::mem::replace(&mut self.is_pressed, true) {
            thread::sleep(PAUSE);
        }
        let ManyTurns { recorder, reader, is_pressed, .. } = self;
        let Written { value: mut done, warnings, .. } = recorder.notebook.edit(RECORD, |draft| {
            let start = Instant::now();
            // A large file takes long to read and write, so more turns share that.
            let factor = (draft.files.lasting.source().len() / SMALL + 1).min(MAX_FACTOR);
            let (limit, most) = (limit.min(factor * GROUP), factor as u32 * WORK);
            let (mut done, mut is_alone) = (Vec::<Done>::new(), false);
            while done.len() < limit && !is_alone {
                let at = done.len();
                if at == lines.len() {
                    if start.elapsed() >= most {
                        break;
                    }
                    let next = more();
                    *is_pressed = next.is_some();
                    let Some(line) = next else { break };
                    lines.push_back(reader.read(line, || draft.state().unwrap_or_default().episode));
                }
                // The last state of an episode is one that can be restored.
                if at > 0 && lines[at].1.is_later_than(draft.state()?.episode) {
                    break;
                }
                let new = match &lines[at].1 {
                    Pending::New(new) => new,
                    Pending::Done(known) => {
                        done.push(Done::clone(known));
                        continue;
                    }
                };
                is_alone = recorder.may_rewind(draft, &new.turn)?;
                if at > 0 {
                    // The history that it needs is that of the files.
                    if is_alone {
                        break;
                    }
                    draft.begin_next();
                }
                done.push(reader.note(new, recorder.record_line(draft, new, at)?));
            }
            Ok::<_, Failure>(done)
        })?;
        for ((_, line), done) in lines.iter().zip(&done) {
            if let (Pending::New(new), Ok(report)) = (line, done) {
                reader.forget(&new.key, report);
            }
        }
        if let Some(Ok(first)) = done.first_mut() {
            first.warnings.extend(warnings);
        }
        Ok(done)
    }

    fn finish_line(&mut self, number: usize, done: Done, tell: Tell<'_>) {
        self.summary.lines += 1;
        match done {
            Ok(report) => {
                self.summary.add(number, &report);
                tell(number, Some(&report));
            }
            Err(problem) => {
                self.summary.refused.push((number, problem));
                tell(number, None);
            }
        }
    }
}

impl LineReader<'_> {
    /// Reads a line. The number of the running episode is asked for where its turn names none.
    fn read(&mut self, (number, line): Line, running: impl FnOnce() -> u64) -> (usize, Pending) {
        let turn = std::str::from_utf8(&line).map_err(|_| "not UTF-8".to_owned());
        let turn =
            turn.and_then(|line| Turn::from_json_on(line, self.scale).map_err(|error| error.to_string()));
        let mut turn = match turn {
            Ok(turn) => turn,
            Err(problem) => return (number, Pending::Done(Box::new(Err(problem)))),
        };
        let mut notes = redact_turn(&mut turn);
        let key = key_of(&turn, running, self.file.map(|file| (file, number)));
        // A turn with `rewind` looks for what it sets aside under the lock.
        let known = match if self.again || turn.rewind { Ok(Known::New) } else { self.recorded.meet(&key) } {
            Ok(known) => known,
            Err(error) => return (number, Pending::Done(Box::new(Err(error.to_string())))),
        };
        if known == Known::New {
            return (number, Pending::New(Box::new(NewTurn { turn, key, notes })));
        }
        notes.extend(turn.id.as_deref().filter(|_| known == Known::OtherWithId).map(other_with_id));
        let mut report = RecordReport::recorded_before(&turn);
        report.warnings.extend(notes);
        (number, Pending::Done(Box::new(Ok(report))))
    }

    /// Forgets the turns that were set aside for a turn.
    fn forget(&mut self, key: &TurnKey, report: &RecordReport) {
        if let Some(rewound) = &report.rewound {
            self.recorded.set_aside(&rewound.lines);
            self.recorded.add_id(key);
        }
    }

    /// Remembers the id of a turn, unless it is refused.
    fn note(&mut self, new: &NewTurn, done: Done) -> Done {
        match done {
            Ok(_) => self.recorded.add_id(&new.key),
            Err(_) => self.recorded.remove_id(&new.key),
        }
        done
    }
}

impl NewTurn {
    fn checked(&self) -> Checked {
        Checked::IsNew { line: self.key.line }
    }

    /// The report with the warnings about the line.
    fn noted(&self, mut report: RecordReport) -> RecordReport {
        report.warnings.extend(self.notes.iter().cloned());
        report
    }
}

impl Recorder<'_> {
    /// Records the turn of a line of a group in its transaction, or refuses it before anything is edited.
    fn record_line(&self, draft: &mut Draft<'_>, new: &NewTurn, at: usize) -> Result<Done, Failure> {
        let rewound = match self.begin(draft, &new.turn, new.checked()) {
            Ok(Begun::Before(report)) => return Ok(Ok(new.noted(*report))),
            Ok(Begun::New(rewound)) => rewound,
            Err(RecordError::Store(error)) => return Err(error.into()),
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        let context = match self.gather(draft, new.turn.clone()) {
            Ok(context) => context,
            Err(RecordError::Store(error)) => return Err(error.into()),
            // The group is begun anew without this turn, and so without what was set aside for it.
            Err(problem) if rewound.is_some() => return Err(Failure::Turn(at, problem.to_string())),
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        let judged = self.judge.judge(&context, self.settings.language.as_deref());
        match self.write(draft, context, &judged, new.checked()) {
            Ok(report) => Ok(Ok(new.noted(RecordReport { rewound, ..report }))),
            Err(RecordError::Store(error)) => Err(error.into()),
            Err(problem) => Err(Failure::Turn(at, problem.to_string())),
        }
    }
}

impl TurnSummary {
    fn add(&mut self, line: usize, report: &RecordReport) {
        *self.outcomes.entry(report.outcome.into()).or_default() += 1;
        if let Some(error) = report.model.as_ref().and_then(|model| model.error.clone()) {
            *self.model_errors.entry(error).or_default() += 1;
        }
        for text in &report.warnings {
            match self.places.get(kind_of(text)) {
                Some(&at) => self.warnings[at].more += 1,
                None => {
                    self.places.insert(kind_of(text).to_owned(), self.warnings.len());
                    self.warnings.push(LineWarning { line, more: 0, text: text.clone() });
                }
            }
        }
    }
}

/// The size of a memory file: counts of its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Sections of places.
    pub places: u64,
    /// Live memories.
    pub memories: u64,
    /// Tried actions.
    pub tried: u64,
    /// The section with the most memories, and its name.
    pub largest: Option<(Scope, String)>,
}

impl Holdings {
    /// Counts.
    pub fn of(document: &Document) -> Holdings {
        let mut holdings = Holdings::default();
        let mut most = 0;
        for (scope, section) in document.each_section() {
            let live = section.live().count() as u64;
            holdings.places += u64::from(matches!(scope, Scope::Location(_)));
            holdings.memories += live;
            holdings.tried += section.tried.len() as u64;
            if holdings.largest.is_none() || live >= most {
                most = live;
                holdings.largest = Some((scope, section.name));
            }
        }
        holdings
    }
}
