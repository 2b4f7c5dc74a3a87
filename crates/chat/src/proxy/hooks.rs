//! Injects memories of one file into chat requests, and extracts new ones from the replies.
//!
//! Requests and replies enter by [`ChatHooks`]; nothing here knows of sockets. Any number of requests get
//! their memories at the same time, from one snapshot and one index; replies are read one after the other.
//! A failure is reported, and the chat goes on without memories. A model that cannot be reached is left alone for a
//! while; replies are only counted then.

use std::sync::Mutex;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::api_format::ApiFormat;
use crate::conversation::messages_of;
use crate::extract::{ExtractInput, ExtractOutcome, Extractor};
use crate::inject::Injector;
use crate::proxy::call::{Call, ChatHooks};
use crate::proxy::latest::Latest;
use crate::proxy::pauses::{ModelPause, Seldom};
use crate::{ChatError, ChatSettings, Conversation, ExtractMode, Message};
use memories_document::types::lock::lock;
use memories_document::types::{ImportanceScale, Scope, ScopeName, Writer};
use memories_llm::{Model, ModelError};
use memories_notebook::{Clock, Notebook};
use memories_recall::scopes;
use memories_search::SearchError;

/// Conversations that are kept for extraction when the proxy ends, in the mode `on_save`, and the bytes of their
/// requests.
const MAX_UNSAVED: usize = 1000;
const MAX_UNSAVED_BYTES: usize = 16 << 20;

/// Requests whose injected memories are kept until their replies come. Failed ones never get a reply.
const MAX_UNANSWERED: usize = 1000;

/// Responses whose conversations are known. A later request names only the response.
const MAX_RESPONSES: usize = 10_000;

/// A message for the person who runs the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something failed.
    Warning(String),
    /// Something was done.
    Detail(String),
}

/// Everything from outside that the hooks need.
pub struct HookServices {
    /// Finds the memories of the file and injects them.
    pub injector: Injector,
    /// Extracts memories.
    pub model: Option<Box<dyn Model>>,
    /// The time and fresh ids.
    pub clock: Clock,
    /// The writer in whose name memories are stored.
    pub writer: Option<Writer>,
    /// Takes notices.
    pub notify: Box<dyn Fn(Notice) + Send + Sync>,
}

/// The hooks of one memory file.
pub struct MemoryHooks {
    notebook: Notebook,
    settings: ChatSettings,
    injector: Injector,
    model: Mutex<Option<Box<dyn Model>>>,
    notify: Box<dyn Fn(Notice) + Send + Sync>,
    /// Summaries injected into requests, by the hash of the request, until the reply comes: a reply that
    /// repeats them says nothing new.
    injected: Mutex<Latest<u64, Vec<String>>>,
    /// The model is not asked during it.
    model_pause: ModelPause,
    /// Chats whose memories were not found by the embedder of the settings.
    failed: Seldom,
    /// Requests that cannot have memories.
    unsupported: Seldom,
    /// The ids of conversations, by those of responses in them.
    conversations: Mutex<Latest<String, String>>,
    /// Conversations to extract from when the proxy ends, by their ids.
    unsaved: Mutex<Latest<String, (Conversation, Option<Scope>)>>,
}

impl MemoryHooks {
    /// Nothing is read before the first request.
    pub fn new(settings: ChatSettings, services: HookServices) -> MemoryHooks {
        let HookServices { injector, model, clock, writer, notify } = services;
        MemoryHooks {
            notebook: Notebook::new(injector.files().store().clone(), clock).with_writer(writer),
            settings,
            injector,
            model: Mutex::new(model),
            notify,
            model_pause: ModelPause::default(),
            failed: Seldom::default(),
            unsupported: Seldom::default(),
            conversations: Mutex::new(Latest::new(MAX_RESPONSES, usize::MAX)),
            injected: Mutex::new(Latest::new(MAX_UNANSWERED, usize::MAX)),
            unsaved: Mutex::new(Latest::new(MAX_UNSAVED, MAX_UNSAVED_BYTES)),
        }
    }

