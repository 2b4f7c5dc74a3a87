//! Checks the decisions of a plan; nothing that a plan says is taken on trust.
//!
//! A plan enters with both files and the memories as they were when it was made. Sound decisions leave as
//! steps, the others with the reason. Each decision is judged alone, because no memory may be named by two.

use std::collections::{HashMap, HashSet};

use crate::ask::plan::{Action, Decision, MAX_TEXT_CHARS, MemoryVersion, Plan, Refused, SYSTEM};
use memories_document::stored;
use memories_document::types::instant::Instant;
use memories_document::types::{
    Category, Memory, OFFLINE_TAG, Persistence, Provenance, Scope, Span, Status, fold_title, same_title,
};
use memories_llm::answer::{text_problem, title_problem};
use memories_notebook::correct::{Correction, Target};
use memories_notebook::files::{Files, Tier};
use memories_search::grounding::{SharedWords, Sources};

/// At least one in this many words of a merged text must occur in the memories that it replaces.
const SHARED_WORDS: usize = 2;

/// The edit that a sound decision stands for.
pub(super) enum Step {
    /// Strikes memories with a reason, or replaces them by a new memory.
    Correct(Correction),
    /// Strikes memories in favour of an existing one.
    Yield {
        /// Titles that are struck.
        olds: Vec<String>,
        /// The title that stays.
        by: String,
    },
}

/// Separates the sound decisions, with the exact titles of the file, from the refused ones, both in the
/// plan's order.
pub(super) fn check(
    files: &Files,
    scope: &Scope,
    plan: &Plan,
    seen: &[MemoryVersion],
) -> (Vec<(Decision, Step)>, Vec<Refused>) {
    let guard = Guard { files, scope, seen, named: named(files, scope, plan) };
    // A merge keeps what it strikes in its text; the other actions only strike.
    let strikes = |action: Action| matches!(action, Action::Drop | Action::Supersede);
    let striking = plan.decisions.iter().filter(|decision| strikes(decision.action));
    let struck: usize = striking.map(|decision| decision.titles.len()).sum();
    let all = files.lasting.section(scope).unwrap_or_default().live().count();
    let (mut sound, mut refused) = (Vec::new(), Vec::new());
    for decision in plan.decisions.iter().filter(|decision| decision.action != Action::Keep) {
        let result = match decision.action {
            action if strikes(action) && struck * 2 > all => {
                Err(format!("the plan strikes {struck} of {all} memories, more than half"))
            }
            _ => guard.check(decision),
        };
        match result {
            Ok(step) => sound.push(step),
            Err(why) => refused.push(Refused { decision: decision.clone(), why }),
        }
    }
    (sound, refused)
}

/// The form in which titles are compared: the form that the file has, if it has the title.
fn key_of(files: &Files, scope: &Scope, title: &str) -> String {
    let found = files.find(scope, title);
    fold_title(found.first().map_or(title, |(_, memory)| memory.title.as_str()))
}

/// Number of decisions that name each title.
fn named(files: &Files, scope: &Scope, plan: &Plan) -> HashMap<String, usize> {
    let mut named = HashMap::new();
    for decision in &plan.decisions {
        let keys = decision.titles.iter().map(|title| key_of(files, scope, title));
        for key in keys.collect::<HashSet<String>>() {
            *named.entry(key).or_default() += 1;
        }
    }
    named
}

struct Guard<'a> {
    files: &'a Files,
    scope: &'a Scope,
    seen: &'a [MemoryVersion],
    named: HashMap<String, usize>,
}

