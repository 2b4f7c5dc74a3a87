//! Flags of `inject` and `proxy`: which memories a chat gets.

use crate::cli::values::parse_own_importance;
use memories_chat::ChatSettings;
use memories_document::types::Category;

/// The memories that a chat may get, besides their scopes.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Insert only memories of this category; repeatable
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<Category>,
    /// Maximum age, such as `12h`, `30d` or `4w`; leaves out memories without a date
    #[arg(long, value_name = "AGE", value_parser = parse_days)]
    max_age: Option<f64>,
    /// Minimum importance, 1 to 1000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_own_importance)]
    min_importance: Option<u16>,
    /// Also consider the latest memories that two characters share
    #[arg(long, value_name = "A,B", value_parser = parse_pair)]
    between: Option<(String, String)>,
}

impl SelectionArgs {
    /// Puts the values into the settings.
    pub(crate) fn apply_to(self, settings: &mut ChatSettings) {
        let SelectionArgs { categories, max_age, min_importance, between } = self;
        settings.max_age_days = max_age;
        settings.between = between;
        settings.filter.categories = categories;
        settings.filter.min_importance = min_importance;
    }
}

fn parse_days(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not an age: write it like `12h`, `30d` or `4w`");
    let text_of = text.trim().to_lowercase();
    let (number, unit) = text_of.split_at(text_of.len() - text_of.chars().last().map_or(0, char::len_utf8));
    let number: f64 = number.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0).ok_or_else(wrong)?;
    match unit {
        "h" => Ok(number / 24.0),
        "d" => Ok(number),
        "w" => Ok(number * 7.0),
        _ => Err(wrong()),
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let id = |text: &str| text.trim().trim_start_matches("npc:").trim_start_matches("agent:").to_lowercase();
    let pair = text.split_once(',').map(|(a, b)| (id(a), id(b)));
    pair.filter(|(a, b)| !a.is_empty() && !b.is_empty())
        .ok_or_else(|| format!("`{text}` does not name two characters: write it like `alex,jordan`"))
}
