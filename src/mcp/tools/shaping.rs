//! The group `shaping`: an agent adds, reinforces, links and corrects its memories.
//!
//! Each call is one transaction. A memory is addressed by its exact title; without a scope, the agent's own
//! section is searched first, then all others, where the title must be unique.

use std::collections::BTreeSet;

use serde_json::json;

use crate::mcp::access::{Memories, masked, masked_text};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::parameter::ArgumentType::{Integer, Text};
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::schema;
use crate::mcp::tools::tool::{Call, Effect, Tool};
use crate::mcp::tools::witnesses::{TELL, TOLD_BY, WITNESSES, telling_of, told_now};
use memories_document::link::Link;
use memories_document::nearest;
use memories_document::types::{
    Author, Category, Memory, Outcome, Persistence, Scope, ScopeName, Span, did_you_mean, means_title,
    same_title,
};
use memories_notebook::add::AddOutcome;
use memories_notebook::authority::{Authority, MAX_IMPORTANCE};
use memories_notebook::correct::{Corrected, Correction, Target};
use memories_notebook::files::Files;
use memories_notebook::{Draft, NewMemory, Telling};

/// Default amount by which `reinforce_memory` raises an importance.
const REINFORCEMENT: u16 = 100;

/// Types of memory that agents name, each with its category and persistence.
const TYPES: [(&str, &str, Persistence); 6] = [
    ("episodic", "EVENT", Persistence::Permanent),
    ("semantic", "FACT", Persistence::Permanent),
    ("procedural", "PROCEDURE", Persistence::Permanent),
    ("emotional", "EMOTION", Persistence::Permanent),
    ("core", "NOTE", Persistence::Core),
    ("ephemeral", "NOTE", Persistence::Ephemeral),
];

const CONTENT: Parameter = Parameter::new("content", Text, "the memory, in a sentence or two")
    .required("say in a sentence or two what is to be remembered");
const IMPORTANCE: Parameter =
    Parameter::new("importance", Integer, "200 minor, 500 useful (default), 700 vital: the highest");
const TYPE: Parameter = Parameter::new(
    "type",
    Text,
    "episodic, semantic, procedural, emotional, ephemeral (this episode only), core (in self), or a category as NOTE, \
     DANGER",
);
const FORM_SCOPE: Parameter = Parameter::new(
    "scope",
    Text,
    "what it is about: a place's id or name, `npc:troll`, `world`, `scene`, `game`, `dialogue` (what was said), \
     `dir:src/search`, `topic:release` or `self`; default self, without an agent world",
);
const SCOPE: Parameter = Parameter::new("scope", Text, "its `scope` in answers, if several have that title");
const NEW_MEMORY_TITLE: Parameter =
    Parameter::new("title", Text, "short and new in its scope; default: the first words");
const TURN: Parameter = Parameter::new("turn", Integer, "turn when it happened; default: the last");
const SPEAKER: Parameter = Parameter::new("speaker", Text, "only in `dialogue`: who said it; default self");
const TITLE: Parameter = Parameter::new("title", Text, "exact title, as answers show it")
    .required("give the exact title, as answers show it");
const AMOUNT: Parameter = Parameter::new("amount", Integer, "by how much, default 100; up to 700 in all");
const LINK_HINT: &str = "name a memory as `scope › title`, such as `Location 23 › Acquire brass lantern`";
const A: Parameter =
    Parameter::new("a", Text, "`scope › title`, or a title that only one has").required(LINK_HINT);
const B: Parameter = Parameter::new("b", Text, "as `a`").required(LINK_HINT);
const NEW_CONTENT: Parameter = Parameter::new("content", Text, "the whole new text")
    .required("say in a sentence or two what is to be remembered");
