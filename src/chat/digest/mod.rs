//! What happened since last time becomes memories, and nothing is summarised twice.
//!
//! A conversation enters, and its occasion: a place was left, or something happened to the whole story.
//! Entries leave, each with the range of messages that it tells of. The flow is [`Digester::digest`]:
//! messages after the cursor ([`select`]) → a summary by the model ([`prompt`]) → an entry. It always
//! holds that
//!
//! * a cursor moves only because an entry was written: where the model fails twice nothing is;
//! * a place's messages are told of once, none of them twice, whenever and however often this is called;
//! * two at the same time write one entry: the cursor is looked at again under the lock.

pub mod prompt;
pub mod select;

use serde::Serialize;
use serde_json::{Value, json};

use crate::chat::{Conversation, Message, conversation_tag};
use crate::document::DocumentError;
use crate::journal::entry::{Entry, MemoryEntry, ModelEntry};
use crate::journal::text::Text;
use crate::llm::{Model, ModelError, ModelUse};
use crate::notebook::Notebook;
use crate::notebook::add::store_memory;
use crate::notebook::files::Files;
use crate::redact::redacted;
use crate::store::StoreError;
use crate::types::hint::{Advice, Hint};
use crate::types::{Category, Memory, Moment, Scope, Span};

use prompt::{Subject, Summary, sum, summarize};
use select::{Place, around_mentions, at_place, cursor_in, in_runs, said_after};

/// A character that is there when a place is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Its id.
    pub id: String,
    /// Its name; empty where it is not known.
    pub name: String,
}

impl Present {
    /// What it is called in messages, in lower case: its id, also with spaces, and its name.
    fn names(&self) -> Vec<String> {
        let id = self.id.to_lowercase();
        let mut names = vec![id.replace(['_', '-'], " "), id, self.name.trim().to_lowercase()];
        names.retain(|name| !name.is_empty());
        names.dedup();
        names
    }
}

/// Why a conversation is digested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occasion {
    /// A place was left, by its id, with these characters there.
    Exit(u64, Vec<Present>),
    /// Something happened to the whole story.
    Event {
        /// What kind of thing: `quest_completed`.
        kind: String,
        /// Ids that belong to it: `quest_id` and `find-lamp`.
        related: Vec<(String, String)>,
        /// Further tags, without `#`.
        tags: Vec<String>,
    },
}

/// Why nothing was digested.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
    /// Neither the file nor the conversation knows the place.
    #[error("there is no place {0}: neither the memory file nor the conversation knows it")]
    UnknownPlace(u64),
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot take the entry.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Hint for DigestError {
    fn advice(&self) -> Advice {
        match self {
            DigestError::UnknownPlace(_) => Advice::fix(
                "`memories list` shows the places; a message says where it was said by `location`",
            ),
            DigestError::Store(error) => error.advice(),
            DigestError::Document(error) => error.advice(),
        }
    }
}

/// An entry that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenEntry {
    /// `stored`.
    pub outcome: &'static str,
    /// The section.
    pub scope: Scope,
    /// Its name; may be empty.
    pub name: String,
    /// Kind of entry.
    pub category: Category,
    /// Its title.
    pub title: String,
    /// What it says.
    pub text: String,
    /// The messages that it tells of.
    pub messages: Span,
    /// Its tags.
    pub tags: Vec<String>,
}

impl WrittenEntry {
    fn journal_entry(&self) -> MemoryEntry<'_> {
        MemoryEntry {
            outcome: Some(self.outcome.into()),
            scope: Some(self.scope.to_string().into()),
            name: Some((&self.name).into()),
            category: Some(self.category.as_str().into()),
            title: Some((&self.title).into()),
            text: Some((&self.text).into()),
            messages: Some(self.messages),
            tags: Some(self.tags.iter().map(Text::from).collect()),
            ..MemoryEntry::default()
        }
    }
}

/// A scope whose summary failed.
#[derive(Debug)]
pub struct Failed {
    /// The section.
    pub scope: Scope,
    /// The messages that wait.
    pub messages: Span,
    /// Why.
    pub error: ModelError,
}

/// What came of a digest.
#[derive(Debug, Default)]
pub struct Report {
    /// What was written.
    pub written: Vec<WrittenEntry>,
    /// What was not.
    pub failed: Vec<Failed>,
    /// How far the first scope, the place's or the world's, had been read before.
    pub cursor: u64,
    /// Who summarized, and what it cost; `None` where nobody was asked.
    pub model: Option<ModelUse>,
    /// What was left out, cut or masked.
    pub warnings: Vec<String>,
}

