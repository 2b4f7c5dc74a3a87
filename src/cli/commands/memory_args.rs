//! Input of a memory in the user's own words: by flags, or as a JSON object with the same names.

use std::cell::RefCell;

use serde_json::Value;

use crate::cli::commands::viewer_args::WitnessArgs;
use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_date, parse_integer, parse_own_importance, parse_turns};
use memories_document::types::fields::{
    self, Expected, Fields, count, importance, integer, named, parse_episode, span, text, texts,
};
use memories_document::types::{
    Category, Memory, Moment, Persistence, Provenance, Span, Status, character_id, is_writer_tag, one_of,
};
use memories_document::unknown_field;
use memories_notebook::Telling;
use memories_record::turn::{category, date};

/// The flags of a memory.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct MemoryArgs {
    /// The text of the memory
    #[arg(group = "wording", long, value_name = "TEXT")]
    pub text: Option<String>,
    /// A short title, unique at its place [default: the first words of the text]
    #[arg(long, value_name = "TITLE", requires = "wording")]
    title: Option<String>,
    /// Kind of memory: SUCCESS, FAILURE, DISCOVERY, DANGER, NOTE or your own [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "wording")]
    category: Option<Category>,
    /// Importance, 1 to 1000 [default: 500]
    #[arg(long, value_name = "N", requires = "wording", allow_negative_numbers = true)]
    #[arg(value_parser = parse_own_importance)]
    importance: Option<u16>,
    /// Always show it first
    #[arg(long, requires = "wording")]
    core: bool,
    /// Keep it for this episode only: `episode start` removes it
    #[arg(long, requires = "wording", conflicts_with = "core")]
    ephemeral: bool,
    /// Mark it as not yet confirmed
    #[arg(long, requires = "wording")]
    tentative: bool,
    /// Episode in which it was learned
    #[arg(long, value_name = "EPISODE", requires = "wording")]
    episode: Option<String>,
    /// Turn in which it was learned
    #[arg(long, value_name = "N", requires = "wording", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    turn: Option<u64>,
    /// Turns in which it was learned, such as `23-24`
    #[arg(long, value_name = "TURNS", requires = "wording", conflicts_with = "turn", value_parser = parse_turns)]
    turns: Option<Span>,
    /// Change of the score, such as `+5`, `-10` or `+0`
    #[arg(long, value_name = "N", requires = "wording", allow_negative_numbers = true, value_parser = parse_integer)]
    score_change: Option<i64>,
    /// Score at that time
    #[arg(long, value_name = "N", requires = "wording", allow_negative_numbers = true, value_parser = parse_integer)]
    score: Option<i64>,
    /// Move counter at that time
    #[arg(long, value_name = "N", requires = "wording", allow_negative_numbers = true, value_parser = parse_integer)]
    moves: Option<i64>,
    /// Date, or time in RFC 3339
    #[arg(long, value_name = "TIME", requires = "wording", value_parser = parse_date)]
    date: Option<String>,
    /// URI of a source; repeatable
    #[arg(long = "source", value_name = "URI", requires = "wording")]
    sources: Vec<String>,
    /// Goal of the agent at that time
    #[arg(long, value_name = "TEXT", requires = "wording")]
    goal: Option<String>,
    /// A tag such as `troll` or `about:jordan`; repeatable
    #[arg(long = "tag", value_name = "TAG", requires = "wording")]
    tags: Vec<String>,
    #[command(flatten)]
    witnesses: WitnessArgs,
    /// Where the memory comes from, in words
    #[arg(long, value_name = "TEXT", requires = "wording")]
    context: Option<String>,
}

impl MemoryArgs {
    /// The memory that the flags describe.
    pub(crate) fn into_memory(self) -> Result<Memory, Failure> {
        let MemoryArgs {
            text,
            title,
            category,
            importance,
            core,
            ephemeral,
            tentative,
            episode,
            turn,
            turns,
            score_change,
            score,
            moves,
            date,
            sources,
            goal,
            tags,
            witnesses,
            context,
        } = self;
        let mut tags = own_tags(&tags)?;
        witnesses.tag(&mut tags);
        let category = category.unwrap_or_else(Category::note);
        let mut memory = Memory::new(category, title.unwrap_or_default(), text.unwrap_or_default());
        memory.persistence = match (core, ephemeral) {
            (true, _) => Persistence::Core,
            (_, true) => Persistence::Ephemeral,
            _ => Persistence::Permanent,
        };
        memory.status = if tentative { Status::Tentative } else { Status::Active };
        memory.context = context;
        memory.provenance = Provenance {
            episode: episode.as_deref().map(episode_number).transpose()?,
            turns: turns.or(turn.map(Span::one)),
            messages: None,
            score_change,
            date,
            importance,
            score,
            moves,
            sources,
            tags,
            other: Vec::new(),
            goal,
        };
        not_empty(memory)
    }
}

/// The number of an episode on the command line.
pub(crate) fn episode_number(label: &str) -> Result<u64, Failure> {
    parse_episode(label).ok_or_else(|| {
        Failure::usage(format!("`{label}` is not an episode"))
            .hint("give a number, or a label with one run of digits such as `ep_003`")
    })
}

/// A tag without its mark.
pub(crate) fn bare_tag(tag: &str) -> String {
    tag.trim().trim_start_matches('#').to_owned()
}

