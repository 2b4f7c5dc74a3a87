//! Extracts memories from the last turns of a conversation.
//!
//! Messages enter; memories are written and an [`ExtractReport`] leaves. The flow is [`Extractor::extract`]: count the
//! turns (`count`) → is extraction due? → skip replies that say nothing new (`gate`) → ask the model (`aspects`),
//! or apply keyword rules (`rules`) → merge duplicates and store the rest. It always holds that
//!
//! * a duplicate of an existing memory is merged with it: the higher importance, both sources;
//! * if the model fails, nothing is lost: the same turns are due at the next call;
//! * stored memories do not depend on the counts in `state.json`.

pub mod aspects;
pub(crate) mod count;
mod gate;
mod rules;
mod types;

use serde_json::{Value, json};

use crate::conversation::{Conversation, conversation_tag};
use crate::error::ChatError;
use crate::inject::block::{lines_in_blocks, without_blocks};
use crate::message::Message;
use crate::message_json::{message_json, prompt_text};
use crate::rejected::{answer_alone, note_rejected};
use crate::settings::{ChatSettings, ExtractMode};
use memories_document::types::json::text_without_mark;
use memories_document::types::{
    Author, DEFAULT_IMPORTANCE, Memory, OFFLINE_TAG, Outcome, Scope, Span, Viewer, witness_tag,
};
use memories_llm::{Model, ModelError, ModelUse};
use memories_notebook::add::{AddOutcome, AddReport, Claim, store_memory};
use memories_notebook::authority::{Authority, protection};
use memories_notebook::files::{Files, live};
use memories_notebook::titles::stored_under_free_title;
use memories_notebook::{Draft, Notebook};
use memories_record::report::model_entry;
use memories_store::journal::entry::{Entry, MemoryEntry};

use aspects::{Aspect, TOOL, find, read_items};
use count::{Counts, is_reply};

pub use types::{ExtractInput, ExtractOutcome, ExtractReport};

/// Extracts memories from conversations into a memory file.
pub struct Extractor<'a> {
    /// The memory file.
    pub notebook: &'a Notebook,
    /// The model; without one, keyword rules are applied.
    pub model: Option<&'a dyn Model>,
    /// The settings.
    pub settings: &'a ChatSettings,
}