/// Digests conversations into one file, with one model.
pub struct Digester<'a> {
    /// The memory file.
    pub notebook: &'a Notebook,
    /// The model.
    pub model: &'a dyn Model,
}

/// One scope with what it has not yet been told of.
struct Part<'a> {
    scope: Scope,
    name: String,
    subject: Subject,
    about: Vec<(&'static str, Value)>,
    tags: Vec<String>,
    messages: Vec<&'a Message>,
}

impl Digester<'_> {
    /// Digests what a conversation says after the cursors.
    ///
    /// # Errors
    ///
    /// See [`DigestError`]. A model that fails is no error: it is in the report.
    pub fn digest(&self, conversation: &Conversation, occasion: &Occasion) -> Result<Report, DigestError> {
        let mut report = Report::default();
        let files = self.notebook.read()?;
        let parts = match occasion {
            Occasion::Exit(place, present) => {
                parts_of_exit(&files, conversation, *place, present, &mut report)?
            }
            Occasion::Event { kind, related, tags } => {
                vec![part_of_event(&files, conversation, (kind, related, tags), &mut report)]
            }
        };
        let mut summaries: Vec<(usize, Span, Summary, Option<Span>)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            for run in in_runs(&part.messages) {
                let span = span_of(&run);
                match summarize(self.model, part.subject, &part.about, &run) {
                    Ok(summary) => summaries.push((at, span, summary, turns_of(&run))),
                    // What follows would move the cursor past what is missing.
                    Err(error) => {
                        report.failed.push(Failed { scope: part.scope.clone(), messages: span, error });
                        break;
                    }
                }
            }
        }
        for (_, _, summary, _) in &summaries {
            report.warnings.extend(summary.warnings.iter().cloned());
            let usage = report
                .model
                .as_ref()
                .map_or(summary.model.usage, |model| sum(model.usage, summary.model.usage));
            report.model = Some(ModelUse { usage, ..summary.model.clone() });
        }
        if !summaries.is_empty() {
            self.write(conversation, &parts, &summaries, &mut report)?;
        }
        Ok(report)
    }

    fn write(
        &self,
        conversation: &Conversation,
        parts: &[Part<'_>],
        summaries: &[(usize, Span, Summary, Option<Span>)],
        report: &mut Report,
    ) -> Result<(), DigestError> {
        let update = self.notebook.edit("digest", |draft| {
            let (mut written, mut warnings) = (Vec::new(), Vec::new());
            for (at, span, summary, turns) in summaries {
                let part = &parts[*at];
                if cursor_in(&draft.files.lasting, &part.scope, &conversation.id) >= span.first {
                    warnings.push(format!("{} was digested by somebody else meanwhile", part.scope));
                    continue;
                }
                let memory = self.memory(conversation, part, (*span, *turns), &summary.text, draft.now());
                let place = (&part.scope, part.name.as_str());
                let at = Moment::default();
                let applied = store_memory(&mut draft.files, place, &memory, &[], &at, &mut warnings)?;
                written.push(WrittenEntry {
                    outcome: "stored",
                    scope: part.scope.clone(),
                    name: part.name.clone(),
                    category: memory.category,
                    title: applied.title,
                    text: applied.text,
                    messages: *span,
                    tags: memory.provenance.tags,
                });
            }
            if !written.is_empty() {
                draft.note(Entry::<Value> {
                    outcome: Some("stored".into()),
                    conversation: Some((&conversation.id).into()),
                    memories: Some(written.iter().map(WrittenEntry::journal_entry).collect()),
                    model: report.model.as_ref().map(ModelEntry::from),
                    ..Entry::default()
                });
            }
            Ok::<_, DigestError>((written, warnings))
        })?;
        let (written, warnings) = update.value;
        report.written = written;
        report.warnings.extend(warnings);
        report.warnings.extend(update.warnings);
        Ok(())
    }

    fn memory(
        &self,
        conversation: &Conversation,
        part: &Part<'_>,
        (span, turns): (Span, Option<Span>),
        text: &str,
        now: &str,
    ) -> Memory {
        let category = if part.subject == Subject::World { "EVENT" } else { "SESSION" };
        let category = Category::new(category).expect("a category of the contract");
        let range = match span.first == span.last {
            true => format!("M{}", span.first),
            false => format!("M{}-{}", span.first, span.last),
        };
        let kind = part.about.iter().find(|(name, _)| *name == "event").and_then(|(_, kind)| kind.as_str());
        let title = match kind {
            Some(kind) => format!("{} {range}", titled(kind)),
            None => format!("{} {range}", redacted(&conversation.id)),
        };
        let mut memory = Memory::new(category, title, text);
        let fields = &mut memory.provenance;
        fields.messages = Some(span);
        fields.turns = turns;
        fields.date = Some(now.to_owned());
        fields.tags = part.tags.clone();
        fields.tags.push(conversation_tag(&conversation.id));
        memory
    }
}

