//! The memory file as the tools of one server see it: the agent it is read for, lookup and search.
//!
//! Nothing here is asynchronous or knows the protocol; all of it may be called from several threads at
//! once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::ask::remembering;
use crate::mcp::answer::Refusal;
use crate::mcp::character::Character;
use crate::mcp::group::Group;
use memories_document::grammar::{Heading, split_heading};
use memories_document::types::lock::lock;
use memories_document::types::{Memory, Scope, ScopeName, Viewer, Writer, did_you_mean};
use memories_document::{Section, nearest, stored};
use memories_notebook::{AnchoredFiles, Clock, Notebook, SharedSnapshot, Snapshot};
use memories_recall::{Format, Limits, RecallError, View};
use memories_search::filter::Filter;

use memories_llm::redact::redact;
use memories_search::{Hit, Question, SearchResults, SearchSettings, Searcher, served};
use memories_store::{Store, StoreError};

/// The settings of a server; nothing is opened yet.
pub(crate) struct Setup {
    /// The memory file.
    pub store: Store,
    /// The id of the agent that the server works for.
    pub agent: Option<String>,
    /// The writer in whose name entries are stored, unless a client has one of its own.
    pub writer: Option<Writer>,
    /// Groups of tools offered; without any there are no resources and prompts either.
    pub groups: Vec<Group>,
    /// Offer only tools that read.
    pub read_only: bool,
    /// Limits of a recall.
    pub limits: Limits,
    /// How turns are recorded.
    pub record: memories_record::RecordSettings,
    /// How questions are answered.
    pub search: SearchSettings,
    /// The embedder.
    pub embedding: memories_llm::embedding::EmbedderConfig,
    /// Keys and hosts for the embedder.
    pub embedding_environment: memories_llm::embedding::EmbedderEnvironment,
    /// Use the embedded model if the embedder fails.
    pub falls_back: bool,
    /// The language model.
    pub llm: memories_llm::Config,
    /// Keys and hosts for the language model.
    pub llm_environment: memories_llm::Environment,
    /// Decides the jitter of retries.
    pub seed: u64,
    /// The time and fresh ids.
    pub clock: Clock,
    /// The files of the repository, to which entries may be anchored.
    pub anchored: Arc<dyn AnchoredFiles>,
}

/// Progress of a long call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// Number of steps done and of all, where that is known.
    pub part: Option<(usize, usize)>,
    /// Description for the client.
    pub message: String,
}

/// The caller of a tool: receives progress, and may cancel.
#[derive(Clone)]
pub(crate) struct Watcher {
    report: Arc<dyn Fn(Step) + Send + Sync>,
    left: Arc<AtomicBool>,
    writer: Option<Writer>,
}

impl Watcher {
    /// A caller that receives progress.
    pub(crate) fn new(report: impl Fn(Step) + Send + Sync + 'static) -> Watcher {
        Watcher { report: Arc::new(report), left: Arc::default(), writer: None }
    }

    /// The caller with a writer's name of its own, in place of the server's.
    pub(crate) fn with_writer(self, writer: Option<Writer>) -> Watcher {
        Watcher { writer, ..self }
    }

    /// Cancels the call before its next step.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    pub(super) fn report(&self, message: String, part: Option<(usize, usize)>) {
        (self.report)(Step { part, message });
    }

    /// Refuses where the call was cancelled; to be called before anything that takes long or writes.
    pub(super) fn goes_on(&self) -> Result<(), Refusal> {
        if self.left.load(Ordering::Relaxed) {
            Err(Refusal::new("the call was cancelled before anything was done"))
        } else {
            Ok(())
        }
    }
}

/// The memory file, as the tools use it.
pub(crate) struct Memories {
    pub(super) setup: Setup,
    searcher: Searcher,
    /// Calls that are searching; they receive the progress of embedding.
    searching: Arc<Mutex<Vec<Watcher>>>,
    /// A notice about the choice of the model; given once.
    notice: Mutex<Option<String>>,
    /// Damage that was told.
    told: Mutex<HashSet<String>>,
}

impl Memories {
    /// Prepares the tools.
    ///
    /// # Errors
    ///
    /// [`memories_llm::ModelError::Settings`] where a model or embedder cannot work as it is set.
    pub(crate) fn new(mut setup: Setup) -> Result<Memories, memories_llm::ModelError> {
        setup.store = setup.store.for_viewer(Viewer::of(setup.agent.as_deref()));
        let searching: Arc<Mutex<Vec<Watcher>>> = Arc::default();
        let watchers = Arc::clone(&searching);
        let progress = move |done: usize, all: usize| {
            for watcher in &*lock(&watchers) {
                watcher.report(format!("{done} of {all} memories embedded"), Some((done, all)));
            }
        };
        let Setup { embedding, embedding_environment, falls_back, seed, .. } = &setup;
        let embedder =
            served::choose(embedding, embedding_environment, *seed, *falls_back, Box::new(progress))?;
        let memories_llm::Choice { notice, .. } =
            memories_llm::choose(&setup.llm, &setup.llm_environment, setup.seed)?;
        let searcher =
            Searcher::new(SharedSnapshot::new(setup.store.clone()), setup.search.clone(), embedder);
        Ok(Memories { setup, searcher, searching, notice: Mutex::new(notice), told: Mutex::default() })
    }

