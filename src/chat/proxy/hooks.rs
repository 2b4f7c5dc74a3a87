//! What the proxy does with chats: memories of one file are woven in, and new ones drawn out.
//!
//! A request's words enter by [`ChatHooks`]; nothing here knows of sockets. Several requests are woven into at
//! the same time, each by an injector that keeps file and index in memory; replies are drawn from one
//! after the other. What fails is told, and the chat goes on without.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::chat::conversation::messages_of;
use crate::chat::extract::{Extractor, Input, Mode, Outcome, Settings as Extraction};
use crate::chat::inject::request::Shape;
use crate::chat::inject::{InjectError, Injector, Settings as Injection};
use crate::chat::proxy::pool::Pool;
use crate::chat::proxy::{Call, ChatHooks, Dialect};
use crate::chat::{Conversation, Message};
use crate::llm::Model;
use crate::notebook::{Clock, Notebook};
use crate::recall::read_scopes;
use crate::store::Store;
use crate::types::{Scope, ScopeError, ScopeName};

/// Each injector keeps the memories of the file in memory.
const MOST_AT_ONCE: usize = 8;

/// So many conversations are saved when the proxy ends, in the mode `on_save`: the last ones.
const MOST_UNSAVED: usize = 1000;

/// What was told in so many requests is kept until their replies come.
const MOST_UNANSWERED: usize = 1000;

/// How the file is used.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `false`: chats pass as they are.
    pub use_memory: bool,
    /// How memories are woven in.
    pub inject: Injection,
    /// How they are drawn.
    pub extract: Extraction,
    /// Of these scopes memories are told, and to the first new ones go, where a request names none; empty
    /// for all of them.
    pub scopes: Vec<Scope>,
}

/// What is worth telling a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// What is not as wished.
    Warning(String),
    /// What was done.
    Detail(String),
}

/// What the hooks needs of the world.
pub struct World {
    /// Makes an injector; one for each request that is woven into at the same time, of which there are fewer
    /// than the machine has processors: one is left for passing data on.
    pub injector: Box<dyn Fn() -> Injector + Send + Sync>,
    /// Who draws memories.
    pub model: Option<Box<dyn Model>>,
    /// The time and fresh ids.
    pub clock: Clock,
    /// Takes notices.
    pub tell: Box<dyn Fn(Notice) + Send + Sync>,
}

/// Weaves the memories of one file.
pub struct MemoryHooks {
    notebook: Notebook,
    settings: Settings,
    world: Shared,
    injectors: Pool<Injector>,
    /// What was told in requests whose reply has not yet come: a reply that repeats it says nothing new.
    told: Mutex<HashMap<u64, Vec<String>>>,
    /// What is saved when the proxy ends.
    unsaved: Mutex<HashMap<String, Unsaved>>,
}

struct Shared {
    model: Mutex<Option<Box<dyn Model>>>,
    tell: Box<dyn Fn(Notice) + Send + Sync>,
}

struct Unsaved {
    conversation: Conversation,
    scope: Option<Scope>,
}

impl MemoryHooks {
    /// Reads nothing yet.
    pub fn new(store: Store, settings: Settings, world: World) -> Arc<MemoryHooks> {
        let World { injector, model, clock, tell } = world;
        let world = Shared { model: Mutex::new(model), tell };
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Arc::new(MemoryHooks {
            notebook: Notebook::new(store, clock),
            settings,
            world,
            injectors: Pool::new(processors.saturating_sub(1).min(MOST_AT_ONCE), injector),
            told: Mutex::new(HashMap::new()),
            unsaved: Mutex::new(HashMap::new()),
        })
    }

    /// Draws from the conversations that wait for being saved: the proxy has ended.
    pub fn save(&self) {
        for unsaved in std::mem::take(&mut *lock(&self.unsaved)).into_values() {
            let Unsaved { conversation, scope } = unsaved;
            self.draw((&conversation, &[]), scope.as_ref(), &self.settings.extract, (true, true));
        }
    }

    fn keep_told(&self, request: &[u8], told: Vec<String>) {
        let mut all = lock(&self.told);
        // Of requests that failed no reply ever comes.
        if all.len() >= MOST_UNANSWERED {
            all.clear();
        }
        if !told.is_empty() {
            all.insert(xxh3_64(request), told);
        }
    }

    fn tell(&self, warning: String) {
        (self.world.tell)(Notice::Warning(warning));
    }

    /// The scopes of a call: those that it names, else those of the settings.
    fn scopes_of(&self, call: &Call) -> Result<Vec<Scope>, String> {
        let Some(named) = &call.scope else { return Ok(self.settings.scopes.clone()) };
        let names = named.split(',').filter(|name| !name.trim().is_empty()).map(str::parse);
        let names: Result<Vec<ScopeName>, ScopeError> = names.collect();
        let names = names.map_err(|error| format!("`X-Memories-Scope`: {error}"))?;
        let found = read_scopes(self.notebook.store(), &names)
            .map_err(|error| format!("`X-Memories-Scope`: {error}"))?;
        Ok(found.into_iter().map(|(scope, _)| scope).collect())
    }