/// `quest_completed` as a title: `Quest completed`.
fn titled(kind: &str) -> String {
    let words = kind.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn span_of(run: &[&Message]) -> Span {
    let numbers = run.iter().map(|message| message.number);
    Span { first: numbers.clone().min().unwrap_or(0), last: numbers.max().unwrap_or(0) }
}

/// The turns of a game that messages name.
fn turns_of(run: &[&Message]) -> Option<Span> {
    let turns = run.iter().filter_map(|message| message.turn());
    Some(Span { first: turns.clone().min()?, last: turns.max()? })
}

/// The place and, for each character that is there, what was said of it.
fn parts_of_exit<'a>(
    files: &Files,
    conversation: &'a Conversation,
    id: u64,
    present: &[Present],
    report: &mut Report,
) -> Result<Vec<Part<'a>>, DigestError> {
    let scope = Scope::Location(id);
    let place = known_place(files, conversation, id, report)?;
    report.cursor = cursor_in(&files.lasting, &scope, &conversation.id);
    let here = json!({"id": id, "name": redacted(&place.name)});
    let mut parts = vec![Part {
        messages: at_place(conversation, &place, report.cursor),
        scope,
        name: place.name.clone(),
        subject: Subject::Place,
        about: vec![("place", here.clone())],
        tags: vec!["session".to_owned(), format!("location:{id}")],
    }];
    for character in present {
        let scope = Scope::Npc(character.id.clone());
        let section = files.section(&scope);
        let name = if section.name.is_empty() { character.name.clone() } else { section.name };
        // Its own cursor: what failed for it is told the next time.
        let after = cursor_in(&files.lasting, &scope, &conversation.id);
        let character = Present { id: character.id.clone(), name: name.clone() };
        parts.push(Part {
            messages: around_mentions(&at_place(conversation, &place, after), &character),
            subject: Subject::Character,
            about: vec![
                ("character", json!({"id": character.id, "name": redacted(&name)})),
                ("place", here.clone()),
            ],
            tags: vec!["npc-session".to_owned(), format!("location:{id}"), format!("npc:{}", character.id)],
            scope,
            name,
        });
    }
    Ok(parts)
}

/// The place by its id, with the name by which messages may mean it.
fn known_place(
    files: &Files,
    conversation: &Conversation,
    id: u64,
    report: &mut Report,
) -> Result<Place, DigestError> {
    let said = conversation.messages.iter().map(Message::location).filter(|place| place.id == Some(id));
    let said: Vec<Option<String>> = said.map(|place| place.name).collect();
    let own = files.lasting.section(&Scope::Location(id)).map(|section| section.name);
    if own.is_none() && said.is_empty() {
        return Err(DigestError::UnknownPlace(id));
    }
    let named = own.filter(|name| !name.is_empty()).or_else(|| said.into_iter().flatten().next());
    let mut place = Place { id, name: named.unwrap_or_default() };
    let namesake = |scope: &Scope| matches!(scope, Scope::Location(other) if *other != id);
    let shared = !place.name.is_empty()
        && files.lasting.headings().any(|heading| namesake(&heading.scope) && heading.is_called(&place.name));
    if shared {
        let is_meant = |message: &&Message| {
            let location = message.location();
            location.id.is_none()
                && location.name.is_some_and(|name| name.to_lowercase() == place.name.to_lowercase())
        };
        let unclear = conversation.messages.iter().filter(is_meant).count();
        if unclear > 0 {
            report.warnings.push(format!(
                "several places are called `{}`: {unclear} messages that name it without its id are left out",
                place.name
            ));
        }
        place.name.clear();
    }
    Ok(place)
}

fn part_of_event<'a>(
    files: &Files,
    conversation: &'a Conversation,
    (kind, related, tags): (&str, &[(String, String)], &[String]),
    report: &mut Report,
) -> Part<'a> {
    report.cursor = cursor_in(&files.lasting, &Scope::World, &conversation.id);
    let mut all_tags = vec![format!("world:{kind}")];
    all_tags.extend(related.iter().map(|(name, id)| format!("{name}:{id}")));
    all_tags.extend(tags.iter().cloned());
    let ids: serde_json::Map<String, Value> =
        related.iter().map(|(name, id)| (name.clone(), json!(redacted(id)))).collect();
    Part {
        scope: Scope::World,
        name: String::new(),
        subject: Subject::World,
        about: vec![("event", json!(kind)), ("related", Value::Object(ids))],
        tags: all_tags,
        messages: said_after(conversation, report.cursor),
    }
}