impl Guard<'_> {
    fn check(&self, decision: &Decision) -> Result<(Decision, Step), String> {
        let mut olds: Vec<Memory> = Vec::new();
        for title in &decision.titles {
            let old = self.look_up(title)?;
            if self.named.get(&fold_title(&old.title)).is_some_and(|&times| times > 1) {
                return Err(format!("`{}` is named more than once", old.title));
            }
            if !olds.iter().any(|other| same_title(&other.title, &old.title)) {
                olds.push(old);
            }
        }
        if olds.is_empty() {
            return Err("it names no memory".to_owned());
        }
        if decision.ephemeral {
            return Err(format!("`{}` lasts: it does not become ephemeral", olds[0].title));
        }
        let exact =
            Decision { titles: olds.iter().map(|old| old.title.clone()).collect(), ..decision.clone() };
        match decision.action {
            Action::Keep => Err("it is kept".to_owned()),
            Action::Drop => self.drop(exact, &olds),
            Action::Merge => self.merge(exact, &olds),
            Action::Supersede => self.supersede(exact, &olds),
        }
    }

    /// The only live memory of a title, unchanged since the plan was made.
    fn look_up(&self, title: &str) -> Result<Memory, String> {
        let found = self.files.find(self.scope, title);
        let memory = match found.as_slice() {
            [(Tier::Lasting, memory)] => memory.clone(),
            [(Tier::Session, ..)] => return Err(format!("`{title}` ends with the episode anyway")),
            [] => return Err(format!("no live memory of {} is called `{title}`", self.scope)),
            several => {
                return Err(format!("{} memories of {} are called `{title}`", several.len(), self.scope));
            }
        };
        if memory.category.only_grows() {
            return Err(format!("`{}` is of a kind that only grows", memory.title));
        }
        if !memory.provenance.witnesses().is_everybody() {
            return Err(format!("`{}` has witnesses", memory.title));
        }
        match self.seen.iter().find(|seen| same_title(&seen.title, &memory.title)) {
            None => Err(format!("`{}` was not among the memories shown", memory.title)),
            Some(seen) if *seen != MemoryVersion::of(&memory) => {
                Err(format!("`{}` changed meanwhile", memory.title))
            }
            Some(_) => Ok(memory),
        }
    }

    fn targets(&self, olds: &[Memory]) -> Vec<Target> {
        let target =
            |old: &Memory| Target { scope: self.scope.clone(), title: old.title.clone(), line: None };
        olds.iter().map(target).collect()
    }

    fn drop(&self, mut decision: Decision, olds: &[Memory]) -> Result<(Decision, Step), String> {
        if let Some(core) = olds.iter().find(|old| old.persistence == Persistence::Core) {
            return Err(format!("`{}` is core and is never dropped", core.title));
        }
        if decision.reason.is_empty() {
            return Err("it gives no reason".to_owned());
        }
        (decision.title, decision.text, decision.category) = (String::new(), String::new(), None);
        let step = Step::Correct(Correction::Invalidate(self.targets(olds), decision.reason.clone()));
        Ok((decision, step))
    }

    fn supersede(&self, mut decision: Decision, olds: &[Memory]) -> Result<(Decision, Step), String> {
        if decision.title.is_empty() {
            return Err("it does not say which memory takes their place".to_owned());
        }
        let by = self.look_up(&decision.title)?;
        if olds.iter().any(|old| same_title(&old.title, &by.title)) {
            return Err(format!("`{}` cannot take its own place", by.title));
        }
        if self.named.contains_key(&fold_title(&by.title)) {
            return Err(format!("`{}` is to take their place and is named elsewhere", by.title));
        }
        if let Some(core) = olds.iter().find(|old| old.persistence < by.persistence) {
            return Err(format!("`{}` is core and `{}` is not", core.title, by.title));
        }
        if olds.iter().any(|old| old.status < by.status) {
            return Err(format!("`{}` is only tentative", by.title));
        }
        (decision.text, decision.category) = (String::new(), None);
        decision.title.clone_from(&by.title);
        let step = Step::Yield { olds: decision.titles.clone(), by: by.title };
        Ok((decision, step))
    }

    fn merge(&self, mut decision: Decision, olds: &[Memory]) -> Result<(Decision, Step), String> {
        if let [old] = olds {
            return Err(format!("`{}` cannot be merged with itself alone", old.title));
        }
        let problem = title_problem(&decision.title).or_else(|| text_problem(&decision.text, SYSTEM));
        if let Some(problem) = problem {
            return Err(problem.to_owned());
        }
        if decision.text.chars().count() > MAX_TEXT_CHARS {
            return Err(format!("its text is longer than {MAX_TEXT_CHARS} characters"));
        }
        if olds.iter().any(|old| old.status != olds[0].status) {
            return Err("it merges what is tentative with what is confirmed".to_owned());
        }
        if olds.iter().any(|old| subjects(old) != subjects(&olds[0])) {
            return Err("they are about different characters".to_owned());
        }
        if !rests_on(&decision.text, olds) {
            return Err("its text says little of what the merged memories say".to_owned());
        }
        let successor = stored(&successor(&decision, olds));
        decision.title.clone_from(&successor.title);
        decision.text.clone_from(&successor.text);
        decision.category = Some(successor.category.clone());
        let step = Step::Correct(Correction::Supersede(self.targets(olds), Box::new(successor)));
        Ok((decision, step))
    }
}