    /// Draws from a conversation where that is due. `counted` says that its last reply was counted when it
    /// came.
    fn draw(
        &self,
        (conversation, told): (&Conversation, &[String]),
        scope: Option<&Scope>,
        settings: &Extraction,
        (saving, counted): (bool, bool),
    ) {
        let model = lock(&self.world.model);
        let extractor = Extractor { notebook: &self.notebook, model: model.as_deref(), settings };
        let input = Input { conversation, whole: counted, saving, scope, told };
        let report = match extractor.extract(input) {
            Ok(report) => report,
            Err(error) => return self.tell(format!("no memory is drawn: {error}")),
        };
        for warning in report.warnings {
            self.tell(warning);
        }
        if let Some(error) = report.failure {
            self.tell(format!("no memory is drawn, the next reply tries again: {error}"));
        }
        if report.outcome == Outcome::Stored {
            let titles: Vec<String> =
                report.memories.iter().map(|memory| format!("\"{}\"", memory.title)).collect();
            let titles = titles.join(", ");
            (self.world.tell)(Notice::Detail(format!("drawn from {}: {titles}", conversation.id)));
        }
    }
}

impl ChatHooks for MemoryHooks {
    fn inject(&self, call: &Call, request: &[u8]) -> Option<Vec<u8>> {
        if !self.settings.use_memory {
            return None;
        }
        let mut settings = self.settings.inject.clone();
        settings.filter.scopes = match self.scopes_of(call) {
            Ok(scopes) => scopes,
            Err(problem) => {
                self.tell(format!("a chat goes on without memories: {problem}"));
                return None;
            }
        };
        let shape = match call.dialect {
            Dialect::OpenAi => Shape::OpenAi,
            Dialect::Anthropic => Shape::Anthropic,
        };
        let injected =
            self.injectors.take().inject(request, &settings, Some(shape), &self.notebook.clock().now());
        match injected {
            Ok(injected) => {
                if let Some(problem) = injected.fallback {
                    self.tell(format!("{problem}; the embedded model answers instead"));
                }
                let count = injected.told.len();
                self.keep_told(request, injected.told.into_iter().map(|told| told.summary).collect());
                (self.world.tell)(Notice::Detail(format!("woven in: {count}")));
                (count > 0).then_some(injected.request)
            }
            // That is for the server to say.
            Err(InjectError::NotRequest(_)) => None,
            Err(error) => {
                self.tell(format!("a chat goes on without memories: {error}"));
                None
            }
        }
    }

    fn extract(&self, call: &Call, request: &[u8], reply: Value) {
        if !self.settings.use_memory {
            return;
        }
        let Some(conversation) = conversation_of(call, request, reply) else { return };
        let (settings, saving) = match extraction_of(call, &self.settings.extract) {
            Ok(extraction) => extraction,
            Err(problem) => return self.tell(problem),
        };
        let scope = match self.scopes_of(call) {
            Ok(scopes) => scopes.into_iter().next(),
            Err(problem) => return self.tell(format!("no memory is drawn: {problem}")),
        };
        let told = lock(&self.told).remove(&xxh3_64(request)).unwrap_or_default();
        self.draw((&conversation, &told), scope.as_ref(), &settings, (saving, false));
        if settings.mode == Mode::OnSave && !saving {
            let mut unsaved = lock(&self.unsaved);
            if unsaved.len() < MOST_UNSAVED || unsaved.contains_key(&conversation.id) {
                unsaved.insert(conversation.id.clone(), Unsaved { conversation, scope });
            }
        }
    }
}

/// When memories are drawn, and whether the conversation is being saved: `save`, a mode, or after so many
/// replies.
fn extraction_of(call: &Call, settings: &Extraction) -> Result<(Extraction, bool), String> {
    let Some(said) = &call.extraction else { return Ok((settings.clone(), false)) };
    if said == "save" {
        return Ok((settings.clone(), true));
    }
    if let Ok(every) = said.parse() {
        return Ok((Extraction { mode: Mode::Periodic, every, ..settings.clone() }, false));
    }
    let mode = said.parse().map_err(|problem| format!("`X-Memories-Extraction`: {problem}"))?;
    Ok((Extraction { mode, ..settings.clone() }, false))
}

/// What was said before, and the reply.
fn conversation_of(call: &Call, request: &[u8], reply: Value) -> Option<Conversation> {
    let request: Value = serde_json::from_slice(request).ok()?;
    let system = request["system"].to_string();
    let mut messages = messages_of(request).ok()?;
    let id = call.conversation.clone().unwrap_or_else(|| name_of(&system, &messages));
    messages.push(Message::of(messages.len() as u64 + 1, reply).ok()?);
    Some(Conversation { id, messages })
}

/// A conversation's name where the client gives none: it begins with the same words each time.
fn name_of(system: &str, messages: &[Message]) -> String {
    let first = messages.iter().position(|message| message.role() == "user");
    let head = &messages[..first.map_or(messages.len(), |first| first + 1)];
    let words: Vec<String> = head.iter().map(Message::text).collect();
    format!("chat-{:012x}", xxh3_64(format!("{system}\n{}", words.join("\n")).as_bytes()) >> 16)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