    /// Damage of session and state that was not told before.
    pub(super) fn new_damage(&self) -> Vec<String> {
        let damage = self.store().sidecar().damage();
        let said = damage.iter().map(ToString::to_string);
        said.filter(|said| lock(&self.told).insert(said.clone())).collect()
    }

    /// The memory file, to be looked at, and to be changed in the name of the server.
    pub(super) fn notebook(&self) -> Notebook {
        let notebook = Notebook::new(self.setup.store.clone(), self.setup.clock.clone());
        notebook.with_writer(self.setup.writer.clone()).with_anchored(Some(Arc::clone(&self.setup.anchored)))
    }

    /// The memory file, to be changed in the name of a caller.
    pub(super) fn notebook_of(&self, caller: &Watcher) -> Notebook {
        let writer = caller.writer.as_ref().or(self.setup.writer.as_ref());
        self.notebook().with_writer(writer.cloned())
    }

    pub(super) fn store(&self) -> &Store {
        &self.setup.store
    }

    /// The file as it is now, as the agent sees it.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>, StoreError> {
        self.searcher.files().current()
    }

    /// Searches without the memories of other agents. With `all`, there is no least relevance: the filter
    /// alone decides, and no hit is weak.
    pub(super) fn search<'a>(
        &self,
        watcher: &Watcher,
        question: impl Into<Question<'a>>,
        filter: &Filter,
        most: usize,
        all: bool,
    ) -> Result<SearchResults, Refusal> {
        let now = self.setup.clock.now();
        let question = question.into().at(&now);
        watcher.goes_on()?;
        lock(&self.searching).push(watcher.clone());
        let results = if all {
            self.searcher.query_all(question, filter, most).map(|mut results| {
                results.hits.iter_mut().for_each(|hit| hit.is_weak = false);
                results
            })
        } else {
            self.searcher.query(question, filter, most)
        };
        // The watcher of a search that panicked stays, and reports to nobody.
        lock(&self.searching).retain(|other| !Arc::ptr_eq(&other.left, &watcher.left));
        Ok(results?)
    }

    /// As [`Memories::search`], but keeps only hits for which `wanted` holds, for conditions that a
    /// [`Filter`] cannot express.
    pub(super) fn search_for(
        &self,
        watcher: &Watcher,
        question: &str,
        filter: &Filter,
        most: usize,
        wanted: impl Fn(&Hit) -> bool,
    ) -> Result<SearchResults, Refusal> {
        let mut look_at = most * 4;
        loop {
            let mut answer = self.search(watcher, question, filter, look_at, false)?;
            let no_more = answer.hits.len() < look_at;
            answer.hits.retain(|hit| wanted(hit));
            if no_more || answer.hits.len() >= most {
                answer.hits.truncate(most);
                return Ok(answer);
            }
            look_at *= 16;
        }
    }

    /// Refuses the section of another agent.
    pub(super) fn refuse_foreign(&self, scope: &Scope) -> Result<(), Refusal> {
        match self.store().viewer() {
            viewer @ Viewer::Agent(me) if !viewer.sees(scope) => {
                Err(Refusal::new(format!("{scope} is another agent, you are `{me}`"))
                    .hint("your knowledge of others is in your own section: `query_character`"))
            }
            _ => Ok(()),
        }
    }

    /// The model of the settings; the first time with a notice, if there is one.
    pub fn model(&self) -> Result<memories_llm::Choice, Refusal> {
        let Setup { llm, llm_environment, seed, .. } = &self.setup;
        let memories_llm::Choice { model, .. } =
            remembering::choose(llm, llm_environment, *seed, self.notebook())?;
        Ok(memories_llm::Choice { model, notice: lock(&self.notice).take() })
    }

    /// The id of the agent that the server works for.
    pub(super) fn agent(&self) -> Result<&str, Refusal> {
        self.setup.agent.as_deref().ok_or_else(|| {
            Refusal::new("this server was started without an agent, so nobody is `self`")
                .hint("name a `scope` where the tool has one, or have it started with `--agent ID`")
        })
    }

    /// Scopes and names of all sections that may be seen, in the order of the file.
    pub(super) fn headings(&self) -> Result<Vec<Heading>, Refusal> {
        let snapshot = self.snapshot()?;
        Ok(snapshot.headings().cloned().collect())
    }

    /// The sections of scopes, in the order asked for.
    pub(super) fn sections(&self, names: &[ScopeName]) -> Result<Vec<(Scope, Section)>, RecallError> {
        memories_recall::owned_sections(&*self.snapshot()?, names)
    }

    /// A recall of one scope.
    pub(super) fn recall(&self, name: ScopeName) -> Result<Vec<View>, RecallError> {
        let limits = self.setup.limits.at(&self.setup.clock.now());
        let (snapshot, files) = (self.snapshot()?, Some(&*self.setup.anchored));
        memories_recall::recall_newest(&snapshot, &[name], &limits, Format::Text, usize::MAX, files)
    }

    /// The scope that a text names: `self`, a scope, a heading, or the name of a place or character.
    pub(super) fn scope(&self, text: &str) -> Result<Scope, Refusal> {
        self.scope_of(self.scope_name(text)?)
    }

    /// The scope of a name. An id of the caller's names only a place that is there.
    pub(super) fn scope_of(&self, name: ScopeName) -> Result<Scope, Refusal> {
        let scope = match name.existing() {
            ScopeName::Scope(scope) => scope,
            name => match self.sections(&[name]) {
                Ok(mut sections) => sections.remove(0).0,
                Err(RecallError::UnknownName { name, nearest }) => {
                    let character = self.find_character(&name)?.map(|character| character.scope);
                    character.ok_or(RecallError::UnknownName { name, nearest })?
                }
                Err(error) => return Err(error.into()),
            },
        };
        self.refuse_foreign(&scope)?;
        Ok(scope)
    }

    /// As [`Memories::scope`], without looking up the names of places.
    pub(super) fn scope_name(&self, text: &str) -> Result<ScopeName, Refusal> {
        let text = text.trim();
        if matches!(text.to_lowercase().as_str(), "self" | "me") {
            return Ok(ScopeName::Scope(Scope::Agent(self.agent()?.to_owned())));
        }
        if let Some((scope, _)) = split_heading(&format!("## {text}")) {
            return Ok(ScopeName::Scope(scope));
        }
        // `23: Living Room`, as a place is often written.
        if let Some((id, _)) = text.split_once(':')
            && !id.trim().is_empty()
            && id.trim().bytes().all(|byte| byte.is_ascii_digit())
        {
            return Ok(id.parse()?);
        }
        Ok(text.parse()?)
    }

    /// True for a name that neither a place nor a character has, nor one like it.
    pub(super) fn is_far_from_all(&self, name: &str) -> Result<bool, Refusal> {
        let headings = self.headings()?;
        let near = nearest(name, headings.iter().map(|heading| heading.name.as_str()), 1);
        Ok(near.is_empty() && self.find_character(name)?.is_none())
    }

    /// All agents and characters with a section that may be seen.
    pub(super) fn characters(&self) -> Result<Vec<Character>, Refusal> {
        let of = |Heading { scope, name }: Heading| {
            let (Scope::Agent(id) | Scope::Npc(id)) = &scope else { return None };
            Some(Character { id: id.clone(), name, scope })
        };
        Ok(self.headings()?.into_iter().filter_map(of).collect())
    }

    /// The character with that name or id, if there is one.
    pub(super) fn find_character(&self, name: &str) -> Result<Option<Character>, Refusal> {
        Ok(self.characters()?.into_iter().find(|character| character.is(name)))
    }

    /// A hint for a name that nobody has: similar names, or all that are known.
    /// `others` are ids of those that are known without a section.
    pub(super) fn unknown_character(&self, name: &str, others: &[&str]) -> Result<String, Refusal> {
        let characters = self.characters()?;
        let mut names: Vec<&str> = characters.iter().map(Character::called).collect();
        for id in others.iter().filter(|id| !characters.iter().any(|known| known.id == **id)) {
            if !names.contains(id) {
                names.push(id);
            }
        }
        let near = nearest(name, names.iter().copied(), 3);
        let known = if names.is_empty() {
            "the file knows nobody yet".to_owned()
        } else {
            format!("known are {}", names.join(", "))
        };
        Ok(did_you_mean(&near).unwrap_or(known))
    }
}

/// A memory in its stored form, with probable secrets masked, since a model wrote its text.
pub(super) fn masked(memory: &Memory, warnings: &mut Vec<String>) -> Memory {
    let mut memory = memory.clone();
    for text in [&mut memory.title, &mut memory.text] {
        *text = masked_text(text, warnings);
    }
    stored(&memory)
}

/// A text of an agent that is going to be written, with probable secrets masked.
pub(super) fn masked_text(text: &str, warnings: &mut Vec<String>) -> String {
    let Some(masked) = redact(text) else { return text.to_owned() };
    let warning = format!("what looks like a secret was masked: {}", masked.kinds.join(", "));
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
    masked.text
}
