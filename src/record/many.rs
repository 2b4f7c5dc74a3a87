//! Many turns, one after the other: lines of JSON enter, a summary of the reports leaves.
//!
//! A line that is refused leaves the others alone. An error of the store ends the work: it concerns every
//! line.

use std::collections::{BTreeMap, HashMap};

use crate::document::{Document, Section};
use crate::journal::Journal;
use crate::journal::recorded::{Known, RecordedTurns};
use crate::record::once::{Checked, key_of, other_with_id};
use crate::record::redaction::redact_turn;
use crate::record::turn::Turn;
use crate::record::{RecordError, RecordReport, Recorder};
use crate::store::StoreError;
use crate::types::Scope;

/// The result of recording many turns.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnSummary {
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
pub(crate) struct LineWarning {
    /// The first of the lines.
    pub line: usize,
    /// The lines after it with the same warning.
    pub more: u64,
    /// The warning.
    pub text: String,
}

/// Turns that are recorded one after the other.
pub(crate) struct ManyTurns<'a> {
    recorder: &'a Recorder<'a>,
    /// The file of the lines, by which a turn without number and id is known; `None` for a stream.
    file: Option<&'a str>,
    recorded: RecordedTurns,
    summary: TurnSummary,
}

impl<'a> ManyTurns<'a> {
    /// Reads which turns the journal has. `file` is the absolute path of the file of the lines, if they are in one.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn begin(
        recorder: &'a Recorder<'a>,
        file: Option<&'a str>,
    ) -> Result<ManyTurns<'a>, StoreError> {
        let store = recorder.notebook.store();
        store.complete_last_change()?;
        let recorded = Journal::of(store).recorded_turns()?;
        Ok(ManyTurns { recorder, file, recorded, summary: TurnSummary::default() })
    }

    /// Records the turn of a line; its report, or `None` where it is refused.
    ///
    /// # Errors
    ///
    /// Those of the store. The turns before that line are recorded.
    pub(crate) fn record(&mut self, number: usize, line: &[u8]) -> Result<Option<RecordReport>, StoreError> {
        let turn = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned());
        let turn = turn.and_then(|line| Turn::from_json(line).map_err(|error| error.to_string()));
        let report = match turn.map(|turn| self.record_unless(turn, number)) {
            Ok(Err(RecordError::Store(source))) => return Err(source),
            Ok(report) => report.map_err(|error| error.to_string()),
            Err(problem) => Err(problem),
        };
        self.summary.lines += 1;
        match report {
            Ok(report) => {
                self.summary.add(number, &report);
                Ok(Some(report))
            }
            Err(problem) => {
                self.summary.refused.push((number, problem));
                Ok(None)
            }
        }
    }

    /// The summary of all lines.
    pub(crate) fn finish(self) -> TurnSummary {
        self.summary
    }

    /// Records a turn unless it is one of those that were recorded.
    fn record_unless(&mut self, mut turn: Turn, number: usize) -> Result<RecordReport, RecordError> {
        let mut notes = redact_turn(&mut turn);
        notes.append(&mut turn.notes);
        let key = key_of(self.recorder.notebook, &turn, self.file.map(|file| (file, number)));
        let known = match self.recorder.settings.again {
            true => Known::New,
            false => self.recorded.meet(&key),
        };
        let mut report = match known {
            Known::New => {
                let report = self.recorder.record_new(turn, Checked::IsNew { line: key.line })?;
                self.recorded.add_id(&key);
                report
            }
            Known::Recorded | Known::OtherWithId => {
                notes.extend(turn.id.as_deref().filter(|_| known == Known::OtherWithId).map(other_with_id));
                RecordReport::recorded_before(&turn)
            }
        };
        report.warnings.extend(notes);
        Ok(report)
    }
}

impl TurnSummary {
    fn add(&mut self, line: usize, report: &RecordReport) {
        *self.outcomes.entry(report.outcome.into()).or_default() += 1;
        if let Some(error) = report.model.as_ref().and_then(|model| model.error.clone()) {
            *self.model_errors.entry(error).or_default() += 1;
        }
        for text in &report.warnings {
            match self.places.get(text) {
                Some(&at) => self.warnings[at].more += 1,
                None => {
                    self.places.insert(text.clone(), self.warnings.len());
                    self.warnings.push(LineWarning { line, more: 0, text: text.clone() });
                }
            }
        }
    }
}

/// The size of a memory file: counts of its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
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
    pub(crate) fn of(document: &Document) -> Holdings {
        let sections = document.sections();
        let live = |(_, section): &&(Scope, Section)| section.live().count() as u64;
        let largest = sections.iter().max_by_key(live);
        Holdings {
            places: sections.iter().filter(|(scope, _)| matches!(scope, Scope::Location(_))).count() as u64,
            memories: sections.iter().map(|section| live(&section)).sum(),
            tried: sections.iter().map(|(_, section)| section.tried.len() as u64).sum(),
            largest: largest.map(|(scope, section)| (scope.clone(), section.name.clone())),
        }
    }
}
