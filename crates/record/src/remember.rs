//! The memory that the player itself words in a turn: its fields, and the scale of its importance.

use serde::Serialize;
use serde_json::Value;

use memories_document::types::fields::{Expected, FieldError, Fields, number, text, texts};
use memories_document::types::{
    Category, DEFAULT_IMPORTANCE, EXPECTED_SCALE, ImportanceScale, character_id, importance_of_program,
};

/// A memory that the player states directly, without a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remember {
    /// Its text.
    pub text: String,
    /// 1 to 1000.
    pub importance: u16,
    /// NOTE by default.
    pub category: Category,
}

/// Reads a scale of importance by its highest value.
pub fn importance_scale(value: &Value) -> Result<ImportanceScale, Expected> {
    number(value).ok().and_then(ImportanceScale::new).ok_or(EXPECTED_SCALE.into())
}

/// Reads what the player states in a turn, with an importance on a scale, if the turn names no other.
pub(super) fn remember(
    fields: Fields<'_>,
    scale: ImportanceScale,
    notes: &mut Vec<String>,
) -> Result<Option<Remember>, FieldError> {
    let scale = fields.read("importance_scale", importance_scale)?.unwrap_or(scale);
    let text = fields.read("remember", text)?.filter(|text| !text.trim().is_empty());
    let Some(text) = text else { return Ok(None) };
    let importance = fields.get("remember_importance").or_else(|| fields.get("rememberImportance"));
    let importance = importance.and_then(|value| importance_of_program(value, scale, notes));
    let importance = importance.unwrap_or(DEFAULT_IMPORTANCE);
    let category = fields.read("remember_category", category)?.unwrap_or_else(Category::note);
    Ok(Some(Remember { text, importance, category }))
}

/// Reads the ids of characters, with commas or as a list.
pub(super) fn present(value: &Value) -> Result<Vec<String>, Expected> {
    let ids: Option<Vec<String>> =
        texts(value)?.iter().flat_map(|ids| ids.split(',')).map(|id| character_id(id).ok()).collect();
    ids.ok_or("a list of ids of characters, such as `marta`".into())
}

/// Reads a category.
pub fn category(value: &Value) -> Result<Category, Expected> {
    value.as_str().and_then(Category::new).ok_or("a word such as `NOTE` or `PUZZLE`".into())
}