    /// The scopes that a call names, else those of the settings.
    fn scopes_of(&self, call: &Call) -> Result<Vec<Scope>, String> {
        let Some(named) = &call.scope else { return Ok(self.settings.filter.scopes.clone()) };
        let names = named.split(',').filter(|name| !name.trim().is_empty()).map(str::parse);
        let names: Result<Vec<ScopeName>, _> = names.collect();
        let names = names.map_err(|error| format!("`X-Memories-Scope`: {error}"))?;
        let names: Vec<ScopeName> = names.into_iter().map(ScopeName::existing).collect();
        let snapshot = self.injector.files().current();
        let snapshot = snapshot.map_err(|error| format!("`X-Memories-Scope`: {error}"))?;
        scopes(&snapshot, &names).map_err(|error| format!("`X-Memories-Scope`: {error}"))
    }

    /// Extracts from a conversation where that is due.
    fn extract_from(&self, input: ExtractInput<'_>, settings: &ChatSettings) {
        if self.model_pause.is_on() {
            return self.count(input);
        }
        let model = lock(&self.model);
        let extractor = Extractor { notebook: &self.notebook, model: model.as_deref(), settings };
        let report = match extractor.extract(input) {
            Ok(report) => report,
            Err(error) => return self.warn(format!("no memories were extracted: {error}")),
        };
        if let Some(ModelError::Unavailable { .. }) = report.failure {
            self.model_pause.begin();
        }
        for warning in report.warnings {
            self.warn(warning);
        }
        if let Some(error) = report.failure {
            self.warn(format!("no memories were extracted, the next reply tries again: {error}"));
        }
        if report.outcome == ExtractOutcome::Stored {
            let titles: Vec<String> =
                report.memories.iter().map(|memory| format!("\"{}\"", memory.title())).collect();
            let titles = titles.join(", ");
            (self.notify)(Notice::Detail(format!("extracted from {}: {titles}", input.conversation.id)));
        }
    }

    /// Counts the replies of a conversation without asking the model: they are due with a later one.
    fn count(&self, input: ExtractInput<'_>) {
        let settings = ChatSettings { mode: ExtractMode::OnSave, ..self.settings.clone() };
        let extractor = Extractor { notebook: &self.notebook, model: None, settings: &settings };
        if let Err(error) = extractor.extract(ExtractInput { saving: false, ..input }) {
            self.warn(format!("a reply is not counted: {error}"));
        }
    }

    /// The messages of a request, and the reply. `None` where there is nothing to extract from.
    fn conversation_of(&self, call: &Call, request: &[u8], reply: Value) -> Option<Conversation> {
        let request: Value = serde_json::from_slice(request).ok()?;
        if unsupported(call, &request).is_some() {
            return None;
        }
        let system = request.get("instructions").unwrap_or(&request["system"]).to_string();
        let kept = self.kept_by_server(call, &request);
        let mut messages = messages_of(request).ok()?;
        let id = call.conversation.clone().or(kept).unwrap_or_else(|| id_of(&system, &messages));
        if call.shape == ApiFormat::Responses
            && let Some(response) = reply["id"].as_str()
        {
            lock(&self.conversations).insert(response.to_owned(), id.clone(), 0);
        }
        messages.push(Message::of(messages.len() as u64 + 1, reply).ok()?);
        Some(Conversation::of(&id, messages))
    }

    /// The id of a conversation that the server keeps: the request names it, or its last response.
    fn kept_by_server(&self, call: &Call, request: &Value) -> Option<String> {
        if call.shape != ApiFormat::Responses {
            return None;
        }
        let conversation = &request["conversation"];
        if let Some(id) = conversation.as_str().or(conversation["id"].as_str()) {
            return Some(id.to_owned());
        }
        let previous = request["previous_response_id"].as_str()?;
        let known = lock(&self.conversations).get(&previous.to_owned()).cloned();
        Some(known.unwrap_or_else(|| previous.to_owned()))
    }

    /// Warns of a problem with the embedder, unless another chat had one lately.
    fn warn_of_embedder(&self, problem: &str) {
        if let Some(warning) = self.failed.warning(1, problem) {
            self.warn(warning);
        }
    }
}

impl ChatHooks for MemoryHooks {
    fn warn(&self, warning: String) {
        (self.notify)(Notice::Warning(warning));
    }

