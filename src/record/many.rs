//! Many turns, one after the other: JSON Lines enter, a summary of the reports leaves.
//!
//! A line that is refused leaves the others alone. An error of the store ends the work: it concerns every
//! line.

use std::collections::BTreeMap;

use crate::document::{Document, Section};
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
    /// was recorded.
    ///
    /// # Errors
    ///
    /// [`RecordManyError`]. The turns before that line are recorded.
    pub(crate) fn record_many(
        &self,
        lines: &TurnLines<'_>,
        mut after: impl FnMut(Option<&RecordReport>),
    ) -> Result<TurnSummary, RecordManyError> {
        let mut summary = TurnSummary::default();
        for (number, line) in &lines.0 {
            let turn = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned());
            let turn = turn.and_then(|line| Turn::from_json(line).map_err(|error| error.to_string()));
            let recorded = match turn.map(|turn| self.record(turn)) {
                Ok(Ok(report)) => Ok(report),
                Ok(Err(RecordError::Store(source))) => return Err(RecordManyError { line: *number, source }),
                Ok(Err(error)) => Err(error.to_string()),
                Err(problem) => Err(problem),
            };
            after(recorded.as_ref().ok());
            match recorded {
                Ok(report) => summary.add(*number, &report),
                Err(problem) => summary.refused.push((*number, problem)),
            }
        }
        Ok(summary)
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
