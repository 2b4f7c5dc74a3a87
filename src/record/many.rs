//! Many turns, one after the other: JSON Lines enter, a summary of the reports leaves.
//!
//! A line that is refused leaves the others alone. An error of the store ends the work: it concerns every
//! line.

use std::collections::{BTreeMap, HashSet};

use crate::document::{Document, Section};
use crate::journal::Journal;
use crate::journal::recorded::{Known, RecordedTurns};
use crate::record::once::{Checked, key_of, other_with_id};
use crate::record::redaction::redact_turn;
use crate::record::turn::Turn;
use crate::record::{RecordError, RecordReport, Recorder};
use crate::store::StoreError;
use crate::types::Scope;

/// The lines of a text that hold something, with their numbers from 1.
#[derive(Debug, Clone)]
pub(crate) struct TurnLines<'a>(Vec<(usize, &'a [u8])>);

impl<'a> TurnLines<'a> {
    /// Splits a text, which need not be UTF-8.
    pub(crate) fn of(text: &'a [u8]) -> TurnLines<'a> {
        let numbered = text.split(|&byte| byte == b'\n').enumerate();
        let lines = numbered.map(|(at, line)| (at + 1, line));
        TurnLines(lines.filter(|(_, line)| !line.trim_ascii().is_empty()).collect())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// The result of recording many turns.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnSummary {
    /// Lines that were read.
    pub lines: usize,
    /// How many turns had each outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Lines that were refused, and why.
    pub refused: Vec<(usize, String)>,
    /// Warnings, each with its line.
    pub warnings: Vec<String>,
    /// Errors of the model, and how many turns wait because of each.
    pub model_errors: BTreeMap<String, u64>,
}

/// Why the work ended before the last line.
#[derive(Debug, thiserror::Error)]
#[error("cannot record the turn of line {line}")]
pub(crate) struct RecordManyError {
    /// The line that could not be written.
    pub line: usize,
    /// Why.
    pub source: StoreError,
}

impl Recorder<'_> {
    /// Records turns, one after the other. `after` is called after each line, with the report of a turn that
    /// was recorded; where it says no, the other lines are left for another time.
    ///
    /// # Errors
    ///
    /// [`RecordManyError`]. The turns before that line are recorded.
    pub(crate) fn record_many(
        &self,
        lines: &TurnLines<'_>,
        mut after: impl FnMut(Option<&RecordReport>) -> bool,
    ) -> Result<TurnSummary, RecordManyError> {
        let mut summary = TurnSummary::default();
        let first = lines.0.first().map_or(1, |(number, _)| *number);
        let at = |line: usize| move |source| RecordManyError { line, source };
        let mut recorded = Journal::of(self.notebook.store()).recorded_turns().map_err(at(first))?;
        let mut said = HashSet::new();
        for (number, line) in &lines.0 {
            let turn = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned());
            let turn = turn.and_then(|line| Turn::from_json(line).map_err(|error| error.to_string()));
            let report = match turn {
                Ok(mut turn) => {
                    // A field that is not known is named once, not in each line.
                    turn.notes.retain(|note| said.insert(note.clone()));
                    match self.record_unless(turn, &mut recorded) {
                        Err(RecordError::Store(source)) => return Err(at(*number)(source)),
                        report => report.map_err(|error| error.to_string()),
                    }
                }
                Err(problem) => Err(problem),
            };
            let goes_on = after(report.as_ref().ok());
            summary.lines += 1;
            match report {
                Ok(report) => summary.add(*number, &report),
                Err(problem) => summary.refused.push((*number, problem)),
            }
            if !goes_on {
                break;
            }
        }
        Ok(summary)
    }

    /// Records a turn unless it is one of those that were recorded, and adds it to them.
    fn record_unless(
        &self,
        mut turn: Turn,
        recorded: &mut RecordedTurns,
    ) -> Result<RecordReport, RecordError> {
        let mut notes = redact_turn(&mut turn);
        notes.append(&mut turn.notes);
        let key = key_of(self.notebook, &turn);
        let known = if self.settings.again { Known::New } else { recorded.know(&key) };
        let mut report = match known {
            Known::New => {
                let report = self.record_new(turn, Checked::IsNew)?;
                recorded.insert(&key);
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
        self.warnings.extend(report.warnings.iter().map(|warning| format!("line {line}: {warning}")));
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