/// Tags without their marks. None of them names a writer.
fn own_tags(tags: &[String]) -> Result<Vec<String>, Failure> {
    if let Some(tag) = tags.iter().find(|tag| is_writer_tag(tag)) {
        let failure = Failure::user(format!("the tag `{}` would name a writer", bare_tag(tag)));
        return Err(failure.hint("leave it out; `--writer NAME` says who writes"));
    }
    Ok(tags.iter().map(|tag| bare_tag(tag)).collect())
}

fn not_empty(memory: Memory) -> Result<Memory, Failure> {
    if memory.text.trim().is_empty() {
        return Err(Failure::user("the text is empty").hint("give the text that is to be remembered"));
    }
    Ok(memory)
}

/// The fields of a JSON object on stdin; each error comes with a hint that shows the expected form.
pub(crate) struct JsonFields<'a> {
    fields: Fields<'a>,
    hint: &'static str,
    /// The names of the fields that were asked for.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> JsonFields<'a> {
    /// The fields of a value, which must be an object.
    pub(crate) fn of(value: &'a Value, hint: &'static str) -> Result<JsonFields<'a>, Failure> {
        match value {
            Value::Object(object) => {
                Ok(JsonFields { fields: Fields::of(object), hint, known: RefCell::default() })
            }
            other => Err(Failure::user(format!("expected a JSON object, got {other}")).hint(hint)),
        }
    }

    /// A failure with the hint of these fields.
    pub(crate) fn wrong(&self, problem: impl Into<String>) -> Failure {
        Failure::user(problem).hint(self.hint)
    }

    /// The converted value of a field, `None` where it is missing.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Failure> {
        self.known.borrow_mut().push(name);
        self.fields.read(name, conversion).map_err(|error| self.wrong(error.to_string()))
    }

    /// The text of a required field.
    pub(crate) fn required(&self, name: &'static str) -> Result<String, Failure> {
        self.read(name, text)?.ok_or_else(|| self.wrong(format!("`{name}` is missing")))
    }

    /// Asks for fields that are read later.
    pub(crate) fn expect(&self, names: &[&'static str]) {
        self.known.borrow_mut().extend(names);
    }

    /// A warning for each field that nobody asked for.
    pub(crate) fn unknown(&self, of: &str) -> Vec<String> {
        let known = self.known.borrow();
        let names = self.fields.names().filter(|name| !known.contains(name));
        names.map(|name| unknown_field(name, of, &known)).collect()
    }

    /// Episode and turn, as far as they are given.
    pub(crate) fn moment(&self) -> Result<Moment, Failure> {
        let turns = self.turns()?;
        let episode = self.read("episode", fields::episode)?;
        Ok(Moment { episode, turn: turns.map(|turns| turns.last), ..Moment::default() })
    }

    fn turns(&self) -> Result<Option<Span>, Failure> {
        match (self.read("turns", span)?, self.read("turn", count)?) {
            (Some(_), Some(_)) => Err(self.wrong("`turn` and `turns` say the same: give one of them")),
            (turns, turn) => Ok(turns.or(turn.map(Span::one))),
        }
    }

    /// Who knows a memory, and who told it; `None` where nobody is named.
    pub(crate) fn telling(&self) -> Result<Option<Telling>, Failure> {
        let ids = |name: &'static str| {
            let named = self.read(name, texts)?.unwrap_or_default();
            let ids: Result<Vec<String>, String> = named.iter().map(|id| character_id(id)).collect();
            ids.map_err(|wrong| self.wrong(format!("`{name}`: {wrong}")))
        };
        let (to, by) = (ids("witness")?, ids("told_by")?);
        if to.is_empty() && !by.is_empty() {
            return Err(self.wrong("`told_by` says who told it to a `witness`, and there is none"));
        }
        Ok((!to.is_empty()).then_some(Telling { to, by }))
    }

    /// The memory that the object describes.
    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        let category = self.read("category", category)?.unwrap_or_else(Category::note);
        let title = self.read("title", text)?.unwrap_or_default();
        let mut memory = Memory::new(category, title, self.required("text")?);
        memory.persistence = self.read("persistence", named)?.unwrap_or_default();
        memory.status = self.read("status", live_status)?.unwrap_or_default();
        memory.context = self.read("context", text)?;
        let sources = self.read("sources", texts)?.or(self.read("source", texts)?).unwrap_or_default();
        let mut tags = own_tags(&self.read("tags", texts)?.unwrap_or_default())?;
        tags.extend(self.telling()?.iter().flat_map(Telling::tags));
        memory.provenance = Provenance {
            episode: self.read("episode", fields::episode)?,
            turns: self.turns()?,
            messages: None,
            score_change: self.read("score_change", integer)?,
            date: self.read("date", date)?,
            importance: self.read("importance", importance)?,
            score: self.read("score", integer)?,
            moves: self.read("moves", integer)?,
            sources,
            tags,
            other: Vec::new(),
            goal: self.read("goal", text)?,
        };
        not_empty(memory)
    }
}

/// The status of a new memory, which cannot be superseded yet.
fn live_status(value: &Value) -> Result<Status, Expected> {
    let status = named(value).ok().filter(|status| *status != Status::Superseded);
    status.ok_or(one_of(&["active", "tentative"]).into())
}
