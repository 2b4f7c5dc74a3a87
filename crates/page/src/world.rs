//! The data of the page: the steps, each section through time, and the parts that show only the present.
//!
//! `page/unpack.js` reads it. Of a section each version is written as its difference from the one before, because a turn
//! changes one part or two of many.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::parts::SectionParts;
use crate::present::Present;
use crate::steps::{Step, StepKind};
use crate::strings::Strings;
use crate::timeline::{Timeline, Versions};
use memories_document::types::Scope;
use memories_document::types::edit::Edit;

/// The version of the data.
const VERSION: u32 = 1;

/// The world through time.
#[derive(Debug, Default)]
pub(super) struct World {
    steps: Vec<Step>,
    timeline: Timeline,
    strings: Strings,
}

/// How much of a world a page has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Steps.
    pub(super) steps: usize,
    parts: usize,
    texts: usize,
    strings: usize,
}

/// The title, the time and other facts of a page.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct PageFacts {
    /// The title.
    pub(super) title: String,
    /// The name of the memory file, without its folder.
    pub(super) file: String,
    /// When the data was made, RFC 3339.
    pub(super) made: String,
    /// `report` or `serve`.
    pub(super) mode: &'static str,
    /// The server that runs: another one counts revisions anew.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) server: String,
    /// True if the page may change memories.
    pub(super) can_edit: bool,
}

/// The data of the page, or what is new of it.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    version: u32,
    #[serde(flatten)]
    page: Option<&'a PageFacts>,
    /// How often the data has changed.
    revision: u64,
    steps: Vec<Value>,
    strings: &'a [String],
    texts: &'a [String],
    parts: &'a [Box<RawValue>],
    sections: Vec<SectionData<'a>>,
    #[serde(flatten)]
    present: &'a Present,
}

/// A section through time.
#[derive(Serialize)]
struct SectionData<'a> {
    scope: &'a Scope,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// Lists: the step, then `null` where there is no section, else the name (0: as before), then the splices: position,
    /// number of parts that leave, and the parts that come.
    versions: Vec<Value>,
}

impl World {
    /// The number of steps.
    pub(super) fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// The number of steps that are turns.
    pub(super) fn turn_count(&self) -> u64 {
        self.steps.iter().filter(|step| step.is_turn).count() as u64
    }

    /// The texts that steps name by number.
    pub(super) fn strings(&mut self) -> &mut Strings {
        &mut self.strings
    }

    /// A step after which the file has that text: the start, or the first one behind a gap.
    pub(super) fn begin(&mut self, kind: StepKind, text: String) {
        self.timeline.set(self.steps.len(), text);
        self.steps.push(Step::without_line(kind));
    }

    /// A step that made edits. False if they are no edits of the text before it; then the text has to be given.
    #[must_use]
    pub(super) fn advance(&mut self, step: Step, edits: &[Edit]) -> bool {
        let is_made = edits.is_empty() || self.timeline.edit(self.steps.len(), edits);
        self.steps.push(step);
        is_made
    }

    /// Headings of the places that are no more, under their last names: they stand on the map of the past.
    pub(super) fn gone_places(&self) -> String {
        let heading = |(scope, versions): (&Scope, &Versions)| match (scope, versions.list.as_slice()) {
            (Scope::Location(id), [.., (_, Some(last)), (_, None)]) => {
                Some(format!("## Location {id}: {}\n", last.name))
            }
            _ => None,
        };
        self.timeline.sections().filter_map(heading).collect()
    }

    /// The scopes whose sections changed after this number of steps.
    pub(super) fn changed_since(&self, steps: usize) -> Vec<&Scope> {
        let is_new = |(_, versions): &(&Scope, &Versions)| {
            versions.list.last().is_some_and(|(step, _)| *step >= steps)
        };
        self.timeline.sections().filter(is_new).map(|(scope, _)| scope).collect()
    }

    /// Everything.
    pub(super) fn data<'a>(&'a self, page: &'a PageFacts, revision: u64, present: &'a Present) -> Data<'a> {
        Data { page: Some(page), ..self.news(Seen::default(), revision, present) }
    }

    /// The data that a page lacks after `seen`.
    pub(super) fn news<'a>(&'a self, seen: Seen, revision: u64, present: &'a Present) -> Data<'a> {
        let parts = self.timeline.parts();
        let sections = self.timeline.sections().map(|(scope, versions)| {
            let first = versions.list.partition_point(|(step, _)| *step < seen.steps);
            let before = first.checked_sub(1).and_then(|at| versions.list[at].1.as_ref());
            SectionData {
                scope,
                kind: scope.into(),
                id: if let Scope::Location(id) = scope { Some(*id) } else { None },
                versions: packed_versions(before, &versions.list[first..]),
            }
        });
        let (known, new) = self.steps.split_at(seen.steps);
        let mut time = known.iter().rev().find_map(|step| step.time).unwrap_or(0);
        Data {
            version: VERSION,
            page: None,
            revision,
            steps: new.iter().map(|step| step.packed(&mut time)).collect(),
            strings: &self.strings.list()[seen.strings..],
            texts: &parts.texts()[seen.texts..],
            parts: &parts.list()[seen.parts..],
            sections: sections.filter(|section| !section.versions.is_empty()).collect(),
            present,
        }
    }

    /// The position of a page that has all data.
    pub(super) fn seen(&self) -> Seen {
        let parts = self.timeline.parts();
        Seen {
            steps: self.steps.len(),
            parts: parts.list().len(),
            texts: parts.texts().len(),
            strings: self.strings.list().len(),
        }
    }
}

fn packed_versions(before: Option<&SectionParts>, versions: &[(usize, Option<SectionParts>)]) -> Vec<Value> {
    let nothing = SectionParts::default();
    let mut last = before.unwrap_or(&nothing);
    let mut packed = Vec::with_capacity(versions.len());
    for (step, content) in versions {
        let Some(content) = content else {
            packed.push(json!([step, null]));
            last = &nothing;
            continue;
        };
        let name = if content.name == last.name { json!(0) } else { json!(content.name) };
        let mut version = vec![json!(step), name];
        for operation in capture_diff_slices(Algorithm::Myers, &last.numbers, &content.numbers) {
            if !matches!(operation, DiffOp::Equal { .. }) {
                let (old, new) = (operation.old_range(), operation.new_range());
                version.extend([json!(new.start), json!(old.len()), json!(content.numbers[new])]);
            }
        }
        packed.push(Value::Array(version));
        last = content;
    }
    packed
}