const NEW_TITLE: Parameter = Parameter::new("new_title", Text, "default: the same");
const NEW_IMPORTANCE: Parameter = Parameter::new("importance", Integer, "1-700; default: the same");
const NEW_TYPE: Parameter = Parameter::new("type", Text, "as form_memory has it; default: the same");
const REASON: Parameter =
    Parameter::new("reason", Text, "what shows that it is wrong").required("say why it is wrong");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "form_memory",
        title: "Form a memory",
        about: "Store a new memory in your own words. Record a game's turn by record_turn instead.",
        effect: Effect::AddsOnce,
        parameters: &[
            CONTENT,
            IMPORTANCE,
            TYPE,
            FORM_SCOPE,
            NEW_MEMORY_TITLE,
            TURN,
            SPEAKER,
            WITNESSES,
            TOLD_BY,
        ],
        answer: schema::CHANGE,
        run: form_memory,
    },
    Tool {
        name: "reinforce_memory",
        title: "Reinforce a memory",
        about: "Raise the importance of a memory that proved useful, or tell it to others.",
        effect: Effect::Adds,
        parameters: &[TITLE, SCOPE, AMOUNT, TELL],
        answer: schema::CHANGE,
        run: reinforce_memory,
    },
    Tool {
        name: "associate_memories",
        title: "Link two memories",
        about: "Link two memories, so that one recalls the other.",
        effect: Effect::AddsOnce,
        parameters: &[A, B],
        answer: schema::CHANGE,
        run: associate_memories,
    },
    Tool {
        name: "supersede_memory",
        title: "Replace a memory",
        about: "Replace a memory by a better one. The old one is struck; a person's is contested.",
        effect: Effect::Strikes,
        parameters: &[TITLE, NEW_CONTENT, SCOPE, NEW_TITLE, NEW_IMPORTANCE, NEW_TYPE],
        answer: schema::CHANGE,
        run: supersede_memory,
    },
    Tool {
        name: "invalidate_memory",
        title: "Strike a memory",
        about: "Strike a memory that is proven wrong; a person's is contested.",
        effect: Effect::Strikes,
        parameters: &[TITLE, REASON, SCOPE],
        answer: schema::CHANGE,
        run: invalidate_memory,
    },
];

/// The category and persistence of a type.
fn kind_of(name: &str) -> Result<(Category, Persistence), Refusal> {
    let known = TYPES.iter().find(|(own, ..)| *own == name.trim().to_lowercase());
    let (category, persistence) =
        known.map_or((name, Persistence::Permanent), |(_, category, persistence)| (*category, *persistence));
    let category = Category::new(category).ok_or_else(|| {
        Refusal::new(format!("`{name}` is not a type of memory")).hint(
            "use episodic, semantic, procedural, emotional, core, ephemeral, or a category such as `NOTE`",
        )
    })?;
    Ok((category, persistence))
}

/// A new memory from the arguments.
fn memory_of(call: &Call<'_>, title: Option<String>, warnings: &mut Vec<String>) -> Result<Memory, Refusal> {
    let content = call.arguments.required(&CONTENT)?;
    let kind = call.arguments.text(&TYPE)?.map(|name| kind_of(&name)).transpose()?;
    let (category, persistence) = kind.unwrap_or((Category::note(), Persistence::Permanent));
    let mut memory = Memory::new(category, title.unwrap_or_default(), content);
    memory.persistence = persistence;
    memory.provenance.importance = call.arguments.importance(&IMPORTANCE, warnings)?;
    Ok(masked(&memory, warnings))
}

/// The authority of the agent over a section: more in its own.
fn authority_over(memories: &Memories, scope: &Scope) -> Authority {
    let own = memories.setup.agent.clone().map(Scope::Agent);
    Authority::Statement { own_section: own.as_ref() == Some(scope) }
}

