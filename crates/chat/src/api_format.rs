//! The chat API whose format a request, a response or a tool definition has.

use strum::VariantNames as _;

use memories_document::types::unknown_name;

/// The format of a chat API. The command line calls it a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_shape)]
pub enum ApiFormat {
    /// OpenAI's Chat Completions: instructions are messages with the role `system` or `developer`.
    OpenAi,
    /// Anthropic's Messages: instructions are a field next to the messages.
    Anthropic,
    /// OpenAI's Responses: instructions are a field next to `input`, a text or a list of items.
    Responses,
}

fn unknown_shape(text: &str) -> String {
    unknown_name(text, "shape", ApiFormat::VARIANTS)
}