impl Extractor<'_> {
    /// Counts the turns and, if extraction is due, extracts memories from the turns since the last extraction.
    ///
    /// # Errors
    ///
    /// See [`ChatError`].
    pub fn extract(&self, input: ExtractInput<'_>) -> Result<ExtractReport, ChatError> {
        let mut counts = self.count(input)?;
        let mut report = self.report(&counts);
        if !self.is_due(&counts, input.saving) {
            return Ok(report);
        }
        let turns = counts.since_extraction(&input.conversation.messages);
        let found = match self.settings.mode {
            ExtractMode::LlmTriggered => Some(requested_by_tool(&turns, self.settings, &mut report)),
            _ => self.find_aspects(&turns, input, &mut report),
        };
        let Some(found) = found else {
            report.outcome = ExtractOutcome::Failed;
            report.due_in = None;
            let rejected: Vec<ModelUse> = report.failure.iter().filter_map(ModelError::rejected).collect();
            let id = &input.conversation.id;
            report.warnings.extend(note_rejected(self.notebook, "extract", id, &rejected)?);
            return Ok(report);
        };
        let first_turn = counts.extracted + 1;
        counts.extracted = counts.turns;
        counts.waiting.clear();
        self.write(input, &found, first_turn, &counts, &mut report)?;
        Ok(report)
    }

    fn report(&self, counts: &Counts) -> ExtractReport {
        let passed = counts.turns.saturating_sub(counts.extracted);
        let periodic = self.settings.mode == ExtractMode::Periodic;
        ExtractReport {
            turns: counts.turns,
            due_in: periodic.then(|| self.settings.every.max(1).saturating_sub(passed)),
            ..ExtractReport::default()
        }
    }

    fn is_due(&self, counts: &Counts, saving: bool) -> bool {
        let passed = counts.turns.saturating_sub(counts.extracted);
        passed > 0
            && match self.settings.mode {
                ExtractMode::EveryTurn | ExtractMode::LlmTriggered => true,
                ExtractMode::Periodic => saving || passed >= self.settings.every.max(1),
                ExtractMode::OnSave => saving,
            }
    }

    /// Counts the turns. Messages that no later call will contain are kept until the next extraction.
    fn count(&self, input: ExtractInput<'_>) -> Result<Counts, ChatError> {
        let messages = &input.conversation.messages;
        let counted = self.notebook.edit("extract", |draft| {
            let mut state = draft.state()?;
            let before = Counts::of(&state, &input.conversation.id);
            let mut counts = before.clone();
            if input.has_history {
                if let Some(line) = counts.take_back(messages) {
                    draft.rewind_line::<ChatError>(&line, "the reply was made anew")?;
                }
                counts.note_last(messages);
            }
            counts.count(messages, input.whole);
            let seen = counts.clone();
            if !input.whole && counts.turns > before.turns {
                counts.keep_waiting(messages);
            }
            if counts != before {
                counts.write(&mut state, &input.conversation.id);
                draft.new_state = Some(state);
            }
            Ok::<_, ChatError>(seen)
        })?;
        Ok(counted.value)
    }

    /// Finds aspects in the turns by the model or the rules; `None` if the model fails.
    fn find_aspects(
        &self,
        turns: &[Message],
        input: ExtractInput<'_>,
        report: &mut ExtractReport,
    ) -> Option<Vec<Aspect>> {
        let all = input.conversation.messages.iter();
        let mut injected: Vec<String> = all.flat_map(|message| lines_in_blocks(&message.text())).collect();
        injected.extend(input.injected.iter().cloned());
        let new_content = |reply: &Message| gate::new_content(&reply.text(), &injected);
        let new_contents: Vec<Option<String>> =
            turns.iter().map(|turn| if is_reply(turn) { new_content(turn) } else { None }).collect();
        if new_contents.iter().all(Option::is_none) {
            return Some(Vec::new());
        }
        let Some(model) = self.model else {
            report.model = Some(ModelUse::offline());
            let mut found: Vec<Aspect> =
                new_contents.iter().rev().flatten().filter_map(|reply| rules::classify(reply)).collect();
            found.truncate(self.settings.max_extracted);
            found.reverse();
            return Some(found);
        };
        let turns = turns.iter().zip(&new_contents);
        let messages: Vec<Value> = turns.filter_map(|(message, new)| as_json(message, new)).collect();
        match find(model, &messages, self.settings) {
            Ok(((found, warnings), model)) => {
                report.model = Some(model);
                report.warnings.extend(warnings);
                Some(found)
            }
            Err(error) => {
                report.failure = Some(error);
                None
            }
        }
    }

    fn write(
        &self,
        input: ExtractInput<'_>,
        found: &[Aspect],
        first_turn: u64,
        counts: &Counts,
        report: &mut ExtractReport,
    ) -> Result<(), ChatError> {
        let id = &input.conversation.id;
        let turns = Span { first: first_turn, last: counts.turns };
        let update = self.notebook.edit("extract", |draft| {
            draft.by(if self.by_rules() { Author::Rules } else { Author::Model });
            let mut state = draft.state()?;
            let mut done = Counts::of(&state, id);
            // Another process may have counted more turns meanwhile.
            done.extracted = counts.extracted.max(done.extracted);
            done.turns = done.turns.max(counts.turns);
            done.waiting.clear();
            let line = draft.line_id().to_owned();
            if let Some(last) = &mut done.last {
                last.line = Some(line);
            }
            done.write(&mut state, id);
            draft.new_state = Some(state);
            let done = self.apply(draft, input, found, turns)?;
            if done.0.is_empty() {
                let used = report.model.as_ref().filter(|used| used.answer.is_some());
                if let Some(used) = used {
                    draft.note(answer_alone(Outcome::Declined, id, used));
                }
            } else {
                draft.note(Entry::<Value> {
                    outcome: Some(Outcome::Stored.into()),
                    conversation: Some(id.into()),
                    memories: Some(done.0.iter().map(MemoryEntry::from).collect()),
                    model: report.model.as_ref().map(model_entry),
                    ..Entry::default()
                });
            }
            Ok::<_, ChatError>(done)
        })?;
        let (applied, warnings, is_full) = update.value;
        report.outcome = match (applied.is_empty(), is_full) {
            (false, _) => ExtractOutcome::Stored,
            (true, true) => ExtractOutcome::Full,
            (true, false) => ExtractOutcome::Nothing,
        };
        report.due_in = report.due_in.map(|_| self.settings.every.max(1));
        report.memories = applied;
        report.warnings.extend(warnings);
        report.warnings.extend(update.warnings);
        Ok(())
    }

    /// Stores aspects until the conversation has reached its maximum number of memories.
    fn apply(
        &self,
        draft: &mut Draft<'_>,
        input: ExtractInput<'_>,
        found: &[Aspect],
        turns: Span,
    ) -> Result<(Vec<AddReport>, Vec<String>, bool), ChatError> {
        // The newest message that states its time; of most clients none does.
        let time = input.conversation.messages.iter().rev().find_map(Message::time);
        let time = time.unwrap_or_else(|| draft.now.clone());
        let files = &mut draft.files;
        let id = &input.conversation.id;
        let scope = input.scope.cloned().unwrap_or_else(|| current_scope(files, input.conversation));
        let mut room = self.settings.max_per_conversation.saturating_sub(count_extracted(files, id));
        let is_full = room == 0 && !found.is_empty();
        let (mut applied, mut warnings) = (Vec::new(), Vec::new());
        if is_full {
            warnings.push(format!(
                "conversation `{id}` has given {} memories, which is all it may: {} left out",
                self.settings.max_per_conversation,
                found.len()
            ));
        }
        for aspect in found {
            if room == 0 {
                break;
            }
            let mut memory = self.memory(aspect, id, turns, &time);
            memory.provenance.tags.extend_from_slice(input.tags);
            // A reply to a character may repeat a memory that this character alone was told.
            if let Viewer::Agent(me) = &files.viewer {
                memory.provenance.tags.push(witness_tag(me));
            }
            let memory = stored_under_free_title(files, &scope, &memory);
            let done = store_memory(files, &scope, "", &memory, Claim::of(Authority::MODEL), &mut warnings)?;
            if matches!(done.outcome, AddOutcome::Duplicate | AddOutcome::Confirmed) {
                join_sources(files, &scope, done.title(), &memory);
            } else {
                room -= 1;
            }
            applied.push(done);
        }
        Ok((applied, warnings, is_full))
    }

    /// True if no model chooses what is remembered.
    fn by_rules(&self) -> bool {
        self.model.is_none() && self.settings.mode != ExtractMode::LlmTriggered
    }

    fn memory(&self, aspect: &Aspect, conversation: &str, turns: Span, time: &str) -> Memory {
        let mut memory = Memory::new(aspect.category.clone(), "", &aspect.summary);
        memory.context = Some(aspect.context.clone()).filter(|context| !context.is_empty());
        let fields = &mut memory.provenance;
        fields.date = Some(time.to_owned());
        fields.importance = Some(aspect.importance).filter(|own| *own != DEFAULT_IMPORTANCE);
        fields.sources = vec![format!("chat:{conversation}#{}", turns.marked('T'))];
        fields.tags = vec![conversation_tag(conversation)];
        if self.by_rules() {
            fields.tags.push(OFFLINE_TAG.to_owned());
        }
        memory
    }
}