fn form_memory(call: &Call<'_>) -> Result<Answer, Refusal> {
    let mut warnings = Vec::new();
    let title = call.arguments.text(&NEW_MEMORY_TITLE)?;
    let mut memory = memory_of(call, title.clone(), &mut warnings)?;
    memory.provenance.tags.extend(telling_of(call)?.tags());
    let default = if call.memories.setup.agent.is_some() { "self" } else { "world" };
    let place = call.arguments.text(&FORM_SCOPE)?;
    let (scope, name) = match call.memories.scope_name(place.as_deref().unwrap_or(default))? {
        // The place of an id of the caller's may be new; the id is its name then.
        ScopeName::Place(id) => (None, id),
        name => (Some(call.memories.scope_of(name)?), String::new()),
    };
    let turn = call.arguments.count(&TURN)?;
    let speaker = speaker_of(call, scope.as_ref())?.map(|speaker| masked_text(&speaker, &mut warnings));
    call.watcher.goes_on()?;
    let added = call.notebook().edit("form_memory", |draft| {
        draft.by(Author::Agent);
        let mut memory = memory.clone();
        if turn.is_some() || memory.category.only_grows() || speaker.is_some() {
            // Events and dialogue have a time, by default that of the last turn.
            let now = draft.moment()?;
            memory.provenance.episode = now.episode;
            memory.provenance.turns = turn.or(now.turn).map(Span::one);
        }
        if title.is_none() {
            // The title is made from the text or, in dialogue, from the speaker's name.
            memory.title.clear();
        }
        let scope = scope.clone().unwrap_or_else(|| draft.files.place_or_new(&name));
        let new = NewMemory { scope: scope.clone(), name: name.clone(), memory, speaker: speaker.clone() };
        let mut lowered = Vec::new();
        let applied = draft.add(&new, authority_over(call.memories, &scope), &mut lowered)?;
        Ok::<_, Refusal>((applied, lowered))
    })?;
    let (applied, lowered) = added.value;
    warnings.extend(lowered);
    warnings.extend(added.warnings);
    let what = match applied.outcome {
        AddOutcome::Stored | AddOutcome::Revised | AddOutcome::Contested => "stored",
        AddOutcome::Confirmed => "confirmed",
        AddOutcome::Duplicate => "not stored, it is there already:",
    };
    let text = format!("{what} \"{}\" in {}{}\n", applied.title(), applied.entry.scope, applied.raised());
    let data = json!({
        "outcome": applied.outcome, "scope": applied.entry.scope, "title": applied.title(), "raised_to": applied.raised_to,
    });
    Ok(Answer { warnings, ..Answer::new(text, data) })
}

/// The speaker of a line of dialogue: the one given, else the agent itself.
fn speaker_of(call: &Call<'_>, scope: Option<&Scope>) -> Result<Option<String>, Refusal> {
    let given = call.arguments.text(&SPEAKER)?;
    if scope != Some(&Scope::Dialogue) {
        let other = scope.map_or_else(|| "a place".to_owned(), Scope::to_string);
        return match given {
            None => Ok(None),
            Some(_) => Err(Refusal::new(format!("`speaker` is only for `dialogue`, not for {other}"))
                .hint("add `scope`: `dialogue`, or leave out the speaker")),
        };
    }
    match call.arguments.text(&TYPE)?.map(|name| kind_of(&name)).transpose()? {
        Some((category, Persistence::Permanent)) if !category.only_grows() => {
            Err(Refusal::new(format!("`type` is {category}, but what is said is DIALOGUE"))
                .hint("leave out the type, or name another scope"))
        }
        _ => match (given, &call.memories.setup.agent) {
            (Some(speaker), _) => Ok(Some(speaker)),
            (None, Some(agent)) => Ok(Some(agent.clone())),
            (None, None) => Err(Refusal::new("nobody is named who says this").hint("name the `speaker`")),
        },
    }
}

