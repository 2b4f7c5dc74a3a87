//! What a conversation's last turns hold worth remembering becomes memories.
//!
//! Messages enter; memories are written and a [`Report`] leaves. The flow is [`Extractor::extract`]: count
//! the turns ([`count`]) → are memories due? → a cheap gate (`gate`) → what the model finds ([`aspects`]),
//! or the rules of thumb (`rules`) → near-duplicates merged, the rest stored. It always holds that
//!
//! * what says nearly what a memory says already is merged with it: the higher importance, both sources;
//! * a model that fails costs nothing but time: the same turns are due the next time;
//! * nothing that was stored hangs on the counts beside the file.

pub mod aspects;
pub mod count;
mod gate;
mod rules;

use serde::Serialize;
use serde_json::Value;
use strum::VariantNames;

use crate::chat::digest::prompt::shown;
use crate::chat::inject::block::{lines_in_blocks, without_blocks};
use crate::chat::{Conversation, ConversationError, Message, conversation_tag};
use crate::document::{DocumentError, stored};
use crate::journal::entry::{Entry, MemoryEntry, ModelEntry};
use crate::llm::{Model, ModelError, ModelUse};
use crate::notebook::add::{Applied, Fate, free_title, store_memory};
use crate::notebook::files::{Files, live};
use crate::notebook::near_duplicates::says_the_same;
use crate::notebook::{Draft, Notebook};
use crate::store::StoreError;
use crate::types::hint::{Advice, Hint};
use crate::types::{DEFAULT_IMPORTANCE, Memory, Moment, OFFLINE_TAG, Scope, unknown_name};

use aspects::{Aspect, TOOL, find, read_items};
use count::{Counts, is_reply};

/// When memories are drawn from a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = unknown_mode)]
pub enum Mode {
    /// After each reply.
    EveryTurn,
    /// After each so many replies.
    #[default]
    Periodic,
    /// When the conversation is saved.
    OnSave,
    /// What the model asks for by calling the tool, and nothing else.
    LlmTriggered,
}

fn unknown_mode(text: &str) -> String {
    unknown_name(text, "mode", Mode::VARIANTS)
}

/// How memories are drawn from conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// When.
    pub mode: Mode,
    /// After so many replies, in the mode `periodic`.
    pub every: u64,
    /// Most memories of one call …
    pub most: usize,
    /// … and of one conversation.
    pub most_in_conversation: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { mode: Mode::default(), every: 5, most: 4, most_in_conversation: 100 }
    }
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Memories were written, or merged with others.
    Stored,
    /// Nothing was worth remembering.
    Nothing,
    /// It is not yet time.
    Waiting,
    /// The conversation has given as many memories as it may.
    Full,
    /// The model failed; the turns are due the next time.
    Failed,
}

/// What was done, and why.
#[derive(Debug)]
pub struct Report {
    /// What came of it.
    pub outcome: Outcome,
    /// Replies of the conversation that were seen.
    pub turns: u64,
    /// After so many more replies memories are due; `None` where replies do not decide.
    pub due_in: Option<u64>,
    /// What was stored or merged.
    pub memories: Vec<Applied>,
    /// Who was asked; `None` where nobody was.
    pub model: Option<ModelUse>,
    /// Why the model failed.
    pub failure: Option<ModelError>,
    /// What was dropped, masked or cut.
    pub warnings: Vec<String>,
}

/// Why nothing could be written.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take a memory.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for ExtractError {
    fn advice(&self) -> Advice {
        match self {
            ExtractError::Store(error) => error.advice(),
            ExtractError::Document(error) => error.advice(),
        }
    }
}

/// What came in.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The last turns, or all; the last message is the reply.
    pub conversation: &'a Conversation,
    /// Whether that is the conversation as a whole.
    pub whole: bool,
    /// Whether the conversation is being saved.
    pub saving: bool,
    /// Where memories go; `None`: to the place of the last message, else to the world.
    pub scope: Option<&'a Scope>,
    /// What the model was told of in this turn, besides the blocks in the messages.
    pub told: &'a [String],
}

/// Draws memories out of conversations into one file.
pub struct Extractor<'a> {
    /// The memory file.
    pub notebook: &'a Notebook,
    /// The model; without one rules of thumb take its place.
    pub model: Option<&'a dyn Model>,
    /// When, and how much.
    pub settings: &'a Settings,
}

