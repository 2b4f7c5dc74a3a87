//! Formats of the text of a recall.

use strum::VariantNames as _;

use memories_document::types::model_text::ModelText;
use memories_document::types::unknown_name;

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum Format {
    /// Plain text, for a prompt.
    #[default]
    Text,
    /// Markdown with a heading for each scope.
    Markdown,
    /// XML elements, for prompts that are built of them.
    Xml,
}

impl Format {
    /// A rendered text, fit for a model: of XML the texts are escaped already, and the tags are our own.
    pub(super) fn fit_for_model(self, text: &str) -> ModelText {
        match self {
            Format::Xml => ModelText::framed(text),
            Format::Text | Format::Markdown => ModelText::of(text),
        }
    }
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", Format::VARIANTS)
}