fn reinforce_memory(call: &Call<'_>) -> Result<Answer, Refusal> {
    let named = MemoryAddress::of(call)?;
    let amount = call.arguments.count(&AMOUNT)?;
    if let Some(telling) = told_now(call)? {
        if amount.is_some() {
            return Err(Refusal::arguments("`tell` leaves the importance as it is")
                .hint("send `amount` in a call of its own"));
        }
        return tell(call, &named, &telling);
    }
    let amount = amount.map_or(REINFORCEMENT, |amount| u16::try_from(amount).unwrap_or(MAX_IMPORTANCE));
    let mut importance = 0;
    let (results, warnings) = change(call, "reinforce_memory", |draft| {
        let target = named.target(call.memories, &draft.files)?;
        let correction = Correction::Reinforce(target.clone(), amount);
        let results = draft.correct::<Refusal>(&[correction], Authority::MODEL)?;
        let found = draft.files.find(&target.scope, &target.title);
        importance = found.first().map_or(0, |(.., memory)| memory.importance());
        Ok(results)
    })?;
    let done = &results[0];
    let text = match done.why {
        Some(why) => format!("\"{}\" in {} keeps importance {importance}: {why}\n", done.title, done.scope),
        None => format!("\"{}\" in {} now has importance {importance}\n", done.title, done.scope),
    };
    let data = json!({
        "outcome": done.outcome, "scope": done.scope, "title": done.title, "importance": importance,
    });
    Ok(Answer { warnings, ..Answer::new(text, data) })
}

/// Tells a memory to others.
fn tell(call: &Call<'_>, named: &MemoryAddress, telling: &Telling) -> Result<Answer, Refusal> {
    let (results, warnings) = change(call, "reinforce_memory", |draft| {
        let target = named.target(call.memories, &draft.files)?;
        draft.correct(&[Correction::Tell(target, telling.clone())], Authority::MODEL)
    })?;
    let done = &results[0];
    let listeners = telling.to.join(", ");
    let text = match done.outcome {
        Outcome::Told => format!("\"{}\" in {} is told to {listeners}\n", done.title, done.scope),
        _ => format!("\"{}\" in {} is known to {listeners} already\n", done.title, done.scope),
    };
    let data = json!({"outcome": done.outcome, "scope": done.scope, "title": done.title});
    Ok(Answer { warnings, ..Answer::new(text, data) })
}

fn associate_memories(call: &Call<'_>) -> Result<Answer, Refusal> {
    let a = MemoryAddress::parse(call.memories, &call.arguments.required(&A)?, None)?;
    let b = MemoryAddress::parse(call.memories, &call.arguments.required(&B)?, None)?;
    let (results, warnings) = change(call, "associate_memories", |draft| {
        let (a, b) = (a.target(call.memories, &draft.files)?, b.target(call.memories, &draft.files)?);
        draft.correct(&[Correction::Link(a, b)], Authority::MODEL)
    })?;
    let linked: Vec<String> =
        results.iter().map(|done| Link::to(&done.scope, &done.title).to_string()).collect();
    let new = results.iter().any(|done| done.outcome == Outcome::Linked);
    let stays = results.iter().find_map(|done| {
        let why = done.why?;
        Some(format!("; \"{}\" in {} stays as it is: {why}", done.title, done.scope))
    });
    let text = if new {
        format!("linked {}{}\n", linked.join(" and "), stays.unwrap_or_default())
    } else {
        format!("{} are linked already\n", linked.join(" and "))
    };
    let data = json!({
        "outcome": if new { "linked" } else { "unchanged" },
        "scope": results[0].scope, "title": results[0].title, "linked": linked,
    });
    Ok(Answer { warnings, ..Answer::new(text, data) })
}

