//! One message of a conversation, in the format of any chat program.
//!
//! A JSON object enters and is kept whole, unknown fields and parts included. These fields are read: `role`,
//! `content` (a text, or a list of parts of which the texts count), `name`, `timestamp`, `location`,
//! `npcs_mentioned`, `turn`, and tool calls.

use serde_json::{Map, Value};

use memories_document::grammar::name_of_text_id;
use memories_document::types::fields::count;
use memories_document::types::{fold_title, instant};
use memories_llm::redact::redacted;

/// The location of a message; both fields are empty if it names none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MessageLocation {
    /// The id of the place.
    pub id: Option<u64>,
    /// The name of the place.
    pub name: Option<String>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its place in the conversation, from 1.
    pub number: u64,
    fields: Map<String, Value>,
}

impl Message {
    /// Reads a message from a JSON object.
    ///
    /// # Errors
    ///
    /// A description of the problem: `role` is missing, or `content` has the wrong type.
    pub(crate) fn of(number: u64, value: Value) -> Result<Message, String> {
        let Value::Object(fields) = value else {
            return Err("expected an object with `role` and `content`".to_owned());
        };
        match fields.get("role") {
            Some(Value::String(role)) if !role.trim().is_empty() => {}
            Some(other) if !other.is_null() => return Err(format!("`role` is {other}, expected a text")),
            _ => return Err("`role` is missing".to_owned()),
        }
        match fields.get("content") {
            None | Some(Value::Null | Value::String(_) | Value::Array(_)) => {}
            Some(_) => return Err("`content` is neither a text nor a list of parts".to_owned()),
        }
        Ok(Message { number, fields })
    }

    /// A message with only a role and a text.
    pub fn plain(number: u64, role: &str, text: &str) -> Message {
        let mut fields = Map::new();
        fields.insert("role".to_owned(), Value::from(role));
        fields.insert("content".to_owned(), Value::from(text));
        Message { number, fields }
    }

    /// All fields as they were read.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        let text = self.fields.get(name)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// The role in lower case: `system`, `user`, `assistant`, `tool` …
    pub(crate) fn role(&self) -> String {
        self.text_of("role").unwrap_or_default().to_lowercase()
    }

    /// True if somebody says something in the message: it has text and is neither an instruction nor a tool's result.
    pub fn is_speech(&self) -> bool {
        !matches!(self.role().as_str(), "system" | "developer" | "tool" | "function")
            && !self.text().trim().is_empty()
    }

    /// The name of the speaker, or else the role.
    pub(crate) fn speaker(&self) -> String {
        self.text_of("name").map_or_else(|| self.role(), str::to_owned)
    }

    /// The text; several parts are joined by line breaks.
    pub fn text(&self) -> String {
        match self.fields.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(text_of_part).collect();
                texts.join("\n")
            }
            _ => String::new(),
        }
    }

    /// The time of the message, unparsed.
    pub(crate) fn timestamp(&self) -> Option<&str> {
        self.text_of("timestamp")
    }

    /// The time of the message as an entry states it: a date or RFC 3339.
    pub(crate) fn time(&self) -> Option<String> {
        instant::stated(self.fields.get("timestamp")?)
    }

    /// The turn of the game.
    pub fn turn(&self) -> Option<u64> {
        count(self.fields.get("turn")?).ok()
    }

    /// The location, which is given as an id, a name, or an object with both. A secret in the name is masked, since
    /// it may become the name of a section.
    pub(crate) fn location(&self) -> MessageLocation {
        let of_text = |text: &str| {
            let text = text.trim();
            let digits = text.strip_prefix("location:").unwrap_or(text);
            match digits.parse() {
                Ok(id) => MessageLocation { id: Some(id), name: None },
                Err(_) => MessageLocation { id: None, name: (!text.is_empty()).then(|| redacted(text)) },
            }
        };
        match self.fields.get("location") {
            Some(Value::Object(place)) => {
                let name = place.get("name").and_then(Value::as_str).and_then(|name| of_text(name).name);
                match place.get("id") {
                    Some(Value::String(id)) => {
                        let MessageLocation { id, name: text } = of_text(id);
                        let text = text.map(|id| name_of_text_id(&id, name.as_deref()));
                        MessageLocation { id, name: text.or(name) }
                    }
                    id => MessageLocation { id: id.and_then(Value::as_u64), name },
                }
            }
            Some(Value::String(text)) => of_text(text),
            Some(value) => MessageLocation { id: value.as_u64(), name: None },
            None => MessageLocation::default(),
        }
    }

    /// True if a character is mentioned in `npcs_mentioned`, is the speaker, or is named in the text as a whole word
    /// in any case. `names` are the character's id and names, in lower case.
    pub(crate) fn mentions(&self, names: &[String]) -> bool {
        let is_named = |text: &str| names.contains(&fold_title(text));
        let listed = match self.fields.get("npcs_mentioned") {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).any(is_named),
            Some(Value::String(text)) => text.split(',').any(is_named),
            _ => false,
        };
        let speaks = self.text_of("name").is_some_and(is_named);
        let text = fold_title(&self.text());
        listed || speaks || names.iter().any(|name| contains_word(&text, name))
    }

    /// The tool calls as name and arguments, in the format of OpenAI or Anthropic.
    pub(crate) fn tool_calls(&self) -> Vec<(String, Value)> {
        let list = |name| self.fields.get(name).and_then(Value::as_array).into_iter().flatten();
        let functions = list("tool_calls").filter_map(|call| call.get("function"));
        let functions = functions.chain(self.fields.get("function_call"));
        let uses = list("content").filter(|part| part["type"] == "tool_use");
        let calls = functions.map(|call| tool_call(call.get("name"), call.get("arguments")));
        calls.chain(uses.map(|part| tool_call(part.get("name"), part.get("input")))).flatten().collect()
    }
}

