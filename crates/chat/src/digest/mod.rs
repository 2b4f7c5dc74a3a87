//! Summarises conversations into memories; no message is summarised twice.
//!
//! A conversation and an occasion enter: a place was left, or something happened in the story. Entries are written,
//! each with the range of messages it covers. The flow is [`Digester::digest`]: messages after the cursor
//! (`pending`, `select`) → a summary by the model ([`prompt`]) → an entry. It always holds that
//!
//! * a cursor moves only when an entry is written; if the model fails twice, none is;
//! * every message of a place is summarised exactly once, however often this is called;
//! * two simultaneous calls write one entry: the cursor is checked again under the lock.

mod pending;
pub mod prompt;
pub(crate) mod select;
mod types;

use serde_json::Value;

use crate::conversation::{Conversation, conversation_tag};
use crate::error::ChatError;
use crate::rejected::note_rejected;
use memories_document::grammar::is_same_name;
use memories_document::types::{Author, Category, Memory, Outcome, Scope, Span};
use memories_llm::redact::redacted;
use memories_llm::{Model, ModelUse};
use memories_notebook::Notebook;
use memories_notebook::add::{Claim, store_memory};
use memories_notebook::authority::Authority;
use memories_notebook::files::Files;
use memories_record::Place;
use memories_record::report::model_entry;
use memories_store::journal::entry::Entry;

use pending::{PendingScope, pending_at_event, pending_at_exit};
use prompt::{Subject, summarize};
use select::{cursor_in, in_runs};
use types::{FailedScope, journal_entry};

pub use types::{DigestReport, Occasion, PresentCharacter};

/// The summary of one run of messages.
struct RunSummary {
    /// The scope, by its position among the pending ones.
    scope: usize,
    messages: Span,
    turns: Option<Span>,
    /// The time of the first message that states one.
    time: Option<String>,
    text: String,
}

/// Digests conversations into a memory file.
pub struct Digester<'a> {
    /// The memory file.
    pub notebook: &'a Notebook,
    /// The model.
    pub model: &'a dyn Model,
    /// Tags of the entries, besides their own.
    pub tags: &'a [String],
}