fn supersede_memory(call: &Call<'_>) -> Result<Answer, Refusal> {
    let named = MemoryAddress::of(call)?;
    let mut warnings = Vec::new();
    let says_kind = call.arguments.text(&TYPE)?.is_some();
    let new_title = call.arguments.text(&NEW_TITLE)?;
    let successor = memory_of(call, new_title.clone(), &mut warnings)?;
    let mut lowered = Vec::new();
    let (results, more) = change(call, "supersede_memory", |draft| {
        let target = named.target(call.memories, &draft.files)?;
        let authority = authority_over(call.memories, &target.scope);
        let mut successor = successor.clone();
        if let Some((.., old)) = draft.files.find(&target.scope, &target.title).first() {
            // Values that are not given are taken from the old memory.
            if new_title.is_none() {
                successor.title.clone_from(&old.title);
            }
            if !says_kind {
                (successor.category, successor.persistence) = (old.category.clone(), old.persistence);
            }
            let fields = &mut successor.provenance;
            fields.importance = fields.importance.or(old.provenance.importance);
            fields.tags.clone_from(&old.provenance.tags);
            fields.episode = draft.moment()?.episode;
            // The writers of the old entry did not write this one.
            successor.drop_writers();
        }
        lowered.clear();
        authority.lower(&mut successor, &mut lowered);
        draft.correct(&[Correction::Supersede(vec![target], Box::new(successor))], authority)
    })?;
    warnings.extend(lowered);
    warnings.extend(more);
    if let Some(contested) = contested(&results) {
        return Ok(Answer { warnings, ..contested });
    }
    let (new, old): (Vec<&Corrected>, Vec<&Corrected>) =
        results.iter().partition(|done| done.outcome != Outcome::Superseded);
    let new = new.first().copied().unwrap_or(&results[0]);
    let old: Vec<&str> = old.iter().map(|done| done.title.as_str()).collect();
    if old.is_empty() {
        let text = format!("\"{}\" in {} says this already\n", new.title, new.scope);
        return Ok(Answer { warnings, ..Answer::new(text, json!(new)) });
    }
    let text = match old.as_slice() {
        [old] if same_title(old, &new.title) => {
            format!("\"{}\" in {} has a new text; the old one is struck\n", new.title, new.scope)
        }
        _ => format!("\"{}\" in {} takes the place of \"{}\"\n", new.title, new.scope, old.join("\", \"")),
    };
    let data = json!({"outcome": "superseded", "scope": new.scope, "title": new.title, "superseded": old});
    Ok(Answer { warnings, ..Answer::new(text, data) })
}

fn invalidate_memory(call: &Call<'_>) -> Result<Answer, Refusal> {
    let named = MemoryAddress::of(call)?;
    let mut warnings = Vec::new();
    let reason = masked_text(&call.arguments.required(&REASON)?, &mut warnings);
    let (results, more) = change(call, "invalidate_memory", |draft| {
        let target = named.target(call.memories, &draft.files)?;
        let authority = authority_over(call.memories, &target.scope);
        draft.correct(&[Correction::Invalidate(vec![target], reason.clone())], authority)
    })?;
    warnings.extend(more);
    if let Some(contested) = contested(&results) {
        return Ok(Answer { warnings, ..contested });
    }
    let done = &results[0];
    let text = format!("\"{}\" in {} is struck: {reason}\n", done.title, done.scope);
    Ok(Answer { warnings, ..Answer::new(text, json!(done)) })
}

/// The answer about protected memories, which are contested.
fn contested(results: &[Corrected]) -> Option<Answer> {
    let Corrected { outcome, scope, title, contested, .. } =
        results.iter().find(|done| !done.contested.is_empty())?;
    let stays = contested.iter().map(|one| format!("\"{}\" in {scope} stays: {}", one.title, one.reason));
    let stays = stays.collect::<Vec<_>>().join("; ");
    let beside = match *outcome {
        Outcome::Duplicate => "it is there already",
        Outcome::Confirmed => "it is there already, and confirmed by you now",
        _ => "it is stored beside, tentative until a person decides",
    };
    let data = json!({"outcome": outcome, "scope": scope, "title": title, "contested": contested});
    Some(Answer::new(format!("{stays}. Contested by \"{title}\": {beside}\n"), data))
}

