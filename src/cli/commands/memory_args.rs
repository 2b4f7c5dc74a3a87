//! A memory as a caller words it: by flags, or as a JSON object with the flags' names as fields.

use std::str::FromStr;

use serde_json::{Map, Value};
use strum::VariantNames;

use crate::cli::failure::Failure;
use crate::cli::values::{parse_count, parse_importance};
use crate::document::fields::is_date;
use crate::record::turn::parse_episode;
use crate::types::{Category, Memory, Persistence, Span, Status, clamp_importance, one_of};

/// The flags of a memory.
#[derive(Debug, Default, clap::Args)]
pub struct MemoryArgs {
    /// The text of the memory
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// A short title, unique at its place [default: the first words of the text]
    #[arg(long, value_name = "TITLE", requires = "text")]
    title: Option<String>,
    /// Kind of memory: SUCCESS, FAILURE, DISCOVERY, DANGER, NOTE or your own [default: NOTE]
    #[arg(long, value_name = "CATEGORY", requires = "text")]
    category: Option<Category>,
    /// How important it is, 1 to 1000 [default: 500]
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
    /// Where the memory comes from, in words
    #[arg(long, value_name = "TEXT", requires = "text")]
    context: Option<String>,
}

impl MemoryArgs {
    /// The memory that the flags describe.
    pub fn into_memory(self) -> Result<Memory, Failure> {
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
pub fn episode_number(label: &str) -> Result<u64, Failure> {
    parse_episode(label).ok_or_else(|| {
        Failure::usage(format!("`{label}` is not an episode"))
            .hint("give a number, or a label with one run of digits such as `ep_003`")
    })
}

fn bare_tag(tag: &str) -> String {
    tag.trim().trim_start_matches('#').to_owned()
}

fn not_empty(memory: Memory) -> Result<Memory, Failure> {
    if memory.text.trim().is_empty() {
        return Err(Failure::user(anyhow::anyhow!("the text is empty")).hint("say what is to be remembered"));
    }
    Ok(memory)
}

/// The fields of a JSON object, read with errors that name them.
pub struct JsonFields<'a> {
    object: &'a Map<String, Value>,
    hint: &'static str,
}

impl<'a> JsonFields<'a> {
    /// The fields of an object. `hint` shows the form that was expected.
    pub fn of(value: &'a Value, hint: &'static str) -> Result<JsonFields<'a>, Failure> {
        match value {
            Value::Object(object) => Ok(JsonFields { object, hint }),
            other => Err(Failure::user(anyhow::anyhow!("expected a JSON object, got {other}")).hint(hint)),
        }
    }

    /// A failure that names what is wrong.
    pub fn wrong(&self, problem: impl Into<String>) -> Failure {
        Failure::user(anyhow::Error::msg(problem.into())).hint(self.hint)
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(format!("`{name}` is {other}, expected a text"))),
        }
    }

    /// A text that must be there.
    pub fn required(&self, name: &str) -> Result<String, Failure> {
        self.text(name)?.ok_or_else(|| self.wrong(format!("`{name}` is missing")))
    }

    /// A list of texts; a single text counts as a list of one.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let wrong = || self.wrong(format!("`{name}` is not a list of texts"));
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// A whole number from 0 up.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Failure> {
        match self.get(name) {
            None => Ok(None),
            Some(other) => other.as_u64().map(Some).ok_or_else(|| {
                self.wrong(format!("`{name}` is {other}, expected a whole number, 0 or more"))
            }),
        }
    }

    /// An importance; what is no number is none.
    pub fn importance(&self) -> Option<u16> {
        self.get("importance").and_then(Value::as_f64).map(clamp_importance)
    }

    /// The value of one of these names.
    pub fn choice<T: FromStr>(&self, name: &str, choices: &[&str]) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let known = Some(text.to_lowercase()).filter(|text| choices.contains(&text.as_str()));
        match known.and_then(|text| text.parse().ok()) {
            None => Err(self.wrong(format!("`{name}` is `{text}`, expected {}", one_of(choices)))),
            value => Ok(value),
        }
    }

    /// The memory that the object describes.
    pub fn memory(&self) -> Result<Memory, Failure> {
        let category = match self.text("category")? {
            None => Category::note(),
            Some(name) => name.parse().map_err(|problem: String| self.wrong(problem))?,
        };
        let title = self.text("title")?.unwrap_or_default();
        let mut memory = Memory::new(category, title, self.required("text")?);
        memory.persistence = self.choice("persistence", Persistence::VARIANTS)?.unwrap_or_default();
        memory.status = self.choice("status", &["active", "tentative"])?.unwrap_or_default();
        memory.context = self.text("context")?;
        let fields = &mut memory.provenance;
        fields.importance = self.importance();
        fields.episode = self.count("episode")?;
        fields.turns = self.count("turn")?.map(Span::one);
        fields.date = self.text("date")?;
        if let Some(date) = fields.date.as_deref().filter(|date| !is_date(date)) {
            return Err(self.wrong(format!("`date` is `{date}`, expected a date such as 2026-01-31")));
        }
        fields.tags = self.texts("tags")?.iter().map(|tag| bare_tag(tag)).collect();
        not_empty(memory)
    }
}