/// A call with a name; arguments given as a text are not parsed.
fn tool_call(name: Option<&Value>, arguments: Option<&Value>) -> Option<(String, Value)> {
    Some((name?.as_str()?.to_owned(), arguments.cloned().unwrap_or(Value::Null)))
}

/// The text of a part of type `text`, `input_text` or `output_text`.
fn text_of_part(part: &Value) -> Option<&str> {
    match part {
        Value::String(text) => Some(text),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or("text");
            if kind.ends_with("text") { fields.get("text")?.as_str() } else { None }
        }
        _ => None,
    }
}

/// True if a text contains a word or phrase as whole words; both in lower case.
pub(crate) fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(value: Value) -> Message {
        Message::of(1, value).expect("a message")
    }

    #[test]
    fn text_of_parts_and_unknown_fields() {
        let value = json!({"role": "Assistant", "content": [
            {"type": "text", "text": "One."}, {"type": "image_url", "image_url": {"url": "x"}},
            {"type": "output_text", "text": "Two."}, "Three."], "mood": {"deep": 1}});
        let message = message(value.clone());
        assert_eq!((message.role().as_str(), message.text().as_str()), ("assistant", "One.\nTwo.\nThree."));
        assert_eq!(Value::Object(message.fields().clone()), value);
    }

    #[test]
    fn errors_name_the_field() {
        for (value, problem) in [
            (json!("hi"), "expected an object"),
            (json!({"content": "hi"}), "`role` is missing"),
            (json!({"role": 7}), "`role` is 7"),
            (json!({"role": "user", "content": 7}), "`content` is neither"),
        ] {
            assert!(Message::of(1, value).is_err_and(|error| error.contains(problem)), "{problem}");
        }
        assert!(message(json!({"role": "assistant", "content": null, "tool_calls": []})).text().is_empty());
    }

    #[test]
    fn places() {
        let at = |location: Value| {
            let found = message(json!({"role": "user", "location": location})).location();
            (found.id, found.name)
        };
        let name = || Some("Living Room".to_owned());
        assert_eq!(at(json!(23)), (Some(23), None));
        assert_eq!(at(json!("23")), (Some(23), None));
        assert_eq!(at(json!("location:23")), (Some(23), None));
        assert_eq!(at(json!(" Living Room ")), (None, name()));
        assert_eq!(at(json!({"id": 23, "name": "Living Room"})), (Some(23), name()));
        assert_eq!(at(json!(null)), (None, None));
    }

    #[test]
    fn mentions_are_whole_words_in_any_case() {
        let names = ["troll".to_owned(), "the grim one".to_owned()];
        let said = |text: &str| message(json!({"role": "user", "content": text})).mentions(&names);
        assert!(said("The TROLL's axe") && said("(troll)") && said("It is The Grim One."));
        assert!(!said("He trolls us") && !said("a controller") && !said("troll_king"));
        assert!(message(json!({"role": "user", "npcs_mentioned": ["Troll"]})).mentions(&names));
        assert!(message(json!({"role": "assistant", "name": "Troll", "content": "Grr"})).mentions(&names));
    }

    #[test]
    fn tool_calls_of_both_formats() {
        let openai = message(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "remember", "arguments": "{\"a\": 1}"}}]}));
        assert_eq!(openai.tool_calls(), [("remember".to_owned(), json!("{\"a\": 1}"))]);
        let anthropic = message(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "remember", "input": {"a": 1}}]}));
        assert_eq!(anthropic.tool_calls(), [("remember".to_owned(), json!({"a": 1}))]);
    }
}