impl Extractor<'_> {
    /// Counts what came in and, where memories are due, draws them from the turns since the last time.
    ///
    /// # Errors
    ///
    /// See [`ExtractError`]. A model that fails is no error: it is in the report.
    pub fn extract(&self, input: Input<'_>) -> Result<Report, ExtractError> {
        let mut counts = self.count(input)?;
        let mut report = self.report(&counts);
        if !self.is_due(&counts, input.saving) {
            return Ok(report);
        }
        let turns = counts.since_extraction(&input.conversation.messages);
        let found = match self.settings.mode {
            Mode::LlmTriggered => Some(asked_for(&turns, self.settings.most, &mut report)),
            _ => self.look(&turns, input, &mut report),
        };
        let Some(found) = found else {
            report.outcome = Outcome::Failed;
            report.due_in = None;
            return Ok(report);
        };
        let first_turn = counts.extracted + 1;
        counts.extracted = counts.turns;
        counts.waiting.clear();
        self.write(input, &found, (first_turn, &counts), &mut report)?;
        Ok(report)
    }

    fn report(&self, counts: &Counts) -> Report {
        let passed = counts.turns.saturating_sub(counts.extracted);
        let periodic = self.settings.mode == Mode::Periodic;
        Report {
            outcome: Outcome::Waiting,
            turns: counts.turns,
            due_in: periodic.then(|| self.settings.every.max(1).saturating_sub(passed)),
            memories: Vec::new(),
            model: None,
            failure: None,
            warnings: Vec::new(),
        }
    }

    fn is_due(&self, counts: &Counts, saving: bool) -> bool {
        let passed = counts.turns.saturating_sub(counts.extracted);
        passed > 0
            && match self.settings.mode {
                _ if saving => true,
                Mode::EveryTurn | Mode::LlmTriggered => true,
                Mode::Periodic => passed >= self.settings.every.max(1),
                Mode::OnSave => false,
            }
    }

    /// Counts the turns; what no later call will say again is kept until memories are drawn from it.
    fn count(&self, input: Input<'_>) -> Result<Counts, ExtractError> {
        let messages = &input.conversation.messages;
        let counted = self.notebook.edit("extract", |draft| {
            let mut state = draft.state()?;
            let before = Counts::of(&state, &input.conversation.id);
            let mut counts = before.clone();
            counts.count(messages, input.whole);
            let seen = counts.clone();
            if !input.whole && counts.turns > before.turns {
                counts.keep_waiting(messages);
            }
            if counts != before {
                counts.write(&mut state, &input.conversation.id);
                draft.set_state(state);
            }
            Ok::<_, ExtractError>(seen)
        })?;
        Ok(counted.value)
    }

    /// What the model or the rules find in turns that pass the gate; `None` where the model fails.
    fn look(&self, turns: &[Message], input: Input<'_>, report: &mut Report) -> Option<Vec<Aspect>> {
        let all = input.conversation.messages.iter();
        let mut told: Vec<String> = all.flat_map(|message| lines_in_blocks(&message.text())).collect();
        told.extend(input.told.iter().cloned());
        let worthy: Vec<Option<String>> = turns
            .iter()
            .map(|message| if is_reply(message) { gate::new_content(&message.text(), &told) } else { None })
            .collect();
        if worthy.iter().all(Option::is_none) {
            return Some(Vec::new());
        }
        let Some(model) = self.model else {
            report.model = Some(ModelUse::offline());
            let mut found: Vec<Aspect> =
                worthy.iter().rev().flatten().filter_map(|reply| rules::classify(reply)).collect();
            found.truncate(self.settings.most);
            found.reverse();
            return Some(found);
        };
        let shown: Vec<Value> =
            turns.iter().zip(&worthy).filter_map(|(message, own)| said(message, own)).collect();
        match find(model, &shown, self.settings.most) {
            Ok((found, model, warnings)) => {
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
        input: Input<'_>,
        found: &[Aspect],
        (first_turn, counts): (u64, &Counts),
        report: &mut Report,
    ) -> Result<(), ExtractError> {
        let id = &input.conversation.id;
        let update = self.notebook.edit("extract", |draft| {
            let mut state = draft.state()?;
            let mut done = Counts::of(&state, id);
            // Somebody may have counted on meanwhile.
            done.extracted = counts.extracted.max(done.extracted);
            done.turns = done.turns.max(counts.turns);
            done.waiting.clear();
            done.write(&mut state, id);
            draft.set_state(state);
            let done = self.apply(draft, input, found, (first_turn, counts.turns))?;
            if !done.0.is_empty() {
                draft.note(Entry::<Value> {
                    outcome: Some("stored".into()),
                    conversation: Some(id.into()),
                    memories: Some(done.0.iter().map(MemoryEntry::from).collect()),
                    model: report.model.as_ref().map(ModelEntry::from),
                    ..Entry::default()
                });
            }
            Ok::<_, ExtractError>(done)
        })?;
        let (applied, warnings, is_full) = update.value;
        report.outcome = match (applied.is_empty(), is_full) {
            (false, _) => Outcome::Stored,
            (true, true) => Outcome::Full,
            (true, false) => Outcome::Nothing,
        };
        report.due_in = report.due_in.map(|_| self.settings.every.max(1));
        report.memories = applied;
        report.warnings.extend(warnings);
        report.warnings.extend(update.warnings);
        Ok(())
    }

    /// Puts what was found into the files, as far as the conversation may still give memories.
    fn apply(
        &self,
        draft: &mut Draft<'_>,
        input: Input<'_>,
        found: &[Aspect],
        turns: (u64, u64),
    ) -> Result<(Vec<Applied>, Vec<String>, bool), ExtractError> {
        let now = draft.now().to_owned();
        let files = &mut draft.files;
        let id = &input.conversation.id;
        let scope = input.scope.cloned().unwrap_or_else(|| whereabouts(files, input.conversation));
        let mut room = self.settings.most_in_conversation.saturating_sub(drawn_from(files, id));
        let is_full = room == 0 && !found.is_empty();
        let (mut applied, mut warnings) = (Vec::new(), Vec::new());
        if is_full {
            warnings.push(format!(
                "conversation `{id}` has given {} memories, which is all it may: {} left out",
                self.settings.most_in_conversation,
                found.len()
            ));
        }
        for aspect in found {
            if room == 0 {
                break;
            }
            let memory = stored(&self.memory(aspect, id, turns, &now));
            let meant = |other: &Memory| says_the_same(&other.text, &memory.text);
            let memory = free_title(files, &scope, memory.clone(), meant);
            let place = (&scope, "");
            let done = store_memory(files, place, &memory, &[], &Moment::default(), &mut warnings)?;
            if done.outcome == Fate::Duplicate {
                join_sources(files, &scope, &done.title, &memory);
            } else {
                room -= 1;
            }
            applied.push(done);
        }
        Ok((applied, warnings, is_full))
    }

    fn memory(&self, aspect: &Aspect, conversation: &str, (first, last): (u64, u64), now: &str) -> Memory {
        let mut memory = Memory::new(aspect.category.clone(), "", &aspect.summary);
        memory.context = Some(aspect.context.clone()).filter(|context| !context.is_empty());
        let range = if first == last { format!("T{last}") } else { format!("T{first}-{last}") };
        let fields = &mut memory.provenance;
        fields.date = Some(now.to_owned());
        fields.importance = Some(aspect.importance).filter(|own| *own != DEFAULT_IMPORTANCE);
        fields.sources = vec![format!("chat:{conversation}#{range}")];
        fields.tags = vec![conversation_tag(conversation)];
        if self.model.is_none() && self.settings.mode != Mode::LlmTriggered {
            fields.tags.push(OFFLINE_TAG.to_owned());
        }
        memory
    }
}

/// A message as the model is shown it: of a reply only what passed the gate.
fn said(message: &Message, worthy: &Option<String>) -> Option<Value> {
    if !message.is_speech() {
        return None;
    }
    let mut value = shown(message);
    if let Some(object) = value.as_object_mut() {
        object.shift_remove("number");
    }
    if is_reply(message) {
        let own = Message::plain(0, "assistant", worthy.as_ref()?);
        value["text"] = shown(&own)["text"].clone();
    } else {
        let own = without_blocks(&message.text());
        value["text"] = shown(&Message::plain(0, "user", &own))["text"].clone();
    }
    Some(value)
}

/// What the model asked for by calling the tool.
fn asked_for(turns: &[Message], most: usize, report: &mut Report) -> Vec<Aspect> {
    let calls = turns.iter().flat_map(Message::tool_calls).filter(|(name, _)| name == TOOL);
    let items: Vec<Value> = calls.map(|(_, arguments)| arguments).collect();
    let (aspects, warnings) = read_items(&items, most);
    report.warnings.extend(warnings);
    aspects
}

/// The place of the last message that names one which the file knows, else the world.
fn whereabouts(files: &Files, conversation: &Conversation) -> Scope {
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

/// How many memories a conversation has given, struck ones too; digests do not count.
fn drawn_from(files: &Files, conversation: &str) -> usize {
    let tag = conversation_tag(conversation);
    let sections = files.lasting.sections();
    let memories = sections.iter().flat_map(|(_, section)| &section.memories);
    memories.filter(|memory| !memory.category.only_grows() && memory.provenance.tags.contains(&tag)).count()
}

/// Gives a memory the sources of what said the same.
fn join_sources(files: &mut Files, scope: &Scope, title: &str, other: &Memory) {
    let Ok(mut found) = files.only(scope, title, live) else { return };
    let mut memory = found.entry.memory().clone();
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

/// A reply as text, or messages in any of the shapes.
///
/// # Errors
///
/// Where it looks like JSON and is no conversation.
pub fn read_input(id: &str, text: &str) -> Result<Conversation, ConversationError> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
        return Conversation::read(id, text);
    }
    let messages = vec![Message::plain(1, "assistant", text)];
    Ok(Conversation { id: id.to_owned(), messages })
}

/// The shape in which a request and what was answered are one conversation.
pub fn joined(id: &str, request: Vec<Message>, reply: Message) -> Conversation {
    let mut messages = request;
    messages.push(reply);
    Conversation { id: id.to_owned(), messages }
}
