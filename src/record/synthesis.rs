//! What a model answered about a turn, checked before it is believed.
//!
//! The words of an answer enter; a [`Proposal`] leaves, or the reason why there is none. Missing
//! parts get defaults, what is too much is dropped with a warning, and rubbish that happens to fit
//! the schema is refused: a title that is a name of the schema, a text that repeats the prompt.

use serde_json::{Map, Value};

use crate::llm::answer::parse_object;
use crate::record::prompt::{MOST_TITLES, SYSTEM};
use crate::types::text::fold_spaces;
use crate::types::{Category, Memory, Persistence, Status, clamp_importance};

/// What a model draws from a turn is at most this important unless the game's state bears it out.
pub const MOST_UNPROVEN_IMPORTANCE: u16 = 700;

/// A common run of this many characters with the instructions is a repetition of them.
const REPEATED_CHARS: usize = 60;

/// Where a memory belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where the action was taken.
    Before,
    /// At the place reached.
    After,
}

/// What a model wants to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The memory to keep, if any, and where.
    pub memory: Option<(Memory, Side)>,
    /// Titles that the memory takes the place of.
    pub supersedes: Vec<String>,
    /// Titles that are wrong.
    pub invalidates: Vec<String>,
    /// Why they are wrong.
    pub invalidation_reason: String,
    /// Why all this.
    pub reasoning: String,
    /// What was dropped or changed.
    pub warnings: Vec<String>,
}

/// Reads an answer. `proven` tells whether the game's state bears out great importance.
///
/// # Errors
///
/// Why nothing can be made of it: it holds no JSON object. Rubbish within the schema is no error but
/// a proposal without a memory.
pub fn read_answer(text: &str, proven: bool) -> Result<Proposal, String> {
    let answer = parse_object(text)?;
    let mut warnings = Vec::new();
    let mut titles = |names: [&str; 2]| read_titles(&answer, names, &mut warnings);
    let supersedes = titles(["supersedes", "supersedes_memory_titles"]);
    let invalidates = titles(["invalidates", "invalidate_memory_titles"]);
    let mut proposal = Proposal {
        memory: None,
        supersedes,
        invalidates,
        invalidation_reason: text_of(&answer, "invalidation_reason"),
        reasoning: text_of(&answer, "reasoning"),
        warnings,
    };
    let title = text_of(&answer, "memory_title");
    let memory_text = text_of(&answer, "memory_text");
    let wanted = match answer.get("should_remember").and_then(read_flag) {
        Some(wanted) => wanted,
        None => !title.is_empty() && !memory_text.is_empty(),
    };
    if !wanted {
        return Ok(proposal);
    }
    if let Some(reason) = rubbish(&title, &memory_text) {
        proposal.warnings.push(format!("the model's memory is refused: {reason}"));
        return Ok(proposal);
    }
    proposal.memory = Some(read_memory(&answer, title, memory_text, proven, &mut proposal.warnings));
    Ok(proposal)
}

fn read_memory(
    answer: &Map<String, Value>,
    title: String,
    text: String,
    proven: bool,
    warnings: &mut Vec<String>,
) -> (Memory, Side) {
    let category = Category::new(&text_of(answer, "category")).unwrap_or_else(Category::note);
    let mut memory = Memory::new(category, title, text);
    memory.status = match text_of(answer, "status").to_lowercase().as_str() {
        "tentative" => Status::Tentative,
        _ => Status::Active,
    };
    memory.persistence = match text_of(answer, "persistence").to_lowercase().as_str() {
        "core" if proven => Persistence::Core,
        "ephemeral" => Persistence::Ephemeral,
        _ => Persistence::Permanent,
    };
    let importance = match answer.get("importance") {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    memory.provenance.importance = importance.filter(|number: &f64| number.is_finite()).map(clamp_importance);
    if !proven && memory.importance() > MOST_UNPROVEN_IMPORTANCE {
        warnings.push(format!(
            "importance {} lowered to {MOST_UNPROVEN_IMPORTANCE}: neither death nor score bears it out",
            memory.importance()
        ));
        memory.provenance.importance = Some(MOST_UNPROVEN_IMPORTANCE);
    }
    let side = if text_of(answer, "place").to_lowercase() == "after" { Side::After } else { Side::Before };
    (memory, side)
}

fn read_titles(answer: &Map<String, Value>, names: [&str; 2], warnings: &mut Vec<String>) -> Vec<String> {
    let value = names.iter().find_map(|name| answer.get(*name));
    let mut titles: Vec<String> = match value {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(|title| title.trim().to_owned()).collect()
        }
        Some(Value::String(title)) => vec![title.trim().to_owned()],
        _ => Vec::new(),
    };
    titles.retain(|title| !title.is_empty());
    titles.dedup();
    if titles.len() > MOST_TITLES {
        warnings.push(format!("{} titles in `{}`, {MOST_TITLES} are used", titles.len(), names[0]));
        titles.truncate(MOST_TITLES);
    }
    titles
}