impl Digester<'_> {
    /// Digests the messages of a conversation after the cursors.
    ///
    /// # Errors
    ///
    /// See [`ChatError`].
    pub fn digest(
        &self,
        conversation: &Conversation,
        occasion: &Occasion,
    ) -> Result<DigestReport, ChatError> {
        let mut report = DigestReport::default();
        let files = self.notebook.read()?;
        let pending = match occasion {
            Occasion::Exit(place, present) => {
                let place = Place { id: *place, name: String::new() };
                pending_at_exit(&files, conversation, place, present, &mut report)?
            }
            Occasion::ExitNew(name, present) => {
                let Scope::Location(id) = files.place_or_new(name) else { return Ok(report) };
                let place = Place { id, name: name.clone() };
                pending_at_exit(&files, conversation, place, present, &mut report)?
            }
            Occasion::Event { kind, related, tags } => {
                vec![pending_at_event(&files, conversation, kind, related, tags, &mut report)]
            }
        };
        let mut rejected: Vec<ModelUse> = Vec::new();
        let summaries = self.summarize(&pending, &mut report, &mut rejected);
        if !summaries.is_empty() {
            self.write(conversation, &pending, &summaries, &mut report)?;
        }
        rejected.extend(report.failed.iter().filter_map(|failed| failed.error.rejected()));
        report.warnings.extend(note_rejected(self.notebook, "digest", &conversation.id, &rejected)?);
        Ok(report)
    }

    /// Asks the model for the summaries; adds failures, usage and warnings to the report, and first answers that were
    /// rejected to `rejected`.
    fn summarize(
        &self,
        pending: &[PendingScope<'_>],
        report: &mut DigestReport,
        rejected: &mut Vec<ModelUse>,
    ) -> Vec<RunSummary> {
        let mut summaries = Vec::new();
        for (at, scope) in pending.iter().enumerate() {
            for run in in_runs(&scope.messages) {
                let messages = run.iter().map(|message| message.number);
                let messages = span_of(messages).expect("a run has messages");
                let turns = span_of(run.iter().filter_map(|message| message.turn()));
                let time = run.iter().find_map(|message| message.time());
                match summarize(self.model, scope.subject, &scope.about, &run, rejected) {
                    Ok(((text, warnings), model)) => {
                        report.warnings.extend(warnings);
                        let before = report.model.take().map(|model| model.usage).unwrap_or_default();
                        report.model = Some(ModelUse { usage: before + model.usage, ..model });
                        summaries.push(RunSummary { scope: at, messages, turns, time, text });
                    }
                    // Later runs would move the cursor past the messages of this one.
                    Err(error) => {
                        report.failed.push(FailedScope { scope: scope.scope.clone(), messages, error });
                        break;
                    }
                }
            }
        }
        summaries
    }

    fn write(
        &self,
        conversation: &Conversation,
        pending: &[PendingScope<'_>],
        summaries: &[RunSummary],
        report: &mut DigestReport,
    ) -> Result<(), ChatError> {
        let update = self.notebook.edit("digest", |draft| {
            draft.by(Author::Model);
            let (mut written, mut warnings) = (Vec::new(), Vec::new());
            for summary in summaries {
                let scope = &pending[summary.scope];
                if cursor_in(&draft.files.lasting, &scope.scope, &conversation.id) >= summary.messages.first {
                    warnings.push(format!("{} was digested by somebody else meanwhile", scope.scope));
                    continue;
                }
                if is_another(&draft.files, scope) {
                    warnings
                        .push(format!("{} is another place meanwhile: run the digest again", scope.scope));
                    continue;
                }
                let mut memory = entry_of(conversation, scope, summary, &draft.now);
                memory.provenance.tags.extend_from_slice(self.tags);
                let claim = Claim::of(Authority::MODEL);
                let applied =
                    store_memory(&mut draft.files, &scope.scope, &scope.name, &memory, claim, &mut warnings)?;
                written.push(applied);
            }
            if !written.is_empty() {
                draft.note(Entry::<Value> {
                    outcome: Some(Outcome::Stored.into()),
                    conversation: Some((&conversation.id).into()),
                    memories: Some(written.iter().map(journal_entry).collect()),
                    model: report.model.as_ref().map(model_entry),
                    ..Entry::default()
                });
            }
            Ok::<_, ChatError>((written, warnings))
        })?;
        let (written, warnings) = update.value;
        report.written = written;
        report.warnings.extend(warnings);
        report.warnings.extend(update.warnings);
        Ok(())
    }
}

/// True if a place has another name now: it was new, and somebody else got its id.
fn is_another(files: &Files, pending: &PendingScope<'_>) -> bool {
    let known = files.section(&pending.scope).name;
    let is_place = matches!(pending.scope, Scope::Location(_));
    is_place && !known.is_empty() && !pending.name.is_empty() && !is_same_name(&known, &pending.name)
}

/// The entry for a summary.
fn entry_of(
    conversation: &Conversation,
    scope: &PendingScope<'_>,
    summary: &RunSummary,
    now: &str,
) -> Memory {
    let category = if scope.subject == Subject::World { "EVENT" } else { "SESSION" };
    let category = Category::new(category).expect("a valid category");
    let range = summary.messages.marked('M');
    let title = match scope.about["event"].as_str() {
        Some(kind) => format!("{} {range}", titled(kind)),
        None => format!("{} {range}", redacted(&conversation.id)),
    };
    let mut memory = Memory::new(category, title, &summary.text);
    let fields = &mut memory.provenance;
    fields.messages = Some(summary.messages);
    fields.turns = summary.turns;
    fields.date = Some(summary.time.clone().unwrap_or_else(|| now.to_owned()));
    fields.tags = scope.tags.clone();
    fields.tags.push(conversation_tag(&conversation.id));
    memory
}

/// The title of an event: `Quest completed` for `quest_completed`.
fn titled(kind: &str) -> String {
    let words = kind.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The span of numbers, if there are any.
fn span_of(numbers: impl Iterator<Item = u64> + Clone) -> Option<Span> {
    Some(Span { first: numbers.clone().min()?, last: numbers.max()? })
}