    fn inject(&self, call: &Call, request: &[u8]) -> Option<Vec<u8>> {
        if !self.settings.use_memory {
            return None;
        }
        if let Some(why) = serde_json::from_slice(request).ok().and_then(|read| unsupported(call, &read)) {
            let problem = format!("a chat goes on without memories: {why}");
            if let Some(warning) = self.unsupported.warning(1, &problem) {
                self.warn(warning);
            }
            return None;
        }
        let mut settings = self.settings.clone();
        settings.filter.scopes = match self.scopes_of(call) {
            Ok(scopes) => scopes,
            Err(problem) => {
                self.warn(format!("a chat goes on without memories: {problem}"));
                return None;
            }
        };
        match self.injector.inject(request, &settings, Some(call.shape), &self.notebook.clock().now()) {
            Ok(injected) => {
                if let Some(problem) = injected.fallback {
                    self.warn_of_embedder(&format!("{problem}; the embedded model answers instead"));
                }
                let summaries: Vec<String> =
                    injected.memories.into_iter().map(|memory| memory.summary).collect();
                (self.notify)(Notice::Detail(format!("inserted: {}", summaries.len())));
                if summaries.is_empty() {
                    return None;
                }
                lock(&self.injected).insert(xxh3_64(request), summaries, 0);
                Some(injected.request)
            }
            // The request goes on unchanged; the server reports what is wrong with it.
            Err(ChatError::NotRequest(_)) => None,
            Err(error) => {
                let problem = format!("a chat goes on without memories: {error}");
                match error {
                    ChatError::Search(SearchError::Embed(_)) => self.warn_of_embedder(&problem),
                    _ => self.warn(problem),
                }
                None
            }
        }
    }

    fn offers_tool(&self, call: &Call) -> Option<ImportanceScale> {
        let (settings, _) = extraction_of(call, &self.settings).ok()?;
        let is_offered = settings.use_memory && settings.mode == ExtractMode::LlmTriggered;
        is_offered.then_some(settings.importance_scale)
    }

    fn extract(&self, call: &Call, request: &[u8], reply: Value) {
        if !self.settings.use_memory {
            return;
        }
        let Some(conversation) = self.conversation_of(call, request, reply) else { return };
        let (settings, saving) = match extraction_of(call, &self.settings) {
            Ok(extraction) => extraction,
            Err(problem) => return self.warn(problem),
        };
        let scope = match self.scopes_of(call) {
            Ok(scopes) => scopes.into_iter().next(),
            Err(problem) => return self.warn(format!("no memory is extracted: {problem}")),
        };
        let injected = lock(&self.injected).remove(&xxh3_64(request)).unwrap_or_default();
        let (scope_in_use, injected) = (scope.as_ref(), injected.as_slice());
        let input = ExtractInput { saving, scope: scope_in_use, injected, ..input_of(call, &conversation) };
        self.extract_from(input, &settings);
        if settings.mode == ExtractMode::OnSave && !saving {
            lock(&self.unsaved).insert(conversation.id.clone(), (conversation, scope), request.len());
        }
    }

    fn keep(&self, call: &Call, request: &[u8], reply: Value) {
        if self.settings.use_memory
            && let Some(conversation) = self.conversation_of(call, request, reply)
        {
            self.count(input_of(call, &conversation));
        }
    }

    /// Extracts from the conversations kept for the mode `on_save`.
    fn end(&self) {
        while !self.model_pause.is_on() {
            let oldest = lock(&self.unsaved).oldest().map(|(_, unsaved)| unsaved.clone());
            let Some((conversation, scope)) = oldest else { return };
            let scope = scope.as_ref();
            let input = ExtractInput { whole: true, saving: true, scope, ..ExtractInput::of(&conversation) };
            self.extract_from(input, &self.settings);
            lock(&self.unsaved).remove(&conversation.id);
        }
    }

    fn left(&self) -> usize {
        lock(&self.unsaved).len()
    }
}

/// The conversation of a call. Requests of Responses need not have all that was said before.
fn input_of<'a>(call: &Call, conversation: &'a Conversation) -> ExtractInput<'a> {
    ExtractInput { has_history: call.shape != ApiFormat::Responses, ..ExtractInput::of(conversation) }
}

/// The settings that a call asks for, and whether the conversation is being saved. The header is `save`, a
/// mode, or a number of replies between extractions.
fn extraction_of(call: &Call, settings: &ChatSettings) -> Result<(ChatSettings, bool), String> {
    let Some(wanted) = &call.extraction else { return Ok((settings.clone(), false)) };
    if wanted == "save" {
        return Ok((settings.clone(), true));
    }
    if let Ok(every) = wanted.parse() {
        return Ok((ChatSettings { mode: ExtractMode::Periodic, every, ..settings.clone() }, false));
    }
    let mode = wanted.parse().map_err(|problem| format!("`X-Memories-Extraction`: {problem}"))?;
    Ok((ChatSettings { mode, ..settings.clone() }, false))
}