/// A text of an answer, trimmed; empty where there is none.
pub fn text_of(answer: &Map<String, Value>, name: &str) -> String {
    answer.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

/// A yes or no, also where a model wrote it as a word.
pub fn read_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Names of the schema that a model gives back for want of anything to say.
const SCHEMA_NAMES: [&str; 8] = [
    "memory title",
    "memory_title",
    "memory_text",
    "title",
    "string",
    "should_remember",
    "short title",
    "exact title",
];

/// Why a title and text are no memory, though they fit the schema.
fn rubbish(title: &str, text: &str) -> Option<&'static str> {
    rubbish_title(title).or_else(|| rubbish_text(text, SYSTEM))
}

/// Why a title is none, though it fits the schema.
pub fn rubbish_title(title: &str) -> Option<&'static str> {
    let shouted = title.contains('_') && !title.chars().any(char::is_lowercase);
    if !title.chars().any(char::is_alphanumeric) {
        return Some("it has no title");
    }
    let named = SCHEMA_NAMES.contains(&title.to_lowercase().as_str());
    (shouted || named).then_some("its title is a name of the schema")
}

/// Why a text says nothing, though it fits the schema. `instructions` are those that the model had.
pub fn rubbish_text(text: &str, instructions: &str) -> Option<&'static str> {
    if text.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
        return Some("it has no text");
    }
    if SCHEMA_NAMES.contains(&text.to_lowercase().as_str()) {
        return Some("its text is a name of the schema");
    }
    let (text, instructions) = (fold_spaces(text), fold_spaces(instructions));
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(20).collect();
    let repeats = starts.iter().any(|&start| {
        let end = text[start..].char_indices().nth(REPEATED_CHARS).map(|(length, _)| start + length);
        end.is_some_and(|end| instructions.contains(&text[start..end]))
    });
    repeats.then_some("its text repeats the instructions")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(answer: &str, proven: bool) -> Memory {
        read_answer(answer, proven).expect("read").memory.expect("a memory").0
    }

    fn refused(answer: &str) -> String {
        let proposal = read_answer(answer, false).expect("read");
        assert_eq!(proposal.memory, None);
        proposal.warnings.join("; ")
    }

    #[test]
    fn missing_parts_get_defaults() {
        let memory = memory(r#"{"memory_title": "Open the window", "memory_text": "It opens."}"#, false);
        assert_eq!(
            (memory.category.as_str(), memory.status, memory.importance()),
            ("NOTE", Status::Active, 500)
        );
    }

    #[test]
    fn a_decline_may_still_invalidate() {
        let proposal = read_answer(
            r#"```json
            {"should_remember": false, "invalidate_memory_titles": "[Troll is kind]", "invalidation_reason": "It bites."}
            ```"#,
            false,
        )
        .expect("read");
        assert_eq!((proposal.memory, proposal.invalidates), (None, vec!["[Troll is kind]".to_owned()]));
    }

    #[test]
    fn schema_valid_rubbish_is_refused() {
        let answer = |title: &str, text: &str| {
            serde_json::json!({"should_remember": true, "memory_title": title, "memory_text": text})
                .to_string()
        };
        assert!(refused(&answer("SHOULD_REMEMBER", "The door is open.")).contains("name of the schema"));
        assert!(refused(&answer("!!", "The door is open.")).contains("no title"));
        assert!(refused(&answer("Door", "…")).contains("no text"));
        let echo = &SYSTEM[140..320];
        assert!(refused(&answer("What to do", echo)).contains("repeats"));
        assert!(
            read_answer(&answer("Take lamp", "The lamp lights dark places."), false)
                .is_ok_and(|p| p.memory.is_some())
        );
    }

    #[test]
    fn importance_must_be_borne_out() {
        let answer = r#"{"memory_title": "All is lost", "memory_text": "Obey.", "importance": 1000, "persistence": "core"}"#;
        let unproven = memory(answer, false);
        assert_eq!((unproven.importance(), unproven.persistence), (700, Persistence::Permanent));
        let proven = memory(answer, true);
        assert_eq!((proven.importance(), proven.persistence), (1000, Persistence::Core));
    }

    #[test]
    fn too_many_titles_are_cut() {
        let proposal =
            read_answer(r#"{"should_remember": false, "supersedes": ["a", "b", "c", "d"]}"#, false);
        assert_eq!(proposal.expect("read").supersedes.len(), 3);
    }
}
