//! Collects the messages of each scope that no entry covers yet.
//!
//! The files, a conversation and an occasion enter; a [`PendingScope`] leaves for each scope concerned.

use serde_json::{Map, Value, json};

use crate::conversation::Conversation;
use crate::digest::prompt::Subject;
use crate::digest::select::{around_mentions, at_place, cursor_in, said_after};
use crate::digest::types::{DigestReport, PresentCharacter};
use crate::error::ChatError;
use crate::message::Message;
use memories_document::grammar::is_same_name;
use memories_document::types::{Scope, is_id};
use memories_llm::redact::redacted;
use memories_notebook::files::Files;
use memories_record::Place;

/// A scope with the messages to summarise for it.
pub(super) struct PendingScope<'a> {
    pub scope: Scope,
    pub name: String,
    pub subject: Subject,
    /// Further fields of the prompt's data.
    pub about: Value,
    /// Tags of the entry.
    pub tags: Vec<String>,
    pub messages: Vec<&'a Message>,
}

/// After leaving a place: the messages of the place, and for each present character the messages that mention it.
pub(super) fn pending_at_exit<'a>(
    files: &Files,
    conversation: &'a Conversation,
    place: Place,
    present: &[PresentCharacter],
    report: &mut DigestReport,
) -> Result<Vec<PendingScope<'a>>, ChatError> {
    let id = place.id;
    let scope = Scope::Location(id);
    let place = known_place(files, conversation, place, report)?;
    report.cursor = cursor_in(&files.lasting, &scope, &conversation.id);
    let here = json!({"id": id, "name": redacted(&place.name)});
    let mut pending = vec![PendingScope {
        messages: at_place(conversation, &place, report.cursor),
        scope,
        name: place.name.clone(),
        subject: Subject::Place,
        about: json!({"place": here}),
        tags: vec!["session".to_owned(), format!("location:{id}")],
    }];
    for character in present {
        let scope = Scope::Npc(character.id.clone());
        let section = files.section(&scope);
        let name = if section.name.is_empty() { character.name.clone() } else { section.name };
        // Each character has its own cursor, so a failed summary is repeated the next time.
        let after = cursor_in(&files.lasting, &scope, &conversation.id);
        let character = PresentCharacter { id: character.id.clone(), name: name.clone() };
        pending.push(PendingScope {
            messages: around_mentions(&at_place(conversation, &place, after), &character),
            subject: Subject::Character,
            about: json!({"character": {"id": character.id, "name": redacted(&name)}, "place": here}),
            tags: vec!["npc-session".to_owned(), format!("location:{id}"), format!("npc:{}", character.id)],
            scope,
            name,
        });
    }
    Ok(pending)
}

/// Finds a place by its id, with the name by which messages may refer to it. Only a new place is given with one.
fn known_place(
    files: &Files,
    conversation: &Conversation,
    place: Place,
    report: &mut DigestReport,
) -> Result<Place, ChatError> {
    let id = place.id;
    let said = conversation.messages.iter().map(Message::location).filter(|place| place.id == Some(id));
    let said: Vec<Option<String>> = said.map(|place| place.name).collect();
    let own = files.lasting.section(&Scope::Location(id)).map(|section| section.name);
    if own.is_none() && said.is_empty() && place.name.is_empty() {
        return Err(ChatError::UnknownPlace(id));
    }
    let named = own.filter(|name| !name.is_empty()).or_else(|| said.into_iter().flatten().next());
    let named = named.or_else(|| as_said(conversation, &place.name));
    let mut place = Place { id, name: named.unwrap_or(place.name) };
    let is_other_place = |scope: &Scope| matches!(scope, Scope::Location(other) if *other != id);
    let shared = !place.name.is_empty()
        && files
            .lasting
            .headings()
            .any(|heading| is_other_place(&heading.scope) && heading.is_called(&place.name));
    if shared {
        let is_meant = |message: &&Message| {
            let location = message.location();
            location.id.is_none() && location.name.is_some_and(|name| is_same_name(&name, &place.name))
        };
        let ambiguous = conversation.messages.iter().filter(is_meant).count();
        if ambiguous > 0 {
            report.warnings.push(format!(
                "several places are called `{}`: {ambiguous} messages that name it without its id are left out",
                place.name
            ));
        }
        place.name.clear();
    }
    Ok(place)
}

/// The name by which messages call a place of this id in letters: `Town Square` for `town-square`.
fn as_said(conversation: &Conversation, id: &str) -> Option<String> {
    let names = conversation.messages.iter().filter_map(|message| message.location().name);
    names.filter(|name| is_same_name(name, id)).find(|name| !is_id(name))
}

/// After an event in the story: all messages.
pub(super) fn pending_at_event<'a>(
    files: &Files,
    conversation: &'a Conversation,
    kind: &str,
    related: &[(String, String)],
    tags: &[String],
    report: &mut DigestReport,
) -> PendingScope<'a> {
    report.cursor = cursor_in(&files.lasting, &Scope::World, &conversation.id);
    let mut all_tags = vec![format!("world:{kind}")];
    all_tags.extend(related.iter().map(|(name, id)| format!("{name}:{id}")));
    all_tags.extend(tags.iter().cloned());
    let ids: Map<String, Value> =
        related.iter().map(|(name, id)| (name.clone(), json!(redacted(id)))).collect();
    PendingScope {
        scope: Scope::World,
        name: String::new(),
        subject: Subject::World,
        about: json!({"event": kind, "related": ids}),
        tags: all_tags,
        messages: said_after(conversation, report.cursor),
    }
}