/// The characters that a memory is about.
fn subjects(memory: &Memory) -> Vec<&str> {
    let tags = memory.provenance.tags.iter().filter(|tag| tag.starts_with("about:"));
    let mut subjects: Vec<&str> = tags.map(String::as_str).collect();
    subjects.sort_unstable();
    subjects
}

/// True if enough words of a text occur in the memories that it replaces, or its language is another one.
fn rests_on(text: &str, olds: &[Memory]) -> bool {
    let sources = Sources::of(olds.iter().flat_map(|old| [old.title.as_str(), &old.text]));
    let SharedWords { shared, all } = sources.shared_with(text);
    let is_comparable = sources.is_comparable(text);
    !is_comparable || shared > 0 && shared * SHARED_WORDS >= all
}

/// The memory that replaces others. It keeps the highest importance, the firmest persistence, and DANGER.
fn successor(decision: &Decision, olds: &[Memory]) -> Memory {
    let category = if olds.iter().any(|old| old.category.is_danger()) {
        Category::danger()
    } else {
        decision.category.clone().unwrap_or_else(|| olds[0].category.clone())
    };
    let mut memory = Memory::new(category, decision.title.clone(), decision.text.clone());
    memory.persistence = olds.iter().map(|old| old.persistence).min().unwrap_or_default();
    memory.status = olds.first().map_or(Status::Active, |old| old.status);
    memory.context =
        olds[0].context.clone().filter(|_| olds.iter().all(|old| old.context == olds[0].context));
    memory.provenance = provenance(olds);
    memory
}

/// The provenance of the newest memory, with the tags and sources of all.
fn provenance(olds: &[Memory]) -> Provenance {
    let all = || olds.iter().map(|old| &old.provenance);
    let newest = all().max_by_key(|fields| {
        let date = fields.date.as_deref().and_then(Instant::of);
        (fields.episode, fields.turns.map(|turns| turns.last), date)
    });
    let newest = newest.cloned().unwrap_or_default();
    let one_episode = all().all(|fields| fields.episode == newest.episode);
    let spans: Option<Vec<Span>> = all().map(|fields| fields.turns).collect();
    let turns = match spans {
        Some(spans) if one_episode => {
            let first = spans.iter().map(|span| span.first).min();
            let last = spans.iter().map(|span| span.last).max();
            first.zip(last).map(|(first, last)| Span { first, last })
        }
        _ => newest.turns,
    };
    let union = |of: fn(&Provenance) -> &Vec<String>| {
        let mut union: Vec<String> = Vec::new();
        for item in all().flat_map(of) {
            if item != OFFLINE_TAG && !union.contains(item) {
                union.push(item.clone());
            }
        }
        union
    };
    let importance = olds.iter().map(Memory::importance).max();
    Provenance {
        episode: newest.episode,
        turns,
        date: newest.date,
        importance: importance
            .filter(|importance| *importance != memories_document::types::DEFAULT_IMPORTANCE),
        sources: union(|fields| &fields.sources),
        tags: union(|fields| &fields.tags),
        ..Provenance::default()
    }
}