/// Runs corrections in one transaction; returns the results and warnings.
fn change(
    call: &Call<'_>,
    tool: &'static str,
    mut edit: impl FnMut(&mut Draft<'_>) -> Result<Vec<Corrected>, Refusal>,
) -> Result<(Vec<Corrected>, Vec<String>), Refusal> {
    call.watcher.goes_on()?;
    let done = call.notebook().edit(tool, |draft| {
        draft.by(Author::Agent);
        edit(draft)
    })?;
    Ok((done.value, done.warnings))
}

/// A memory addressed by title, with or without scope.
struct MemoryAddress {
    scope: Option<Scope>,
    title: String,
}

impl MemoryAddress {
    /// From the arguments `title` and `scope`.
    fn of(call: &Call<'_>) -> Result<MemoryAddress, Refusal> {
        let title = call.arguments.required(&TITLE)?;
        MemoryAddress::parse(call.memories, &title, call.arguments.text(&SCOPE)?.as_deref())
    }

    /// Reads `title`, `scope › title`, or either in double brackets.
    fn parse(memories: &Memories, text: &str, scope: Option<&str>) -> Result<MemoryAddress, Refusal> {
        let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]").trim();
        if let Some(scope) = scope {
            return Ok(MemoryAddress { scope: Some(memories.scope(scope)?), title: text.trim().to_owned() });
        }
        if let Some((scope, title)) = bare.split_once('›')
            && let Ok(scope) = memories.scope(scope)
        {
            return Ok(MemoryAddress { scope: Some(scope), title: title.trim().to_owned() });
        }
        Ok(MemoryAddress { scope: None, title: text.trim().to_owned() })
    }

    /// Finds the scope. With a given scope, the entry itself is only looked up by the correction.
    fn target(&self, memories: &Memories, files: &Files) -> Result<Target, Refusal> {
        let target = |scope: &Scope| Target { scope: scope.clone(), title: self.title.clone(), line: None };
        if let Some(scope) = &self.scope {
            return Ok(target(scope));
        }
        let own = memories.setup.agent.clone().map(Scope::Agent);
        if let Some(own) = own.filter(|own| !files.find(own, &self.title).is_empty()) {
            return Ok(target(&own));
        }
        let scopes = files.lasting.headings().chain(files.session.headings()).map(|heading| &heading.scope);
        let scopes: BTreeSet<&Scope> =
            scopes.filter(|scope| memories.refuse_foreign(scope).is_ok()).collect();
        let mut titles: Vec<(Scope, String)> = Vec::new();
        for scope in scopes {
            let section = files.section(scope);
            titles.extend(section.live().map(|memory| (scope.clone(), memory.title.clone())));
        }
        let meant: Vec<&(Scope, String)> =
            titles.iter().filter(|(_, title)| means_title(&self.title, title)).collect();
        match meant.as_slice() {
            [(scope, _)] => Ok(target(scope)),
            [] => {
                let near = nearest(&self.title, titles.iter().map(|(_, title)| title.as_str()), 3);
                let otherwise =
                    "titles are exact: search for the memory and take `scope` and `title` from the answer";
                Err(Refusal::new(format!("no live memory is called `{}`", self.title))
                    .hint(did_you_mean(&near).unwrap_or_else(|| otherwise.to_owned())))
            }
            several => {
                let scopes: Vec<String> = several.iter().map(|(scope, _)| format!("`{scope}`")).collect();
                Err(Refusal::new(format!("{} memories are called `{}`", several.len(), self.title))
                    .hint(format!("say which one with its scope: {}", scopes.join(", "))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_categories_and_persistences() {
        let name =
            |text: &str| kind_of(text).map(|(category, persistence)| (category.to_string(), persistence));
        assert_eq!(name("Episodic"), Ok(("EVENT".to_owned(), Persistence::Permanent)));
        assert_eq!(name("core"), Ok(("NOTE".to_owned(), Persistence::Core)));
        assert_eq!(name("danger"), Ok(("DANGER".to_owned(), Persistence::Permanent)));
        assert!(name("a, b").is_err());
    }
}