/// A message as JSON for the prompt; `None` for a reply without new content.
fn as_json(message: &Message, new_content: &Option<String>) -> Option<Value> {
    if !message.is_speech() {
        return None;
    }
    let text = if is_reply(message) { new_content.clone()? } else { without_blocks(&message.text()) };
    let mut value = message_json(message);
    value.as_object_mut()?.shift_remove("number");
    value["text"] = json!(prompt_text(&text));
    Some(value)
}

/// The memories that the model asked for by calling the tool.
fn requested_by_tool(turns: &[Message], settings: &ChatSettings, report: &mut ExtractReport) -> Vec<Aspect> {
    let calls = turns.iter().flat_map(Message::tool_calls).filter(|(name, _)| name == TOOL);
    let items: Vec<Value> = calls.map(|(_, arguments)| arguments).collect();
    let (aspects, warnings) = read_items(&items, settings);
    report.warnings.extend(warnings);
    aspects
}

/// The location of the last message that names one: by id, or by a name that only one section has; or else the world.
fn current_scope(files: &Files, conversation: &Conversation) -> Scope {
    let places = conversation.messages.iter().rev().map(Message::location);
    let Some(place) = places.into_iter().find(|place| place.id.is_some() || place.name.is_some()) else {
        return Scope::World;
    };
    if let Some(id) = place.id {
        return Scope::Location(id);
    }
    let name = place.name.unwrap_or_default();
    let mut named: Vec<&Scope> = files
        .lasting
        .headings()
        .filter(|heading| heading.is_called(&name))
        .map(|heading| &heading.scope)
        .collect();
    named.dedup();
    match named.as_slice() {
        [scope] => (*scope).clone(),
        _ => Scope::World,
    }
}

/// Number of memories extracted from a conversation, superseded ones included; digests do not count.
fn count_extracted(files: &Files, conversation: &str) -> usize {
    let tag = conversation_tag(conversation);
    let sections = files.lasting.sections();
    let memories = sections.iter().flat_map(|(_, section)| &section.memories);
    memories.filter(|memory| !memory.category.only_grows() && memory.provenance.tags.contains(&tag)).count()
}

/// Adds the sources of a duplicate to a memory, unless it is protected.
fn join_sources(files: &mut Files, scope: &Scope, title: &str, other: &Memory) {
    let is_protected =
        |old: &Memory| protection(files, scope, old, Some(&other.category), Authority::MODEL).is_some();
    if files.find(scope, title).iter().any(|(_, old)| is_protected(old)) {
        return;
    }
    let Ok(mut found) = files.only(scope, title, live) else { return };
    let mut memory = found.entry.memory();
    let before = memory.provenance.sources.len();
    for source in &other.provenance.sources {
        if !memory.provenance.sources.contains(source) {
            memory.provenance.sources.push(source.clone());
        }
    }
    if memory.provenance.sources.len() > before {
        found.entry.revise_line(&memory);
    }
}

/// Reads the input of `extract`: messages in any format of [`Conversation::read`], or the text of a reply.
///
/// # Errors
///
/// If the input looks like JSON and is not a conversation.
pub fn read_input(id: &str, text: &str) -> Result<Conversation, String> {
    if text_without_mark(text).trim_start().starts_with(['{', '[']) {
        return Conversation::read(id, text);
    }
    let messages = vec![Message::plain(1, "assistant", text)];
    Ok(Conversation::of(id, messages))
}
