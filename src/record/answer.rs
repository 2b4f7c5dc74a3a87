//! Reads a model's answer about a turn, and checks it.
//!
//! The text of an answer enters; a `Proposal` leaves, or the reason why there is none. Missing fields
//! get defaults, excess is dropped with a warning, and nonsense that fits the schema is refused: a title
//! that is a name of the schema, a text that repeats the prompt.

use serde_json::{Map, Value};

use crate::llm::answer::{flag_of, parse_object, text_of, text_problem, title_problem};
use crate::record::prompt::{MAX_TITLES, SYSTEM};
use crate::record::proposal::{Proposal, Side};
use crate::types::{Category, Memory, Persistence, Status, clamp_importance};

/// Highest importance of a memory that neither death nor score supports.
pub const MAX_UNPROVEN_IMPORTANCE: u16 = 700;

/// Reads an answer. `proven`: death or score supports a high importance.
///
/// # Errors
///
/// Why it cannot be read: it holds no JSON object. Nonsense that fits the schema is not an error but a
/// proposal without a memory.
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
    let wanted = answer.get("should_remember").and_then(flag_of);
    if !wanted.unwrap_or(!title.is_empty() && !memory_text.is_empty()) {
        return Ok(proposal);
    }
    if let Some(reason) = title_problem(&title).or_else(|| text_problem(&memory_text, SYSTEM)) {
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
    let status = text_of(answer, "status").parse().unwrap_or_default();
    memory.status = if status == Status::Superseded { Status::Active } else { status };
    let persistence = text_of(answer, "persistence").parse().unwrap_or_default();
    let may_be = proven || persistence != Persistence::Core;
    memory.persistence = if may_be { persistence } else { Persistence::Permanent };
    let importance = match answer.get("importance") {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    memory.provenance.importance = importance.filter(|number: &f64| number.is_finite()).map(clamp_importance);
    if !proven && memory.importance() > MAX_UNPROVEN_IMPORTANCE {
        warnings.push(format!(
            "importance {} lowered to {MAX_UNPROVEN_IMPORTANCE}: neither death nor score bears it out",
            memory.importance()
        ));
        memory.provenance.importance = Some(MAX_UNPROVEN_IMPORTANCE);
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
    if titles.len() > MAX_TITLES {
        warnings.push(format!("{} titles in `{}`, {MAX_TITLES} are used", titles.len(), names[0]));
        titles.truncate(MAX_TITLES);
    }
    titles
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
