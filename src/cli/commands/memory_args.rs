//! Input of a memory in the user's own words: by flags, or as a JSON object with the same names.

use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_importance};
use crate::record::turn::{category, date};
use crate::types::fields::{Expected, Fields, count, named, parse_episode, text, texts};
use crate::types::{Category, Memory, Persistence, Span, Status, clamp_importance, one_of};

/// The flags of a memory.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct MemoryArgs {
    /// The text of the memory
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// A short title, unique at its place [default: the first words of the text]
    #[arg(long, value_name = "TITLE", requires = "text")]
    title: Option<String>,
    /// Kind of memory: SUCCESS, FAILURE, DISCOVERY, DANGER, NOTE or your own [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "text")]
    category: Option<Category>,
    /// Importance, 1 to 1000 [default: 500]
    #[arg(long, value_name = "N", requires = "text", allow_negative_numbers = true, value_parser = parse_importance)]
    importance: Option<f64>,
    /// Always show it first
    #[arg(long, requires = "text")]
    core: bool,
    /// Keep it for this episode only: `episode start` removes it
    #[arg(long, requires = "text", conflicts_with = "core")]
    ephemeral: bool,
    /// Mark it as not yet confirmed
    #[arg(long, requires = "text")]
    tentative: bool,
    /// Episode in which it was learned
    #[arg(long, value_name = "EPISODE", requires = "text")]
    episode: Option<String>,
    /// Turn in which it was learned
    #[arg(long, value_name = "N", requires = "text", allow_negative_numbers = true, value_parser = parse_count::<u64>)]
    turn: Option<u64>,
    /// A tag such as `troll` or `about:jordan`; repeatable
    #[arg(long = "tag", value_name = "TAG", requires = "text")]
    tags: Vec<String>,
    /// Source of the memory, in words
    #[arg(long, value_name = "TEXT", requires = "text")]
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
            tags,
            context,
        } = self;
        let category = category.unwrap_or_else(Category::note);
        let mut memory = Memory::new(category, title.unwrap_or_default(), text.unwrap_or_default());
        memory.persistence = match (core, ephemeral) {
            (true, _) => Persistence::Core,
            (_, true) => Persistence::Ephemeral,
            _ => Persistence::Permanent,
        };
        memory.status = if tentative { Status::Tentative } else { Status::Active };
        memory.context = context;
        memory.provenance.importance = importance.map(clamp_importance);
        memory.provenance.turns = turn.map(Span::one);
        memory.provenance.tags = tags.iter().map(|tag| bare_tag(tag)).collect();
        memory.provenance.episode = episode.as_deref().map(episode_number).transpose()?;
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
}

impl<'a> JsonFields<'a> {
    /// The fields of a value, which must be an object.
    pub(crate) fn of(value: &'a Value, hint: &'static str) -> Result<JsonFields<'a>, Failure> {
        match value {
            Value::Object(object) => Ok(JsonFields { fields: Fields::of(object), hint }),
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
        name: &str,
        conversion: impl FnOnce(&Value) -> Result<T, Expected>,
    ) -> Result<Option<T>, Failure> {
        self.fields.read(name, conversion).map_err(|error| self.wrong(error.to_string()))
    }

    /// The text of a required field.
    pub(crate) fn required(&self, name: &str) -> Result<String, Failure> {
        self.read(name, text)?.ok_or_else(|| self.wrong(format!("`{name}` is missing")))
    }

    /// An importance; a value that is not a number is ignored.
    pub(crate) fn importance(&self) -> Option<u16> {
        self.fields.get("importance").and_then(Value::as_f64).map(clamp_importance)
    }

    /// The memory that the object describes.
    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        let category = self.read("category", category)?.unwrap_or_else(Category::note);
        let title = self.read("title", text)?.unwrap_or_default();
        let mut memory = Memory::new(category, title, self.required("text")?);
        memory.persistence = self.read("persistence", named)?.unwrap_or_default();
        memory.status = self.read("status", live_status)?.unwrap_or_default();
        memory.context = self.read("context", text)?;
        let fields = &mut memory.provenance;
        fields.importance = self.importance();
        fields.episode = self.read("episode", count)?;
        fields.turns = self.read("turn", count)?.map(Span::one);
        fields.date = self.read("date", date)?;
        fields.tags = self.read("tags", texts)?.unwrap_or_default().iter().map(|tag| bare_tag(tag)).collect();
        not_empty(memory)
    }
}

/// The status of a new memory, which cannot be superseded yet.
fn live_status(value: &Value) -> Result<Status, Expected> {
    let status = named(value).ok().filter(|status| *status != Status::Superseded);
    status.ok_or(one_of(&["active", "tentative"]).into())
}