/// Why a request cannot have memories, where its API has such requests.
fn unsupported(call: &Call, request: &Value) -> Option<&'static str> {
    match call.shape {
        ApiFormat::Responses if request["background"] == true => {
            Some("its reply is made in the background, and fetched later")
        }
        ApiFormat::Responses if !request["prompt"].is_null() && request["input"].is_null() => {
            Some("its words are a prompt that the server keeps")
        }
        _ => None,
    }
}

/// The id of a conversation for which the client gives none: a hash of its beginning, which stays.
fn id_of(system: &str, messages: &[Message]) -> String {
    let first = messages.iter().position(|message| message.role() == "user");
    let head = &messages[..first.map_or(messages.len(), |first| first + 1)];
    let words: Vec<String> = head.iter().map(Message::text).collect();
    format!("chat-{:012x}", xxh3_64(format!("{system}\n{}", words.join("\n")).as_bytes()) >> 16)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use memories_llm::{Answer, Question};
    use memories_notebook::SharedSnapshot;
    use memories_search::SearchSettings;
    use memories_search::embedded::StaticModel;
    use memories_store::Store;

    fn hooks_of(folder: &std::path::Path, mode: ExtractMode, model: Option<Box<dyn Model>>) -> MemoryHooks {
        let store = Store::open(folder.join("Memories.md"), Duration::from_secs(5)).unwrap();
        let settings = ChatSettings { mode, ..ChatSettings::default() };
        let services = HookServices {
            injector: Injector::new(
                SharedSnapshot::new(store),
                &SearchSettings::default(),
                Box::new(StaticModel::new()),
            ),
            model,
            clock: Clock::fixed("2026-01-31T10:40:00Z"),
            writer: None,
            notify: Box::new(|_| ()),
        };
        MemoryHooks::new(settings, services)
    }

    fn call_in(conversation: &str) -> Call {
        let conversation = Some(conversation.to_owned());
        Call { shape: ApiFormat::OpenAi, scope: None, conversation, extraction: None }
    }

    /// A model without a connection, which counts its questions.
    struct Unreachable(Arc<AtomicUsize>);

    impl Model for Unreachable {
        fn name(&self) -> String {
            "none".to_owned()
        }

        fn ask(&self, _: &Question<'_>) -> Result<Answer, ModelError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(ModelError::Unavailable { at: "here".to_owned(), problem: "is away".to_owned() })
        }
    }

    #[test]
    fn a_model_that_cannot_be_reached_is_left_alone_and_replies_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let questions = Arc::new(AtomicUsize::new(0));
        let model = Box::new(Unreachable(questions.clone()));
        let hooks = hooks_of(folder.path(), ExtractMode::EveryTurn, Some(model));
        let call = call_in("chat-7");
        let request = json!({"messages": [{"role": "user", "content": "Who guards the gate?"}]}).to_string();
        let said = "Nobody guards the northern gate at dawn, as the merchants of the valley know.";
        let reply = json!({"role": "assistant", "content": said});
        for turns in 1..=3 {
            hooks.extract(&call, request.as_bytes(), reply.clone());
            let state = serde_json::to_value(&hooks.notebook.state().other).unwrap();
            assert_eq!(state["conversations"]["chat-7"]["turns"], turns);
            assert_eq!(questions.load(Ordering::Relaxed), 1);
        }
        hooks.model_pause.end();
        hooks.extract(&call, request.as_bytes(), reply);
        assert_eq!(questions.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn of_too_many_conversations_the_last_ones_are_saved() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = hooks_of(folder.path(), ExtractMode::OnSave, None);
        let request = json!({"messages": [{"role": "user", "content": "Hello."}]}).to_string();
        let reply = json!({"role": "assistant", "content": "Good day."});
        for number in 0..MAX_UNSAVED + 5 {
            hooks.extract(&call_in(&format!("chat-{number}")), request.as_bytes(), reply.clone());
        }
        let unsaved: Vec<String> =
            lock(&hooks.unsaved).take_all().map(|(conversation, _)| conversation.id).collect();
        assert_eq!(unsaved.len(), MAX_UNSAVED);
        assert_eq!((unsaved[0].as_str(), unsaved[MAX_UNSAVED - 1].as_str()), ("chat-5", "chat-1004"));
    }
}
