//! The figures of `stats`, as its JSON names them. "Memories" are live ones unless something else is said.

use std::collections::BTreeMap;

use serde::Serialize;

use memories_document::types::Scope;

/// All figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stats {
    /// Version of this format.
    pub(crate) version: u32,
    pub(crate) file: String,
    /// The number of memories.
    pub total_memories: u64,
    pub(crate) avg_importance: Option<f64>,
    /// Places with memories.
    pub(crate) locations_covered: u64,
    pub(crate) top_location: Option<TopLocation>,
    pub(crate) by_category: BTreeMap<String, u64>,
    /// All entries, superseded ones too.
    pub(crate) by_status: BTreeMap<&'static str, u64>,
    pub(crate) by_persistence: BTreeMap<&'static str, u64>,
    /// Memories that a model or an agent contests, which wait for a person.
    pub(crate) contested: Vec<ContestedMemory>,
    /// Actions listed as tried.
    #[serde(rename = "tried_count")]
    pub(crate) tried: u64,
    /// Figures of the places.
    #[serde(rename = "coverage")]
    pub places: PlaceFigures,
    pub(crate) recall_tokens: Option<TokenFigures>,
    /// Figures of the turns.
    #[serde(rename = "play")]
    pub turns: TurnFigures,
    pub(crate) queue: QueueFigures,
    pub(crate) journal: JournalFigures,
    pub(crate) models: Vec<ModelFigures>,
    pub(crate) memories_without_episode: u64,
    #[serde(rename = "by_episode")]
    pub(crate) episodes: Vec<EpisodeFigures>,
}

/// A memory that is contested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ContestedMemory {
    pub(crate) scope: Scope,
    pub(crate) title: String,
    /// The title of the tentative memory that contests it.
    pub(crate) by: String,
}

/// The place with the most memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TopLocation {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    #[serde(rename = "memory_count")]
    pub(crate) memories: u64,
}

/// The number of visited places that have memories.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct PlaceFigures {
    /// The number of places that were visited.
    pub visited: u64,
    pub(crate) with_memories: u64,
    pub(crate) share: Option<f64>,
}

/// The cost of recalling each place alone, in tokens as `recall` estimates them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TokenFigures {
    /// Places that were measured: all, or of more than 10,000 an even choice.
    #[serde(rename = "place_count")]
    pub(crate) places: u64,
    /// The median.
    pub(crate) p50: usize,
    pub(crate) max: usize,
}

/// Turns of the journal.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TurnFigures {
    /// The number of turns that were recorded.
    pub recorded: u64,
    /// Time of the first one.
    pub(crate) since: Option<String>,
    /// Time of the last one.
    pub(crate) until: Option<String>,
    /// Turns that changed nothing that the game shows.
    pub(crate) no_effect: u64,
    /// Turns among them whose action had changed nothing at that place when it was last tried.
    pub(crate) repeated_no_effect: u64,
    /// Their share of all turns.
    pub(crate) repeated_share: Option<f64>,
    pub(crate) outcomes: BTreeMap<String, u64>,
}

/// Turns that wait for a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct QueueFigures {
    #[serde(rename = "turn_count")]
    pub(crate) turns: u64,
    /// Time of the oldest one, and how long ago that is.
    pub(crate) oldest: Option<String>,
    pub(crate) oldest_seconds: Option<u64>,
}

/// Damage of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct JournalFigures {
    /// Lines that cannot be read.
    pub(crate) unreadable: u64,
    /// Lines that are read without their damaged bytes.
    pub(crate) mended: u64,
    /// Turns of unreadable lines that waited for a model.
    pub(crate) lost_turns: u64,
    /// The damage in words.
    #[serde(skip)]
    pub(crate) text: Option<String>,
}

/// The use of one model.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct ModelFigures {
    /// Provider and model.
    pub(crate) name: String,
    /// Turns it was asked about.
    pub(crate) questions: u64,
    /// Turns among them without a usable answer.
    pub(crate) failed: u64,
    /// Requests made, retries included.
    pub(crate) calls: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// US dollars, as far as the provider says.
    pub(crate) cost: f64,
}

/// Figures of one episode. Counts of play come from the journal.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct EpisodeFigures {
    pub(crate) episode: u64,
    /// Entries of the file that were last written in it, superseded ones too.
    #[serde(rename = "memory_count")]
    pub(crate) memories: u64,
    /// Entries of this episode and all before it.
    pub(crate) memories_total: u64,
    /// Memories that were new in it, by the journal.
    pub(crate) stored: u64,
    /// Memories that got new words in it, by the journal.
    pub(crate) revised: u64,
    #[serde(rename = "coverage")]
    pub places: PlaceFigures,
    #[serde(rename = "turn_count")]
    pub(crate) turns: u64,
    /// Turns that changed nothing that the game shows.
    pub(crate) no_effect: u64,
    /// Repeats among them.
    pub(crate) repeated_no_effect: u64,
    /// Share of repeats in all turns.
    pub(crate) repeated_share: Option<f64>,
    pub(crate) deaths: u64,
    pub(crate) best_score: Option<i64>,
    /// Each new highest score.
    pub(crate) milestones: Vec<Milestone>,
    /// Requests to models about its turns, retries included.
    pub(crate) model_calls: u64,
    /// Their cost in US dollars, as far as the providers say.
    pub(crate) cost: f64,
}

/// A score, and the number of the episode's turn that reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Milestone {
    pub(crate) score: i64,
    #[serde(rename = "turn")]
    pub(crate) turns: u64,
}
