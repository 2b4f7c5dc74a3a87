//! Which memories are injected into the requests of chats, and when memories are extracted from the replies.

use strum::VariantNames;

use crate::inject::block::BlockStyle;
use memories_document::types::{ImportanceScale, unknown_name};
use memories_search::filter::Filter;

/// The default threshold: a usual cosine of a neural encoder.
pub const USUAL_THRESHOLD: f32 = 0.7;

/// The similarity of the embedded model that separates related from unrelated texts as
/// [`USUAL_THRESHOLD`] does for a neural encoder: `tests/it/chat/threshold.rs` measures it.
pub const CALIBRATED: f32 = 0.2;

/// When memories are extracted from a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = unknown_mode)]
pub enum ExtractMode {
    /// After every reply.
    EveryTurn,
    /// After a number of replies.
    #[default]
    Periodic,
    /// When the conversation is saved.
    OnSave,
    /// Only when the model calls the tool.
    LlmTriggered,
}

fn unknown_mode(text: &str) -> String {
    unknown_name(text, "mode", ExtractMode::VARIANTS)
}

/// Settings of injection and extraction.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatSettings {
    /// `false`: chats pass unchanged.
    pub use_memory: bool,
    /// Wording and position of the block.
    pub style: BlockStyle,
    /// Limit of memories in a block.
    pub max_injected: usize,
    /// Number of the most similar memories that are ranked.
    pub candidates: usize,
    /// Limit of tokens of the whole block.
    pub max_tokens: usize,
    /// Minimum similarity to the conversation, as a cosine of a neural encoder.
    pub threshold: f32,
    /// Which memories may be injected. Extracted ones go to the first of its scopes.
    pub filter: Filter,
    /// Greatest age in days; memories without a date are then left out.
    pub max_age_days: Option<f64>,
    /// Ids of two characters whose latest common memories may be injected, too.
    pub between: Option<(String, String)>,
    /// When memories are extracted.
    pub mode: ExtractMode,
    /// Number of replies between extractions in the mode `periodic`.
    pub every: u64,
    /// Maximum number of memories from one extraction.
    pub max_extracted: usize,
    /// Maximum number of memories from one conversation.
    pub max_per_conversation: usize,
    /// The scale of the importances that the model states.
    pub importance_scale: ImportanceScale,
}

impl Default for ChatSettings {
    fn default() -> ChatSettings {
        ChatSettings {
            use_memory: true,
            style: BlockStyle::default(),
            max_injected: 5,
            candidates: 10,
            max_tokens: 500,
            threshold: USUAL_THRESHOLD,
            filter: Filter::default(),
            max_age_days: None,
            between: None,
            mode: ExtractMode::default(),
            every: 5,
            max_extracted: 4,
            max_per_conversation: 100,
            importance_scale: ImportanceScale::default(),
        }
    }
}

/// The similarity of the embedded model that stands for a cosine of a neural encoder: linear from 0 to
/// [`USUAL_THRESHOLD`], which is [`CALIBRATED`], and from there to 1.
pub(crate) fn embedded_threshold(threshold: f32) -> f32 {
    let threshold = threshold.clamp(0.0, 1.0);
    if threshold <= USUAL_THRESHOLD {
        threshold / USUAL_THRESHOLD * CALIBRATED
    } else {
        CALIBRATED + (threshold - USUAL_THRESHOLD) / (1.0 - USUAL_THRESHOLD) * (1.0 - CALIBRATED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds() {
        assert_eq!((embedded_threshold(0.0), embedded_threshold(1.0)), (0.0, 1.0));
        assert!((embedded_threshold(USUAL_THRESHOLD) - CALIBRATED).abs() < 1e-6);
        assert!(
            embedded_threshold(0.5) < embedded_threshold(0.6)
                && embedded_threshold(0.8) > embedded_threshold(0.7)
        );
    }
}
